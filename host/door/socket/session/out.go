package session

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/emotion"
	"github.com/companiond/companiond/host/entry"
)

// Out is something that a client is told.
type Out interface{ out() }

// Entry is the entry that an event was made of.
type Entry struct {
	Seq       uint64
	At        time.Time
	Companion string // whose client is told
}

// Action is something that the companion does.
type Action struct {
	Entry
	ID, Action string
	Parameters json.RawMessage
	Perception string    // title of what led to it
	Due        time.Time // until when its answer is waited for, of a query; zero: it is none
}

// Piece is a part of a line, or all of one that is said at once.
type Piece struct {
	Entry
	ID   string
	Line string   // by which its playback is told; empty for a listener's word, which takes no turn
	Part int      // of the line, from 1; 0 for a listener's word
	Last bool     // no part follows
	Over bool     // nothing more is told of it: no body is waited for
	To   []string // of a line that is said at once
	Text string
	// Parameters are those of the action "speak", Text among them as its message, where it has
	// more than that, and Emotion is the one of the six words that they mean.
	Parameters json.RawMessage
	Emotion    emotion.Word
	Answers    string // id of the message that the line answers; empty where that is not known
}

// Whole says of a line that was said piece by piece that no piece follows.
type Whole struct {
	Entry
	ID         string // of the message
	To         []string
	Text       string // all of it
	Line       string
	Parts      int
	End        entry.End // of a line that no body was to say: nothing more is told of it
	Reason     string
	Broken     bool // it breaks off
	Parameters json.RawMessage
	Emotion    emotion.Word
}

// Ended says how a line ended. What was not said of it by then is not said any more.
type Ended struct {
	Entry
	Line   string
	End    entry.End
	Reason string
	Heard  string // with any End but EndSaid: what was heard of it
	Missed bool   // the client was to tell that it has played it, and did not
}

// Sound says how a part of a line sounds, to a client that asked for that.
type Sound struct {
	Entry
	Line        string
	Part        int
	Blob, Mouth string // hashes; Mouth may be empty
	Seconds     float64
	Failed      string // why it does not, in place of all that
}

// Said is what somebody else said.
type Said struct {
	Entry
	ID   string
	From string
	By   abi.ParticipantKind
	To   []string
	Text string
	Over bool // it may end a line of the companion's that is heard
}

// Voice says that a person speaks into a microphone, or has ended.
type Voice struct {
	Entry
	From string
	On   bool
}

// Vote is what the companion votes, for a client of all.
type Vote struct {
	Entry
	abi.Vote
}

// Passed says that nothing more comes of the companion as an answer to what was said until Upto,
// and why. With Stop nothing more comes of any line either.
type Passed struct {
	Entry
	Upto   uint64
	Reason string
	Stop   bool
}

// Live says that the client was told all that had happened when it came.
type Live struct{}

func (Action) out() {}
func (Piece) out()  {}
func (Whole) out()  {}
func (Ended) out()  {}
func (Sound) out()  {}
func (Said) out()   {}
func (Voice) out()  {}
func (Vote) out()   {}
func (Passed) out() {}
func (Live) out()   {}

// Event makes of an entry what the client is told of it, nil for nothing. All but
// [Piece.Answers] depends on the entry alone, so that each is told once however often a client
// comes back. A line that was told piece by piece is not told again as a message.
func (s *Session) Event(e entry.Entry) (Out, error) {
	o, err := s.event(e)
	s.seen = max(s.seen, e.Seq)
	switch o := o.(type) {
	case Passed:
		s.settled = max(s.settled, o.Upto)
	case Piece:
		s.settled = max(s.settled, s.asked.about(o.Line))
	}
	return o, err
}

