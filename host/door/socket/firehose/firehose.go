// Package firehose is the wire of aikyo's Firehose: a client hears all that companions and people say
// and do in a room, says something, and plays lines by answering queries of the type speak. docs/WIRES.md has
// its frames.
//
// The Firehose takes whatever a client publishes; this takes messages, and answers to what was asked.
// It knows neither connections nor rooms, reads no clock, and never says who somebody is.
package firehose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/socket/session"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/speech"
)

const (
	speakPatience = 100 * time.Second // of aikyo's tool for a sound to be played
	lingers       = 10 * time.Second  // in which it is of use to know that a line which has ended is not heard any more
	maxLines      = 64
	maxPeople     = 16
	maxSaid       = 256 // messages of the client's that are not shown to it
)

// Hose is one client.
type Hose struct {
	everyone func() []string
	key      []byte
	votes    bool // it is shown votes, too
	plays    bool // it answers what it is asked to speak

	said   []string // ids of the newest messages that it sent
	people []string // the newest who said something
	lines  []*line
	asked  []string // ids of the newest queries to speak, while it is not known whether it answers any
	wants  []string // ids of the newest queries of companions to it that are no speech, and not answered
}

// line is one that is told to the client.
type line struct {
	id, who string
	parts   []part
	last    bool // no part follows
	waited  bool // the room waits for it
	over    bool // it has ended in the room
	told    bool // the room was told that nothing more is heard of it

	sent, played int       // parts
	query        string    // that waits for an answer, "" for none
	until        time.Time // of the query, or of a line that has ended

	message message // "" for its text: not known yet, or sent
}

type part struct {
	text    string
	emotion string
}

var _ session.Codec = (*Hose)(nil)

// New makes the wire of a client. everyone gives the companions and agents that are in the room: a line that is said to nobody is for
// them, and for the people who were heard. key is the house's own, and secret: it stands between a name and the id of a message. With
// votes the client is shown those, too, and with plays it is taken to answer what it is asked to
// speak before it has done so.
func New(everyone func() []string, key []byte, votes, plays bool) *Hose {
	return &Hose{everyone: everyone, key: key, votes: votes, plays: plays}
}

// Begin implements [session.Codec].
func (h *Hose) Begin(time.Time) [][]byte { return nil }

// wire is the first part of the ids of messages that were said here.
const wire = "fh"

// shownID gives what a message is called here: as its sender called it.
func shownID(id string) string {
	if rest, ok := strings.CutPrefix(id, wire+"."); ok {
		if _, own, ok := strings.Cut(rest, "."); ok {
			return own
		}
	}
	return id
}

// Encode implements [session.Codec].
func (h *Hose) Encode(o session.Out, now time.Time) (frames [][]byte) {
	switch o := o.(type) {
	case session.Action:
		if frames = [][]byte{encode(actionFrame(o))}; !o.Due.IsZero() {
			h.wants = session.Newest(h.wants, o.ID, maxLines)
			frames = [][]byte{encode(queryFrame(o.ID, o.Companion, o.Action, o.Parameters))}
		}
	case session.Piece:
		frames = h.piece(o)
	case session.Whole:
		frames = h.whole(o)
	case session.Ended:
		frames = h.ended(o, now)
	case session.Said:
		h.meet(o.From, o.By)
		if slices.Contains(h.said, o.ID) {
			return nil // as gossip it is not echoed
		}
		frames = [][]byte{encode(h.messageFrame(message{id: o.ID, from: o.From, to: o.To, text: o.Text}))}
	case session.Vote:
		if h.votes {
			frames = [][]byte{encode(votesFrame(o))}
		}
	case session.Passed:
		if o.Stop {
			for _, l := range h.lines {
				l.parts, l.last = l.parts[:l.sent], true
			}
		}
	}
	return append(frames, h.pump(now)...)
}

// meet notes a person, to whom companions speak as well.
func (h *Hose) meet(who string, by abi.ParticipantKind) {
	if by != abi.KindHuman || slices.Contains(h.people, who) {
		return
	}
	h.people = session.Newest(h.people, who, maxPeople)
}

func (h *Hose) line(id string) *line {
	i := slices.IndexFunc(h.lines, func(l *line) bool { return l.id == id })
	if i < 0 {
		return nil
	}
	return h.lines[i]
}

func (h *Hose) piece(p session.Piece) [][]byte {
	m := message{id: p.ID, from: p.Companion, to: p.To, text: p.Text, emotion: emotionOf(p.Emotion)}
	if p.Line == "" { // a listener's word
		return [][]byte{encode(h.messageFrame(m))}
	}
	l := h.line(p.Line)
	if l == nil {
		l = &line{id: p.Line, who: p.Companion, waited: h.plays}
		h.lines = append(h.lines, l)
	}
	l.parts = append(l.parts, part{p.Text, m.emotion})
	if !p.Last {
		return nil
	}
	l.last, l.message = true, m
	if l.over = p.Over; l.over {
		l.waited = false
	}
	return h.show(l)
}

