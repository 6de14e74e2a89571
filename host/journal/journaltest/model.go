package journaltest

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"pgregory.net/rapid"
)

// modelRoom is what a room should be.
type modelRoom struct {
	journal.Room
	entries []entry.Entry // from the first not trimmed
	seq     uint64        // of the newest snapshot
	state   []byte        // nil: there is no snapshot
	put     []modelState  // all that were put
	trimmed uint64
	depth   int
}

func (r *modelRoom) add(n journal.New) {
	r.Head.Seq++
	r.Awake = true
	r.entries = append(r.entries, entry.Entry{Seq: r.Head.Seq, Epoch: r.Head.Epoch, At: day, Kind: n.Kind, ID: n.ID, V: n.V, Body: n.Body})
}

// find gives the entry with an id, the zero one where there is none.
func (r *modelRoom) find(id string) (e entry.Entry, ok bool) {
	i := slices.IndexFunc(r.entries, func(e entry.Entry) bool { return e.ID == id })
	if i < 0 {
		return e, false
	}
	return r.entries[i], true
}

// part gives the entries of a span, or those among them that were said.
func (r *modelRoom) part(s journal.Span, said bool) []entry.Entry {
	es := slices.DeleteFunc(slices.Clone(r.entries), func(e entry.Entry) bool {
		return said && e.Kind != entry.KindSaid || e.Seq <= s.After || s.Before > 0 && e.Seq >= s.Before
	})
	if s.Newest {
		return es[len(es)-min(len(es), max(s.Limit, 0)):]
	}
	return first(es, s.Limit)
}

// first gives at most limit of all.
func first[T any](all []T, limit int) []T { return all[:min(len(all), max(limit, 0))] }

// refusal is the error for whoever takes h for the head.
func (r *modelRoom) refusal(h journal.Head) error {
	switch {
	case r.Head.Epoch > h.Epoch:
		return journal.ErrFenced
	case r.Head != h || h.Epoch == 0:
		return journal.ErrConflict
	}
	return nil
}

// nearHead draws a head, most often the room's.
func (r *modelRoom) nearHead(rt *rapid.T) journal.Head {
	off := rapid.SampledFrom([]uint64{0, 0, 0, 0, 0, 0, 0, 0, 1, ^uint64(0)})
	return journal.Head{Seq: r.Head.Seq + off.Draw(rt, "seq off"), Epoch: r.Head.Epoch + off.Draw(rt, "epoch off")}
}

// anySeq draws one of the room, or one beyond it.
func (r *modelRoom) anySeq(rt *rapid.T, what string) uint64 {
	seq := rapid.Uint64Range(0, r.Head.Seq+1)
	return rapid.OneOf(seq, seq, seq, rapid.SampledFrom([]uint64{1 << 63, ^uint64(0)})).Draw(rt, what)
}

// machine drives an engine and the model side by side.
type machine struct {
	j     journal.Journal
	rooms map[string]*modelRoom // those that are known
}

var modelRooms = []string{"広場", "カフェ", "main", "枝", "小枝"}

// Model holds the engine to a model in memory, whatever is done with it. Its arguments are Run's. Nothing in it happens at once.
func Model(t *testing.T, open func(*testing.T) journal.Journal, reopen func(*testing.T, journal.Journal) journal.Journal) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &machine{j: open(t), rooms: map[string]*modelRoom{}}
		defer func() { m.j.Close() }()
		actions := map[string]func(*rapid.T){"": func(rt *rapid.T) { m.check(rt); m.list(rt) }}
		for name, act := range map[string]func(*rapid.T, *modelRoom){
			"acquire": m.acquire, "append": m.append, "trim": m.trim, "snapshot": m.snapshot, "read": m.read, "rest": m.rest, "blank": m.blank,
			"register": m.register, "fork": m.fork, "fork again": m.fork,
		} {
			actions[name] = func(rt *rapid.T) { act(rt, m.room(rapid.SampledFrom(modelRooms).Draw(rt, "room"))) }
		}
		if reopen != nil {
			actions["reopen"] = func(rt *rapid.T) {
				if rapid.IntRange(0, 9).Draw(rt, "seldom") == 0 {
					m.j = reopen(t, m.j)
				}
			}
		}
		rt.Repeat(actions)
	})
}

func (m *machine) room(name string) *modelRoom {
	if r := m.rooms[name]; r != nil {
		return r
	}
	return &modelRoom{Room: journal.Room{Name: name}}
}

func (m *machine) acquire(rt *rapid.T, r *modelRoom) {
	owner := rapid.SampledFrom([]string{"モデル", "another"}).Draw(rt, "owner")
	h, err := m.j.Acquire(rt.Context(), r.Name, owner, day)
	wantErr(rt, err, nil)
	m.rooms[r.Name] = r
	r.Head.Epoch++
	r.Owner = owner
	id := fmt.Sprintf("%s%d", journal.OwnerID, r.Head.Epoch)
	r.add(journal.New{ID: id, Kind: entry.KindOwner, V: entry.KindOwner.Version(), Body: fmt.Appendf(nil, `{"owner":%q}`, owner)})
	if h != r.Head {
		rt.Fatalf("acquire gave %v, want %v", h, r.Head)
	}
}

