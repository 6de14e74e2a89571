package overlay_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/waittest"
)

// tone makes a sound of so many milliseconds, as a voice would: no two of other lengths are one blob.
func tone(ms int) abi.Blob {
	const rate = 8000
	n := rate * ms / 1000
	var b bytes.Buffer
	b.WriteString("RIFF")
	for _, x := range []any{
		uint32(36 + n), []byte("WAVEfmt "), uint32(16), uint16(1), uint16(1), uint32(rate), uint32(rate), uint16(1), uint16(8), []byte("data"), uint32(n),
	} {
		_ = binary.Write(&b, binary.LittleEndian, x) // a buffer takes all
	}
	for i := range n {
		b.WriteByte(byte(128 + 40*math.Sin(2*math.Pi*440*float64(i)/rate)))
	}
	return abi.Blob{Type: "audio/wav", Bytes: b.Bytes()}
}

// teller is a companion that says each of its lines once, piece by piece, and listens then.
type teller struct {
	house *doortest.House
	id    string
	mind  float64

	mu    sync.Mutex
	lines [][]string
}

var _ room.Companion = (*teller)(nil)

func (*teller) Describe() abi.Description {
	return abi.Description{ABI: "1", Ops: []string{abi.OpVote, abi.OpSpeak}}
}

func (*teller) Permit(abi.ActionAsk) (string, error) { return "", nil }

func (c *teller) Call(ctx context.Context, req abi.Request) (json.RawMessage, error) {
	return module.Answer(req.Data, func(abi.Scene) (any, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if req.Op == abi.OpVote {
			if len(c.lines) == 0 {
				return abi.Vote{State: abi.Listen}, nil
			}
			return abi.Vote{State: abi.Speak, Importance: c.mind}, nil
		}
		if len(c.lines) == 0 {
			return abi.Line{}, nil
		}
		pieces := c.lines[0]
		c.lines = c.lines[1:]
		for _, text := range pieces {
			if err := c.house.Segment(ctx, req.Room, c.id, req.ID, abi.SayAsk{Text: text}); err != nil {
				return nil, err
			}
		}
		return abi.Line{}, nil
	})
}

// say gives the companion one more line.
func (c *teller) say(pieces ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, pieces)
}

// listensIn is what a page does with sounds, with how long each is, and when: it stands before the page's own script.
const listensIn = `window.audioLog = [];
for (const what of ["start", "stop"]) {
  const was = AudioBufferSourceNode.prototype[what];
  AudioBufferSourceNode.prototype[what] = function (...given) {
    window.audioLog.push([what, this.buffer.duration, performance.now(), document.getElementById("said").textContent]);
    if (what === "start") this.addEventListener("ended", () => window.audioLog.push(["ended", this.buffer.duration, performance.now()]));
    return was.apply(this, given);
  };
}`

// sounding is what the page did with a sound.
type sounding struct {
	what    string
	seconds float64
	at      float64 // milliseconds
	said    string  // on the page then
}

func (b *browser) heard() (all []sounding) {
	b.t.Helper()
	var rows [][]any
	if got := b.Eval(`JSON.stringify(window.audioLog)`); json.Unmarshal([]byte(got), &rows) != nil {
		b.t.Fatalf("the page has heard %q: %s", got, b.Eval(`document.documentElement.outerHTML.slice(0, 300)`))
	}
	for _, r := range rows {
		s := sounding{what: r[0].(string), seconds: r[1].(float64), at: r[2].(float64)}
		if len(r) > 3 {
			s.said = r[3].(string)
		}
		all = append(all, s)
	}
	return all
}

// hears waits until the page has done something with a sound of so many seconds.
func (b *browser) hears(what string, seconds float64) sounding {
	b.t.Helper()
	var found sounding
	waittest.Until(b.t, fmt.Sprintf("a sound of %v s: %s", seconds, what), func() bool {
		i := slices.IndexFunc(b.heard(), func(s sounding) bool { return s.what == what && math.Abs(s.seconds-seconds) < 0.001 })
		if i >= 0 {
			found = b.heard()[i]
		}
		return i >= 0
	})
	return found
}

// audible is a house in which somebody speaks and is heard.
type audible struct {
	*daemon
	room       *doortest.Room
	aya, kyoko *teller
}

