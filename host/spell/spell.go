// Package spell finds the word that somebody meant who wrote another one, for
// "did you mean". It knows no language: words are near when few letters differ.
package spell

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// Near gives the known word that name was most likely meant to be, "" when none
// is close: one letter in three may be wrong. It is for a name that is refused
// anyway, where a wrong guess does no harm.
func Near(name string, known []string) string {
	plain := plainly(name)
	n := utf8.RuneCountInString(plain)
	return nearest(plain, known, min((n+2)/3, n-1))
}

// Slip gives the known word that name is nearly certainly a slip of, "" when
// there is none. It is for a name that would be let pass otherwise: in a short
// word no letter may differ, for too many short words are near to each other.
func Slip(name string, known []string) string {
	plain, most := plainly(name), 0
	if n := utf8.RuneCountInString(plain); n >= 9 {
		most = 2
	} else if n >= 5 {
		most = 1
	}
	return nearest(plain, known, most)
}

// nearest gives the first of the words with the fewest letters wrong, if they
// are no more than most.
func nearest(plain string, known []string, most int) string {
	best := ""
	for _, k := range known {
		if n := wrong(plain, plainly(k)); n < most || n == most && best == "" {
			best, most = k, n
		}
	}
	return best
}

// wrong counts the letters that have to be put in, taken out or changed to make b
// of a. Two neighbours that changed places, the commonest slip, are one.
func wrong(a, b string) int {
	n := levenshtein.ComputeDistance(a, b)
	if x, y := []rune(a), []rune(b); n == 2 && len(x) == len(y) {
		i := 0
		for x[i] == y[i] {
			i++
		}
		x[i], x[i+1] = x[i+1], x[i]
		if slices.Equal(x, y) {
			return 1
		}
	}
	return n
}

// plainly leaves out what costs nothing: capitals, spaces, hyphens, underscores.
func plainly(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}
