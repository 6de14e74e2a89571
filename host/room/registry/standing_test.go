package registry_test

import (
	"testing"
	"testing/synctest"

	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/rooms"
)

// TestStanding: a room goes by its settings, a fork by those of the room that it was forked of; a conversation, a room that was closed and
// one that nobody knows have nothing compressed that nobody asked for.
func TestStanding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := settings("main")
		set.Standing = history.Standing{Mode: history.ModeAuto, Policy: "Keep it.", At: .5}
		h := newHouse(t, set)
		h.t = t
		usual := history.Standing{Mode: history.ModeAsk, At: .7}
		h.config.Read = func(name string, raw []byte) (room.Settings, error) {
			s, err := read(name, raw)
			s.Standing = usual
			return s, err
		}
		h.run()
		defer func() { h.end() }()
		h.meet()
		h.say("main", "one")
		stands := func(name string, want history.Standing) {
			t.Helper()
			if got := h.Standing(t.Context(), name); got != want {
				t.Errorf("%s: %+v", name, got)
			}
		}
		stands("main", set.Standing)
		h.fork("main", 1, "other")
		stands("other", set.Standing)
		if _, err := h.Open(t.Context(), rooms.Opening{Name: "tea", By: rooms.Owner{Name: "taro"}, Settings: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
		stands("tea", usual)
		if err := h.Archive(t.Context(), "tea", rooms.Owner{Name: "taro"}); err != nil {
			t.Fatal(err)
		}
		stands("tea", history.Standing{})
		stands(h.convene(1, "ann", "bob"), history.Standing{})
		stands("nowhere", history.Standing{})
	})
}
