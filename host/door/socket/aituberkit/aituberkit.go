// Package aituberkit is the wire of AITuberKit's external linkage, version 2 and what was before
// it: a web page that gives one companion its face and its voice.
//
// A client is sent session.ready at once and says with session.hello that it knows version 2;
// one that says anything else first, or nothing yet, is sent the older frames, which every
// version understands. A line goes out sentence by sentence, for each is made one sound, and
// none before the last one was spoken: the wire has no word that silences a page, so that what is cut
// off must not be there yet. docs/stream.md has more.
//
// It knows neither connections nor rooms, reads no clock, and never says who somebody is.
package aituberkit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/socket/session"
	"github.com/companiond/companiond/host/entry"
)

const (
	waits     = 2 * time.Minute         // until a client is told that what it said has no answer yet
	maxWaits  = 64                      // messages that wait for an answer
	maxLines  = 16                      // lines that are told at a time
	maxID     = 128                     // bytes of an id of the client's
	hesitates = 1100 * time.Millisecond // behind a sentence while somebody speaks who may cut the line off: a little longer than a room does
	slow      = 10 * time.Second        // for a voice to be made, at most
	silence   = 2                       // lines of which a client that tells has told nothing: it is gone by as one that does not
)

// Front is one client.
type Front struct {
	room    string
	speaker string // what is in the ids of its messages
	before  string // what was in them before there was a key
	frames  int    // sent
	now2    bool   // it speaks version 2
	tells   bool   // it tells what it has spoken
	spoke   bool   // and has done so
	begun   bool   // it was sent a sentence
	silent  int    // lines in a row of which it did not, and the room had waited for that

	lines   []*line
	waiting []waiting
	past    bool    // it is told what had happened when it came, and speaks none of that
	owed    []*line // that the client asked for, and were over by then
}

// waiting is a message of the client's that was not answered yet.
type waiting struct {
	request string
	as      string // id of the message
	seq     uint64 // 0: not seen yet
	until   time.Time
	plain   bool
}

var _ session.Codec = (*Front)(nil)

// New makes the wire of a client in a room; speaker is whose words it sends. key is the house's
// own, and secret: what the ids of messages have of the name is made with it, so that they do not
// tell the name once that is forgotten.
func New(room, speaker string, key []byte) *Front {
	return &Front{room: room, speaker: session.Alias(key, speaker), before: short(speaker)}
}

// Follow has the client told first what had happened when it came, until a [session.Live]: of the
// lines in it those alone are spoken that are not over then. It comes before all else.
func (f *Front) Follow() { f.past = true }

// short stands for a text of any length, and tells it to whoever guesses it.
func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

// Begin implements [session.Codec].
func (f *Front) Begin(now time.Time) [][]byte {
	return [][]byte{f.frame(sessionReady, "", payload{Protocol: "2", Capabilities: []string{chatMessage, ping, cancel}}, now)}
}

// wire is the first part of the ids of messages that were said here. Behind it stands whose they are, and how the
// client named them: by that a client that connects anew is answered by the name it knows.
const wire = "atk"

// requestOf gives by which name the client knows a line: that of its message, which then waits no
// more, or one that is made of the line's.
func (f *Front) requestOf(p session.Piece, now time.Time) (request string, asked bool, frames [][]byte) {
	i := slices.IndexFunc(f.waiting, func(w waiting) bool { return p.Answers != "" && w.as == p.Answers })
	if i >= 0 {
		request = f.waiting[i].request
		for _, w := range f.waiting[:i] { // it was superseded
			frames = append(frames, f.done(w.plain, w.request, payload{Reason: "a newer message is answered"}, now))
		}
		f.waiting = slices.Delete(f.waiting, 0, i+1)
		return request, true, frames
	}
	request, ok := strings.CutPrefix(p.Answers, wire+"."+f.speaker+".")
	if !ok {
		request, ok = strings.CutPrefix(p.Answers, wire+"."+f.before+".")
	}
	if ok && !slices.ContainsFunc(f.lines, func(l *line) bool { return l.request == request }) {
		return request, true, nil
	}
	if p.Line == "" {
		return "word_" + p.ID, false, nil
	}
	return "line_" + p.Line, false, nil
}

