package abi

import (
	"encoding/json"
	"slices"
	"time"
)

// Acting is the data of OpAct: an action of a companion's, or one that a person asked for, which an action handler offered,
// and is to carry out.
type Acting struct {
	ID         string          `json:"id"`           // of the action
	Companion  string          `json:"companion"`    // that plays it; empty where a person asked
	By         string          `json:"by,omitempty"` // the person who asked; empty where a companion plays it
	Action     string          `json:"action"`
	Parameters json.RawMessage `json:"parameters,omitempty"` // by the schema that the handler gave
	Perception string          `json:"perception,omitempty"` // title of what led to it
	Settings   json.RawMessage `json:"settings,omitempty"`   // the handler's, of the configuration
}

// Acted is what came of it. An error of the module says that nothing did.
type Acted struct {
	Message string `json:"message,omitempty"` // for the companion, and whoever looks; at most MaxActed bytes are kept
	Later   bool   `json:"later,omitempty"`   // the work goes on, and HostActionResult tells what came of it; Message is told nobody
}

// ResultAsk is the data of HostActionResult: what came of an action that a handler was asked to carry out. It may come
// before OpAct has answered, whose answer is told nobody then.
type ResultAsk struct {
	ID        string `json:"id"` // of the action
	Companion string `json:"companion"`
	OK        bool   `json:"ok"`
	Message   string `json:"message,omitempty"` // as Acted has it; where OK is false, why nothing came of it
}

// Bounds of work that goes on: how many actions of a handler's may be out, how many of them of one companion, which is
// less than its room waits for, and for how long, in milliseconds.
const MaxLater, MaxLaterOfOne, MaxLaterTime = 64, 32, 600_000

// MaxActed bounds Acted.Message, ResultAsk.Message, and an error of OpAct, in bytes.
const MaxActed = 1000

// MaxHandled is how many actions a handler may offer.
const MaxHandled = 64

// Kinds of Shown.
const (
	ShowPiece  = "piece"  // a part of a line went out: Line, Part, Text, Emotion, Seconds as they are estimated
	ShowWhole  = "whole"  // no more of the line comes: Line, Part is how many there are, Text is all of it
	ShowSound  = "sound"  // a part has a sound: Line, Part, Sound
	ShowStarts = "starts" // a body begins to say a part, or all of it where Part is 0: Line, Part, Seconds
	ShowEnd    = "end"    // the line is over: Line, End, Text is what was heard
	ShowAction = "action" // an action was played: Action, Parameters
	ShowStop   = "stop"   // somebody said STOP: nobody says anything more
)

// Showing is the data of OpShow: what a room shows of a companion, in order. A handler that was loaded just now
// is shown what comes from then on.
type Showing struct {
	Companion string          `json:"companion"`
	Name      string          `json:"name"`            // of the companion, as people call it
	Voice     json.RawMessage `json:"voice,omitempty"` // of its card: how it sounds
	Shown     []Shown         `json:"shown"`
	Settings  json.RawMessage `json:"settings,omitempty"` // the handler's, of the configuration
}

