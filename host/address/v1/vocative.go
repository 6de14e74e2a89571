package address

import (
	"slices"
	"strings"
	"unicode"
)

// right is what follows a name.
type right int

const (
	goesOn right = iota
	spaced       // a space between Japanese words
	setOff       // punctuation or the end
	asking       // は？, はどう, って？
)

// weigh marks the vocatives among the found names.
func (s *scan) weigh() {
	n := len(s.found)
	left, open, after := make([]bool, n), make([]bool, n), make([]right, n)
	for i := range s.found {
		m := s.found[i]
		left[i], open[i] = s.leftSet(m.at)
		after[i] = s.after(m.stop)
		if i > 0 {
			switch s.link(s.found[i-1], m) {
			case together:
				left[i] = left[i-1]
			case listed: // "all" and "here" are often no address at all
				left[i] = left[i-1] || s.found[i-1].who == nobody
			}
		}
	}
	for i := n - 2; i >= 0; i-- {
		if s.link(s.found[i], s.found[i+1]) == together {
			after[i] = max(after[i], after[i+1])
		}
	}
	for i := range s.found {
		m := &s.found[i]
		called := left[i] && s.calledOut(m.at) && !s.trails(*m)
		m.vocative = after[i] == asking || called || m.honorific && s.cried(m.stop) ||
			left[i] && after[i] >= spaced && !s.quoted(*m) || open[i] && after[i] == setOff
	}
	s.same()
}

// same lets members of one name share its weight.
func (s *scan) same() {
	for i := 1; i < len(s.found); i++ {
		a, b := &s.found[i-1], &s.found[i]
		if a.at == b.at && a.end == b.end && (a.vocative || b.vocative) {
			a.vocative, b.vocative = true, true
		}
	}
}

// link is how two names that follow each other belong together.
type link int

const (
	apart    link = iota
	listed        // by a comma
	together      // by and, と, ・
)

func (s *scan) link(a, b mention) link {
	if a.at == b.at && a.end == b.end {
		return together
	}
	if b.at < a.stop {
		return apart
	}
	switch strings.TrimSpace(string(s.folded[a.stop:b.at])) {
	case "and", "&", "+", "or", "と", "や", "か", "・", "/", ", and", "、と", "、それと", "とか":
		return together
	case ",", "、":
		return listed
	}
	return apart
}

// leftSet says whether the name at i is set off on its left: at the start of a
// sentence, after punctuation or an interjection; open, when only by a space
// between Japanese words.
func (s *scan) leftSet(i int) (set, open bool) {
	j := i
	for j > 0 && (s.folded[j-1] == ' ' || s.folded[j-1] == '　' || s.folded[j-1] == '\t' || s.folded[j-1] == '@') {
		j--
	}
	if j == 0 || s.breaks(j-1) || s.calledOut(i) {
		return true, false
	}
	return false, j < i && japanese(s.class(j-1))
}

// calledOut says whether an interjection or greeting stands before the name.
func (s *scan) calledOut(i int) bool {
	if s.interjection(i) {
		return true
	}
	j := i
	for j > 0 && s.folded[j-1] == ' ' {
		j--
	}
	if j == i {
		return false
	}
	for _, w := range englishCalls {
		if n := len(w); j >= n && s.at(j-n, w) && s.class(j-n-1) == gap {
			return true
		}
	}
	return s.interjection(j)
}

// trails says whether a name after an interjection is only mentioned: "hi
// Aya's here", ねえあやさんの話.
func (s *scan) trails(m mention) bool {
	if m.stop >= len(s.folded) {
		return false
	}
	if japanese(s.class(m.stop)) {
		return !m.honorific || s.particle(m.stop)
	}
	return s.folded[m.stop] == '\'' || s.folded[m.stop] == '’'
}

// after says what follows a name that is over at i.
func (s *scan) after(i int) right {
	if s.asks(i) {
		return asking
	}
	j := i
	for j < len(s.folded) && (s.folded[j] == ' ' || s.folded[j] == '\t') {
		j++
	}
	switch {
	case j >= len(s.folded) || s.breaks(j):
		return setOff
	case i > 0 && prolonged(s.folded[i-1]) && s.class(i) == gap:
		return setOff
	case j > i && japanese(s.class(j)) && !s.particle(j) && !s.particle(i):
		return spaced
	}
	return goesOn
}

// asks says whether the text at i puts a question to the name before it.
func (s *scan) asks(i int) bool {
	for _, p := range []string{"は", "って", "も", "なら", "的には", "としては"} {
		if !s.at(i, p) {
			continue
		}
		j := i + len([]rune(p))
		for j < len(s.folded) && (s.folded[j] == ' ' || s.folded[j] == '、' || s.folded[j] == ',') {
			j++
		}
		if j < len(s.folded) && s.folded[j] == '?' || s.at(j, "いかが") {
			return true
		}
		return s.how(j)
	}
	return s.how(i)
}

// how says whether どう is at i and not どうして or どうぶつ.
func (s *scan) how(i int) bool {
	return s.at(i, "どう") && !s.at(i, "どうし") && !s.at(i, "どうぶつ")
}

// cried says whether 、 , ! ? or a drawn-out sound is at i or just before it,
// as after a name with an honorific.
func (s *scan) cried(i int) bool {
	if i > 0 && prolonged(s.folded[i-1]) && (i >= len(s.folded) || s.class(i) == gap) {
		return true
	}
	return i < len(s.folded) && slices.Contains([]rune("、,!?"), s.folded[i])
}

// quoted says whether a name is all there is between quotes: 「あや」という名前.
func (s *scan) quoted(m mention) bool {
	return m.at > 0 && m.stop < len(s.folded) && quotes(s.folded[m.at-1]) && quotes(s.folded[m.stop])
}

func quotes(r rune) bool { return strings.ContainsRune("「」『』\"“”‘’'", r) }

// breaks says whether the letter at i sets off what is beside it.
func (s *scan) breaks(i int) bool {
	switch r := s.folded[i]; {
	case strings.ContainsRune("、。,.!?:;「」『』\"“”()[]【】<>…‥—―\n\r*>♪☆★", r):
		return true
	case prolonged(r) && r != 'ー':
		return true
	default:
		return unicode.In(r, unicode.So, unicode.Sk, unicode.Zl, unicode.Zp)
	}
}
