package audience

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/chat/line"
)

// TestKeep plays a source that is lost in several ways, and looks at when it is tried and what the log is told.
func TestKeep(t *testing.T) {
	gone := errors.New("gone")
	type try struct {
		up  time.Duration // how long it holds; 0: it is not even there
		err error
	}
	for _, c := range []struct {
		name  string
		tries []try
		at    string
		log   string
	}{
		{"never there", []try{{0, gone}, {0, gone}, {0, gone}, {0, gone}, {0, gone}, {0, gone}, {0, gone}, {0, gone}, {0, gone}}, "[0s 500ms 1.5s 3.5s 7.5s 15.5s 31.5s 1m1.5s 1m31.5s 2m1.5s]",
			"WARN x cannot be read: gone; it is tried again\nINFO x is read no more: it is over"},
		{"comes and goes", []try{{time.Second, gone}, {time.Second, gone}, {time.Minute, gone}, {0, gone}}, "[0s 1.5s 3.5s 1m4s 1m5s]",
			"INFO x is read\nWARN x cannot be read: gone; it is tried again\nINFO x is read\nWARN x cannot be read: gone; it is tried again\nINFO x is read\nWARN x cannot be read: gone; it is tried again\nINFO x is read no more: it is over"},
		{"later", []try{{0, &line.Later{Err: gone, After: time.Hour}}, {0, gone}}, "[0s 1h0m0s 1h0m1s]",
			"WARN x cannot be read: gone; it is tried again\nINFO x is read no more: it is over"},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			var at []time.Duration
			var log []string
			s := source{"x", func(_ context.Context, up func(), _ func(line.Event)) error {
				at = append(at, time.Since(start))
				if len(at) > len(c.tries) {
					return line.ErrOver
				}
				now := c.tries[len(at)-1]
				if now.up > 0 {
					up()
					up() // each channel of one that is joined
					time.Sleep(now.up)
				}
				return now.err
			}}
			keep(t.Context(), s, func(l abi.Level, text string) {
				log = append(log, map[abi.Level]string{abi.LevelInfo: "INFO", abi.LevelWarn: "WARN"}[l]+" "+text)
			}, nil)
			if got := fmt.Sprint(at); got != c.at {
				t.Errorf("%s: tried at %s, want %s", c.name, got, c.at)
			}
			if got := strings.Join(log, "\n"); got != c.log {
				t.Errorf("%s: the log has\n%s\nwant\n%s", c.name, got, c.log)
			}
		})
	}
}

func TestKeepEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		keep(ctx, source{"x", func(context.Context, func(), func(line.Event)) error { return errors.New("gone") }}, func(abi.Level, string) {}, nil)
		keep(ctx, source{"x", func(ctx context.Context, _ func(), _ func(line.Event)) error { return ctx.Err() }}, func(_ abi.Level, text string) { t.Error(text) }, nil)
	})
}

func TestNamed(t *testing.T) {
	companions := []string{"al", "kyoko", "aya"}
	names := map[string][]string{"kyoko": {"京子", "きょうこ"}, "aya": {"アヤ", "Aya-chan", " "}}
	for text, want := range map[string]string{
		"hi al!": "al", "always al": "al", "always": "", "AL?": "al", "al2": "", "personal": "",
		"京子ちゃん": "kyoko", "ねえきょうこ": "kyoko", "アヤとal": "aya", "alとアヤ": "al", "aya, kyoko": "aya", "ayaちゃん": "aya", "hello": "", "": "",
		"AYA-CHANね": "aya", "Ärger al": "al", "äal": "",
	} {
		if got := named(text, companions, names); got != want {
			t.Errorf("%q is for %q, want %q", text, got, want)
		}
	}
}

func FuzzNamed(f *testing.F) {
	f.Add("hi al", "al")
	f.Add("\xffal", "\xff")
	f.Add("İ", "i̇")
	f.Fuzz(func(t *testing.T, text, name string) {
		if got := named(text, []string{"c"}, map[string][]string{"c": {name}}); got != "" && got != "c" {
			t.Errorf("%q", got)
		}
	})
}
