package senses_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/call"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/perception"
	"github.com/companiond/companiond/host/room/glance"
	"github.com/companiond/companiond/host/room/looptest"
	"github.com/companiond/companiond/host/room/senses"
)

// house is a room in which aya is, and perceives unless deny says why not.
type house struct {
	*looptest.Room
	*senses.Senses
	running call.Running
	deny    error
	due     []perception.Judging // handed over by Dispatch
}

func play(t *testing.T, f func(*testing.T, *house)) {
	synctest.Test(t, func(t *testing.T) {
		h := &house{Room: looptest.New(t), running: call.Running{}}
		h.Senses = senses.New(senses.Config{
			Loop: h.Loop, Running: h.running, Board: new(glance.Board),
			Find:  func(string) (call.Companion, bool) { return nil, false },
			NewID: func() string { return "c1" },
			May:   func(string) error { return h.deny },
		})
		h.Dispatch = func() { h.due = append(h.due, h.Due()...) }
		defer h.Start("aya")()
		f(t, h)
	})
}

// outcome is what whoever perceived is told.
type outcome struct {
	abi.Judged
	err error
}

// perceive has aya perceive something beside the test.
func (h *house) perceive(ctx context.Context, all ...abi.Percept) <-chan outcome {
	told := make(chan outcome, 1)
	go func() {
		j, err := h.Perceive(ctx, "aya", all...)
		told <- outcome{j, err}
	}()
	synctest.Wait()
	return told
}

// judged tells what came of the call for what is due.
func (h *house) judged(j abi.Judgement, failed error) {
	p := h.due[0]
	h.due = h.due[1:]
	h.Do(func() { h.Judged(p, j, failed) })
}

// next gives what is told, or fails where nothing is.
func next(t *testing.T, told <-chan outcome) outcome {
	t.Helper()
	select {
	case o := <-told:
		return o
	default:
		t.Fatal("nobody is told")
		return outcome{}
	}
}

func news(body string) abi.Percept {
	return abi.Percept{Title: "news", Format: "text", Body: json.RawMessage(`"` + body + `"`)}
}

// A wish to speak waits for the floor, and whoever perceived is told of it.
func TestJudged(t *testing.T) {
	play(t, func(t *testing.T, h *house) {
		told := h.perceive(t.Context(), news("it rains"))
		if len(h.due) != 1 || h.due[0].Newest().Seq == 0 || h.running["c1"].Perception != h.due[0].Newest().Seq {
			t.Fatalf("due %+v, running %+v", h.due, h.running)
		}
		if h.Waits() || len(told) != 0 {
			t.Error("it was handed over, and is not judged yet")
		}
		h.judged(abi.Judgement{State: abi.Speak, Importance: 7, Reason: "an umbrella", Text: "It rains!", To: []string{"aya", "nobody"}}, nil)
		o := next(t, told)
		ws := looptest.Bodies[entry.Wish](h.Room, entry.KindWish)
		if o.err != nil || o.Wish == 0 || len(ws) != 1 || ws[0].Perception != o.Seq || ws[0].Text != "It rains!" || len(ws[0].To) != 1 {
			t.Errorf("told %+v, wishes %+v", o, ws)
		}
		if at := h.State().At; !ws[0].Due.Equal(at.Add(20 * time.Second)) {
			t.Errorf("due %v after %v", ws[0].Due, at)
		}
		if h.running.Has("c1") || len(looptest.Bodies[entry.Judged](h.Room, entry.KindJudged)) != 0 {
			t.Error("the call runs, or what nobody kept is said to be judged")
		}
	})
}

