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
		Usual: "main", Rooms: []room.Settings{{Name: "main", Rules: rules}}, Read: func(name string, _ []byte) (room.Settings, error) { return room.Settings{Name: name, Rules: rules}, nil },
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
