package entry

import "github.com/companiond/companiond/abi"

// Bodies, and what people heard of lines.

// Bodies is the body of KindBody. A KindOwner forgets all bodies: each daemon says anew
// which are connected.
type Bodies struct {
	Joined []Body `json:"joined,omitempty"` // one that is here already has changed
	Left   []Body `json:"left,omitempty"`
}

// Body is a client that moves a companion, or speaks for it.
type Body struct {
	ID    string `json:"id"`
	Who   string `json:"who"`
	Plays bool   `json:"plays,omitempty"` // it tells when it has played
	Mute  bool   `json:"mute,omitempty"`  // a game: it plays what it offers, and says no words
	// Finishes says that nothing silences it in the middle of a sentence: a line that is cut off,
	// or stopped, sounds there until its sentence ends.
	Finishes bool `json:"finishes,omitempty"`
	// Sentences says that it gets a line sentence by sentence, none before it has told that the one
	// before was spoken, and tells of each.
	Sentences bool `json:"sentences,omitempty"`
	// Answers says that it can answer queries.
	Answers bool `json:"answers,omitempty"`
}

// Muted is the body of KindMuted. Who is muted stays in the room, and hears what is said; it is asked for no vote and no line until
// it is told off, whoever owns the room meanwhile.
type Muted struct {
	Who string `json:"who"`
	On  bool   `json:"on"`
	By  string `json:"by"` // a human
}

// Played is the body of KindPlayed.
type Played struct {
	Line   string `json:"line"` // the grant's token
	Who    string `json:"who"`
	Body   string `json:"body"`
	Part   int    `json:"part,omitempty"`   // it has played so many
	Done   bool   `json:"done,omitempty"`   // all there are
	Failed string `json:"failed,omitempty"` // why it plays no more of it
	Bytes  int    `json:"bytes,omitempty"`  // of the line's text, that were heard there, instead of what was played
	// Seconds says how long part Part takes, 0 the whole line, instead of what was played.
	Seconds float64 `json:"seconds,omitempty"`
}

// longestLine is more than anybody says at once, in seconds.
const longestLine = 600.0

// Check refuses figures that cannot be.
func (p Played) Check() error {
	if !(p.Seconds >= 0 && p.Seconds <= longestLine) {
		return abi.Field("seconds", abi.CodeInvalid, "%v is outside 0..%v", p.Seconds, longestLine)
	}
	if p.Bytes < 0 {
		return abi.Field("bytes", abi.CodeInvalid, "%d is less than nothing", p.Bytes)
	}
	return nil
}

// Sound is the body of KindSound: how a part of a line sounds that bodies say. Nothing of its words is in it, and the
// blobs that it names are gone when others have their room.
type Sound struct {
	Line    string  `json:"line"` // the grant's token
	Who     string  `json:"who"`
	Part    int     `json:"part"`              // from 1
	Blob    string  `json:"blob,omitempty"`    // hash of the audio
	Mouth   string  `json:"mouth,omitempty"`   // hash of the shapes of the mouth, see [abi.Viseme]
	Seconds float64 `json:"seconds,omitempty"` // that it takes
	Failed  string  `json:"failed,omitempty"`  // why there is none
	By      string  `json:"by"`                // who made it
}

// Speaking is the body of KindSpeaking: what a microphone hears, before it is text.
type Speaking struct {
	From string `json:"from"`
	On   bool   `json:"on"`
}

// Heard is the body of KindHeard: what people heard of a line, which is the message
// where it is less.
type Heard struct {
	Line   string   `json:"line"`
	Who    string   `json:"who"`
	Of     uint64   `json:"of"` // seq of the message
	End    End      `json:"end"`
	Text   string   `json:"text,omitempty"` // with any End but EndSaid: what was heard of it
	Why    string   `json:"why"`
	Missed []string `json:"missed,omitempty"` // bodies that were to tell and did not
	Gap    int64    `json:"gap_ms"`           // before the next line begins
}

// HeardID is the id of the entry that says how a line ended.
func HeardID(line string) string { return "heard/" + line }

// Apply gives a message as it was heard, ok false where nobody heard any of it.
func (h Heard) Apply(m abi.Message) (_ abi.Message, ok bool) {
	if h.End == EndSaid {
		return m, true
	}
	m.Text, m.Cut = h.Text, string(h.End)
	return m, h.Text != ""
}

// End is how a line ended.
type End string

// The ends of a line.
const (
	EndSaid    End = "said"    // it was heard to its end
	EndCut     End = "cut"     // somebody spoke over it
	EndStopped End = "stopped" // a human said STOP, or closed the room
	EndFailed  End = "failed"  // it broke off, or no body could play it
)
