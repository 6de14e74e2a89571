package address

import (
	"testing"

	"pgregory.net/rapid"
)

func TestSet(t *testing.T) {
	var none *Set
	if _, taken := none.Find("aya"); taken {
		t.Error("a name is in no set")
	}
	var s Set
	for name, want := range map[string]bool{"mika": true, "ニコ": true} {
		if _, added := s.Add(name, name); added != want {
			t.Errorf("%s: added %v", name, added)
		}
	}
	for name, want := range map[string]string{"mika": "mika", "MIKA": "mika", "mіka": "mika", "にこ": "ニコ", "二コ": "ニコ", "taro": "", "": ""} {
		if whose, taken := s.Find(name); whose != want || taken != (want != "") {
			t.Errorf("%q is %q's (%v), want %q", name, whose, taken, want)
		}
	}
	if other, added := s.Add("Mika", "somebody else"); added || other != "mika" {
		t.Errorf("added %v, %q has it", added, other)
	}
}

// TestSetIsSame: a name is found in a set if and only if it is the same as one
// there.
func TestSetIsSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[aAаΑl1IoO0ニ二にロ口ヘへv]{1,3}`)
		var s Set
		var names []string
		for _, n := range rapid.SliceOfN(name, 1, 4).Draw(t, "names") {
			if _, added := s.Add(n, n); added {
				names = append(names, n)
			}
		}
		asked := name.Draw(t, "asked")
		_, taken := s.Find(asked)
		same := false
		for _, n := range names {
			same = same || Same(n, asked)
		}
		if same != taken {
			t.Fatalf("%q is the same as one of %q: %v; found: %v", asked, names, same, taken)
		}
	})
}
