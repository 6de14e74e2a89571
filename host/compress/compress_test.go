package compress_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/compress"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/room/registry"
	"github.com/companiond/companiond/host/rooms"
)

// scribe is a mind whose drafts are given, and that finds whatever stands in one.
type scribe struct {
	mu     sync.Mutex
	drafts []string
	asked  []abi.Compressing
	judged []abi.Verifying
	broken error
	slow   time.Duration
	during func() // called while it verifies
}

func (s *scribe) Compress(ctx context.Context, _ string, c abi.Compressing) (abi.Compressed, error) {
	select {
	case <-time.After(s.slow):
	case <-ctx.Done():
		return abi.Compressed{}, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, c)
	if s.broken != nil {
		return abi.Compressed{}, s.broken
	}
	n := min(len(s.asked), len(s.drafts)) - 1
	return abi.Compressed{Text: s.drafts[n]}, nil
}

func (s *scribe) Verify(_ context.Context, _ string, v abi.Verifying) (abi.Verified, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.judged = append(s.judged, v)
	if s.during != nil {
		s.during()
	}
	out := abi.Verified{Verdict: string(history.Yes)}
	for _, k := range v.Keep {
		item := abi.VerifiedItem{ID: k.ID, Status: string(history.Kept), Quote: k.Text}
		if !strings.Contains(v.Draft, k.Text) {
			item.Status, item.Quote = string(history.Missing), ""
			if k.Policy {
				out.Verdict, out.Feedback = string(history.No), k.ID+" is missing: "+k.Text
			}
		}
		out.Items = append(out.Items, item)
	}
	return out, nil
}

// house is rooms in which people talk, and a service.
type house struct {
	*testing.T
	*registry.Registry
	service *compress.Service
	scribe  *scribe
	journal *memory.Journal
	end     func()
	ids     int
}

func newHouse(t *testing.T, s *scribe, drafts ...string) *house {
	s.drafts = drafts
	h := &house{T: t, scribe: s, journal: memory.New()}
	h.begin()
	return h
}

func (h *house) begin() {
	var mu sync.Mutex
	id := func() string {
		mu.Lock()
		defer mu.Unlock()
		h.ids++
		return fmt.Sprint("id", h.ids)
	}
	log := slog.New(slog.DiscardHandler)
	rules := entry.Rules{Policy: "vote", Seed: "s", Patience: 1000, Floor: 5000, MaxTurns: 1, Stale: entry.StaleAccept}
	var err error
	h.Registry, err = registry.New(registry.Config{
		Usual: "main", Rooms: []room.Settings{{Name: "main", Rules: rules}}, Read: func(name string, _ []byte) (room.Settings, error) {
			return room.Settings{Name: name, Rules: rules}, nil
		},
		Room: room.Config{Journal: h.journal, NewID: id, Log: log, Find: func(string) (room.Companion, bool) { return nil, false },
			Told: func(room string, now history.Book) { h.service.Told(room, now) }},
	})
	if err != nil {
		h.Fatal(err)
	}
	h.service = compress.New(compress.Config{
		Rooms: h.Registry, NewID: id, Log: log, Usual: func(string) (string, string) { return "scribe", "scribe" },
		Mind: func(id string) (compress.Mind, error) {
			if id != "scribe" {
				return nil, abi.Errorf(abi.CodeNotFound, "there is no companion %q", id)
			}
			return h.scribe, nil
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = h.Registry.Run(ctx) })
	running.Go(func() { _ = h.service.Run(ctx) })
	h.end = func() { cancel(); running.Wait() }
	h.SetCast(ctx, []entry.Joined{})
}

func (h *house) say(texts ...string) {
	h.Helper()
	talk, err := h.Room(h.Context(), "main")
	if err != nil {
		h.Fatal(err)
	}
	for _, text := range texts {
		if _, err := talk.Say(h.Context(), rooms.Utterance{From: "taro", Text: text}); err != nil {
			h.Fatal(err)
		}
	}
}

func (h *house) propose(q compress.Request) (history.Proposal, error) {
	q.Room, q.By = "main", "taro"
	p, err := h.service.Propose(h.Context(), q)
	synctest.Wait()
	return p, err
}

// stands gives how a proposal stands, and its newest draft.
func (h *house) stands(id string) (p history.Proposal, d history.Draft) {
	h.Helper()
	talk, err := h.Room(h.Context(), "main")
	if err != nil {
		h.Fatal(err)
	}
	book, err := talk.Book(h.Context())
	if err != nil || book.Get(id) == nil {
		h.Fatalf("no proposal %s: %v", id, err)
	}
	p = *book.Get(id)
	if n := len(p.Drafts); n > 0 {
		if d, err = talk.Draft(h.Context(), p.Drafts[n-1].Seq); err != nil {
			h.Fatal(err)
		}
	}
	return p, d
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

// TestErasedMeanwhile: words that are erased while a draft of them is verified do not come back with it.
func TestErasedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), whole)
		defer func() { h.end() }()
		h.say(talk...)
		h.scribe.during = func() {
			said, err := h.journal.Said(context.Background(), "main", journal.Span{Limit: 2})
			if err == nil {
				seq := said[1].Seq
				err = h.journal.Blank(context.Background(), "main", seq, map[uint64][]byte{seq: []byte(`{"from":"somebody","by":"human","text":"","kind":"turn","turn":2,"erased":"o"}`)})
			}
			if err != nil {
				t.Error(err)
			}
		}
		p, err := h.propose(compress.Request{Turns: history.Range{From: 1, To: 6}, Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		if p, _ := h.stands(p.ID); p.State != history.Failed || len(p.Drafts) != 0 || !strings.Contains(p.Why, "erased") {
			t.Errorf("%+v", p)
		}
		all, _ := h.journal.Read(t.Context(), "main", 0, 1000)
		for _, e := range all {
			if strings.Contains(string(e.Body), "84,000") {
				t.Errorf("entry %d has it: %s", e.Seq, e.Body)
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