func (m *machine) append(rt *rapid.T, r *modelRoom) {
	h := r.nearHead(rt)
	want := r.refusal(h)
	var news []journal.New
	seen := map[string]bool{}
	for range rapid.IntRange(0, 8).Draw(rt, "entries") {
		id := rapid.StringMatching(`[a-cA-Cあ-お]{1,2}`).Draw(rt, "id")
		body := fmt.Sprintf(`{"text":%q}`, rapid.StringMatching(`[ -\[\]-~ぁ-ん一-龥]{0,20}`).Draw(rt, "text"))
		body = rapid.SampledFrom([]string{body, `null`, `"猫"`, `"\\"`}).Draw(rt, "body")
		if _, there := r.find(id); want == nil && (there || seen[id]) {
			want = journal.ErrConflict
		}
		seen[id] = true
		kind := rapid.SampledFrom([]entry.Kind{entry.KindSaid, entry.KindVote}).Draw(rt, "kind")
		news = append(news, journal.New{ID: id, V: rapid.IntRange(1, 3).Draw(rt, "version"), Kind: kind, At: day, Body: []byte(body)})
	}
	nh, err := m.j.Append(rt.Context(), r.Name, h, news...)
	wantErr(rt, err, want)
	if err == nil {
		for _, n := range news {
			r.add(n)
		}
		h = r.Head
	}
	if nh != h {
		rt.Fatalf("append gave %v, want %v", nh, h)
	}
}

func (m *machine) snapshot(rt *rapid.T, r *modelRoom) {
	seq := rapid.Uint64Range(0, r.Head.Seq+1).Draw(rt, "seq")
	state := rapid.OneOf(rapid.Just[[]byte](nil), rapid.SliceOfN(rapid.Byte(), 0, 20)).Draw(rt, "state")
	var want error
	if m.rooms[r.Name] == nil || seq > r.Head.Seq {
		want = journal.ErrConflict
	}
	wantErr(rt, m.j.PutSnapshot(rt.Context(), r.Name, seq, state), want)
	if want == nil && seq >= r.seq {
		r.seq, r.state = seq, append([]byte{}, state...)
		r.put = append(r.put, modelState{seq, string(state)})
	}
}

func (m *machine) trim(rt *rapid.T, r *modelRoom) {
	upTo := rapid.Uint64Range(0, r.Head.Seq+1).Draw(rt, "up to")
	var want error
	if r.state == nil || r.seq < upTo || m.shared(r, upTo) {
		want = journal.ErrConflict
	}
	wantErr(rt, m.j.Trim(rt.Context(), r.Name, upTo), want)
	if want == nil {
		r.trimmed = max(r.trimmed, upTo)
		r.entries = r.part(journal.Span{After: upTo, Limit: len(r.entries)}, false)
	}
}

func (m *machine) read(rt *rapid.T, r *modelRoom) {
	s := journal.Span{After: r.anySeq(rt, "after"), Limit: rapid.IntRange(-1, 5).Draw(rt, "limit")}
	es, err := m.j.Read(rt.Context(), r.Name, s.After, s.Limit)
	want := r.part(s, false)
	same(rt, "read", es, want, err)
	bad, err := m.j.Verify(rt.Context(), r.Name, s.After)
	if bad != 0 || err != nil {
		rt.Fatalf("verify after %d: bad %d, %v", s.After, bad, err)
	}
	if len(want) > 0 {
		ctx, cancel := context.WithTimeout(rt.Context(), patience)
		defer cancel()
		wantErr(rt, follow(ctx, m.j, r.Name, want[0].Seq-1, r.Head.Seq), nil)
	}
	for range 4 {
		s.After, s.Before = r.anySeq(rt, "said after"), r.anySeq(rt, "said before")
		s.Limit, s.Newest = rapid.IntRange(-1, 3).Draw(rt, "limit"), rapid.Bool().Draw(rt, "newest")
		es, err = m.j.Said(rt.Context(), r.Name, s)
		same(rt, "said", es, r.part(s, true), err)
	}
}

func (m *machine) rest(rt *rapid.T, r *modelRoom) {
	h := r.nearHead(rt)
	due := rapid.SampledFrom([]time.Time{{}, day, day.Add(time.Hour)}).Draw(rt, "due")
	want := r.refusal(h)
	wantErr(rt, m.j.Rest(rt.Context(), r.Name, h, due), want)
	if want == nil {
		r.Awake, r.Due = false, due
	}
}

