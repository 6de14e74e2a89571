package talk

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/sdk/go/words"
)

// A script is played as it is written, in whatever order the sections come.
func TestScripts(t *testing.T) {
	token := rapid.StringMatching(`[a-z猫犬ァー]{1,5}`)
	rapid.Check(t, func(t *rapid.T) {
		calls := rapid.MapOfN(token, token, 0, 3).Draw(t, "calls")
		likes := rapid.MapOfN(token, rapid.Float64Range(-9, 9), 0, 3).Draw(t, "likes")
		aliases := rapid.SliceOfN(token, 0, 3).Draw(t, "aliases")
		want := map[string]map[act][]*line{}
		var text strings.Builder
		fmt.Fprintf(&text, "name: %s\naliases: %s\n\n# remark\ncalls:", "もも", strings.Join(aliases, " "))
		for k, v := range calls {
			fmt.Fprintf(&text, " %s=%s", k, v)
		}
		text.WriteString("\nlikes:")
		for k, v := range likes {
			fmt.Fprintf(&text, " %s=%v", k, v)
		}
		keep := 0
		for range rapid.IntRange(0, 12).Draw(t, "lines") {
			l := &line{topic: rapid.SampledFrom([]string{anyTopic, "cat", "food"}).Draw(t, "topic")}
			acts := topicActs
			if l.topic == anyTopic {
				acts = generalActs
			}
			l.act, l.text = rapid.SampledFrom(acts).Draw(t, "act"), token.Draw(t, "text")+": "+token.Draw(t, "rest")
			head := string(l.act)
			if !isSerious(l.act) {
				if rapid.Bool().Draw(t, "to somebody") {
					l.to = token.Draw(t, "to")
					head += " @" + l.to
				}
				for _, w := range rapid.SliceOfN(token, 0, 2).Draw(t, "words") {
					l.on = append(l.on, words.Normal(w))
					head += " " + w
				}
				for _, key := range rapid.SliceOfN(rapid.SampledFrom([]string{"who", "quote", "aya"}), 0, 2).Draw(t, "needs") {
					l.needs, l.text = append(l.needs, key), l.text+"{"+key+"}"
					l.reused = l.reused || key == "quote"
				}
				if l.act != nod {
					keep++
				}
			}
			l.id = words.Hash(l.text)
			if want[l.topic] == nil {
				want[l.topic] = map[act][]*line{}
			}
			want[l.topic][l.act] = append(want[l.topic][l.act], l)
			fmt.Fprintf(&text, "\n  [%s]\n%s: %s ", l.topic, head, l.text)
		}
		got, err := parse(text.String())
		if err != nil {
			t.Fatalf("%v in\n%s", err, &text)
		}
		if !reflect.DeepEqual(got.lines, want) || got.keep != keep*3/4 || !maps.Equal(got.calls, calls) || !maps.Equal(got.likes, likes) || !slices.Equal(got.aliases, aliases) {
			t.Errorf("%+v is not\n%s", got, &text)
		}
	})
}

// Nothing that is no script is taken for one, and whatever is one can be played.
func FuzzScript(f *testing.F) {
	for _, s := range []string{lively, nodding, momoScript, "name: A\n[*]\ntell{: x", "name: A\n[*]\nreact: {}", "name: \xff\n[cat]\ntell @: {a}{", "[", ":", "name:A\n[]\nx: y", "name: A\ntopic: a b\n[a]\ntell: {word}{"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parse(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "line ") && err.Error() != "the head has no name" {
				t.Errorf("%q: an error without a place: %v", text, err)
			}
			return
		}
		for topic, acts := range s.lines {
			for a, lines := range acts {
				for _, l := range lines {
					if l.topic != topic || l.act != a || l.text == "" || strings.Count(l.text, "{") < len(l.needs) {
						t.Errorf("%q: %+v", text, l)
					}
				}
			}
		}
		c := newChat(t, text)
		c.hears("taro", "こんにちは！猫は好き？", false)
		if line := c.says(); line.Text == "" && line.Pass == "" {
			t.Errorf("%q: %+v", text, line)
		}
		Lint(text)
	})
}

// A bad script is refused with the line and the reason.
func TestBadScripts(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "no name",
		"name: A\n[nowhere]":                     "line 2: section \"nowhere\"",
		"name: A\ncolour: red":                   "line 2: key \"colour\"",
		"name: A\n[*]\nsing: la":                 "line 3: \"sing\" is no act",
		"name: A\n[*]\ngreet {hi}":               "line 3:",
		"name: A\n[cat]\ntell: {who is":          "open brace",
		"name: A\nlang: fr":                      "neither ja nor en",
		"name: A\nhabit: tell=much":              "tell:",
		"name: A\nlikes: cat":                    "no key=value",
		"name: A\njust words":                    "no colon",
		"name: A\ntopic: tea":                    "topic needs",
		"name: A\n[cat]\ngreet: a topic section": "no act",
	} {
		if _, err := New(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New(%q) = %v, want %q", text, err, want)
		}
	}
	if _, err := New(); err == nil {
		t.Error("no script is no character")
	}
	if _, err := New("name: A", "name: B"); err == nil {
		t.Error("two scripts for one language")
	}
}
