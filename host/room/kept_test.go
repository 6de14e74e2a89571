package room

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/perception"
)

// keep writes a gift down.
func (s *stage) keep(who string, n int) (kept abi.Percept) {
	s.t.Helper()
	p := abi.Percept{Title: "gift", Format: "object", Body: json.RawMessage(fmt.Sprintf(`{"n":%d,"pad":%q}`, n, strings.Repeat("x", 5<<10))), From: fmt.Sprint("viewer", n)}
	if err := s.room.Keep(s.t.Context(), who, p, func(p abi.Percept) { kept = p }); err != nil {
		s.t.Fatal(err)
	}
	if kept.Seq == 0 {
		s.t.Fatal("it was not told that it was written down")
	}
	return kept
}

// waits gives the seqs of what waits for a companion, as a door and the state have it.
func (s *stage) waits(who string) (seqs []uint64) {
	s.t.Helper()
	all, err := s.room.Kept(s.t.Context(), who)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, p := range all {
		seqs = append(seqs, p.Seq)
	}
	return seqs
}

// TestKeptIsInTheJournal before anybody hears that it was taken, whole, and is there
// after a restart; what was judged waits no more.
func TestKeptIsInTheJournal(t *testing.T) {
	var asked []abi.Perceiving
	n := &actor{id: "nikoni", judge: func(_ context.Context, p abi.Perceiving) (abi.Judgement, error) {
		asked = append(asked, p)
		return abi.Judgement{State: abi.Listen, Reason: "not for me"}, nil
	}}
	play(t, testRules, []*actor{n, sees("aya", "x")}, func(s *stage) {
		first, second := s.keep("nikoni", 1), s.keep("nikoni", 2)
		other := s.keep("aya", 3)
		s.end()
		s.start()
		all, err := s.room.Kept(s.t.Context(), "nikoni")
		if err != nil || len(all) != 2 || all[0].Seq != first.Seq || all[1].From != "viewer2" || string(all[1].Body) != string(second.Body) || !all[1].At.Equal(second.At) {
			t.Fatalf("%+v, %v", all, err)
		}
		if _, err := s.room.Perceive(s.t.Context(), "nikoni", all...); err != nil {
			t.Fatal(err)
		}
		if len(asked) != 1 || asked[0].Perception.Seq != second.Seq || len(asked[0].More) != 1 || asked[0].More[0].Seq != first.Seq || string(asked[0].More[0].Body) != string(first.Body) {
			t.Errorf("asked %+v", asked)
		}
		judged := bodies[entry.Judged](t, s.entries(), entry.KindJudged)
		if len(judged) != 1 || judged[0].Who != "nikoni" || !slices.Equal(judged[0].Perceptions, []uint64{first.Seq, second.Seq}) || judged[0].Wish != 0 || judged[0].Reason != "not for me" {
			t.Errorf("%+v", judged)
		}
		if got := s.waits("nikoni"); len(got) != 0 || !slices.Equal(s.waits("aya"), []uint64{other.Seq}) {
			t.Errorf("%v wait for nikoni, %v for aya", got, s.waits("aya"))
		}
		// Twice is not judged twice.
		var ended *perception.Ended
		if _, err := s.room.Perceive(s.t.Context(), "nikoni", all...); !errors.As(err, &ended) || len(ended.Seqs) != 2 || len(asked) != 1 {
			t.Errorf("%v", err)
		}
	})
}

// TestAKeptOneLeadsToAWish: the entry that ends it names the wish, which has the newest.
func TestAKeptOneLeadsToAWish(t *testing.T) {
	play(t, testRules, []*actor{sees("nikoni", "ありがとう！")}, func(s *stage) {
		first, second := s.keep("nikoni", 1), s.keep("nikoni", 2)
		j, err := s.room.Perceive(s.t.Context(), "nikoni", first, second)
		synctest.Wait()
		judged := bodies[entry.Judged](t, s.entries(), entry.KindJudged)
		if err != nil || j.Seq != second.Seq || len(judged) != 1 || judged[0].Wish != j.Wish || len(judged[0].Perceptions) != 2 {
			t.Errorf("%+v, %v, %+v", j, err, judged)
		}
		if w := bodies[entry.Wish](t, s.entries(), entry.KindWish); len(w) != 1 || w[0].Perception != second.Seq || !slices.Equal(s.texts(), []string{"nikoni: ありがとう！"}) {
			t.Errorf("%+v, said %q", w, s.texts())
		}
	})
}

