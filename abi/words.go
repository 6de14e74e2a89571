package abi

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// ParticipantKind says what somebody in a room is.
type ParticipantKind string

// A companion is hosted by the daemon, a human is a person, an agent is an AI
// that connects from outside.
const (
	KindCompanion ParticipantKind = "companion"
	KindHuman     ParticipantKind = "human"
	KindAgent     ParticipantKind = "agent"
)

// MessageKind says whether a message took the floor.
type MessageKind string

// A turn takes the floor; a backchannel (「なるほど」) is said beside it.
const (
	KindTurn        MessageKind = "turn"
	KindBackchannel MessageKind = "backchannel"
	// KindCompressed is what some turns are told as instead: nobody said it, and nobody sends it.
	KindCompressed MessageKind = "compressed_history"
)

// Message is one said thing, as doors and modules see it.
type Message struct {
	Seq  uint64      `json:"seq"`
	ID   string      `json:"id"`
	From string      `json:"from"`
	To   []string    `json:"to"` // never null
	Text string      `json:"text"`
	Kind MessageKind `json:"kind"`
	At   time.Time   `json:"at"`
	// Addressed is whom a turn addressed, by To or by name, of those who were there.
	Addressed []string `json:"addressed,omitempty"`
	// Cut says that people did not hear all of it, and Text is what they heard: "cut", for
	// somebody spoke over it, "stopped" or "failed".
	Cut string `json:"cut,omitempty"`
	// Turns are the first and the last turn that a message of KindCompressed stands for.
	Turns *[2]uint64 `json:"original_turns_range,omitempty"`
}

// State is a voter's wish: to speak next or to listen.
type State string

// The two states.
const (
	Speak  State = "speak"
	Listen State = "listen"
)

// Closing is how far a talk is on its way to an end. The zero value
// reads as ClosingNone.
type Closing string

// The stages, in order. A room moves one stage at a time.
const (
	ClosingNone     Closing = "none"
	ClosingPre      Closing = "pre-closing"
	ClosingClosing  Closing = "closing"
	ClosingTerminal Closing = "terminal"
)

// Stage gives the closing's place in the order none, pre-closing, closing,
// terminal: 0..3; the empty string is 0, anything unknown is -1.
func (c Closing) Stage() int {
	switch c {
	case "", ClosingNone:
		return 0
	case ClosingPre:
		return 1
	case ClosingClosing:
		return 2
	case ClosingTerminal:
		return 3
	}
	return -1
}

// Vote says whether a participant wants the floor for the message
// the round is about, and how much.
type Vote struct {
	State      State   `json:"state"`
	Importance float64 `json:"importance"`         // 0..10
	Selected   bool    `json:"selected,omitempty"` // a hint only: addressing is derived from the message
	Closing    Closing `json:"closing,omitempty"`
	Reason     string  `json:"reason,omitempty"` // for people who ask why
	// Backchannel is a short reply (「なるほど」) that is said beside the speaker
	// when somebody else gets the floor, in a room whose policy has a pool.
	Backchannel string `json:"backchannel,omitempty"`
}

// Check reports the first field that breaks the rules of a vote.
func (v Vote) Check() error {
	switch {
	case v.State != Speak && v.State != Listen:
		return Field("vote.state", CodeInvalid, "%q is neither %q nor %q", v.State, Speak, Listen)
	case !(v.Importance >= 0 && v.Importance <= 10):
		return Field("vote.importance", CodeInvalid, "%v is outside 0..10", v.Importance)
	case v.Closing.Stage() < 0:
		return Field("vote.closing", CodeInvalid, "%q is none of none, pre-closing, closing, terminal", v.Closing)
	case v.Backchannel != "" && CheckText("vote.backchannel", v.Backchannel) != nil:
		return CheckText("vote.backchannel", v.Backchannel)
	case len(v.Reason) > MaxText:
		return Field("vote.reason", CodeTooLarge, "%d bytes, at most %d", len(v.Reason), MaxText)
	}
	return nil
}

