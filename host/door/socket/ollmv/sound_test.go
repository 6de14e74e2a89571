package ollmv

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/socket/session"
	"github.com/companiond/companiond/host/entry"
)

// tone is a WAV of 16 bits, as loud as each of the levels for 20 ms.
func tone(levels ...int16) []byte {
	const rate = 8000
	var samples []byte
	for _, level := range levels {
		for range rate * sliceMS / 1000 {
			samples = binary.LittleEndian.AppendUint16(samples, uint16(level))
		}
	}
	b := []byte("RIFF....WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00")
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = binary.LittleEndian.AppendUint32(b, 2*rate)
	b = append(b, 2, 0, 16, 0)
	b = append(b, "LIST\x03\x00\x00\x00abc\x00data"...)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(samples))), samples...)
}

func TestVolumes(t *testing.T) {
	if got := volumes(tone(0, 1000, -2000)); !reflect.DeepEqual(got, []float64{0, .5, 1}) {
		t.Errorf("%v", got)
	}
	long := tone(5)
	for _, b := range [][]byte{nil, []byte("RIFF"), long[:30], slices.Concat(long[:20], []byte{3}, long[21:])} {
		if got := volumes(b); len(got) != 0 {
			t.Errorf("%q: %v", b, got)
		}
	}
}

func FuzzVolumes(f *testing.F) {
	f.Add(tone(1, 2, 3))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, v := range volumes(b) {
			if v < 0 || v > 1 {
				t.Errorf("%v", v)
			}
		}
	})
}

// voiced is a page that is the companion's voice.
func voiced(t *testing.T) *stage {
	s := on(t)
	s.Sound = func(hash string) ([]byte, error) {
		if hash == "gone" {
			return nil, abi.Errorf(abi.CodeNotFound, "it is gone")
		}
		return tone(100), nil
	}
	return s
}

// words gives what the wire tells the room by itself.
func (s *stage) words() (all []session.In) {
	for in := s.Own(); in != nil; in = s.Own() {
		all = append(all, in)
	}
	return all
}

// heard gives what was sent of a line: each part's text, and whether it sounds.
func (s *stage) heard() (all []string) {
	for _, raw := range s.got {
		var f audioFrame
		if err := json.Unmarshal([]byte(raw), &f); err != nil {
			s.Error(err)
		}
		if f.Type == "audio" {
			all = append(all, fmt.Sprintf("%s%v%d", f.Display.Text, f.Audio != nil, len(f.Volumes)))
		}
	}
	s.got = nil
	return all
}

// TestSounds: a part is sent with its sound when the one before has sounded, whatever comes first; the room is told how long it takes
// and that the one before was played. A part is not cut into sentences, for it has one sound.
func TestSounds(t *testing.T) {
	s := voiced(t)
	s.tell(session.Piece{Entry: at(6), ID: "m", Line: "g", Part: 1, Text: "One. Two."})
	s.tell(session.Piece{Entry: at(7), ID: "m", Line: "g", Part: 2, Text: "Three."})
	s.tell(session.Sound{Entry: at(8), Line: "g", Part: 2, Blob: "b", Seconds: 1})
	s.passes(time.Second)
	if got := s.heard(); got != nil {
		t.Errorf("%q is sent before its sound", got)
	}
	s.tell(session.Sound{Entry: at(9), Line: "g", Part: 1, Blob: "a", Seconds: 2})
	s.tell(session.Sound{Entry: at(9), Line: "g", Part: 1, Blob: "a", Seconds: 2})
	s.tell(session.Sound{Entry: at(9), Line: "other", Part: 1, Blob: "a", Seconds: 2})
	if got := s.heard(); !slices.Equal(got, []string{"One. Two.true1"}) {
		t.Errorf("%q", got)
	}
	if got := s.words(); !reflect.DeepEqual(got, []session.In{session.Played{Line: "g", Part: 1, Seconds: 2}}) {
		t.Errorf("%+v", got)
	}
	s.passes(1900 * time.Millisecond)
	if got := s.heard(); got != nil {
		t.Errorf("%q is sent while the one before sounds", got)
	}
	s.passes(200 * time.Millisecond)
	if got := s.heard(); !slices.Equal(got, []string{"Three.true1"}) {
		t.Errorf("%q", got)
	}
	if got := s.words(); !reflect.DeepEqual(got, []session.In{session.Played{Line: "g", Part: 1}, session.Played{Line: "g", Part: 2, Seconds: 1}}) {
		t.Errorf("%+v", got)
	}
	s.tell(session.Whole{Entry: at(10), Line: "g", Parts: 2})
	s.passes(time.Second)
	if got := s.types(); got != "backend-synth-complete" {
		t.Errorf("%s", got)
	}
}

