package bench

import (
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/bench/world"
)

// What can be read off a record at a moment of it.

// human gives the newest turn of a person whose words were known at a moment, nil
// before the first.
func human(r world.Record, at time.Duration) (newest *world.Turn) {
	for _, u := range r.Turns {
		if u.By == abi.KindHuman && u.At <= at {
			newest = u
		}
	}
	return newest
}

// ended says whether the talk was over at a moment: by a STOP, or as the rule itself
// took it, and no person had spoken since.
func ended(r world.Record, at time.Duration) bool {
	h := human(r, at)
	if h == nil {
		return false
	}
	return h.Stop && h.At < at || slices.ContainsFunc(r.Ends, func(end time.Duration) bool { return h.At <= end && end < at })
}

// rests says whether nothing had to be said at a moment: the talk was over, or members had
// spoken as often as they may since a person did, 0 for any number.
func rests(r world.Record, most int, at time.Duration) bool {
	h := human(r, at)
	if h == nil || h.Stop || slices.ContainsFunc(r.Ends, func(end time.Duration) bool { return h.At <= end && end <= at }) {
		return true
	}
	turns := 0
	for _, u := range r.Turns {
		if u.Speaks() && max(u.At, u.Done) > h.At && u.Begun <= at { // a line that was being made counts
			turns++
		}
	}
	return most > 0 && turns >= most
}

// wanted says whether somebody had something to say at a moment: a member after the
// newest turn, or all of them to a person who was not answered.
func wanted(r world.Record, at time.Duration) bool {
	var newest *world.Turn
	for _, u := range r.Turns {
		if u.Kind == abi.KindTurn && u.At <= at {
			newest = u
		}
	}
	if newest != nil && len(newest.Wants) > 0 {
		return true
	}
	h := human(r, at)
	if h == nil || !h.Asks() {
		return false
	}
	a := answer(r, h)
	return (a == nil || a.Begun > at) && slices.ContainsFunc(r.Cast.Members, func(m world.Member) bool { return !m.Dead })
}

// answer gives the first turn of a member that knew a person's, nil for none.
func answer(r world.Record, h *world.Turn) (first *world.Turn) {
	for _, u := range r.Turns {
		if u.Speaks() && u.Basis >= h.N && u.Begun < r.Horizon && (first == nil || u.Begun < first.Begun) {
			first = u
		}
	}
	return first
}

// owed says whether a person's turn that nobody answered is a fault: not where the same
// person said something newer, where a STOP came after it, or where nobody is alive.
func owed(r world.Record, h *world.Turn) bool {
	for _, u := range r.Turns[h.N:] {
		if u.Stop || u.From == h.From {
			return false
		}
	}
	return slices.ContainsFunc(r.Cast.Members, func(m world.Member) bool { return !m.Dead && !slices.Contains(r.Passed[h.N], m.ID) })
}

// alive says whether a member ever answers.
func alive(r world.Record, who string) bool {
	return slices.ContainsFunc(r.Cast.Members, func(m world.Member) bool { return m.ID == who && !m.Dead })
}

// alone gives how long a member's turn was heard without another member's voice.
func alone(r world.Record, u *world.Turn) time.Duration {
	var over []*world.Turn
	for _, o := range r.Turns {
		if o.Speaks() && o.From != u.From && o.Begun < u.Ended && o.Ended > u.Begun {
			over = append(over, &world.Turn{Begun: max(o.Begun, u.Begun), Ended: min(o.Ended, u.Ended)})
		}
	}
	covered, _ := measure(over)
	return u.Ended - u.Begun - covered
}