// TestWhatEndsAKeptOne, and what leaves it waiting.
func TestWhatEndsAKeptOne(t *testing.T) {
	broken := &actor{id: "nikoni", judge: func(context.Context, abi.Perceiving) (abi.Judgement, error) {
		return abi.Judgement{}, abi.Errorf(abi.CodeUnavailable, "the model is rate limited")
	}}
	play(t, testRules, []*actor{broken}, func(s *stage) {
		all := []abi.Percept{s.keep("nikoni", 1), s.keep("nikoni", 2), s.keep("nikoni", 3)}
		perceive := func(ps ...abi.Percept) (*perception.Ended, error) {
			var ended *perception.Ended
			_, err := s.room.Perceive(s.t.Context(), "nikoni", ps...)
			errors.As(err, &ended)
			return ended, err
		}
		// A judge that fails ends it, in writing.
		if ended, err := perceive(all[:2]...); ended == nil || len(ended.Seqs) != 2 || abi.CodeOf(err) != abi.CodeUnavailable || s.count(entry.KindFailed) != 2 {
			t.Errorf("%v, %d failed", err, s.count(entry.KindFailed))
		}
		// One that is not here does not.
		s.unload("nikoni")
		if ended, err := perceive(all[2]); ended != nil || abi.CodeOf(err) != abi.CodeNotFound {
			t.Errorf("%v", err)
		}
		s.load(broken)
		// A journal that takes nothing does not either, whether it fails before or after the judgement.
		s.journal.Fail(errors.New("the disk is full"))
		if ended, err := perceive(all[2]); ended != nil || err == nil {
			t.Errorf("%v", err)
		}
		s.journal.Fail(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := s.waits("nikoni"); !slices.Equal(got, []uint64{all[2].Seq}) {
			t.Errorf("%v wait", got)
		}
		// An image that the daemon ended with is not judged, and that is written down.
		picture := abi.Percept{Title: "gift", Format: "image", MediaType: "image/png", Image: []byte("\x89PNG")}
		if err := s.room.Keep(s.t.Context(), "nikoni", picture, func(abi.Percept) {}); err != nil {
			t.Fatal(err)
		}
		kept, _ := s.room.Kept(s.t.Context(), "nikoni")
		if ended, err := perceive(kept[1]); ended == nil || !strings.Contains(err.Error(), "images are not kept") || s.count(entry.KindFailed) != 3 {
			t.Errorf("%v, %+v", err, kept)
		}
		// A STOP ends all.
		if _, err := s.room.Stop(s.t.Context(), "taro"); err != nil {
			t.Fatal(err)
		}
		if ended, err := perceive(all[2]); ended == nil || abi.CodeOf(err) != abi.CodeDenied || len(s.waits("nikoni")) != 0 {
			t.Errorf("%v, %v wait", err, s.waits("nikoni"))
		}
		if err := s.room.Keep(s.t.Context(), "nikoni", all[0], func(abi.Percept) { t.Error("taken") }); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("after a STOP: %v", err)
		}
		s.say("taro", "go on")
		// Those of before the STOP are over, those of after it are not.
		after := s.keep("nikoni", 4)
		if ended, _ := perceive(all[2], after); ended == nil || !slices.Equal(ended.Seqs, []uint64{all[2].Seq}) || !slices.Equal(s.waits("nikoni"), []uint64{after.Seq}) {
			t.Errorf("%+v", ended)
		}
	})
}

// TestOldPerceptionsAreNotJudgedAgain: those without kept, of before there was any, have
// been judged or lost.
func TestOldPerceptionsAreNotJudgedAgain(t *testing.T) {
	play(t, testRules, []*actor{sees("nikoni", "猫")}, func(s *stage) {
		s.perceive("nikoni", frame("vision"))
		if got := s.waits("nikoni"); len(got) != 0 || s.count(entry.KindJudged) != 0 {
			t.Errorf("%v wait", got)
		}
	})
}
