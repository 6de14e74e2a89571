package words

import (
	"slices"
	"strings"
	"testing"
)

// Every word of the tables is one that is found, by itself and in a sentence, and it
// stands there once, in the form that texts are folded to.
func TestIntentTables(t *testing.T) {
	seen := map[string]Intent{}
	for _, in := range intentWords {
		for _, w := range in.words {
			if Normal(w) != w {
				t.Errorf("%s: write %q as %q", in.intent, w, Normal(w))
			}
			if other, twice := seen[w]; twice {
				t.Errorf("%q is %s and %s", w, other, in.intent)
			}
			seen[w] = in.intent
			for _, s := range []string{w, strings.ToUpper(w), "ok, " + w + "! ok"} {
				if !Intents(s)[in.intent] {
					t.Errorf("Intents(%q) = %v, want %s", s, Intents(s), in.intent)
				}
			}
		}
	}
}

// Every greeting that is answered in kind is heard as one, and as no other.
func TestHelloTable(t *testing.T) {
	for _, h := range hellos {
		for _, w := range h.heard {
			if got := Hello(w+"!", h.lang); got != h.say {
				t.Errorf("%q is answered by %q, want %q", w, got, h.say)
			}
		}
		if !Intents(h.say)[Greet] && h.say != "おかえり！" || Language(h.say) != h.lang {
			t.Errorf("%q is no greeting in %s", h.say, h.lang)
		}
	}
}

// Every topic has an id and names of its own, and is found by each of its words.
func TestTopicTable(t *testing.T) {
	ids := map[string]bool{}
	for _, tp := range Topics() {
		if ids[tp.ID] || tp.ID == "" || tp.Ja == "" || tp.En == "" || strings.ContainsAny(tp.ID, " []*") {
			t.Errorf("topic %+v", tp)
		}
		ids[tp.ID] = true
		for _, w := range append([]string{tp.Ja}, tp.Words...) {
			if !slices.Contains(TopicsOf(w), tp.ID) {
				t.Errorf("%q is about %q, not %s", w, TopicsOf(w), tp.ID)
			}
		}
	}
	changed := Topics()
	changed[0].ID = "mine"
	if Topics()[0].ID == "mine" {
		t.Error("who gets the list may change it for others")
	}
}

// A script's own topics are found beside the shared ones.
func TestFinder(t *testing.T) {
	f := NewFinder(append(Topics(), NewTopic("tea", "お茶", "tea", "お茶", "ＴＥＡ")))
	for s, want := range map[string][]string{"お茶と猫": {"tea", "cat"}, "お茶と猫と子猫": {"cat", "tea"}, "TEA time": {"tea"}, "a team": {}, "猫": {"cat"}, "": {}} {
		if got := f.In(Normal(s)); !slices.Equal(got, want) {
			t.Errorf("%q is about %q, want %q", s, got, want)
		}
	}
}

// Half-width kana have each their hiragana, in the order of Unicode.
func TestHalfKana(t *testing.T) {
	for i, want := range halfKana {
		if got := Normal(string(rune('ｦ' + i))); got != string(want) {
			t.Errorf("%q is %q", rune('ｦ'+i), got)
		}
	}
	if n := len(halfKana); n != 'ﾝ'-'ｦ'+1 {
		t.Errorf("%d kana", n)
	}
}

// The tails and heads that a quotation drops: a longer one before one that it ends
// or begins with, or it would never be found.
func TestTrimTables(t *testing.T) {
	for name, list := range map[string][]string{"tails": tails, "heads": heads} {
		has := map[string]func(string, string) bool{"tails": strings.HasSuffix, "heads": strings.HasPrefix}[name]
		for i, w := range list {
			for _, before := range list[:i] {
				if has(w, before) {
					t.Errorf("%s: %q stands behind %q and is never dropped whole", name, w, before)
				}
			}
		}
	}
}

// A name is kept under what Hash gives for it: the numbers must never change, and
// parts are not run together.
func TestHash(t *testing.T) {
	for _, c := range []struct {
		parts []string
		want  uint32
	}{{nil, 0x811c9dc5}, {[]string{""}, 0x050c5d1f}, {[]string{"a"}, 0x2b24d044}, {[]string{"猫は液体なんだよ。"}, 0x41eec6a0}, {[]string{"a", "b"}, 0x81977b96}} {
		if got := Hash(c.parts...); got != c.want {
			t.Errorf("Hash(%q) = %#08x", c.parts, got)
		}
	}
	if Hash("ab", "c") == Hash("a", "bc") {
		t.Error("parts run together")
	}
}

// A person's sentence in distress stays one among others before and behind it, and in
// whatever case and width it is written.
func TestDistressAmongOthers(t *testing.T) {
	for _, s := range sentences(t)["distress"] {
		others := []string{"こんにちは。" + s, s + "。おやすみ", "今日は雨だった。" + s + "。猫もいる。"}
		if Language(s) == English {
			others = []string{"Hello there. " + s, s + ". Good night.", "It rained today. " + s + ". The cat is here.", strings.ToUpper(s)}
		}
		for _, text := range others {
			if !Distressed(text) {
				t.Errorf("%q is in %q and is not heard", s, text)
			}
		}
	}
}
