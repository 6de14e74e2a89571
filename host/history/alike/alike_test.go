package alike_test

import (
	"testing"

	"github.com/companiond/companiond/host/history/alike"
	"github.com/companiond/companiond/host/history/marks"
)

// TestUnits: what says the same in other words shares something, and what everybody says is nothing to share.
func TestUnits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		n    int
	}{
		{"予算を決めた", "予算案", 2},
		{"The gamepads were tested", "test the gamepad", 2},
		{"今日は何もない", "今日も何かある", 0},
		{"It was there", "It is here", 0},
		{"かつおぶしは多め", "かつおぶしが足りない", 2},
	} {
		if n := alike.Shared(alike.Units(c.a), alike.Units(c.b)); n != c.n {
			t.Errorf("%q and %q share %d, not %d: %v, %v", c.a, c.b, n, c.n, alike.Units(c.a), alike.Units(c.b))
		}
	}
}

// TestSounds: a name is found in the other letters, and another name is not.
func TestSounds(t *testing.T) {
	for _, c := range []struct {
		name, text string
		there      bool
	}{
		{"バンクーバー", "we fly to vancouver", true},
		{"vancouver", "バンクーバーへ飛ぶ", true},
		{"vancouver", "トロントへ飛ぶ", false},
		{"vancouver", "we fly to vancouver", false}, // the same letters are compared elsewhere
	} {
		if there := alike.SoundsOf(marks.Plain(c.text)).Have(c.name); there != c.there {
			t.Errorf("%q in %q: %v", c.name, c.text, there)
		}
	}
}

// TestCut: no letter is cut in two.
func TestCut(t *testing.T) {
	for most, want := range map[int]string{0: "", 2: "", 3: "予", 5: "予", 6: "予算", 99: "予算"} {
		if got := alike.Cut("予算", most); got != want {
			t.Errorf("%d: %q", most, got)
		}
	}
}
