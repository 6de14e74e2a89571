package session

import (
	"github.com/companiond/companiond/host/entry"
)

// memory is how much of a room's newest is remembered of each kind.
const memory = 256

// asked finds out of a room's entries what a line answers. The zero value is ready.
type asked struct {
	ids    recent[uint64, string] // of what people said, by seq
	rounds recent[uint64, uint64] // seq of what a round is about, by the round's
	wishes recent[uint64, uint64] // seq of what a request to speak answers, by the request's
	grants recent[string, uint64] // seq of what a line is about, by its token
}

// said notes what a person said.
func (a *asked) said(seq uint64, id string) { a.ids.put(seq, id) }

// of gives the id of the message that a line answers.
func (a *asked) of(line string) string { return a.ids.get(a.grants.get(line)) }

// about gives its seq.
func (a *asked) about(line string) uint64 { return a.grants.get(line) }

// note takes an entry that says who is to speak, about what, and whether anybody does.
func (a *asked) note(e entry.Entry, at Entry) (Out, error) {
	switch e.Kind {
	case entry.KindRound:
		b, err := entry.Decode[entry.Round](e)
		a.rounds.put(e.Seq, b.About)
		return nil, err
	case entry.KindWish:
		b, err := entry.Decode[entry.Wish](e)
		a.wishes.put(e.Seq, b.Answers)
		return nil, err
	case entry.KindDecision:
		b, err := entry.Decode[entry.Decision](e)
		if err != nil {
			return nil, err
		}
		about := a.rounds.get(b.Round)
		if b.Wish != 0 {
			about = a.wishes.get(b.Wish)
		}
		switch b.Outcome {
		case entry.OutcomeGrant:
			if b.Grant != nil {
				a.grants.put(b.Grant.Token, about)
			}
		case entry.OutcomeSilence, entry.OutcomeClosed, entry.OutcomeCapped, entry.OutcomeStopped:
			return Passed{at, about, b.Reason, false}, nil
		}
	case entry.KindArchived:
		return Passed{at, e.Seq, "the room was closed", true}, nil
	}
	return nil, nil
}

// recent is a table of the newest.
type recent[K comparable, V any] struct {
	keys []K
	of   map[K]V
}

func (r *recent[K, V]) get(k K) V { return r.of[k] }

func (r *recent[K, V]) put(k K, v V) {
	if r.of == nil {
		r.of = map[K]V{}
	}
	if _, has := r.of[k]; !has {
		r.keys = append(r.keys, k)
	}
	if r.of[k] = v; len(r.keys) > memory {
		delete(r.of, r.keys[0])
		r.keys = r.keys[1:]
	}
}
