package memory_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/memory"
	"github.com/companiond/companiond/host/room"
)

// fourMinds has a room of four, of whom three have one model.
func fourMinds(h *house) {
	all := []string{"aya", "ben", "kyoko", "rin"}
	h.rooms = []room.Settings{roomOf("main", all...)}
	for _, id := range all {
		h.settings[id] = memory.Settings{Model: true, Mind: map[bool]string{true: "small", false: "large"}[id != "rin"]}
	}
	h.model = func(modelRequest) (string, error) {
		return `{"facts":[{"turn":4,"quote":"My cat is called Tama","kind":"pet.name","thing":"cat","value":"Tama","text":"My cat is called Tama","importance":4}]}`, nil
	}
}

// TestOneQuestion: those who have the same model and heard the same have it asked once, and each
// remembers it as its own.
func TestOneQuestion(t *testing.T) {
	in(t, fourMinds, func(t *testing.T, h *house) {
		all := []string{"aya", "ben", "kyoko", "rin"}
		h.again(all...)
		if _, err := h.keeper.Write(context.Background(), "ben", abi.MemoryAdd{Text: "taro is tall", About: []string{"taro"}}, abi.VisibleAll, "ken"); err != nil {
			t.Fatal(err)
		}
		h.say("main", "taro", "My cat is called Tama.")
		rests()
		if n := h.asked.Load(); n != 2 {
			t.Errorf("models were asked %d times, want 2: one for each of them", n)
		}
		for _, id := range all {
			var got []abi.Memory
			for _, m := range h.remembers(id) {
				if m.SaidBy == "taro" {
					got = append(got, m)
				}
			}
			if len(got) != 1 || got[0].Quote != "My cat is called Tama" {
				t.Errorf("%s remembers %+v; %s", id, got, h.logged())
			}
			es := h.read(journal.MemoryOf(id))
			if es[len(es)-1].Kind != entry.KindRead {
				t.Errorf("%s: the last entry is %s", id, es[len(es)-1].Kind)
			}
		}
		h.SetCast(context.Background(), []entry.Joined{{ID: "ben", Kind: abi.KindCompanion}, {ID: "kyoko", Kind: abi.KindCompanion}})
		h.say("main", "taro", "Well then.")
		rests()
		if n := h.asked.Load(); n != 3 {
			t.Errorf("%d times, want 3", n)
		}
	})
}

// full is a journal that cannot write one stream for a while.
type full struct {
	journal.Journal
	stream *string
}

func (f full) Append(ctx context.Context, name string, head journal.Head, es ...journal.New) (journal.Head, error) {
	if name == *f.stream {
		return head, errors.New("the disk is full")
	}
	return f.Journal.Append(ctx, name, head, es...)
}

// TestHalfOfThem: whoever remembers it already is not asked for again when the others could not.
func TestHalfOfThem(t *testing.T) {
	stream := journal.MemoryOf("kyoko")
	var asked []int64
	in(t, func(h *house) {
		fourMinds(h)
		h.journal = full{h.journal, &stream}
	}, func(t *testing.T, h *house) {
		h.again("aya", "ben", "kyoko")
		h.say("main", "taro", "My cat is called Tama.")
		rests()
		asked = append(asked, h.asked.Load())
		stream = ""
		h.again("aya", "ben", "kyoko")
		sleep(memory.Rests + 2*time.Minute)
		asked = append(asked, h.asked.Load())
		for _, id := range []string{"aya", "ben", "kyoko"} {
			if got := h.facts(id); len(got) != 1 {
				t.Errorf("%s remembers %q", id, got)
			}
		}
		if !slices.Equal(asked, []int64{1, 2}) {
			t.Errorf("asked %d times", asked)
		}
	})
}

// TestBoundsOfOne: where one companion's bound is reached another's may not be; a model that
// is down is asked once.
func TestBoundsOfOne(t *testing.T) {
	for code, want := range map[abi.Code]int64{abi.CodeExhausted: 3, abi.CodeUnavailable: 1} {
		in(t, func(h *house) {
			fourMinds(h)
			h.model = func(modelRequest) (string, error) { return "", abi.Errorf(code, "no") }
		}, func(t *testing.T, h *house) {
			h.again("aya", "ben", "kyoko")
			h.say("main", "taro", "My cat is called Tama.")
			rests()
			if n := h.asked.Load(); n != want || len(h.facts("kyoko")) != 1 {
				t.Errorf("%s: asked %d times; %q", code, n, h.facts("kyoko"))
			}
		})
	}
}
