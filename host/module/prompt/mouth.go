package prompt

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
)

// mouth turns what streams in from a model into a line: the name that models like
// to put before it is cut off, what they write for others is not said, and each
// sentence goes out as soon as it is complete.
type mouth struct {
	own, others []string // names
	say         func(segment string) error
	mute        bool // segments are not shown; the line is said in one piece
	most        int  // characters of the line; below 0, or 0 when not mute: any

	held string // not cut into sentences yet
	line strings.Builder
	sent int   // bytes of line that were shown
	over bool  // what comes is not the character's any more
	lost error // the floor is gone
}

func newMouth(own, others []string, say func(string) error) *mouth {
	return &mouth{own: own, others: others, say: say}
}

// maxHead is how much text may stand before the colon of a name.
const maxHead = abi.MaxName + 8

// take takes what the model wrote next. Its error ends the talk with the model.
func (m *mouth) take(delta string) error {
	if m.lost != nil || m.over {
		return m.lost
	}
	m.held += delta
	return m.cut(false)
}

// end says what is left.
func (m *mouth) end() error {
	if m.lost != nil || m.over {
		return m.lost
	}
	return m.cut(true)
}

// said gives the line: what was shown, and in a mute mouth all of it.
func (m *mouth) said() string { return m.line.String() }

func (m *mouth) cut(end bool) error {
	if m.line.Len() == 0 {
		head, sure := stripName(m.held, m.own)
		if !sure && !end {
			return nil
		}
		m.held = strings.TrimLeft(head, " \t\r\n　")
	}
	for !m.over {
		n := sentence(m.held, end)
		if n == 0 {
			return nil
		}
		text := m.held[:n]
		if at := otherName(text, m.others); at >= 0 { // it begins to speak for somebody else
			text, m.over = strings.TrimRight(text[:at], " \t\r\n　"), true
		}
		m.held = m.held[n:]
		if err := m.emit(text); err != nil {
			return err
		}
	}
	m.held = ""
	return nil
}

func (m *mouth) emit(text string) error {
	text = strings.Map(printable, strings.ToValidUTF8(text, "\ufffd"))
	if m.line.Len()+len(text) > abi.MaxText {
		m.over = true
		return nil
	}
	if m.mute && m.most >= 0 && utf8.RuneCountInString(m.line.String()+strings.TrimSpace(text)) > m.most {
		m.over = true
		return nil
	}
	if strings.TrimSpace(text) == "" || m.mute {
		m.line.WriteString(text)
		return nil
	}
	// Space that stands alone goes out with the next sentence.
	err := m.say(m.line.String()[m.sent:] + text)
	switch code := abi.CodeOf(err); {
	case err == nil:
		m.sent = m.line.Len() + len(text)
	case m.sent == 0 && (code == abi.CodeUnavailable || code == abi.CodeUnknownOp):
		m.mute, m.most = true, -1
	default:
		m.lost, m.over = err, true
		return err
	}
	m.line.WriteString(text)
	return nil
}

// printable leaves out what a message may not hold.
func printable(r rune) rune {
	if r < ' ' && r != '\n' && r != '\t' {
		return -1
	}
	return r
}

const (
	enders  = "。！？!?…．"
	closers = "」』）)】〉》”’\"'♪☆★〜~"
)

// sentence gives where the first sentence of a text ends, 0 while that is not
// sure. The end of the text ends it when nothing more comes.
func sentence(s string, end bool) int {
	depth := 0
	for i, r := range s {
		next := i + utf8.RuneLen(r)
		switch {
		case strings.ContainsRune("「『（", r):
			depth++
		case strings.ContainsRune("」』）", r):
			depth = max(0, depth-1)
		}
		stop := strings.ContainsRune(enders, r) && depth == 0 || r == '\n'
		if r == '.' && depth == 0 {
			after, _ := utf8.DecodeRuneInString(s[next:])
			stop = unicode.IsSpace(after)
		}
		if !stop || strings.TrimSpace(s[:next]) == "" {
			continue
		}
		for next < len(s) { // 「！？」 and what closes belongs to it
			r, size := utf8.DecodeRuneInString(s[next:])
			if !strings.ContainsRune(enders+closers, r) {
				return next
			}
			next += size
		}
		break // more may come that belongs to it
	}
	if end {
		return len(s)
	}
	return 0
}

// stripName cuts the character's own name off the beginning: 「ニコニ:」,
// "**Aya**: ". sure is false while it may still come.
func stripName(s string, own []string) (rest string, sure bool) {
	trimmed := strings.TrimLeft(s, " \t\r\n*_「【[　")
	for i, r := range trimmed {
		if r == ':' || r == '：' {
			name := strings.TrimRight(trimmed[:i], " *_」】]　")
			for _, n := range own {
				if strings.EqualFold(name, n) {
					rest = strings.TrimLeft(trimmed[i+utf8.RuneLen(r):], " *_　")
					return rest, rest != "" // a mark may follow
				}
			}
			return s, true
		}
		if i > maxHead || r == '\n' || strings.ContainsRune(enders, r) {
			return s, true
		}
	}
	// No name is a beginning of it: there is no need to wait.
	for _, n := range own {
		if k := min(len(n), len(trimmed)); strings.EqualFold(n[:floorRune(n, k)], trimmed[:floorRune(trimmed, k)]) {
			return s, false
		}
	}
	return s, true
}

func floorRune(s string, n int) int {
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// otherName gives where a line begins that is somebody else's, -1 for nowhere.
func otherName(s string, others []string) int {
	at := 0
	for line := range strings.SplitAfterSeq(s, "\n") {
		head := strings.TrimLeft(line, " *_「【[　")
		for _, n := range others {
			if len(head) > len(n) && strings.EqualFold(head[:floorRune(head, len(n))], n) {
				after := strings.TrimLeft(head[len(n):], " *_」】]　")
				if strings.HasPrefix(after, ":") || strings.HasPrefix(after, "：") {
					return at
				}
			}
		}
		at += len(line)
	}
	return -1
}
