// Package spoken makes of what a language model writes the line that a character says: the
// name that models like to put before it is cut off, what they write for others is not said,
// and each sentence goes out as soon as it is complete.
//
// It asks no model, and never shows anything itself.
package spoken

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/emotion"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/speech"
)

// Line is one that is being said. Make it with [New].
type Line struct {
	own, others []string // names
	say         func(segment, emotion string) error
	mute        bool // segments are not shown; the line is said in one piece
	most        int  // characters of the line; below 0, or 0 when not mute: any
	votes       bool // the model may write a vote before the line
	voted       bool // and did

	from  int    // bytes of line that are of earlier answers
	wrote string // by the answer whose actions are played
	held  string // not cut into sentences yet
	begun bool   // something of this answer was cut already: no name comes any more
	line  strings.Builder
	sent  int          // bytes of line that were shown
	over  error        // ErrOver with the reason: nothing that comes is said any more
	lost  error        // the floor is gone
	felt  emotion.Word // the first that it told, how the line is said
	mood  emotion.Word // the newest, how the next segment is
}

// ErrNoMessage is what a model is told that speaks without words.
var ErrNoMessage = abi.Errorf(abi.CodeInvalid, "parameters.message: is missing, or no text")

// Ended is an error of an action after which the model is asked no more.
type Ended struct{ error }

// Unwrap gives why.
func (e Ended) Unwrap() error { return e.error }

// voteLine is how an answer begins: a few tokens, for the vote has to be there before the
// line is.
var voteLine = regexp.MustCompile("(?i)^(speak|listen)\\b[ \\t:,]*([0-9]+(?:\\.[0-9]+)?)?(?:/10)?[ \\t,]*(none|pre-closing|closing|terminal)?[ \\t.*`]*")

// Vote finds the vote at the beginning of an answer: all of it, the state, the importance and
// the closing, the last two empty where they are missing; nil for none.
func Vote(head string) []string { return voteLine.FindStringSubmatch(head) }

// Marks may stand before a vote.
const Marks = "\ufeff`* \t\r\n"

// ErrOver ends the talk with a model whose line is complete: nobody pays for words
// that are not said.
var ErrOver = errors.New("the line is over")

// New makes a line of somebody with these names. say shows a part of it, with the word for how it is said, if the model told
// one; its error says that
// the floor is gone, or, before anything was shown, that the line is to be said in one piece.
func New(own, others []string, say func(segment, emotion string) error) *Line {
	return &Line{own: own, others: others, say: say}
}

// InOnePiece has nothing shown: the line is said at its end, and is no longer than so many
// characters; below 0: any.
func (s *Line) InOnePiece(most int) { s.mute, s.most = true, most }

// MayVote says that the model may write a vote before the line, which is not said.
func (s *Line) MayVote() { s.votes = true }

// Emotion gives how the line is said, as the model told it in a tag, "[happy]"; empty where it did not.
func (s *Line) Emotion() string { return string(s.felt) }

// feel takes the tags off a text, which are never said.
func (s *Line) feel(text string) string {
	text, word := emotion.Strip(text)
	if word != "" {
		s.felt, s.mood = cmp.Or(s.felt, word), word
	}
	return text
}

// Lost gives why the floor is gone, nil while it is not.
func (s *Line) Lost() error { return s.lost }

// maxHead is how much text may stand before the colon of a name; maxSentence how
// much is held back, in bytes, until a sentence ends.
const (
	maxHead     = abi.MaxName + 8
	maxSentence = 1 << 10
)

// Take takes what the model wrote next. Its error ends the talk with the model.
func (s *Line) Take(delta string) error {
	for delta != "" && s.lost == nil && s.over == nil {
		n := max(1, floorRune(delta, min(len(delta), maxSentence)))
		s.held, delta = s.held+delta[:n], delta[n:]
		if err := s.cut(false); err != nil {
			return err
		}
	}
	return cmp.Or(s.lost, s.over)
}