// Encode implements [session.Codec].
func (f *Front) Encode(o session.Out, now time.Time) (frames [][]byte) {
	switch o := o.(type) {
	case session.Piece:
		frames = f.piece(o, now)
	case session.Whole:
		if l := f.line(o.Line); l != nil {
			l.last, l.emotion = true, o.Emotion
			l.add("", o.Parts)
			if l.over = o.End != ""; l.over && o.End != entry.EndSaid {
				l.drop()
			}
		}
	case session.Ended:
		f.ended(o)
	case session.Said:
		f.said(o, now)
	case session.Voice:
		f.wary(now)
	case session.Passed:
		frames = f.passed(o, now)
	case session.Live:
		frames = f.live(now)
	}
	return append(frames, f.pump(now)...)
}

func (f *Front) piece(p session.Piece, now time.Time) (frames [][]byte) {
	l := f.line(p.Line)
	if l == nil || p.Line == "" {
		l = &line{id: p.Line, plain: !f.now2, tells: f.now2 && f.tells && p.Line != ""}
		l.request, l.asked, frames = f.requestOf(p, now)
		f.lines = append(f.lines, l)
	}
	if l.closed {
		return frames
	}
	l.emotion, l.last, l.over = p.Emotion, p.Last || p.Line == "", p.Over || p.Line == ""
	l.add(p.Text, p.Part)
	return frames
}

// bury takes the lines that are over, while the client is told what had happened: somebody else
// is heard by now.
func (f *Front) bury() {
	f.lines = slices.DeleteFunc(f.lines, func(l *line) bool {
		if l.over && l.asked && !l.closed {
			f.owed = append(f.owed, l)
		}
		return l.over
	})
	f.lines = f.lines[max(0, len(f.lines)-maxLines):]
	f.owed = f.owed[max(0, len(f.owed)-maxWaits):]
}

// live begins what is spoken. What the client had asked for and missed is done.
func (f *Front) live(now time.Time) (frames [][]byte) {
	for _, l := range f.owed {
		frames = append(frames, f.done(l.plain, l.request, payload{Reason: "its line had ended when the connection began"}, now))
	}
	for _, l := range f.lines { // it may have said hello since
		l.plain, l.tells = !f.now2, f.now2 && f.tells && l.id != ""
	}
	f.past, f.owed = false, nil
	return frames
}

// line gives a line that is told, nil where there is none.
func (f *Front) line(id string) *line {
	i := slices.IndexFunc(f.lines, func(l *line) bool { return id != "" && l.id == id })
	if i < 0 {
		return nil
	}
	return f.lines[i]
}

// ended ends a line: all of it goes out that is not taken back. Where the client has told nothing for
// too long, somebody else is heard soon.
func (f *Front) ended(o session.Ended) {
	if o.Missed {
		f.silent++
	}
	l := f.line(o.Line)
	if l == nil {
		return
	}
	l.last, l.over = true, true
	l.add("", 0)
	if o.End != entry.EndSaid || o.Missed {
		l.drop()
	}
}

// said notes what people say: what the client said, and that somebody may cut a line off.
func (f *Front) said(o session.Said, now time.Time) {
	if o.By != abi.KindHuman {
		return
	}
	for i := range f.waiting {
		if f.waiting[i].as == o.ID {
			f.waiting[i].seq = o.Seq
		}
	}
	if o.Over {
		f.wary(now)
	}
}

func (f *Front) wary(now time.Time) {
	for _, l := range f.lines {
		l.wary = now
	}
}

// passed ends what waits for an answer that does not come.
func (f *Front) passed(o session.Passed, now time.Time) (frames [][]byte) {
	f.waiting = slices.DeleteFunc(f.waiting, func(w waiting) bool {
		over := w.seq > 0 && w.seq <= o.Upto
		if over {
			frames = append(frames, f.done(w.plain, w.request, payload{Reason: o.Reason}, now))
		}
		return over
	})
	for _, l := range f.lines {
		if o.Stop {
			l.drop()
		}
	}
	return frames
}

