package talk

import (
	"errors"
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
		all, err := parse(text.String())
		if err != nil || len(all) != 1 {
			t.Fatalf("%d, %v in\n%s", len(all), err, &text)
		}
		got := all[0]
		if !reflect.DeepEqual(got.lines, want) || got.keep != keep*3/4 || !maps.Equal(got.calls, calls) || !maps.Equal(got.likes, likes) || !slices.Equal(got.aliases, aliases) {
			t.Errorf("%+v is not\n%s", got, &text)
		}
	})
}

// Nothing that is no script is taken for one, and whatever is one can be played.
func FuzzScript(f *testing.F) {
	for _, s := range []string{lively, nodding, momoScript, "name: A\n[*]\ntell{: x", "name: A\n[*]\nreact: {}", "name: \xff\n[cat]\ntell @: {a}{", "[", ":", "name:A\n[]\nx: y", "name: A\ntopic: a b\n[a]\ntell: {word}{",
		lively + "\nlang: en\nname: A\n[*]\ngreet: {hi} I am A.\n", "\ufeffname: A\r\nhabit: ask=-9\r\nlikes: cat=NaN", "name: A\nhabit: tell=100 ask=0\nlikes: cat=1e300\n[cat]\ntell: x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		scripts, err := parse(text)
		if err != nil {
			for row := range strings.SplitSeq(err.Error(), "\n") {
				if !strings.HasPrefix(row, "line ") {
					t.Errorf("%q: an error without a place: %v", text, err)
				}
			}
			if c, err := New(text); err == nil || c.Vote != nil {
				t.Errorf("%q: %+v", text, c)
			}
			return
		}
		for _, s := range scripts {
			for topic, acts := range s.lines {
				for a, lines := range acts {
					for _, l := range lines {
						if l.topic != topic || l.act != a || l.text == "" || strings.Count(l.text, "{") < len(l.needs) {
							t.Errorf("%q: %+v", text, l)
						}
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

// A bad script is refused with the line and the reason, and all that is wrong with it is told at once.
func TestBadScripts(t *testing.T) {
	more := maxTopics - len(words.Topics())
	for text, want := range map[string]string{
		"":                                                   "line 1: the head has no name: nothing is written",
		"# later\n\n":                                        "line 1: the head has no name: nothing is written",
		"\n# A\nlang: ja\n[*]\ngreet: {hi}":                  "line 3: the head has no name",
		"name: A\n[nowhere]\nx: y\n[*]\nx: y":                "line 2: section \"nowhere\" is no topic\nline 5: \"x\" is no act of section \"*\"",
		"name: A\n[]\ntell: x":                               "line 2: section \"\" is no topic",
		"name: A\ncolour: red":                               "line 2: key \"colour\" is not known",
		"name: A\n[*]\nsing: la":                             "line 3: \"sing\" is no act of section \"*\"",
		"name: A\n[*]\ngreet {hi}":                           "line 3: \"greet {hi}\" is no \"act: text\"",
		"name: A\n[*]\ngreet：{hi}":                           "line 3: \"greet：{hi}\" is no \"act: text\"; write a half-width colon and a space in place of ：",
		"name：A":                                             "line 1: \"name：A\" has no colon; write a half-width colon and a space in place of ：\nline 1: the head has no name",
		"name: A\n[cat]\ntell: {who is":                      "line 3: \"{who is\" has an open brace",
		"name: A\nlang: fr":                                  "line 2: lang \"fr\" is neither ja nor en",
		"name: A\nhabit: tell=much":                          "line 2: tell: \"much\" is no whole number from 0 to 100",
		"name: A\nhabit: tell=-1":                            "line 2: tell: \"-1\" is no whole number from 0 to 100",
		"name: A\nhabit: sing=1":                             "line 2: sing: only tell, ask and react can be a habit",
		"name: A\nlikes: cat":                                "line 2: \"cat\" is no key=value",
		"name: A\nlikes: cat=NaN":                            "line 2: cat: \"NaN\" is no number",
		"name: A\nafter: aya=inf":                            "line 2: aya: \"inf\" is no number",
		"name: A\njust words":                                "line 2: \"just words\" has no colon",
		"name: A\ntopic: tea":                                "line 2: topic needs an id and a label",
		"name: A\n[cat]\ngreet: a topic section":             "line 3: \"greet\" is no act of section \"cat\"",
		"name: A\n[*]\ndistress @b: x":                       "line 3: a line for \"distress\" stands alone: no @, no words and no placeholders",
		"name: A\n[*]\nlang: en\n[*]\nreact: x":              "line 3: the head has no name",
		"name: A\n[*]\nlang: ja\nname: A":                    "line 3: a second script for \"ja\"",
		strings.Repeat("x\n", 20):                            strings.TrimSuffix(strings.Repeat("line N: \"x\" has no colon\n", 10), "\n"),
		"name: A\n" + strings.Repeat("topic: a b\n", more+1): fmt.Sprintf("line %d: there are %d topics, the usual ones among them, and may be no more", more+2, maxTopics),
		"name: A\n[*]\n" + strings.Repeat("react: x\n", maxLines) + "z: y": fmt.Sprintf("line %d: there are more than %d lines to say", maxLines+3, maxLines),
	} {
		_, err := New(text)
		var told Mistakes
		if !errors.As(err, &told) {
			t.Errorf("New(%.80q) = %v", text, err)
			continue
		}
		for i := range told { // N stands for the number of the row
			want = strings.Replace(want, "line N", fmt.Sprintf("line %d", i+1), 1)
		}
		if told.Error() != want {
			t.Errorf("New(%.80q) =\n%v\nwant\n%s", text, told, want)
		}
	}
	if _, err := New(); err == nil {
		t.Error("no script is no character")
	}
	if _, err := New("name: A", "name: B"); err == nil {
		t.Error("two scripts for one language")
	}
}

// TestOneText: a text with a script behind another is the same character as the two are.
func TestOneText(t *testing.T) {
	const ja, en = "name: A\naliases: あ\ncalls: b=ベー\ntopic: tea 茶 お茶\n[tea]\ntell: 茶だよ", "lang: en\nname: Ay\naliases: ay\n[cat]\ntell: cats"
	one, err := newPersona([]string{"\ufefflang: ja\r\n" + ja + "\r\n\r\n# in English\r\n" + en})
	if err != nil {
		t.Fatal(err)
	}
	two, err := newPersona([]string{ja, en})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*persona{one, two} {
		for _, s := range p.scripts {
			s.begins = 0
		}
	}
	if !reflect.DeepEqual(one, two) {
		t.Errorf("%+v\nand\n%+v", one, two)
	}
}

// A topic that scripts of two languages have is one: the words of either give it away, and each calls it by its own label.
func TestATopicInTwoLanguages(t *testing.T) {
	p, err := newPersona([]string{`lang: ja
name: Duo
topic: flower 花 バラ 桜
[*]
greet: やあ。
[flower]
tell: 花はいいね。
lang: en
name: Duo
topic: flower flower rose sunflower
[*]
greet: Hello.
[flower]
tell: Flowers are kind.
`})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"do you like a rose?", "a sunflower", "バラは好き？", "花"} {
		if got := p.find.In(words.Normal(text)); !slices.Equal(got, []string{"flower"}) {
			t.Errorf("%s: %q", text, got)
		}
	}
	i := slices.IndexFunc(p.topics, func(o words.Topic) bool { return o.ID == "flower" })
	if o := p.topics[i]; o.Ja != "花" || o.En != "flower" {
		t.Errorf("it is called %s and %s", o.Ja, o.En)
	}
}
