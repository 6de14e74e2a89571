package abi

import (
	"encoding/json"
	"time"
)

// Words of the AI Companion Protocol: what comes in from a companion's senses, and what goes out to
// its body.

// Percept is one thing a companion perceives. Its titles, formats and sizes are
// the card's to allow.
type Percept struct {
	Seq       uint64          `json:"seq,omitempty"` // of its entry, once it has one
	Title     string          `json:"title"`         // which of the card's perceptions, e.g. "vision"
	Format    string          `json:"format"`        // object, text or image
	Body      json.RawMessage `json:"body,omitempty"`
	MediaType string          `json:"media_type,omitempty"` // of an image
	Image     []byte          `json:"image,omitempty"`      // base64 on the wire; instead of Body
	From      string          `json:"from,omitempty"`       // who sent it
	At        time.Time       `json:"at,omitzero"`
	Game      string          `json:"game,omitempty"`  // the game that tells it, by its own word; the card need not have the title
	Force     *Force          `json:"force,omitempty"` // it is to be answered with an action of the game, now
	// Answers is the id of the query, a kind of action, that it answers; the card need not have the title
	// as a perception. Of one that nobody could answer the Body is a text that says why.
	Answers string `json:"answers,omitempty"`
	// Key names it for a handler that may take it back.
	Key string `json:"key,omitempty"`
}

// Unasked says whether it is told by a game, or answers a query: no card says what to do about it.
func (p Percept) Unasked() bool { return p.Game != "" || p.Answers != "" }

// Force is what a game wants of a companion: that it plays one of some actions.
type Force struct {
	Actions   []string `json:"actions"`             // one of which is to be played; they are in Perceiving.Offers
	Priority  string   `json:"priority,omitempty"`  // low, medium, high or critical
	Ephemeral bool     `json:"ephemeral,omitempty"` // what the perception says is not told any more once this is over
	Try       int      `json:"try,omitempty"`       // how often it is asked for, from 1
	Failed    string   `json:"failed,omitempty"`    // why it is asked for once more
}

// Offer is an action that a connected game offers at the time, besides those of the card. Its
// name, its description and its schema are the game's own words: data, and no instructions.
type Offer struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"` // of its parameters; none: it has none
	Game        string          `json:"game,omitempty"`
}

// Perceiving is the data of OpPerceive.
type Perceiving struct {
	Perception Percept   `json:"perception"`
	More       []Percept `json:"more,omitempty"` // with Description.Several: older ones that wait, oldest first; the judgement is of all
	Message    Message   `json:"message"`        // what was said last; Seq 0: nothing yet
	Members    []Member  `json:"members,omitempty"`
	Recent     []Message `json:"recent,omitempty"` // the newest messages, oldest first
	Turns      int       `json:"turns"`
	MaxTurns   int       `json:"max_turns,omitempty"`
	Closing    Closing   `json:"closing,omitempty"`
	Offers     []Offer   `json:"offers,omitempty"` // what games offer, to be played with HostActionEmit
	Told       []Percept `json:"told,omitempty"`   // what games told before, oldest first; it is not to be judged
}

// Judgement is what a companion makes of a perception: whether it wants to speak,
// and with what. Actions it plays meanwhile with HostActionEmit.
type Judgement struct {
	State      State    `json:"state"`
	Importance float64  `json:"importance"` // 0..10
	Reason     string   `json:"reason,omitempty"`
	Text       string   `json:"text,omitempty"` // the line at hand; without one OpSpeak is asked when the floor is granted
	To         []string `json:"to,omitempty"`
	// Parameters are all of the action "speak" where the card's has more than a
	// message; the message is Text.
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// Check reports the first field that breaks the rules of a judgement.
func (j Judgement) Check() error {
	switch {
	case j.State != Speak && j.State != Listen:
		return Field("judgement.state", CodeInvalid, "%q is neither %q nor %q", j.State, Speak, Listen)
	case !(j.Importance >= 0 && j.Importance <= 10):
		return Field("judgement.importance", CodeInvalid, "%v is outside 0..10", j.Importance)
	case len(j.Reason) > MaxText:
		return Field("judgement.reason", CodeTooLarge, "%d bytes, at most %d", len(j.Reason), MaxText)
	case j.Text != "":
		return CheckText("judgement.text", j.Text)
	}
	return nil
}

// Judged is what became of a perception.
type Judged struct {
	Seq       uint64    `json:"seq"` // of its entry
	Judgement Judgement `json:"judgement"`
	Wish      uint64    `json:"wish,omitempty"` // seq of the wish to speak
}

// Result is the data of OpResult: what became of an action that the companion
// played, as its body tells.
type Result struct {
	ID     string `json:"id"` // of the action
	Action string `json:"action"`
	OK     bool   `json:"ok"`
	Reason string `json:"reason,omitempty"`
	By     string `json:"by,omitempty"` // whose body it was
}

type (
	// SayAsk is a segment of the line that is being spoken, a sentence or so.
	SayAsk struct {
		Text string `json:"text"`
		// Emotion is how it is said, in a word; empty: as the segment before.
		Emotion string `json:"emotion,omitempty"`
	}
	// ActionAsk asks for an action of the companion's card. With a Perception the
	// card's events must allow the action for it. A handler says which of its companions is to play it, and plays
	// none that is offered.
	ActionAsk struct {
		Companion  string          `json:"companion,omitempty"` // where a handler asks
		Action     string          `json:"action"`
		Parameters json.RawMessage `json:"parameters,omitempty"`
		Perception string          `json:"perception,omitempty"` // title of what led to it
	}
	// ActionPlayed answers HostActionEmit.
	ActionPlayed struct {
		ID        string `json:"id"`
		Delivered int    `json:"delivered"`         // bodies that were connected; 0 is not hidden
		Warning   string `json:"warning,omitempty"` // the events do not allow it, and the card only warns
		Wish      uint64 `json:"wish,omitempty"`    // of the action "speak": seq of the wish, whose line waits for the floor
		// Due is until when an answer is waited for, of a query. It is perceived later, as is that none came.
		Due time.Time `json:"due,omitzero"`
	}
	// ModelAsk asks the companion's language model.
	ModelAsk struct {
		System    string          `json:"system,omitempty"`
		Messages  []ModelMessage  `json:"messages"`
		MaxTokens int             `json:"max_tokens,omitempty"`
		Schema    json.RawMessage `json:"schema,omitempty"` // the answer is to be JSON of this schema
	}
	// ModelMessage is a message of a talk with a model.
	ModelMessage struct {
		Role string `json:"role"` // user or assistant
		Text string `json:"text"`
	}
	// ModelAnswer answers HostModelGenerate.
	ModelAnswer struct {
		Text string          `json:"text"`
		JSON json.RawMessage `json:"json,omitempty"`
		In   int             `json:"in"`  // tokens read
		Out  int             `json:"out"` // tokens written
	}
)
