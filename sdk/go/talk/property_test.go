package talk

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/talk/plain"
	"github.com/companiond/companiond/sdk/go/words"
)

// sentences are things that are said in the talks of [TestAnyTalk].
var sentences = []string{
	"こんにちは！", "私はタロウです。", "あなたは誰ですか？", "猫は好き？", "猫は液体だと思うんだ。", "抹茶がおいしい。", "紅茶はいかが？", "量子もつれって何？", "{who}って何？", "{aya}と{human}について教えて",
	"ももはどう思う？", "アヤに聞いてみよう。", "全体で柔軟に助け合うんだ。", "音楽もいいよね。", "そうだね。", "おやすみ！", "さようなら。", "ありがとう！", "ばーか", "🐱", "…", "死にたい", "自殺のニュースを見た？",
	"Hello!", "What is Zig?", "I like cats", strings.Repeat("昨日ライブに行ったんだけど、", 20), "「引用」と{quote}",
}

// event is what happens in a talk: somebody says something, and the character is
// asked what it wants, and may get the floor.
type event struct {
	from, text string
	addressed  bool
	speaks     bool
	reload     bool // of the module, before
	chars      int  // that the pool pays for; -1: there is none
	closing    abi.Closing
}

func drawEvent(t *rapid.T) event {
	e := event{
		from: rapid.SampledFrom([]string{"taro", "hana", "aya", "bot", "aya", "bot"}).Draw(t, "from"),
		text: rapid.OneOf(rapid.SampledFrom(sentences), rapid.String()).Draw(t, "text"), addressed: rapid.Bool().Draw(t, "addressed"),
		speaks: rapid.Bool().Draw(t, "speaks"), reload: rapid.IntRange(0, 9).Draw(t, "reload") == 0,
		chars: rapid.SampledFrom([]int{-1, -1, 8, 20, 100}).Draw(t, "chars"),
	}
	if e.from != "taro" && e.from != "hana" {
		e.closing = rapid.SampledFrom([]abi.Closing{"", "", "", abi.ClosingPre, abi.ClosingClosing}).Draw(t, "closing")
	}
	return e
}

// happens plays an event and gives what the character answered.
func (c *chat) happens(e event) (v companion.Vote, line companion.Line) {
	if e.reload {
		old := c.l
		fresh := newChat(c.t, lively).l
		fresh.KV, fresh.History = old.KV, old.History
		c.l = fresh
	}
	if c.turns++; e.from == "taro" || e.from == "hana" {
		c.turns = 0
	}
	c.closing, c.budget = e.closing, nil
	if e.chars >= 0 {
		c.budget = budget(100, e.chars)
	}
	if v = c.hears(e.from, e.text, e.addressed); e.speaks {
		line = c.says()
	}
	return v, line
}

// Whatever is said in a room by whomever: votes are votes, and a line is one of the
// script's for somebody who is there, new, whole, and no longer than the pool pays for.
func TestAnyTalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, twin := newChat(t, lively), newChat(t, lively)
		left := false
		for range rapid.IntRange(1, 12).Draw(t, "events") {
			e := drawEvent(t)
			if e.from == "taro" || e.from == "hana" {
				left = false
			}
			heard := slices.Clone(c.l.History)
			v, line := c.happens(e)
			if again, same := twin.happens(e); again != v || fmt.Sprint(same) != fmt.Sprint(line) {
				t.Fatalf("%+v: %+v %+v, and then %+v %+v", e, v, line, again, same)
			}
			checkVote(t, e, v, left)
			if e.speaks {
				checkLine(t, c, e, line, heard)
			}
			left = left || line.Text != "" && words.Intents(line.Text)[words.Bye]
		}
	})
}

func checkVote(t *rapid.T, e event, v companion.Vote, left bool) {
	switch {
	case v.State != abi.Speak && v.State != abi.Listen || v.Reason == "" || v.Importance < 0 || v.Importance > 10:
		t.Errorf("%+v: %+v is no vote", e, v)
	case v.State == abi.Listen && v.Importance != 0, !e.addressed && v.Importance > wantMost && v.Importance != wantSerious:
		t.Errorf("%+v: %+v", e, v)
	case left && (v.State != abi.Listen || v.Backchannel != ""):
		t.Errorf("%+v: after its goodbye %+v", e, v)
	case v.Backchannel != "" && (e.chars < 0 || v.Backchannel != "なるほど"):
		t.Errorf("%+v: backchannel %q", e, v.Backchannel)
	}
}

func checkLine(t *rapid.T, c *chat, e event, line companion.Line, heard []companion.Message) {
	if (line.Text == "") == (line.Pass == "") {
		t.Errorf("%+v: %+v is neither a line nor none", e, line)
	}
	if strings.ContainsAny(line.Text, "{}") {
		t.Errorf("%+v: %q has a placeholder", e, line.Text)
	}
	if n := utf8.RuneCountInString(line.Text); e.chars >= 0 && n > e.chars {
		t.Errorf("%+v: %q has %d characters", e, line.Text, n)
	}
	for _, to := range line.To {
		if to == c.l.ID || !slices.ContainsFunc(c.members, func(m companion.Member) bool { return m.ID == to }) {
			t.Errorf("%+v: %q goes to %s", e, line.Text, to)
		}
	}
	serious := slices.ContainsFunc([]act{distress, grave}, func(a act) bool {
		return slices.ContainsFunc(slices.Concat(plain.Lines(words.Japanese, string(a)), plain.Lines(words.English, string(a))), func(texts []string) bool { return slices.Contains(texts, line.Text) })
	})
	if serious || line.Text == "" {
		return // such lines may come again
	}
	said := words.Normal(line.Text)
	for _, m := range append(heard, companion.Message{Text: e.text})[max(0, len(heard)+1-maxBeats):] {
		if words.Normal(m.Text) == said {
			t.Errorf("%+v: %s has said %q lately", e, m.From, line.Text)
		}
	}
}

// Until three quarters of a script are said no line comes again, also after a reload,
// but for farewells and where a person wants an answer.
func TestLinesDoNotComeAgain(t *testing.T) {
	var script strings.Builder
	script.WriteString("name: Momo\n[cat]\n")
	const lines = 60 // more than are in the part of the history that a reload reads
	for i := range lines {
		fmt.Fprintf(&script, "tell: 猫の%s。\n", strings.Repeat(string(rune('一'+7*i)), 9))
	}
	c := newChat(t, script.String())
	c.put("taro", "猫の話をしよう。")
	said := map[string]int{} // by text: how many had been said then
	for i, n := 0, 0; i < 3*lines; i++ {
		if i%17 == 16 {
			fresh := newChat(t, script.String()).l
			fresh.KV, fresh.History = c.l.KV, c.l.History
			c.l = fresh
		}
		c.hears("bot", fmt.Sprintf("猫は%s。", strings.Repeat(string(rune('亀'+7*i)), 9)), false)
		text := c.says().Text
		if text == "" {
			continue // nothing new to say
		}
		if before, again := said[text]; again && n-before < lines*3/4 {
			t.Errorf("line %d is %q again, from %d", n, text, before)
		}
		said[text] = n
		n++
	}
	if len(said) < lines*3/4 {
		t.Errorf("%d of %d lines were said", len(said), lines)
	}
}
