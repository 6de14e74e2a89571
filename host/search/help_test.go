package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/search"
	"github.com/companiond/companiond/host/search/gram"
)

var day = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// stage is a journal and a keeper of its index.
type stage struct {
	t    testing.TB
	j    journal.Journal
	path string
	k    *search.Keeper
	ids  atomic.Int64
	now  time.Time
}

func newStage(t testing.TB) *stage {
	s := &stage{t: t, j: memory.New(), path: filepath.Join(t.TempDir(), search.File), now: day}
	s.open()
	return s
}

func (s *stage) open() {
	s.k = search.New(search.Config{Journal: s.j, Path: s.path})
	s.t.Cleanup(func() { _ = s.k.Close() })
}

// again closes the keeper and opens another.
func (s *stage) again() {
	s.t.Helper()
	if err := s.k.Close(); err != nil {
		s.t.Fatal(err)
	}
	s.open()
}

// say writes messages into a room.
func (s *stage) say(room, from string, texts ...string) {
	s.t.Helper()
	var news []journal.New
	for _, text := range texts {
		s.now = s.now.Add(time.Second)
		body, err := json.Marshal(entry.Said{From: from, By: abi.KindHuman, Text: text, Kind: abi.KindTurn})
		if err != nil {
			s.t.Fatal(err)
		}
		news = append(news, journal.New{ID: fmt.Sprint("m", s.ids.Add(1)), Kind: entry.KindSaid, At: s.now, Body: body})
	}
	if err := s.append(room, news...); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) append(room string, news ...journal.New) error {
	ctx := context.Background()
	row, ok, err := s.j.Room(ctx, room)
	if err == nil && !ok {
		row.Head, err = s.j.Acquire(ctx, room, "test", s.now)
	}
	if err == nil {
		_, err = s.j.Append(ctx, room, row.Head, news...)
	}
	return err
}

// find gives what is found, as "room#seq", all pages of it.
func (s *stage) find(a search.Ask) (all []string) {
	s.t.Helper()
	for {
		out, err := s.k.Search(context.Background(), a)
		if err != nil {
			s.t.Fatalf("%+v: %v", a, err)
		}
		if out.Behind {
			continue
		}
		for _, h := range out.Hits {
			all = append(all, fmt.Sprintf("%s#%d", h.Room, h.Message.Seq))
		}
		if a.Before = out.Next; out.Next == 0 {
			return all
		}
	}
}

// scan gives what find has to.
func (s *stage) scan(a search.Ask) (all []string) {
	s.t.Helper()
	ctx := context.Background()
	type one struct {
		name string
		at   time.Time
	}
	var hits []one
	for r, err := range journal.AllRooms(ctx, s.j) {
		if err != nil {
			s.t.Fatal(err)
		}
		if a.Room != "" && r.Name != a.Room {
			continue
		}
		for e, err := range journal.AllEntries(ctx, s.j, r.Name, a.After) {
			if err != nil {
				s.t.Fatal(err)
			}
			m, ok := e.Message()
			if ok = ok && (a.Before == 0 || e.Seq < a.Before) && (a.From == "" || m.From == a.From); !ok {
				continue
			}
			for _, p := range gram.Phrases(a.Query) {
				ok = ok && strings.Contains(gram.Fold(m.Text), p)
			}
			if ok {
				hits = append(hits, one{fmt.Sprintf("%s#%d", r.Name, e.Seq), e.At})
			}
		}
	}
	for len(hits) > 0 { // newest first
		newest := 0
		for i := range hits {
			if !hits[i].at.Before(hits[newest].at) {
				newest = i
			}
		}
		all = append(all, hits[newest].name)
		hits = append(hits[:newest], hits[newest+1:]...)
	}
	return all
}
