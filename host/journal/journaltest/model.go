package journaltest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"pgregory.net/rapid"
)

// modelRoom is what a room should be.
type modelRoom struct {
	entries []entry.Entry // from the first not trimmed
	ids     map[string]bool
	head    journal.Head
	trimmed uint64
	snap    uint64
	state   []byte
	awake   bool
	due     time.Time
	swept   uint64
}

func (m *modelRoom) add(id string, kind entry.Kind, v int, body string) {
	m.head.Seq++
	m.awake = true
	m.ids[id] = true
	m.entries = append(m.entries, entry.Entry{Seq: m.head.Seq, Epoch: m.head.Epoch, At: day, Kind: kind, ID: id, V: v, Body: []byte(body)})
}

func (m *modelRoom) after(seq uint64, limit int) (es []entry.Entry) {
	for _, e := range m.entries {
		if e.Seq > seq && len(es) < limit {
			es = append(es, e)
		}
	}
	return es
}

// machine drives an engine and the model side by side.
type machine struct {
	j      journal.Journal
	prefix string // of its rooms' names
	rooms  map[string]*modelRoom
}

var modelRooms = []string{"広場", "カフェ", "main"}

func model(t *testing.T, open func(*testing.T) journal.Journal, reopen func(*testing.T, journal.Journal) journal.Journal) {
	j := open(t)
	defer func() { j.Close() }()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		m := &machine{j: j, prefix: fmt.Sprintf("%d/", n), rooms: map[string]*modelRoom{}} // every run has rooms of its own in one journal
		actions := map[string]func(*rapid.T){"": func(rt *rapid.T) { m.check(rt) }}
		for name, act := range map[string]func(*rapid.T, string){"acquire": m.acquire, "append": m.append, "trim": m.trim, "snapshot": m.snapshot, "read": m.read, "rest": m.rest, "blank": m.blank} {
			actions[name] = func(rt *rapid.T) { act(rt, m.prefix+rapid.SampledFrom(modelRooms).Draw(rt, "room")) }
		}
		if reopen != nil && n%10 == 0 {
			actions["reopen"] = func(*rapid.T) { j = reopen(t, j); m.j = j }
		}
		rt.Repeat(actions)
	})
}

func (m *machine) room(name string) *modelRoom {
	if r := m.rooms[name]; r != nil {
		return r
	}
	return &modelRoom{ids: map[string]bool{}}
}

func (m *machine) acquire(rt *rapid.T, name string) {
	h, err := m.j.Acquire(rt.Context(), name, "モデル", day)
	if err != nil {
		rt.Fatalf("acquire: %v", err)
	}
	r := m.room(name)
	m.rooms[name] = r
	r.head.Epoch++
	r.add(fmt.Sprintf("%s%d", journal.OwnerID, r.head.Epoch), entry.KindOwner, entry.KindOwner.Version(), `{"owner":"モデル"}`)
	if h != r.head {
		rt.Fatalf("acquire gave %v, want %v", h, r.head)
	}
}

func (m *machine) append(rt *rapid.T, name string) {
	r := m.room(name)
	h := journal.Head{
		Seq:   r.head.Seq + rapid.SampledFrom([]uint64{0, 0, 0, 0, 1, ^uint64(0)}).Draw(rt, "seq off"),
		Epoch: r.head.Epoch + rapid.SampledFrom([]uint64{0, 0, 0, 0, 0, 1, ^uint64(0)}).Draw(rt, "epoch off"),
	}
	var news []journal.New
	seen := map[string]bool{}
	var want error
	for range rapid.IntRange(0, 4).Draw(rt, "entries") {
		id := rapid.StringMatching(`[a-fあ-お]{1,2}`).Draw(rt, "id")
		body := fmt.Sprintf(`{"text":%q}`, rapid.StringMatching(`[ -~ぁ-ん一-龥]{0,20}`).Draw(rt, "text"))
		body = rapid.SampledFrom([]string{body, `null`, `"猫"`}).Draw(rt, "body")
		if abiValid := !slices.Contains([]byte(body), '\\'); !abiValid {
			body = `"\\"`
		}
		if r.ids[id] || seen[id] {
			want = journal.ErrConflict
		}
		seen[id] = true
		kind := rapid.SampledFrom([]entry.Kind{entry.KindSaid, entry.KindVote}).Draw(rt, "kind")
		news = append(news, journal.New{ID: id, V: rapid.IntRange(1, 3).Draw(rt, "version"), Kind: kind, At: day, Body: []byte(body)})
	}
	switch {
	case m.rooms[name] == nil:
		want = journal.ErrConflict
	case h.Epoch < r.head.Epoch:
		want = journal.ErrFenced
	case h != r.head:
		want = journal.ErrConflict
	}
	nh, err := m.j.Append(rt.Context(), name, h, news...)
	if !errors.Is(err, want) {
		rt.Fatalf("append at %v (head %v) answered %v, want %v", h, r.head, err, want)
	}
	if err != nil {
		return
	}
	for _, n := range news {
		r.add(n.ID, n.Kind, n.V, string(n.Body))
	}
	if nh != r.head {
		rt.Fatalf("append gave %v, want %v", nh, r.head)
	}
}

func (m *machine) snapshot(rt *rapid.T, name string) {
	r := m.room(name)
	seq := rapid.Uint64Range(0, r.head.Seq+1).Draw(rt, "seq")
	state := rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(rt, "state")
	err := m.j.PutSnapshot(rt.Context(), name, seq, state)
	if m.rooms[name] == nil || seq > r.head.Seq {
		if !errors.Is(err, journal.ErrConflict) {
			rt.Fatalf("snapshot at %d of %v answered %v", seq, r.head, err)
		}
		return
	}
	if err != nil {
		rt.Fatalf("snapshot: %v", err)
	}
	if seq >= r.snap {
		r.snap, r.state = seq, state
	}
}

