package world

import (
	"time"

	"github.com/companiond/companiond/abi"
)

// Record is what happened in a talk, as somebody in the room would have noted it.
type Record struct {
	Cast    Cast
	Horizon time.Duration    // when it was looked at no more
	Turns   []*Turn          // and backchannels, by number
	Ends    []time.Duration  // when the rule took the talk to be over
	Calls   int              // of models: votes and lines that were asked for
	Lines   int              // that were asked for
	Passes  int              // of these, that came to nothing because the speaker had nothing to say, or never answers
	Passed  map[int][]string // by turn: members that had nothing to say to it when they were asked for a line
	Written int              // characters of lines that were written
}

// Turn is one said thing. Its words are known from At on; it is heard from Begun
// to Ended.
type Turn struct {
	N     int // 1, 2, 3, ... in the order in which the words were known
	From  string
	By    abi.ParticipantKind
	To    []string
	Text  string
	Kind  abi.MessageKind
	Basis int  // number of the newest turn that the speaker knew
	Stop  bool // a person's STOP
	Typed bool // by a person, without a voice
	Chat  bool // by one of many who type

	Written string // of a member's: all that its voice was given; Text is what was heard
	Kept    string // what the rule's own history has of it in the end

	At, Begun, Ended time.Duration
	Done             time.Duration // of a member's: when the text was complete
	Cut              bool          // it ended early
	Wants            []string      // members that wish to say something after it, by id

	rate  float64 // of its voice
	parts []part
}

// part is a piece of a voice.
type part struct {
	text        string
	begun, ends time.Duration
}

// Speaks says whether the turn took the floor and is a member's.
func (t *Turn) Speaks() bool { return t.By != abi.KindHuman && t.Kind == abi.KindTurn }

// Asks says whether the turn is a person's and wants an answer.
func (t *Turn) Asks() bool { return t.By == abi.KindHuman && t.Kind == abi.KindTurn && !t.Stop }
