// Package reader reads what the journal has of a room, whether the room is awake or not:
// entries, messages, the reasons of decisions, the state that the entries fold to, and
// whether the rules would make them again.
//
// It never writes, and it starts nothing.
package reader

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/context/window"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/model/tokens"
)

// Room reads what the journal has of a room, whether the room is awake or not.
// Each of its reads costs as much as what it gives.
type Room struct {
	journal journal.Journal
	name    string
}

// New makes a reader of a room. The room need not exist.
func New(j journal.Journal, room string) Room { return Room{j, room} }

// Name is the room's name.
func (r Room) Name() string { return r.name }

// History gives messages of before, oldest first.
func (r Room) History(ctx context.Context, ask abi.HistoryAsk) (abi.History, error) {
	if err := checkHistory(&ask); err != nil {
		return abi.History{}, err
	}
	head, err := r.head(ctx, 0)
	if err != nil {
		return abi.History{}, err
	}
	msgs, err := Said(ctx, r.journal, r.name, journal.Span{Before: ask.Before, Limit: ask.Limit, Newest: true})
	if err != nil {
		return abi.History{}, journal.Coded(err)
	}
	return within(abi.History{Messages: msgs, Head: head}, ask.Budget), nil
}

// Sent finds the message that was sent with an id, if any was; CodeConflict where it is
// not m.
func (r Room) Sent(ctx context.Context, id string, m entry.Said) (was abi.Message, found bool, err error) {
	e, found, err := r.journal.Find(ctx, r.name, id)
	if err != nil || !found {
		return abi.Message{}, false, journal.Coded(err)
	}
	was, ok := e.Message()
	if !ok || was.From != m.From || was.Text != m.Text || !slices.Equal(was.To, append([]string{}, m.To...)) {
		return abi.Message{}, true, abi.Field("id", abi.CodeConflict, "%q is another message", id)
	}
	return was, true, nil
}

// Said reads messages, each as it was heard.
func Said(ctx context.Context, j journal.Log, room string, s journal.Span) ([]abi.Message, error) {
	page, err := SaidBy(ctx, j, room, s, math.MaxUint64)
	return page.Messages, err
}

// Page is some messages, and where the next ones begin; 0: there are none.
type Page struct {
	Messages []abi.Message
	Next     uint64
}

// SaidBy reads messages, each as it had been heard when the room was as far as head.
func SaidBy(ctx context.Context, j journal.Log, room string, s journal.Span, head uint64) (p Page, err error) {
	entries, err := j.Said(ctx, room, s)
	if err != nil {
		return Page{}, err
	}
	p.Messages = make([]abi.Message, 0, len(entries))
	for _, e := range entries {
		m, ok := e.Message()
		if ok {
			m, ok, err = heard(ctx, j, room, e, m, head)
		}
		if err != nil {
			return Page{}, err
		}
		if ok {
			p.Messages = append(p.Messages, m)
		}
	}
	if len(entries) == s.Limit {
		p.Next = entries[len(entries)-1].Seq + 1
	}
	return p, nil
}

// heard gives a message as it was heard, ok false where nobody heard any of it.
func heard(ctx context.Context, j journal.Log, room string, e entry.Entry, m abi.Message, head uint64) (_ abi.Message, ok bool, err error) {
	b, err := entry.Decode[entry.Said](e)
	if err != nil || !b.Played {
		return m, true, nil
	}
	end, found, err := j.Find(ctx, room, entry.HeardID(cmp.Or(b.Grant, e.ID)))
	if err != nil || !found || end.Seq > head {
		return m, true, err
	}
	h, err := entry.Decode[entry.Heard](end)
	if err != nil {
		return m, true, nil // an entry of a later version
	}
	m, ok = h.Apply(m)
	return m, ok, nil
}

// head gives how far the room is, at least what the caller has seen.
func (r Room) head(ctx context.Context, seen uint64) (uint64, error) {
	row, _, err := r.journal.Room(ctx, r.name)
	if err != nil {
		return 0, journal.Coded(err)
	}
	return max(row.Head.Seq, seen), nil
}

// Entries gives up to limit entries with Seq > since and the room's head, as doors show them.
func (r Room) Entries(ctx context.Context, since uint64, limit int) ([]entry.Entry, uint64, error) {
	entries, err := r.journal.Read(ctx, r.name, since, limit)
	if err != nil {
		return nil, 0, journal.Coded(err)
	}
	var seen uint64
	if n := len(entries); n > 0 {
		seen = entries[n-1].Seq
	}
	head, err := r.head(ctx, seen)
	return shown(entries), head, err
}

// shown gives entries as everybody who may read a room is shown them: without what models were
// told, in which there may be what a companion remembers of other rooms.
func shown(all []entry.Entry) []entry.Entry {
	copied := false
	for i, e := range all {
		var body map[string]json.RawMessage
		if e.Kind != entry.KindUsage || !bytes.Contains(e.Body, []byte(`"told"`)) || json.Unmarshal(e.Body, &body) != nil || body["told"] == nil {
			continue
		}
		delete(body, "told")
		if !copied {
			all, copied = slices.Clone(all), true
		}
		all[i].Body, _ = json.Marshal(body) // it was read from JSON
	}
	return all
}

// Messages gives up to limit messages with Seq > since and the room's head.
func (r Room) Messages(ctx context.Context, since uint64, limit int) ([]abi.Message, uint64, error) {
	head, err := r.head(ctx, 0)
	if err != nil {
		return nil, 0, err
	}
	msgs, err := Said(ctx, r.journal, r.name, journal.Span{After: since, Limit: limit})
	if err != nil {
		return nil, 0, journal.Coded(err)
	}
	if n := len(msgs); n > 0 {
		head = max(head, msgs[n-1].Seq)
	}
	return msgs, head, nil
}

// Follow calls fn with entries with Seq > since until ctx ends or fn answers
// an error.
func (r Room) Follow(ctx context.Context, since uint64, fn func([]entry.Entry) error) error {
	err := r.journal.Follow(ctx, r.name, since, func(all []entry.Entry) error { return fn(shown(all)) })
	if errors.Is(err, journal.ErrCorrupt) || errors.Is(err, journal.ErrUnavailable) {
		return journal.Coded(err)
	}
	return err
}

// checkHistory fills in the limit, and refuses one that is too large.
func checkHistory(ask *abi.HistoryAsk) (err error) {
	usual := 20
	switch {
	case ask.Budget < 0:
		return abi.Field("budget", abi.CodeInvalid, "%d is less than 0", ask.Budget)
	case ask.Budget > 0:
		usual = abi.MaxHistory
	}
	ask.Limit, err = abi.Limit(ask.Limit, usual, abi.MaxHistory)
	return err
}

// perMessage is how many tokens a message takes besides its words, as most write it down.
const perMessage = 16

// within keeps to a budget of tokens, 0 for none.
func within(h abi.History, budget int) abi.History {
	if budget == 0 {
		return h
	}
	meter := new(tokens.Meter)
	h.Messages = window.Newest(h.Messages, int(float64(budget)*(1-meter.Reserve())), perMessage, meter)
	return h
}
