package registry_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/registry"
	"github.com/companiond/companiond/host/rooms"
)

// counted is a journal that counts reads of entries and of the index.
type counted struct {
	journal.Journal
	reads atomic.Int64
}

func (c *counted) Read(ctx context.Context, room string, after uint64, limit int) ([]entry.Entry, error) {
	c.reads.Add(1)
	return c.Journal.Read(ctx, room, after, limit)
}

func (c *counted) Room(ctx context.Context, name string) (journal.Room, bool, error) {
	c.reads.Add(1)
	return c.Journal.Room(ctx, name)
}

// How a room looks that sleeps is read once, and anew when it was awake, when others are
// loaded, or when it was closed.
func TestARoomThatSleepsIsReadOnce(t *testing.T) {
	var on *counted
	in(t, func(t *testing.T) *house {
		h := oneRoom(t)
		on = &counted{Journal: h.journal}
		h.journal = on
		return h
	}, func(t *testing.T, h *house) {
		look := func(name string, want bool, what string) (info rooms.Info) {
			t.Helper()
			talk, err := h.Room(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			before := on.reads.Load()
			info = talk.Info()
			if read := on.reads.Load() > before; h.Awake(name) || read != want {
				t.Errorf("%s: awake %v, read %v", what, h.Awake(name), read)
			}
			return info
		}
		h.meet("kyoko")
		sleep(2 * registry.Idle)
		first := look("main", true, "at first")
		look("main", false, "again")
		h.say("main", "hello")
		sleep(2 * registry.Idle)
		second := look("main", true, "it was awake")
		if second.Head <= first.Head || second.Last == first.Last {
			t.Errorf("%+v after %+v", second, first)
		}
		look("main", false, "again")
		h.meet("kyoko", "aya")
		sleep(2 * registry.Idle)
		if with := look("main", true, "somebody came"); len(with.Members) <= len(second.Members) {
			t.Errorf("members %v after %v", with.Members, second.Members)
		}
		look("main", false, "again")
		if _, err := h.Open(t.Context(), rooms.Opening{Name: "side", By: rooms.Owner{Name: "mika"}, Settings: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
		sleep(2 * registry.Idle)
		if i := look("side", true, "opened"); i.State == "archived" {
			t.Error(i.State)
		}
		if err := h.Archive(t.Context(), "side", rooms.Owner{Name: "mika"}); err != nil {
			t.Fatal(err)
		}
		sleep(2 * registry.Idle)
		if i := look("side", true, "closed"); i.State != "archived" {
			t.Errorf("closed, it looks %q", i.State)
		}
	})
}
