package session

import (
	"context"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/identity"
)

// Past asks what was said in the room.
type Past struct {
	ID    string // by which the client names it
	Since uint64 // seq of the entry behind which it begins
	Limit int    // the newest so many; 0 for none
	// Of what was taken:
	Head     uint64 // seq of the newest entry
	Messages []PastMessage
}

// PastMessage is one that was said, as it was heard.
type PastMessage struct {
	abi.Message
	Human bool // of somebody who is no companion or agent of the room
}

// Switch has the client be one of another companion's of the room.
type Switch struct{ Companion string }

// Key implements [In].
func (p Past) Key() string   { return p.ID }
func (s Switch) Key() string { return s.Companion }

// past reads what was said.
func (s *Session) past(ctx context.Context, in Past) (Past, error) {
	if err := s.Caller.May(identity.Read); err != nil {
		return in, err
	}
	_, head, err := s.Room.Entries(ctx, 0, 1)
	if in.Head = head; err != nil || in.Limit == 0 {
		return in, err
	}
	past, err := s.Room.History(ctx, abi.HistoryAsk{Limit: in.Limit})
	members := s.Everyone()
	for _, m := range past.Messages {
		if m.Seq > in.Since {
			in.Messages = append(in.Messages, PastMessage{m, !slices.Contains(members, m.From)})
		}
	}
	return in, err
}
