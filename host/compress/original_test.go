package compress_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/compress"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/rooms"
)

// past is a room of 60 turns of which the first 5 are told as one text. It keeps what happens to its history.
type past struct {
	rooms.Room
	book   history.Book
	seq    uint64
	drafts map[uint64]history.Draft
	told   func(history.Book)
	read   func(history.Book) // called while a book is read, with what is read
}

const turns = 60

func (*past) Name() string                          { return "main" }
func (*past) Turns(context.Context) (uint64, error) { return turns, nil }

func (r *past) Book(context.Context) (history.Book, error) {
	b := r.book
	if r.read != nil {
		r.read(b)
	}
	return b, nil
}
func (r *past) Draft(_ context.Context, seq uint64) (history.Draft, error) { return r.drafts[seq], nil }

func (r *past) Past(_ context.Context, t history.Range, original bool) (p reader.Past, err error) {
	for n := t.From; n <= t.To; n++ {
		if !original && n == 1 {
			p.Turns, n = append(p.Turns, abi.PastTurn{N: 1, Upto: 5, Text: "five turns"}), 5
			continue
		}
		p.Turns = append(p.Turns, abi.PastTurn{N: n, From: "taro", Text: fmt.Sprint("original ", n)})
	}
	p.Range, p.Sum = t, fmt.Sprint(t)
	return p, nil
}

func (r *past) Happens(_ context.Context, in history.Input) (history.Proposal, error) {
	if in.Kind == history.Propose {
		in.Ask.Sum = fmt.Sprint(in.Ask.Turns)
	}
	if err := r.book.Refuses(in); err != nil {
		return history.Proposal{}, err
	}
	r.seq++
	if in.Draft != nil {
		r.drafts[r.seq] = *in.Draft
	}
	r.book.Happens(in, r.seq, time.Now())
	now := *r.book.Get(in.Proposal) // before whoever is told goes on with it
	r.told(r.book)
	return now, nil
}

// directory has that room alone.
type directory struct {
	rooms.Directory
	room rooms.Room
}

func (d directory) Room(context.Context, string) (rooms.Room, error) { return d.room, nil }

// mind says NO to everything, and keeps what it was asked.
type mind struct {
	drafts   []abi.Compressing
	verifies []abi.Verifying
}

func (m *mind) Compress(_ context.Context, _ string, c abi.Compressing) (abi.Compressed, error) {
	m.drafts = append(m.drafts, c)
	return abi.Compressed{Text: fmt.Sprint("draft ", len(m.drafts))}, nil
}

func (m *mind) Verify(_ context.Context, _ string, v abi.Verifying) (abi.Verified, error) {
	m.verifies = append(m.verifies, v)
	return abi.Verified{Verdict: abi.VerdictNo, Feedback: "the budget is missing"}, nil
}

// TestTheVerifierSeesTheOriginal: a verifier is told the turns themselves, the draft, the policy, and the history as
// it would be told, and each compresser what was wrong before; after three drafts a person is asked.
func TestTheVerifierSeesTheOriginal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &mind{}
		room := &past{drafts: map[uint64]history.Draft{}}
		s := compress.New(compress.Config{
			Rooms: directory{room: room}, NewID: func() string { return "p" }, Log: slog.New(slog.DiscardHandler),
			Mind:  func(string) (compress.Mind, error) { return m, nil },
			Usual: func(string) (string, string) { return "model", "model" },
		})
		room.told = func(b history.Book) { s.Told("main", b) }
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.Run(ctx) }()
		synctest.Wait()
		p, err := s.Propose(ctx, compress.Request{Room: "main", By: "taro", Turns: history.Range{From: 11, To: 30}, Policy: "Keep the budget."})
		if err != nil || p.State != history.BeingDrafted {
			t.Fatalf("%+v %v", p, err)
		}
		synctest.Wait()
		if got := room.book.Get("p"); got.State != history.Refused || len(got.Drafts) != history.Drafts {
			t.Errorf("%+v", got)
		}
		if len(m.verifies) != history.Drafts || len(m.drafts) != history.Drafts {
			t.Fatalf("%d drafts, %d verdicts", len(m.drafts), len(m.verifies))
		}
		for i, v := range m.verifies {
			draft := fmt.Sprint("draft ", i+1)
			if len(v.Turns) != 20 || v.Turns[0].Text != "original 11" || v.Turns[19].Text != "original 30" || v.Draft != draft || v.Policy != "Keep the budget." {
				t.Errorf("the verifier was told %+v", v)
			}
			// Ten turns before, the draft in the place of twenty, twenty behind.
			if h := v.History; len(h) != 31 || h[0].N != 1 || h[10] != (abi.PastTurn{N: 11, Upto: 30, Text: draft}) || h[11].N != 31 || h[30].N != 50 {
				t.Errorf("the history would be %+v", h)
			}
			if c := m.drafts[i]; i > 0 && (c.Draft != fmt.Sprint("draft ", i) || c.Feedback != room.drafts[uint64(i)+1].Feedback) || len(c.Turns) != 20 {
				t.Errorf("draft %d was made of %+v", i+1, c)
			}
		}
		if _, err := s.Decide(ctx, "main", "p", "taro", true, ""); abi.CodeOf(err) != abi.CodeConflict {
			t.Errorf("what was refused is approved: %v", err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestADraftThatComesInTheLastMoment: one that is sent when whoever verified the one before has just seen that there is none is verified all the same.
func TestADraftThatComesInTheLastMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &mind{}
		room := &past{drafts: map[uint64]history.Draft{}}
		s := compress.New(compress.Config{
			Rooms: directory{room: room}, NewID: func() string { return "p" }, Log: slog.New(slog.DiscardHandler),
			Mind:  func(string) (compress.Mind, error) { return m, nil },
			Usual: func(string) (string, string) { return "model", "model" },
		})
		room.told = func(b history.Book) { s.Told("main", b) }
		room.read = func(b history.Book) {
			if p := b.Get("p"); p != nil && p.Awaits() && len(p.Drafts) == 1 {
				room.read = nil
				if _, err := room.Happens(t.Context(), history.Input{Kind: history.Hand, Proposal: "p", By: "taro", Draft: &history.Draft{N: 2, Text: "second", By: "taro"}}); err != nil {
					t.Error(err)
				}
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.Run(ctx) }()
		synctest.Wait()
		if _, err := s.Propose(ctx, compress.Request{Room: "main", By: "taro", Turns: history.Range{From: 11, To: 30}, Text: "first"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if p := room.book.Get("p"); len(p.Drafts) != 2 || !p.Awaits() || len(m.verifies) != 2 || m.verifies[1].Draft != "second" {
			t.Errorf("%+v, %d verdicts", p, len(m.verifies))
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
