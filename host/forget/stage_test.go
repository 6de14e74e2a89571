package forget_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/forget"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/room/registry"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/search"
	"github.com/companiond/companiond/host/waittest"
)

// world is a state directory, and a daemon on it while it runs.
type world struct {
	wait    time.Duration // for an order; 0: as long as anything takes
	t       testing.TB
	dir     string
	j       *sqlite.Journal
	rooms   *registry.Registry
	service *forget.Service
	modules *modules
	memory  *remembers
	words   *search.Keeper
	ids     atomic.Int64
	end     func()
	mu      sync.Mutex
	dropped []string
	late    time.Duration
	held    chan struct{} // where there is one, a line comes when it is closed
	called  string        // what aya is called; empty: アヤ
	votes   chan struct{} // where there is one, there are two companions, and a vote about what the other said comes when it is closed
}

func newWorld(t testing.TB) *world {
	return &world{t: t, dir: t.TempDir(), modules: &modules{ready: make(chan struct{})}, memory: &remembers{}}
}

func (w *world) path() string { return filepath.Join(w.dir, "companiond.db") }

// open opens the journal and the ledger, as a start does, and does what is still to be done.
func (w *world) open() {
	w.t.Helper()
	w.prepare()
	if err := w.service.Resume(context.Background()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) prepare() {
	w.t.Helper()
	var err error
	if w.j, err = sqlite.Open(sqlite.Config{Path: w.path(), Reserve: 4096}); err != nil {
		w.t.Fatal(err)
	}
	words := search.New(search.Config{Journal: w.j, Path: filepath.Join(w.dir, search.File)})
	w.words = words
	w.t.Cleanup(func() { _ = words.Close() })
	w.service, err = forget.Open(forget.Config{Journal: w.j, Words: words, Dir: w.dir, Owner: "forget/" + w.newID(), Late: w.late, Memory: w.memory, Resident: house{}.Resident, Log: slog.New(slog.DiscardHandler), Forgotten: func(room string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.dropped = append(w.dropped, room)
	}})
	if err != nil {
		w.t.Fatal(err)
	}
}

// found gives how many messages have a word, and brings the index up to date.
func (w *world) found(word string) int {
	w.t.Helper()
	out, err := w.words.Search(context.Background(), search.Ask{Query: word, Limit: 100})
	if err != nil || out.Behind {
		w.t.Fatalf("%v, behind %v", err, out.Behind)
	}
	return len(out.Hits)
}

func (w *world) newID() string { return fmt.Sprintf("id%d-%d", w.ids.Add(1), time.Now().UnixNano()) }

// start is open, and then everything runs.
func (w *world) start(names ...string) {
	w.t.Helper()
	w.open()
	w.run(names...)
}

func (w *world) run(names ...string) {
	w.t.Helper()
	var sets []room.Settings
	turns := 1
	if w.votes != nil {
		turns = 2
	}
	const patience, floor = 60_000, 60_000 // whoever is late here is so because the machine is slow, or held
	for _, n := range names {
		sets = append(sets, room.Settings{Name: n, Companions: []string{"*"}, Rules: entry.Rules{Policy: "vote", Seed: n, Patience: patience, Floor: floor, MaxTurns: turns, Stale: entry.StaleReask}})
	}
	var err error
	w.rooms, err = registry.New(registry.Config{
		Room:  room.Config{Journal: w.j, NewID: w.newID, House: house{}, Log: slog.New(slog.DiscardHandler), Idle: 50 * time.Millisecond, Find: w.find},
		Rooms: sets, Usual: names[0], MaxRooms: 3,
		Read: func(name string, settings []byte) (room.Settings, error) { return room.Settings{Name: name}, nil },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = w.rooms.Run(ctx) })
	running.Go(func() { _ = w.service.Run(ctx, w.rooms, w.modules) })
	cast := []entry.Joined{{ID: "aya", Name: cmp.Or(w.called, "アヤ"), Kind: abi.KindCompanion}}
	if w.votes != nil {
		cast = append(cast, entry.Joined{ID: "kiko", Name: "キコ", Kind: abi.KindCompanion})
	}
	w.rooms.SetCast(ctx, cast)
	close(w.modules.ready)
	w.end = sync.OnceFunc(func() {
		cancel()
		running.Wait()
		if err := w.j.Close(); err != nil {
			w.t.Error(err)
		}
		w.modules = &modules{ready: make(chan struct{})}
	})
	w.t.Cleanup(w.end)
}

func (w *world) say(room, from, text string) abi.Message {
	w.t.Helper()
	r, err := w.rooms.Room(context.Background(), room)
	if err != nil {
		w.t.Fatal(err)
	}
	m, err := r.Say(context.Background(), rooms.Utterance{From: from, By: abi.KindHuman, Text: text})
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

// settle waits until a room has nothing to do.
func (w *world) settle(room string) {
	w.t.Helper()
	waittest.Until(w.t, "the room falls asleep", func() bool { return !w.rooms.Awake(room) })
}

// append writes entries behind all others of a room that sleeps, as they come.
func (w *world) append(room string, kind entry.Kind, body any) entry.Entry {
	w.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		w.t.Fatal(err)
	}
	row, _, err := w.j.Room(context.Background(), room)
	if err != nil {
		w.t.Fatal(err)
	}
	h, err := w.j.Append(context.Background(), room, row.Head, journal.New{ID: w.newID(), Kind: kind, V: 1, At: time.Now(), Body: raw})
	if err != nil {
		w.t.Fatal(err)
	}
	return entry.Entry{Seq: h.Seq}
}

// forget gives an order and waits until it is done.
func (w *world) forget(o forget.Order) forget.Receipt {
	w.t.Helper()
	if o.By.Scopes == nil {
		o.By = admin
	}
	r, err := w.service.Forget(context.Background(), o)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(w.wait, waittest.Long))
	defer cancel()
	if r, err = w.service.Wait(ctx, r.ID); err != nil || r.State != forget.Done {
		w.t.Fatalf("%+v %v", r, err)
	}
	return r
}

