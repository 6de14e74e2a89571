package compress

import (
	"context"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/rooms"
)

// long is a room in which nothing but its turns is looked at.
type long struct{ rooms.Room }

func (long) Name() string { return "main" }
func (long) Past(context.Context, history.Range, bool) (reader.Past, error) {
	return reader.Past{Turns: []abi.PastTurn{{N: 1, Text: "few"}}}, nil
}
func (long) Draft(context.Context, uint64) (history.Draft, error) {
	return history.Draft{Text: "much more than is new"}, nil
}

// TestWishIsBounded: what is compressed again with what is new is so much of it that all of it may be asked for at once.
func TestWishIsBounded(t *testing.T) {
	var book history.Book
	for i := range uint64(3) {
		book.Proposals = append(book.Proposals, history.Proposal{
			State: history.Approved, Since: i + 1, Ask: history.Ask{Turns: history.Range{From: i*4500 + 1, To: (i + 1) * 4500}}, Drafts: []history.Drafting{{Seq: i + 1, Verdict: history.Yes}},
		})
	}
	s := New(Config{Usual: func(string) (string, string) { return "", "" }, NewID: func() string { return "id" }})
	in, ok, err := s.wish(t.Context(), long{}, book, 13_600, history.Standing{})
	if err != nil || !ok || in.Ask.Turns != (history.Range{From: 4501, To: 13_568}) || tooMany(in.Ask.Turns) != nil {
		t.Errorf("%+v, %v", in.Ask, err)
	}
}
