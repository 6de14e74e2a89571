package speech

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cluster gives how many bytes the first character of a text has, as a reader takes
// it: a letter with its marks, an emoji with what is joined to it, a flag, a syllable
// of Hangul. It keeps together what UAX #29 (Text Segmentation) does, but for letters
// that lean on the next one in scripts of India.
func cluster(text string) int {
	before, end := utf8.DecodeRuneInString(text)
	if strings.HasPrefix(text, "\r\n") {
		return 2
	}
	flag := isRegional(before)
	for end < len(text) {
		r, size := utf8.DecodeRuneInString(text[end:])
		switch {
		case extends(r):
		case before == zwj && unicode.Is(unicode.So, r):
		case r >= '\u1160' && r <= '\u11ff' && unicode.Is(unicode.Hangul, before):
		case flag && isRegional(r):
			flag = false // the third begins another
		default:
			return end
		}
		before, end = r, end+size
	}
	return end
}

const zwj = '\u200d'

// extends says whether a character only changes the one before it: marks, joiners,
// shades of skin, tags, and the marks of half-width kana.
func extends(r rune) bool {
	return unicode.IsMark(r) || r == '\u200c' || r == zwj || r == 'ﾞ' || r == 'ﾟ' ||
		r >= '\U0001f3fb' && r <= '\U0001f3ff' || r >= '\U000e0020' && r <= '\U000e007f'
}

func isRegional(r rune) bool { return r >= '\U0001f1e6' && r <= '\U0001f1ff' }
