package scrub

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/companiond/companiond/host/forget/known"
)

// This file is what tells who somebody is in few letters: values of what is remembered, names that a person gives, addresses and
// numbers in the forms in which they are written.

// maxValue is how many letters a value has that is looked for as it is; what is longer is told by its runs.
const maxValue = 24

// Value takes what something that the person said comes to, as it was remembered: what a pet is called, where somebody works. What
// other people said does not go for it, and of kana both are looked for.
func (g *Gatherer) Value(v string, at int64) {
	v = strings.TrimSpace(plain(v))
	n := utf8.RuneCountInString(v)
	r, _ := firstRune(v)
	if of := scriptOf(r); n < 2 || n < 3 && of == latin || n > maxValue || n < 4 && of == digit || date.MatchString(v) || everyday[v] {
		return
	}
	for _, form := range []string{v, kana(v, 'ァ', 'ヶ', 'ぁ'), kana(v, 'ぁ', 'ゖ', 'ァ')} {
		if allHiragana(form) {
			g.add(form, at, true)
			continue
		}
		g.word(form, at, true)
	}
}

// phrase takes a whole quotation, or what was remembered of it, of a fact that goes. Whoever says all of it again, says that; what has few
// letters says it by chance.
func (g *Gatherer) phrase(text string, at int64) {
	text = strings.TrimFunc(plain(text), func(r rune) bool { return scriptOf(r) == other })
	p, wide := lettersOf(text), 0
	for _, r := range p {
		if s := scriptOf(r); s != latin && s != digit {
			wide++
		}
	}
	if n := utf8.RuneCountInString(p); n >= runLength || wide >= runLength/2 && !allHiragana(p) {
		earlier(g.phrases, p, at)
		g.written[p] = text
	}
}

// lettersOf gives a plain text without what is no letter.
func lettersOf(text string) string {
	return strings.Map(func(r rune) rune {
		if scriptOf(r) == other {
			return -1
		}
		return r
	}, text)
}

// kana writes the letters from first to last as those that begin with other.
func kana(s string, first, last, other rune) string {
	return strings.Map(func(r rune) rune {
		if first <= r && r <= last {
			return r - first + other
		}
		return r
	}, s)
}

var (
	// given are what somebody says that something is called, or where somebody is, in a plain text.
	given = []*regexp.Regexp{
		regexp.MustCompile(`(?:名前|苗字|名字|本名|あだ名|職場|勤め先|勤務先|会社|学校|大学|高校|病院|住所|実家|最寄り駅)(?:は|が)(?:、|\s)*([^\s、。,.!?？！「」『』…]{2,24}?)(?:です|だ|でした|って|と(?:いい|言い|申し|呼)|に(?:あり|通)|で(?:す|、|。)|[、。,.!?…\s]|$)`),
		regexp.MustCompile(`\b(?:name is|name's|named|called|call me|work at|work for|live in|live at|i'm from|i am from)\s+([\pL][\pL'-]{2,23})`),
	}
	mail  = regexp.MustCompile(`[\pL\d._%+-]+@[\pL\d-]+(?:\.[\pL\d-]+)+`)
	phone = regexp.MustCompile(`\+?\(?\d[\d\-. ()]{7,}\d`)
)

// takeForms takes them out of a plain text of the person's.
func (g *Gatherer) takeForms(text string, at int64) {
	for _, re := range given {
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			g.Value(m[1], at)
		}
	}
	for _, m := range mail.FindAllString(text, -1) {
		g.word(m, at, false)
	}
	for _, n := range numbers(text) {
		g.numbers[n] = true
	}
}

// numbers gives the numbers of nine digits or more in a plain text, as digits, and a telephone's as it is dialed at home.
func numbers(text string) (all []string) {
	for _, m := range phone.FindAllString(text, -1) {
		if date.MatchString(m[:min(len(m), len("2026-01-01"))]) {
			continue
		}
		n := strings.Map(func(r rune) rune {
			if '0' <= r && r <= '9' {
				return r
			}
			return -1
		}, m)
		if rest, abroad := strings.CutPrefix(n, "81"); abroad && m[0] == '+' {
			n = "0" + strings.TrimPrefix(rest, "0")
		}
		if len(n) >= 9 {
			all = append(all, n)
		}
	}
	return all
}

// compound says whether a word is four letters of Chinese characters or more, which are looked for as they stand.
func compound(w string) bool {
	return utf8.RuneCountInString(w) >= 4 && !strings.ContainsFunc(w, func(r rune) bool { return scriptOf(r) != han })
}

// follows is what stands behind a value in hiragana.
var follows = regexp.MustCompile(`^(?:は|が|を|に|へ|と|も|の|で|ね|よ|って|だ|です|から|まで|より|なら|とか)`)

// hasValue is has for a value in hiragana, which is a piece of many words: もなか is none in なんともなかった.
func hasValue(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		before, _ := lastRune(text[:i])
		rest := text[i+len(word):]
		next, _ := firstRune(rest)
		begins := scriptOf(before) != hiragana || strings.ContainsRune("のとはがをにもへねよ", before)
		if begins && (scriptOf(next) != hiragana || known.Honorific(rest) != "" || follows.MatchString(rest)) {
			return true
		}
		from = i + len(word)
	}
}

// stands says whether a word that is no single run stands in a plain text.
func stands(text, word string) bool {
	if allHiragana(word) {
		return hasValue(text, word)
	}
	return has(text, word)
}

// allHiragana says whether a word is in nothing else.
func allHiragana(w string) bool {
	return !strings.ContainsFunc(w, func(r rune) bool { return scriptOf(r) != hiragana && r != 'ー' })
}
