package memory_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	jmem "github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/memory"
	"github.com/companiond/companiond/host/rooms"
)

// fork forks a room at its newest turn.
func (h *house) fork(of, name string) {
	h.t.Helper()
	if _, err := h.Fork(context.Background(), rooms.Forking{Of: of, Name: name, By: rooms.Owner{Name: "hana", Admin: true}}); err != nil {
		h.t.Fatal(err)
	}
}

// TestForks: a fork remembers what was said before it left, and neither what the other room nor what another fork
// heard since, wherever that may be told, live and after a restart.
func TestForks(t *testing.T) {
	for _, scope := range []abi.Visibility{"", abi.VisiblePerson, abi.VisibleAll} {
		scoped := func(h *house) { h.settings["aya"] = memory.Settings{Visibility: scope} }
		in(t, scoped, func(t *testing.T, h *house) {
			h.say("main", "mika", "My cat is called Tama.")
			rests()
			h.fork("main", "left")
			h.fork("main", "right")
			h.say("main", "mika", "My cat is called Mike.")
			h.say("left", "mika", "My dog is called Pochi.")
			h.say("right", "mika", "My cat is called Kuro.")
			rests()
			h.fork("left", "leftmost")
			h.say("left", "mika", "I live in Kyoto.")
			h.say("leftmost", "mika", "My cat is called Sora.")
			rests()
			check := func() {
				t.Helper()
				for room, want := range map[string][]string{"main": {"Mike"}, "left": {"Tama", "Pochi", "Kyoto"}, "right": {"Kuro"}, "leftmost": {"Pochi", "Sora"}} {
					texts := append(h.recall("aya", room, "What are my cat and my dog called, and where do I live?"), h.recall("aya", room, "")...)
					for _, name := range []string{"Tama", "Mike", "Kuro", "Sora", "Pochi", "Kyoto"} {
						if got := contains(texts, name); got != slices.Contains(want, name) {
							t.Errorf("scope %q: %s is told in %s: %v; %q", scope, name, room, got, texts)
						}
					}
				}
			}
			check()
			h.again("aya")
			check()
			// What was said before was gone through once, by the room that it was said in.
			for _, m := range h.remembers("aya") {
				for _, seq := range m.Turns {
					if row, _, _ := h.journal.Room(context.Background(), m.Room); seq <= row.Fork.At {
						t.Errorf("%s went through turn %d of its past: %s", m.Room, seq, m.Text)
					}
				}
			}
			if _, err := h.keeper.EraseOf(context.Background(), "mika", "hana"); err != nil {
				t.Fatal(err)
			}
			for _, room := range []string{"main", "left", "right", "leftmost"} {
				if got := h.recall("aya", room, ""); len(got) > 0 {
					t.Errorf("in %s is left %q", room, got)
				}
			}
		})
	}
}

// What was not gone through when a room was forked is by the room alone in which it was said, also where the daemon ends
// before the fork has said anything; what was said before is told in the fork then.
func TestForkOfWhatWaits(t *testing.T) {
	in(t, nil, func(t *testing.T, h *house) {
		h.say("main", "mika", "My cat is called Tama.")
		h.fork("main", "fork")
		h.say("main", "mika", "My dog is called Pochi.")
		h.again("aya")
		h.say("fork", "mika", "I live in Kyoto.")
		h.again("aya")
		rests()
		if got := h.facts("aya"); len(got) != 3 {
			t.Errorf("%q", got)
		}
		for room, want := range map[string][]bool{"main": {true, true, false}, "fork": {true, false, true}} {
			texts := h.recall("aya", room, "")
			for i, name := range []string{"Tama", "Pochi", "Kyoto"} {
				if contains(texts, name) != want[i] {
					t.Errorf("in %s: %q", room, texts)
				}
			}
		}
		reads := map[string]int{}
		for _, e := range h.read(journal.MemoryOf("aya")) {
			if e.Kind == entry.KindRead {
				r, _ := entry.Decode[entry.Read](e)
				reads[r.Room]++
			}
		}
		if reads["main"] != 1 || reads["fork"] != 1 {
			t.Errorf("gone through: %v", reads)
		}
	})
}

// A module finds, adds and closes what is known in its room, and is not told what is not.
func TestForksOfModules(t *testing.T) {
	in(t, nil, func(t *testing.T, h *house) {
		ctx := context.Background()
		add := func(room, text string, replaces ...string) (abi.Memory, error) {
			return h.keeper.Add(ctx, caller("aya", room), abi.MemoryAdd{Text: text, About: []string{"mika"}, Replaces: replaces})
		}
		h.say("main", "mika", "Hello.")
		before, err := add("main", "mika says hello a lot")
		if err != nil {
			t.Fatal(err)
		}
		h.fork("main", "later") // shares what was there when that was added
		after, err := add("main", "mika is in a hurry today")
		if err != nil {
			t.Fatal(err)
		}
		h.say("main", "mika", "Bye.")
		late, err := add("main", "mika says bye a lot")
		if err != nil {
			t.Fatal(err)
		}
		if got := h.recall("aya", "later", ""); !contains(got, before.Text) || contains(got, late.Text) {
			t.Errorf("%q", got)
		}
		_, err = add("later", "mika never says bye", late.ID)
		wantCode(t, err, abi.CodeNotFound)
		same, err := add("later", late.Text)
		if err != nil || same.ID == late.ID || same.Room != "later" {
			t.Errorf("%+v %v", same, err)
		}
		if _, err := add("later", "mika is quiet", before.ID); err != nil {
			t.Fatal(err)
		}
		if got := h.recall("aya", "later", ""); contains(got, before.Text) {
			t.Errorf("%q", got)
		}
		if got := h.recall("aya", "main", ""); !contains(got, before.Text) || !contains(got, after.Text) || contains(got, "quiet") {
			t.Errorf("%q", got)
		}
		// A door's word holds everywhere.
		if _, err := h.keeper.Erase(ctx, "aya", []string{before.ID}, "hana"); err != nil {
			t.Fatal(err)
		}
		if got := h.recall("aya", "main", ""); contains(got, before.Text) {
			t.Errorf("%q", got)
		}
	})
}

