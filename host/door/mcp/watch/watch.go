// Package watch finds out what there is to do for an agent in a room: a grant to use, a
// vote to give, something that it has not seen, points that are back. It looks at the room
// and not at what has changed, so that nothing is missed between two looks.
//
// What it has told an agent it does not tell it again at once, or a model that has
// nothing to say would be asked for ever. It never changes a room, and does not know the MCP SDK.
package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/readers"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// News is what an agent may want to act on.
type News struct {
	Reason   Reason    `json:"reason"`
	Room     string    `json:"room"`
	Head     uint64    `json:"head"` // the basis_seq of what is said next
	Grant    *Grant    `json:"grant,omitempty"`
	Round    *Round    `json:"round,omitempty"`
	Messages []Message `json:"messages"`               // what was not seen yet, oldest first
	Missed   *uint64   `json:"missed_since,omitempty"` // there were more, behind this
	Resource *float64  `json:"resource,omitempty"`
	Price    *float64  `json:"turn_price,omitempty"` // of a usual turn; nil where turns are not paid for
	Stage
	Sound
}

// Reason is why a wait ended.
type Reason string

// The reasons, in the order in which they are looked for.
const (
	Granted   Reason = "granted"
	Asked     Reason = "asked"
	Addressed Reason = "addressed"
	Unseen    Reason = "unseen"
	Points    Reason = "points"
	Timeout   Reason = "timeout"
)

// Stage is how far a talk has come.
type Stage struct {
	Closing  abi.Closing `json:"closing"`
	Turns    int         `json:"turns"`     // of others than people since a person spoke
	MaxTurns int         `json:"max_turns"` // 0: no cap
}

// Sound is what a talk waits for.
type Sound struct {
	Heard   string `json:"heard,omitempty"`   // whose line is heard now
	Waiting string `json:"waiting,omitempty"` // why nobody answers yet
}

// Grant is what the agent may speak with.
type Grant struct {
	Token   string    `json:"token"`
	Basis   uint64    `json:"basis_seq"`
	Expires time.Time `json:"expires"`
}

// Round waits for the agent's vote.
type Round struct {
	About     uint64    `json:"about"`
	Due       time.Time `json:"due"`
	Addressed bool      `json:"addressed"`
}

// Message is one message of chat-relay's history; the fields from Seq on are what is
// added to it.
type Message struct {
	From    string          `json:"from"`
	Message string          `json:"message"`
	Seq     uint64          `json:"seq,omitempty"`
	Kind    abi.MessageKind `json:"kind,omitempty"`
	To      []string        `json:"to,omitempty"`
	At      *time.Time      `json:"at,omitempty"`
	Cut     string          `json:"cut,omitempty"` // people heard no more of it than message has

	addressed []string
}

// Shown gives a message with all that is added.
func Shown(m abi.Message) Message {
	return Message{m.From, m.Text, m.Seq, m.Kind, m.To, &m.At, m.Cut, m.Addressed}
}

// Waiter waits for an agent.
type Waiter struct {
	Talk    rooms.Room
	Who     string // the agent
	At      readers.Place
	Readers *readers.Readers
	// Basis is up to where the agent says it has read. Nil means what is remembered.
	Basis *uint64
	// Here is asked before the agent is told anything: an error is its answer then.
	Here func(rooms.Info) error
	// Stopping ends when the daemon is about to.
	Stopping context.Context
}

// pause is how long a wait for points takes before it looks again: they come back
// with time, which is no entry. A room at a glance is as late as its loop is, and looked at
// again after glance, and then more seldom.
const (
	pause  = 250 * time.Millisecond
	glance = time.Millisecond
)

// Wait looks until there is something for the agent, at least once, and notes that it was
// told. When limit is over before, the reason is Timeout; or again what the agent was told
// to do and has not done.
func (w Waiter) Wait(ctx context.Context, limit time.Duration) (News, error) {
	poll, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer context.AfterFunc(w.Stopping, cancel)()
	var grown uint64
	late := glance
	for {
		was, over := w.Readers.Standing(w.At), poll.Err() != nil || limit == 0
		n, info, do, err := w.look(ctx, was, grown, over)
		if err != nil {
			return n, err
		}
		if info.Head < n.Head && !over { // what it shows is older than what was written: the grant, or the round, may be missing
			if err := w.rest(ctx, poll, late); err != nil {
				return n, err
			}
			late = min(2*late, pause)
			continue
		}
		late = glance
		if n.Reason != "" {
			told, err := w.tell(ctx, n, info, do, was)
			if err != nil || told {
				return n, err
			}
			continue
		}
		if grown, err = w.sleep(ctx, poll, n.Head, was); err != nil {
			return n, err
		}
	}
}

// Look gives what Wait would answer at once if its limit were 0, and the room as it was
// then. It notes nothing and asks nobody.
func (w Waiter) Look(ctx context.Context) (News, rooms.Info, error) {
	n, info, _, err := w.look(ctx, w.Readers.Standing(w.At), 0, true)
	return n, info, err
}

