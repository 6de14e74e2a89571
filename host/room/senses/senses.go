// Package senses is what the companions of one room perceive (the AI Companion Protocol):
// a perception is written down, its companion is asked about it once it is in the journal,
// and what it judged is written down too, with its wish to speak.
//
// It never asks a companion itself, and never lets one speak: the room makes the calls, and
// the wish waits for the floor. Queues, cool-downs and the order in which perceptions come
// are host/perception's.
package senses

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/call"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/perception"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/glance"
	"github.com/companiond/companiond/host/room/loop"
	"github.com/companiond/companiond/host/room/presence"
	"github.com/companiond/companiond/host/room/queue"
)

// Config is what senses stand on.
type Config struct {
	Loop    *loop.Loop
	Running call.Running // the room's: a STOP ends those that judge, too
	Board   *glance.Board
	Find    func(id string) (call.Companion, bool) // a loaded companion
	NewID   func() string                          // unique ids for calls
	May     func(who string) error                 // why somebody cannot perceive now; the loop calls it
	// Kept is told of what is in the journal by now, and to be judged, without that anybody called Keep; nil tells
	// nobody. The loop calls it.
	Kept func(who string, p abi.Percept)
}

// Senses are one room's. Make them with [New].
type Senses struct {
	cfg  Config
	loop *loop.Loop
	due  []perception.Judging // to be asked about once they are in the journal; the loop's
}

// New makes senses that have perceived nothing. It starts nothing.
func New(c Config) *Senses { return &Senses{cfg: c, loop: c.Loop} }

func (s *Senses) state() *fold.State { return s.loop.State() }

// Keep writes down what a companion perceives and is to judge, also after a restart.
// kept is called with it by the loop once it is in the journal, in the order of the
// journal, and is not to wait; that may be after Keep has answered, where ctx ended.
func (s *Senses) Keep(ctx context.Context, who string, p abi.Percept, kept func(abi.Percept)) error {
	note := perception.Note(who, p, true)
	return loop.Tell(ctx, s.loop, func() error {
		if err := s.cfg.May(who); err != nil {
			return err
		}
		p.Seq = s.loop.Input(entry.KindPerceived, note)
		if s.loop.Trouble() != nil {
			return s.loop.Trouble()
		}
		p.At = s.state().At
		s.loop.Ack(func(err error) {
			if err == nil {
				kept(p)
			}
		})
		return nil
	})
}

// Answer writes down what became of a query, and that its companion perceives that: the answer, a JSON
// value, or why there is none. One that is not loaded just then judges it when it is back.
func (s *Senses) Answer(q queue.Act, r abi.Result, answer json.RawMessage) {
	s.loop.Input(entry.KindResult, entry.Done{Who: q.Who, Result: r})
	if s.loop.Trouble() != nil {
		return
	}
	p := abi.Percept{Title: q.Action, Format: card.FormatObject, Body: answer, From: r.By, Answers: q.ID}
	switch {
	case !r.OK:
		p.Body, _ = json.Marshal("no answer: " + cmp.Or(r.Reason, "it did not succeed")) // a text can always be written
		p.Format = card.FormatText
	case len(answer) == 0:
		p.Body = json.RawMessage("{}")
	case answer[0] == '"':
		p.Format = card.FormatText
	}
	p.Seq = s.loop.Input(entry.KindPerceived, perception.Note(q.Who, p, true))
	p.At = s.state().At
	s.loop.Ack(func(err error) {
		if err == nil && s.cfg.Kept != nil {
			s.cfg.Kept(q.Who, p)
		}
	})
}

// Overdue writes down that nobody has answered a query in time.
func (s *Senses) Overdue() {
	q := *s.state().Overdue()
	s.Answer(q, abi.Result{ID: q.ID, Action: q.Action, Reason: fmt.Sprintf("nobody answered within %v", queue.QueryPatience)}, nil)
}

// Perceive has a companion judge one perception, which is written down, or what Keep wrote
// down before, one or several, oldest first. It answers when that is judged.
func (s *Senses) Perceive(ctx context.Context, who string, all ...abi.Percept) (abi.Judged, error) {
	p := perception.Judging{Who: who, All: slices.Clone(all), Kept: all[0].Seq != 0}
	var note entry.Perceived
	if !p.Kept {
		note = perception.Note(who, all[0], false)
	}
	return loop.Await(ctx, s.loop, "the companion did not judge in time", func(q loop.Request[abi.Judged]) {
		s.loop.Use()
		p.Tell = q.Tell
		s.perceive(p, note)
	})
}

func (s *Senses) perceive(p perception.Judging, note entry.Perceived) {
	err := s.cfg.May(p.Who)
	if p.Kept && s.loop.Trouble() == nil {
		err = cmp.Or(p.Over(s.state().ToJudge), err)
	}
	if err != nil {
		p.Tell(abi.Judged{}, err)
		return
	}
	if _, why := s.state().Blind(s.loop.Now()); why != "" && p.Newest().Force == nil { // then no model is asked
		p.Tell(abi.Judged{}, abi.Errorf(abi.CodeExhausted, "%s", why))
		return
	}
	if p.Lost() {
		s.lost(p)
		return
	}
	if !p.Kept {
		p.All[0].Seq = s.loop.Input(entry.KindPerceived, note)
		p.All[0].At = s.state().At
	}
	if s.loop.Trouble() != nil {
		p.Tell(abi.Judged{}, s.loop.Trouble())
		return
	}
	p.Call = s.cfg.NewID()
	run := call.Run{Perception: p.Newest().Seq}
	if f := p.Newest().Force; f != nil {
		run.Force = append([]string{}, f.Actions...)
	}
	s.cfg.Running[p.Call] = run
	s.loop.Ack(func(err error) {
		if err != nil {
			s.cfg.Running.Over(p.Call)
			p.Tell(abi.Judged{}, err)
			return
		}
		s.due = append(s.due, p)
	})
}

