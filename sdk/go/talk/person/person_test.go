package person

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/sdk/go/words"
)

// What is asked of a character is told from what is asked of anything else, or of whoever asks.
func TestAsks(t *testing.T) {
	for text, want := range map[string]string{
		"趣味は何？": Hobby, "休みの日は何してるの？": Hobby, "何歳ですか？": Age, "アヤさんはおいくつですか？": Age, "誕生日はいつ？": Birthday, "お仕事は何ですか？": Job, "どこに住んでるの？": Home, "出身はどこ？": Home,
		"何が好き？": Likes, "好きなものを教えて": Likes, "AIなの？": AI, "みんなは人間ですか？": AI, "ロボットなの？": AI, "AI?": AI,
		"What are your hobbies?": Hobby, "what do you do for fun?": Hobby, "How old are you?": Age, "When is your birthday?": Birthday, "What's your job?": Job, "where are you from?": Home, "what do you like?": Likes, "Are you an AI?": AI, "are you real?": AI, "are you human": AI,
		"私の趣味は釣りです": "", "私の誕生日はいつだっけ？": "", "僕の年齢、知ってる？": "", "猫は好き？": "", "P2Pって何？": "", "": "", "When is my birthday?": "", "Do you remember my hobby?": "", "Are you sure it is raining?": "", "Is your cat old?": "",
		"趣味": "", "どんなゲームが好き？": "", "How old is the universe?": "",
	} {
		if got := Asks(text); got != want {
			t.Errorf("Asks(%q) = %q, want %q", text, got, want)
		}
	}
}

// Who asks what is known of them is told from who asks for anything else.
func TestAsksOfOwn(t *testing.T) {
	for text, want := range map[string]bool{
		"私の名前覚えてる？": true, "うちの猫の名前は何だっけ？": true, "僕のこと覚えてる？": true, "私の誕生日はいつ？": true, "前に話したこと覚えてる？": true, "Do you remember me?": true, "what's my name?": true, "When am I going to Kyoto?": true, "Who am I?": true, "did I tell you about Tama?": true,
		"私の猫、かわいいでしょ？": false, "あなたの名前は？": false, "猫は好き？": false, "覚えておいてね": false, "What is your name?": false, "My cat is called Tama": false, "What is Rust?": false,
	} {
		if got := AsksOfOwn(text); got != want {
			t.Errorf("AsksOfOwn(%q) = %v", text, got)
		}
	}
	if !AsksName("私の名前は？") || AsksName("うちの猫の名前は？") || !AsksName("what is my name?") || !AsksOfAll("私のこと覚えてる？") || AsksOfAll("猫のこと覚えてる？") || !AsksOfAll("do you remember me?") {
		t.Error("whose name, and whether at all")
	}
}

// Who lets off steam at some length is told from who is only tired, asks, or tells something good.
func TestVents(t *testing.T) {
	for text, want := range map[string]bool{
		"今日は最悪。朝から電車が止まるし、上司には理由もなく怒られるし、もう疲れた。":                                              true,
		"I'm so fed up. The landlord raised the rent again and nobody even told us about it.": true,
		"こんばんは。今日は仕事で失敗して落ち込んでる":                                                              true, "上司に怒られて、もう何もかも嫌になった": true, "I got yelled at in front of everybody today.": true, "I had a really bad day at work.": true,
		"怒られた？": false, "へこんだ": false, "Have a bad day? No!": false,
		"今日は仕事で疲れた…": false, "I'm tired of this.": false, "なんでこんなに疲れてるのに、誰も手伝ってくれないんだと思う？本当にしんどいんだけど。": false,
		"昨日のライブは本当に楽しかった。最後の曲でみんなが歌って、帰り道もずっと笑ってた。": false, "": false,
	} {
		if got := Vents(text); got != want {
			t.Errorf("Vents(%q) = %v", text, got)
		}
	}
}

