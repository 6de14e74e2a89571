package room

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// part gives a sound of part n of a line.
func part(line string, n int) abi.Sound {
	return abi.Sound{Line: line, Part: n, Blob: abi.BlobRef{Hash: "b" + line}, Mouth: abi.BlobRef{Hash: "m" + line}, Seconds: 2.5}
}

// TestSoundOfALine: each part of the line that is heard gets a sound once, or is known to get none; of any other line
// there is nothing to tell. Nothing of the words is written down, and nothing that is decided changes by it.
func TestSoundOfALine(t *testing.T) {
	decided := func(voiced bool) (es []entry.Entry) {
		rules := voiceRules
		rules.MaxTurns = 1
		play(t, rules, []*actor{talker("aya", 5)}, func(s *stage) {
			tell := func(who string, b abi.Sound, code abi.Code, field string) {
				t.Helper()
				if !voiced {
					return
				}
				err := s.room.Sound(context.Background(), who, "voice", b)
				if abi.CodeOf(err) != code || code != "" && abi.AsError(err).Field != field {
					t.Errorf("%s, %+v: %v, want %s of %s", who, b, err, code, field)
				}
			}
			defer s.embody(&puppet{who: "aya", slow: 1.5})()
			synctest.Wait()
			tell("aya", part("g0", 1), abi.CodeNotFound, "line")
			s.say("taro", "今日はどう？")
			time.Sleep(3 * time.Second)
			synctest.Wait()
			said := bodies[entry.Said](t, s.entries(), entry.KindSaid)
			line := said[len(said)-1].Grant
			if line == "" {
				t.Fatal("aya is not heard")
			}
			tell("aya", part("other", 1), abi.CodeNotFound, "line")
			tell("kyoko", part(line, 1), abi.CodeNotFound, "line")
			tell("aya", part(line, 2), abi.CodeNotFound, "part")
			tell("aya", part(line, 0), abi.CodeNotFound, "part")
			for _, seconds := range []float64{0, -1, 601} {
				b := part(line, 1)
				b.Seconds = seconds
				tell("aya", b, abi.CodeInvalid, "seconds")
			}
			tell("aya", abi.Sound{Line: line, Part: 1, Failed: strings.Repeat("x", 1001)}, abi.CodeTooLarge, "failed")
			tell("aya", part(line, 1), "", "")
			tell("aya", part(line, 1), abi.CodeStale, "part")
			tell("aya", abi.Sound{Line: line, Part: 1, Failed: "no voice"}, abi.CodeStale, "part")
			time.Sleep(time.Minute)
			synctest.Wait()
			tell("aya", part(line, 1), abi.CodeNotFound, "line")
			es = s.entries()
		})
		return es
	}
	with, without := decided(true), decided(false)
	sounds := bodies[entry.Sound](t, with, entry.KindSound)
	if len(sounds) != 1 || len(bodies[entry.Sound](t, without, entry.KindSound)) != 0 {
		t.Fatalf("%+v", sounds)
	}
	line := sounds[0].Line
	if want := (entry.Sound{Line: line, Who: "aya", Part: 1, Blob: "b" + line, Mouth: "m" + line, Seconds: 2.5, By: "voice"}); sounds[0] != want {
		t.Errorf("%+v", sounds[0])
	}
	type happened struct {
		kind entry.Kind
		at   time.Time
	}
	order := func(es []entry.Entry) (all []happened) {
		for _, e := range es {
			if e.Kind != entry.KindSound {
				all = append(all, happened{e.Kind, e.At})
			}
		}
		return all
	}
	if a, b := order(with), order(without); !slices.Equal(a, b) {
		t.Errorf("with sounds\n%v\nwithout\n%v", a, b)
	}
	for _, e := range with {
		if b := string(e.Body); e.Kind == entry.KindSound && (!json.Valid(e.Body) || strings.Contains(b, "天気")) {
			t.Errorf("%s", b)
		}
	}
}

// TestPartsWithAndWithoutSound: of a line in pieces each has its own, in any order; one that fails says why and no more.
func TestPartsWithAndWithoutSound(t *testing.T) {
	rules := voiceRules
	rules.MaxTurns = 1
	aya := talker("aya", 5)
	var s *stage
	aya.line = func(ctx context.Context, req abi.Request) (abi.Line, error) {
		for _, text := range []string{"ひとつ。", "ふたつ。", "みっつ。"} {
			if err := s.room.Segment(ctx, "aya", req.ID, abi.SayAsk{Text: text}); err != nil {
				t.Error(err)
			}
		}
		return abi.Line{}, nil
	}
	play(t, rules, []*actor{aya}, func(st *stage) {
		s = st
		defer s.embody(&puppet{who: "aya", dumb: true})()
		s.say("taro", "今日はどう？")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		line := bodies[entry.Segment](t, s.entries(), entry.KindSegment)[0].Grant
		failed := abi.Sound{Line: line, Part: 2, Failed: "no voice", Seconds: 3, Blob: abi.BlobRef{Hash: "b"}, Mouth: abi.BlobRef{Hash: "m"}}
		for _, b := range []abi.Sound{part(line, 3), failed, part(line, 1)} {
			if err := s.room.Sound(context.Background(), "aya", "voice", b); err != nil {
				t.Fatal(err)
			}
		}
		got := bodies[entry.Sound](t, s.entries(), entry.KindSound)
		if len(got) != 3 || got[0].Part != 3 || got[1] != (entry.Sound{Line: line, Who: "aya", Part: 2, Failed: "no voice", By: "voice"}) || got[2].Part != 1 {
			t.Errorf("%+v", got)
		}
	})
}
