package extract

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/history/judge"
	"github.com/companiond/companiond/host/history/keep"
)

func saying(texts ...string) (turns []abi.PastTurn) {
	for i, text := range texts {
		turns = append(turns, abi.PastTurn{N: uint64(i + 1), From: []string{"taro", "mika"}[i%2], Text: text})
	}
	return turns
}

// TestGreetings: where nothing has to stay and nothing says more than the rest, sentences are taken from all over the turns; and where all of
// it fits already, the refusal is about the turns, and not about a policy that nobody wrote.
func TestGreetings(t *testing.T) {
	var many []string
	for i := range 300 {
		many = append(many, strings.Repeat("ha", i%20)+" "+strings.Repeat("ho", i/20+1)+"!")
	}
	for name, c := range map[string]struct {
		turns []abi.PastTurn
		n     int
		want  abi.Code // empty: a draft
		field string
	}{
		"all of it fits":   {saying("Hello!", "Good morning!", "はい", "ok", "lol", "null"), 1000, abi.CodeInvalid, "turns"},
		"greetings":        {saying("Hello!", "Good morning!", "はい", "ok", "lol", "null", "Hello!", "Good evening!"), 30, "", ""},
		"emoji":            {saying("😀😀", "🎉", "👍👍👍", "🐱", "😀", "🎈", "🎁🎁🎁🎁", "🌸🌸🌸🌸"), 12, "", ""},
		"the same":         {saying("ok", "ok", "ok", "ok", "ok", "ok", "ok", "ok"), 15, "", ""},
		"many":             {saying(many...), 1000, "", ""},
		"nothing is said":  {saying("", " \ufeff\u200b"), 1, abi.CodeInvalid, "turns"},
		"no sentence fits": {saying("Good morning!", "Good evening!"), 5, abi.CodeTooLarge, "target_length"},
	} {
		length := history.Length{N: c.n, Unit: history.Characters}
		items := keep.Items(c.turns, "")
		text, err := Draft(t.Context(), c.turns, "", items, length)
		if c.want != "" {
			if abi.CodeOf(err) != c.want || abi.AsError(err).Field != c.field || text != "" || strings.Contains(err.Error(), "policy") {
				t.Errorf("%s: %q, %v", name, text, err)
			}
			continue
		}
		said := 0
		for _, turn := range c.turns {
			said += len([]rune(turn.Text))
		}
		if n := len([]rune(text)); err != nil || n == 0 || n > c.n || n >= said {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		if v, _, why, err := judge.Judge(t.Context(), c.turns, items, text, length, judge.Verify(c.turns, items, text)); err != nil || v != history.Yes {
			t.Errorf("%s: %s: %s", name, text, why)
		}
		if name == "many" {
			if n := len([]rune(text)); n < c.n*8/10 {
				t.Errorf("%d characters of %d are used", n, c.n)
			}
			for part := range 3 {
				if !strings.Contains(text, fmt.Sprintf("\n[%d", part)) && part > 0 {
					t.Errorf("nothing of turns %d00 to %d99: %s", part, part, text)
				}
			}
		}
	}
}

// counted is a context that ends when it was asked for the nth time whether it has.
type counted struct {
	context.Context
	left int
}

func (c *counted) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestEnds: whatever is looked for in many turns is left where a context ends in the middle of it.
func TestEnds(t *testing.T) {
	var said []string
	for i := range 200 {
		said = append(said, fmt.Sprintf("Item %d costs %d yen, and must be there by March %d.", i, 1000+i, i%28+1))
	}
	turns, length := saying(said...), history.Length{N: 500, Unit: history.Characters}
	items := keep.Items(turns, "")
	for name, does := range map[string]func(context.Context) error{
		"items":  func(ctx context.Context) error { _, err := keep.ItemsWithin(ctx, turns, ""); return err },
		"draft":  func(ctx context.Context) error { _, err := Draft(ctx, turns, "", items, length); return err },
		"losses": func(ctx context.Context) error { _, err := judge.LossesWithin(ctx, turns, said[0]); return err },
		"verify": func(ctx context.Context) error { _, err := judge.VerifyWithin(ctx, turns, items, said[0]); return err },
	} {
		ctx := &counted{Context: t.Context(), left: 100}
		if err := does(ctx); err != context.Canceled || ctx.left < -3 {
			t.Errorf("%s: %v, asked %d times behind the end", name, err, -ctx.left-1)
		}
		if err := does(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNoShorter: a text that with who said it is no shorter than the turns is no draft, whatever its length may be; less of them is taken
// where less is shorter.
func TestNoShorter(t *testing.T) {
	turns := saying("予算は84,000円にしよう。", "締切は3月28日です。", "会場は田中さんが予約する。")
	long := said(turns, history.Characters)
	for policy, want := range map[string]string{"": "", "予算と締切と会場は残す。": "nothing to shorten"} {
		items := keep.Items(turns, policy)
		text, err := Draft(t.Context(), turns, policy, items, history.Length{N: 200, Unit: history.Characters})
		if n := len([]rune(text)); n >= long || (want == "") != (err == nil) || want != "" && (abi.CodeOf(err) != abi.CodeInvalid || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %q of %d, and they say %d; %v", policy, text, n, long, err)
		}
	}
}
