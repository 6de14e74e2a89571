package words_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/words"
)

// stub makes a filter of a function: of "" nobody was asked, of an error it is the refusal.
type stub func(text string) (said, refused string)

func (f stub) Line(_ context.Context, _, _, text string) (string, []entry.Step, string) {
	said, refused := f(text)
	did := entry.DidChange
	switch {
	case refused != "":
		did = entry.DidRefuse
	case said == text:
		did = entry.DidPass
	}
	return said, []entry.Step{{Handler: "stub", Did: did}}, refused
}

// shouts changes every text, its length too, and refuses what is rude.
var shouts stub = func(text string) (string, string) {
	if strings.Contains(text, "rude") {
		return text, "refused by stub: rude"
	}
	return strings.ToUpper(text) + "!", ""
}

// says says pieces, and gives how each ended and what went out.
func says(t *testing.T, w *words.Words, pieces ...string) (out string, errs []abi.Code) {
	t.Helper()
	for _, p := range pieces {
		err := w.Piece(t.Context(), "aya", "call", abi.SayAsk{Text: p, Emotion: "happy"}, func(a abi.SayAsk, h *entry.Handled) error {
			if h == nil || h.Line != "g1" || h.Who != "aya" || h.Of != entry.OfLine || a.Text != "" && a.Emotion != "happy" {
				t.Errorf("%+v, %+v", a, h)
			}
			if strings.Contains(a.Text, "LATE") {
				return abi.Errorf(abi.CodeStale, "say: taro spoke meanwhile")
			}
			out += a.Text
			return nil
		})
		errs = append(errs, abi.CodeOf(err))
	}
	return out, errs
}

// TestRest: the module's line is compared with the module's own pieces, and what is said begins with the pieces that were.
func TestRest(t *testing.T) {
	none := []string{}
	for name, c := range map[string]struct {
		pieces  []string
		line    string
		out     string // of the pieces
		want    string
		refused bool
		astray  bool
		asked   bool // about the rest
	}{
		"at once":                          {none, "one", "", "ONE!", false, false, true},
		"a pass":                           {none, "", "", "", false, false, false},
		"at once, refused":                 {none, "a rude one", "", "", true, false, true},
		"pieces alone":                     {[]string{"one ", "two "}, "one two ", "ONE !TWO !", "ONE !TWO !", false, false, false},
		"pieces, and space":                {[]string{"one"}, "one\n", "ONE!", "ONE!\n", false, false, false},
		"pieces, and an empty line":        {[]string{"one"}, "", "ONE!", "", false, false, false},
		"pieces, and a rest":               {[]string{"one "}, "one two", "ONE !", "ONE !TWO!", false, false, true},
		"pieces, and a refused rest":       {[]string{"one "}, "one rude", "ONE !", "", true, false, true},
		"a refused piece":                  {[]string{"one ", "rude ", "two"}, "one rude two", "ONE !", "", true, false, false},
		"a line that is another":           {[]string{"one "}, "two", "ONE !", "", false, true, false},
		"a line that begins with what was": {[]string{"one "}, "ONE ! and rude", "ONE !", "", false, true, false},
		"a piece that came too late":       {[]string{"late ", "one "}, "one two", "ONE !", "ONE !TWO!", false, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := words.New("main", shouts)
			w.Begin("call", "g1")
			out, _ := says(t, w, c.pieces...)
			whole, err := w.Rest(t.Context(), "aya", "call", abi.Line{Text: c.line, Pass: "p"})
			if err != nil || out != c.out || whole.Text != c.want || (whole.Refused != "") != c.refused || whole.Astray != c.astray || (whole.Handled != nil) != c.asked || whole.Pass != "p" {
				t.Errorf("pieces %q, then %+v, %v", out, whole, err)
			}
			if whole.Handled != nil && whole.Handled.Line != "g1" {
				t.Errorf("%+v", whole.Handled)
			}
			if _, errs := says(t, w, "more"); errs[0] != abi.CodeDenied {
				t.Errorf("a piece behind the line: %v", errs)
			}
			w.End("call")
			if _, errs := says(t, w, "more"); errs[0] != abi.CodeDenied {
				t.Errorf("a piece of no line: %v", errs)
			}
		})
	}
}

// TestBehindARefusal no piece is said, and nobody is asked about one.
func TestBehindARefusal(t *testing.T) {
	asked := 0
	w := words.New("main", stub(func(text string) (string, string) {
		asked++
		return shouts(text)
	}))
	w.Begin("call", "g1")
	out, errs := says(t, w, "one ", "rude ", "two ")
	if want := []abi.Code{"", abi.CodeDenied, abi.CodeDenied}; out != "ONE !" || !slices.Equal(errs, want) || asked != 2 {
		t.Errorf("said %q, %v, asked %d times", out, errs, asked)
	}
}

