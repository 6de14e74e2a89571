package speech

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxBackchannel is how long a backchannel can be, in bytes: a crowd's 888 is.
const maxBackchannel = 1 << 10

// Backchannel says whether a message is no more than what a listener says while
// another speaks: one or more of はい, うん, なるほど, "mhm", "yeah" and their like, with
// nothing else. Case, width, kana, marks, emoji and how long a sound is drawn do not
// matter, but うーん is not うん: who thinks wants to say something. Who asks wants an
// answer, 「はい？」, unless the question is only surprise, 「ほんと？」.
//
// To a question the same words are an answer: see [Question].
func Backchannel(text string) bool {
	if len(text) > maxBackchannel {
		return false
	}
	folded := fold(text)
	said := drawn(folded)
	_, marks := ending(folded)
	reached := make([]bool, len(said)+1)
	reached[0] = true
	for i := range said {
		if !reached[i] {
			continue
		}
		if said[i] == ' ' {
			reached[i+1] = true
		}
		for _, e := range echoes {
			if end := e.match(said[i:]); end > 0 && (i+end < len(said) || e.surprise || !asks(marks)) {
				reached[i+end] = true
			}
		}
	}
	return len(said) > 0 && reached[len(said)]
}

// echo is a word of a listener, as [drawn] gives it; surprise that it may be asked.
type echo struct {
	word     []rune
	surprise bool
}

var echoes = slices.Concat(
	newEchoes(false, "はい うん ええ ああ へえ ほう ふうん ふむ なるほど なるほどね そう そうね そうだね そうですね そだね そか だね ですね だよね ですよね たしかに 確かに すごい すごいね 凄い いいね おお わあ",
		"わかる わかります 了解 うける 笑 草 w 888",
		"mhm mm uh-huh hm huh yeah yep yup yes ok okay right sure true exactly totally indeed i_see ah aha cool nice got_it gotcha makes_sense fair_enough lol ha"),
	newEchoes(true, "ほんと ほんとに 本当 本当に まじ まじか まじで そうですか そうなんだ そうなんですね", "oh wow really no_way"))

func newEchoes(surprise bool, words ...string) (all []echo) {
	for _, w := range strings.Fields(strings.Join(words, " ")) {
		all = append(all, echo{drawn(fold(w)), surprise})
	}
	return all
}

const long = '~' // in what drawn gives: the letter before is drawn out

// drawn gives the letters of a folded text. ー〜っ, small vowels, and what repeats or
// only lengthens a letter become long; all else between letters becomes one space.
func drawn(folded string) (out []rune) {
	var before rune // the letter before, 0 behind a space
	for _, r := range applause.ReplaceAllString(folded, "888") {
		switch {
		case unicode.IsMark(r):
		case strings.ContainsRune("ー〜~っぁぃぅぇぉ", r), r == before && !unicode.IsDigit(r), lengthens(before, r):
			if before != 0 && out[len(out)-1] != long {
				out = append(out, long)
			}
		case isLetter(r):
			out, before = append(out, r), r
		case before != 0:
			out, before = append(out, ' '), 0
		}
	}
	return []rune(strings.TrimRight(string(out), " "))
}

// applause is 888, however long.
var applause = regexp.MustCompile("8{4,}")

// lengthens says whether a kana lengthens the one before it, in what listeners say.
func lengthens(before, r rune) bool {
	return before != 0 && slices.Contains([]string{"そう", "ほう", "とう", "ふう", "へえ", "わあ"}, string([]rune{before, r}))
}

// match gives how much of said the word is, 0 when said does not begin with it.
func (e echo) match(said []rune) int {
	i := 0
	strict := string(e.word) == "うん" // うーん thinks
	for k, r := range e.word {
		for k > 0 && r != long && !strict && i < len(said) && (said[i] == long || said[i] == ' ' && isJapanese(r)) {
			i++
		}
		if i == len(said) || said[i] != r {
			return 0
		}
		i++
	}
	if i < len(said) && said[i] == long {
		i++
	}
	if isAlpha(e.word[0]) && i < len(said) && isAlpha(said[i]) && e.match(said[i:]) == 0 {
		return 0 // the beginning of another word, and not "haha"
	}
	return i
}

func isAlpha(r rune) bool { return unicode.IsLetter(r) && !isJapanese(r) }

// askEnds are ends of Japanese questions.
var askEnds = []string{"か", "かな", "かなあ", "かなぁ", "かしら", "っけ", "るの", "うの", "くの", "すの", "つの", "むの", "ぶの", "たの", "だの", "いの", "なの"}

// noAsks are words that only end like one.
var noAsks = []string{"とか", "そうか", "そか", "そっか", "なんか", "何か", "静か", "しずか", "確か", "たしか", "豊か", "まじか", "いつか", "誰か", "どこか", "ばか"}

// Question says whether a text ends in a question: in a question mark, whatever marks
// and brackets follow it, or in Japanese in か, かな, っけ or, behind a verb or an
// adjective, の. In doubt it is one. English without a question mark is none: those
// who write lines for a voice set it.
func Question(text string) bool {
	body, marks := ending(fold(text))
	has := func(ends []string) bool {
		return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(body, end) })
	}
	return asks(marks) || has(askEnds) && !has(noAsks)
}

// ending cuts a folded text behind its last letter; ー draws that out, and 笑 is a mark.
func ending(folded string) (body, marks string) {
	body = strings.TrimRightFunc(folded, func(r rune) bool { return !isLetter(r) || r == 'ー' || r == '笑' })
	return body, folded[len(body):]
}

func asks(marks string) bool { return strings.ContainsAny(marks, "?؟") }

// fold makes letters comparable: NFKC for width, lower case, katakana as hiragana.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'ァ' && r <= 'ヶ' {
			return r - ('ァ' - 'ぁ')
		}
		return unicode.ToLower(r)
	}, norm.NFKC.String(text))
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