// tell notes what the agent is told; told is false where another wait of it was quicker.
func (w Waiter) tell(ctx context.Context, n News, info rooms.Info, do string, was readers.Standing) (told bool, err error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err := w.Here(info); err != nil {
		return false, err
	}
	if !w.Readers.Hand(w.At, was, n.Head, do, pays(info, was)) {
		return false, nil
	}
	if len(n.Messages) > 0 {
		Poor(w.Readers, w.At, info)
	}
	return true, nil
}

// Poor notes that an agent was told of a pool that is too low for a turn, where turns are
// paid for: it is to be woken when there is enough. What it is told of without any
// news is nothing that it would answer.
func Poor(r *readers.Readers, at readers.Place, info rooms.Info) {
	if p := info.Pool; info.FreeTurns && p != nil && p.Level < p.TurnPrice() {
		r.Told(at, *p)
	}
}

// rest lets a little time pass.
func (w Waiter) rest(ctx, poll context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-poll.Done():
	case <-timer.C:
	}
	return w.ended(ctx)
}

// ended says why the agent is told nothing any more.
func (w Waiter) ended(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if w.Stopping.Err() != nil {
		return rooms.ErrStopping
	}
	return nil
}

// sleep returns when the room has grown behind head, and how far, the pool may have, or
// poll is over.
func (w Waiter) sleep(ctx, poll context.Context, head uint64, was readers.Standing) (grown uint64, err error) {
	if was.Short || was.Poor {
		var cancel context.CancelFunc
		poll, cancel = context.WithTimeout(poll, pause)
		defer cancel()
	}
	grown = head
	err = w.Talk.Follow(poll, head, func(batch []entry.Entry) error {
		grown = batch[len(batch)-1].Seq
		return errGrown
	})
	if ended := w.ended(ctx); ended != nil {
		return grown, ended
	}
	if poll.Err() != nil || errors.Is(err, errGrown) {
		return grown, nil
	}
	return grown, err
}

var errGrown = errors.New("the room has grown")

// look gives what there is for the agent now, and what of it is to do. What it was told
// to do before counts only when the wait is over; then there is always a reason.
func (w Waiter) look(ctx context.Context, was readers.Standing, grown uint64, over bool) (n News, info rooms.Info, do string, err error) {
	info = w.Talk.Info()
	n = News{
		Room: w.Talk.Name(), Head: max(info.Head, grown), Messages: []Message{},
		Stage: Stage{cmp.Or(info.Closing, abi.ClosingNone), info.Turns, info.MaxTurns}, Sound: Sound{info.Heard, info.Waiting},
	}
	if info.Pool != nil {
		n.Resource = &info.Pool.Level
		if price := info.Pool.TurnPrice(); info.FreeTurns {
			n.Price = &price
		}
	}
	seen := was.Seen
	if w.Basis != nil {
		seen = *w.Basis
	}
	if err := w.unseen(ctx, &n, seen); err != nil {
		return n, info, "", err
	}
	do = was.Handed
	if info.Floor == w.Who && info.Grant != nil {
		n.Grant = &Grant{info.Grant.Token, info.Grant.Basis, info.Grant.Expires}
		do, n.Reason = fmt.Sprintf("grant %s at %d", info.Grant.Token, info.Grant.Basis), Granted
	} else if r := info.Round; r != nil && slices.Contains(r.Awaits, w.Who) {
		n.Round = &Round{r.About, r.Due, slices.Contains(r.Addressed, w.Who)}
		do, n.Reason = fmt.Sprint("round ", r.ID), Asked
	}
	switch {
	case n.Reason != "" && (do != was.Handed || over):
	case slices.ContainsFunc(n.Messages, func(m Message) bool { return slices.Contains(m.addressed, w.Who) }):
		n.Reason = Addressed
	case len(n.Messages) > 0:
		n.Reason = Unseen
	case pays(info, was):
		n.Reason = Points
	case over:
		n.Reason = Timeout
	default:
		n.Reason = ""
	}
	return n, info, do, nil
}

// pays says whether the pool pays again for what the agent had too few points for.
func pays(info rooms.Info, was readers.Standing) bool {
	p := info.Pool
	return p != nil && (was.Short && was.Need <= p.Level || was.Poor && p.TurnPrice() <= p.Level)
}

// unseen finds what others said behind seen.
func (w Waiter) unseen(ctx context.Context, n *News, seen uint64) error {
	if n.Head <= seen {
		n.Head = seen
		return nil
	}
	past, err := w.Talk.History(ctx, abi.HistoryAsk{Limit: abi.MaxHistory})
	if err != nil {
		return err
	}
	n.Head = max(past.Head, seen)
	for _, m := range past.Messages {
		if m.Seq > seen && m.From != w.Who {
			n.Messages = append(n.Messages, Shown(m))
		}
	}
	more, err := Gap(ctx, w.Talk, past.Messages, seen)
	if more {
		n.Missed = &seen
	}
	return err
}

// Gap says whether there are messages behind seen that are older than these, of which
// there are as many as may be.
func Gap(ctx context.Context, talk rooms.Room, these []abi.Message, seen uint64) (bool, error) {
	if len(these) == 0 || these[0].Seq <= seen+1 {
		return false, nil
	}
	before, err := talk.History(ctx, abi.HistoryAsk{Before: these[0].Seq, Limit: 1})
	if err != nil {
		return false, err
	}
	return len(before.Messages) > 0 && before.Messages[0].Seq > seen, nil
}