// TestParametersTellTheSame: where their message is the module's words, it is what is said.
func TestParametersTellTheSame(t *testing.T) {
	for _, c := range []struct{ pieces, line, parameters, want string }{
		{"", "one", `{"message":"one","face":"x"}`, `{"face":"x","message":"ONE!"}`},
		{"one ", "one two", `{"message":"one two","face":"x"}`, `{"face":"x","message":"ONE !TWO!"}`},
		{"one ", "", `{"message":"one","face":"x"}`, `{"face":"x","message":"ONE !"}`},
		{"", "one", `{"message":"other","face":"x"}`, `{"message":"other","face":"x"}`},
		{"", "one", ``, ``},
	} {
		w := words.New("main", shouts)
		w.Begin("call", "g1")
		if c.pieces != "" {
			says(t, w, c.pieces)
		}
		whole, err := w.Rest(t.Context(), "aya", "call", abi.Line{Text: c.line, Parameters: json.RawMessage(c.parameters)})
		if err != nil || string(whole.Parameters) != c.want {
			t.Errorf("%+v: %s, %v", c, whole.Parameters, err)
		}
	}
}

// slow is a filter that takes a second, unless it is given up.
type slow struct{}

func (slow) Line(ctx context.Context, _, _, text string) (string, []entry.Step, string) {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
	}
	return text, []entry.Step{{Handler: "slow", Did: entry.DidPass}}, ""
}

// TestGivenUp: words that nobody looked at to the end are not said.
func TestGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := words.New("main", slow{})
		w.Begin("call", "g1")
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		err := w.Piece(ctx, "aya", "call", abi.SayAsk{Text: "one"}, func(abi.SayAsk, *entry.Handled) error {
			t.Error("it is said")
			return nil
		})
		if err != context.DeadlineExceeded {
			t.Errorf("a piece: %v", err)
		}
		if whole, err := w.Rest(ctx, "aya", "call", abi.Line{Text: "one"}); err != context.DeadlineExceeded || whole.Text != "" {
			t.Errorf("a line: %+v, %v", whole, err)
		}
		if said, _, _, err := w.Ask(ctx, "aya", "one"); err != context.DeadlineExceeded || said != "" {
			t.Errorf("at once: %q, %v", said, err)
		}
	})
}

// TestWithoutAFilter nothing changes, and a line that was not begun is the room's to refuse.
func TestWithoutAFilter(t *testing.T) {
	w := words.New("main", nil)
	var got abi.SayAsk
	err := w.Piece(t.Context(), "aya", "call", abi.SayAsk{Text: "one"}, func(a abi.SayAsk, h *entry.Handled) error {
		got = a
		if h != nil {
			t.Error(h)
		}
		return nil
	})
	whole, rerr := w.Rest(t.Context(), "aya", "call", abi.Line{Text: "other"})
	if err != nil || rerr != nil || got.Text != "one" || whole.Text != "other" || whole.Astray {
		t.Errorf("%+v, %+v, %v, %v", got, whole, err, rerr)
	}
}

// TestNothingIsSaidUnseen: however a line comes in pieces, all of it that is said went through the filter, and the
// line begins with its pieces as they were said.
func TestNothingIsSaidUnseen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var seen []string
		w := words.New("main", stub(func(text string) (string, string) {
			if strings.Contains(text, "x") {
				return text, "refused by stub: x"
			}
			out := "<" + strings.ToUpper(text) + ">"
			seen = append(seen, out)
			return out, ""
		}))
		w.Begin("call", "g1")
		own, out := "", ""
		for _, p := range rapid.SliceOfN(rapid.StringMatching(`[ab<x]{1,3}`), 0, 4).Draw(t, "pieces") {
			_ = w.Piece(context.Background(), "aya", "call", abi.SayAsk{Text: p}, func(a abi.SayAsk, _ *entry.Handled) error {
				out += a.Text
				return nil
			})
			own += p
		}
		line := rapid.SampledFrom([]string{own, own + "b", own + "x", out + "b", "", "c"}).Draw(t, "line")
		whole, err := w.Rest(context.Background(), "aya", "call", abi.Line{Text: line})
		if err != nil {
			t.Fatal(err)
		}
		said := whole.Text
		if said == "" {
			said = out
		}
		if !strings.HasPrefix(said, out) || said != strings.Join(seen, "") {
			t.Fatalf("of %q with the pieces %q: %q, seen %q", line, out, said, seen)
		}
	})
}
