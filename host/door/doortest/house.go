// Package doortest gives the tests of doors a house to stand before: rooms in
// memory that keep a journal and take no decisions, and a listener without
// sockets for tests in a synctest bubble. The daemon never uses it.
package doortest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room"
)

var (
	_ room.Directory = (*House)(nil)
	_ room.Talk      = (*Room)(nil)
)

// House is a directory of rooms in memory.
type House struct {
	mu    sync.Mutex
	rooms map[string]*Room
}

// NewHouse makes a house with the named rooms.
func NewHouse(names ...string) *House {
	h := &House{rooms: map[string]*Room{}}
	for _, n := range names {
		h.rooms[n] = &Room{name: n, grew: make(chan struct{}), reserved: map[string]bool{"aya": true, "system": true}}
	}
	return h
}

// Room finds a room as a door does.
func (h *House) Room(name string) (room.Talk, error) {
	if r := h.Get(name); r != nil {
		return r, nil
	}
	return nil, abi.Errorf(abi.CodeNotFound, "room %q: there is no such room", name)
}

// Get finds a room as a test does; nil when there is none.
func (h *House) Get(name string) *Room {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rooms[name]
}

// Rooms lists the rooms by name.
func (h *House) Rooms() []room.Info {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []room.Info
	for _, name := range slices.Sorted(maps.Keys(h.rooms)) {
		all = append(all, h.rooms[name].Info())
	}
	return all
}

// Room is a room in memory. "aya" is its companion and "system" a reserved
// name: over a door neither may be the speaker.
type Room struct {
	name     string
	reserved map[string]bool

	mu       sync.Mutex
	entries  []entry.Entry
	grew     chan struct{}  // closed and replaced at each append
	embodied map[string]int // bodies connected
	members  []abi.Member
	trouble  error
	batch    int

	followers int
}

// Trouble makes the room answer everything with err; nil ends that. Who
// follows the room is told, too.
func (r *Room) Trouble(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trouble = err
	r.wake()
}

// Batch bounds how many entries Follow hands over at once; 0 means 64.
func (r *Room) Batch(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batch = n
}

// Followers tells how many follow the room now.
func (r *Room) Followers() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.followers
}

// Chat appends n messages, "line 1" and so on by the entry's seq.
func (r *Room) Chat(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for range n {
		text := fmt.Sprintf("line %d", len(r.entries)+1)
		r.append(entry.KindSaid, "", entry.Said{From: "aya", By: abi.KindCompanion, Text: text, Kind: abi.KindTurn})
	}
}

// Append adds any entry.
func (r *Room) Append(kind entry.Kind, body any) entry.Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.append(kind, "", body)
}

// Corrupt adds an entry whose body is no JSON.
func (r *Room) Corrupt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.append(entry.KindSaid, "", entry.Said{})
	r.entries[len(r.entries)-1].Body = json.RawMessage(`{`)
}

// Journal gives a copy of everything.
func (r *Room) Journal() []entry.Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.entries)
}

func (r *Room) append(kind entry.Kind, id string, body any) entry.Entry {
	raw, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	seq := uint64(len(r.entries) + 1)
	if id == "" {
		id = fmt.Sprintf("e%d", seq)
	}
	e := entry.Entry{Seq: seq, Epoch: 1, At: time.Now().UTC().Truncate(time.Millisecond), Kind: kind, ID: id, Body: raw}
	r.entries = append(r.entries, e)
	r.wake()
	return e
}

func (r *Room) wake() {
	close(r.grew)
	r.grew = make(chan struct{})
}

// Name gives the room's name.
func (r *Room) Name() string { return r.name }

// Live lets companions live here, beside those who do.
func (r *Room) Live(companions ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range companions {
		r.members = append(r.members, abi.Member{ID: id, Kind: abi.KindCompanion})
	}
}

// Info gives the room at a glance; Members is nil, as a careless room's is, until
// somebody lives here.
func (r *Room) Info() room.Info {
	r.mu.Lock()
	defer r.mu.Unlock()
	return room.Info{Name: r.name, Head: uint64(len(r.entries)), State: "resting", Policy: "polite", Closing: abi.ClosingNone, Members: slices.Clone(r.members)}
}

// Say records a message.
func (r *Room) Say(_ context.Context, u room.Utterance) (abi.Message, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trouble != nil {
		return abi.Message{}, r.trouble
	}
	if err := abi.CheckName("from", u.From); err != nil {
		return abi.Message{}, err
	}
	if r.reserved[u.From] && u.By != abi.KindCompanion {
		return abi.Message{}, abi.Errorf(abi.CodeDenied, "from: %q is the name of somebody in this house", u.From)
	}
	for _, e := range r.entries {
		if m, ok := e.Message(); ok && u.ID != "" && m.ID == u.ID {
			return m, nil
		}
	}
	m, _ := r.append(entry.KindSaid, u.ID, entry.Said{From: u.From, By: u.By, To: u.To, Text: u.Text, Kind: abi.KindTurn}).Message()
	return m, nil
}

// Consume is Say in a room without a pool.
func (r *Room) Consume(ctx context.Context, u room.Utterance) (abi.Message, abi.Budget, error) {
	m, err := r.Say(ctx, u)
	return m, abi.Budget{}, err
}

// Budget says that there is no pool.
func (r *Room) Budget() (abi.Budget, bool) { return abi.Budget{}, false }

// Attend lets everybody in but those who live here.
func (r *Room) Attend(_ context.Context, who string, _ bool) error {
	if r.reserved[who] {
		return abi.Errorf(abi.CodeDenied, "from: %q is the name of somebody in this house", who)
	}
	return nil
}

