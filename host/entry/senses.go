package entry

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/companiond/companiond/abi"
)

// What companions perceive and do.

// Perceived is the body of KindPerceived. Images are kept by their hash, and a
// long body too unless it waits (Kept); a perception is nothing that was said.
type Perceived struct {
	Who       string          `json:"who"` // the companion
	Title     string          `json:"title"`
	Format    string          `json:"format"`
	From      string          `json:"from,omitempty"`
	Body      json.RawMessage `json:"body,omitempty"` // when it is short, or kept
	MediaType string          `json:"media_type,omitempty"`
	Size      int             `json:"size"` // bytes
	SHA256    string          `json:"sha256"`
	// Kept says that nothing takes its place: it waits, also through a restart, until a
	// KindJudged or a KindFailed names it, or a KindStop or a KindArchived ends all.
	Kept bool `json:"kept,omitempty"`
	// Game is the game that tells it, by its own word. The companion is told the newest of
	// those whatever it is asked, but those of an ephemeral Force.
	Game string `json:"game,omitempty"`
	// Force is what the game wants at once.
	Force *abi.Force `json:"force,omitempty"`
	// Answers is the id of the query, an Action with a Due, that it answers. The companion is told the newest of
	// those, too, whatever it is asked.
	Answers string `json:"answers,omitempty"`
	// Key names it for a handler that may take it back, such as the id of a line in a stream's chat.
	Key string `json:"key,omitempty"`
}

// Judged is the body of KindJudged: perceptions that were kept wait no more. Others
// are judged without one.
type Judged struct {
	Who         string   `json:"who"`            // the companion
	Perceptions []uint64 `json:"perceptions"`    // seqs of the KindPerceived that it judged together, ascending
	Wish        uint64   `json:"wish,omitempty"` // seq of the KindWish that came of it; 0: it would rather listen
	Reason      string   `json:"reason,omitempty"`
}

// Action is the body of KindAction. It was checked against the card.
type Action struct {
	ID         string          `json:"id"`
	Who        string          `json:"who"` // the companion
	Action     string          `json:"action"`
	Parameters json.RawMessage `json:"parameters"`
	Perception string          `json:"perception,omitempty"` // title of what led to it
	By         string          `json:"by,omitempty"`         // an agent or a handler that played it
	Delivered  int             `json:"delivered"`            // bodies connected
	Warning    string          `json:"warning,omitempty"`
	// Perceived is the seq of the KindPerceived that the companion was judging.
	Perceived uint64 `json:"perceived,omitempty"`
	// Body is the one body that it is for, because that offered it; empty: it is the card's, and
	// for all.
	Body string `json:"body,omitempty"`
	// Due is until when an answer to it is waited for, of a query; zero: it is none.
	Due time.Time `json:"due,omitzero"`
}

// Offered is the body of KindOffered: what a connected game can do for a companion, or cannot
// any more. With the body, and with a KindOwner, all of that is gone.
type Offered struct {
	Who       string      `json:"who"`               // the companion
	Body      string      `json:"body"`              // the game's, of a KindBody
	By        string      `json:"by"`                // the game, by its own word
	Actions   []abi.Offer `json:"actions,omitempty"` // behind those that it had
	Withdrawn []string    `json:"withdrawn,omitempty"`
}

// Handled is the body of KindHandled: handlers that filter were asked about words of a companion's, or about what it is
// to perceive. None of those words, and nothing of the perception, is here.
type Handled struct {
	Who string `json:"who"` // the companion
	Of  string `json:"of"`  // OfLine or OfPerception
	// Line is the token of the grant of the line, or the ID of the KindWish with which the words came; empty: nothing
	// came of them, or they were said beside somebody's line.
	Line  string `json:"line,omitempty"`
	Title string `json:"title,omitempty"` // of the perception
	Steps []Step `json:"steps"`           // in the order in which they were asked; behind a refusal nobody is
}

// The things that a KindHandled is about.
const (
	OfLine       = "line" // a line, a piece of one, or what somebody wishes to say
	OfPerception = "perception"
)

// Step is what one handler did.
type Step struct {
	Handler string `json:"handler"`
	Did     string `json:"did"`              // passed, changed, refused or failed
	Reason  string `json:"reason,omitempty"` // of a refusal or a failure, at most MaxReason bytes
	MS      int64  `json:"ms"`               // that it took
}

// Said tells what the handler did about something, as "passed it (3 ms)".
func (s Step) Said(of string) string {
	text := s.Did + " " + of
	if s.Did == DidFail {
		text = s.Did + " at " + of
	}
	if s.Reason != "" {
		text += ": " + s.Reason
	}
	return fmt.Sprintf("%s (%d ms)", text, s.MS)
}

// The things that a handler may do which filters.
const (
	DidPass   = "passed"
	DidChange = "changed"
	DidRefuse = "refused"
	DidFail   = "failed"
)

// MaxReason bounds Step.Reason, in bytes.
const MaxReason = 200

// Done is the body of KindResult.
type Done struct {
	Who string `json:"who"` // the companion
	abi.Result
}
