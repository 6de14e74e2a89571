package playback

import (
	"strings"
	"time"
	"unicode"
)

// What a line is like whose bodies tell of each sentence, see [Line.Sentences].

// told says whether all of a line was told of, sentence by sentence, and no more of it comes.
func (l *Line) told() bool {
	return l.Sentences && l.Of != 0 && blank(l.Text()[l.Sure:])
}

// reached ends a line that somebody spoke over when the sentence was told that sounded then.
func (l *Line) reached(at time.Time) {
	if l.Words > 0 && l.Sure >= l.Words && !l.Off && at.Before(l.Cut) {
		l.Cut = at
	}
}

// stopTold is Stop where bodies tell of each sentence: the first that they have not told of sounds, or is
// about to. Nobody can begin before they have, so that no estimate ends the line, but the patience with them.
func (l *Line) stopTold(at time.Time) bool {
	switch end := l.sentence(); {
	case l.Of != 0 && (end == 0 || blank(l.Text()[end:]) && l.Ends().Sub(at) <= sentence):
		return false
	case end == 0:
		l.Cut, l.Asked = at, at
	default:
		l.Cut, l.Asked, l.Words = later(at, earlier(at.Add(sentence), l.Until())), at, end
	}
	return true
}

// sentence gives where the first sentence ends that was not told of, without what is blank behind it; 0:
// there is none.
func (l *Line) sentence() int {
	text, rest := l.Text(), l.rest()
	begins := len(text) - size(rest)
	for _, p := range rest {
		end := begins
		for _, v := range p.Voice {
			if end = min(end+v.Bytes, begins+len(p.Text)); end > l.Sure && !blank(text[l.Sure:end]) {
				return len(strings.TrimRightFunc(text[:end], unicode.IsSpace))
			}
		}
		if begins += len(p.Text); !blank(text[l.Sure:begins]) {
			return len(strings.TrimRightFunc(text[:begins], unicode.IsSpace))
		}
	}
	return 0
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
