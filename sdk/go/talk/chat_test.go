package talk

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
)

// lively is a character with a line for everything. The words after "tea" are a
// topic of its own.
const lively = `lang: ja
name: Momo
aliases: もも モモ
calls: aya=アヤさん kyoko=キョウコ
human: {name}さん
likes: cat=3 greet=1
after: aya=1
habit: tell=1 ask=2 react=3
topic: tea お茶 紅茶 抹茶
[*]
greet: {hi}ももだよ！
again: おかえり、{human}。会いたかったよ！
name: {human}っていうんだ。
namesake: 同じ名前だね。
intro: ももといいます。
reintro: さっきも言ったけど、ももだよ。
howareyou: 絶好調だよ。
thanks: どういたしまして。
praise: 照れるなあ。
rude: しょんぼり。
wordless: 何か言ってよ。
emoji: 絵文字だけかな。
long: 長い話だね。
unknown: {word}は知らないなあ。
dodge: うーん、どうかな。
react: 「{quote}」だって！
react: {who}の言うとおり。
ask: {who}はどう思う？
pre: そろそろ{first}の話も終わりかな。
pre: 時間だね。
closing: {last}の話もできてよかった。
closing: いい時間だった。
bye: {human}、またね！
bye: またね！
nod: なるほど
[cat]
open: 猫の話をしよう。
tell: 猫は液体なんだよ。
tell: 猫は狭いところが落ち着くらしい。
ask @aya 液体: {aya}、猫は液体なの？
ask @kyoko: {kyoko}、猫は飼わないの？
answer 好き: 猫は大好き！
react: 猫ってそうなんだ。
[tea]
open: お茶にしない？
tell: お茶は落ち着くね。
answer: 紅茶派かな。
`

// chat is a room with one character, and says who else is there.
type chat struct {
	t       rapid.TB
	l       *companion.Local
	members []companion.Member
	budget  *abi.Budget
	at      time.Time
	turns   int
	closing abi.Closing
}

func newChat(t rapid.TB, script string) *chat {
	t.Helper()
	c, err := New(script)
	if err != nil {
		t.Fatal(err)
	}
	l := companion.NewLocal(c)
	return &chat{t: t, l: l, at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), members: []companion.Member{
		{ID: l.ID, Name: c.Name, Kind: abi.KindCompanion}, {ID: "aya", Kind: abi.KindCompanion}, {ID: "bot", Kind: abi.KindAgent},
		{ID: "taro", Kind: abi.KindHuman}, {ID: "hana", Kind: abi.KindHuman},
	}}
}

// hears puts a message into the room and asks for a vote on it.
func (c *chat) hears(from, text string, addressed bool) companion.Vote {
	c.t.Helper()
	c.put(from, text)
	v, err := c.l.Vote(c.scene(addressed))
	if err != nil {
		c.t.Fatal(err)
	}
	return v
}

func (c *chat) put(from, text string) {
	c.at = c.at.Add(time.Minute)
	seq := len(c.l.History) + 1
	c.l.History = append(c.l.History, companion.Message{Seq: uint64(seq), ID: fmt.Sprint("m", seq), From: from, To: []string{}, Text: text, Kind: abi.KindTurn, At: c.at})
}

func (c *chat) scene(addressed bool) companion.Scene {
	var last companion.Message
	if n := len(c.l.History); n > 0 {
		last = c.l.History[n-1]
	}
	return companion.Scene{Message: last, Members: c.members, Addressed: addressed, Budget: c.budget, Turns: c.turns, MaxTurns: 24, Closing: c.closing}
}

// says lets the character speak, and puts its line into the room.
func (c *chat) says() companion.Line {
	c.t.Helper()
	line, err := c.l.Speak(c.scene(false))
	if err != nil {
		c.t.Fatal(err)
	}
	if line.Text != "" {
		c.put(c.l.ID, line.Text)
	}
	return line
}

// played parses scripts to what [New] plays.
func played(t rapid.TB, scripts ...string) *persona {
	t.Helper()
	p, err := newPersona(scripts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