// Answer implements [session.Codec].
func (f *Front) Answer(in session.In, err *abi.Error, now time.Time) (frames [][]byte) {
	switch in := in.(type) {
	case session.Input:
		frames = f.answerMessage(in, err, now)
	case session.Cancel:
		frames = f.answerCancel(in, err, now)
	case pinged:
		frames = [][]byte{f.frame(pong, in.id, payload{}, now)}
	case session.Hello:
		f.now2, f.tells = true, in.Plays
	case broken:
		frames = [][]byte{f.refusal(!f.now2, in.id, err, now)}
	}
	return append(frames, f.pump(now)...)
}

func (f *Front) answerMessage(in session.Input, err *abi.Error, now time.Time) (frames [][]byte) {
	if err != nil {
		return [][]byte{f.refusal(!f.now2, in.ID, err, now)}
	}
	if f.now2 {
		frames = append(frames, f.frame(ack, in.ID, payload{RequestID: in.ID, Type: chatMessage, Status: "ok"}, now))
	}
	if in.Text == "" { // an image alone is seen, and may lead to a line or not
		return append(frames, f.done(!f.now2, in.ID, payload{}, now))
	}
	if slices.ContainsFunc(f.waiting, func(w waiting) bool { return w.as == in.As }) {
		return frames // it was sent again
	}
	if in.Over {
		if slices.ContainsFunc(f.lines, func(l *line) bool { return l.request == in.ID && !l.closed }) {
			return frames // the line is told
		}
		return append(frames, f.done(!f.now2, in.ID, payload{Reason: "it was said before, and its answer is over"}, now))
	}
	if len(f.waiting) == maxWaits {
		frames = append(frames, f.done(f.waiting[0].plain, f.waiting[0].request, payload{Reason: "many newer messages wait"}, now))
		f.waiting = f.waiting[1:]
	}
	f.waiting = append(f.waiting, waiting{request: in.ID, as: in.As, seq: in.Seq, until: now.Add(waits), plain: !f.now2})
	return frames
}

func (f *Front) answerCancel(in session.Cancel, err *abi.Error, now time.Time) (frames [][]byte) {
	if err != nil {
		return [][]byte{f.refusal(false, in.ID, err, now)}
	}
	yes, no := true, false
	frames = append(frames, f.frame(ack, in.ID, payload{RequestID: in.ID, Type: cancel, Status: "ok"}, now))
	if in.Idle {
		if in.Line != "" {
			frames = append(frames, f.done(false, in.Line, payload{Cancelled: &no}, now))
		}
		return frames
	}
	for _, w := range f.waiting {
		frames = append(frames, f.done(w.plain, w.request, payload{Cancelled: &yes}, now))
	}
	f.waiting = nil
	for _, l := range f.lines {
		if !l.closed {
			l.drop()
			l.closed, l.spoken = true, l.sent // whoever stops it silences itself
			frames = append(frames, f.done(l.plain, l.request, payload{Cancelled: &yes}, now))
		}
	}
	return frames
}

// Own implements [session.Codec]: nothing more is heard of a line that ended before its time, by the
// client's word or because what it was sent must be over by now.
func (f *Front) Own() session.In {
	for _, l := range f.lines {
		if l.over && l.tells && !l.told && !l.still {
			l.told = true
			return session.Played{Line: l.id, Done: true}
		}
	}
	return nil
}

// Due implements [session.Codec].
func (f *Front) Due() (at time.Time) {
	for _, w := range f.waiting {
		at = session.Sooner(at, w.until)
	}
	for _, l := range f.lines {
		at = session.Sooner(at, l.due())
	}
	return at
}

// Late implements [session.Codec].
func (f *Front) Late(now time.Time) (frames [][]byte) {
	f.waiting = slices.DeleteFunc(f.waiting, func(w waiting) bool {
		late := !now.Before(w.until)
		if late {
			why := abi.Errorf(abi.CodeTimeout, "nobody has answered within %v; an answer may still come", waits)
			frames = append(frames, f.refusal(w.plain, w.request, abi.AsError(why), now))
		}
		return late
	})
	return append(frames, f.pump(now)...)
}

// unique is the id of a message whose client gives none.
func (f *Front) unique(now time.Time) string {
	f.frames++
	return fmt.Sprintf("%sh.%s.%d-%d", wire, f.speaker, now.UnixNano(), f.frames)
}
