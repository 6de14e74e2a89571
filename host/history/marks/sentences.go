package marks

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/companiond/companiond/host/speech"
)

// Sentences gives the sentences of a text as they are written there, without the space around them; none is blank.
func Sentences(text string) (all []string) {
	from := 0
	for _, end := range speech.Sentences(text) {
		if s := strings.TrimSpace(text[from:end]); s != "" {
			all = append(all, s)
		}
		from = end
	}
	return all
}

// Clauses gives what stands between commas in a sentence, as it is written there; none is blank. A comma of a
// number is none.
func Clauses(sentence string) (all []string) {
	from := 0
	cut := func(to int) {
		if s := strings.TrimSpace(sentence[from:to]); s != "" {
			all = append(all, s)
		}
	}
	for i, r := range sentence {
		switch {
		case i < from:
		case strings.ContainsRune("、；;，\n/／", r), r == ',' && !digitBehind(sentence[i+1:]), r == ':' && strings.HasPrefix(sentence[i+1:], " "):
			if (r == '/' || r == '／') && (digitBehind(sentence[i+utf8.RuneLen(r):]) || !spaceBefore(sentence[:i])) {
				continue
			}
			cut(i)
			from = i + utf8.RuneLen(r)
		}
	}
	cut(len(sentence))
	return all
}

func digitBehind(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsDigit(r)
}

func spaceBefore(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsSpace(r)
}