// BenchmarkForks asks a companion that remembers as much as it may, in a room that is no fork, one of a house with forks, and
// the last of 64.
func BenchmarkForks(b *testing.B) {
	for _, depth := range []int{0, 1, journal.MaxDepth} {
		j := jmem.New()
		names := []string{"fork 0"}
		for i := range depth + 1 {
			var err error
			if i == 0 {
				_, err = j.Acquire(b.Context(), names[0], "test", time.Now())
			} else {
				names = append(names, fmt.Sprint("fork ", i))
				_, err = j.Fork(b.Context(), names[i], journal.Fork{Of: names[i-1], At: uint64(i)}, journal.Listing{}, journal.New{ID: fmt.Sprint(i), Kind: entry.KindForked, At: time.Now(), Body: []byte("{}")})
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		k := filled(b, j, names)
		room := names[depth]
		for what, text := range map[string]string{"question": "What is my cat called, Tama77?", "newest": ""} {
			b.Run(fmt.Sprintf("%s/depth %d", what, depth), func(b *testing.B) {
				for b.Loop() {
					found, err := k.Recall(b.Context(), caller("aya", room), abi.MemoryAsk{Text: text, About: []string{"person27"}})
					if err != nil || len(found.Memories) == 0 {
						b.Fatal(err, found)
					}
				}
			})
		}
		b.Run(fmt.Sprint("load/depth ", depth), func(b *testing.B) {
			for b.Loop() {
				if _, err := memory.New(memory.Config{Journal: j, NewID: func() string { return "x" }}).Recall(b.Context(), caller("aya", room), abi.MemoryAsk{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// filled fills aya's memory from rooms in turn, of which each fact closes none, and every tenth was said again.
func filled(b *testing.B, j journal.Journal, names []string) *memory.Keeper {
	head, err := j.Acquire(b.Context(), journal.MemoryOf("aya"), "test", time.Now())
	if err != nil {
		b.Fatal(err)
	}
	var news []journal.New
	put := func(kind entry.Kind, body any) {
		raw, err := json.Marshal(body)
		if err != nil {
			b.Fatal(err)
		}
		news = append(news, journal.New{ID: fmt.Sprint("e", len(news)), Kind: kind, At: time.Now(), Body: raw})
	}
	for n := range 10_000 {
		room := names[n%len(names)]
		put(entry.KindRemembered, entry.Remembered{How: entry.HowRules, Memory: abi.Memory{
			ID: fmt.Sprint("m", n), Kind: abi.MemoryFact, Text: fmt.Sprintf("person%d has a cat called Tama%d", n%50, n), Quote: strings.Repeat("My cat. ", 3),
			About: []string{fmt.Sprint("person", n%50)}, Keys: []string{"cat", fmt.Sprint("tama", n), "pet", "name"}, Room: room, Turns: []uint64{1},
			SaidBy: fmt.Sprint("person", n%50), SaidAt: time.Now(), Importance: 3, Visibility: abi.VisibleAll,
		}})
		if n%10 == 0 {
			put(entry.KindRevised, entry.Revised{Of: fmt.Sprint("m", n), Again: &entry.Again{Room: room, Turn: 2, At: time.Now()}})
		}
	}
	if _, err := j.Append(b.Context(), journal.MemoryOf("aya"), head, news...); err != nil {
		b.Fatal(err)
	}
	return memory.New(memory.Config{Journal: j, NewID: func() string { return "x" }})
}

// A fork in which nobody was before the daemon ended is not gone through from where its past woke.
func TestForkThatNobodyEntered(t *testing.T) {
	in(t, nil, func(t *testing.T, h *house) {
		ctx := context.Background()
		seq := h.say("main", "mika", "My cat is called Tama.")
		rests()
		h.end()
		if _, err := h.journal.Fork(ctx, "fork", journal.Fork{Of: "main", At: seq}, journal.Listing{},
			journal.New{ID: "forked", Kind: entry.KindForked, At: time.Now(), Body: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
		h.run("aya")
		rests()
		if got := h.facts("aya"); len(got) != 1 {
			t.Errorf("%q", got)
		}
		for _, e := range h.read(journal.MemoryOf("aya")) {
			if r, _ := entry.Decode[entry.Read](e); e.Kind == entry.KindRead && r.Room == "fork" {
				t.Errorf("it was gone through up to %d", r.Upto)
			}
		}
	})
}