// One word that is written alike everywhere says nothing of a language.
func TestAcronym(t *testing.T) {
	for text, want := range map[string]bool{"P2P": true, "AI": true, "ai?": true, "NFT": true, "GPT4": true, "hello": false, "hmm": false, "こんにちは": false, "AIって何": false, "I am here": false, "": false, "🐱": false} {
		if got := Acronym(text, len(words.TopicsOf(text))); got != want {
			t.Errorf("Acronym(%q) = %v", text, got)
		}
	}
}

// What is remembered is read as the daemon's rules write it, and only what is the person's, is so, and is in the
// language of the talk.
func TestFacts(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	of := func(id, text, quote string, keys ...string) abi.Memory {
		return abi.Memory{ID: id, Kind: abi.MemoryFact, Text: text, Quote: quote, Keys: keys, SaidBy: "mika"}
	}
	past := of("past", "名前はタロ", "名前はタロ", "name")
	past.ValidTo = now
	other := of("other", "ラーメンが好き", "ラーメンが好き", "好き")
	other.SaidBy = "hana"
	got := Facts([]abi.Memory{
		of("name", "名前はミカ", "私はミカです。", "名前", "name"), of("pet", "猫の名前はタマ", "うちの猫の名前はタマだよ。", "猫", "name", "pet"), of("like", "ラーメンが好き", "ラーメンが大好き", "好き"),
		of("went", "2026-11-27: 明日、面接がある", "明日、面接があるんだ", "2026-11-27", "plan"), of("today", "2026-11-28: 今日、面接がある", "今日、面接があるんだ", "plan"),
		of("born", "誕生日は9月3日", "誕生日は9月3日", "誕生日"), of("edited", "職業は教師", ""), of("en", "has a cat called Tama", "My cat is called Tama.", "cat", "name", "pet"),
		of("long", "猫の名前は"+strings.Repeat("タ", 40), "猫", "name", "pet"), past, other, {ID: "talk", Kind: abi.MemoryEpisode, Text: "2026-11-23: talked", SaidBy: "mika"},
	}, "mika", words.Japanese, now)
	want := []Fact{
		{ID: "name", Quote: "私はミカです", Name: "ミカ"}, {ID: "pet", Kind: Pet, It: "タマ", Quote: "うちの猫の名前はタマだよ"}, {ID: "like", Kind: Like, It: "ラーメン", Quote: "ラーメンが大好き"},
		{ID: "went", Kind: Went, Quote: "明日、面接があるんだ"}, {ID: "today", Kind: Plan, Quote: "今日、面接があるんだ"}, {ID: "born", Quote: "誕生日は9月3日"}, {ID: "edited", Quote: "職業は教師"}, {ID: "long", Quote: "猫"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	for quote, want := range map[string]string{"「はい」と言った": "", "長い。" + strings.Repeat("あ", 60): "", " タマだよ！ ": "タマだよ", "{human}": ""} {
		if got := tidy(quote); got != want {
			t.Errorf("tidy(%q) = %q", quote, got)
		}
	}
}

// What was said before in the same talk is found again, and nothing that has nothing to do with it.
func TestEarlier(t *testing.T) {
	said := []string{"猫は好き？", "うちの猫の名前はタマだよ。", "今日は雨だったね"}
	if got := Earlier("うちの猫の名前は何だっけ？", said); got != "うちの猫の名前はタマだよ" {
		t.Errorf("%q", got)
	}
	if got := Earlier("私の誕生日、覚えてる？", said); got != "" {
		t.Errorf("%q", got)
	}
}

// What was spoken of is noted once, the newest last, and not for ever.
func TestUse(t *testing.T) {
	var p Person
	for _, id := range []string{"a", "b", "a"} {
		p.Use(id)
	}
	if !slices.Equal(p.Used, []string{"b", "a"}) {
		t.Errorf("%q", p.Used)
	}
	for i := range mostUsed {
		p.Use(string(rune('c' + i)))
	}
	if len(p.Used) != mostUsed || slices.Contains(p.Used, "a") {
		t.Errorf("%q", p.Used)
	}
	if Key("mika") != "human/mika" || Key(strings.Repeat("x", 300)) != "human/?" || !Anonymous("ＧＵＥＳＴ") || Anonymous("Mika") {
		t.Error("keys and names")
	}
}