// Vote finds no round to vote in.
func (r *Room) Vote(_ context.Context, _ string, about uint64, _ abi.Vote) error {
	return abi.Errorf(abi.CodeConflict, "vote: no round is open about %d", about)
}

// Perceive writes the perception down; whoever perceives listens.
func (r *Room) Perceive(_ context.Context, who string, p abi.Percept) (abi.Judged, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trouble != nil {
		return abi.Judged{}, r.trouble
	}
	e := r.append(entry.KindPerceived, "", entry.Perceived{Who: who, Title: p.Title, Format: p.Format, From: p.From, Body: p.Body, MediaType: p.MediaType})
	return abi.Judged{Seq: e.Seq, Judgement: abi.Judgement{State: abi.Listen}}, nil
}

// Act writes the action down, whatever it is.
func (r *Room) Act(_ context.Context, who string, by room.Player, a abi.ActionAsk) (abi.ActionPlayed, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trouble != nil {
		return abi.ActionPlayed{}, r.trouble
	}
	id := fmt.Sprintf("act-%d", len(r.entries)+1)
	r.append(entry.KindAction, "", entry.Action{ID: id, Who: who, By: by.Agent, Action: a.Action, Parameters: a.Parameters, Perception: a.Perception, Delivered: r.embodied[who]})
	return abi.ActionPlayed{ID: id, Delivered: r.embodied[who]}, nil
}

// Done writes the first result of an action down, and finds no other.
func (r *Room) Done(_ context.Context, who, by string, d abi.Result) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trouble != nil {
		return r.trouble
	}
	action, waits := "", false
	for _, e := range r.entries {
		var a entry.Action
		var known entry.Done
		switch {
		case e.Kind == entry.KindAction && json.Unmarshal(e.Body, &a) == nil && a.ID == d.ID && a.Who == who:
			action, waits = a.Action, true
		case e.Kind == entry.KindResult && json.Unmarshal(e.Body, &known) == nil && known.ID == d.ID && known.Who == who:
			waits = false
		}
	}
	if !waits {
		return abi.Errorf(abi.CodeNotFound, "id: %s waits for no result of an action %q", who, d.ID)
	}
	d.Action, d.By = action, by
	r.append(entry.KindResult, "", entry.Done{Who: who, Result: d})
	return nil
}

// Embody counts a body.
func (r *Room) Embody(who string) (leave func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.embodied == nil {
		r.embodied = map[string]int{}
	}
	r.embodied[who]++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.embodied[who]--
	}
}

// Bodies tells how many bodies of a companion are connected now.
func (r *Room) Bodies(who string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.embodied[who]
}

// Stop records a stop.
func (r *Room) Stop(_ context.Context, from string) (uint64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trouble != nil {
		return 0, r.trouble
	}
	return r.append(entry.KindStop, "", entry.Stop{From: from}).Seq, nil
}

// Entries reads the journal.
func (r *Room) Entries(_ context.Context, since uint64, limit int) ([]entry.Entry, uint64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trouble != nil {
		return nil, 0, r.trouble
	}
	return r.read(since, limit), uint64(len(r.entries)), nil
}

func (r *Room) read(since uint64, limit int) []entry.Entry {
	if since >= uint64(len(r.entries)) {
		return nil
	}
	rest := r.entries[since:]
	return slices.Clone(rest[:min(limit, len(rest))])
}

// Messages reads the messages of the journal.
func (r *Room) Messages(ctx context.Context, since uint64, limit int) ([]abi.Message, uint64, error) {
	all, head, err := r.Entries(ctx, since, 1<<30)
	var ms []abi.Message
	for _, e := range all {
		if m, ok := e.Message(); ok && len(ms) < limit {
			ms = append(ms, m)
		}
	}
	return ms, head, err
}

// History gives the newest messages.
func (r *Room) History(ctx context.Context, ask abi.HistoryAsk) (abi.History, error) {
	ms, head, err := r.Messages(ctx, 0, 1<<30)
	if ask.Before > 0 {
		ms = slices.DeleteFunc(ms, func(m abi.Message) bool { return m.Seq >= ask.Before })
	}
	return abi.History{Messages: ms[max(0, len(ms)-max(1, ask.Limit)):], Head: head}, err
}

// Why answers for any entry there is, with a decision that ranks nobody.
func (r *Room) Why(_ context.Context, seq uint64) (room.Why, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if seq == 0 || seq > uint64(len(r.entries)) {
		return room.Why{}, abi.Errorf(abi.CodeNotFound, "entry %d: there is no such entry", seq)
	}
	return room.Why{Seq: seq, Entry: r.entries[seq-1], Decided: seq, Decision: entry.Decision{Outcome: entry.OutcomeSilence, Reason: "nobody"}, Text: "nobody wanted to speak"}, nil
}

// Follow hands over entries as they come.
func (r *Room) Follow(ctx context.Context, since uint64, fn func([]entry.Entry) error) error {
	r.mu.Lock()
	r.followers++
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		r.followers--
		r.mu.Unlock()
	}()
	for {
		r.mu.Lock()
		size := r.batch
		if size == 0 {
			size = 64
		}
		next, grew, trouble := r.read(since, size), r.grew, r.trouble
		r.mu.Unlock()
		if trouble != nil {
			return trouble
		}
		if len(next) > 0 {
			if err := fn(next); err != nil {
				return err
			}
			since = next[len(next)-1].Seq
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-grew:
		}
	}
}
