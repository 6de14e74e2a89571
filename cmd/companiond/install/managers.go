package install

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/companiond/companiond/dist/systemd"
	"github.com/companiond/companiond/host/config"
)

const (
	unit     = "companiond.service"
	packaged = "/usr/bin/companiond" // where dist/systemd has the program
)

// systemWide is a service of the machine, as the package for Debian has it.
func (d Desk) systemWide(settings string, fresh bool) (plan, error) {
	for _, dir := range []string{"/lib/systemd/system/", "/usr/lib/systemd/system/"} {
		if _, err := os.Stat(d.Root + dir + unit); err == nil {
			return plan{}, fmt.Errorf("a package has installed %s: systemctl enable --now companiond starts it, and disable --now stops it", dir+unit)
		}
	}
	document := config.Document()
	if fresh {
		if d.UID != 0 {
			return plan{}, d.Usage("-system wants root: sudo %s service install -system", d.Exe)
		}
		for _, hidden := range []string{"/home/", "/root/", "/run/user/", "/tmp/", "/var/tmp/"} {
			if strings.HasPrefix(d.Exe, hidden) {
				return plan{}, fmt.Errorf("a service of the machine sees nothing in %s, where %s is: type `install -m 755 %[2]s /usr/local/bin/companiond`, then `/usr/local/bin/companiond service install -system`", hidden, d.Exe)
			}
		}
		if settings != "" {
			b, err := os.ReadFile(settings)
			if err != nil {
				return plan{}, err
			}
			document = string(b)
		}
	}
	text := strings.ReplaceAll(systemd.Service(), packaged, quoted(d.Exe))
	return plan{
		files: []file{
			{"/etc/systemd/system/" + unit, "# " + mark + "\n" + text, 0o644, false},
			{"/etc/sysusers.d/companiond.conf", "# " + mark + "\n" + systemd.Sysusers(), 0o644, false},
			{"/etc/tmpfiles.d/companiond.conf", "# " + mark + "\n" + systemd.Tmpfiles(), 0o644, false},
			{"/etc/companiond/companiond.toml", document, 0o644, true},
			{"/etc/companiond/tokens", "# Who may connect: companiond token NAME -file /etc/companiond/tokens adds a line.\n", 0o600, true},
		},
		asks:    []string{"systemctl", "show", "--property=Version"},
		starts:  [][]string{{"systemd-sysusers", "companiond.conf"}, {"systemd-tmpfiles", "--create", "companiond.conf"}, {"systemctl", "daemon-reload"}, {"systemctl", "enable", "--now", unit}},
		stops:   [][]string{{"systemctl", "disable", "--now", unit}},
		forgets: [][]string{{"systemctl", "daemon-reload"}},
		tells:   "companiond runs, also after the machine's next start. Characters go into /var/lib/companiond/characters. How it is: systemctl status companiond",
	}, nil
}

// systemdUser is a service of a user, who runs it in the folder where this is typed.
func (d Desk) systemdUser(settings string, fresh bool) (plan, error) {
	settings, err := d.here(settings, fresh)
	if err != nil {
		return plan{}, err
	}
	home := d.Config
	if home == "" {
		home = filepath.Join(d.Home, ".config")
	}
	return plan{
		files:   []file{{filepath.Join(home, "systemd", "user", unit), "# " + mark + "\n" + userUnit(systemd.Service(), d.Exe, settings, d.Dir), 0o644, false}},
		asks:    []string{"systemctl", "--user", "show", "--property=Version"},
		starts:  [][]string{{"systemctl", "--user", "daemon-reload"}, {"systemctl", "--user", "enable", unit}, {"systemctl", "--user", "restart", unit}},
		stops:   [][]string{{"systemctl", "--user", "disable", "--now", unit}},
		forgets: [][]string{{"systemctl", "--user", "daemon-reload"}},
		tells:   "companiond runs in " + d.Dir + " whenever you are logged in; loginctl enable-linger has it run always. How it is: systemctl --user status companiond",
	}, nil
}

// forUsers are the keys that a user's systemd can do something with; folders, users and mounts are root's.
var forUsers = []string{
	"Description", "Documentation", "Type", "NotifyAccess", "ExecStart", "ExecReload", "UMask", "WatchdogSec", "TimeoutStartSec", "TimeoutStopSec",
	"KillMode", "Restart", "RestartSec", "RestartPreventExitStatus", "OOMPolicy", "TasksMax", "NoNewPrivileges", "LockPersonality",
	"RestrictAddressFamilies", "RestrictNamespaces", "RestrictRealtime", "RestrictSUIDSGID", "SystemCallArchitectures", "SystemCallFilter", "SystemCallErrorNumber", "WantedBy",
}

