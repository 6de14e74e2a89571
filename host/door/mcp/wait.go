package mcp

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room"
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
// what has changed, so that nothing is missed between two looks (flaw A4).
func look(ctx context.Context, talk room.Talk, who string, seen uint64) (news, room.Info, error) {
	info := talk.Info()
	n := news{Room: talk.Name(), Head: info.Head, Messages: []heard{}}
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

// wait looks until wanted says yes, at least once; ok is false when limit is
// over before.
func wait(ctx context.Context, limit time.Duration, talk room.Talk, who string, seen uint64, wanted func(news, room.Info) bool) (n news, ok bool, err error) {
	poll, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		n, info, err := look(ctx, talk, who, seen)
		if err != nil || wanted(n, info) {
			return n, err == nil, err
		}
		err = talk.Follow(poll, info.Head, func([]entry.Entry) error { return errGrown })
		switch {
		case ctx.Err() != nil:
			return n, false, ctx.Err()
		case poll.Err() != nil:
			return n, false, nil
		case err != nil && !errors.Is(err, errGrown):
			return n, false, err
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

// freePatience bounds how long a line that is paid for waits for a room that is
// busy with its companions: less than a model would take to try again.
const freePatience = 3 * time.Second

// isBusy says whether a line that is paid for would be refused just because
// votes are being counted or another has the floor.
func isBusy(info room.Info, who string) bool {
	return info.FreeTurns && (info.Round != nil || info.Floor != "" && info.Floor != who)
}

// awaitFree waits until a room is not busy any more. What becomes of the line
// then is the room's to say.
func awaitFree(ctx context.Context, talk room.Talk, who string) {
	// Nothing is read: what was said meanwhile is for the room to hold against
	// the line's basis.
	_, _, _ = wait(ctx, freePatience, talk, who, math.MaxUint64, func(_ news, info room.Info) bool { return !isBusy(info, who) })
}

// wishPatience bounds how long a wish for the floor waits: shorter than the
// clients of MCP wait for an answer.
const wishPatience = 20 * time.Second

// wish is consume where a turn needs the floor: a vote to speak with the line
// at hand. When it wins, the line is said; when another speaks first it is
// refused, for it answers what is no longer the newest.
func (d *Door) wish(ctx context.Context, talk room.Talk, u room.Utterance, lost int) (abi.Message, abi.Budget, error) {
	g, err := d.win(ctx, talk, u, lost)
	if err != nil {
		pool, _ := talk.Budget()
		return abi.Message{}, pool, err
	}
	u.Grant, u.Basis, u.Kind = g.Token, g.Basis, abi.KindTurn
	return talk.Consume(ctx, u)
}

// win votes for a line until its speaker has the floor. The importance is a
// tenth of the amount, and one more for each line lost before: an agent that
// always offers the same would else never be heard beside companions that wish a
// little more.
func (d *Door) win(ctx context.Context, talk room.Talk, u room.Utterance, lost int) (*grant, error) {
	leave, err := d.enterWait()
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := talk.Attend(ctx, u.From, true); err != nil {
		return nil, err
	}
	basis := u.Basis
	if basis == 0 {
		basis = talk.Info().Head
	}
	voted := uint64(0)
	var refused error
	n, ok, err := wait(ctx, wishPatience, talk, u.From, basis, func(n news, info room.Info) bool {
		if n.Reason == reasonGranted || turnSince(n) {
			return true
		}
		if refused = over(info); refused != nil {
			return true
		}
		about := newestTurn(info)
		if about != voted && (n.Reason == reasonAsked || info.Round == nil && info.State == "resting") {
			v := abi.Vote{State: abi.Speak, Importance: math.Min(10, *u.Offer/10+float64(lost)), Reason: "has a line ready"}
			if refused = voteFor(ctx, talk, u.From, about, v); refused == nil {
				voted = about
			}
		}
		return refused != nil && info.Round == nil // nothing is on its way that could change that
	})
	switch {
	case err != nil:
		return nil, err
	case n.Reason == reasonGranted:
		return n.Grant, nil
	case refused != nil:
		return nil, refused
	case !ok:
		return nil, abi.Errorf(abi.CodeConflict, "%s did not get the floor", u.From)
	}
	return nil, abi.Errorf(abi.CodeStale, "%s spoke first", n.Messages[len(n.Messages)-1].From)
}

// voteFor votes for an agent that is here; one that is not any more is told why.
func voteFor(ctx context.Context, talk room.Talk, who string, about uint64, v abi.Vote) error {
	if err := talk.Attend(ctx, who, true); err != nil {
		return err
	}
	return talk.Vote(ctx, who, about, v)
}

// isHere says whether an agent is a member of a room.
func isHere(info room.Info, who string) bool {
	return slices.ContainsFunc(info.Members, func(m abi.Member) bool { return m.ID == who && m.Kind == abi.KindAgent })
}

// over says why nobody but a human may speak, nil when somebody may.
func over(info room.Info) error {
	switch info.State {
	case "archived":
		return abi.Errorf(abi.CodeDenied, "room: %s was closed; what was said can still be read", info.Name)
	case "stopped":
		return abi.Errorf(abi.CodeDenied, "a human said STOP; what a human says next starts the talk again")
	case "closed":
		return abi.Errorf(abi.CodeDenied, "the talk has ended; what a human says next starts a new one")
	case "capped":
		return abi.Errorf(abi.CodeDenied, "%d turns were taken since a human spoke, which is the cap", info.Turns)
	}
	return nil
}

// turnSince says whether somebody else took a turn.
func turnSince(n news) bool {
	return slices.ContainsFunc(n.Messages, func(h heard) bool { return h.Kind == abi.KindTurn })
}

// newestTurn is what a vote is about now.
func newestTurn(info room.Info) uint64 {
	if info.Round != nil {
		return info.Round.About
	}
	return info.Last
}
