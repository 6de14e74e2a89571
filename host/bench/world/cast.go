package world

import (
	"time"

	"github.com/companiond/companiond/abi"
)

// Cast is who takes part in a talk, as models.
type Cast struct {
	Name    string
	Why     string // what it is to show, in a line
	Members []Member
	Humans  []Human
	Length  time.Duration // people speak until then
}

// Span is a range to draw from, both ends included.
type Span struct{ Min, Max time.Duration }

// Member is the model of a companion or an agent.
type Member struct {
	ID, Name string
	Kind     abi.ParticipantKind

	Talk      float64 // how often it wishes to say something after a turn that addresses nobody, 0..1
	Answer    float64 // the same after a turn that addresses it
	Low, High int     // importance of its wishes; of an answer it is 7..10
	Claims    bool    // says that it was addressed, and how important it is, whatever was said
	Nods      float64 // how often it has a backchannel while it listens
	Calls     float64 // how often a line of its addresses another member
	Friend    string  // whom it addresses then; empty: anybody
	Closes    int     // turns since a person spoke after which it says farewell; 0: never

	Think Span          // for a vote
	First Span          // until the first sentence of a line is there
	Rune  time.Duration // for each character of the rest
	Short int           // characters of a line
	Long  int

	Cold   time.Duration // it is loaded then, and answers nothing before
	Dead   bool          // never answers
	Pass   float64       // how often it has nothing to say when it is asked for a line
	Breaks float64       // how often a line breaks off after its first sentence
}

// Human is the model of a person.
type Human struct {
	Name       string
	First      Span    // until the first turn
	Every      Span    // from the end of a turn to the next
	Address    float64 // how often a turn addresses a member
	Types      bool    // instead of speaking aloud
	Interrupts bool    // speaks while others are heard; else waits until they have ended
	Stops      float64 // how often a turn is a STOP
	Short      int     // characters of a turn
	Long       int
	Lines      []string // what it says; none: noise
}
