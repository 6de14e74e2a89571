package install

import (
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/dist/systemd"
)

// machine is one on which services are installed: a folder, and the commands that were run.
type machine struct {
	desk Desk
	out  strings.Builder
	ran  []string
	fail string // the command that fails begins so
}

func newMachine(t *testing.T, system string) *machine {
	t.Helper()
	m := &machine{}
	m.desk = Desk{
		Out: &m.out, OS: system, UID: 1000, Exe: "/opt/my programs/companiond", Dir: "/home/mika/live 100%", Home: "/home/mika", Root: t.TempDir(),
		Parse: func(fs *flag.FlagSet, args []string, _ int) ([]string, error) {
			err := fs.Parse(args)
			return fs.Args(), err
		},
		Usage: func(format string, args ...any) error { return fmt.Errorf("usage: "+format, args...) },
		Run: func(_ context.Context, command ...string) error {
			line := strings.Join(command, " ")
			if m.fail != "" && strings.HasPrefix(line, m.fail) {
				return errors.New("exit status 1")
			}
			m.ran = append(m.ran, line)
			return nil
		},
	}
	m.write(t, "/home/mika/live 100%/companiond.toml", "")
	return m
}

func (m *machine) write(t *testing.T, path, text string) {
	t.Helper()
	path = m.desk.Root + path
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// files lists what is on the machine.
func (m *machine) files(t *testing.T) (all []string) {
	t.Helper()
	err := filepath.WalkDir(m.desk.Root, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			all = append(all, strings.TrimPrefix(path, m.desk.Root))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (m *machine) read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(m.desk.Root + path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// do types the verb; flags stand before what is to be done.
func (m *machine) do(t *testing.T, args ...string) error {
	t.Helper()
	m.out.Reset()
	m.ran = nil
	fs := flag.NewFlagSet("service", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return m.desk.Service(t.Context(), fs, args)
}

const (
	userPath = "/home/mika/.config/systemd/user/companiond.service"
	macPath  = "/home/mika/Library/LaunchAgents/companiond.plist"
)

// Installed and removed nothing is left but what was there; a plan that is only shown changes nothing.
func TestInstallAndRemove(t *testing.T) {
	for system, path := range map[string]string{"linux": userPath, "darwin": macPath} {
		m := newMachine(t, system)
		before := m.files(t)
		if err := m.do(t, "-dry-run", "install"); err != nil || len(m.ran) > 0 || fmt.Sprint(m.files(t)) != fmt.Sprint(before) {
			t.Errorf("%s: %v %q", system, err, m.ran)
		}
		shown := m.out.String()
		if err := m.do(t, "install"); err != nil || !strings.Contains(m.out.String(), "written  "+path) || len(m.ran) == 0 {
			t.Errorf("%s: %v %s", system, err, &m.out)
		}
		if text := m.read(t, path); !strings.Contains(shown, "==> "+path+"\n"+text) || !strings.Contains(text, mark) {
			t.Errorf("%s: shown was %s\nwritten was %s", system, shown, text)
		}
		for _, c := range m.ran {
			if !strings.Contains(c, "show") && !strings.Contains(shown, "$ "+c+"\n") {
				t.Errorf("%s: %s was not shown", system, c)
			}
		}
		if err := m.do(t, "install"); err != nil { // a newer version
			t.Errorf("%s again: %v", system, err)
		}
		if err := m.do(t, "remove"); err != nil || fmt.Sprint(m.files(t)) != fmt.Sprint(before) {
			t.Errorf("%s: %v, left is %q", system, err, m.files(t))
		}
		if err := m.do(t, "remove"); err == nil || !strings.Contains(err.Error(), "there is no "+path) {
			t.Errorf("%s: %v", system, err)
		}
	}
}

// What somebody else has written is neither overwritten nor removed, and nothing is run.
func TestTheirsStays(t *testing.T) {
	for system, path := range map[string]string{"linux": userPath, "darwin": macPath} {
		for _, what := range []string{"install", "remove"} {
			m := newMachine(t, system)
			m.write(t, path, "mine")
			err := m.do(t, what)
			if err == nil || !strings.Contains(err.Error(), "did not write it") || m.read(t, path) != "mine" {
				t.Errorf("%s %s: %v", system, what, err)
			}
			for _, c := range m.ran {
				if !strings.Contains(c, "show") {
					t.Errorf("%s %s: %s was run", system, what, c)
				}
			}
		}
	}
}

// A user's unit is the machine's without what only root can have, and a real systemd reads it.
func TestUserUnit(t *testing.T) {
	m := newMachine(t, "linux")
	if err := m.do(t, "install"); err != nil {
		t.Fatal(err)
	}
	text := m.read(t, userPath)
	for _, want := range []string{
		`ExecStart="/opt/my programs/companiond" run -config "/home/mika/live 100%%/companiond.toml"`, `ExecReload="/opt/my programs/companiond" reload -config "`,
		"\nWorkingDirectory=/home/mika/live 100%%\n", "WatchdogSec=30", "RestartPreventExitStatus=78", "Type=notify", "SystemCallFilter=~@privileged", "WantedBy=default.target",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %s\n%s", want, text)
		}
	}
	for _, not := range []string{"/usr/bin", "User=", "Directory=companiond", "ProtectSystem", "LoadCredential", "network-online", "Private", "/etc/"} {
		if strings.Contains(text, not) {
			t.Errorf("it has %s\n%s", not, text)
		}
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not here")
	}
	dir := t.TempDir()
	here := userUnit(systemd.Service(), "/bin/true", filepath.Join(dir, "a b.toml"), dir)
	if err := os.WriteFile(filepath.Join(dir, unit), []byte(here), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(analyze, "--user", "verify", "--man=no", filepath.Join(dir, unit))
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "HOME="+dir)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("verify: %v\n%s\n%s", err, out, here)
	}
}

// The machine's is dist/systemd's but for the program; settings are kept, and the user and its folders come with it.
func TestSystemWide(t *testing.T) {
	m := newMachine(t, "linux")
	if err := m.do(t, "-system", "install"); err == nil || !strings.Contains(err.Error(), "wants root") {
		t.Error(err)
	}
	m.desk.UID = 0
	m.desk.Exe = "/home/mika/companiond"
	if err := m.do(t, "-system", "install"); err == nil || !strings.Contains(err.Error(), "install -m 755 /home/mika/companiond /usr/local/bin") {
		t.Error(err)
	}
	m.desk.Exe = "/usr/local/bin/companiond"
	m.write(t, "/etc/companiond/companiond.toml", "# mine\n")
	if err := m.do(t, "-system", "install"); err != nil {
		t.Fatal(err)
	}
	got := m.read(t, "/etc/systemd/system/companiond.service")
	if want := "# " + mark + "\n" + strings.ReplaceAll(systemd.Service(), "/usr/bin/companiond", `"/usr/local/bin/companiond"`); got != want {
		t.Errorf("%s", got)
	}
	if m.read(t, "/etc/companiond/companiond.toml") != "# mine\n" || !strings.Contains(m.out.String(), "kept     /etc/companiond/companiond.toml") {
		t.Error(m.out.String())
	}
	if strings.Join(m.ran, ", ") != "systemctl show --property=Version, systemd-sysusers companiond.conf, systemd-tmpfiles --create companiond.conf, systemctl daemon-reload, systemctl enable --now companiond.service" {
		t.Errorf("%q", m.ran)
	}
	if err := m.do(t, "-system", "remove"); err != nil || len(m.files(t)) != 3 { // their own settings, and both of the machine
		t.Error(err, m.files(t))
	}
	m.write(t, "/lib/systemd/system/companiond.service", "")
	if err := m.do(t, "-system", "install"); err == nil || !strings.Contains(err.Error(), "a package has installed") {
		t.Error(err)
	}
}

// The list for launchd is XML, whatever paths are called.
func TestPlist(t *testing.T) {
	text := plist(`/a <b> & "c"`, "/s", "/d", "/l")
	dec := xml.NewDecoder(strings.NewReader(text))
	found := false
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		c, ok := tok.(xml.CharData)
		found = found || ok && string(c) == `/a <b> & "c"`
	}
	if !found {
		t.Error(text)
	}
	if _, err := exec.LookPath("plutil"); err != nil {
		t.Log("plutil is not here: nobody of macOS has read it")
	} else if out, err := exec.Command("sh", "-c", "plutil -lint - <<'EOF'\n"+text+"EOF").CombinedOutput(); err != nil {
		t.Errorf("%s", out)
	}
}

// What goes wrong is said with what to type, before anything is changed.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		system string
		change func(m *machine)
		args   []string
		want   string
	}{
		"nothing":            {"linux", func(*machine) {}, nil, "usage: companiond service install, or companiond service remove?"},
		"no settings":        {"linux", func(m *machine) { m.desk.Dir = "/home/mika" }, []string{"install"}, "type this in the folder with your companiond.toml"},
		"no manager":         {"linux", func(m *machine) { m.fail = "systemctl --user show" }, []string{"install"}, "nobody here starts services"},
		"a line break":       {"darwin", func(m *machine) { m.desk.Dir += "\nUser=root" }, []string{"install"}, "line break"},
		"macOS, the machine": {"darwin", func(*machine) {}, []string{"-system", "install"}, "on Linux alone"},
		"windows":            {"windows", func(*machine) {}, []string{"install"}, "Register-ScheduledTask companiond"},
		"another":            {"plan9", func(*machine) {}, []string{"install"}, "not what starts services on plan9"},
	} {
		m := newMachine(t, c.system)
		c.change(m)
		before := m.files(t)
		if err := m.do(t, c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if fmt.Sprint(m.files(t)) != fmt.Sprint(before) {
			t.Errorf("%s: %q", name, m.files(t))
		}
	}
	m := newMachine(t, "linux")
	m.fail = "systemctl --user restart"
	if err := m.do(t, "install"); err == nil || !strings.Contains(err.Error(), "companiond service remove takes it away") {
		t.Error(err)
	}
}