var admin = identity.Caller{Name: "boss", Kind: abi.KindHuman, Scopes: identity.Scopes()}

// sound checks every chain, and that each room can be folded and replayed.
func (w *world) sound() {
	w.t.Helper()
	ctx := context.Background()
	for r, err := range journal.AllRooms(ctx, w.j) {
		if err != nil {
			w.t.Fatal(err)
		}
		if bad, err := w.j.Verify(ctx, r.Name, 0); bad != 0 || err != nil {
			w.t.Errorf("%s: the chain breaks at %d: %v", r.Name, bad, err)
		}
		if _, _, err := reader.Fold(ctx, w.j, r.Name); err != nil {
			w.t.Errorf("%s: %v", r.Name, err)
		}
		if got, err := reader.Replay(ctx, w.j, r.Name); err != nil || got.Diff != nil {
			w.t.Errorf("%s: replay: %v %v", r.Name, got.Diff, err)
		}
	}
}

// find is a companion that says again what it hears.
func (w *world) find(id string) (room.Companion, bool) {
	return parrot{w.held, w.votes}, id == "aya" || id == "kiko" && w.votes != nil
}

type parrot struct{ held, votes chan struct{} }

func (parrot) Describe() abi.Description {
	return abi.Description{ABI: "1", Name: "アヤ", Ops: []string{abi.OpVote, abi.OpSpeak}}
}

func (parrot) Permit(abi.ActionAsk) (string, error) { return "", nil }

func (p parrot) Call(ctx context.Context, req abi.Request) (json.RawMessage, error) {
	switch req.Op {
	case abi.OpVote:
		return module.Answer(req.Data, func(s abi.Scene) (abi.Vote, error) {
			if p.votes != nil && strings.Contains(s.Message.Text, "へえ") {
				held(ctx, p.votes)
			}
			return abi.Vote{State: abi.Speak, Importance: 5, Reason: "それは" + s.Message.Text}, nil
		})
	case abi.OpSpeak:
		if p.held != nil {
			held(ctx, p.held)
		}
		return module.Answer(req.Data, func(s abi.Scene) (abi.Line, error) { return abi.Line{Text: "へえ、" + s.Message.Text}, nil })
	}
	return nil, abi.Errorf(abi.CodeUnknownOp, "a parrot knows no %s", req.Op)
}

// held waits until a test goes on, or is over: one that failed lets nothing go.
func held(ctx context.Context, until <-chan struct{}) {
	select {
	case <-until:
	case <-ctx.Done():
	}
}

// house is where nobody has a name but those who are loaded.
type house struct{}

func (house) Residents() []string                 { return []string{"aya"} }
func (house) Loading() []string                   { return nil }
func (house) Resident(name string) (string, bool) { return "aya", address.Same(name, "aya") }
func (house) Holder(string) (string, bool)        { return "", false }

// modules are told, and note what of.
type modules struct {
	ready chan struct{}
	mu    sync.Mutex
	told  []abi.Forget
	where []map[string][]string
	anew  int
	does  func(abi.Forget) // what a module does about it; nil: nothing
}

func (m *modules) Ready() <-chan struct{} { return m.ready }
func (m *modules) Tell(_ context.Context, f abi.Forget, forks map[string][]string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told, m.where = append(m.told, f), append(m.where, forks)
	if m.does != nil {
		m.does(f)
	}
}
func (m *modules) Renew(context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.anew++
}

// remembers is what a companion remembers, in memory.
type remembers struct {
	mu  sync.Mutex
	all map[string][]abi.Memory
}

func (r *remembers) Each(_ context.Context, f func(string, abi.Memory)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c, ms := range r.all {
		for _, m := range ms {
			f(c, m)
		}
	}
	return nil
}

func (r *remembers) Anew() {}

func (r *remembers) Erase(_ context.Context, companion string, ids []string, _ string) (n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var left []abi.Memory
	for _, m := range r.all[companion] {
		if strings.Contains(strings.Join(ids, "\n"), m.ID) {
			n++
			continue
		}
		left = append(left, m)
	}
	r.all[companion] = left
	return n, nil
}
