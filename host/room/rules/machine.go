package rules

import (
	"fmt"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/queue"
	"github.com/companiond/companiond/host/turn"
)

// Machine turns inputs into entries. Given the same state and input it makes
// the same entries, which is what replay holds it to.
type Machine struct {
	State *fold.State
	out   []entry.Entry // made since Take was last called
}

// Line is a line that wants into the room. An empty Kind is for the policy to
// say.
type Line struct {
	entry.Said
	ID    string   // of the message it is to be
	Offer *float64 // what it would pay from a pool; nil: the price
}

// record writes an entry down and applies it. An empty id is made of kind and seq.
func (m *Machine) record(kind entry.Kind, id string, at time.Time, body any) (entry.Entry, error) {
	seq := m.State.Head + 1
	if id == "" {
		id = fmt.Sprintf("%s/%d", kind, seq)
	}
	e, err := entry.Entry{Seq: seq, Epoch: m.State.Epoch, At: at, Kind: kind, ID: id, V: kind.Version()}.WithBody(body)
	if err != nil {
		return entry.Entry{}, err
	}
	if err := m.Adopt(e); err != nil {
		return entry.Entry{}, err
	}
	return e, nil
}

// Adopt applies an entry that the journal wrote by itself, as if it had been made here.
func (m *Machine) Adopt(e entry.Entry) error {
	if err := m.State.Apply(e); err != nil {
		return err
	}
	m.out = append(m.out, e)
	return nil
}

// Made gives the entries made since Take was last called.
func (m *Machine) Made() []entry.Entry { return m.out }

// Take hands over the entries made so far.
func (m *Machine) Take() []entry.Entry {
	out := m.out
	m.out = nil
	return out
}

// Input records a fact other than a line and draws the consequences.
func (m *Machine) Input(kind entry.Kind, at time.Time, body any) error {
	if _, err := m.record(kind, "", at, body); err != nil {
		return err
	}
	return m.settle(at)
}

// Say judges a line, records it or its refusal, and draws the consequences.
// The entry is the said or the refused one.
func (m *Machine) Say(a Line, at time.Time) (entry.Entry, error) {
	s := m.State
	if !s.Judged() {
		return entry.Entry{}, abi.Errorf(abi.CodeUnavailable, "the room takes nothing new: %s", s.Unjudged())
	}
	refuse, verdict := m.judge(a, at)
	if refuse != nil {
		e, err := m.record(entry.KindRefused, "", at, refuse)
		if err != nil {
			return e, err
		}
		return e, m.settle(at)
	}
	a.Kind, a.Cost = verdict.Kind, verdict.Cost
	if a.Turn > 0 { // else it is of before turns were numbered
		a.Turn = s.Numbers(a.Kind)
	}
	wish := a.Closing
	if wish == "" && s.Floor != nil {
		wish = s.Floor.Closing()
	}
	if s.Life.Conversation != nil && s.Floor != nil && s.Floor.Token == a.Grant {
		a.Closing = wish // a companion may take its leave with this line
	}
	e, err := m.record(entry.KindSaid, a.ID, at, a.Said)
	if err != nil {
		return e, err
	}
	if a.By != abi.KindHuman && a.Kind == abi.KindTurn && s.Life.Conversation == nil {
		var like uint64
		if s.Circles() { // two of four say what was said: nobody needs a model to hear that
			wish, like = abi.ClosingTerminal, a.Like
		}
		if err := m.moveClosing(turn.Step(s.Stage, wish), a.From, like, at); err != nil {
			return e, err
		}
	}
	return e, m.settle(at)
}

// moveClosing brings the talk nearer to its end; like is the line that by says again, 0
// where it wishes to end.
func (m *Machine) moveClosing(to abi.Closing, by string, like uint64, at time.Time) error {
	if to.Stage() <= m.State.Stage.Stage() {
		return nil
	}
	_, err := m.record(entry.KindClosing, "", at, entry.ClosingMoved{From: m.State.Stage, To: to, By: by, Like: like})
	return err
}

// settle draws every consequence of the state at a moment, until there is
// none. It looks at the state, not at what changed, so no wish is forgotten
// because something else happened at the same time.
func (m *Machine) settle(at time.Time) error {
	for {
		more, err := m.step(at)
		if err != nil || !more {
			return err
		}
	}
}

