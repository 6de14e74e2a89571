// Package ollmv is the wire of Open-LLM-VTuber's front-end: a page that shows what one companion says, takes
// what a person types, and lets the person choose another companion.
//
// The front-end plays the sound that it is sent with each sentence, and says when the last one has ended. A page that is its
// companion's voice is sent the sound of each part of a line, when the one before has sounded, by when the page says that it
// began. Where there is no sound it shows a sentence and is done with it, so each goes out when the one before has been read.
//
// It knows neither connections nor rooms, reads no clock, and never says who somebody is.
package ollmv

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/socket/session"
	"github.com/companiond/companiond/host/emotion"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/speech"
)

const (
	waits    = 2 * time.Minute // until a person is told that nobody has answered
	maxLines = 16
	shown    = 100                    // messages of a history
	settles  = 150 * time.Millisecond // until a page that was interrupted has noticed that it thinks anew: it throws away sentences sooner
)

// Choice is a companion that the front-end can be turned to.
type Choice struct{ ID, Name string }

// Config is what a front stands on.
type Config struct {
	Companion string
	Room      string
	Speaker   string          // whose words it sends
	Model     string          // URL of a Live2D model, empty for none
	Choices   func() []Choice // the companions of the room
	// Sound gives the WAV that a hash stands for, where the page is the companion's voice; nil: it is not.
	Sound func(hash string) ([]byte, error)
	Key   []byte // the house's own, and secret: it stands between a name and the id of a message
}

// Front is one client.
type Front struct {
	Config

	messages int      // that it sent, for their ids
	sent     []string // ids of the newest of them
	lines    []*line
	waiting  time.Time // until when an answer is waited for; zero: none is
	upto     uint64    // seq of the newest message that waits for one
	own      []session.In
	deaf     bool      // it was interrupted, and throws away each sentence until it thinks anew
	ready    time.Time // it has noticed by then that it does
}

// line is one that is told.
type line struct {
	id        string // empty for a listener's word
	sentences []sentence
	shown     int
	next      time.Time // when the newest has been read
	last      bool      // no piece follows
	over      bool      // it has ended in the room
	begun     bool
	complete  bool      // the client was told that nothing more comes
	played    bool      // it has told that it is done
	told      int       // so many of its sentences were read or have sounded, by what the room knows
	hushed    bool      // the client has silenced it itself
	mute      bool      // no sound came in time
	patience  time.Time // until when the next sentence's is waited for; zero: it is not its turn
}

type sentence struct {
	text    string
	emotion emotion.Word
	part    int // of the line that ends with it; 0: none does
	of      int // part of the line that it is of
	sound   sound
	there   bool // its sound is, or none will come
	begun   bool // the page has told that it sounds
}

var _ session.Codec = (*Front)(nil)

// New makes the wire of a client.
func New(c Config) *Front { return &Front{Config: c} }

// name gives what a companion is called.
func (f *Front) name(id string) string {
	for _, c := range f.Choices() {
		if c.ID == id && c.Name != "" {
			return c.Name
		}
	}
	return id
}

// Begin implements [session.Codec].
func (f *Front) Begin(time.Time) [][]byte {
	return [][]byte{
		[]byte(`{"type":"group-update","members":[],"is_owner":false}`),
		encode(frame{Type: fullText, Text: f.name(f.Companion)}),
		encode(f.setModel()),
	}
}

// Encode implements [session.Codec].
func (f *Front) Encode(o session.Out, now time.Time) (frames [][]byte) {
	switch o := o.(type) {
	case session.Piece:
		f.piece(o)
	case session.Whole:
		if l := f.line(o.Line); l != nil {
			l.last, l.over = true, l.over || o.End != ""
		}
	case session.Sound:
		f.sounds(o)
	case session.Ended:
		frames = f.ended(o)
	case session.Said:
		frames = f.said(o)
	case session.Passed:
		frames = f.passed(o)
	}
	return append(frames, f.pump(now)...)
}

func (f *Front) line(id string) *line {
	i := slices.IndexFunc(f.lines, func(l *line) bool { return l.id == id && id != "" })
	if i < 0 {
		return nil
	}
	return f.lines[i]
}