// Written is between what an answer of the model says and the actions that it calls: the
// rest is said before these are played. Where nothing of it was heard yet, and the line is
// among the actions, that is the line, and the text was none.
func (s *Line) Written(calls []model.ToolCall) error {
	before := s.from
	if s.sent <= before && slices.ContainsFunc(calls, Says) {
		line := s.Said()[:before]
		s.line.Reset()
		s.line.WriteString(line)
		s.held = ""
	}
	err := s.turn()
	s.wrote = strings.TrimSpace(s.Said()[before:])
	return err
}

// Says reports whether an action is a line.
func Says(t model.ToolCall) bool {
	return t.Name == card.Speak && strings.TrimSpace(card.Message(t.Arguments)) != ""
}

// turn ends what an answer of the model, or an action in it, says.
func (s *Line) turn() error {
	if err := s.End(); err != nil {
		return err
	}
	s.begun, s.from = false, s.line.Len()
	return nil
}

// Speak takes a whole line that the model put into an action. One that comes with how it is
// Said is not shown in pieces, if it can be helped. What the same answer has written as
// text is not said again: the model does both.
func (s *Line) Speak(text string, withHow bool) error {
	if text = strings.TrimSpace(s.feel(text)); text == "" {
		return ErrNoMessage
	}
	rest, goesOn := strings.CutPrefix(text, s.wrote)
	switch {
	case strings.HasSuffix(strings.TrimSpace(s.Said()), text): // written and then called
		return nil
	case s.wrote == "":
	case goesOn: // in the sentence
		text, s.begun = rest, true
	case speech.Alike(speech.Shape(s.wrote, nil), speech.Shape(text, nil)):
		return nil
	}
	if withHow && s.sent == 0 && !s.mute {
		s.InOnePiece(-1)
	}
	err := s.Take(text)
	if err == nil {
		err = s.turn()
	}
	if err != nil {
		return Ended{err}
	}
	return nil
}

// End says what is left.
func (s *Line) End() error {
	if s.lost == nil && s.over == nil {
		_ = s.cut(true) // that the line is over is no error any more
	}
	return s.lost
}

// Said gives the line: what was shown, and in a mute segmenter all of it.
func (s *Line) Said() string { return s.line.String() }

// BreaksOff says whether an answer that does not go on was shown in part.
func (s *Line) BreaksOff() bool { return s.begun && s.sent > 0 && !s.mute }

// Why says why there is no line.
func (s *Line) Why() string {
	if s.over != nil {
		return abi.AsError(s.over).Message
	}
	return "the model said nothing"
}

func (s *Line) cut(end bool) error {
	if !s.begun {
		if s.votes && !s.stripVotes(end) {
			return nil
		}
		if rest, word := emotion.Lead(s.held); word != "" { // before the name, or in its place
			s.held, s.felt, s.mood = rest, cmp.Or(s.felt, word), word
		}
		head, sure := stripName(s.held, s.own)
		if !sure && !end {
			return nil
		}
		s.held = strings.TrimLeft(head, " \t\r\n　")
	}
	for s.over == nil {
		n := sentence(s.held, !s.begun, end)
		if n == 0 {
			return nil
		}
		text := s.held[:n]
		if at := otherName(text, s.others); at >= 0 {
			text, s.over = strings.TrimRight(text[:at], " \t\r\n　"), abi.Wrap(abi.CodeConflict, ErrOver, "the model began to speak for somebody else")
		}
		if !s.begun {
			text = s.gap() + text
		}
		s.held, s.begun = s.held[n:], true
		if err := s.emit(text); err != nil {
			return err
		}
	}
	s.held = ""
	return s.over
}

// stripVotes cuts votes off the beginning of what should be a line alone: a model that is
// asked for both at other times writes one there, too. sure is false while one may still
// come.
func (s *Line) stripVotes(end bool) (sure bool) {
	for {
		head := strings.TrimLeft(s.held, Marks)
		line, after, whole := strings.Cut(head, "\n")
		m := Vote(line)
		if vote := m != nil && strings.TrimSpace(line[len(m[0]):]) == "" && (m[2] != "" || strings.EqualFold(m[1], string(abi.Listen))); vote && (whole || end) {
			s.held, s.voted = after, true
			continue
		}
		if s.voted {
			s.held = head
		}
		begins := func(word abi.State) bool { return strings.HasPrefix(string(word), strings.ToLower(head)) }
		unsure := !whole && (m != nil && len(line) <= maxHead || begins(abi.Speak) || begins(abi.Listen))
		return end || !unsure
	}
}

