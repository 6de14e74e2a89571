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
}

const turns = 60

func (*past) Name() string                                                 { return "main" }
func (*past) Turns(context.Context) (uint64, error)                        { return turns, nil }
func (r *past) Book(context.Context) (history.Book, error)                 { return r.book, nil }
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
	r.told(r.book)
	return *r.book.Get(in.Proposal), nil
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

// talk is what is compressed in these tests: a budget that the policy names, and noise.
var talk = []string{"おはよう", "予算は84,000円にしよう", "今日は暑いね", "締切は3月28日です", "そうだね", "アイスが食べたい"}

const policy = "予算と締切は残す。雑談はいらない。"

const whole, half = "予算は84,000円にしよう。締切は3月28日です。", "締切は3月28日です。"

// TestFlow goes the way of the article: a first draft is refused for what it lacks, the second one, which was
// told so, is offered; a person approves it, and what is told from then on is shorter. Reverted, it
// is as it was.
func TestFlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), half, whole)
		defer func() { h.end() }()
		h.say(talk...)
		p, err := h.propose(compress.Request{Turns: history.Range{From: 1, To: 6}, Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		p, d := h.stands(p.ID)
		if p.State != history.Offered || len(p.Drafts) != 2 || d.Text != whole || d.VerifiedBy != "scribe" {
			t.Fatalf("%+v %+v", p, d)
		}
		second := h.scribe.asked[1]
		if second.Draft != half || !strings.Contains(second.Feedback, "84,000") || second.Language != "ja" || len(second.Turns) != 6 {
			t.Errorf("the second draft was asked for like this: %+v", second)
		}
		v := h.scribe.judged[1]
		if len(v.Turns) != 6 || len(v.History) != 1 || v.History[0].Text != whole || v.Policy != policy {
			t.Errorf("the verifier was shown %+v", v)
		}
		room, _ := h.Room(t.Context(), "main")
		before, _ := room.Told(t.Context(), abi.HistoryAsk{})
		if _, err := h.service.Decide(t.Context(), "main", p.ID, "taro", true, ""); err != nil {
			t.Fatal(err)
		}
		h.say("実装に進もう")
		after, _ := room.Told(t.Context(), abi.HistoryAsk{})
		if len(before.Messages) != 6 || len(after.Messages) != 2 || after.Messages[0].Text != whole {
			t.Errorf("%d messages became %+v", len(before.Messages), after.Messages)
		}
		if _, err := h.service.Revert(t.Context(), "main", p.ID, "taro", "better as it was"); err != nil {
			t.Fatal(err)
		}
		again, _ := room.Told(t.Context(), abi.HistoryAsk{})
		if fmt.Sprint(again.Messages[:6]) != fmt.Sprint(before.Messages) {
			t.Errorf("reverted it is told as %+v", again.Messages)
		}
	})
}

// TestThreeDrafts: after three that were refused a person is asked; what was refused cannot be approved, and
// the extract of what was said itself can.
func TestThreeDrafts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), half)
		defer func() { h.end() }()
		h.say(talk...)
		p, err := h.propose(compress.Request{Turns: history.Range{From: 1, To: 6}, Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		p, d := h.stands(p.ID)
		if p.State != history.Refused || len(p.Drafts) != 3 || d.Verdict != history.No || !strings.Contains(d.Feedback, "84,000") {
			t.Fatalf("%+v %+v", p, d)
		}
		if _, err := h.service.Decide(t.Context(), "main", p.ID, "taro", true, ""); abi.CodeOf(err) != abi.CodeConflict {
			t.Errorf("what was refused is approved: %v", err)
		}
		if p, err = h.service.TakeExtract(t.Context(), "main", p.ID, "taro"); err != nil || p.State != history.Offered {
			t.Fatalf("the extract: %+v %v", p, err)
		}
		if _, d := h.stands(p.ID); !strings.Contains(d.Text, "84,000円") || !strings.Contains(d.Text, "3月28日") || strings.Contains(d.Text, "暑い") {
			t.Errorf("the extract is %q", d.Text)
		}
		if _, err := h.service.Decide(t.Context(), "main", p.ID, "taro", false, "no"); err != nil {
			t.Error(err)
		}
		if p, _ := h.stands(p.ID); p.State != history.Denied || p.Why != "no" {
			t.Errorf("%+v", p)
		}
	})
}

// TestDraftsOutliveTheDaemon: a daemon that stops while a draft is made goes on with it.
func TestDraftsOutliveTheDaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, &scribe{slow: time.Minute}, whole)
		h.say(talk...)
		p, err := h.propose(compress.Request{Turns: history.Range{From: 1, To: 6}, Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second)
		h.end()
		h.begin()
		defer func() { h.end() }()
		time.Sleep(2 * time.Minute)
		if p, _ := h.stands(p.ID); p.State != history.Offered {
			t.Errorf("%+v", p)
		}
	})
}

// TestNobodyDrafts: a mind that is gone, or has no answer, fails the proposal, which says why; a new one may be asked for.
func TestNobodyDrafts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, &scribe{broken: abi.Errorf(abi.CodeExhausted, "9 calls a day are used up")}, whole)
		defer func() { h.end() }()
		h.say(talk...)
		q := compress.Request{Turns: history.Range{From: 1, To: 6}, Policy: policy}
		p, err := h.propose(q)
		if err != nil {
			t.Fatal(err)
		}
		if p, _ := h.stands(p.ID); p.State != history.Failed || !strings.Contains(p.Why, "9 calls a day are used up") {
			t.Errorf("%+v", p)
		}
		h.scribe.broken = nil
		if p, err = h.propose(q); err != nil {
			t.Fatal(err)
		}
		if p, _ := h.stands(p.ID); p.State != history.Offered {
			t.Errorf("%+v", p)
		}
		for _, tc := range []struct {
			q    compress.Request
			code abi.Code
		}{
			{compress.Request{Turns: history.Range{From: 2, To: 3}}, abi.CodeConflict}, // one is open
			{compress.Request{Turns: history.Range{From: 7, To: 9}}, abi.CodeNotFound},
			{compress.Request{Turns: history.Range{From: 3, To: 2}}, abi.CodeInvalid},
			{compress.Request{Turns: history.Range{From: 1, To: 6}, Compresser: "nobody"}, abi.CodeNotFound},
			{compress.Request{Turns: history.Range{From: 1, To: 6}, Length: history.Length{N: 10, Unit: "pages"}}, abi.CodeInvalid},
		} {
			if _, err := h.propose(tc.q); abi.CodeOf(err) != tc.code {
				t.Errorf("%+v: %v", tc.q, err)
			}
		}
	})
}

// TestOwnDraft: a draft from outside is verified as any other, at once, and not drafted anew.
func TestOwnDraft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), whole)
		defer func() { h.end() }()
		h.say(talk...)
		p, err := h.propose(compress.Request{Turns: history.Range{From: 1, To: 6}, Policy: policy, Text: half, Verifier: compress.Extract})
		if err != nil || p.State == history.Offered || len(p.Drafts) != 1 || len(h.scribe.asked) != 0 {
			t.Fatalf("%+v %v", p, err)
		}
		if _, d := h.stands(p.ID); d.Verdict != history.No || !strings.Contains(d.Feedback, "84,000") || d.By != "taro" {
			t.Errorf("%+v", d)
		}
	})
}
