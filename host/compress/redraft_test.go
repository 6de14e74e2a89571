package compress_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/compress"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/waittest"
)

// Drafts from outside follow each other in one proposal, as many as others have; a proposal that is drafted here, or
// is not being drafted, takes none.
func TestRedraft(t *testing.T) {
	h := doortest.NewHouse(t, "main")
	talk := h.Get("main")
	for i := range 4 {
		if _, err := talk.Say(t.Context(), rooms.Utterance{From: "taro", Text: fmt.Sprintf("turn %d", i+1)}); err != nil {
			t.Fatal(err)
		}
	}
	ids, ctx, end := 0, t.Context(), make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer func() { cancel(); <-end }()
	s := compress.New(compress.Config{
		Rooms: h, NewID: func() string { ids++; return fmt.Sprint("p", ids) }, Usual: func(string) (string, string) { return "", "" },
	})
	go func() { end <- s.Run(ctx) }()
	// verified has what was sent verified, as the room would.
	verified := func(p history.Proposal, err error) (history.Proposal, error) {
		if err != nil {
			return p, err
		}
		book, _ := talk.Book(t.Context())
		s.Told("main", book)
		waittest.Until(t, "it is verified", func() bool {
			book, err = talk.Book(t.Context())
			return err != nil || book.Get(p.ID).Handed == 0
		})
		return *book.Get(p.ID), err
	}
	long := strings.Repeat("x", 500) // which is too long for any verifier
	p, err := verified(s.Propose(t.Context(), compress.Request{Room: "main", By: "mika", Turns: history.Range{From: 1, To: 2}, Text: long}))
	for n := 1; err == nil && n < history.Drafts; n++ {
		if p.State != history.BeingDrafted || len(p.Drafts) != n || p.Drafts[n-1].N != n || p.Drafts[n-1].By != "mika" {
			t.Fatalf("%+v", p)
		}
		p, err = verified(s.Redraft(t.Context(), "main", p.ID, long, "mika"))
	}
	if err != nil || p.State != history.Refused || len(p.Drafts) != history.Drafts {
		t.Fatalf("%+v, %v", p, err)
	}
	if _, err := s.Redraft(t.Context(), "main", p.ID, "x", "mika"); abi.CodeOf(err) != abi.CodeConflict || !strings.Contains(err.Error(), "is refused") {
		t.Errorf("what is over takes a draft: %v", err)
	}
	here, err := s.Propose(t.Context(), compress.Request{Room: "main", By: "mika", Turns: history.Range{From: 3, To: 4}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Redraft(t.Context(), "main", here.ID, "x", "mika"); abi.CodeOf(err) != abi.CodeConflict || !strings.Contains(err.Error(), "by extract") {
		t.Errorf("what is drafted here takes a draft: %v", err)
	}
	if _, err := s.Redraft(t.Context(), "main", "p9", "x", "mika"); abi.CodeOf(err) != abi.CodeNotFound {
		t.Error(err)
	}
}
