package mcp

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/search"
)

// asks answers searches, and notes the newest.
type asks struct {
	ask search.Ask
	out search.Answer
	err error
}

func (a *asks) Search(_ context.Context, ask search.Ask) (search.Answer, error) {
	a.ask = ask
	return a.out, a.err
}

func TestSearchHistory(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("vote", abi.Pool{})})
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	s := &asks{out: search.Answer{Next: 4, Hits: []search.Hit{{Room: "main", Message: abi.Message{Seq: 4, From: "mika", Text: "天気", Kind: abi.KindTurn, At: at, Cut: "cut"}, Turn: 3}}}}
	d := New(Config{Rooms: h.rooms, Cards: noCards, Search: s, Stopping: t.Context()})
	guest := call{caller: identity.Guest(nil)}
	got, err := d.search(t.Context(), guest, searchIn{Query: "天気", By: "mika", Before: 9, Limit: 5})
	out, _ := got.(searchOut)
	if err != nil || !slices.Equal(out.Hits, []searchHit{{"main", 4, 3, "mika", "天気", abi.KindTurn, at, "cut"}}) || out.Next != 4 {
		t.Errorf("%+v %v", got, err)
	}
	if a := s.ask; a.Room != "main" || a.Query != "天気" || a.From != "mika" || a.Before != 9 || a.Limit != 5 {
		t.Errorf("%+v", a)
	}
	if _, err := d.search(t.Context(), guest, searchIn{Query: "天気", Room: "*"}); err != nil || s.ask.Room != "" || !s.ask.May("main") || s.ask.May("nowhere") {
		t.Errorf("%+v %v", s.ask, err)
	}
	if _, err := d.search(t.Context(), guest, searchIn{Query: "a", Room: "nowhere"}); abi.CodeOf(err) != abi.CodeNotFound {
		t.Error(err)
	}
	s.err = abi.Field("q", abi.CodeInvalid, "has no words")
	if _, err := d.search(t.Context(), guest, searchIn{}); abi.AsError(err).Field != "query" {
		t.Error(err)
	}
	if New(Config{Rooms: h.rooms, Cards: noCards, Stopping: t.Context()}).quick["search_history"] != nil || d.quick["search_history"] == nil {
		t.Error("it is offered where nothing searches, or not where something does")
	}
}