func newAudible(t *testing.T) *audible {
	s := doortest.Settings("main", "*")
	s.Rules.Auto, s.Rules.Ahead, s.Rules.Interrupt, s.Rules.Interrupters = true, 30, entry.InterruptNow, []string{"*"}
	d := newDaemonOf(doortest.NewHouseOf(t, s), t)
	a := &audible{daemon: d, room: d.house.Get("main"), aya: &teller{house: d.house, id: "aya", mind: 9}, kyoko: &teller{house: d.house, id: "kyoko", mind: 3}}
	a.room.Play("aya", a.aya)
	a.room.Play("kyoko", a.kyoko)
	return a
}

func (a *audible) say(text string) {
	a.t.Helper()
	err := fmt.Errorf("not yet")
	waittest.Until(a.t, "it is said", func() bool {
		_, err = a.room.Say(a.t.Context(), rooms.Utterance{From: "taro", Text: text})
		return err == nil
	})
}

// find waits for the first entry of a kind that is the one, and gives it.
func find[T any](a *audible, kind entry.Kind, what string, is func(T) bool) (e entry.Entry, body T) {
	a.t.Helper()
	waittest.Until(a.t, what, func() bool {
		for _, x := range a.room.Journal() {
			if x.Kind != kind {
				continue
			}
			b, err := entry.Decode[T](x)
			if err != nil {
				a.t.Fatal(err)
			}
			if is(b) {
				e, body = x, b
				return true
			}
		}
		return false
	})
	return e, body
}

// part waits until a part of somebody's line has gone out, and gives the line.
func (a *audible) part(who, text string) (line string, n int) {
	a.t.Helper()
	_, b := find(a, entry.KindSegment, who+" says "+text, func(b entry.Segment) bool { return b.Who == who && b.Text == text })
	return b.Grant, b.N
}

// sounds does what a voice does: it puts a sound of a part, and tells the room.
func (a *audible) sounds(who, text string, ms int) (line string) {
	a.t.Helper()
	line, n := a.part(who, text)
	ref, err := a.blobs.Put(tone(ms))
	if err == nil {
		err = a.room.Sound(a.t.Context(), who, "voice", abi.Sound{Companion: who, Line: line, Part: n, Blob: ref, Seconds: float64(ms) / 1000})
	}
	if err != nil {
		a.t.Fatal(err)
	}
	return line
}

// told gives what bodies told of a line, in order.
func (a *audible) told(line string) (words []string) {
	for _, e := range a.room.Journal() {
		switch e.Kind {
		case entry.KindPlayed:
			if b, err := entry.Decode[entry.Played](e); err == nil && b.Line == line {
				words = append(words, fmt.Sprintf("%d %.1f", b.Part, b.Seconds))
			}
		case entry.KindHeard:
			if b, err := entry.Decode[entry.Heard](e); err == nil && b.Line == line {
				words = append(words, string(b.End)+" "+b.Why)
			}
		}
	}
	return words
}

// mouths waits until so many bodies of a companion are there.
func (a *audible) mouths(who string, n int) {
	a.t.Helper()
	waittest.Until(a.t, fmt.Sprintf("%s has %d bodies", who, n), func() bool { return a.room.Bodies(who) == n })
}

var audibly = []string{"--autoplay-policy=no-user-gesture-required", "--mute-audio"}

