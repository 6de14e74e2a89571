package answer_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/answer"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/entry"
)

func piece(who, token string, n int, text string) step {
	return step{entry.KindSegment, entry.Segment{Grant: token, Who: who, N: n, Text: text}}
}

// broken is a line that broke off.
func broken(from, token, text string, ends entry.End) step {
	return step{entry.KindSaid, entry.Said{From: from, By: abi.KindCompanion, Text: text, Kind: abi.KindTurn, Grant: token, Segments: 1, Broken: "it broke", Ends: ends}}
}

func agent(who, token, text string) step {
	return step{entry.KindSaid, entry.Said{From: who, By: abi.KindAgent, Text: text, Kind: abi.KindTurn, Grant: token}}
}

func stopped() step { return step{entry.KindStop, entry.Stop{From: "mika"}} }

func restart() step { return step{entry.KindOwner, entry.Owner{Owner: "another run"}} }

// late is a wish to say a line that came late, for the message that is waited for.
func late(who string) step {
	return step{entry.KindWish, entry.Wish{Who: who, Answers: theWish, Text: "late"}}
}

type listened struct {
	name   string
	who    string // whose answer; empty: aya's, "*": whoever's
	steps  []step
	want   string // of the answer
	pieces string // live, with | between
	whole  string // the same of what was written down before; empty: as live
	answer.Answer
}

var listening = []listened{
	{name: "whole", steps: []step{grant("aya", "g1"), line("aya", "g1", "hi")}, want: "hi", pieces: "hi"},
	{name: "in pieces", steps: []step{grant("aya", "g1"), piece("aya", "g1", 1, "Hi."), piece("aya", "g1", 2, " You?"), line("aya", "g1", "Hi. You?")}, want: "Hi. You?", pieces: "Hi.| You?", whole: "Hi. You?"},
	{name: "with a rest", steps: []step{grant("aya", "g1"), piece("aya", "g1", 1, "Hi."), line("aya", "g1", "Hi. You?")}, want: "Hi. You?", pieces: "Hi.| You?", whole: "Hi. You?"},
	{name: "another line's pieces", steps: []step{grant("kyoko", "g1"), piece("kyoko", "g1", 1, "I."), line("kyoko", "g1", "I."), grant("aya", "g2"), line("aya", "g2", "hi")}, want: "hi", pieces: "hi"},
	{name: "pieces from before", steps: []step{piece("aya", "g0", 1, "old"), line("aya", "g0", "old"), grant("aya", "g1"), line("aya", "g1", "hi")}, want: "hi", pieces: "hi"},
	{name: "broken off", steps: []step{grant("aya", "g1"), piece("aya", "g1", 1, "Hi."), broken("aya", "g1", "Hi.", "")}, want: "Hi.", pieces: "Hi.", Answer: answer.Answer{Cut: entry.EndFailed}},
	{name: "cut off", steps: []step{grant("aya", "g1"), piece("aya", "g1", 1, "Hi."), broken("aya", "g1", "Hi.", entry.EndCut)}, want: "Hi.", pieces: "Hi.", Answer: answer.Answer{Cut: entry.EndCut}},
	{name: "the daemon was killed in it", steps: []step{grant("aya", "g1"), piece("aya", "g1", 1, "Hi."), restart(), grant("aya", "g2"), piece("aya", "g2", 1, "Hello."), line("aya", "g2", "Hello.")}, want: "Hello.", pieces: "Hi.", whole: "Hello."},
	{name: "and it was ended", steps: []step{grant("aya", "g1"), piece("aya", "g1", 1, "Hi."), restart(), broken("aya", "g1", "Hi.", ""), grant("aya", "g2"), line("aya", "g2", "Hello.")}, want: "Hi.", pieces: "Hi.", Answer: answer.Answer{Cut: entry.EndFailed}},
	{name: "and nobody said the rest", steps: []step{grant("aya", "g1"), piece("aya", "g1", 1, "Hi."), restart(), decided(entry.OutcomeSilence)}, want: "", pieces: "Hi.", whole: "-", Answer: answer.Answer{None: answer.Silent}},
	{name: "stopped in it", steps: []step{grant("aya", "g1"), piece("aya", "g1", 1, "Hi."), stopped(), broken("aya", "g1", "Hi.", entry.EndStopped)}, want: "", pieces: "Hi.", whole: "-", Answer: answer.Answer{None: answer.Stopped}},
	{name: "whoever: the first", who: "*", steps: []step{human("and?"), grant("kyoko", "g1"), line("kyoko", "g1", "I do"), grant("aya", "g2"), line("aya", "g2", "hi")}, want: "I do", pieces: "I do"},
	{name: "whoever: not from before", who: "*", steps: []step{line("kyoko", "g0", "old"), grant("aya", "g2"), line("aya", "g2", "hi")}, want: "hi", pieces: "hi"},
	{name: "whoever: not about something seen", who: "*", steps: []step{granted(7, "kyoko", "g1"), line("kyoko", "g1", "a cat!"), grant("aya", "g2"), line("aya", "g2", "hi")}, want: "hi", pieces: "hi"},
	{name: "whoever: an agent", who: "*", steps: []step{grant("bot", "g1"), agent("bot", "g1", "beep")}, want: "beep", pieces: "beep"},
	{name: "whoever: an agent that pays", who: "*", steps: []step{agent("bot", "", "beep")}, want: "beep", pieces: "beep"},
	{name: "whoever: one of two leaves", who: "*", steps: []step{left("kyoko"), grant("aya", "g1"), line("aya", "g1", "hi")}, want: "hi", pieces: "hi"},
	{name: "not an agent", steps: []step{grant("aya", "g1"), agent("aya", "g1", "beep"), decided(entry.OutcomeSilence)}, Answer: answer.Answer{None: answer.Silent}},
	{name: "a line that came late", steps: []step{grant("aya", "g1"), decided(entry.OutcomeAbsent), late("aya"), granted(theWish, "aya", "g2"), line("aya", "g2", "hi")}, want: "hi", pieces: "hi"},
	{name: "silent", steps: []step{decided(entry.OutcomeSilence)}, Answer: answer.Answer{None: answer.Silent}},
	{name: "capped", steps: []step{decided(entry.OutcomeCapped)}, Answer: answer.Answer{None: answer.Capped}},
	{name: "closed", steps: []step{decided(entry.OutcomeClosed)}, Answer: answer.Answer{None: answer.Closed}},
	{name: "archived", steps: []step{{entry.KindArchived, entry.Archived{By: "mika"}}}, Answer: answer.Answer{None: answer.Closed}},
	{name: "stopped", steps: []step{stopped()}, Answer: answer.Answer{None: answer.Stopped}},
	{name: "she left", steps: []step{left("aya")}, Answer: answer.Answer{None: answer.Gone}},
	{name: "nobody is there yet", steps: []step{decided(entry.OutcomeAbsent)}, Answer: answer.Answer{None: answer.Waits}},
	{name: "the pool is empty", steps: []step{decided(entry.OutcomeWaits)}, Answer: answer.Answer{None: answer.Waits}},
	{name: "somebody thinks", steps: []step{decided(entry.OutcomeWaits), grant("aya", "g1")}, Answer: answer.Answer{None: answer.Late}},
	{name: "somebody speaks for ever", steps: []step{grant("aya", "g1"), piece("aya", "g1", 1, "Hi.")}, want: "Hi.", pieces: "Hi.", Answer: answer.Answer{Cut: entry.EndFailed}},
}

