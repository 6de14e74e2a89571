package queue

import (
	"fmt"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// Request is an EntryWish that waits.
type Request struct {
	Seq uint64 `json:"seq"`
	entry.Wish
	Asked uint64 `json:"asked,omitempty"` // seq of the newest turn in whose round it takes part
}

// Wishes are the requests to speak of a room.
type Wishes struct {
	Requests []Request `json:"wishes,omitempty"` // oldest first
}

// MaxRequests is how many of one member may wait.
const MaxRequests = 4

// WishPatience is how long a wish for the floor waits: then what was seen is no news any
// more, and clients of agents do not wait much longer.
const WishPatience = 20 * time.Second

// Full says whether as many of one member wait as may.
func (w *Wishes) Full(who string) bool {
	n := 0
	for _, r := range w.Requests {
		if r.Who == who {
			n++
		}
	}
	return n >= MaxRequests
}

// Drop drops requests.
func (w *Wishes) Drop(which func(Request) bool) { w.Requests = slices.DeleteFunc(w.Requests, which) }

// Withdraw takes out the request of an entry, nil where there is none.
func (w *Wishes) Withdraw(seq uint64) *Request {
	return w.Take(func(r Request) bool { return r.Seq == seq })
}

// Take takes out the oldest request that fits, nil where there is none.
func (w *Wishes) Take(fits func(Request) bool) *Request {
	i := slices.IndexFunc(w.Requests, fits)
	if i < 0 {
		return nil
	}
	r := w.Requests[i]
	w.Requests = slices.Delete(w.Requests, i, i+1)
	return &r
}

// Oldest gives the oldest request that fits, nil for none.
func (w *Wishes) Oldest(fits func(Request) bool) *Request {
	i := slices.IndexFunc(w.Requests, fits)
	if i < 0 {
		return nil
	}
	return &w.Requests[i]
}

// Vote is the part that the request takes in a round.
func (r Request) Vote(round uint64) entry.Voted {
	return entry.Voted{Round: round, Voter: r.Who, Vote: abi.Vote{
		State: abi.Speak, Importance: r.Importance, Closing: r.Closing, Reason: r.Reason,
	}}
}

// Lost is the refusal of the request.
func (r Request) Lost(code abi.Code, why string) entry.Refused {
	return entry.Refused{
		Who: r.Who, By: r.By, Kind: abi.KindTurn, Code: code, Why: why, Basis: r.Basis, Text: r.Text, Offer: r.Offer, Wish: r.Seq,
	}
}

// Why says why the request is granted without a round.
func (r Request) Why() string {
	if r.Answers != 0 {
		return fmt.Sprintf("%s was asked to answer #%d, and its line is there now", r.Who, r.Answers)
	}
	if r.Perception == 0 {
		return r.Who + " has something to say while nobody has the floor"
	}
	return fmt.Sprintf("%s perceived something (#%d) while nobody had the floor", r.Who, r.Perception)
}
