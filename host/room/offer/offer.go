// Package offer is what becomes of lines that come from outside: they are said, refused,
// or given up, and whoever waits for one is told.
//
// It never says a line and decides about none: it reads that off the entries.
package offer

import (
	"maps"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// Outcome is what became of a line.
type Outcome struct {
	Msg     abi.Message
	Pool    abi.Budget // right afterwards
	Refused error
}

// Of gives what an entry says of the line that it was made of: the message, or the error
// its speaker sees.
func Of(e entry.Entry) (o Outcome) {
	if m, said := e.Message(); said {
		o.Msg = m
		return o
	}
	b, err := entry.Decode[entry.Refused](e)
	if err != nil {
		o.Refused = abi.AsError(err)
	} else {
		o.Refused = abi.Errorf(b.Code, "%s", b.Why)
	}
	return o
}

// Waiting are the offers whose callers wait for their end, by the seq of the request.
type Waiting map[uint64]Offer

// Offer is a line that waits.
type Offer struct {
	Who  string
	Tell func(Outcome, error)
}

// Ended is an offer that waits no more. Found says that an entry tells what became of it;
// any other was given up.
type Ended struct {
	Offer
	Outcome Outcome
	Found   bool
}

// Drop tells everybody that none of it is written down.
func (w Waiting) Drop(why error) {
	for seq, o := range w {
		delete(w, seq)
		o.Tell(Outcome{}, why)
	}
}

// Ended takes those out that are pending no more, oldest first; made are the entries since
// it was asked last.
func (w Waiting) Ended(made []entry.Entry, pending func(seq uint64) bool) (all []Ended) {
	if len(w) == 0 {
		return nil
	}
	of := map[uint64]entry.Entry{}
	for _, e := range made {
		switch e.Kind {
		case entry.KindSaid:
			b, _ := entry.Decode[entry.Said](e)
			of[b.Wish] = e
		case entry.KindRefused:
			b, _ := entry.Decode[entry.Refused](e)
			of[b.Wish] = e
		}
	}
	for _, seq := range slices.Sorted(maps.Keys(w)) {
		if pending(seq) {
			continue
		}
		end := Ended{Offer: w[seq]}
		if e, found := of[seq]; found {
			end.Outcome, end.Found = Of(e), true
		}
		delete(w, seq)
		all = append(all, end)
	}
	return all
}