func (f *Front) piece(p session.Piece) {
	l := f.line(p.Line)
	if l == nil {
		l = &line{id: p.Line}
		f.lines = append(f.lines, l)
	}
	ends := []int{len(p.Text)}
	voiced := f.Sound != nil && p.Line != "" // a part has one sound
	if !voiced {
		ends = append(speech.Sentences(p.Text), ends...)
	}
	from := 0
	for _, end := range ends {
		if s := p.Text[from:end]; strings.TrimSpace(s) != "" {
			l.sentences = append(l.sentences, sentence{text: s, emotion: p.Emotion, of: p.Part, there: !voiced})
		}
		from = end
	}
	if n := len(l.sentences); n > l.shown {
		l.sentences[n-1].part = p.Part
	}
	l.last, l.over = p.Last || p.Line == "", p.Over || p.Line == ""
}

// ended takes back what was not shown of a line that ended before its time, and silences the client.
func (f *Front) ended(o session.Ended) [][]byte {
	l := f.line(o.Line)
	if l == nil {
		return nil
	}
	l.last, l.over = true, true
	if o.End == entry.EndSaid {
		return nil
	}
	l.drop()
	if !l.begun || l.hushed || f.deaf {
		return nil
	}
	f.deaf = true
	return [][]byte{encode(frame{Type: "interrupt-signal"})}
}

// drop takes back what was not shown.
func (l *line) drop() { l.sentences, l.next, l.last = l.sentences[:l.shown], time.Time{}, true }

// said shows what people say elsewhere; the page shows by itself what was typed there.
func (f *Front) said(o session.Said) [][]byte {
	if o.By != abi.KindHuman {
		return nil
	}
	if slices.Contains(f.sent, o.ID) {
		f.upto = max(f.upto, o.Seq)
		return nil
	}
	return [][]byte{encode(frame{Type: "user-input-transcription", Text: o.From + ": " + o.Text})}
}

// passed ends the waiting for an answer that does not come.
func (f *Front) passed(o session.Passed) [][]byte {
	if o.Stop {
		for _, l := range f.lines {
			l.drop()
		}
	}
	if f.waiting.IsZero() || f.upto == 0 || o.Upto < f.upto {
		return nil
	}
	f.waiting = time.Time{}
	return [][]byte{encode(frame{Type: fullText, Text: "…"}), encode(control(chainEnd))}
}

// pump gives the frames that are due: the sentences of a line one after the other, each when the one
// before was read, and then its end.
func (f *Front) pump(now time.Time) (frames [][]byte) {
	for _, l := range f.lines {
		f.sounded(l, now)
		for l.shown < len(l.sentences) && !now.Before(l.next) {
			if !l.begun {
				if f.waiting.IsZero() || f.deaf { // else it thinks already
					frames = append(frames, f.think(now))
				}
				l.begun, f.waiting, f.upto = true, time.Time{}, 0
			}
			if now.Before(f.ready) {
				l.next = f.ready
				break
			}
			if !l.sounding(now) {
				break
			}
			f.played(l)
			s := &l.sentences[l.shown]
			l.shown++
			frames = append(frames, encode(f.spoken(*s)))
			if s.sound.length > 0 {
				s.sound.wav, l.next = nil, now.Add(s.sound.length)
				f.own = append(f.own, session.Played{Line: l.id, Part: s.of, Seconds: s.sound.length.Seconds()})
				continue
			}
			l.next = now.Add(speech.Estimate(s.text))
			frames = append(frames, encode(frame{Type: fullText, Text: strings.TrimSpace(s.text)}))
		}
		frames = append(frames, f.finish(l, now)...)
	}
	f.lines = slices.DeleteFunc(f.lines, func(l *line) bool { return l.complete && l.over })
	f.lines = f.lines[max(0, len(f.lines)-maxLines):]
	return frames
}

// played tells the room that what was shown of a line was read, or has sounded, where it does not know.
func (f *Front) played(l *line) (news bool) {
	if l.id == "" || l.told == l.shown {
		return false
	}
	l.told = l.shown
	part := l.sentences[l.shown-1].part
	if part > 0 {
		f.own = append(f.own, session.Played{Line: l.id, Part: part})
	}
	return part > 0
}