// lost ends an image that cannot be judged any more.
func (s *Senses) lost(p perception.Judging) {
	err := abi.Errorf(abi.CodeUnavailable, "the daemon ended before it was judged, and images are not kept")
	s.fail(p, abi.CodeUnavailable, err.Message, time.Time{})
	s.loop.Ack(func(trouble error) { p.Tell(abi.Judged{}, cmp.Or(trouble, p.Ended(err))) })
}

// fail writes down that perceptions could not be judged.
func (s *Senses) fail(p perception.Judging, code abi.Code, why string, until time.Time) {
	for _, seq := range p.Seqs() {
		s.loop.Input(entry.KindFailed, entry.Failed{Perception: seq, Who: p.Who, Code: code, Error: why, Until: until})
	}
}

// Retract writes down that some of what was kept is taken back, as far as it waits.
func (s *Senses) Retract(ctx context.Context, who string, seqs []uint64) error {
	return loop.Tell(ctx, s.loop, func() error {
		for _, seq := range seqs {
			if s.loop.Trouble() == nil && s.state().ToJudge(seq, who) {
				s.loop.Input(entry.KindFailed, entry.Failed{Perception: seq, Who: who, Code: abi.CodeDenied, Error: "it was taken back before it was judged"})
			}
		}
		return s.loop.Trouble()
	})
}

// Due hands over what companions are to be asked about now. What comes of each goes to
// Judged. What a game wants and does not press for is not asked of one who is heard just then.
func (s *Senses) Due() []perception.Judging {
	var due, later []perception.Judging
	for _, p := range s.due {
		if f, l := p.Newest().Force, s.state().Playing; f != nil && f.Priority == "low" && l != nil && !l.Silent && l.Who == p.Who && s.cfg.Running.Has(p.Call) {
			later = append(later, p)
			continue
		}
		due = append(due, p)
	}
	s.due = later
	return due
}

// Waits says whether a companion is to be asked about something.
func (s *Senses) Waits() bool { return len(s.due) > 0 }

// Check reports the first thing that is wrong with a judgement. It may be called beside
// the loop.
func (s *Senses) Check(p perception.Judging, j abi.Judgement) error {
	if err := j.Check(); err != nil || len(j.Parameters) == 0 {
		return err
	}
	c, ok := s.cfg.Find(p.Who)
	if !ok {
		return abi.Errorf(abi.CodeUnavailable, "%s is not loaded", p.Who)
	}
	return action.CheckSpeech(j, p.All, c.Permit)
}

// mute says whether words that come of a perception lead to no turn now.
func mute(st *fold.State, now time.Time) bool {
	_, why := st.Blind(now)
	return why != ""
}

// Judged takes what came of asking a companion: failed says why it did not judge. It gives the seq of the wish that came of
// it, 0 for none.
func (s *Senses) Judged(p perception.Judging, j abi.Judgement, failed error) (wish uint64) {
	live := s.cfg.Running.Has(p.Call)
	s.cfg.Running.Over(p.Call)
	if s.loop.Trouble() != nil {
		p.Tell(abi.Judged{}, s.loop.Trouble())
		return 0
	}
	res := abi.Judged{Seq: p.Newest().Seq, Judgement: j}
	why := ""
	var code abi.Code
	var until time.Time
	switch st := s.state(); {
	case !live:
		code, why = abi.CodeDenied, "a human said STOP before it had judged"
		res.Judgement, failed = abi.Judgement{State: abi.Listen, Reason: why}, nil
	case failed != nil:
		code, why = call.Failure(failed)
		until = call.Until(failed, s.loop.Now())
		s.cfg.Board.Count("perception failed: " + string(code))
	case j.State != abi.Speak:
	case st.Kinds()[p.Who] != abi.KindCompanion:
		code, why = abi.CodeUnavailable, "wanted to speak, but left the room"
	case p.Newest().Force != nil && mute(st, s.loop.Now()): // the action counts
	case st.Full(p.Who):
		code, why = abi.CodeExhausted, "wanted to speak, but has more waiting already"
	default:
		res.Wish = s.loop.Input(entry.KindWish, entry.Wish{
			Who: p.Who, Perception: res.Seq, Importance: j.Importance, Reason: call.Clip(j.Reason),
			Text: j.Text, To: presence.Here(st.Members(), j.To), Due: s.loop.Now().Add(queue.WishPatience), Parameters: card.Beside(j.Parameters),
		})
	}
	switch {
	case why != "":
		s.fail(p, code, why, until)
	case p.Kept:
		s.loop.Input(entry.KindJudged, entry.Judged{Who: p.Who, Perceptions: p.Seqs(), Wish: res.Wish, Reason: call.Clip(j.Reason)})
	}
	s.loop.Ack(func(err error) { p.Tell(res, cmp.Or(err, p.Ended(failed))) })
	return res.Wish
}
