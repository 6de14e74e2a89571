package socket_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/companiond/companiond/host/entry"
)

// TestWhoIsToldOfSounds: a body that asked for it is told how the parts of its companion's lines sound, or that they do
// not, also when it comes back; no other client is sent a frame that it does not know.
func TestWhoIsToldOfSounds(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		asked, plain := s.body("nikoni", "&sounds=1&since=0", ""), s.body("nikoni", "&playback=1&since=0", "")
		all, relay := s.dial("/v1/actions?room=main&sounds=1&playback=1&since=0", ""), s.dial("/?room=main&companion=nikoni", "")
		piece := s.room.Append(entry.KindSegment, entry.Segment{Grant: "g", Who: "nikoni", N: 1, Text: "やあ"})
		sound := s.room.Append(entry.KindSound, entry.Sound{Line: "g", Who: "nikoni", Part: 1, Blob: "b1", Mouth: "m1", Seconds: 0.7, By: "voice"})
		fails := s.room.Append(entry.KindSound, entry.Sound{Line: "g", Who: "nikoni", Part: 2, Failed: "no voice", By: "voice"})
		bare := s.room.Append(entry.KindSound, entry.Sound{Line: "g", Who: "nikoni", Part: 3, Blob: "b3", Seconds: 1, By: "voice"})
		other := s.room.Append(entry.KindSound, entry.Sound{Line: "h", Who: "aya", Part: 1, Blob: "b4", Seconds: 1, By: "voice"})
		s.room.Append(entry.KindSound, entry.Sound{Line: "g", Who: "nikoni", Part: 4, By: "voice"}) // its words are erased
		frame := func(e entry.Entry, who, rest string) string {
			return fmt.Sprintf(`{"seq":%d,"at":%q,"companion":%q,"kind":"sound",%s}`, e.Seq, e.At.Format("2006-01-02T15:04:05.999Z07:00"), who, rest)
		}
		sounds := []string{
			frame(sound, "nikoni", `"line":"g","part":1,"url":"/v1/blobs/b1","mouth_url":"/v1/blobs/m1","seconds":0.7`),
			frame(fails, "nikoni", `"line":"g","part":2,"failed":"no voice"`),
			frame(bare, "nikoni", `"line":"g","part":3,"url":"/v1/blobs/b3","seconds":1`),
		}
		spoken := is(piece, `"action":"speak","parameters":{"message":"やあ"},"kind":"speech","line":"g","part":1`)
		s.want(asked, append([]string{spoken}, sounds...)...)
		s.quiet(asked)
		s.want(plain, spoken)
		s.quiet(plain)
		s.want(all, append(append([]string{spoken}, sounds...), frame(other, "aya", `"line":"h","part":1,"url":"/v1/blobs/b4","seconds":1`))...)
		s.quiet(all)
		s.frame(relay)
		s.quiet(relay)
		again := s.body("nikoni", fmt.Sprintf("&sounds=1&since=%d", piece.Seq), "")
		s.want(again, sounds...)
		s.quiet(again)
	})
}

// TestOneVoice: one client at a time plays how a companion sounds; whoever only wants to know, to move a mouth, may
// come besides, and who comes too early gets the place when the other has gone.
func TestOneVoice(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		const mouth = "/v1/actions?companion=nikoni&playback=1&sounds=1"
		first := s.dial(mouth, "")
		s.refused(mouth, "", http.StatusConflict)
		s.refused("/v1/actions?room=main&playback=1&sounds=1", "", http.StatusConflict)
		s.refused("/v1/actions?companion=nikoni&playback=1&sounds=perhaps", "", http.StatusBadRequest)
		if n := s.room.Bodies("nikoni"); n != 1 {
			t.Errorf("nikoni has %d bodies", n)
		}
		for _, path := range []string{"/v1/actions?companion=nikoni&sounds=1", "/v1/actions?companion=nikoni&playback=1", "/v1/actions?companion=aya&playback=1&sounds=1"} {
			s.dial(path, "")
		}
		_ = first.Close()
		synctest.Wait()
		second := s.dial(mouth+"&answers=0", "")
		s.refused(mouth, "", http.StatusConflict)
		s.send(second, `{"speaking":true,"from":"taro"}`) // a room that sleeps writes nothing
		synctest.Wait()
		var joined []string
		for _, e := range s.room.Journal() {
			if b, err := entry.Decode[entry.Bodies](e); err == nil && e.Kind == entry.KindBody {
				for _, j := range b.Joined {
					joined = append(joined, fmt.Sprintf("%s %v %v", j.Who, j.Plays, j.Answers))
				}
			}
		}
		if want := []string{"aya true true", "nikoni false true", "nikoni true false", "nikoni true true"}; !slices.Equal(slices.Sorted(slices.Values(joined)), want) {
			t.Errorf("joined %q", joined)
		}
		_ = second.Close()
	})
}