// TestNoSound: where none comes a part is sent in silence, the first after six seconds and the next after one; so is one whose sound
// failed, at once, or is gone.
func TestNoSound(t *testing.T) {
	s := voiced(t)
	s.tell(session.Piece{Entry: at(6), ID: "m", Line: "g", Part: 1, Text: "One."})
	s.passes(soon - time.Millisecond)
	if got := s.heard(); got != nil {
		t.Errorf("%q", got)
	}
	s.passes(time.Millisecond)
	s.tell(session.Sound{Entry: at(7), Line: "g", Part: 1, Blob: "late", Seconds: 1})
	s.tell(session.Piece{Entry: at(8), ID: "m", Line: "g", Part: 2, Text: "Two."})
	s.passes(soon / 2)
	s.tell(session.Piece{Entry: at(9), ID: "m", Line: "g", Part: 3, Text: "Three."})
	s.tell(session.Sound{Entry: at(10), Line: "g", Part: 3, Failed: "no voice"})
	s.tell(session.Piece{Entry: at(11), ID: "m", Line: "g", Part: 4, Text: "Four."})
	s.tell(session.Sound{Entry: at(12), Line: "g", Part: 4, Blob: "gone", Seconds: 1})
	s.passes(soon)
	if got := s.heard(); !slices.Equal(got, []string{"One.false0", "Two.false0", "Three.false0", "Four.false0"}) {
		t.Errorf("%q", got)
	}
}

// TestSoundsEnd: of a line that is cut off no more goes out, and a sound that comes then is nobody's.
func TestSoundsEnd(t *testing.T) {
	s := voiced(t)
	s.tell(session.Piece{Entry: at(6), ID: "m", Line: "g", Part: 1, Text: "One."})
	s.tell(session.Sound{Entry: at(7), Line: "g", Part: 1, Blob: "a", Seconds: 9})
	s.tell(session.Piece{Entry: at(8), ID: "m", Line: "g", Part: 2, Text: "Two."})
	s.heard()
	s.tell(session.Ended{Entry: at(9), Line: "g", End: entry.EndStopped})
	if got := s.types(); got != "interrupt-signal|backend-synth-complete|force-new-message|control conversation-chain-end" {
		t.Errorf("%s", got)
	}
	s.tell(session.Sound{Entry: at(10), Line: "g", Part: 2, Blob: "a", Seconds: 1})
	s.passes(time.Minute)
	if got := s.heard(); got != nil {
		t.Errorf("%q", got)
	}
}

// begins has the page tell that a sentence begins.
func (s *stage) begins(text string) {
	raw, _ := json.Marshal(display{Text: text, Name: "Aya"})
	s.says(`{"type":"audio-play-start","display_text":`+string(raw)+`,"forwarded":true}`, nil)
}

// TestTheRoomKnowsInTime: it is told that a part was played when that has sounded, though nothing comes behind it yet, and before the
// next is sent: a line that it then ends behind that part goes no further. Of the last part the page tells.
func TestTheRoomKnowsInTime(t *testing.T) {
	s := voiced(t)
	s.tell(session.Piece{Entry: at(6), ID: "m", Line: "g", Part: 1, Text: "One."})
	s.tell(session.Sound{Entry: at(7), Line: "g", Part: 1, Blob: "a", Seconds: 2})
	s.words()
	s.passes(2 * time.Second)
	if got := s.words(); !reflect.DeepEqual(got, []session.In{session.Played{Line: "g", Part: 1}}) {
		t.Errorf("%+v", got)
	}
	for n := 2; n <= 3; n++ {
		s.tell(session.Piece{Entry: at(8), ID: "m", Line: "g", Part: n, Text: "More."})
		s.tell(session.Sound{Entry: at(9), Line: "g", Part: n, Blob: "a", Seconds: 2})
	}
	s.passes(answers)
	s.heard()
	s.words()
	s.passes(2*time.Second - 1)
	if got := s.words(); got != nil {
		t.Errorf("%+v while it sounds", got)
	}
	s.passes(1)
	if got := s.words(); !reflect.DeepEqual(got, []session.In{session.Played{Line: "g", Part: 2}}) {
		t.Errorf("%+v", got)
	}
	s.tell(session.Ended{Entry: at(10), Line: "g", End: entry.EndCut})
	s.passes(time.Minute)
	if got := s.types(); got != "interrupt-signal|backend-synth-complete|force-new-message|control conversation-chain-end" {
		t.Error(got)
	}

	s = voiced(t)
	s.tell(session.Piece{Entry: at(6), ID: "m", Line: "g", Part: 1, Last: true, Text: "One."})
	s.tell(session.Sound{Entry: at(7), Line: "g", Part: 1, Blob: "a", Seconds: 2})
	s.words()
	s.passes(time.Minute)
	if got := s.words(); got != nil {
		t.Errorf("%+v", got)
	}
	if in := s.says(`{"type":"frontend-playback-complete"}`, nil); in != (session.Played{Line: "g", Done: true}) {
		t.Errorf("%+v", in)
	}
}

