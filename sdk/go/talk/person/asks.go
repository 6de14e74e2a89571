package person

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/companiond/companiond/sdk/go/words"
)

// What a person may ask of a character.
const (
	Age      = "age"
	Birthday = "birthday"
	Job      = "job"
	Home     = "home"
	Hobby    = "hobby"
	Likes    = "likes"
	AI       = "ai"
)

// Questions are all of them, as scripts name them.
func Questions() []string { return []string{Age, Birthday, Job, Home, Hobby, Likes, AI} }

// table is phrases by what they are about, in normal form.
type table []struct {
	about string
	said  []string
}

func (t table) folded() table {
	for _, row := range t {
		for i := range row.said {
			row.said[i] = words.Normal(row.said[i])
		}
	}
	return t
}

var questions = sync.OnceValue(func() table {
	return table{
		{Age, []string{"何歳", "おいくつ", "いくつですか", "いくつなの", "年齢", "歳はいくつ", "年はいくつ", "how old are you", "your age", "how old r u"}},
		{Birthday, []string{"誕生日", "何年生まれ", "いつ生まれ", "your birthday", "when were you born", "your bday"}},
		{Job, []string{"お仕事は何", "仕事は何", "仕事何", "何の仕事", "何のお仕事", "どんな仕事", "どんなお仕事", "お仕事なに", "職業", "何してる人", "何をしてる人", "普段何", "ふだん何", "普段は何", "your job", "do you do for a living", "what do you do?", "do you work", "you do for work"}},
		{Home, []string{"どこに住", "どこ住み", "どこに住み", "お住まい", "住まいは", "出身", "どこから来", "どこの人", "where do you live", "where are you from", "where r u from", "your home", "where you live"}},
		{Hobby, []string{"趣味", "休みの日", "休日は", "暇なとき", "暇な時", "ひまなとき", "your hobby", "your hobbies", "any hobbies", "free time", "for fun", "spare time"}},
		{Likes, []string{"好きなもの", "好きなこと", "何が好き", "なにが好き", "好物", "what do you like", "what you like", "your favorite thing", "your favourite thing", "favorite things", "favourite things", "what are you into"}},
		{AI, []string{"aiです", "aiなの", "aiなん", "aiだよね", "aiだよな", "aiでしょ", "aiなの?", "ai?", "人間です", "人間なの", "人間?", "人間じゃない", "ロボットです", "ロボットなの", "ボットです", "ボットなの", "botです", "botなの", "本物の人", "中の人", "生きてるの", "生きていますか",
			"are you an ai", "are you ai", "you an ai", "are you a robot", "are you a bot", "are you human", "are you a human", "are you real", "are you a real", "are you a person", "are you a machine", "are you alive", "are you sentient", "are you a program"}},
	}.folded()
})

// Asks gives which of [Questions] a text asks of whom it is said to, "" for none: a question that is not about
// whoever asks it.
func Asks(text string) string {
	if !words.Question(text) || utf8.RuneCountInString(text) > 120 {
		return ""
	}
	norm := strings.ReplaceAll(words.Normal(text), "’", "'")
	if own(norm) || remembers(norm) {
		return ""
	}
	for _, row := range questions() {
		if row.about == Likes && len(words.TopicsOf(text)) > 0 {
			continue
		}
		for _, said := range row.said {
			if said == "ai?" && len(norm) > 20 || !within(norm, said) {
				continue
			}
			return row.about
		}
	}
	return ""
}

// within says whether a phrase is in a text, one that begins or ends with a Latin letter as words of their own.
func within(norm, said string) bool {
	last := said[len(said)-1]
	if said[0] < utf8.RuneSelf && last < utf8.RuneSelf && last != '?' {
		return words.Has(norm, said)
	}
	return strings.Contains(norm, said)
}

// own says whether a text speaks of what belongs to whoever says it.
func own(norm string) bool {
	return anyIn(norm, "私の", "わたしの", "僕の", "ぼくの", "俺の", "おれの", "あたしの", "うちの") || anyHas(norm, "my", "mine", "we", "our") ||
		slices.ContainsFunc(strings.FieldsFunc(norm, func(r rune) bool { return r == ' ' || r == ',' || r == '\'' }), func(w string) bool { return w == "i" })
}

// remembers says whether a text asks somebody to remember.
func remembers(norm string) bool {
	return anyIn(norm, "覚えて", "おぼえて", "忘れた?", "忘れちゃった?", "だっけ", "話したっけ", "言ったっけ", "前に話", "前に言", "この前話", "この前言") ||
		anyHas(norm, "remember", "did i tell", "have i told", "did i say", "i told you", "forget about me", "forgotten me")
}

