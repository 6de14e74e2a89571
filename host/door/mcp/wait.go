package mcp

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// news is what an agent may want to act on.
type news struct {
	Reason   string   `json:"reason"` // granted, asked, addressed, unseen or timeout
	Room     string   `json:"room"`
	Head     uint64   `json:"head"` // the basis_seq of what is said next
	Grant    *grant   `json:"grant,omitempty"`
	Round    *round   `json:"round,omitempty"`
	Messages []heard  `json:"messages"` // what was not seen yet, oldest first
	Resource *float64 `json:"resource,omitempty"`
	stage
	sound
}

// stage is how far a talk has come.
type stage struct {
	Closing  abi.Closing `json:"closing"`
	Turns    int         `json:"turns"`     // of others than people since a person spoke
	MaxTurns int         `json:"max_turns"` // 0: no cap
}

type grant struct {
	Token   string    `json:"token"`
	Basis   uint64    `json:"basis_seq"`
	Expires time.Time `json:"expires"`
}

type round struct {
	About     uint64    `json:"about"`
	Due       time.Time `json:"due"`
	Addressed bool      `json:"addressed"`
}

// Why a wait ended, in the order in which they are looked for.
const (
	reasonGranted   = "granted"
	reasonAsked     = "asked"
	reasonAddressed = "addressed"
	reasonUnseen    = "unseen"
	reasonTimeout   = "timeout"
)

// look gives what there is for an agent now. It looks at the room and not at
// what has changed, so that nothing is missed between two looks.
func look(ctx context.Context, talk rooms.Room, who string, seen uint64) (news, rooms.Info, error) {
	info := talk.Info()
	n := news{Room: talk.Name(), Head: info.Head, Messages: []heard{}, stage: stage{info.Closing, info.Turns, info.MaxTurns}, sound: sound{info.Heard, info.Waiting}}
	if info.Pool != nil {
		n.Resource = &info.Pool.Level
	}
	if info.Head > seen {
		past, err := talk.History(ctx, abi.HistoryAsk{Limit: abi.MaxHistory})
		if err != nil {
			return n, info, err
		}
		n.Head = past.Head
		for _, m := range past.Messages {
			if m.Seq > seen && m.From != who {
				n.Messages = append(n.Messages, shown(m))
			}
		}
	}
	if info.Floor == who && info.Grant != nil {
		n.Reason, n.Grant = reasonGranted, &grant{info.Grant.Token, info.Grant.Basis, info.Grant.Expires}
		return n, info, nil
	}
	if r := info.Round; r != nil && slices.Contains(r.Awaits, who) {
		n.Reason, n.Round = reasonAsked, &round{r.About, r.Due, slices.Contains(r.Addressed, who)}
		return n, info, nil
	}
	if len(n.Messages) > 0 {
		n.Reason = reasonUnseen
		if slices.ContainsFunc(n.Messages, func(h heard) bool { return slices.Contains(h.addressed, who) }) {
			n.Reason = reasonAddressed
		}
	}
	return n, info, nil
}

// wait looks until there is something for an agent, at least once; when limit is over
// before, there is no reason. It does not hold up a daemon that is stopping.
func wait(ctx, stopping context.Context, limit time.Duration, talk rooms.Room, who string, seen uint64) (news, rooms.Info, error) {
	poll, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer context.AfterFunc(stopping, cancel)()
	for {
		n, info, err := look(ctx, talk, who, seen)
		if err != nil || n.Reason != "" {
			return n, info, err
		}
		err = talk.Follow(poll, info.Head, func([]entry.Entry) error { return errGrown })
		switch {
		case ctx.Err() != nil:
			return n, info, ctx.Err()
		case stopping.Err() != nil:
			return n, info, rooms.ErrStopping
		case poll.Err() != nil:
			return n, info, nil
		case err != nil && !errors.Is(err, errGrown):
			return n, info, err
		}
	}
}

// enterWait counts a call that waits; there may be so many at a time.
func (d *Door) enterWait() (leave func(), err error) {
	select {
	case d.waits <- struct{}{}:
		return func() { <-d.waits }, nil
	default:
		return nil, abi.Errorf(abi.CodeExhausted, "%d agents are waiting here, which is all there may be", cap(d.waits))
	}
}

var errGrown = errors.New("the room has grown")

// isHere says whether an agent is a member of a room.
func isHere(info rooms.Info, who string) bool {
	return slices.ContainsFunc(info.Members, func(m abi.Member) bool { return m.ID == who && m.Kind == abi.KindAgent })
}

// newestTurn is what a vote is about now.
func newestTurn(info rooms.Info) uint64 {
	if info.Round != nil {
		return info.Round.About
	}
	return info.Last
}