func (s *Session) event(e entry.Entry) (Out, error) {
	at := Entry{e.Seq, e.At, s.Companion}
	of := func(who string) Entry { return Entry{e.Seq, e.At, who} }
	switch e.Kind {
	case entry.KindAction:
		a, err := entry.Decode[entry.Action](e)
		if err != nil || !s.mine(a.Who) || a.Body != "" && !s.lends(a.Body) { // whoever lends an action plays it itself
			return nil, err
		}
		s.belongs(a.ID, a.Who)
		return Action{of(a.Who), a.ID, a.Action, a.Parameters, a.Perception, a.Due}, nil
	case entry.KindSegment:
		b, err := entry.Decode[entry.Segment](e)
		if err != nil || !s.mine(b.Who) || !s.hears(b.Who) {
			return nil, err
		}
		p := Piece{Entry: of(b.Who), ID: e.ID, Line: b.Grant, Part: b.N, Text: b.Text, Emotion: s.felt(b), Answers: s.asked.of(b.Grant)}
		s.remember(p)
		return p, nil
	case entry.KindSaid:
		b, err := entry.Decode[entry.Said](e)
		if err != nil {
			return nil, err
		}
		return s.said(at, e.ID, b), nil
	case entry.KindHeard:
		b, err := entry.Decode[entry.Heard](e)
		if err != nil || !s.mine(b.Who) || !s.hears(b.Who) && !s.shown(b.Line) { // its file may be gone by now
			return nil, err
		}
		missed := slices.Contains(b.Missed, s.cast.body(b.Who))
		return Ended{of(b.Who), b.Line, b.End, b.Why, b.Text, missed}, nil
	case entry.KindSound:
		b, err := entry.Decode[entry.Sound](e)
		if err != nil || !s.Sounds || !s.mine(b.Who) || !s.hears(b.Who) || b.Blob == "" && b.Failed == "" { // its words are erased
			return nil, err
		}
		return Sound{of(b.Who), b.Line, b.Part, b.Blob, b.Mouth, b.Seconds, b.Failed}, nil
	case entry.KindVote:
		if s.Companion != "" {
			return nil, nil
		}
		b, err := entry.Decode[entry.Voted](e)
		if err != nil || !s.mine(b.Voter) {
			return nil, err
		}
		return Vote{of(b.Voter), b.Vote}, nil
	case entry.KindCast:
		if s.Companion != "" {
			return nil, nil
		}
		b, err := entry.Decode[entry.Cast](e)
		s.meets(b)
		return nil, err
	case entry.KindStop:
		b, err := entry.Decode[entry.Stop](e)
		if err != nil {
			return nil, err
		}
		return Passed{at, e.Seq, b.From + " said STOP", true}, nil
	case entry.KindSpeaking:
		b, err := entry.Decode[entry.Speaking](e)
		return Voice{at, b.From, b.On}, err
	}
	return s.asked.note(e, at)
}

// said is an event of a message.
func (s *Session) said(at Entry, id string, b entry.Said) Out {
	switch {
	case !s.mine(b.From) || s.Companion == "" && b.By != abi.KindCompanion:
		return s.others(at, id, b)
	case b.Segments > 0 && b.Grant != "" && s.hears(b.From):
		return whole(Entry{at.Seq, at.At, b.From}, id, b)
	case b.By != abi.KindCompanion || b.Segments > 0 || !s.hears(b.From):
		return nil
	}
	at.Companion = b.From
	p := Piece{Entry: at, ID: id, To: b.To, Text: b.Text, Parameters: b.Parameters, Emotion: feltIn(b), Answers: s.asked.of(b.Grant)}
	if b.Kind == abi.KindTurn { // a listener's word takes nobody's turn
		p.Line, p.Part, p.Last, p.Over = cmp.Or(b.Grant, id), 1, true, !b.Played
	}
	s.remember(p)
	return p
}

// others is an event of what somebody else said.
func (s *Session) others(at Entry, id string, b entry.Said) Out {
	if b.By == abi.KindHuman {
		s.asked.said(at.Seq, id)
	}
	if about := s.asked.about(b.Grant); b.By == abi.KindCompanion && b.Kind == abi.KindTurn && about > 0 {
		return Passed{at, about, b.From + " answered", false}
	}
	over := b.By == abi.KindHuman && b.Kind == abi.KindTurn && (b.Source != entry.SourceChat || slices.Contains(b.Addressed, s.Companion))
	return Said{at, id, b.From, b.By, b.To, b.Text, over}
}

func whole(at Entry, id string, b entry.Said) Whole {
	w := Whole{Entry: at, ID: id, To: b.To, Text: b.Text, Line: b.Grant, Parts: b.Segments, Broken: b.Broken != "", Parameters: b.Parameters, Emotion: feltIn(b)}
	switch {
	case b.Played:
	case b.Broken != "":
		w.End, w.Reason = cmp.Or(b.Ends, entry.EndFailed), b.Broken
	default:
		w.End, w.Reason = entry.EndSaid, "no body was there as it began"
	}
	return w
}

// feltIn gives how a message is said.
func feltIn(b entry.Said) emotion.Word {
	if w := emotion.Of(b.Parameters); w != emotion.Neutral || b.Emotion == "" {
		return w
	}
	return emotion.Named(b.Emotion)
}

// felt gives how a part of a line is said: as the part before, where it does not tell.
func (s *Session) felt(b entry.Segment) emotion.Word {
	if b.Emotion == "" {
		return cmp.Or(s.moods.get(b.Grant), emotion.Neutral)
	}
	w := emotion.Named(b.Emotion)
	s.moods.put(b.Grant, w)
	return w
}

// Spoken gives the parameters of the action "speak" that a piece is: to speak is an action and a
// message at once.
func (p Piece) Spoken() json.RawMessage {
	if len(p.Parameters) > 0 { // it came as the action, with more than its message
		return p.Parameters
	}
	raw, _ := json.Marshal(struct {
		Message string `json:"message"`
	}{p.Text}) // a text can always be written
	return raw
}

// Speak is the action that words are, and Speech the kind of what is words.
const (
	Speak  = card.Speak
	Speech = "speech"
)