func (m *Machine) step(at time.Time) (more bool, err error) {
	s := m.State
	switch {
	case !s.Judged():
		return false, nil // no rules yet, or none that are known
	case s.Sounds() && (s.Over() != "" && s.Playing.Of != 0 || s.Playing.Ended()), s.Orphan():
		return true, m.heard(at)
	case s.Life.Moved():
		_, err := m.record(entry.KindLifecycle, "", at, s.Life.Telling())
		return true, err
	case s.Over() != "":
		if s.Round == nil && s.Floor == nil {
			return false, nil
		}
		return true, m.decide(at, entry.Decision{Outcome: entry.OutcomeStopped, Reason: s.Over()})
	case s.Overtaken() != nil:
		return true, m.refuse(at, *s.Overtaken())
	case s.Floor != nil && s.Floor.Lost == "" && s.Floor.Stale(s):
		why := fmt.Sprintf("%s said something newer before the line of %s could be heard", s.Newest().From, s.Floor.Who)
		return true, m.decide(at, entry.Decision{Outcome: entry.OutcomeSuperseded, Reason: why})
	case s.Floor != nil && s.Floor.Lost == "" && s.AnswerAtHand() != nil:
		return true, m.grantRequest(at, *s.AnswerAtHand())
	case s.Floor != nil && s.Floor.Lost == "":
		return false, nil
	case s.Floor != nil:
		return true, m.pass(at)
	case s.Round != nil && s.Newest().Seq > s.Round.Newest():
		return true, m.decide(at, entry.Decision{Outcome: entry.OutcomeSuperseded, Reason: s.Newest().From + " said something newer"})
	case s.Oldest(s.Awaited) != nil:
		return true, m.voteFor(at, *s.Oldest(s.Awaited))
	case s.Round != nil && (s.Round.Complete() || !at.Before(s.Round.Due)):
		return true, m.rule(at)
	case s.Round != nil:
		return false, nil
	case s.NextRequest() != nil && !at.Before(s.Pauses()):
		return true, m.grantRequest(at, *s.NextRequest())
	case s.Woken() && !at.Before(s.Pace):
		return true, m.open(at)
	case s.ToAsk() && !at.Before(s.Opens()) && (s.Playing == nil || s.MayMake()):
		return true, m.open(at)
	}
	return false, nil
}

// open starts the round about what waits for an answer, or says why there is none.
func (m *Machine) open(at time.Time) error {
	s := m.State
	voters := s.Voters()
	subject, _, addressed := s.Subject()
	if len(voters) == 0 {
		return m.decide(at, entry.Decision{Outcome: entry.OutcomeSilence, Reason: "nobody else is here to answer " + subject.From})
	}
	if outcome, why := s.Mute(); why != "" {
		return m.decide(at, entry.Decision{Outcome: outcome, Reason: why})
	}
	patience := time.Duration(s.Rules.Patience) * time.Millisecond
	due := at.Add(patience)
	if s.Held != nil && !s.Keeps && !s.Since.IsZero() { // somebody keeps talking: wait for votes, but not for ever
		if last := s.Since.Add(2 * patience); last.Before(due) {
			due = last
		}
		if due.Before(at) {
			due = at
		}
	}
	b := entry.Round{About: subject.Seq, Electorate: voters, Addressed: addressed, Due: due, Silence: s.Knock}
	if s.Last.Seq > subject.Seq {
		b.Upto = s.Last.Seq
	}
	_, err := m.record(entry.KindRound, "", at, b)
	return err
}

// rule ends the open round by the policy.
func (m *Machine) rule(at time.Time) error {
	s := m.State
	r := s.Policy().Decide(s.Decides(at, s.SpentBy(at)))
	_, barred := s.BarredUntil(at)
	if r.Outcome == entry.OutcomeAbsent || barred && r.Outcome == entry.OutcomeSilence {
		return m.lack(at, entry.Decision{Round: s.Round.ID, Reason: r.Reason, Ranking: r.Ranking})
	}
	d := entry.Decision{
		Round: s.Round.ID, Outcome: r.Outcome, Speaker: r.Speaker, Rule: r.Rule, Reason: r.Reason, Ranking: r.Ranking, Until: r.Until,
	}
	if err := m.decide(at, d); err != nil {
		return err
	}
	if r.Outcome == entry.OutcomeClosed {
		return m.moveClosing(r.Stage, r.Ranking[0].Who, 0, at)
	}
	return nil
}

