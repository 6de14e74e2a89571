package summon

import (
	"context"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	maxLine  = 400 // characters of a line in the log
	maxLines = 120 // lines of one output of a program in a minute
)

// voice is what a program says at one of its outputs, as far as the log has it.
type voice struct {
	now   func() time.Time
	since time.Time
	lines int // since then
	lost  int
}

// tell writes a line into the log unless there were too many. It is called for one at a time.
func (v *voice) tell(log *slog.Logger, level slog.Level, what, line string) {
	now := v.now()
	if now.Sub(v.since) >= time.Minute {
		v.since, v.lines = now, 0
	}
	if v.lines >= maxLines {
		v.lost++
		return
	}
	v.lines++
	args := []any{"line", clean(line)}
	if v.lost > 0 {
		args = append(args, "left_out", v.lost)
		v.lost = 0
	}
	log.Log(context.Background(), level, what, args...)
}

// secrets are tokens, of this daemon and of its sessions, and most vendors' keys.
var secrets = regexp.MustCompile(`(cmp_|cms_|sk-)[A-Za-z0-9_-]{8,}`)

// clean keeps a line of a program short, and without what would be a secret.
func clean(line string) string {
	line = secrets.ReplaceAllString(line, "$1…")
	if runes := []rune(line); len(runes) > maxLine {
		line = string(runes[:maxLine]) + "…"
	}
	return line
}

// common are the variables of the environment that any program needs, and that hold no
// secrets: where things are, and how people write.
var common = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP",
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERNAME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH",
	"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
}

// handedOn gives what programs get of an environment. Windows does not tell "Path" from
// "PATH".
func handedOn(environ []string) (env []string) {
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if name = strings.ToUpper(name); slices.Contains(common, name) || strings.HasPrefix(name, "LC_") {
			env = append(env, pair)
		}
	}
	return env
}
