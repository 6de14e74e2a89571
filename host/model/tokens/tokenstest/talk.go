package tokenstest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Kind is a kind of text.
type Kind string

// The kinds.
const (
	Japanese Kind = "ja"
	English  Kind = "en"
	Mixed    Kind = "mixed" // Japanese and English in turn, with emoji and numbers
	Chat     Kind = "chat"  // short lines as people type them: slang, emoji, many signs
	JSON     Kind = "json"  // one object a line
	Code     Kind = "code"
)

// Kinds gives all of them.
func Kinds() []Kind { return []Kind{Japanese, English, Mixed, Chat, JSON, Code} }

// Talk makes texts up. The same seed makes the same.
type Talk struct {
	random *rand.Rand
	seq    int
}

// NewTalk begins a talk.
func NewTalk(seed uint64) *Talk { return &Talk{random: rand.New(rand.NewPCG(seed, 14))} }

// Text gives a text of a kind, of about so many letters and never more.
func (t *Talk) Text(k Kind, letters int) string {
	between := "\n"
	if k == Japanese {
		between = ""
	} else if k == English {
		between = " "
	}
	var text []rune
	for len(text) < letters {
		if len(text) > 0 {
			text = append(text, []rune(between)...)
		}
		text = append(text, []rune(t.Line(k))...)
	}
	return string(text[:letters])
}

// Line gives one line of a kind.
func (t *Talk) Line(k Kind) string {
	switch k {
	case Japanese:
		return t.fill(japanese)
	case English:
		return t.fill(english)
	case Chat:
		return t.fill(chat)
	case Code:
		return t.fill(code)
	case JSON:
		return t.object()
	}
	return t.fill([][]string{japanese, english, chat}[t.random.IntN(3)])
}

// object gives a message as the prompts quote it.
func (t *Talk) object() string {
	t.seq += 1 + t.random.IntN(3)
	line := struct {
		Seq  int    `json:"seq"`
		From string `json:"from"`
		At   string `json:"at"`
		Text string `json:"text"`
	}{t.seq, t.one(words["name"]), time.UnixMilli(1_790_000_000_000 + int64(t.seq)*7919).UTC().Format(time.RFC3339), t.Line([]Kind{Japanese, English, Mixed}[t.random.IntN(3)])}
	raw, err := json.Marshal(line)
	if err != nil {
		panic(err) // it is made of text
	}
	return string(raw)
}

func (t *Talk) one(of []string) string { return of[t.random.IntN(len(of))] }

// fill takes a sentence and puts a word into each of its places.
func (t *Talk) fill(sentences []string) string {
	var b strings.Builder
	rest := t.one(sentences)
	for {
		before, after, found := strings.Cut(rest, "<")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		place, after, _ := strings.Cut(after, ">")
		switch place {
		case "n":
			fmt.Fprint(&b, 1+t.random.IntN(40))
		case "N":
			fmt.Fprint(&b, 100+t.random.IntN(90_000))
		default:
			b.WriteString(t.one(words[place]))
		}
		rest = after
	}
}

var words = map[string][]string{
	"name":  {"aya", "kyoko", "nikoni", "Ken", "Mari", "太郎", "ゆうき", "viewer_0312", "さくらもち", "Sora"},
	"who":   {"彩ちゃん", "京子さん", "田中先生", "弟", "隣のおばさん", "店長", "ゆうきくん", "母", "あの人", "みんな"},
	"thing": {"抹茶のケーキ", "新しいカメラ", "傘", "古い地図", "ゲームの続き", "お弁当", "キーボード", "猫のぬいぐるみ", "自転車", "プレゼント", "水筒", "イヤホン"},
	"place": {"駅前の喫茶店", "図書館", "北海道", "公園", "会社の屋上", "コンビニ", "鎌倉の海", "スタジオ", "病院", "山の上"},
	"when":  {"明日の朝", "昨日", "さっき", "来週の金曜日", "午後三時ごろ", "小さいころ", "夏休み", "今夜", "一昨日の夕方", "さいきん"},
	"doing": {"探しています", "見つけた", "忘れてしまった", "買いに行きたいな", "直してもらった", "自慢していたよ", "写真に撮った", "片づけないといけない", "使ってみたけど難しかった", "欲しがっていた"},
	"feel":  {"楽しみだね", "ちょっと不安かも", "びっくりした", "うらやましい", "よく分からない", "懐かしいな", "すごく眠い", "悪くないと思う", "もう少し考えさせて", "やっぱりやめておこう"},
	"Who":   {"Aya", "my brother", "the teacher", "Kyoko", "our neighbour", "somebody at work", "Ken", "the new guest", "your cat"},
	"Thing": {"a strawberry cake", "the old camera", "an umbrella", "the second season", "a mechanical keyboard", "the train tickets", "a birthday present", "that microphone", "the spare key", "a jigsaw puzzle"},
	"Place": {"the library", "the station", "Hokkaido", "a tiny restaurant", "the park", "the office", "the aquarium", "my grandmother's house", "the studio"},
	"When":  {"yesterday", "this morning", "next Friday", "a while ago", "before the stream started", "last summer", "tonight", "at half past eight", "every single day"},
	"Feel":  {"That sounds lovely.", "I'm not so sure about it.", "What do you think?", "It was surprisingly difficult, though.", "I could hardly believe it!", "Honestly, I'd rather wait.", "Isn't that wonderful?", "Nobody told me anything.", "I'll remember that."},
	"face":  {"😂", "🎉🎉", "😭😭😭", "👍", "🥺", "❤️", "(^_^)", "w", "www", "！！！", "✨", "🐱", ":)", "lol", "…"},
	"id":    {"roomID", "message", "lastSeq", "voteTimeout", "err", "speaker", "ctx", "payload", "i", "historyWindow"},
}

