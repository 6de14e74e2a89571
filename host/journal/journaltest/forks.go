package journaltest

import (
	"fmt"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"pgregory.net/rapid"
)

// This file is what the model knows of forks: it copies what they share.

// modelState is a snapshot that was put.
type modelState struct {
	seq   uint64
	state string
}

// fork forks a room of any other, or is refused.
func (m *machine) fork(rt *rapid.T, r *modelRoom) {
	of := m.room(rapid.SampledFrom(modelRooms).Draw(rt, "of"))
	f := journal.Fork{Of: of.Name, At: of.anySeq(rt, "at")}
	l := journal.Listing{Key: rapid.SampledFrom([]string{"", "", "", "hiroba"}).Draw(rt, "key"), By: "mika"}
	var news []journal.New
	var refused error
	code := abi.Code("")
	seen := map[string]bool{}
	for range rapid.IntRange(0, 3).Draw(rt, "entries") {
		id := rapid.StringMatching(`[a-cA-Cあ-お]{1,2}`).Draw(rt, "id")
		e, there := of.find(id)
		if seen[id] || there && e.Seq <= f.At {
			refused = journal.ErrConflict
		}
		seen[id] = true
		news = append(news, journal.New{ID: id, V: 1, Kind: entry.KindSaid, At: day, Body: fmt.Appendf(nil, "%q", id)})
	}
	for _, other := range m.rooms {
		if other.Name != r.Name && l.Key != "" && other.Key == l.Key {
			refused = journal.ErrConflict
		}
	}
	_, there := of.entry(f.At)
	switch {
	case m.rooms[r.Name] != nil:
		refused = journal.ErrConflict
	case !there:
		refused, code = nil, abi.CodeNotFound
	}
	h, err := m.j.Fork(rt.Context(), r.Name, f, l, news...)
	if code != "" && abi.CodeOf(err) != code || code == "" && refused != nil {
		if code == "" {
			wantErr(rt, err, refused)
			return
		}
		rt.Fatalf("fork of %+v: %v, want %s", f, err, code)
	}
	if code != "" {
		return
	}
	wantErr(rt, err, nil)
	m.rooms[r.Name] = r
	r.Fork, r.Listing, r.depth, r.trimmed = f, l, of.depth+1, of.trimmed
	r.Head, r.Owner, r.Swept = journal.Head{Seq: f.At, Epoch: of.Head.Epoch}, of.Owner, min(of.Swept, f.At)
	r.entries = slices.DeleteFunc(slices.Clone(of.entries), func(e entry.Entry) bool { return e.Seq > f.At })
	for _, n := range news {
		r.add(n)
	}
	if h != r.Head {
		rt.Fatalf("fork gave %v, want %v", h, r.Head)
	}
}

// entry gives the entry with a seq.
func (r *modelRoom) entry(seq uint64) (*entry.Entry, bool) {
	i := slices.IndexFunc(r.entries, func(e entry.Entry) bool { return e.Seq == seq })
	if i < 0 {
		return nil, false
	}
	return &r.entries[i], true
}

// origin names the room to which an entry was appended.
func (m *machine) origin(r *modelRoom, seq uint64) string {
	for r.Fork.Of != "" && seq <= r.Fork.At {
		r = m.room(r.Fork.Of)
	}
	return r.Name
}

// same gives an entry of a room as it stands in all rooms that share it.
func (m *machine) same(r *modelRoom, seq uint64) (all []*entry.Entry) {
	if _, there := r.entry(seq); !there {
		return nil
	}
	origin := m.origin(r, seq)
	for _, other := range m.rooms {
		if e, there := other.entry(seq); there && m.origin(other, seq) == origin {
			all = append(all, e)
		}
	}
	return all
}

// shared says whether another room has entries in common that were appended to r, up to a seq.
func (m *machine) shared(r *modelRoom, upTo uint64) bool {
	for _, e := range r.entries {
		if e.Seq <= upTo && m.origin(r, e.Seq) == r.Name && len(m.same(r, e.Seq)) > 1 {
			return true
		}
	}
	return false
}

// states gives all that were put in a room and in its past, of an entry up to at.
func (m *machine) states(r *modelRoom, at uint64) (all []modelState) {
	from := r.trimmed
	for {
		for _, s := range r.put {
			if s.seq <= at && s.seq >= from {
				all = append(all, s)
			}
		}
		if r.Fork.Of == "" {
			return all
		}
		at, r = min(at, r.Fork.At), m.room(r.Fork.Of)
	}
}

// checkSnapshots compares a room's snapshots: which of the older ones are kept is the engine's business.
func (m *machine) checkSnapshots(rt *rapid.T, r *modelRoom) {
	seq, state, err := m.j.GetSnapshot(rt.Context(), r.Name)
	own := r.state != nil || r.Fork.Of == ""
	if err != nil || own && (seq != r.seq || string(state) != string(r.state)) {
		rt.Fatalf("snapshot of %s is %d %q %v, want %d %q", r.Name, seq, state, err, r.seq, r.state)
	}
	some := func() bool { return seq > 0 || len(state) > 0 }
	if !own && some() && !slices.Contains(m.states(r, r.Fork.At), modelState{seq, string(state)}) {
		rt.Fatalf("snapshot of %s is %d %q, which was not put", r.Name, seq, state)
	}
	at := r.anySeq(rt, "snapshot at")
	seq, state, err = m.j.SnapshotAt(rt.Context(), r.Name, at)
	if err != nil || some() && !slices.Contains(m.states(r, at), modelState{seq, string(state)}) {
		rt.Fatalf("snapshot of %s at %d is %d %q %v, which was not put", r.Name, at, seq, state, err)
	}
	if own && r.state != nil && at >= r.seq && seq < r.seq {
		rt.Fatalf("snapshot of %s at %d is of %d, and the newest of %d", r.Name, at, seq, r.seq)
	}
}
