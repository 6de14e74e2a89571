// Package doortest gives the tests of doors a house to stand before: real rooms on a
// journal in memory, in which nobody lives unless the test says so, and a listener
// without sockets for tests in a synctest bubble. The daemon never uses it.
package doortest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/room/registry"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/waittest"
)

// House has rooms on a journal in memory.
type House struct {
	*registry.Registry
	journal *watched
	t       testing.TB
	ids     atomic.Int64
	mu      sync.Mutex
	loaded  map[string]room.Companion // who lives here
}

// NewHouse makes a house with the named rooms, in which everybody lives who lives in
// the house, and lets it run until the test ends. "aya" is a companion of the house:
// over a door nobody else may be it.
func NewHouse(t testing.TB, names ...string) *House {
	var rooms []room.Settings
	for _, n := range names {
		rooms = append(rooms, Settings(n, "*"))
	}
	return NewHouseOf(t, rooms...)
}

// Settings is how a room of the house is in which these companions live.
func Settings(name string, companions ...string) room.Settings {
	return room.Settings{Name: name, Companions: companions, Rules: entry.Rules{
		Policy: "vote", Seed: name, Patience: 1000, Floor: 10_000, MaxTurns: 24, Stale: entry.StaleReask,
	}}
}

// NewHouseOf is NewHouse with rooms as the test wants them.
func NewHouseOf(t testing.TB, rooms ...room.Settings) *House {
	h := &House{t: t, journal: &watched{Journal: memory.New()}, loaded: map[string]room.Companion{}}
	var err error
	h.Registry, err = registry.New(registry.Config{
		Room: room.Config{
			Journal: h.journal, NewID: h.newID, House: resident("aya"), Log: slog.New(slog.DiscardHandler), Idle: time.Millisecond, Find: h.find,
		},
		Rooms: rooms, Usual: rooms[0].Name, MaxRooms: 3, Read: readRoom,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() { _ = h.Run(ctx) }) // it ends when ctx does
	t.Cleanup(func() {
		cancel()
		run.Wait()
	})
	h.SetCast(ctx, nil)
	return h
}

func (h *House) newID() string { return fmt.Sprintf("id%d", h.ids.Add(1)) }

// readRoom takes companions and max_turns, as the daemon does with all keys: an error
// begins with the key that is at fault.
func readRoom(name string, settings []byte) (room.Settings, error) {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(settings, &given); err != nil {
		return room.Settings{}, abi.Errorf(abi.CodeInvalid, "is no JSON object: %v", err)
	}
	s := Settings(name)
	known := map[string]any{"companions": &s.Companions, "max_turns": &s.Rules.MaxTurns}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if known[key] == nil {
			return room.Settings{}, abi.Field(key, abi.CodeInvalid, "unknown key %q", key)
		}
		if err := json.Unmarshal(given[key], known[key]); err != nil {
			return room.Settings{}, abi.Field(key, abi.CodeInvalid, "%v", err)
		}
	}
	return s, nil
}

// find gives a companion that lives in the house.
func (h *House) find(id string) (room.Companion, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c, ok := h.loaded[id]
	return c, ok
}

// resident is a house in which one companion has a file.
type resident string

func (r resident) Residents() []string { return []string{string(r)} }

func (resident) Loading() []string { return nil }

func (r resident) Resident(name string) (string, bool) {
	return string(r), address.Same(string(r), name)
}

func (resident) Holder(string) (string, bool) { return "", false }

// Get finds a room as a test does.
func (h *House) Get(name string) *Room {
	h.t.Helper()
	talk, err := h.Room(context.Background(), name)
	if err != nil {
		h.t.Fatal(err)
	}
	return &Room{Room: talk, h: h}
}

// Room is a room of the house, and what a test does to it.
type Room struct {
	rooms.Room
	h *House
}

// Live lets companions live in the house, beside those who do. They play any action,
// and listen to everything.
func (r *Room) Live(companions ...string) {
	for _, id := range companions {
		r.Play(id, &Actor{})
	}
}

// Play is Live with a companion of the test's own.
func (r *Room) Play(id string, c room.Companion) {
	r.h.mu.Lock()
	r.h.loaded[id] = c
	r.h.mu.Unlock()
	r.h.meet()
}

// Leave lets a companion leave the house.
func (r *Room) Leave(id string) {
	r.h.mu.Lock()
	delete(r.h.loaded, id)
	r.h.mu.Unlock()
	r.h.meet()
}

// meet tells the house who is there.
func (h *House) meet() {
	h.mu.Lock()
	cast := []entry.Joined{}
	for _, id := range slices.Sorted(maps.Keys(h.loaded)) {
		cast = append(cast, entry.Joined{ID: id, Kind: abi.KindCompanion})
	}
	h.mu.Unlock()
	h.SetCast(context.Background(), cast)
}

