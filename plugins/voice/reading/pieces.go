package reading

import (
	"strings"
	"unicode"
)

// Pieces cuts a text into pieces of at most so many letters: at the end of a sentence where there is one, else at a
// comma, else at a space, else anywhere. Put together they are the text, but for spaces where it was cut.
func Pieces(text string, most int) (all []string) {
	letters := []rune(strings.TrimSpace(text))
	for len(letters) > most {
		n := cut(letters[:most+1])
		all = appendText(all, letters[:n])
		letters = letters[n:]
	}
	return appendText(all, letters)
}

func appendText(all []string, letters []rune) []string {
	if s := strings.TrimSpace(string(letters)); s != "" {
		all = append(all, s)
	}
	return all
}

// cut gives how many of the letters but the last make a piece.
func cut(letters []rune) int {
	most := len(letters) - 1
	for _, ends := range []func(r, next rune) bool{
		func(r, next rune) bool {
			return strings.ContainsRune("。！？!?…", r) || r == '.' && unicode.IsSpace(next)
		},
		func(r, next rune) bool {
			return strings.ContainsRune("、，；;：—", r) || strings.ContainsRune(",:", r) && unicode.IsSpace(next)
		},
		func(r, _ rune) bool { return unicode.IsSpace(r) },
	} {
		for i := most - 1; i >= most/4; i-- { // a piece of two words sounds torn off
			if ends(letters[i], letters[i+1]) {
				return i + 1
			}
		}
	}
	return max(most, 1)
}
