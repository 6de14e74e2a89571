package world

import (
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
)

// Minds are real characters, who are asked in place of the cast's models. What they
// take counts on the world's clock, so that a talk of theirs is not the same twice. An
// error is no answer, however long it is waited for.
type Minds interface {
	Vote(who string, s abi.Scene) (v abi.Vote, took time.Duration, err error)
	Line(who string, s abi.Scene) (l abi.Line, took time.Duration, err error)
}

// answer is what a mind said to a turn.
type answer struct {
	vote abi.Vote
	took time.Duration
	err  error
}

// aMoment is what an answer takes at least: a talk in which none takes any time would
// never go on.
const aMoment = time.Millisecond

type question struct {
	who string
	n   int
}

// asked gives a mind's vote about a turn. It is asked once, for the wish has to be known
// whatever rule is measured.
func (w *World) asked(who string, n int) answer {
	key := question{who, n}
	a, known := w.answers[key]
	if !known {
		w.record.Calls++
		a.vote, a.took, a.err = w.cfg.Minds.Vote(who, w.scene(who, n))
		a.took = max(a.took, aMoment)
		if a.err != nil {
			a.vote = abi.Vote{State: abi.Listen}
		}
		w.answers[key] = a
	}
	return a
}

// say asks a mind for its line.
func (w *World) say(who string, n int, first, done func(Line)) {
	s := w.scene(who, n)
	for _, t := range w.record.Turns {
		s.Recent = append(s.Recent, message(t))
	}
	s.Recent = s.Recent[max(0, len(s.Recent)-abi.RecentInAsk):]
	s.Grant = &abi.Grant{Token: "bench", Basis: uint64(w.Newest()), Expires: moment(w.now + time.Minute)}
	basis := w.Newest()
	l, took, err := w.cfg.Minds.Line(who, s)
	if err != nil {
		return
	}
	line := Line{From: who, Text: l.Text, First: l.Text, Basis: basis, Pass: l.Text == ""}
	line.To, _ = address.Meant(abi.Message{From: who, To: l.To, Text: l.Text}, w.named(), "")
	w.After(max(took, aMoment), func() {
		w.record.Written += runes(l.Text)
		if !line.Pass {
			first(line)
		}
		done(line)
	})
}

// scene is what a mind is told about a turn.
func (w *World) scene(who string, n int) abi.Scene {
	s := abi.Scene{Message: message(w.Turn(n)), Turns: w.since(n), Closing: abi.ClosingNone}
	for _, m := range w.cfg.Cast.Members {
		s.Members = append(s.Members, abi.Member{ID: m.ID, Name: m.Name, Kind: m.Kind})
	}
	for _, h := range w.cfg.Cast.Humans {
		s.Members = append(s.Members, abi.Member{ID: h.Name, Name: h.Name, Kind: abi.KindHuman})
	}
	for _, to := range w.Turn(n).To {
		s.Addressed = s.Addressed || to == who
	}
	return s
}

// named gives the names that members answer to.
func (w *World) named() (all []address.Member) {
	for _, m := range w.cfg.Cast.Members {
		all = append(all, address.Member{ID: m.ID, Names: []string{m.ID, m.Name}})
	}
	return all
}

func message(t *Turn) abi.Message {
	return abi.Message{
		Seq: uint64(t.N), ID: t.From + "/" + t.At.String(), From: t.From, To: append([]string{}, t.To...), Text: t.Text,
		Kind: t.Kind, At: moment(t.At), Addressed: t.To,
	}
}

// moment gives a time of the world as minds are told it.
func moment(at time.Duration) time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).Add(at) }