// TestSoundInChromium: a page with ?sound is the mouth of its companions. It plays the parts of a line in order, its words
// come with their sound, it tells how long each takes and that it was played, and the next companion begins only then; a part
// without a sound is passed; a line that is cut off or stopped falls silent in its middle; and a second page makes no second voice.
func TestSoundInChromium(t *testing.T) {
	a := newAudible(t)
	b := browseWith(t, a.url+"/overlay/main?sound", listensIn, audibly...)
	a.mouths("aya", 1)
	a.mouths("kyoko", 1)

	a.aya.say("One. ", "Two. ")
	a.kyoko.say("Three.")
	a.say("aya, good evening")
	a.part("aya", "Two. ")
	line := a.sounds("aya", "Two. ", 410) // which is ready first
	if got := b.Eval(`document.getElementById("said").textContent`); strings.Contains(got, "One") {
		t.Errorf("before it sounds the page shows %q", got)
	}
	a.sounds("aya", "One. ", 730)
	first, second := b.hears("start", 0.73), b.hears("start", 0.41)
	if gap := second.at - first.at; gap < 730-20 {
		t.Errorf("the second part began %v ms after the first", gap)
	}
	b.hears("ended", 0.41)
	if first.said != "One. " || second.said != "One. Two. " {
		t.Errorf("with the sounds came %q, then %q", first.said, second.said)
	}
	end, _ := find(a, entry.KindHeard, "aya was heard", func(b entry.Heard) bool { return b.Line == line })
	if got, want := a.told(line), []string{"1 0.7", "1 0.0", "2 0.4", "2 0.0", "said played"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	next, _ := find(a, entry.KindSegment, "kyoko says", func(b entry.Segment) bool { return b.Who == "kyoko" })
	if next.Seq < end.Seq || next.At.Before(end.At) {
		t.Errorf("kyoko begins with entry %d, and aya was heard with %d", next.Seq, end.Seq)
	}

	ref, err := a.blobs.Put(tone(20_000))
	line, n := a.part("kyoko", "Three.")
	if err == nil {
		err = a.room.Sound(t.Context(), "kyoko", "voice", abi.Sound{Companion: "kyoko", Line: line, Part: n, Blob: ref, Seconds: 20})
	}
	if err != nil {
		t.Fatal(err)
	}
	b.hears("start", 20)
	b.shows("kyoko: Three.")
	find(a, entry.KindPlayed, "the page has told how long it takes", func(b entry.Played) bool { return b.Line == line && b.Seconds > 0 })
	a.say("wait!") // a person speaks over it
	b.hears("stop", 20)
	if got := a.told(line); len(got) != 2 || got[0] != "1 20.0" || !strings.HasPrefix(got[1], "cut ") {
		t.Errorf("told of the line that was cut off: %q", got)
	}
	b.shows("")

	twice := browseWith(t, a.url+"/overlay/main/aya?sound&preview", listensIn, audibly...)
	twice.tells("the sound of all in room main is played elsewhere already")
	a.mouths("aya", 1)

	a.aya.say("Four. ", "Five.")
	a.say("aya, go on")
	line, _ = a.part("aya", "Five.")
	if err := a.room.Sound(t.Context(), "aya", "voice", abi.Sound{Companion: "aya", Line: line, Part: 1, Failed: "no voice"}); err != nil {
		t.Fatal(err)
	}
	b.shows("aya: Four. ")
	a.sounds("aya", "Five.", 15_000)
	b.hears("start", 15)
	twice.shows("aya: Four. Five.") // it goes by the word of the other
	if _, err := a.room.Stop(t.Context(), "taro"); err != nil {
		t.Fatal(err)
	}
	b.hears("stop", 15)
	b.shows("")
	if len(twice.heard()) != 0 {
		t.Errorf("two pages sound: %+v", twice.heard())
	}
	began := slices.DeleteFunc(b.heard(), func(s sounding) bool { return s.what != "start" })
	if len(began) != 4 || began[0].seconds != 0.73 {
		t.Errorf("%+v", began)
	}

	b.Must("Page.navigate", map[string]any{"url": "about:blank"}, nil) // the other has its place then
	a.mouths("kyoko", 0)
	twice.tells("")
	a.mouths("aya", 1)
}

// TestNoSoundBeforeAClick: a browser that lets no page play before somebody clicks has no mouth, so that no room waits for it,
// and the preview says so; its lines are shown all the same. With a click it becomes one.
func TestNoSoundBeforeAClick(t *testing.T) {
	a := newAudible(t)
	b := browseWith(t, a.url+"/overlay/main/aya?sound&preview", listensIn, "--mute-audio")
	b.tells("click for sound")
	a.aya.say("Nobody says this aloud.")
	a.say("aya, good evening")
	b.shows("aya: Nobody says this aloud.")
	if n := a.room.Bodies("aya"); n != 0 {
		t.Errorf("the page counts as %d bodies", n)
	}
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.Must("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": 50, "y": 50, "button": "left", "clickCount": 1}, nil)
	}
	a.mouths("aya", 1)
	b.tells("")
	a.vanish()
	b.tells("companiond cannot be reached")
	a.mouths("aya", 0)
	a.open()
	b.tells("")
	a.mouths("aya", 1)
	a.aya.say("And this is heard.")
	a.say("aya, go on")
	a.sounds("aya", "And this is heard.", 500)
	b.hears("ended", 0.5)
	_, heard := find(a, entry.KindHeard, "it was heard", func(entry.Heard) bool { return true })
	if heard.Why != "played" {
		t.Errorf("%+v", heard)
	}
}
