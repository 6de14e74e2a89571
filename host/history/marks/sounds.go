package marks

import (
	"strings"
	"unicode"
)

// consonants are those of the kana, the row of each; ん is n, and っ, ー and the small ones that stand for vowels are none.
var consonants = func() map[rune]string {
	m := map[rune]string{}
	for kana, c := range map[string]string{
		"かきくけこがぎぐげご": "k", "さすせそざずぜぞし": "s", "じ": "j", "たてとだでど": "t", "ちつづぢ": "s", "なにぬねのん": "n", "はひへほ": "h", "ふ": "f",
		"ばびぶべぼゔ": "b", "ぱぴぷぺぽ": "p", "まみむめも": "m", "らりるれろ": "r",
	} {
		for _, r := range kana {
			m[r] = c
		}
	}
	return m
}()

// latinSounds writes Latin letters as kana have them.
var latinSounds = strings.NewReplacer("sch", "s", "sh", "s", "ch", "s", "th", "s", "ph", "f", "ck", "k", "qu", "k", "tsu", "s", "ts", "s", "c", "k", "q", "k", "g", "k", "z", "s", "d", "t", "v", "b", "l", "r", "x", "ks", "j", "j")

// Sounds is how a name sounds, as far as kana and Latin letters share it: consonants without those that one of them
// drops. It is "" for what is in neither, and for what has fewer than three: バンクーバー and Vancouver are bnkb.
func Sounds(name string) string {
	var b strings.Builder
	name = latinSounds.Replace(strings.ToLower(name))
	last := ""
	for _, r := range name {
		if unicode.Is(unicode.Katakana, r) && r != 'ー' && r >= 'ァ' && r <= 'ヴ' {
			r -= 'ァ' - 'ぁ'
		}
		c := ""
		switch {
		case unicode.Is(unicode.Hiragana, r):
			c = consonants[r]
		case r >= 'a' && r <= 'z':
			if !strings.ContainsRune("aeiouwyhr", r) {
				c = string(r)
			}
		case r == 'ー' || r == '・' || r == '-' || r == ' ' || r == '\'':
		default:
			return ""
		}
		if c == "h" || c == "r" {
			c = ""
		}
		if c != last || unicode.Is(unicode.Hiragana, r) {
			b.WriteString(c)
		}
		last = c
	}
	if b.Len() < 3 {
		return ""
	}
	return b.String()
}
