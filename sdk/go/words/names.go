package words

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxPersonName is how many characters a told name may have.
const maxPersonName = 14

// Introduced gives the name a person tells as their own: 「私はタロウです」,
// 「タロウと申します」, "my name is Taro". Short forms are taken only where the
// word looks like a name: nobody is called 学生 or "fine".
func Introduced(s string) (name string, ok bool) {
	if Question(s) {
		return "", false
	}
	if name, ok = japaneseName(s); ok {
		return name, true
	}
	return englishName(s)
}

var (
	// iAm starts a sentence about oneself.
	iAm = []string{"私の名前は", "わたしの名前は", "僕の名前は", "ぼくの名前は", "俺の名前は", "名前は", "私は", "わたしは", "僕は", "ぼくは", "俺は", "おれは", "あたしは", "うちは"}
	// calledEnds follow a name and nothing else; isEnds follow anything.
	calledEnds = []string{"って呼んでください", "と呼んでください", "って呼んで", "と呼んで", "といいます", "と言います", "と申します", "っていいます", "って言います", "っていうよ", "っていう"}
	isEnds     = []string{"だよ", "です", "だ", ""}
	// another is whose name may follow where nobody says whose it is: 猫を飼いはじめたんだ、名前はミケ.
	another = []string{"猫", "ねこ", "ネコ", "犬", "いぬ", "イヌ", "飼", "ペット", "鳥", "インコ", "うさぎ", "ウサギ", "ハムスター", "金魚", "息子", "娘", "妹", "弟", "兄", "姉", "子供", "子ども", "赤ちゃん", "彼女", "彼氏", "友達", "友だち", "先生", "上司", "先輩", "後輩", "推し"}
)

func japaneseName(s string) (string, bool) {
	read := 0 // so much of s
	for _, sentence := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("。！!、,，♪\n〜～", r) }) {
		at := read + strings.Index(s[read:], sentence)
		said := s[:at]
		read = at + len(sentence)
		sentence = strings.TrimSpace(sentence)
		rest, about := sentence, ""
		for _, p := range iAm {
			if cut, ok := strings.CutPrefix(sentence, p); ok {
				rest, about = cut, p
				break
			}
		}
		if (about == "" || about == "名前は") && slices.ContainsFunc(another, func(word string) bool { return strings.Contains(said, word) }) {
			continue
		}
		for _, e := range calledEnds {
			if name, ok := strings.CutSuffix(rest, e); ok && isName(name, false) {
				return strings.TrimSpace(name), true
			}
		}
		if about == "" {
			continue
		}
		for _, e := range isEnds {
			if name, ok := strings.CutSuffix(rest, e); ok && (e != "" || strings.Contains(about, "名前")) {
				if isName(name, !strings.Contains(about, "名前")) {
					return strings.TrimSpace(name), true
				}
				break
			}
		}
	}
	return "", false
}

func englishName(s string) (string, bool) {
	text := strings.ReplaceAll(s, "’", "'")
	if strings.ContainsFunc(text, func(r rune) bool { return utf8.RuneLen(unicode.ToLower(r)) != utf8.RuneLen(r) }) {
		return "", false // a letter whose lower case is longer, or shorter: places would be others
	}
	low := strings.ToLower(text)
	if len(low) != len(text) { // it is no text
		return "", false
	}
	for _, p := range []struct {
		lead   string
		strict bool
	}{{"my name is ", false}, {"my name's ", false}, {"call me ", false}, {"i am ", true}, {"i'm ", true}} {
		i := strings.Index(low, p.lead)
		if i < 0 || i > 0 && isWordByte(low[i-1]) {
			continue
		}
		word := text[i+len(p.lead):]
		end := strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' })
		if end >= 0 {
			word = word[:end]
		}
		first, _ := utf8.DecodeRuneInString(word)
		if isName(word, true) && (!p.strict || unicode.IsUpper(first)) {
			return word, true
		}
	}
	return "", false
}

// BareName takes a whole text as the answer to "what is your name".
func BareName(s string) (string, bool) {
	name := strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("。！!.♪", r) })
	for _, e := range isEnds[:2] {
		name = strings.TrimSpace(strings.TrimSuffix(name, e))
	}
	if strings.ContainsRune(name, ' ') || len(TopicsOf(name)) > 0 || len(Intents(name)) > 0 || !isName(name, true) {
		return "", false
	}
	return name, true
}

// isName says whether s may be somebody's name; strict where the sentence
// could as well say what somebody is or how they feel.
func isName(s string, strict bool) bool {
	s = strings.TrimSpace(s)
	n := utf8.RuneCountInString(s)
	if n == 0 || n > maxPersonName || notNames[Normal(s)] {
		return false
	}
	hiragana, han := 0, 0
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && r != 'ー' && r != '・' && r != '-' && r != ' ' {
			return false
		}
		if isHiragana(r) {
			hiragana++
		}
		if isHan(r) {
			han++
		}
	}
	if !strict {
		return true
	}
	if han > 0 && hiragana > 0 || hiragana > 6 || han > 5 || n < 2 {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(s)
	return han == 0 || !strings.ContainsRune("者員生師家派手系職型性的中好嫌日前後", last)
}

var notNames = Set(`元気 大丈夫 初心者 人間 日本人 大人 子供 子ども 男 女 女性 男性 無職 主婦 主夫 会社員 学生 眠い ねむい うれしい 楽しい たのしい ひま 暇 ぼっち だめ ふつう 普通 ここ そこ それ これ
ばか おたく オタク プログラマー エンジニア デザイナー ニート サラリーマン ファン リスナー いや まだ もう とても おなか さみしい かなしい つかれた 天才 無理 本気 秘密 ひみつ 内緒
fine good ok okay sorry happy sad tired sleepy hungry bored here back ready not a an the so very just really new sure glad curious interested afraid from in on at still also lost busy well human british american japanese`)