// What was kept waits in the journal until it is judged, and only that.
func TestKept(t *testing.T) {
	play(t, func(t *testing.T, h *house) {
		var all []abi.Percept
		for _, body := range []string{"one", "two"} {
			if err := h.Keep(t.Context(), "aya", news(body), func(p abi.Percept) { all = append(all, p) }); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if len(all) != 2 || all[0].Seq == 0 || !h.State().ToJudge(all[1].Seq, "aya") || len(h.due) != 0 {
			t.Fatalf("kept %+v, due %+v", all, h.due)
		}
		told := h.perceive(t.Context(), all...)
		h.judged(abi.Judgement{State: abi.Listen, Reason: "no news"}, nil)
		js := looptest.Bodies[entry.Judged](h.Room, entry.KindJudged)
		if o := next(t, told); o.err != nil || len(js) != 1 || len(js[0].Perceptions) != 2 || h.State().ToJudge(all[0].Seq, "aya") {
			t.Errorf("told %+v, judged %+v", o, js)
		}
		var ended *perception.Ended
		if o := next(t, h.perceive(t.Context(), all[0])); !errors.As(o.err, &ended) || len(h.due) != 0 {
			t.Errorf("what is judged is judged again: %v", o.err)
		}
	})
}

// Of an image that was kept the journal has no bytes: after a restart nobody can judge it.
func TestALostImage(t *testing.T) {
	play(t, func(t *testing.T, h *house) {
		var kept abi.Percept
		p := abi.Percept{Title: "vision", Format: "image", MediaType: "image/png", Image: []byte("png")}
		if err := h.Keep(t.Context(), "aya", p, func(p abi.Percept) { kept = p }); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		kept.Image = nil
		var ended *perception.Ended
		o := next(t, h.perceive(t.Context(), kept))
		fs := looptest.Bodies[entry.Failed](h.Room, entry.KindFailed)
		if !errors.As(o.err, &ended) || len(fs) != 1 || fs[0].Perception != kept.Seq || fs[0].Code != abi.CodeUnavailable || len(h.due) != 0 {
			t.Errorf("told %v, failed %+v", o.err, fs)
		}
	})
}

// A call that failed, or that a STOP has ended, says so; nobody speaks for it.
func TestNotJudged(t *testing.T) {
	for code, end := range map[abi.Code]func(*house) error{
		abi.CodeTimeout: func(*house) error { return context.DeadlineExceeded },
		abi.CodeDenied:  func(h *house) error { h.running.Stop(); return nil },
	} {
		play(t, func(t *testing.T, h *house) {
			told := h.perceive(t.Context(), news("it rains"))
			h.judged(abi.Judgement{State: abi.Speak, Text: "It rains!"}, end(h))
			o := next(t, told)
			fs := looptest.Bodies[entry.Failed](h.Room, entry.KindFailed)
			if len(fs) != 1 || fs[0].Code != code || fs[0].Who != "aya" || len(looptest.Bodies[entry.Wish](h.Room, entry.KindWish)) != 0 {
				t.Errorf("%s: told %+v, failed %+v", code, o, fs)
			}
			if (o.err != nil) != (code == abi.CodeTimeout) || o.Judgement.State == abi.Speak && o.err == nil {
				t.Errorf("%s: told %+v", code, o)
			}
		})
	}
}

// Whoever has left, or has as many lines waiting as may, gets no wish.
func TestAWishThatCannotBe(t *testing.T) {
	for code, before := range map[abi.Code]func(*house){
		abi.CodeUnavailable: func(h *house) { h.Input(entry.KindCast, entry.Cast{Left: []entry.Left{{ID: "aya", Reason: "gone"}}}) },
		abi.CodeExhausted: func(h *house) {
			for !h.State().Full("aya") {
				h.Input(entry.KindWish, entry.Wish{Who: "aya", Waits: entry.WaitTurn, Text: "x", Due: h.Now().Add(time.Hour)})
			}
		},
	} {
		play(t, func(t *testing.T, h *house) {
			told := h.perceive(t.Context(), news("it rains"))
			h.Room.Say("taro", "hello") // the floor is not given for a wish, and wishes wait
			h.Do(func() { before(h) })
			h.judged(abi.Judgement{State: abi.Speak, Importance: 7, Text: "It rains!"}, nil)
			o, fs := next(t, told), looptest.Bodies[entry.Failed](h.Room, entry.KindFailed)
			if o.err != nil || o.Wish != 0 || len(fs) != 1 || fs[0].Code != code {
				t.Errorf("%s: told %+v, failed %+v", code, o, fs)
			}
		})
	}
}

// Whoever may not perceive does not, and nothing is written down.
func TestMayNot(t *testing.T) {
	play(t, func(t *testing.T, h *house) {
		h.deny = abi.Errorf(abi.CodeDenied, "taro said STOP")
		if o := next(t, h.perceive(t.Context(), news("x"))); o.err != h.deny {
			t.Errorf("told %v", o.err)
		}
		if err := h.Keep(t.Context(), "aya", news("x"), func(abi.Percept) { t.Error("kept") }); err != h.deny {
			t.Errorf("kept: %v", err)
		}
		synctest.Wait()
		if got := looptest.Bodies[entry.Perceived](h.Room, entry.KindPerceived); len(got) != 0 || len(h.due) != 0 {
			t.Errorf("perceived %+v", got)
		}
	})
}

// Words that are played beside the card are checked; without words to check nobody is asked.
func TestCheck(t *testing.T) {
	play(t, func(t *testing.T, h *house) {
		p := perception.Judging{Who: "aya", All: []abi.Percept{news("x")}}
		if err := h.Check(p, abi.Judgement{State: abi.Listen}); err != nil {
			t.Errorf("listens: %v", err)
		}
		if err := h.Check(p, abi.Judgement{State: "shout"}); err == nil {
			t.Error("shouts")
		}
		if err := h.Check(p, abi.Judgement{State: abi.Speak, Text: "x", Parameters: json.RawMessage(`{"mood":"glad"}`)}); abi.CodeOf(err) != abi.CodeUnavailable {
			t.Errorf("of a companion that is gone: %v", err)
		}
	})
}