// AsksOfOwn says whether a text asks what the character knows of whoever says it.
func AsksOfOwn(text string) bool {
	if !words.Question(text) || utf8.RuneCountInString(text) > 120 {
		return false
	}
	norm := strings.ReplaceAll(words.Normal(text), "’", "'")
	switch {
	case remembers(norm):
		return true
	case anyHas(norm, "what's my", "what is my", "what are my", "what was my", "who am i", "do you know my", "know who i am", "when is my", "when's my", "when am i", "where do i live", "where do i work", "what do i like", "how old am i"):
		return true
	}
	return anyIn(norm, "私の", "わたしの", "僕の", "ぼくの", "俺の", "おれの", "あたしの", "うちの") && anyIn(norm, "名前は", "名前わか", "名前、わか", "名前知", "何だった", "なんだった", "いつ?", "いつだった", "知ってる", "わかる?", "分かる?", "なんていう", "何ていう", "好きなもの", "誕生日は", "趣味は")
}

func anyIn(norm string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(norm, p) })
}

func anyHas(norm string, phrases ...string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return words.Has(norm, p) })
}

// steam are words of somebody who has had enough, in normal form.
var steam = sync.OnceValue(func() table {
	return table{{"", []string{"疲れた", "つかれた", "疲れて", "むかつ", "ムカつ", "最悪", "つらい", "辛い", "つらく", "しんど", "腹立", "腹が立", "いらいら", "イライラ", "もう嫌", "もういや", "やってられ", "ひどい", "悲し", "泣きそう", "泣いた", "理不尽", "怒られ", "怒鳴", "ストレス",
		"落ち込", "へこん", "凹ん", "限界", "うんざり", "悔し", "くやし", "納得いかな", "押しつけ", "押し付け"}},
		{"", []string{"tired of", "exhausted", "so angry", "so mad", "pissed", "furious", "awful", "terrible", "the worst", "unfair", "stressed", "stressful", "fed up", "sick of", "ruined", "crying", "cried", "upset", "frustrated", "frustrating", "annoyed", "annoying", "had enough",
			"rough day", "bad day", "horrible", "yelled at", "can't take", "drives me", "driving me", "so unfair", "overwhelmed", "worn out", "hate it", "hated"}}}.folded()
})

// sunk are words of somebody to whom something bad was done, or who has lost heart: few of them say enough.
var sunk = sync.OnceValue(func() table {
	return table{{"", []string{"落ち込", "へこん", "凹ん", "怒られた", "怒られて", "怒鳴られ", "嫌になった", "嫌になって", "いやになった", "泣きそう", "心が折れ", "自信をなく", "自信なく", "もう無理"}},
		{"", []string{"feeling down", "feel down", "feel so down", "yelled at", "shouted at", "bad day", "rough day", "about to cry", "want to cry", "messed up at", "lost heart", "everything went wrong"}}}.folded()
})

// How long a text is in which somebody lets off steam, with heavy words and without; a shorter one is a remark.
const (
	longJapanese, heavyJapanese = 34, 12
	longEnglish, heavyEnglish   = 70, 24
)

// Vents says whether somebody lets off steam at some length, or tells in few words of what weighs on them, and asks nothing.
func Vents(text string) bool {
	least, heavy := longJapanese, heavyJapanese
	if words.Language(text) == words.English {
		least, heavy = longEnglish, heavyEnglish
	}
	long := utf8.RuneCountInString(text)
	if long < heavy || words.Question(text) {
		return false
	}
	norm := strings.ReplaceAll(words.Normal(words.Clip(text)), "’", "'")
	return says(sunk(), norm) || long >= least && says(steam(), norm)
}

// says looks for words of both languages in a text in normal form.
func says(t table, norm string) bool {
	return anyIn(norm, t[0].said...) || anyHas(norm, t[1].said...)
}

// Acronym says whether a text is one word that people write alike in every language, and says nothing of the one
// that they speak: P2P, AI, Rust.
func Acronym(text string, topics int) bool {
	text = strings.TrimRight(strings.TrimSpace(text), "?？!！.。…")
	if words.Language(text) != words.English || strings.ContainsAny(text, " 　\n") || utf8.RuneCountInString(text) > 12 {
		return false
	}
	return topics > 0 || strings.ContainsAny(text, "0123456789") || text == strings.ToUpper(text)
}

// AsksName says whether somebody asks for their own name.
func AsksName(text string) bool {
	norm := strings.ReplaceAll(words.Normal(text), "’", "'")
	return anyIn(norm, "私の名前", "わたしの名前", "僕の名前", "ぼくの名前", "俺の名前", "おれの名前", "あたしの名前", "名前覚えて", "名前を覚えて", "名前おぼえて") ||
		anyHas(norm, "my name", "who i am", "who am i")
}

// AsksOfAll says whether somebody asks whether they are known at all, and after nothing in particular.
func AsksOfAll(text string) bool {
	norm := strings.ReplaceAll(words.Normal(text), "’", "'")
	return anyIn(norm, "私のこと", "わたしのこと", "僕のこと", "ぼくのこと", "俺のこと", "おれのこと", "あたしのこと") || anyHas(norm, "remember me", "forgotten me", "know about me", "remember about me")
}
