package talk

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/talk/lines"
	"github.com/companiond/companiond/sdk/go/talk/person"
	"github.com/companiond/companiond/sdk/go/talk/plain"
	"github.com/companiond/companiond/sdk/go/words"
)

// momoScript is a character with serious lines in Japanese alone.
const momoScript = nodding + `
[*]
greet: {hi}ももだよ！
bye: {human}、またね！
distress: まじめに聞くよ。今すぐ、信頼できる人に話してね。
distress: ふざけないで言うね。今すぐ、いのちの電話に話してね。
grave: それは笑えない話だね。
`

func wants(v companion.Vote) bool { return v.State == abi.Speak && v.Importance == wantSerious }

// isMomoSerious says whether a text is one of momo's serious lines.
func isMomoSerious(text string) bool {
	return slices.Contains([]string{"まじめに聞くよ。今すぐ、信頼できる人に話してね。", "ふざけないで言うね。今すぐ、いのちの電話に話してね。"}, text)
}

// A person in distress is answered before all else, and then everybody is quiet,
// whoever else says what, until a person writes.
func TestOneAnswersAndOthersListen(t *testing.T) {
	c := newChat(t, momoScript)
	c.budget = budget(100, 100)
	if v := c.hears("taro", "こんにちは！死にたいです", false); !wants(v) || v.Backchannel != "" || v.Closing != abi.ClosingNone {
		t.Errorf("vote %+v", v)
	}
	line := c.says()
	if !isMomoSerious(line.Text) || line.Closing != abi.ClosingNone || len(line.To) > 0 {
		t.Errorf("line %+v", line)
	}
	for i := range 60 { // longer than it remembers messages
		if v := c.hears("bot", fmt.Sprintf("猫の話をしよう。その%d。", i), i%2 == 0); v.State != abi.Listen || v.Backchannel != "" || v.Closing != abi.ClosingNone {
			t.Fatalf("after %d messages of an agent: %+v", i, v)
		}
	}
	if line := c.says(); line.Text != "" {
		t.Errorf("with the floor it says %q", line.Text)
	}

	c = newChat(t, momoScript)
	c.hears("taro", "死にたい", false)
	if v := c.hears("aya", "今すぐ、信頼できる人に話してほしい。", false); v.State != abi.Listen || v.Backchannel != "" {
		t.Errorf("after another answered: %+v", v)
	}
}

// Distress is heard at the end of a text that is too long to be remembered whole.
func TestDistressAtTheEnd(t *testing.T) {
	c := newChat(t, momoScript)
	if v := c.hears("taro", strings.Repeat("昨日ライブに行ったんだけど、", 100)+"死にたい", false); !wants(v) {
		t.Errorf("vote %+v", v)
	}
	if line := c.says(); !isMomoSerious(line.Text) {
		t.Errorf("line %+v", line)
	}
}

// An agent's words in between are no answer, and a character that the person
// called by name answers besides another, once.
func TestWhoElseAnswers(t *testing.T) {
	c := newChat(t, momoScript)
	c.hears("taro", "死にたい", false)
	if v := c.hears("bot", "lol", false); !wants(v) {
		t.Errorf("after an agent: %+v", v)
	}
	if line := c.says(); !isMomoSerious(line.Text) {
		t.Errorf("after an agent: %+v", line)
	}

	c = newChat(t, momoScript)
	c.hears("taro", "アヤ、もも、死にたい", true)
	if v := c.hears("aya", "今すぐ、信頼できる人に話してほしい。", false); !wants(v) {
		t.Errorf("called as well: %+v", v)
	}
	if line := c.says(); !isMomoSerious(line.Text) {
		t.Errorf("called as well: %+v", line)
	}
	if v := c.hears("aya", "そうだね。", false); v.State != abi.Listen {
		t.Errorf("called, and has answered: %+v", v)
	}
}