// TestAPageBeginsLate: a part is over as long after the page has begun it as it takes; the page's word counts once for each.
func TestAPageBeginsLate(t *testing.T) {
	s := voiced(t)
	for n, text := range []string{"One.", "Two.", "Two."} {
		s.tell(session.Piece{Entry: at(6), ID: "m", Line: "g", Part: n + 1, Text: text})
		s.tell(session.Sound{Entry: at(7), Line: "g", Part: n + 1, Blob: "a", Seconds: 2})
	}
	s.says(`{"type":"audio-play-start"}`, nil)
	s.says(`{"type":"audio-play-start","display_text":7}`, nil)
	s.begins("Two.")
	s.passes(time.Second)
	s.begins("One.")
	s.passes(time.Second)
	s.begins("One.")
	s.passes(time.Second - 1)
	if got := s.heard(); !slices.Equal(got, []string{"One.true1"}) {
		t.Errorf("%q", got)
	}
	s.passes(1 + answers)
	s.begins("Two.")
	s.passes(2*time.Second + answers)
	if got := s.heard(); !slices.Equal(got, []string{"Two.true1", "Two.true1"}) {
		t.Errorf("%q", got)
	}
	s.begins("Two.")
	s.begins("Two.")
	if at := s.Due(); !at.Equal(s.now.Add(2 * time.Second)) {
		t.Errorf("the last is over at %v, %v from now", at, at.Sub(s.now))
	}
}

// TestInterruptedWhileItSounds: of the part that sounds the page has shown all, and not yet said it: what was heard are those before.
func TestInterruptedWhileItSounds(t *testing.T) {
	s := voiced(t)
	s.tell(session.Piece{Entry: at(6), ID: "m", Line: "g", Part: 1, Text: "One."})
	s.tell(session.Sound{Entry: at(7), Line: "g", Part: 1, Blob: "a", Seconds: 2})
	interrupts := func(shown, was string) {
		t.Helper()
		in, _ := s.Decode([]byte(`{"type":"interrupt-signal","text":"`+shown+`"}`), s.now)
		want := session.Cancel{}
		if was != "" {
			want.Was = session.Played{Line: "g", Bytes: len(was)}
		}
		if in != want {
			t.Errorf("%+v", in)
		}
	}
	interrupts("One.", "")
	s.passes(2 * time.Second)
	interrupts("One.", "One.")
	s.tell(session.Piece{Entry: at(8), ID: "m", Line: "g", Part: 2, Last: true, Text: " Two."})
	s.tell(session.Sound{Entry: at(9), Line: "g", Part: 2, Blob: "a", Seconds: 2})
	s.passes(time.Second)
	interrupts("One. Two.", "One.")
	s = voiced(t)
	s.tell(session.Piece{Entry: at(6), ID: "m", Line: "g", Part: 1, Last: true, Text: "One."})
	s.tell(session.Sound{Entry: at(7), Line: "g", Part: 1, Failed: "no voice"})
	interrupts("One.", "One.") // it is read
}

// TestABlankPart: a part without a word is no sentence, and the one before has its own sound all the same.
func TestABlankPart(t *testing.T) {
	s := voiced(t)
	s.tell(session.Piece{Entry: at(6), ID: "m", Line: "g", Part: 1, Text: "One."})
	s.tell(session.Piece{Entry: at(7), ID: "m", Line: "g", Part: 2, Text: "\n"})
	s.tell(session.Sound{Entry: at(8), Line: "g", Part: 2, Blob: "b", Seconds: .05})
	s.tell(session.Sound{Entry: at(9), Line: "g", Part: 1, Blob: "a", Seconds: 2})
	if got := s.heard(); !slices.Equal(got, []string{"One.true1"}) {
		t.Errorf("%q", got)
	}
	if got := s.words(); !reflect.DeepEqual(got, []session.In{session.Played{Line: "g", Part: 1, Seconds: 2}}) {
		t.Errorf("%+v", got)
	}
}

// TestSilentAsBefore: a page that is no voice is told of no sound, and none changes what it is sent.
func TestSilentAsBefore(t *testing.T) {
	s := on(t)
	s.tell(session.Piece{Entry: at(6), ID: "m", Line: "g", Part: 1, Text: "One. Two."})
	s.tell(session.Sound{Entry: at(7), Line: "g", Part: 1, Blob: "a", Seconds: 9})
	s.begins("One.")
	s.passes(3 * time.Second)
	if got := s.heard(); !slices.Equal(got, []string{"One.false0", " Two.false0"}) {
		t.Errorf("%q", got)
	}
}
