package socket

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

const (
	knownSpeech  = 256              // lines whose result is taken for one
	maxActionID  = 128              // bytes; longer is no id of ours
	donePatience = 10 * time.Second // with a room that is told what a client says
)

// body is the dialect of what plays the actions of one companion.
type body struct {
	talk      rooms.Room
	companion string
	speaks    func(companion string) bool
	plays     bool // it tells when it has played a line
	shape     shape

	mu     sync.Mutex
	id     string   // of the body, in its room
	speech []string // ids of the newest words shown
	lines  []string // of the newest lines
}

// move is one frame of GET /v1/actions: something the companion does.
type move struct {
	Seq        uint64          `json:"seq"` // to resume after
	ID         string          `json:"id"`  // to name in the result
	At         time.Time       `json:"at"`
	Companion  string          `json:"companion"`
	Action     string          `json:"action"`
	Parameters json.RawMessage `json:"parameters"`
	Perception string          `json:"perception,omitempty"` // title of what led to it
	Kind       string          `json:"kind,omitempty"`       // "speech", or nothing
	Line       string          `json:"line,omitempty"`       // the line that it is a part of, to name in {"line","played"}
	Part       int             `json:"part,omitempty"`       // of the line, from 1
	Last       bool            `json:"last,omitempty"`       // no part follows
}

// whole is a frame that says of a line said piece by piece how many parts it had.
type whole struct {
	Seq       uint64    `json:"seq"`
	At        time.Time `json:"at"`
	Companion string    `json:"companion"`
	Line      string    `json:"line"`
	Parts     int       `json:"parts"`
	Last      bool      `json:"last"`
	End       entry.End `json:"end,omitempty"` // of a line that no body was to say: nothing more is told of it
	Reason    string    `json:"reason,omitempty"`
	// Parameters are how all of it was said, where the action "speak" has more than a message.
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// ended is the frame with which a line ends, for whatever reason: what a body has not
// said of it by then it does not say any more.
type ended struct {
	Seq       uint64    `json:"seq"`
	At        time.Time `json:"at"`
	Companion string    `json:"companion"`
	Line      string    `json:"line"`
	End       entry.End `json:"end"`
	Reason    string    `json:"reason"`
}

// speech is the kind of a move that is words.
const speech = "speech"

func (b *body) frame(e entry.Entry) ([]byte, error) {
	m, err := b.move(e)
	if m == nil && err == nil && b.shape == own {
		return b.word(e)
	}
	if m == nil || err != nil {
		return nil, err
	}
	if m.Kind == speech {
		if !b.hears() {
			return nil, nil
		}
		b.remember(m)
	}
	return b.shape.encode(m), nil
}

// hears says whether a body is shown words. One that says it plays lines is in any case:
// the room waits for it.
func (b *body) hears() bool { return b.plays || b.speaks(b.companion) }

// word makes of an entry what a body is told about a line, nil for nothing.
func (b *body) word(e entry.Entry) ([]byte, error) {
	switch e.Kind {
	case entry.KindSaid:
		s, err := entry.Decode[entry.Said](e)
		if err != nil || s.From != b.companion || s.Segments == 0 || s.Grant == "" || !b.hears() {
			return nil, err
		}
		w := whole{Seq: e.Seq, At: e.At, Companion: b.companion, Line: s.Grant, Parts: s.Segments, Last: true, Parameters: s.Parameters}
		switch {
		case s.Played:
		case s.Broken != "":
			w.End, w.Reason = cmp.Or(s.Ends, entry.EndFailed), s.Broken
		default:
			w.End, w.Reason = entry.EndSaid, "no body was there as it began"
		}
		return encode(w), nil
	case entry.KindHeard:
		h, err := entry.Decode[entry.Heard](e)
		if err != nil || h.Who != b.companion || !b.hears() && !b.shown(h.Line) { // its file may be gone by now
			return nil, err
		}
		return encode(ended{e.Seq, e.At, b.companion, h.Line, h.End, h.Why}), nil
	}
	return nil, nil
}

// move makes of an entry what the body sees of it, nil for nothing. It depends on
// the entry alone, so that each is shown once however often a client comes back.
// A line that was shown piece by piece is not shown again as a message.
func (b *body) move(e entry.Entry) (*move, error) {
	m := &move{Seq: e.Seq, ID: e.ID, At: e.At, Companion: b.companion}
	switch e.Kind {
	case entry.KindAction:
		a, err := entry.Decode[entry.Action](e)
		if err != nil || a.Who != b.companion {
			return nil, err
		}
		m.ID, m.Action, m.Parameters, m.Perception = a.ID, a.Action, a.Parameters, a.Perception
		return m, nil
	case entry.KindSegment:
		s, err := entry.Decode[entry.Segment](e)
		if err != nil || s.Who != b.companion {
			return nil, err
		}
		m.Line, m.Part = s.Grant, s.N
		return m.say(s.Text), nil
	case entry.KindSaid:
		s, err := entry.Decode[entry.Said](e)
		if err != nil || s.From != b.companion || s.By != abi.KindCompanion || s.Segments > 0 {
			return nil, err
		}
		if s.Kind == abi.KindTurn { // a listener's word takes nobody's turn
			m.Line, m.Part, m.Last = cmp.Or(s.Grant, e.ID), 1, true
		}
		if len(s.Parameters) > 0 { // it came as the action, with more than its message
			m.Action, m.Kind, m.Parameters = card.Speak, speech, s.Parameters
			return m, nil
		}
		return m.say(s.Text), nil
	}
	return nil, nil
}

// say makes a move of words: to speak is an action and a message at once.
func (m *move) say(text string) *move {
	m.Action, m.Kind = card.Speak, speech
	m.Parameters = encode(struct {
		Message string `json:"message"`
	}{text})
	return m
}

// enter notes that the body is in its room.
func (b *body) enter(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.id = id
}

func (b *body) name() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.id
}

