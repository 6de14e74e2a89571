package speech

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

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