// finish tells the client that nothing more comes of a line, and then, when that has been played or the line is over in
// the room, that the talk goes on; a page that thinks already goes on thinking.
func (f *Front) finish(l *line, now time.Time) (frames [][]byte) {
	if l.last && l.shown == len(l.sentences) && !l.complete && !now.Before(l.next) {
		if l.complete = true; l.begun {
			frames = append(frames, encode(frame{Type: "backend-synth-complete"}))
		}
	}
	if l.complete && l.over && l.begun {
		if frames = append(frames, encode(frame{Type: "force-new-message"})); f.waiting.IsZero() {
			frames = append(frames, encode(control(chainEnd)))
		}
	}
	return frames
}

// think has the page begin anew. One that was interrupted takes a while to notice: the first sentence waits for that.
func (f *Front) think(now time.Time) []byte {
	if f.deaf {
		f.deaf, f.ready = false, now.Add(settles)
	}
	return encode(control(chainStart))
}

// hush notes that the page has silenced itself, whatever the room says to it; err is nil where the room was stopped.
func (f *Front) hush(in session.Cancel, err *abi.Error) {
	f.deaf = true
	for _, l := range f.lines {
		if err == nil && !in.Idle {
			l.drop()
			l.hushed = true
		}
	}
}

// Own implements [session.Codec].
func (f *Front) Own() session.In {
	if len(f.own) == 0 {
		return nil
	}
	in := f.own[0]
	f.own = f.own[1:]
	return in
}

// Due implements [session.Codec].
func (f *Front) Due() (at time.Time) {
	at = f.waiting
	for _, l := range f.lines {
		if l.shown < len(l.sentences) || l.last && !l.complete || f.Sound != nil && l.told < l.shown && !l.last {
			at = session.Sooner(at, later(l.next, l.patience))
		}
	}
	return at
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Late implements [session.Codec].
func (f *Front) Late(now time.Time) (frames [][]byte) {
	if !f.waiting.IsZero() && !now.Before(f.waiting) {
		f.waiting, f.upto = time.Time{}, 0
		frames = [][]byte{problem(fmt.Sprintf("nobody has answered within %v; an answer may still come", waits)), encode(control(chainEnd))}
	}
	return append(frames, f.pump(now)...)
}

// Answer implements [session.Codec].
func (f *Front) Answer(in session.In, err *abi.Error, now time.Time) (frames [][]byte) {
	if cancel, is := in.(session.Cancel); is {
		f.hush(cancel, err)
	}
	if _, told := in.(session.Played); err != nil && !told {
		frames = [][]byte{problem(err.Message)}
		switch in.(type) {
		case session.Input:
			frames = append(frames, encode(control(chainEnd)))
		case session.Switch: // it would wait for the other for ever
			frames = append(frames, encode(f.setModel()), encode(frame{Type: fullText, Text: f.name(f.Companion)}))
		}
		return append(frames, f.pump(now)...)
	}
	switch in := in.(type) {
	case session.Input:
		frames = f.taken(in, now)
	case session.Past:
		frames = [][]byte{f.past(in)}
	case session.Switch:
		f.Companion, f.lines, f.waiting = in.Companion, nil, time.Time{}
		frames = [][]byte{encode(f.setModel()), encode(frame{Type: "config-switched", Message: "Switched to " + f.name(in.Companion)})}
	case reply:
		frames = in.frames
	}
	return append(frames, f.pump(now)...)
}

// taken has the page think.
func (f *Front) taken(in session.Input, now time.Time) [][]byte {
	if in.Text == "" { // an image alone is seen
		return nil
	}
	f.sent = append(f.sent, in.As)
	f.sent = f.sent[max(0, len(f.sent)-shown):]
	f.waiting, f.upto = now.Add(waits), in.Seq
	return [][]byte{f.think(now), encode(frame{Type: fullText, Text: "Thinking..."})}
}

// messageID makes the id of a message: none is the same as that of another.
func (f *Front) messageID(now time.Time) string {
	f.messages++
	return fmt.Sprintf("ollmv.%s.%d-%d", session.Alias(f.Key, f.Speaker), now.UnixNano(), f.messages)
}