func (h *Hose) whole(w session.Whole) [][]byte {
	l := h.line(w.Line)
	m := message{id: w.ID, from: w.Companion, to: w.To, text: w.Text, emotion: emotionOf(w.Emotion)}
	if l == nil { // it began before the client came
		return [][]byte{encode(h.messageFrame(m))}
	}
	l.last, l.message = true, m
	if w.End != "" { // nobody is waited for
		l.over, l.waited = true, false
	}
	return h.show(l)
}

// show gives the message of a line that nobody waits for. One that the client speaks comes when that is
// over, as from aikyo's tool.
func (h *Hose) show(l *line) [][]byte {
	if l.waited {
		return nil
	}
	return h.tell(l)
}

// tell gives the message of a line, once, and nothing while it is not known.
func (h *Hose) tell(l *line) [][]byte {
	if l.message.text == "" {
		return nil
	}
	m := l.message
	l.message = message{}
	return [][]byte{encode(h.messageFrame(m))}
}

func (h *Hose) ended(o session.Ended, now time.Time) [][]byte {
	l := h.line(o.Line)
	if l == nil {
		return nil
	}
	if l.waited && o.End != entry.EndSaid {
		l.message.text = o.Heard
	}
	l.over, l.last, l.until = true, true, now.Add(lingers)
	l.parts = l.parts[:l.sent] // what was not said by then is not said
	return h.tell(l)
}

// pump gives the queries that may go out, one of a line at a time, and forgets what is over.
func (h *Hose) pump(now time.Time) (frames [][]byte) {
	for _, l := range h.lines {
		if l.query == "" && l.sent < len(l.parts) {
			p := l.parts[l.sent]
			l.sent++
			l.query = fmt.Sprintf("%s-%d", l.id, l.sent)
			if !h.plays {
				h.asked = session.Newest(h.asked, l.query, maxLines)
			}
			if l.until = now.Add(speakPatience); !l.waited { // nobody knows whether it speaks
				l.until = now.Add(speech.Estimate(p.text) * 5 / 4)
			}
			frames = append(frames, encode(speakFrame(l.query, l.who, p)))
		}
	}
	h.lines = slices.DeleteFunc(h.lines, func(l *line) bool { return l.over && l.sent == len(l.parts) && !l.lingers(now) })
	h.lines = h.lines[max(0, len(h.lines)-maxLines):]
	return frames
}

// lingers says whether an answer about a line that is over is still of use.
func (l *line) lingers(now time.Time) bool {
	return l.waited && !l.told && now.Before(l.until)
}

// Own implements [session.Codec]: nothing is heard any more of a line that ended before its time.
func (h *Hose) Own() session.In {
	for _, l := range h.lines {
		if l.over && l.waited && !l.told && l.query == "" {
			l.told = true
			return session.Played{Line: l.id, Done: true}
		}
	}
	return nil
}

// Due implements [session.Codec].
func (h *Hose) Due() (at time.Time) {
	for _, l := range h.lines {
		if l.query != "" || l.over {
			at = session.Sooner(at, l.until)
		}
	}
	return at
}

// Late implements [session.Codec]: a query that was not answered is not waited for any more.
func (h *Hose) Late(now time.Time) [][]byte {
	for _, l := range h.lines {
		if l.query != "" && !now.Before(l.until) {
			l.query = ""
		}
	}
	return h.pump(now)
}

// Answer implements [session.Codec]: what was taken is not answered.
func (h *Hose) Answer(in session.In, err *abi.Error, now time.Time) (frames [][]byte) {
	switch in := in.(type) {
	case session.Hello:
		h.plays = in.Plays
	case asks:
		frames = [][]byte{encode(answerFrame{Version: "2.0", ID: in.id, Error: fmt.Sprintf("%.64q is asked of nobody here: companions ask, and clients answer", in.kind)})}
	case session.Input:
		if err != nil {
			h.said = slices.DeleteFunc(h.said, func(id string) bool { return id == in.As })
			frames = [][]byte{refusal(err, "body", "params")}
		}
	case session.Result:
		if err != nil && err.Code != abi.CodeNotFound { // another was first
			h.wants = session.Newest(h.wants, in.ID, maxLines)
			frames = [][]byte{refusal(err, "body", "result")}
		}
	case broken:
		frames = [][]byte{in.frame(err)}
	}
	return append(frames, h.pump(now)...)
}