// lack ends a round in which nobody could vote, or none of those who would speak
// could: where a human waits for an answer it is asked again later, as often as makes
// sense.
func (m *Machine) lack(at time.Time, d entry.Decision) error {
	until, ok := m.State.Absence.Again(at, time.Duration(m.State.Rules.Patience)*time.Millisecond)
	switch bar, all := m.State.BarredUntil(at); {
	case bar.IsZero():
	case all || !ok:
		until, ok = bar, true
	case bar.Before(until):
		until = bar
	}
	came := func(v string) bool {
		return !slices.ContainsFunc(m.State.Round.Electorate, func(have turn.Voter) bool { return have.ID == v })
	}
	if m.State.Round != nil && slices.ContainsFunc(m.State.Voters(), came) {
		until = at // somebody has come since it was opened
	}
	switch {
	case !m.State.Answering():
		d.Outcome = entry.OutcomeSilence
	case ok:
		d.Outcome, d.Until = entry.OutcomeAbsent, until
	default:
		d.Outcome = entry.OutcomeSilence
		d.Reason += fmt.Sprintf("; given up after %d rounds like this", queue.MaxAbsent+1)
	}
	return m.decide(at, d)
}

// pass hands a lost floor to the next in the ranking, or back to a new round
// when something newer was said.
func (m *Machine) pass(at time.Time) error {
	s, f := m.State, m.State.Floor
	why := fmt.Sprintf("%s: %s", f.Who, f.Lost)
	if s.Newest().Seq > f.About {
		return m.decide(at, entry.Decision{Round: f.Round, Outcome: entry.OutcomeSuperseded, Reason: why + "; " + s.Newest().From + " said something newer"})
	}
	if !f.Until.IsZero() && at.Before(f.Until) {
		return m.decide(at, entry.Decision{Round: f.Round, Outcome: entry.OutcomeWaits, Reason: why, Ranking: f.Ranking, Until: f.Until})
	}
	next, ok := s.NextSpeaker(f.Broke)
	if !ok {
		d := entry.Decision{Round: f.Round, Outcome: entry.OutcomeSilence, Reason: why + "; nobody else wants to speak", Ranking: f.Ranking}
		if f.Broke {
			return m.lack(at, d)
		}
		return m.decide(at, d)
	}
	why += "; " + next.Who + " is next"
	if next.Standing == turn.StandingListen && !f.Silence {
		why += ", though it would rather listen"
	}
	return m.decide(at, entry.Decision{
		Round: f.Round, Outcome: entry.OutcomeGrant, Speaker: next.Who, Rule: entry.RuleNext, Reason: why, Ranking: f.Ranking,
	})
}

// decide records a decision, with a grant where somebody may speak.
func (m *Machine) decide(at time.Time, d entry.Decision) error {
	s := m.State
	if d.Round == 0 && s.Round != nil {
		d.Round = s.Round.ID
	} else if d.Round == 0 && s.Floor != nil {
		d.Round = s.Floor.Round
	}
	if d.Outcome == entry.OutcomeGrant {
		from := at
		if s.Playing != nil && s.Playing.Until().After(from) {
			from = s.Playing.Until() // it cannot be said before
		}
		d.Grant = &abi.Grant{
			Token: fmt.Sprintf("g%d", s.Head+1), Basis: s.Last.Seq,
			Expires: from.Add(time.Duration(s.Rules.Floor) * time.Millisecond),
		}
	}
	if d.Ranking == nil {
		d.Ranking = []entry.Candidate{}
	}
	_, err := m.record(entry.KindDecision, "", at, d)
	return err
}

// heard ends the line that is heard.
func (m *Machine) heard(at time.Time) error {
	b := m.State.End(m.State.Over(), m.State.Rules.Seed, at)
	_, err := m.record(entry.KindHeard, entry.HeardID(b.Line), at, b)
	return err
}