// Grant is the right to speak now. Its token names the grant; it is not a
// secret, for the daemon goes by who is connected.
type Grant struct {
	Token   string    `json:"token"`
	Basis   uint64    `json:"basis"`   // seq of the newest message the speaker is to have seen
	Expires time.Time `json:"expires"` // after this the floor passes on
}

// CheckName reports why s cannot be the id of a participant or a room: it must
// be 1..MaxName bytes of letters, digits, '_', '-' or '.' in any script, start
// with a letter or digit, and hold nothing that [Ignorable] tells of: two names
// that differ by it alone are one to every reader.
func CheckName(field, s string) error {
	if s == "" {
		return Field(field, CodeInvalid, "must not be empty")
	}
	if len(s) > MaxName {
		return Field(field, CodeInvalid, "%d bytes, at most %d", len(s), MaxName)
	}
	if !utf8.ValidString(s) {
		return Field(field, CodeInvalid, "is not UTF-8")
	}
	place := 0 // counted as people do, from 1
	for i, r := range s {
		place++
		// These come first, for some of them are letters or marks. A code point
		// without a picture is named by its number: the eye does not find it, and
		// shown as it is it may turn the rest of the line around.
		if Ignorable(r) || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return Field(field, CodeInvalid, "character %d is U+%04X, which shows as nothing; leave it out", place, r)
		}
		// Marks (U+3099, ー as Lm) belong to names in Japanese and other scripts.
		if unicode.IsLetter(r) || unicode.IsDigit(r) || (i > 0 && (unicode.IsMark(r) || strings.ContainsRune("_-.", r))) {
			continue
		}
		return Field(field, CodeInvalid, "%q may not contain %q", s, r)
	}
	return nil
}

// Ignorable says whether r is a Default_Ignorable_Code_Point: a reader is shown
// nothing of it, though some are letters (U+3164) or marks (U+034F, U+FE0F). It is
// put together as the head of that property in Unicode's
// DerivedCoreProperties.txt says; the standard library has only the parts.
func Ignorable(r rune) bool {
	switch {
	case 0xFFF9 <= r && r <= 0xFFFB, 0x13430 <= r && r <= 0x13440: // annotations; hieroglyphs joined
		return false
	case unicode.In(r, unicode.White_Space, unicode.Prepended_Concatenation_Mark):
		return false
	}
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Cf, unicode.Variation_Selector)
}

// CheckText reports why s cannot be the text of a message: it must be UTF-8, of
// at most MaxText bytes, with more in it than space, and of control
// characters only line feeds, also as CR LF, and tabs. The others mean something else to each
// terminal, database and voice that a message comes to. Nothing in it embeds or overrides a
// direction.
func CheckText(field, s string) error { return CheckTextWithin(field, s, MaxText) }

// CheckTextWithin is CheckText with a bound of its own, in bytes.
func CheckTextWithin(field, s string, most int) error {
	switch {
	case strings.TrimSpace(s) == "":
		return Field(field, CodeInvalid, "must not be empty")
	case len(s) > most:
		return Field(field, CodeTooLarge, "%d bytes, at most %d", len(s), most)
	case !utf8.ValidString(s):
		return Field(field, CodeInvalid, "is not UTF-8")
	}
	place := 0 // counted as people do, from 1
	for i, r := range s {
		if r == '\r' && strings.HasPrefix(s[i+1:], "\n") {
			r = '\n'
		}
		switch place++; {
		case r == '\n', r == '\t':
		case unicode.Is(unicode.Cc, r):
			return Field(field, CodeInvalid, "character %d is U+%04X, a control character; only line feeds and tabs may be there", place, r)
		case turns(r):
			return Field(field, CodeInvalid, "character %d is U+%04X, which turns the text behind it around; leave it out", place, r)
		}
	}
	return nil
}

// turns says whether a code point embeds or overrides a direction: whatever is shown
// behind it, also what others said, can be turned around by it. Marks for one letter
// (U+200E, U+200F) are harmless and usual.
func turns(r rune) bool { return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 }
