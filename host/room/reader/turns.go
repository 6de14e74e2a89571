package reader

import (
	"context"
	"math"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/fold"
)

// This file finds turns by their numbers. Entries say which turn they are since companiond numbers
// them; those of before are counted.

// counted has a state know how many turns there are, where its snapshot does not say it.
func counted(ctx context.Context, j journal.Log, name string, st *fold.State) error {
	if !st.Uncounted() {
		return nil
	}
	n, err := CountTurns(ctx, j, name, st.Head)
	if err == nil {
		st.Count(n)
	}
	return err
}

// CountTurns gives how many turns there are up to an entry. Where the newest of them is numbered that costs nothing.
func CountTurns(ctx context.Context, j journal.Log, name string, upto uint64) (n uint64, err error) {
	newest, err := j.Said(ctx, name, journal.Span{Before: before(upto), Limit: 1, Newest: true})
	if err != nil || len(newest) == 0 {
		return 0, err
	}
	if b, err := entry.Decode[entry.Said](newest[0]); err == nil && b.Turn > 0 {
		return b.Turn, nil
	}
	c := counter{}
	err = eachSaid(ctx, j, name, 0, upto, func(e entry.Entry) bool { c.next(e); return true })
	return c.n, err
}

// TurnOf gives the number of the turn that an entry says, or, of a backchannel, of the turn that it belongs to. It is 0 where the entry does not
// say it: those of before companiond numbered turns are not counted here.
func TurnOf(ctx context.Context, j journal.Log, name string, seq uint64) (uint64, error) {
	got, err := j.Said(ctx, name, journal.Span{After: seq - 1, Before: before(seq), Limit: 1})
	if err != nil || len(got) == 0 {
		return 0, err
	}
	b, err := entry.Decode[entry.Said](got[0])
	if err != nil {
		return 0, nil // of a later version
	}
	return b.Turn, nil
}

// before gives what is behind an entry, for a Span.
func before(seq uint64) uint64 {
	if seq >= math.MaxInt64 {
		return 0
	}
	return seq + 1
}

// counter counts turns as the fold does.
type counter struct{ n uint64 }

// next gives the number of a turn, or of the turn that a backchannel belongs to.
func (c *counter) next(e entry.Entry) (n uint64, turn bool) {
	b, _ := entry.Decode[entry.Said](e) // one that cannot be read was a turn
	if n, turn = b.Number(c.n); turn {
		c.n = n
	}
	return n, turn
}

// eachSaid calls f with what was said behind an entry and up to another, until f says that it is enough.
func eachSaid(ctx context.Context, j journal.Log, name string, after, upto uint64, f func(entry.Entry) bool) error {
	const page = 500
	for {
		got, err := j.Said(ctx, name, journal.Span{After: after, Before: before(upto), Limit: page})
		if err != nil {
			return err
		}
		for _, e := range got {
			if after = e.Seq; !f(e) {
				return nil
			}
		}
		if len(got) < page {
			return nil
		}
	}
}

// Turns gives the seqs of the first and the last entry of some turns: of what was said in them, and of the
// backchannels beside them.
//
// # Errors
//
// CodeNotFound where there are not so many turns.
func Turns(ctx context.Context, j journal.Journal, name string, r history.Range) (seqs [2]uint64, err error) {
	row, _, err := j.Room(ctx, name)
	if err != nil {
		return seqs, journal.Coded(err)
	}
	after, from, err := nearTurn(ctx, j, name, r.From, row.Head.Seq)
	if err != nil {
		return seqs, journal.Coded(err)
	}
	c := counter{from}
	err = eachSaid(ctx, j, name, after, row.Head.Seq, func(e entry.Entry) bool {
		n, turn := c.next(e)
		if n > r.To {
			return false
		}
		if n == r.From && seqs[0] == 0 && (turn || n == 1) {
			seqs[0] = e.Seq
		}
		if n >= r.From {
			seqs[1] = e.Seq
		}
		return true
	})
	if err != nil {
		return seqs, journal.Coded(err)
	}
	if c.n < r.To {
		return seqs, abi.Field("turns", abi.CodeNotFound, "%s: there are %d so far", r, c.n)
	}
	return seqs, nil
}

// nearTurn gives an entry shortly before a turn, and how many turns there are up to it: by halves, as far
// as what was said is numbered. What is not stands before all that is.
func nearTurn(ctx context.Context, j journal.Log, name string, n, head uint64) (after, turns uint64, err error) {
	for low, high := uint64(0), head; high-low > 64; {
		mid := low + (high-low)/2
		got, err := j.Said(ctx, name, journal.Span{After: mid - 1, Limit: 1})
		if err != nil {
			return 0, 0, err
		}
		if len(got) == 0 {
			high = mid
			continue
		}
		b, err := entry.Decode[entry.Said](got[0])
		if err != nil {
			return 0, 0, err
		}
		if b.Turn >= n {
			high = mid
			continue
		}
		if low = got[0].Seq; b.Turn > 0 {
			after, turns = low, b.Turn
		}
	}
	return after, turns, nil
}