// userUnit makes a user's unit of the machine's. What is said of a key goes with it.
func userUnit(unit, exe, settings, dir string) string {
	var b strings.Builder
	said := ""
	for line := range strings.Lines(unit) {
		key, value, isKey := strings.Cut(strings.TrimSpace(line), "=")
		switch {
		case strings.HasPrefix(line, "#"):
			said += line
			continue
		case strings.HasPrefix(line, "["):
			if strings.Contains(said, "/etc/companiond") { // where people of the package change things
				said = ""
			}
			b.WriteString(said + strings.TrimLeft(line, "\n"))
		case isKey && slices.Contains(forUsers, key):
			switch key {
			case "ExecStart", "ExecReload":
				value = strings.Replace(value, packaged, quoted(exe), 1) + " -config " + quoted(settings)
			case "WantedBy":
				value = "default.target"
			}
			b.WriteString(said + key + "=" + value + "\n")
			if key == "ExecReload" {
				b.WriteString("WorkingDirectory=" + strings.ReplaceAll(dir, "%", "%%") + "\n")
			}
		case line == "\n":
			b.WriteString(line)
		}
		said = ""
	}
	return b.String()
}

// quoted writes a path as systemd reads one of a command.
func quoted(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace(path) + `"`
}

// launchd is a service of a user of macOS.
func (d Desk) launchd(settings string, fresh bool) (plan, error) {
	settings, err := d.here(settings, fresh)
	if err != nil {
		return plan{}, err
	}
	path, log := filepath.Join(d.Home, "Library", "LaunchAgents", "companiond.plist"), filepath.Join(d.Home, "Library", "Logs", "companiond.log")
	domain := fmt.Sprintf("gui/%d", d.UID)
	return plan{
		files:  []file{{path, plist(d.Exe, settings, d.Dir, log), 0o644, false}},
		starts: [][]string{{"launchctl", "bootstrap", domain, path}},
		stops:  [][]string{{"launchctl", "bootout", domain + "/companiond"}},
		tells:  "companiond runs in " + d.Dir + " whenever you are logged in; what it says is in " + log + ". How it is: launchctl print " + domain + "/companiond",
	}, nil
}

// plist says to launchd what to run. A daemon that fails is started again after ten seconds, which is launchd's own least.
func plist(exe, settings, dir, log string) string {
	text := func(s string) string {
		var b strings.Builder
		_ = xml.EscapeText(&b, []byte(s)) // a builder takes everything
		return "<string>" + b.String() + "</string>"
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ` + mark + ` -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>companiond</string>
	<key>ProgramArguments</key>
	<array>
		` + text(exe) + `
		<string>run</string>
		<string>-config</string>
		` + text(settings) + `
	</array>
	<key>WorkingDirectory</key>
	` + text(dir) + `
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ExitTimeOut</key>
	<integer>20</integer>
	<key>StandardErrorPath</key>
	` + text(log) + `
</dict>
</plist>
`
}

// elsewhere says what to type where no service manager is known to companiond.
func (d Desk) elsewhere(settings string) error {
	if d.OS != "windows" {
		return fmt.Errorf("companiond service knows systemd and launchd, and not what starts services on %s; what it has to run is %s run, in the folder with companiond.toml", d.OS, d.Exe)
	}
	settings, _ = d.here(settings, false)
	single := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	return fmt.Errorf(`companiond is no service of Windows. To have it start when you log in, type this into PowerShell:

  $run = New-ScheduledTaskAction -Execute %s -Argument %s -WorkingDirectory %s
  $set = New-ScheduledTaskSettingsSet -ExecutionTimeLimit 0 -AllowStartIfOnBatteries -DontStopIfGoingOnBatteries -RestartCount 3 -RestartInterval (New-TimeSpan -Minutes 1)
  Register-ScheduledTask companiond -Action $run -Settings $set -Trigger (New-ScheduledTaskTrigger -AtLogOn -User $env:USERNAME)
  Start-ScheduledTask companiond

To have that end: Unregister-ScheduledTask companiond`, single(d.Exe), single(`run -config "`+settings+`"`), single(d.Dir))
}
