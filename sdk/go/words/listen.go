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
	{Bye, []string{"さようなら", "さよなら", "ばいばい", "ばいばーい", "またね", "また明日", "またあした", "また今度", "またこんど", "おやすみ", "じゃあね", "じゃーね", "ではまた", "じゃ、また", "じゃあ、また", "お先に失礼", "落ちます", "落ちるね",
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

// Word picks what an unknown question is about: its longest run of kanji,
// katakana or Latin letters, the first of equals; "" where there is none.
func Word(s string) string {
	if w := marked(s); w != "" {
		return w
	}
	best, bestLen := "", 0
	for _, run := range runs(asked(s)) {
		n := utf8.RuneCountInString(run)
		if stopWords[Normal(run)] || n > 20 || n < 2 && !isHan([]rune(run)[0]) {
			continue
		}
		if n > bestLen {
			best, bestLen = run, n
		}
	}
	return best
}

// asked gives the sentence of a text that asks, all of it if there is none.
func asked(s string) string {
	for _, sentence := range strings.SplitAfter(strings.NewReplacer(". ", ".\n", "! ", "!\n", "。", "。\n", "！", "！\n").Replace(s), "\n") {
		if strings.ContainsAny(sentence, "?？") {
			return sentence
		}
	}
	return s
}

// marked gives what a Japanese sentence names with 「とは」「って」「について」.
func marked(s string) string {
	for _, particle := range []string{"について", "とは", "って", "のこと"} {
		before, _, ok := strings.Cut(s, particle)
		if !ok {
			continue
		}
		if i := strings.LastIndexAny(before, "。、！？!?, 　"); i >= 0 {
			_, size := utf8.DecodeRuneInString(before[i:])
			before = before[i+size:]
		}
		first, _ := utf8.DecodeRuneInString(before)
		if n := utf8.RuneCountInString(before); n >= 2 && n <= 12 && !isHiragana(first) && !stopWords[Normal(before)] {
			return before
		}
	}
	return ""
}

// runs splits a text into runs of one kind of letter; hiragana is between.
func runs(s string) (out []string) {
	kind := 0
	for _, r := range s {
		k := 0
		switch {
		case isHan(r):
			k = 1
		case isKatakana(r):
			k = 2
		case unicode.IsLetter(r) && !isHiragana(r), unicode.IsDigit(r):
			k = 3
		}
		switch {
		case k == 0:
		case k == kind:
			out[len(out)-1] += string(r)
		default:
			out = append(out, string(r))
		}
		kind = k
	}
	return out
}

// stopWords are runs that are never what a question is about, in normal form.
var stopWords = Set(`今日 明日 昨日 私 僕 俺 君 何 誰 好 思 教 皆 人 時 本当 最近 一番 話 言 知 質問 意味 自分 みんな
what about which where think know like love tell your have does with that this they there would could should from people favorite favourite
please really hmm something anything explain who why how when the you are and for can did was`)

// Set gives the words of a text, in normal form.
func Set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[Normal(w)] = true
	}
	return m
}