// Shown is one thing that a room shows of a companion.
type Shown struct {
	Kind       string          `json:"kind"` // one of those above; others may come
	Seq        uint64          `json:"seq"`  // of its entry
	At         time.Time       `json:"at"`
	Line       string          `json:"line,omitempty"` // its id
	Part       int             `json:"part,omitempty"` // of the line, from 1
	Text       string          `json:"text,omitempty"`
	Emotion    string          `json:"emotion,omitempty"` // neutral, happy, angry, sad, relaxed or surprised
	Seconds    float64         `json:"seconds,omitempty"` // that a part takes to say
	Sound      *Sound          `json:"sound,omitempty"`
	End        string          `json:"end,omitempty"` // said, cut, stopped or failed
	Action     string          `json:"action,omitempty"`
	ID         string          `json:"id,omitempty"` // of the action
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// Sound is the data of HostSoundEmit: a part of a line as it sounds, for the bodies that play it.
type Sound struct {
	Companion string  `json:"companion"`
	Line      string  `json:"line"`
	Part      int     `json:"part"`
	Blob      BlobRef `json:"blob"`             // audio
	Mouth     BlobRef `json:"mouth,omitzero"`   // JSON, a list of Viseme
	Seconds   float64 `json:"seconds"`          // that it takes
	Failed    string  `json:"failed,omitempty"` // in place of all that: why there is none
}

// Viseme is a shape of the mouth, and for how long. All of a sound's come one after the other, from its start.
type Viseme struct {
	MS    int     `json:"ms"`
	Open  float64 `json:"open"`            // 0..1
	Shape string  `json:"shape,omitempty"` // a, i, u, e, o or n, where the voice tells
}

// BlobRef names a blob by what is in it, and so for ever.
type BlobRef struct {
	Hash string `json:"hash"`           // SHA-256, in hex
	Type string `json:"type,omitempty"` // audio/wav, image/png, image/jpeg, image/webp or application/json
	URL  string `json:"url,omitempty"`  // its path at the web door; the daemon sets it
}

// Blob is the data of HostBlobPut, and answers HostBlobGet.
type Blob struct {
	Type  string `json:"type"`
	Bytes []byte `json:"bytes"` // base64
}

// MaxBlob bounds Blob.Bytes. The daemon keeps the newest blobs, as many as have room, and none for ever.
const MaxBlob = 700 << 10

// PerceptionAsk is the data of HostPerceptionEmit: a companion perceives something, which its card
// has to know of. Either Body or Image is there.
type PerceptionAsk struct {
	Companion string          `json:"companion"`
	Title     string          `json:"title"`
	Body      json.RawMessage `json:"body,omitempty"` // an object or a text
	Image     []byte          `json:"image,omitempty"`
	MediaType string          `json:"media_type,omitempty"` // of the image
	From      string          `json:"from,omitempty"`       // who it comes from, such as a viewer; empty: the handler
	// Key names it for HostPerceptionRetract, such as the id of a chat's line. At most MaxName bytes.
	Key string `json:"key,omitempty"`
}

// Emitted answers HostPerceptionEmit: it is in the journal, and will be judged.
type Emitted struct {
	Seq uint64 `json:"seq"` // of its entry
}

// RetractAsk takes back what was perceived and not judged yet: the perception with a key, or all from somebody.
type RetractAsk struct {
	Companion string `json:"companion"`
	Key       string `json:"key,omitempty"`
	From      string `json:"from,omitempty"`
}

// Retracted answers HostPerceptionRetract.
type Retracted struct {
	Count int `json:"count"` // how many were taken back
}

// Sensing is the data of OpSense: a perception, before it is kept.
type Sensing struct {
	Companion  string          `json:"companion"`
	Perception Percept         `json:"perception"`
	Settings   json.RawMessage `json:"settings,omitempty"`
}

// Sensed answers OpSense. Its zero value lets the perception pass as it is.
type Sensed struct {
	Refuse string          `json:"refuse,omitempty"` // why the companion does not perceive it
	Body   json.RawMessage `json:"body,omitempty"`   // in place of what it was
}

// Lining is the data of OpLine: words of a companion, before they are said: a line, or a piece of one.
type Lining struct {
	Companion string          `json:"companion"`
	Text      string          `json:"text"`
	Settings  json.RawMessage `json:"settings,omitempty"`
}

// Lined answers OpLine. Its zero value lets the words pass as they are.
type Lined struct {
	Refuse string `json:"refuse,omitempty"` // why they are not said, nor anything behind them
	Text   string `json:"text,omitempty"`   // in place of what they were
}

// Running is the data of OpRun. The call lasts as long as the handler acts; when its context ends it has to return.
type Running struct {
	Companions []string        `json:"companions"` // for whom the handler acts now; the call begins anew where they change
	Settings   json.RawMessage `json:"settings,omitempty"`
}

// TimerAsk is the data of HostTimerSet. A timer that is set again is set anew; After 0 takes it back.
type TimerAsk struct {
	Name  string          `json:"name"`
	After int64           `json:"after_ms"` // at least MinTimer
	Data  json.RawMessage `json:"data,omitempty"`
}

// Timer is the data of OpTimer: a timer of the handler is due. At its start, and when it is loaded anew,
// a handler that answers OpTimer is asked with the name "", for it has none then.
type Timer struct {
	Name       string          `json:"name"`
	Data       json.RawMessage `json:"data,omitempty"`
	Companions []string        `json:"companions"`
	Settings   json.RawMessage `json:"settings,omitempty"`
}

// Bounds of timers: of the time of one, in milliseconds, and of how many a handler has.
const MinTimer, MaxTimers = 100, 64

// OfHandlers says whether an op is one that handlers alone are asked.
func OfHandlers(op string) bool {
	return slices.Contains([]string{OpAct, OpShow, OpSense, OpLine, OpTimer, OpRun}, op)
}

// Filters says whether an op is one that filters are asked, which have [FilterTime] for it and the [FilterShare]th part of
// the work of other calls.
func Filters(op string) bool { return op == OpSense || op == OpLine }

// FilterTime is how long a filter has, in milliseconds, and FilterShare which part it may do of what another call may: what has
// done that much and is not ready hangs, however fast the machine is.
const FilterTime, FilterShare = 2000, 5

// checkHandling reports what is wrong with what a module says of itself as a handler.
func (d Description) checkHandling() error {
	handles := d.Kind != "" && d.Kind != Character
	switch {
	case !handles && len(d.Actions) > 0:
		return Field("describe.actions", CodeInvalid, "are a handler's, and the kind is %q", d.Kind)
	case !handles && len(d.Settings) > 0:
		return Field("describe.settings", CodeInvalid, "are a handler's, and the kind is %q", d.Kind)
	case len(d.Actions) > MaxHandled:
		return Field("describe.actions", CodeTooLarge, "%d actions, at most %d", len(d.Actions), MaxHandled)
	}
	for _, op := range d.Ops {
		if !handles && OfHandlers(op) {
			return Field("describe.ops", CodeInvalid, "%s is a handler's, and the kind is %q", op, d.Kind)
		}
	}
	for _, a := range d.Actions {
		if err := CheckName("describe.actions", a.Name); err != nil {
			return err
		}
	}
	return nil
}