// Wake lets the room wake, and fall asleep again if it can. It leaves a snapshot.
func (r *Room) Wake() {
	_ = r.Done(context.Background(), "nobody", "", abi.Result{ID: "none"}, nil) // there is no such action
	for n := 0; n < 10 && r.h.Awake(r.Name()); n++ {
		time.Sleep(time.Millisecond)
	}
}

// Trouble makes the journal answer everything with err; nil ends that.
func (r *Room) Trouble(err error) { r.h.journal.Fail(err) }

// Batch bounds how many entries those who follow a room of the house get at once; 0
// means as many as the journal gives.
func (r *Room) Batch(n int) { r.h.journal.batch.Store(int64(n)) }

// Followers tells how many follow a room of the house now.
func (r *Room) Followers() int { return int(r.h.journal.followers.Load()) }

// Bodies tells how many bodies of a companion are connected now.
func (r *Room) Bodies(companion string) int { return r.h.Bodies(r.Name(), companion) }

// Chat appends n messages, "line 1" and so on.
func (r *Room) Chat(n int) {
	for i := range n {
		r.Append(entry.KindSaid, entry.Said{From: "aya", By: abi.KindCompanion, Text: fmt.Sprintf("line %d", i+1), Kind: abi.KindTurn})
	}
}

// Append adds any entry, while the room sleeps.
func (r *Room) Append(kind entry.Kind, body any) (e entry.Entry) {
	r.h.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		r.h.t.Fatal(err)
	}
	waittest.Until(r.h.t, "room "+r.Name()+" is asleep", func() (asleep bool) {
		if e, asleep, err = r.inSleep(kind, raw); err != nil {
			r.h.t.Fatal(err)
		}
		return asleep
	})
	r.h.meet() // how a room looks that sleeps is remembered, since nobody else writes to it
	return e
}

// Corrupt adds an entry whose body is no message.
func (r *Room) Corrupt() { r.Append(entry.KindSaid, json.RawMessage(`{"from":1}`)) }

// inSleep adds an entry behind the back of a room that sleeps, and lets nobody look
// in between: a room that is written to counts as awake until it is put to rest.
func (r *Room) inSleep(kind entry.Kind, body json.RawMessage) (e entry.Entry, asleep bool, err error) {
	ctx, j := context.Background(), r.h.journal
	j.index.Lock()
	defer j.index.Unlock()
	if r.h.Awake(r.Name()) {
		return e, false, nil
	}
	row, known, err := j.Journal.Room(ctx, r.Name())
	head := row.Head
	if err == nil && (!known || head.Epoch == 0) {
		head, err = j.Acquire(ctx, r.Name(), r.h.Owner(), time.Now())
	}
	if err == nil {
		head, err = j.Append(ctx, r.Name(), head, journal.New{ID: r.h.newID(), Kind: kind, At: time.Now(), Body: body})
	}
	if err == nil {
		err = j.Rest(ctx, r.Name(), head, time.Time{})
	}
	if err != nil {
		return e, true, err
	}
	es, err := j.Read(ctx, r.Name(), head.Seq-1, 1)
	if err != nil {
		return e, true, err
	}
	return es[0], true, nil
}

// Journal gives everything that is written down.
func (r *Room) Journal() []entry.Entry {
	r.h.t.Helper()
	es, err := r.h.journal.Read(context.Background(), r.Name(), 0, 1<<30)
	if err != nil {
		r.h.t.Fatal(err)
	}
	return es
}

// Happened gives what is written down but for what a room writes when it wakes: whose
// it is, its rules, and who is here.
func (r *Room) Happened() []entry.Entry {
	r.h.t.Helper()
	return slices.DeleteFunc(r.Journal(), func(e entry.Entry) bool {
		return e.Kind == entry.KindOwner || e.Kind == entry.KindRules || e.Kind == entry.KindCast
	})
}

// watched is a journal that fails on request and counts who follows it.
type watched struct {
	*memory.Journal
	index     sync.Mutex // held while something is added to a room that sleeps
	followers atomic.Int64
	batch     atomic.Int64 // 0: as many as there are
}

// Room implements journal.Index.
func (w *watched) Room(ctx context.Context, name string) (journal.Room, bool, error) {
	w.index.Lock()
	defer w.index.Unlock()
	return w.Journal.Room(ctx, name)
}

// Waking implements journal.Index.
func (w *watched) Waking(ctx context.Context, by time.Time, after string, limit int) ([]journal.Room, error) {
	w.index.Lock()
	defer w.index.Unlock()
	return w.Journal.Waking(ctx, by, after, limit)
}

// Follow implements journal.Log.
func (w *watched) Follow(ctx context.Context, room string, after uint64, fn func([]entry.Entry) error) error {
	w.followers.Add(1)
	defer w.followers.Add(-1)
	return w.Journal.Follow(ctx, room, after, func(es []entry.Entry) error {
		for part := range slices.Chunk(es, cmp.Or(int(w.batch.Load()), len(es))) {
			if err := fn(part); err != nil {
				return err
			}
		}
		return nil
	})
}