func (m *machine) blank(rt *rapid.T, r *modelRoom) {
	bodies := map[uint64][]byte{}
	for range rapid.IntRange(0, 3).Draw(rt, "bodies") {
		bodies[r.anySeq(rt, "seq")] = rapid.SampledFrom([][]byte{nil, []byte(`{"text":""}`)}).Draw(rt, "left")
	}
	upTo := rapid.Uint64Range(0, r.Head.Seq).Draw(rt, "up to")
	wantErr(rt, m.j.Blank(rt.Context(), r.Name, upTo, bodies), nil)
	r.Swept = max(r.Swept, upTo)
	for seq, body := range bodies {
		if body == nil {
			body = []byte("null")
		}
		for _, e := range m.same(r, seq) {
			if !e.Blank {
				e.Body, e.Blank = body, true
			}
		}
	}
}

func (m *machine) register(rt *rapid.T, r *modelRoom) {
	l := journal.Listing{
		Key: rapid.SampledFrom([]string{"", "hiroba", "cafe"}).Draw(rt, "key"), By: rapid.SampledFrom([]string{"", "mika", "taro"}).Draw(rt, "by"),
		Settings: rapid.SampledFrom([][]byte{nil, []byte(`{"policy":"pool"}`)}).Draw(rt, "settings"), Archived: rapid.Bool().Draw(rt, "archived"),
	}
	var want error
	for _, other := range m.rooms {
		if other.Name != r.Name && l.Key != "" && other.Key == l.Key {
			want = journal.ErrConflict
		}
	}
	wantErr(rt, m.j.Register(rt.Context(), r.Name, l), want)
	if want == nil {
		m.rooms[r.Name] = r
		r.Listing = l
	}
}

// list compares pages of rooms, and what is asked of all.
func (m *machine) list(rt *rapid.T) {
	after := rapid.SampledFrom(append([]string{"", ""}, modelRooms...)).Draw(rt, "after")
	limit := rapid.IntRange(-1, len(modelRooms)).Draw(rt, "limit")
	by := day.Add(rapid.SampledFrom([]time.Duration{-time.Millisecond, 0, time.Hour}).Draw(rt, "by"))
	var all, waking []journal.Room
	var next time.Time
	registered := map[string]int{"mika": 0, "": 0}
	for _, name := range slices.Sorted(maps.Keys(m.rooms)) {
		one := m.rooms[name].Room
		sleeps := !one.Awake && !one.Due.IsZero()
		if sleeps && (next.IsZero() || one.Due.Before(next)) {
			next = one.Due
		}
		if one.By == "mika" && !one.Archived {
			registered["mika"]++
		}
		if name > after {
			all = append(all, one)
			if one.Awake || sleeps && !one.Due.After(by) {
				waking = append(waking, one)
			}
		}
	}
	got, err := m.j.Rooms(rt.Context(), after, limit)
	same(rt, "rooms", got, first(all, limit), err)
	got, err = m.j.Waking(rt.Context(), by, after, limit)
	same(rt, "waking", got, first(waking, limit), err)
	if at, err := m.j.NextDue(rt.Context()); err != nil || !at.Equal(next) {
		rt.Fatalf("next due %v %v, want %v", at, err, next)
	}
	for by, want := range registered {
		if n, err := m.j.Registered(rt.Context(), by); err != nil || n != want {
			rt.Fatalf("%q has %d rooms (%v), want %d", by, n, err, want)
		}
	}
}

func same[T any](rt *rapid.T, what string, got, want []T, err error) {
	rt.Helper()
	if err != nil || len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		rt.Fatalf("%s: %+v %v, want %+v", what, got, err, want)
	}
}

// check compares all that is kept of each room.
func (m *machine) check(rt *rapid.T) {
	for _, name := range modelRooms {
		r := m.room(name)
		row, ok, err := m.j.Room(rt.Context(), name)
		if known := m.rooms[name] != nil; err != nil || ok != known || known && !reflect.DeepEqual(row, r.Room) {
			rt.Fatalf("room %s is %+v %v %v, want %+v", name, row, ok, err, r.Room)
		}
		all := journal.Span{Limit: 1 << 20}
		es, err := m.j.Read(rt.Context(), name, 0, all.Limit)
		same(rt, "entries of "+name, es, r.entries, err)
		es, err = m.j.Said(rt.Context(), name, all)
		same(rt, "said in "+name, es, r.part(all, true), err)
		for _, id := range []string{"a", "A", "あ", "", journal.OwnerID + "1"} {
			want, there := r.find(id)
			if e, ok, err := m.j.Find(rt.Context(), name, id); ok != there || err != nil || !reflect.DeepEqual(e, want) {
				rt.Fatalf("find %q: %+v %v %v, want %+v", id, e, ok, err, want)
			}
		}
		m.checkSnapshots(rt, r)
	}
}
