package spell

import (
	"testing"

	"pgregory.net/rapid"
)

func TestNear(t *testing.T) {
	known := []string{"fuel", "context", "info", "warn", "max_turns", "patience", "modules", "model", "json", "speak"}
	for name, want := range map[string]string{
		"feul": "fuel", "inof": "info", "INFO": "info", "warning": "warn", "MaxTurns": "max_turns", "max-turns": "max_turns", "max turn": "max_turns",
		"patiense": "patience", "modles": "modules", "models": "model", "modelx": "model", "jsn": "json", "speek": "speak",
		"": "", "x": "", "_": "", "quux": "", "trace": "", "かな": "",
	} {
		if got := Near(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := Near("w", []string{"x", "y"}); got != "" {
		t.Errorf("a letter of which nothing is right: %q", got)
	}
	if got := Near("ab", []string{"ac", "ad", "ba"}); got != "ac" {
		t.Errorf("of words as near as each other: %q", got)
	}
}

func TestSlip(t *testing.T) {
	known := []string{"actions", "perceptions", "type", "not", "if", "cool_down", "description", "minLength", "items"}
	for name, want := range map[string]string{
		"action": "actions", "Actions": "actions", "acitons": "actions", "perception": "perceptions", "preceptions": "perceptions",
		"Type": "type", "types": "type", "coolDown": "cool_down", "cool-down": "cool_down", "cooldown": "cool_down",
		"discription": "description", "min_length": "minLength", "IF": "if",
		"note": "", "tyep": "", "id": "", "iff": "", "units": "", "x-mine": "", "age": "", "": "", "perceive": "", "かな": "", "actors": "",
	} {
		if got := Slip(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestWrong(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abd", 1}, {"abc", "acb", 1}, {"あい", "いあ", 1}, {"abcd", "abc", 1}, {"ab", "xaby", 2}, {"abcd", "abdx", 2}, {"abcd", "badc", 3}, {"kitten", "sitting", 3}, {"abc", "xyz", 3}} {
		if a, b := wrong(c.a, c.b), wrong(c.b, c.a); a != c.want || b != c.want {
			t.Errorf("%s %s: %d and %d, want %d", c.a, c.b, a, b, c.want)
		}
	}
}

// TestOneLetter holds that a name with one letter wrong is always found again,
// and that nothing is near or a slip that is not among what is known.
func TestOneLetter(t *testing.T) {
	word := rapid.StringMatching(`[a-zあ-ん_]{2,12}`).Filter(func(s string) bool { return len([]rune(plainly(s))) > 1 })
	rapid.Check(t, func(t *rapid.T) {
		meant := word.Draw(t, "meant")
		name := []rune(meant)
		name[rapid.IntRange(0, len(name)-1).Draw(t, "at")] = 'ж'
		if got := Near(string(name), []string{meant}); got != meant {
			t.Fatalf("%q was not recognized as %q: %q", string(name), meant, got)
		}
		other := word.Draw(t, "other")
		if near, slip := Near(other, []string{meant}), Slip(other, []string{meant}); slip != "" && near == "" {
			t.Fatalf("%q is a slip of %q and not near it", other, meant)
		}
	})
}