func (m *machine) trim(rt *rapid.T, name string) {
	r := m.room(name)
	upTo := rapid.Uint64Range(0, r.head.Seq+1).Draw(rt, "up to")
	err := m.j.Trim(rt.Context(), name, upTo)
	if r.state == nil || r.snap < upTo {
		if !errors.Is(err, journal.ErrConflict) {
			rt.Fatalf("trim to %d with a snapshot at %d answered %v", upTo, r.snap, err)
		}
		return
	}
	if err != nil {
		rt.Fatalf("trim: %v", err)
	}
	r.trimmed = max(r.trimmed, upTo)
	for _, e := range r.entries {
		if e.Seq <= upTo {
			delete(r.ids, e.ID)
		}
	}
	r.entries = r.after(upTo, len(r.entries))
}

func (m *machine) read(rt *rapid.T, name string) {
	r := m.room(name)
	after, limit := rapid.Uint64Range(0, r.head.Seq+1).Draw(rt, "after"), rapid.IntRange(0, 5).Draw(rt, "limit")
	es, err := m.j.Read(rt.Context(), name, after, limit)
	if want := r.after(after, limit); err != nil || len(es)+len(want) > 0 && !reflect.DeepEqual(es, want) {
		rt.Fatalf("read after %d limit %d gave %v %v, want %v", after, limit, es, err, want)
	}
	bad, err := m.j.Verify(rt.Context(), name, after)
	if bad != 0 || err != nil {
		rt.Fatalf("verify after %d: bad %d, %v", after, bad, err)
	}
}

func (m *machine) rest(rt *rapid.T, name string) {
	r := m.room(name)
	h := r.head
	h.Seq += rapid.SampledFrom([]uint64{0, 0, 0, 1}).Draw(rt, "seq off")
	due := rapid.SampledFrom([]time.Time{{}, day, day.Add(time.Hour)}).Draw(rt, "due")
	err := m.j.Rest(rt.Context(), name, h, due)
	if m.rooms[name] == nil || h != r.head {
		if !errors.Is(err, journal.ErrConflict) {
			rt.Fatalf("rest at %v of %v answered %v", h, r.head, err)
		}
		return
	}
	if err != nil {
		rt.Fatalf("rest: %v", err)
	}
	r.awake, r.due = false, due
}

func (m *machine) blank(rt *rapid.T, name string) {
	r := m.room(name)
	bodies := map[uint64][]byte{}
	for range rapid.IntRange(0, 3).Draw(rt, "bodies") {
		seq := rapid.Uint64Range(0, r.head.Seq+1).Draw(rt, "seq")
		bodies[seq] = rapid.SampledFrom([][]byte{nil, []byte(`{"text":""}`)}).Draw(rt, "left")
	}
	upTo := rapid.Uint64Range(0, r.head.Seq).Draw(rt, "up to")
	if err := m.j.Blank(rt.Context(), name, upTo, bodies); err != nil {
		rt.Fatalf("blank: %v", err)
	}
	r.swept = max(r.swept, upTo)
	for i := range r.entries {
		e := &r.entries[i]
		if body, asked := bodies[e.Seq]; asked && !e.Blank {
			e.Body, e.Blank = body, true
			if body == nil {
				e.Body = []byte("null")
			}
		}
	}
}

// said gives the entries that were said.
func (m *modelRoom) said() (es []entry.Entry) {
	for _, e := range m.entries {
		if e.Kind == entry.KindSaid {
			es = append(es, e)
		}
	}
	return es
}

// check compares everything.
func (m *machine) check(rt *rapid.T) {
	listed, err := m.j.Rooms(rt.Context(), m.prefix, len(modelRooms)) // the rooms of other runs are many by and by
	listed = slices.DeleteFunc(listed, func(r journal.Room) bool { return !strings.HasPrefix(r.Name, m.prefix) })
	if err != nil || len(listed) != len(m.rooms) {
		rt.Fatalf("rooms are %v %v, want %d", listed, err, len(m.rooms))
	}
	for _, row := range listed {
		r := m.rooms[row.Name]
		if r == nil {
			rt.Fatalf("nobody acquired %s", row.Name)
		}
		if again, ok, err := m.j.Room(rt.Context(), row.Name); err != nil || !ok || !reflect.DeepEqual(again, row) ||
			row.Awake != r.awake || !row.Due.Equal(r.due) || row.Head != r.head || row.Swept != r.swept {
			rt.Fatalf("room %s is %+v %+v %v, want %+v", row.Name, row, again, err, r)
		}
		name := row.Name
		es, err := m.j.Read(rt.Context(), name, 0, 1<<20)
		if err != nil || len(es)+len(r.entries) > 0 && !reflect.DeepEqual(es, r.entries) {
			rt.Fatalf("room %s has %v %v, want %v", name, es, err, r.entries)
		}
		said, err := m.j.Said(rt.Context(), name, journal.Span{Limit: 1 << 20})
		if want := r.said(); err != nil || len(said)+len(want) > 0 && !reflect.DeepEqual(said, want) {
			rt.Fatalf("room %s: said %v %v, want %v", name, said, err, want)
		}
		for _, id := range []string{"a", "あ", "owner/1"} {
			if _, ok, err := m.j.Find(rt.Context(), name, id); ok != r.ids[id] || err != nil {
				rt.Fatalf("find %q: %v %v, want %v", id, ok, err, r.ids[id])
			}
		}
		seq, state, err := m.j.GetSnapshot(rt.Context(), name)
		if err != nil || seq != r.snap || string(state) != string(r.state) {
			rt.Fatalf("snapshot is %d %q %v, want %d %q", seq, state, err, r.snap, r.state)
		}
	}
}
