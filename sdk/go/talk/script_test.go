package talk

import (
	"github.com/companiond/companiond/sdk/go/talk/lines"

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
			l := &line{Topic: rapid.SampledFrom([]string{anyTopic, "cat", "food"}).Draw(t, "topic")}
			acts := lines.TopicActs
			if l.Topic == anyTopic {
				acts = lines.GeneralActs
			}
			l.Act, l.Text = rapid.SampledFrom(acts).Draw(t, "act"), token.Draw(t, "text")+": "+token.Draw(t, "rest")
			head := string(l.Act)
			if !lines.IsSerious(l.Act) {
				if rapid.Bool().Draw(t, "to somebody") {
					l.To = token.Draw(t, "to")
					head += " @" + l.To
				}
				word, least := token, 0
				if of := lines.Kinds[l.Act]; of != nil {
					word, least = rapid.SampledFrom(of), 1
				}
				for _, w := range rapid.SliceOfN(word, least, 2).Draw(t, "words") {
					l.On = append(l.On, words.Normal(w))
					head += " " + w
				}
				for _, key := range rapid.SliceOfN(rapid.SampledFrom([]string{"who", "quote", "aya"}), 0, 2).Draw(t, "needs") {
					l.Needs, l.Text = append(l.Needs, key), l.Text+"{"+key+"}"
					l.Reused = l.Reused || key == "quote"
				}
				if l.Act != nod {
					keep++
				}
			}
			l.ID = words.Hash(l.Text)
			if want[l.Topic] == nil {
				want[l.Topic] = map[act][]*line{}
			}
			want[l.Topic][l.Act] = append(want[l.Topic][l.Act], l)
			fmt.Fprintf(&text, "\n  [%s]\n%s: %s ", l.Topic, head, l.Text)
		}
		all, err := lines.Parse(text.String())
		if err != nil || len(all) != 1 {
			t.Fatalf("%d, %v in\n%s", len(all), err, &text)
		}
		got := all[0]
		if !reflect.DeepEqual(got.Lines, want) || got.Keep != keep*3/4 || !maps.Equal(got.Calls, calls) || !maps.Equal(got.Likes, likes) || !slices.Equal(got.Aliases, aliases) {
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
		scripts, err := lines.Parse(text)
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
			for topic, acts := range s.Lines {
				for a, lines := range acts {
					for _, l := range lines {
						if l.Topic != topic || l.Act != a || l.Text == "" || strings.Count(l.Text, "{") < len(l.Needs) {
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
	})
}

// A bad script is refused with the line and the reason, and all that is wrong with it is told at once.
func TestBadScripts(t *testing.T) {
	more := lines.MaxTopics - len(words.Topics())
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
		"name: A\n" + strings.Repeat("topic: a b\n", more+1): fmt.Sprintf("line %d: there are %d topics, the usual ones among them, and may be no more", more+2, lines.MaxTopics),
		"name: A\n[*]\n" + strings.Repeat("react: x\n", lines.MaxLines) + "z: y": fmt.Sprintf("line %d: there are more than %d lines to say", lines.MaxLines+3, lines.MaxLines),
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
			s.Begins = 0
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