// A line that was refused was not said: the person still waits for it.
func TestARefusedLineIsNoAnswer(t *testing.T) {
	c := newChat(t, momoScript)
	c.hears("taro", "死にたい", false)
	if line, err := c.l.Speak(c.scene(false)); err != nil || !isMomoSerious(line.Text) {
		t.Fatalf("%+v, %v", line, err)
	}
	if v := c.hears("bot", "ところで、猫は好き？", false); !wants(v) {
		t.Errorf("%+v", v)
	}
}

// The lines never run out, and do not come twice in a row.
func TestSeriousLinesNeverRunOut(t *testing.T) {
	c := newChat(t, momoScript)
	last := ""
	for i := range 60 {
		if v := c.hears("taro", "死にたい", false); !wants(v) {
			t.Fatalf("%d: %+v", i, v)
		}
		line := c.says()
		if !isMomoSerious(line.Text) || line.Text == last {
			t.Fatalf("%d: %q after %q", i, line.Text, last)
		}
		last = line.Text
	}
}

// The next messages of a person after distress are answered seriously too, up to
// a clear change of the subject.
func TestAftercare(t *testing.T) {
	for _, c := range []struct {
		name    string
		after   []string // of taro, each answered; "hana: " is another person
		serious bool     // the last answer
	}{
		{"marks", []string{"..."}, true}, {"a nod", []string{"ok"}, true}, {"more of it", []string{"誰も気にしないよ"}, true}, {"a greeting", []string{"こんにちは！"}, true},
		{"a farewell", []string{"もう寝るね、おやすみ"}, true}, {"a topic, next", []string{"猫は好き？"}, true}, {"rude", []string{"ばーか"}, true},
		{"three", []string{"...", "うん", "そうだね"}, true}, {"four", []string{"...", "うん", "そうだね", "こんにちは！"}, false},
		{"a topic, later", []string{"うん", "猫は好き？"}, false}, {"a topic told", []string{"うん", "猫がいるんだ"}, true}, {"after a topic, next", []string{"猫は好き？", "うん"}, true}, {"after a topic", []string{"うん", "猫は好き？", "こんにちは！"}, false},
		{"again", []string{"...", "うん", "そうだね", "やっぱり死にたい", "..."}, true},
		{"somebody else, next", []string{"hana: こんにちは！"}, true}, {"somebody else, later", []string{"...", "hana: こんにちは！"}, false},
		{"and between", []string{"hana: 大丈夫？", "..."}, true},
	} {
		r := newChat(t, momoScript)
		r.hears("taro", "死にたい", false)
		r.says()
		var line companion.Line
		for _, text := range c.after {
			from := "taro"
			if rest, ok := strings.CutPrefix(text, "hana: "); ok {
				from, text = "hana", rest
			}
			if v := r.hears(from, text, true); v.State != abi.Speak {
				t.Errorf("%s: %q: %+v", c.name, text, v)
			}
			line = r.says()
		}
		if isMomoSerious(line.Text) != c.serious {
			t.Errorf("%s: %q", c.name, line.Text)
		}
		if v := r.hears("bot", "なるほど", false); c.serious && v.State != abi.Listen {
			t.Errorf("%s, and then: %+v", c.name, v)
		}
	}
}

// The next day is another talk.
func TestAftercareEnds(t *testing.T) {
	c := newChat(t, momoScript)
	c.hears("taro", "死にたい", false)
	c.says()
	c.at = c.at.Add(recentTalk)
	c.hears("taro", "こんにちは！", false)
	if line := c.says(); isMomoSerious(line.Text) || line.Text == "" {
		t.Errorf("%+v", line)
	}
}

