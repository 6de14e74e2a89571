package words

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Intent is what a text does besides having a topic.
type Intent string

// The intents a text can have, several at once; the first two are always alone.
const (
	Distress  Intent = "distress" // its writer may want to die or to hurt themselves
	Grave     Intent = "grave"    // speaks of suicide or self-harm, but not as its writer's wish
	Greet     Intent = "greet"
	Who       Intent = "who" // asks who somebody is
	HowAreYou Intent = "howareyou"
	Thanks    Intent = "thanks"
	Praise    Intent = "praise"
	Rude      Intent = "rude"
	Bye       Intent = "bye"
	Wordless  Intent = "wordless" // nothing in it but marks
	Emoji     Intent = "emoji"    // nothing in it but marks and emoji
	Long      Intent = "long"     // more than a chat can take
)

// LongText is how many characters make a text Long.
const LongText = 220

// intentWords are in normal form. In an English text a phrase must stand alone.
var intentWords = []struct {
	intent Intent
	words  []string
}{
	{Greet, []string{"こんにちは", "こんにちわ", "こんばんは", "おはよう", "はじめまして", "初めまして", "やっほ", "やあ、", "やあ。", "やあ!", "ただいま", "よろしく",
		"hello", "hi", "hey", "good morning", "good evening", "good afternoon", "nice to meet you", "greetings"}},
	{Who, []string{"誰です", "だれです", "誰なの", "だれなの", "誰?", "だれ?", "自己紹介", "あなたたちは", "君たちは", "きみたちは", "何者", "あなたは誰", "お名前は",
		"名前は何", "名前を教えて", "who are you", "who is here", "who's here", "introduce yourself", "introduce yourselves", "what is your name", "what's your name", "what are your names"}},
	{HowAreYou, []string{"元気?", "元気ですか", "元気にして", "元気だった", "お元気", "調子はどう", "調子どう", "最近どう", "how are you", "how is it going", "how's it going", "what's up", "how are things"}},
	{Thanks, []string{"ありがと", "有難う", "有り難う", "感謝", "thank you", "thank", "thx"}},
	{Praise, []string{"かわいい", "可愛い", "かっこいい", "面白いね", "おもしろいね", "すごいね", "さすが", "天才", "cute", "awesome", "amazing", "brilliant", "you are great", "well done"}},
	{Rude, []string{"ばか", "ばーか", "馬鹿", "あほ", "死ね", "うざい", "うぜ", "きもい", "きも", "くそ", "黙れ", "だまれ", "つまらない", "つまんない", "ぶす", "ぽんこつ",
		"stupid", "idiot", "shut up", "dumb", "fuck", "fucking", "shit", "boring", "hate you", "useless"}},
	{Bye, []string{"さようなら", "さよなら", "ばいばい", "ばいばーい", "またね", "また明日", "またあした", "また今度", "またこんど", "おやすみ", "じゃあね", "じゃーね", "ではまた", "じゃ、また", "じゃあ、また", "お先に失礼", "落ちます", "落ちるね", "行ってきます", "いってきます", "行ってくるね", "いってくるね",
		"goodbye", "good bye", "bye", "bye bye", "see you", "see ya", "good night", "farewell", "take care", "gotta go", "have to go"}},
}

// intentLexicon is made when first needed.
var intentLexicon = sync.OnceValue(func() lexicon {
	x := lexicon{}
	for i, in := range intentWords {
		for _, w := range in.words {
			x.add(w, i)
		}
	}
	return x
})

// Intents gives what a text does. Nothing else it does counts beside [Distress] and
// [Grave]: one who says good night and wants to die is not wished a good night.
func Intents(s string) map[Intent]bool {
	if in := concern(s); in != "" {
		return map[Intent]bool{in: true}
	}
	text := strings.ReplaceAll(Normal(s), "’", "'")
	found := map[Intent]bool{}
	intentLexicon().scan(text, func(_ int, t term) { found[intentWords[t.id].intent] = true })
	if !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		if strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.So, r) || unicode.Is(unicode.Sk, r) }) {
			found[Emoji] = true
		} else {
			found[Wordless] = true
		}
	}
	if utf8.RuneCountInString(s) > LongText {
		found[Long] = true
	}
	return found
}

// Hello gives the greeting that answers the one in s, "" where there is none.
func Hello(s string, lang Lang) string {
	text := Normal(s)
	if !Intents(s)[Greet] {
		return ""
	}
	for _, h := range hellos {
		if h.lang == lang && slices.ContainsFunc(h.heard, func(w string) bool { return Has(text, w) }) {
			return h.say
		}
	}
	if lang == English {
		return "Hello!"
	}
	return "こんにちは！"
}

var hellos = []struct {
	lang  Lang
	heard []string
	say   string
}{
	{Japanese, []string{"おはよう", "good morning"}, "おはよう！"},
	{Japanese, []string{"こんばんは", "good evening"}, "こんばんは！"},
	{Japanese, []string{"はじめまして", "初めまして", "nice to meet you"}, "はじめまして！"},
	{Japanese, []string{"ただいま"}, "おかえり！"},
	{Japanese, []string{"やっほ"}, "やっほー！"},
	{English, []string{"good morning", "おはよう"}, "Good morning!"},
	{English, []string{"good evening", "こんばんは"}, "Good evening!"},
	{English, []string{"nice to meet you"}, "Nice to meet you!"},
	{English, []string{"hi", "hey"}, "Hi!"},
}

// questionEnds are ends of Japanese questions, in normal form.
var questionEnds = []string{"ですか", "ますか", "でしょうか", "かな", "かなあ", "かなぁ", "なの", "教えて", "おしえて", "教えてください", "って何", "とは"}

// Question says whether a text asks something.
func Question(s string) bool {
	if strings.ContainsAny(s, "?？") {
		return true
	}
	text := strings.TrimRight(Normal(s), " 。.!！♪〜~ー")
	if slices.ContainsFunc(questionEnds, func(end string) bool { return strings.HasSuffix(text, end) }) {
		return true
	}
	first, _, _ := strings.Cut(text, " ")
	switch first {
	case "what", "why", "how", "who", "when", "where", "which", "do", "does", "can", "is", "are", "tell":
		return Language(s) == English
	}
	return false
}

// Set gives the words of a text, in normal form.
func Set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[Normal(w)] = true
	}
	return m
}
