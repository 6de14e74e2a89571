package main

import (
	"slices"
	"unicode"
)

// star stands in place of each letter of a word that was found. It is no letter of any.
const star = '＊'

// unit is a letter as it is compared, and which letters of the text it is.
type unit struct {
	letter   rune
	from, to int
}

// fold gives the letters of a text as they are compared: capitals as small ones, full-width signs of ASCII as those, katakana
// as hiragana, also half-width ones, whose marks for voiced sounds belong to the letter before. That is no more than what
// NFKC does to words that people write here.
func fold(text []rune) (units []unit) {
	for i, r := range text {
		if last := len(units) - 1; last >= 0 && units[last].to == i {
			if both := voiced(units[last].letter, r); both != 0 {
				units[last].letter, units[last].to = both, i+1
				continue
			}
		}
		units = append(units, unit{plain(r), i, i + 1})
	}
	return units
}

// plain gives one letter as it is compared.
func plain(r rune) rune {
	switch {
	case r == star:
		return star
	case r >= '！' && r <= '～':
		r += '!' - '！'
	case r == '\u3000':
		return ' '
	case r >= 'ｦ' && r <= 'ﾝ':
		r = halves[r-'ｦ']
	}
	if r >= 'ァ' && r <= 'ヶ' || r == 'ヽ' || r == 'ヾ' {
		return r + 'ぁ' - 'ァ'
	}
	least := r
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		least = min(least, c)
	}
	return least
}

// halves are the letters from ｦ to ﾝ in full width.
var halves = []rune("ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン")

var (
	mayVoice = []rune("かきくけこさしすせそたちつてとはひふへほ")
	mayPop   = []rune("はひふへほ")
)

// voiced gives a letter with the mark for a voiced sound behind it, half-width or combining; 0 where that is none.
func voiced(letter, mark rune) rune {
	switch {
	case mark != 'ﾞ' && mark != 'ﾟ' && mark != '\u3099' && mark != '\u309a':
	case (mark == 'ﾟ' || mark == '\u309a') && slices.Contains(mayPop, letter):
		return letter + 2
	case mark == 'ﾟ' || mark == '\u309a':
	case letter == 'う':
		return 'ゔ'
	case slices.Contains(mayVoice, letter):
		return letter + 1
	}
	return 0
}

// words are those that are forbidden, as they are compared.
type words [][]rune

// newWords reads a list; a word of nothing is none.
func newWords(list []string) (w words) {
	for _, one := range list {
		var letters []rune
		for _, u := range fold([]rune(one)) {
			if u.letter == star {
				u.letter = '*' // else what is masked would have the word
			}
			letters = append(letters, u.letter)
		}
		if len(letters) > 0 {
			w = append(w, letters)
		}
	}
	return w
}

// mask gives a text with a star in place of each letter of a forbidden word, and whether it has one.
func (w words) mask(text string) (masked string, has bool) {
	letters := []rune(text)
	units := fold(letters)
	for i := range units {
		for _, word := range w {
			if i+len(word) > len(units) || !slices.EqualFunc(word, units[i:i+len(word)], func(r rune, u unit) bool { return r == u.letter }) {
				continue
			}
			has = true
			for at := units[i].from; at < units[i+len(word)-1].to; at++ {
				letters[at] = star
			}
		}
	}
	if !has {
		return text, false
	}
	return string(letters), true
}
