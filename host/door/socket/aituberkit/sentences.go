package aituberkit

import (
	"strings"
	"time"
	"unicode"

	"github.com/companiond/companiond/host/speech"
)

// sentence is what goes out in one frame, and so is made one sound.
type sentence struct {
	text string
	part int           // of the line: the last one that has ended with it
	long time.Duration // as estimated
}

// cut takes the sentences off a text that is still being written; rest is what may go on. whole says
// that nothing follows. No sentence is blank.
func cut(text string, begins, whole bool) (sentences []string, rest string) {
	for text != "" {
		n := speech.Sentence(text, begins)
		if n == 0 {
			break
		}
		sentences, text, begins = append(sentences, text[:n]), text[n:], false
	}
	if whole {
		from := 0
		for _, end := range speech.Sentences(text) {
			sentences, from = append(sentences, text[from:end]), end
		}
		text = ""
	} else if over(text, begins) {
		sentences, text = append(sentences, text), ""
	}
	kept := sentences[:0]
	for _, s := range sentences {
		if strings.TrimFunc(s, unicode.IsSpace) != "" {
			kept = append(kept, s)
		}
	}
	return kept, text
}

// over says whether a text that may go on has ended a sentence: whatever comes next would be
// another one. 「やあ。」 within a line may go on with と言った, and 3. with 14.
func over(text string, begins bool) bool {
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	number := len(text) > 1 && text[len(text)-1] == '.' && '0' <= text[len(text)-2] && text[len(text)-2] <= '9'
	return text != "" && !number && speech.Sentence(text+" a", begins) >= len(text)
}