// gap is what has to stand between what was said and what another answer adds.
func (s *Line) gap() string {
	last, _ := utf8.DecodeLastRuneInString(s.line.String())
	if s.line.Len() == 0 || unicode.IsSpace(last) || last > unicode.MaxLatin1 && strings.ContainsRune(speech.Enders+speech.Closers, last) {
		return ""
	}
	return " "
}

func (s *Line) emit(text string) error {
	text = s.feel(strings.Map(printable, strings.ToValidUTF8(text, "\ufffd")))
	if s.line.Len()+len(text) > abi.MaxText {
		s.over = abi.Wrap(abi.CodeTooLarge, ErrOver, fmt.Sprintf("the model wrote more than %d bytes", abi.MaxText))
		return s.over
	}
	if s.mute && s.most >= 0 && utf8.RuneCountInString(s.line.String()+strings.TrimSpace(text)) > s.most {
		s.over = abi.Wrap(abi.CodeTooLarge, ErrOver, fmt.Sprintf("the model wrote more than the %d characters that can be paid for", s.most))
		return s.over
	}
	if strings.TrimSpace(text) == "" || s.mute {
		s.line.WriteString(text)
		return nil
	}
	// Space that stands alone goes out with the next sentence.
	err := s.say(s.line.String()[s.sent:]+text, string(s.mood))
	switch code := abi.CodeOf(err); {
	case err == nil:
		s.sent = s.line.Len() + len(text)
	case s.sent == 0 && (code == abi.CodeUnavailable || code == abi.CodeUnknownOp || errors.Is(err, module.ErrNotGranted)):
		s.InOnePiece(-1)
	default:
		s.lost = err
		return err
	}
	s.line.WriteString(text)
	return nil
}

// printable leaves out what a message may not hold.
func printable(r rune) rune {
	if r < ' ' && r != '\n' && r != '\t' {
		return -1
	}
	return r
}

// sentence gives where the first sentence of a text ends, 0 while that is not
// sure. The end of the text ends it when nothing more comes, and so does its length.
// first says that the line begins here.
func sentence(s string, first, end bool) int {
	n := speech.Sentence(s, first)
	switch {
	case n > 0:
		return n
	case end:
		return len(s)
	case len(s) > maxSentence:
		return breath(s)
	}
	return 0
}

// breath gives a place to cut a sentence that does not end: after its last comma or
// space, or anywhere.
func breath(s string) int {
	if i := strings.LastIndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("、，,;；", r) }); i > 0 {
		_, size := utf8.DecodeRuneInString(s[i:])
		return i + size
	}
	return len(s)
}

// stripName cuts the character's own name off the beginning: 「ニコニ:」,
// "**Aya**: ". sure is false while it may still come.
func stripName(s string, own []string) (rest string, sure bool) {
	trimmed := strings.TrimLeft(s, " \t\r\n*_「【[　")
	for i, r := range trimmed {
		colon := r == ':' || r == '：'
		if colon || i > 0 && strings.ContainsRune("「『", r) { // ニコニ「やあ」
			name := strings.TrimRight(trimmed[:i], " *_」】]　")
			switch {
			case !slices.ContainsFunc(own, func(n string) bool { return strings.EqualFold(name, n) }):
				return s, true
			case !colon:
				return trimmed[i:], true
			}
			rest = strings.TrimLeft(trimmed[i+utf8.RuneLen(r):], " *_　")
			return rest, rest != "" // a mark may follow
		}
		if i > maxHead || r == '\n' || strings.ContainsRune(speech.Enders, r) {
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
				if r, _ := utf8.DecodeRuneInString(after); strings.ContainsRune(":：「『", r) {
					return at
				}
			}
		}
		at += len(line)
	}
	return -1
}