func TestListen(t *testing.T) {
	for _, c := range listening {
		t.Run(c.name, func(t *testing.T) {
			for _, live := range []bool{true, false} {
				c.check(t, live)
			}
		})
	}
}

// check writes the steps one by one while somebody listens, or before that.
func (c listened) check(t *testing.T, live bool) {
	synctest.Test(t, func(t *testing.T) {
		r := doortest.NewHouse(t, "main").Get("main")
		seq := r.Append(human("hello").kind, human("hello").body).Seq
		r.Batch(1)
		var wish uint64
		write := func() {
			for _, s := range c.steps {
				body := s.about(wish)
				if w, ok := body.(entry.Wish); ok {
					w.Answers = seq
					body = w
				}
				e := r.Append(s.kind, body)
				if e.Kind == entry.KindWish {
					wish = e.Seq
				}
				synctest.Wait()
			}
		}
		var pieces []string
		ask := answer.Ask{Who: "aya", Seq: seq, Patient: true, Piece: func(p string) error { pieces = append(pieces, p); return nil }}
		if c.who == "*" {
			ask.Who = ""
		}
		want, told := c.Answer, c.pieces
		want.Text = c.want
		if live && c.pieces != "" { // what was shown is the answer
			want.Text, want.None = strings.ReplaceAll(c.pieces, "|", ""), ""
			if want.Text != c.want {
				want.Cut = entry.EndFailed
				if c.None == answer.Stopped {
					want.Cut = entry.EndStopped
				}
			}
		}
		if live {
			go write()
		} else {
			write()
			if told = c.whole; told == "" {
				told = c.pieces
			}
			told = strings.TrimPrefix(told, "-")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		got, err := answer.Listen(ctx, r, ask)
		if from := got.From != ""; from != (want.Text != "") {
			t.Errorf("live %v: from %q", live, got.From)
		}
		got.From, got.Seq = "", 0
		if err != nil || got != want || strings.Join(pieces, "|") != told {
			t.Errorf("live %v: %+v %q %v\nwant %+v %q", live, got, pieces, err, want, told)
		}
	})
}

// A client that is gone ends the waiting, and is told apart from a room in trouble.
func TestListenerIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := doortest.NewHouse(t, "main").Get("main")
		seq := r.Append(human("hello").kind, human("hello").body).Seq
		for _, s := range []step{grant("aya", "g1"), line("aya", "g1", "hi")} {
			r.Append(s.kind, s.body)
		}
		gone := errors.New("gone")
		if _, err := answer.Listen(t.Context(), r, answer.Ask{Who: "aya", Seq: seq, Piece: func(string) error { return gone }}); !errors.Is(err, gone) {
			t.Error(err)
		}
		if got, err := answer.Listen(t.Context(), r, answer.Ask{Who: "aya", Seq: seq}); err != nil || got.Text != "hi" || got.From != "aya" || got.Seq != seq+2 {
			t.Errorf("%+v %v", got, err)
		}
	})
}
