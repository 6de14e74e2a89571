package history

import (
	"bytes"
	"errors"
	"flag"
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/door/web/past"
	"github.com/companiond/companiond/host/history"
)

// What is to be typed to ask anew is what was asked for, so that a shell takes it for that, whatever stands in it; a long policy is read from a file.
func TestAnew(t *testing.T) {
	base := past.Compression{ID: id, Turns: history.Range{From: 1, To: 9}, Length: 600, Unit: "characters", Compresser: "model", Verifier: "model"}
	for want, change := range map[string]func(*past.Compression){
		"compress 1-9 -length 600":                                                                         func(*past.Compression) {},
		"compress 1-9 -policy budget -length 600":                                                          func(c *past.Compression) { c.Policy = "budget" },
		`compress 1-9 -policy '$(rm -r ~) it'\''s "x" \ !1' -length 600`:                                   func(c *past.Compression) { c.Policy = `$(rm -r ~) it's "x" \ !1` },
		"compress 1-9 -policy '決定と　予算を残す。' -length 600":                                                    func(c *past.Compression) { c.Policy = "決定と　予算を残す。" },
		"compress 1-9 -policy-file FILE -length 600 (the policy is in companiond history show " + id + ")": func(c *past.Compression) { c.Policy = "a\nb" },
		"compress 1-9 -length 80 -unit tokens -by extract -verify aya":                                     func(c *past.Compression) { c.Length, c.Unit, c.Compresser, c.Verifier = 80, "tokens", "extract", "aya" },
		"compress 1-9 -length 600 -text FILE":                                                              func(c *past.Compression) { c.Compresser = "" },
	} {
		c := base
		change(&c)
		if got := (about{room: usual}).anew(c); got != "companiond history "+want {
			t.Errorf("%s\nnot %s", got, want)
		}
	}
	long := base
	long.Policy = strings.Repeat("残", longest+1)
	if got := (about{room: "a b"}).anew(long); !strings.HasPrefix(got, "companiond history compress -room 'a b' 1-9 -policy-file FILE") {
		t.Error(got)
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh")
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOf(rapid.SampledFrom([]rune("ab '\"\\$`!*?~#;&|<>(){}[]残　%=-\n"))).Draw(t, "word")
		if out, err := exec.Command(sh, "-c", "printf %s "+quoted(word)).Output(); err != nil || string(out) != word {
			t.Fatalf("%q became %q by %s: %v", word, out, quoted(word), err)
		}
	})
}

// TestErasedText: a text that lost its words is not said to be told.
func TestErasedText(t *testing.T) {
	c := compression(id, 1, 2, history.Approved)
	c.Erased, c.Drafts[len(c.Drafts)-1].Content = true, ""
	h := &house{turns: 2, all: []past.Compression{c}}
	out := h.types(t, "", "show "+id)
	if !strings.Contains(out, "its words were erased; what is left of the turns is told as it was said") || strings.Contains(out, "told so") || strings.Contains(out, "nothing left") {
		t.Error(out)
	}
}

// Words that were erased are shown as that, and said to be in every export.
func TestErased(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"show 1-2", "        1  2026-05-01 12:00 taro: (erased)\n"}, {"show", "taro: (erased)\n"}, {"export 1-2", "Z\n\n> (erased)\n"},
		{"export -format jsonl 1-2", `,"erased":true}` + "\n"}, {"diff main main-2", "21 taro: (erased)\n"}, {"show " + id, "1 taro: (erased)\n"},
	} {
		h := &house{turns: 2, erased: true, all: []past.Compression{compression(id, 1, 2, history.Offered)}}
		h.all[0].Original[0].Text = ""
		if out := h.types(t, "", c.args); !strings.Contains(out, c.want) {
			t.Errorf("%s: %s", c.args, out)
		}
	}
}

// The verb tells of itself alone, and each part of it of its own flags.
func TestHelp(t *testing.T) {
	d, _, _ := desk(func(string, any) error { return nil })
	for args, want := range map[string][2]string{
		"-h":          {"companiond history show ", "companiond history VERB -h lists the flags of one. All of them have:\n\n  -url"},
		"compress -h": {"companiond history compress [-room NAME]", "\n\n  -by id\n"},
		"fork -h":     {"companiond history fork [-room NAME] [-at TURN] [NAME]: make a room", "\n\n  -at turn\n"},
	} {
		var out bytes.Buffer
		fs := flag.NewFlagSet("history", flag.ContinueOnError)
		fs.SetOutput(&out)
		fs.String("url", "", "the daemon's `address`")
		if err := d.History(t.Context(), fs, strings.Fields(args)); !errors.Is(err, flag.ErrHelp) || !strings.HasPrefix(out.String(), want[0]) || !strings.Contains(out.String(), want[1]) || strings.Contains(out.String(), "Usage of") || args != "-h" && strings.Count(out.String(), "companiond history") != 1 {
			t.Errorf("%s: %v %s", args, err, out.String())
		}
	}
}

// An export says how many turns and how many texts it has.
func TestCounts(t *testing.T) {
	for want, c := range map[string]count{"1 turn": {turns: 1}, "0 turns and 1 text that stands for 2": {texts: 1, stand: 2}, "62 turns and 3 texts that stand for 50": {62, 3, 50}} {
		if c.String() != want {
			t.Errorf("%s, not %s", c, want)
		}
	}
}