var japanese = []string{
	"<when>、<who>が<place>で<thing>を<doing>。",
	"<who>は<thing>のことを<feel>って言っていたよ。",
	"ねえ、<place>に<thing>を持っていったのは<who>だった？",
	"そうですね、<feel>。でも<when>なら大丈夫です。",
	"<thing>を<doing>んだけど、<who>には内緒にしておいてね。",
	"「<feel>」と<who>が笑った。<place>はとても静かだった。",
	"実は<when>から<place>に通っていて、<thing>も<n>回目なんです。",
	"えっ、本当に？<thing>が<n>個も必要なの？<feel>！",
	"ありがとうございます。<when>までに<who>と相談してお返事いたします。",
	"雨が降ってきたから、<place>で待っているね。<feel>。",
	"それは違うと思う。<who>が<doing>のは<thing>じゃなくて、もっと小さいものだった。",
	"約束は覚えてる？<when>に<place>の入口で、<thing>を忘れないこと。",
	"ふふっ、<who>らしいなあ。そういうところ、嫌いじゃないよ。",
	"音楽を聴きながら歩いていたら、いつの間にか<place>に着いてしまった。",
	"料理は得意ではないけれど、<thing>を作るのは好きです。<feel>。",
}

var english = []string{
	"<When>, <Who> left <Thing> at <Place>. <Feel>",
	"I was looking for <Thing>, but <Who> had already taken it to <Place>.",
	"Do you remember when <Who> brought <Thing> <When>? <Feel>",
	"Well, if you ask me, <Place> is much nicer in the rain.",
	"\"<Feel>\" said <Who>, and put <Thing> back on the shelf.",
	"We have <n> minutes left; let's talk about <Thing> another time.",
	"There's no hurry. <Who> will be at <Place> <When> anyway.",
	"Thank you so much for <Thing>! <Feel>",
	"Honestly, I haven't slept well since we went to <Place>.",
	"It costs <N> yen, which is rather expensive for <Thing>.",
	"Could you tell <Who> that I'm going to be late? <Feel>",
	"My favourite part was when everyone started laughing at <Place>.",
	"I promise I won't forget <Thing>, and I won't tell <Who> either.",
	"First you open the window, then you wait until <Who> comes home.",
	"Some people collect stamps; <Who> collects stories about <Place>.",
}

var chat = []string{
	"<face>", "初見です<face>", "gg <face>", "lmaooo <Who> again <face>", "それな<face>", "かわいい<face><face>",
	"<who>きた<face>", "おつ〜<face>", "wait what", "なんで草<face>", "brb gonna grab <Thing>", "<N>円ナイス！",
	"今日の配信<feel><face>", "hiii from <Place> <face>", "ﾅｲｽﾅｲｽ", "8888888", "tskr", "Kyoko-chan daisuki <face>", "音ちいさいかも？",
	"idk tbh, <Feel>", "えぐいってｗｗｗ", "https://example.com/watch?v=<N>&t=<n>s", "@<name> <thing>どうだった？", "omg yesss <face>", "はい！", "Привет всем", "안녕하세요 <face>", "+1",
}

var code = []string{
	"\tif <id> != nil {", "\t\treturn fmt.Errorf(\"read %q: %w\", <id>, <id>)", "\t}", "}", "func (r *room) close(<id> context.Context) error {",
	"    for <id> in range(<n>):", "        print(f\"{<id>}: {<id>[<n>]}\")", "const <id> = await fetch(`/rooms/${<id>}/say`, { method: \"POST\" });",
	"// the loop ends when <id> is closed", "\t<id>, <id> := r.<id>[<id>]", "<id> = <N> # tokens", "SELECT <id>, text FROM messages WHERE seq > <N> ORDER BY seq LIMIT <n>;", "",
}
