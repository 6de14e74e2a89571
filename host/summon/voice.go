package summon

import (
	"context"
	"log/slog"
	"regexp"
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
