package address

import (
	"regexp"
	"strings"
)

// sentence is a sentence of a text as patterns see it: folded, each name as one mark,
// without what is quoted and without the punctuation around it.
type sentence struct {
	text  string
	names [][]int // for each mark the places in scan.found of the names there
	asks  bool    // it ends with a question mark
	latin bool    // it has Latin letters beside the names
}

// The marks that stand for names.
const (
	named = '\uE000'
	loose = '\uE001' // a Japanese word follows that is no particle: アキ元気？
)

// split cuts the text into sentences.
func (s *scan) split() []sentence {
	var all []sentence
	var words []rune
	var now sentence
	next := 0
	for i := 0; i < len(s.folded); i++ {
		for next < len(s.found) && (s.found[next].at < i || s.found[next].who == nobody) {
			next++
		}
		switch {
		case s.stops(i):
			now.asks = now.asks || s.folded[i] == '?'
			if i+1 == len(s.folded) || !s.stops(i+1) {
				all = append(all, now.over(words))
				now, words = sentence{}, nil
			}
		case s.quoted[i]:
			if i == 0 || !s.quoted[i-1] {
				words = append(words, '"')
			}
		case next < len(s.found) && s.found[next].at == i:
			m := s.found[next]
			words = append(words, s.mark(m))
			var here []int
			for ; next < len(s.found) && s.found[next].at == i; next++ {
				here = append(here, next)
			}
			now.names = append(now.names, here)
			i = m.stop - 1
		case s.folded[i] == '’':
			words = append(words, '\'')
		default:
			now.latin = now.latin || s.classes[i] == alpha
			words = append(words, s.folded[i])
		}
	}
	return append(all, now.over(words))
}

func (c sentence) over(words []rune) sentence {
	c.text = strings.Trim(string(words), " \t　「」『』\"“”()[]【】<>‥—―*_~〜ー、,;♡♥-")
	return c
}

// mark gives what stands for a name in a sentence.
func (s *scan) mark(m mention) rune {
	if !japanese(s.class(m.stop)) || s.particle(m.stop) || s.anyAt(m.stop, suffixes) {
		return named
	}
	return loose
}

// stops says whether the letter at i ends a sentence. A full stop inside a word does not.
func (s *scan) stops(i int) bool {
	switch s.folded[i] {
	case '。', '!', '?', '…', '\n', '\r', '♪', '☆', '★':
		return true
	case '.':
		c := s.class(i + 1)
		return c != alpha && c != digit
	}
	return false
}

// quotations says for each letter whether it is quoted. Where all words are inside
// quotations, or one is never closed, nothing is.
func (s *scan) quotations() []bool {
	quoted := make([]bool, len(s.folded))
	depth, open, outside := 0, false, false
	for i, r := range s.folded {
		switch r {
		case '「', '『', '“':
			depth++
		case '」', '』', '”':
			depth--
		case '"':
			open = !open
		}
		quoted[i] = depth > 0 || open
		outside = outside || !quoted[i] && s.classes[i] != gap
	}
	if !outside || open || depth != 0 {
		clear(quoted)
	}
	return quoted
}

// from gives the part of a sentence that begins at byte i of its text.
func (c sentence) from(i int) sentence {
	return sentence{c.text[i:], c.names[marks(c.text[:i]):], c.asks, c.latin}
}

// parts gives the places in scan.found of the names in the groups of a pattern, wherever it matches.
func (c sentence) parts(p *regexp.Regexp) (places []int) {
	if len(c.names) == 0 {
		return nil
	}
	seen, upto := 0, 0 // marks before upto
	for _, m := range p.FindAllStringSubmatchIndex(c.text, -1) {
		for g := 2; g+1 < len(m); g += 2 {
			if m[g] < 0 {
				continue
			}
			seen, upto = seen+marks(c.text[upto:m[g]]), m[g]
			for i := range marks(c.text[m[g]:m[g+1]]) {
				places = append(places, c.names[seen+i]...)
			}
		}
	}
	return places
}

func marks(text string) int {
	return strings.Count(text, string(named)) + strings.Count(text, string(loose))
}

// clause gives the last clause of a sentence, which is the one that asks:
// アキは寝てるけど、京子はどう？
func (c sentence) clause() sentence {
	if at := clauseEnds.FindAllStringIndex(c.text, -1); at != nil {
		if end := at[len(at)-1][1]; end < len(c.text) {
			return c.from(end)
		}
	}
	return c
}

// question says whether a sentence asks, by its mark or by its words.
func (c sentence) question() bool {
	return c.asks || asking.MatchString(c.text) || c.wonders()
}

// wonders says whether there is a question word and the end is none of a statement:
// 何が好き, and neither 何も見ない nor 何が好きか知らない.
func (c sentence) wonders() bool {
	return questionWord.MatchString(c.text) && !stating.MatchString(c.text)
}

// request says whether a sentence in Japanese asks for something to be done.
func (c sentence) request() bool {
	return requesting.MatchString(c.text) && !going.MatchString(c.text)
}

// callsWithoutMarks marks those called whom punctuation does not show, and takes back
// what only looks like a call.
func (s *scan) callsWithoutMarks() {
	for _, c := range s.sentences {
		if len(c.names) == 0 {
			continue
		}
		var calls []int
		if c.latin {
			calls = c.parts(callEnglish)
		}
		if strings.HasSuffix(c.text, string(named)) {
			calls = append(calls, c.parts(callAtEnd)...)
		}
		if strings.ContainsRune(c.text, loose) || strings.Contains(c.text, "よ、") {
			calls = append(calls, c.parts(greeted)...)
			if c.question() || c.request() {
				calls = append(calls, c.parts(callAtStart)...)
			}
		}
		for _, p := range calls {
			s.found[p].vocative = true
		}
		if c.latin {
			for _, p := range c.parts(noCall) {
				s.found[p].vocative = false
			}
		}
	}
}

// topics gives the members that a question or request is about. は beats に, が and の.
func (s *scan) topics() (who []int) {
	var first, second []int
	for _, c := range s.sentences {
		if len(c.names) == 0 {
			continue
		}
		last := c.clause()
		if last.question() || last.request() {
			first = append(first, last.parts(topic)...)
		}
		if last.request() {
			second = append(second, last.parts(subject)...)
		}
		if c.latin {
			first = append(first, c.parts(topicEnglish)...)
		}
		second = append(second, c.parts(wanted)...)
	}
	if len(first) == 0 {
		first = second
	}
	for _, p := range first {
		who = append(who, s.found[p].who)
	}
	return who
}

// bare says whether the text asks somebody without saying whom.
func (s *scan) bare() bool {
	asks := false
	for _, c := range s.sentences {
		if anyone.MatchString(c.text) {
			return false
		}
		asks = asks || c.asks || asking.MatchString(c.text) && !musing.MatchString(c.text) ||
			askingEnglish.MatchString(c.text) || c.wonders() || followUp.MatchString(c.text)
	}
	return asks
}
