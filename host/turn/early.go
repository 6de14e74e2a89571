package turn

import (
	"slices"

	"github.com/companiond/companiond/abi"
)

// Bounds of the early votes held for a room, and for one voter of it, so that
// one liar cannot take every place.
const (
	maxEarly     = 256
	maxEarlyEach = 8
)

// Early holds votes that arrive before the message they are about: dropped, they
// would be waited for in vain. The zero value is ready.
type Early struct {
	held []earlyVote
}

type earlyVote struct {
	about uint64
	voter string
	vote  abi.Vote
}

// Hold keeps a vote about a message that has not come yet, replacing an
// earlier one of the same voter about the same message. Where the voter's or
// all places are taken, the vote about the message furthest ahead gives way,
// for it is the least likely to be used; Hold answers false when that would be
// this one.
func (e *Early) Hold(about uint64, voter string, v abi.Vote) bool {
	mine, last, myLast := 0, -1, -1
	for i, h := range e.held {
		if h.voter == voter {
			if h.about == about {
				e.held[i].vote = v
				return true
			}
			mine++
			if myLast < 0 || h.about > e.held[myLast].about {
				myLast = i
			}
		}
		if last < 0 || h.about > e.held[last].about {
			last = i
		}
	}
	full := -1
	switch {
	case mine >= maxEarlyEach:
		full = myLast
	case len(e.held) >= maxEarly:
		full = last
	}
	if full >= 0 {
		if e.held[full].about <= about {
			return false
		}
		e.held = slices.Delete(e.held, full, full+1)
	}
	e.held = append(e.held, earlyVote{about, voter, v})
	return true
}

// Take gives the votes held about a message, by voter, and forgets them and
// all that are about earlier messages. It gives nil where there are none.
func (e *Early) Take(about uint64) map[string]abi.Vote {
	var got map[string]abi.Vote
	e.held = slices.DeleteFunc(e.held, func(h earlyVote) bool {
		if h.about == about {
			if got == nil {
				got = map[string]abi.Vote{}
			}
			got[h.voter] = h.vote
		}
		return h.about <= about
	})
	return got
}