func (b *body) remember(m *move) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.speech = newest(b.speech, m.ID)
	if m.Part > 0 && !slices.Contains(b.lines, m.Line) {
		b.lines = newest(b.lines, m.Line)
	}
}

// newest adds an id to those that are known.
func newest(ids []string, id string) []string {
	ids = append(ids, id)
	return ids[max(0, len(ids)-knownSpeech):]
}

func (b *body) said(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Contains(b.speech, id)
}

func (b *body) shown(line string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Contains(b.lines, line)
}

// take gets a result and passes it on to the companion, which would not know otherwise.
func (b *body) take(ctx context.Context, c *client, message []byte) (*view, error) {
	if call, ok := readCall(message); b.shape != own && ok {
		return c.answerCall(ctx, call)
	}
	if word, ok, err := readSpeaking(message); ok {
		return nil, c.speaks(ctx, b.talk, word, err)
	}
	if p, ok, err := readPlayed(message); ok {
		return nil, c.pass(ctx, p.Line, err, func(ctx context.Context) error {
			p.Who, p.Body = b.companion, b.name()
			err := b.talk.Played(ctx, p)
			if abi.CodeOf(err) == abi.CodeNotFound && b.shown(p.Line) {
				return nil // the line has ended meanwhile
			}
			return err
		})
	}
	r, err := readResult(message)
	return nil, c.pass(ctx, r.ID, err, func(ctx context.Context) error {
		if b.said(r.ID) {
			return nil
		}
		return b.talk.Done(ctx, b.companion, c.caller.Name, r)
	})
}

// pass has a room do what a message says, unless err says what is wrong with it. The
// client is answered where it comes to nothing.
func (c *client) pass(ctx context.Context, id string, err error, do func(context.Context) error) error {
	if err == nil {
		asking, cancel := context.WithTimeout(ctx, donePatience)
		defer cancel()
		err = do(asking)
	}
	if err == nil || ctx.Err() != nil {
		return nil
	}
	return c.send(c.refusal(id, err))
}

func (b *body) beside(ctx context.Context, c *client) *view {
	select {
	case v := <-c.turns:
		return &v
	case <-ctx.Done():
		return nil
	}
}