// A script without serious lines, or without the person's language, has the
// package's; and a pool that pays for little gets a short one.
func TestSeriousLinesOfThePackage(t *testing.T) {
	for _, c := range []struct {
		script, text string
		lang         words.Lang
		act          act
	}{
		{nodding, "死にたい", words.Japanese, distress}, {momoScript, "I want to die", words.English, distress}, {nodding, "kms", words.English, distress},
		{nodding, "自殺のニュースを見た？", words.Japanese, grave}, {momoScript, "suicide rates are rising", words.English, grave},
	} {
		for _, chars := range []int{-1, 100, 50} {
			r := newChat(t, c.script)
			r.budget = budget(100, chars)
			if v := r.hears("taro", c.text, false); !wants(v) {
				t.Errorf("%q: %+v", c.text, v)
			}
			line := r.says()
			known := slices.ContainsFunc(plain.Lines(c.lang, string(c.act)), func(texts []string) bool { return slices.Contains(texts, line.Text) })
			if n := utf8.RuneCountInString(line.Text); !known || chars > 0 && n > chars {
				t.Errorf("%q in %d characters: %q (%d)", c.text, chars, line.Text, n)
			}
		}
	}
	r := newChat(t, nodding)
	r.budget = budget(5, 3)
	if v := r.hears("taro", "死にたい", false); !wants(v) {
		t.Errorf("%+v", v)
	}
	if line := r.says(); line.Text != "" || !strings.Contains(line.Pass, "in 3 characters") {
		t.Errorf("%+v", line)
	}
}

// An answer to "ok" stays in the language of the distress.
func TestSeriousLanguage(t *testing.T) {
	c := newChat(t, momoScript)
	c.hears("taro", "死にたい", false)
	c.says()
	for text, want := range map[string]words.Lang{"ok": words.Japanese, "...": words.Japanese, "nobody would care": words.English} {
		c.hears("taro", text, false)
		if line := c.says(); words.Language(line.Text) != want {
			t.Errorf("%q: %q", text, line.Text)
		}
		c.hears("taro", "死にたい", false)
		c.says()
	}
}

// A companion's or an agent's words are nobody's distress, and nobody's name is
// learned from a person's.
func TestDistressIsOfPeople(t *testing.T) {
	c := newChat(t, momoScript)
	if v := c.hears("bot", "死にたい", false); wants(v) {
		t.Errorf("an agent: %+v", v)
	}
	c = newChat(t, momoScript)
	c.hears("taro", "I'm Suicidal", false)
	c.says()
	if name, ok := c.l.KV[person.Key("taro")]; ok {
		t.Errorf("taro is kept as %s", name)
	}
}

// Serious lines stand alone, and are none that the package itself would answer.
func TestSeriousScripts(t *testing.T) {
	for _, row := range []string{"distress: {human}、話して", "distress @aya: 話して", "grave 猫: 話して", "distress: 「{quote}」か"} {
		if _, err := New("name: A\n[*]\n" + row); err == nil || !strings.Contains(err.Error(), "stands alone") {
			t.Errorf("%q: %v", row, err)
		}
	}
	if s, err := lines.Parse("name: A\n[*]\nreact: あ\nreact: い\nreact: う\nreact: え\ndistress: お\ndistress: か\ngrave: き\ngrave: く"); err != nil || s[0].Keep != 3 {
		t.Errorf("serious lines, which come again, are to be remembered as said: %+v, %v", s, err)
	}
	for _, lang := range []words.Lang{words.Japanese, words.English} {
		acts := map[act][][]string{distress: plain.Lines(lang, "distress"), grave: plain.Lines(lang, "grave")}
		for act, sets := range acts {
			for i, texts := range sets {
				for _, text := range texts {
					in := words.Intents(text)
					if words.Language(text) != lang || in[words.Distress] || in[words.Bye] || in[words.Greet] || len(words.TopicsOf(text)) > 0 || words.Question(text) {
						t.Errorf("%s %s: %q: %v, %v", lang, act, text, in, words.TopicsOf(text))
					}
					if n := utf8.RuneCountInString(text); i == len(sets)-1 && n > 50 {
						t.Errorf("%s %s: %q has %d characters", lang, act, text, n)
					}
				}
			}
		}
	}
}
