package session

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/emotion"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

// Session is one client in one room, of one companion or of all that live there. It is used by one
// goroutine at a time.
type Session struct {
	Room      rooms.Room
	Companion string // empty: all, see [Session.Gather]
	Caller    identity.Caller
	From      string // the name that a guest gave; empty for none
	Plays     bool   // it tells when it has played a line
	Finishes  bool   // nothing silences it in the middle of a sentence
	Sentences bool   // one that plays is sent no sentence before it has told of the last
	Answers   bool   // it can answer queries
	Sounds    bool   // it is told how lines sound
	// Speaks says whether the companion's words are for its clients, by its card. One that
	// plays is told them in any case: the room waits for it.
	Speaks func(companion string) bool
	// Owns says whether a companion's card has an action, which nobody can lend it then. Nil: none has.
	Owns func(companion, action string) bool
	// See lets the companion perceive an image of whoever is connected: a data: URL. Nil: it
	// sees none here.
	See func(ctx context.Context, image, from string) error
	// Mic is the connection's.
	Mic *Microphone

	cast   cast
	games  map[string]lent        // by companion
	speech []string               // ids of the newest words that it was told
	lines  []string               // of the newest lines
	whose  recent[string, string] // the newest actions and lines, where it is the client of all
	asked  asked
	moods  recent[string, emotion.Word] // in which the newest lines go on

	seen    uint64 // seq of the newest entry that it was told
	settled uint64 // up to here all that people said is answered by then, or nothing comes of it
}

// patience bounds how long a room may take that is told what a client says.
const patience = 10 * time.Second

// recalled is how many entries a client looks back when it connects.
const recalled = 128

// Recall looks back from where the client begins, so that it knows what the lines that come
// answer.
func (s *Session) Recall(ctx context.Context, since uint64) error {
	from := since - min(since, recalled)
	s.seen, s.settled = since, from
	es, _, err := s.Room.Entries(ctx, from, int(since-from))
	for _, e := range es {
		_, _ = s.Event(e) // what cannot be read is found by whoever follows
	}
	return err
}

// hears says whether the client is told a companion's words.
func (s *Session) hears(who string) bool { return s.Plays || s.Speaks(who) }

func (s *Session) remember(p Piece) {
	s.speech = Newest(s.speech, p.ID, memory)
	s.belongs(p.Line, p.Companion)
	if p.Part > 0 && !slices.Contains(s.lines, p.Line) {
		s.lines = Newest(s.lines, p.Line, memory)
	}
}

func (s *Session) shown(line string) bool { return slices.Contains(s.lines, line) }

// In is something that a client says.
type In interface {
	// Key names it in an answer; empty where there is nothing to name it by.
	Key() string
}

// Result is what became of an action.
type Result struct {
	ID     string // of the action
	OK     bool
	Reason string
	Answer json.RawMessage // to a query, an object or a text; nil: none
}

// Played is a word about a line: so many parts were played, or all, or it cannot be played, or
// how long it takes. Who and Body are the session's to say.
type Played entry.Played

// Speaking is a microphone's: somebody speaks, or has ended.
type Speaking struct {
	On   bool
	From string
}

// Input is what a person says, shows, or both.
type Input struct {
	ID    string   // by which the client names it
	From  string   // the name that a guest gives with it; empty: the session's
	To    []string // empty: the session's companion
	As    string   // the id of the message, so that one that is sent again is said once; empty: the room makes one
	Text  string
	Image string // a data: URL
	// Of what was taken:
	Seq  uint64 // the message's
	Over bool   // it was said before, and no new line answers it
}

// Cancel takes the floor from whoever has it, as a person's STOP does.
type Cancel struct {
	ID   string // of the client's message
	Line string // which line is meant, or the message that it was to answer; empty: any
	Idle bool   // there is no such line any more, and nothing is to be stopped
	Was  Played // of the line that sounds; without one nothing is known of it
}

// Hello says who the client is: whether it tells when it has played a line.
type Hello struct{ Plays bool }

// Key implements [In].
func (r Result) Key() string   { return r.ID }
func (p Played) Key() string   { return p.Line }
func (s Speaking) Key() string { return "" }
func (i Input) Key() string    { return i.ID }
func (c Cancel) Key() string   { return c.ID }
func (h Hello) Key() string    { return "" }

// Take does what a client says, with its room, and gives it as it was taken.
//
// # Errors
//
// *abi.Error; CodeDenied where the caller may not do that.
func (s *Session) Take(ctx context.Context, in In) (In, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	switch in := in.(type) {
	case Input:
		return s.input(ctx, in)
	case Past:
		return s.past(ctx, in)
	}
	return in, s.tell(ctx, in)
}

