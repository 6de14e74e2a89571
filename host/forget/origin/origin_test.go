package origin_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/forget/origin"
	"github.com/companiond/companiond/host/speech"
	"pgregory.net/rapid"
)

// TestWithout lists what is left of texts without the sentences that have a word.
func TestWithout(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"離婚した。", ""},
		{"離婚した。 ", ""},
		{"離婚した。…!", ""},
		{"寒いね。離婚した。海へ行く?", "寒いね。…海へ行く?"},
		{"離婚した。海へ行く?", "…海へ行く?"},
		{"海へ行く? 離婚した", "海へ行く? …"},
		{"寒いね。離婚した。離婚したよ。\n海へ行く?", "寒いね。…\n海へ行く?"},
		{"海へ行く?", "海へ行く?"},
		{"", ""},
	} {
		got := origin.Without(c.text, func(at [2]int) bool { return strings.Contains(c.text[at[0]:at[1]], "離婚") })
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestWithoutKeepsTheRest: whatever is taken out, what is left are the other sentences, in their order.
func TestWithoutKeepsTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab あ。!?\n「」…."))).Draw(t, "text")
		var out []bool
		for range speech.Sentences(text) {
			out = append(out, rapid.Bool().Draw(t, "goes"))
		}
		var stay []string
		n := 0
		left := origin.Without(text, func(at [2]int) bool {
			n++
			if !out[n-1] {
				stay = append(stay, text[at[0]:at[1]])
			}
			return out[n-1]
		})
		if left == "" {
			return
		}
		at := 0
		for _, s := range stay {
			i := strings.Index(left[at:], s)
			if i < 0 {
				t.Fatalf("%q: of %q there is left %q", text, stay, left)
			}
			at += i + len(s)
		}
		if !slices.Contains(out[:n], true) && strings.TrimSpace(left) != strings.TrimSpace(text) {
			t.Fatalf("%q became %q", text, left)
		}
	})
}