// mayTell is what a body may send.
const mayTell = `{"id":"...","ok":true} of an action, {"line":"...","played":1} or {"line":"...","seconds":1.5} of a line, or {"speaking":true,"from":"..."}`

// readResult decodes {"id","ok","reason"?}, or says what a body may send. With an error it
// still gives the id, if there is one that can be answered with.
func readResult(message []byte) (abi.Result, error) {
	var r struct {
		ID     *string `json:"id"`
		OK     *bool   `json:"ok"`
		Reason string  `json:"reason"`
	}
	err := json.Unmarshal(message, &r)
	var id string
	if r.ID != nil && len(*r.ID) <= maxActionID {
		id = *r.ID
	}
	wrong, f := mistyped(err), fieldsOf(message)
	switch {
	case wrong != nil:
		return abi.Result{ID: id}, wrong
	case err != nil:
		return abi.Result{}, abi.Errorf(abi.CodeInvalid, "message: is no JSON object; a body sends %s", mayTell)
	case !there(f.ID, f.OK):
		return abi.Result{}, abi.Errorf(abi.CodeInvalid, "message: tells nothing; a body sends %s", mayTell)
	case r.ID == nil:
		return abi.Result{}, abi.Field("id", abi.CodeInvalid, "is missing; it is the id of an action")
	case id == "":
		return abi.Result{}, abi.Field("id", abi.CodeInvalid, "%d bytes, must be 1..%d", len(*r.ID), maxActionID)
	case r.OK == nil:
		return abi.Result{ID: id}, abi.Field("ok", abi.CodeInvalid, "is missing; it is true or false")
	}
	return abi.Result{ID: id, OK: *r.OK, Reason: r.Reason}, nil
}

// refusal is the frame for a message that came to nothing.
func (c *client) refusal(id string, err error) []byte {
	return encode(struct {
		Error *abi.Error `json:"error"`
		ID    string     `json:"id,omitempty"`
	}{c.told(err), id})
}

// encode writes what can always be written: texts, numbers, and JSON that was read.
func encode(v any) []byte {
	frame, _ := json.Marshal(v)
	return frame
}

// told gives what a client is told of an error; the rest is for the log.
func (c *client) told(err error) *abi.Error {
	e := abi.AsError(err)
	if e.Code == abi.CodeInternal {
		c.log.Error("a client's message failed", "error", errors.Join(e, errors.Unwrap(e)))
	}
	return e
}

// openBody finds the companion, its room, and where to start.
func (f *Feed) openBody(r *http.Request) (view, error) {
	if err := identity.Of(r.Context()).May(identity.Act); err != nil {
		return view{}, err
	}
	companion := r.URL.Query().Get("companion")
	plays, err := playback(r.URL.Query())
	if err != nil {
		return view{}, err
	}
	return f.bodyOf(r, &body{companion: companion, speaks: f.cfg.Speaks, plays: plays})
}

// bodyOf finds the room of a body whose companion is known, and where to start.
func (f *Feed) bodyOf(r *http.Request, b *body) (view, error) {
	query, companion := r.URL.Query(), b.companion
	if err := abi.CheckName("query.companion", companion); err != nil {
		return view{}, err
	}
	talk, err := f.roomOf(r.Context(), companion, query.Get("room"), query.Has("room"))
	if err != nil {
		return view{}, err
	}
	since, _, err := start(r, talk)
	if err != nil {
		return view{}, err
	}
	b.talk = talk
	return view{talk: talk, since: since, dialect: b}, nil
}

// roomOf finds the room that a client named, or else the companion's own.
func (f *Feed) roomOf(ctx context.Context, companion, name string, named bool) (rooms.Room, error) {
	if !named {
		return f.cfg.Rooms.Home(ctx, companion)
	}
	talk, err := f.cfg.Rooms.Room(ctx, name)
	if err != nil {
		return nil, err
	}
	members := talk.Info().Members
	if len(members) > 0 && !slices.ContainsFunc(members, func(m abi.Member) bool { return m.ID == companion && m.Kind == abi.KindCompanion }) {
		return nil, abi.Field("query.companion", abi.CodeNotFound, "%q is not in room %s", companion, name)
	}
	return talk, nil
}