// tell does what asks for no more than whether it was taken.
func (s *Session) tell(ctx context.Context, in In) error {
	switch in := in.(type) {
	case Result:
		if slices.Contains(s.speech, in.ID) {
			return nil // words come to no result
		}
		who, err := s.owner("id", in.ID)
		if err != nil {
			return err
		}
		return s.Room.Done(ctx, who, s.Caller.Name, abi.Result{ID: in.ID, OK: in.OK, Reason: in.Reason}, in.Answer)
	case Played:
		who, err := s.owner("line", in.Line)
		if err != nil {
			return err
		}
		in.Who, in.Body = who, s.cast.body(who)
		err = s.Room.Played(ctx, entry.Played(in))
		if abi.CodeOf(err) == abi.CodeNotFound && s.shown(in.Line) {
			return nil // the line has ended meanwhile
		}
		return err
	case Speaking:
		return s.Mic.Hear(ctx, s.Room, s.Caller, in)
	case Cancel:
		return s.cancel(ctx, in)
	case Offer:
		return s.offer(in)
	}
	return nil
}

// guest is who speaks without a token and without a name.
const guest = "guest"

// Speaker gives who says what the client says: a person, by the token or by the name that
// a guest gave.
func (s *Session) Speaker() (string, error) { return s.speaker(s.From) }

func (s *Session) speaker(claimed string) (string, error) {
	if err := s.Caller.May(identity.Talk); err != nil {
		return "", err
	}
	if claimed == "" && s.Caller.Guest {
		claimed = guest
	}
	from, kind, err := s.Caller.From(claimed, abi.KindHuman)
	if err == nil && kind != abi.KindHuman {
		err = abi.Errorf(abi.CodeDenied, "%s is an agent, which takes turns: connect it to /mcp; what is said here is a person's (companiond token -kind human NAME makes a token for one)", from)
	}
	return from, err
}

func (s *Session) input(ctx context.Context, in Input) (Input, error) {
	from, err := s.speaker(cmp.Or(in.From, s.From))
	if err != nil {
		return in, err
	}
	to := in.To
	if s.Companion != "" {
		to = []string{s.Companion}
	}
	u := rooms.Utterance{ID: in.As, From: from, By: abi.KindHuman, To: to, Text: in.Text, Kind: abi.KindTurn}
	if in.Text != "" || in.Image == "" {
		if err := u.Check(); err != nil {
			return in, err
		}
	}
	if in.Image != "" {
		if s.See == nil {
			return in, abi.Field("image", abi.CodeInvalid, "images are perceived in the room where %s lives, and this is another; connect without room", s.Companion)
		}
		if err := s.Caller.May(identity.Act); err != nil {
			return in, err
		}
		if err := s.See(ctx, in.Image, from); err != nil {
			return in, err
		}
	}
	if in.Text == "" {
		return in, nil
	}
	// A turn in any case: whoever waits for an answer is no listener, whatever the word.
	m, err := s.Room.Say(ctx, u)
	in.Seq, in.Over = m.Seq, m.Seq <= min(s.seen, s.settled) // what is new was not told yet
	return in, err
}

func (s *Session) cancel(ctx context.Context, in Cancel) error {
	from, err := s.Speaker()
	if err != nil || in.Idle {
		return err
	}
	if in.Was.Line != "" {
		_ = s.tell(ctx, in.Was) // else the room goes by how long the text takes
	}
	_, err = s.Room.Stop(ctx, from)
	return err
}

// Microphone is what somebody speaks into over one connection. The zero value is ready; it is
// used by one goroutine at a time.
type Microphone struct {
	hush func() // ends what it was last told to hear; nil: nothing
}

// Hear says in a room that whoever is connected speaks, or has ended.
func (m *Microphone) Hear(ctx context.Context, room rooms.Room, c identity.Caller, s Speaking) error {
	from, kind, err := c.From(s.From, abi.KindHuman)
	if err == nil && kind != abi.KindHuman {
		err = abi.Errorf(abi.CodeDenied, "speaking: %s is an agent, who speaks in turn", from)
	}
	if err != nil {
		return err
	}
	err = room.Speaking(ctx, from, s.On)
	if m.hush = nil; s.On && err == nil {
		m.hush = func() {
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
			defer cancel()
			_ = room.Speaking(ending, from, false) // the room may be gone; then nobody waits for it
		}
	}
	return err
}

// Hush ends what it heard last: its connection is gone, and nobody tells any more when it ends.
func (m *Microphone) Hush() {
	if m.hush != nil {
		m.hush()
	}
}
