// Package alike compares texts that say the same in other words: by the kanji, words, things and sounds that they share, and by who does
// something to whom.
//
// It is pure, and knows no meanings.
package alike

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history/marks"
	"github.com/companiond/companiond/host/memory/wording"
)

// everyday are kanji of which a text has so many that they tell nothing.
const everyday = `日月火水木金土年時分秒円人名個本枚回的前後中上下今来行見言思出入大小新一二三四五六七八九十百千万何者事物方私僕俺自決禁止不可無未非必要関係曜`

// Units gives what two texts in other words can share: kanji one by one, words in kana and Latin letters, and things.
func Units(text string) map[string]bool {
	u := map[string]bool{}
	text = marks.Plain(text)
	for _, w := range Words(text) {
		first, _ := utf8.DecodeRuneInString(w)
		switch {
		case unicode.Is(unicode.Han, first):
			for _, r := range w {
				if !strings.ContainsRune(everyday, r) {
					u[string(r)] = true
				}
			}
		default:
			u[w] = true
		}
	}
	for _, g := range InKana.FindAllStringSubmatch(text, -1) {
		if !pronouns[g[1]] {
			u[g[1]] = true
		}
	}
	for _, th := range wording.Things(text) {
		u["="+th] = true
	}
	return u
}

// InKana finds nouns that are written in hiragana, before their particle: かつおぶしは.
var (
	InKana   = regexp.MustCompile(`(?:^|[^\p{Hiragana}])(\p{Hiragana}{3,7}?)(?:は|が|を|も|と|や)(?:[^\p{Hiragana}]|$)`)
	pronouns = Set(`これ それ あれ ここ そこ どこ こちら そちら あちら どちら みんな だれ なに いつ わたし あなた ぼく おれ うち ほう こと もの ところ とき それから これから あと まだ もう`)
)

// Words gives the words of a text in [marks.Plain]: those of [wording.Words], and more of the English ones. Numbers are none.
func Words(text string) (all []string) {
	for _, w := range wording.Words(text) {
		first, _ := utf8.DecodeRuneInString(w)
		ending := unicode.Is(unicode.Hiragana, first) && utf8.RuneCountInString(w) < 4 && strings.Contains(text, w) && wording.Thing(w) == w
		if first > unicode.MaxLatin1 && !unicode.IsNumber(first) && !ending {
			all = append(all, w)
		}
	}
	for _, w := range latin.FindAllString(strings.ToLower(text), -1) {
		if w = strings.TrimSuffix(w, "'s"); !small[w] && len(w) > 1 {
			all = append(all, stem(w))
		}
	}
	return all
}

var latin = regexp.MustCompile(`[a-z\x{00df}-\x{024f}]+(?:'[a-z]+)?`)

// small are the words of English that are in every text.
var small = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`the a an and or but if of to in on at for with from by as is am are was were be been being do does did done have has had having will would can could should shall may might must
		i i'm i've i'd i'll me my mine you your yours you're you'll he she it it's its they they'll they're them their we we'll we're us our his her him this that that's these those there there's here what what's who who's whom which when where why how
		not no yes yeah ok okay oh ah hey hi hello so very really too also just about again please don't doesn't didn't isn't aren't wasn't can't won't let's up out over then than ever never still well now pm get got go going want like some any all more most much many into onto only both`) {
		m[w] = true
	}
	return m
}()

// irregular are past forms that no ending shows.
var irregular = func() map[string]string {
	m := map[string]string{}
	for _, f := range strings.Fields(`paid:pay bought:buy sent:send gave:give given:give took:take taken:take told:tell brought:bring lent:lend sold:sell taught:teach wrote:write written:write chose:choose chosen:choose made:make met:meet kept:keep held:hold`) {
		past, verb, _ := strings.Cut(f, ":")
		m[past] = verb
	}
	return m
}()

// stem takes the endings off an English word.
func stem(w string) string {
	if verb, ok := irregular[w]; ok {
		w = verb
	}
	switch n := len(w); {
	case n > 4 && (strings.HasSuffix(w, "ies") || strings.HasSuffix(w, "ied")):
		return w[:n-3] + "y"
	case n > 5 && strings.HasSuffix(w, "ing"):
		w = w[:n-3]
	case n > 4 && strings.HasSuffix(w, "ed"), n > 4 && strings.HasSuffix(w, "es"):
		w = w[:n-2]
	case n > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us"):
		w = w[:n-1]
	}
	if n := len(w); n > 3 && w[n-1] == w[n-2] && w[n-1] != 'l' && w[n-1] != 's' {
		w = w[:n-1]
	}
	if len(w) > 3 {
		w = strings.TrimSuffix(w, "e")
	}
	return w
}

// wordy is how many bytes a word has at most of which a beginning may be meant.
const wordy = 60

// Beginnings gives what words are cut to: マヨ, async, and pad for gamepad.
func Beginnings(words map[string]bool) map[string]bool {
	m := map[string]bool{}
	for w := range words {
		first, _ := utf8.DecodeRuneInString(w)
		least, n := 4, 0
		if !unicode.Is(unicode.Latin, first) {
			least = 2
		}
		if unicode.Is(unicode.Han, first) || first == '=' || utf8.RuneCountInString(w) < least+2 || len(w) > wordy {
			continue
		}
		letters := utf8.RuneCountInString(w)
		for i := range w {
			if n >= least {
				m[w[:i]] = true
			}
			if least == 4 && n > 2 && letters-n > 2 {
				m[w[i:]] = true
			}
			n++
		}
	}
	return m
}

// Sounds are those of the names of a text, of the katakana in it and of the Latin letters.
type Sounds struct{ kana, latin map[string]bool }

var (
	kanaRun  = regexp.MustCompile(`[\p{Katakana}ー]{3,}`)
	latinRun = regexp.MustCompile(`[a-z]{4,}`)
)

// SoundsOf gives those of a text in [marks.Plain] and small letters.
func SoundsOf(plain string) Sounds {
	all := func(runs *regexp.Regexp) map[string]bool {
		m := map[string]bool{}
		for _, w := range runs.FindAllString(plain, -1) {
			if s := marks.Sounds(w); s != "" {
				m[s] = true
			}
		}
		return m
	}
	return Sounds{all(kanaRun), all(latinRun)}
}

// Have says whether a name is there in the other letters.
func (s Sounds) Have(key string) bool {
	for w := range strings.FieldsSeq(key) {
		if sound := marks.Sounds(w); sound != "" && (Japanese(w) && s.latin[sound] || !Japanese(w) && s.kana[sound]) {
			return true
		}
	}
	return false
}

// Shared counts what two sets have in common.
func Shared(a, b map[string]bool) (n int) {
	if len(a) > len(b) {
		a, b = b, a
	}
	for w := range a {
		if b[w] {
			n++
		}
	}
	return n
}

// Set gives the words of a list, as they are and as [wording.Fold] has them.
func Set(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		for _, f := range append(Words(w), wording.Fold(w)) {
			m[f] = true
		}
	}
	return m
}

// Japanese says whether a text has a letter of Japanese.
func Japanese(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han) })
}

// Clip cuts a text that is too long for an item.
func Clip(text string) string { return Cut(text, abi.MaxKeepText) }

// Cut leaves of a text the bytes that it may have at most, no letter in two.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return strings.TrimSpace(text[:most])
}

// Subject finds what a sentence in Japanese denies something of.
var Subject = regexp.MustCompile(`([\p{Han}\p{Katakana}ー々]{1,8}(?:もの)?)(?:は|も|を)`)

// Together is how many clauses a piece has at most.
const Together = 8
