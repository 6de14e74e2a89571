package host

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/room/registry"
	"github.com/companiond/companiond/host/rooms"
)

// TestConversationsOfOthers: the holder of an agent's token finds no conversation that it is
// not in, whichever door asks for it; its own, and rooms of other kinds, it does.
func TestConversationsOfOthers(t *testing.T) {
	var ids atomic.Int64
	reg, err := registry.New(registry.Config{
		Room:  room.Config{Journal: memory.New(), Log: slog.New(slog.DiscardHandler), NewID: func() string { return fmt.Sprint("id", ids.Add(1)) }},
		Rooms: []room.Settings{{Name: "main"}}, Usual: "main", Talks: talkRules(),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = reg.Run(ctx) })
	defer running.Wait()
	defer cancel()
	const name = conversation.Prefix + "1"
	terms := conversation.Terms{Project: "p", Members: []string{"ann", "bob"}, MaxTurns: 9, Pending: 60_000, Idle: 60_000}
	if _, err := reg.Convene(ctx, rooms.Convening{Name: name, Key: "k", Terms: terms}); err != nil {
		t.Fatal(err)
	}
	all := members{reg}
	for _, c := range []struct {
		caller identity.Caller
		room   string
		may    bool
	}{
		{identity.Caller{Name: "mal", Kind: abi.KindAgent}, name, false},
		{identity.Caller{Name: "mal", Kind: abi.KindAgent}, "main", true},
		{identity.Caller{Name: "bob", Kind: abi.KindAgent}, name, true},
		{identity.Caller{Name: "taro", Kind: abi.KindHuman}, name, true},
		{identity.Guest(nil), name, true},
	} {
		_, err := all.Room(identity.With(ctx, c.caller), c.room)
		if (err == nil) != c.may || !c.may && (abi.CodeOf(err) != abi.CodeDenied || !strings.Contains(err.Error(), "of others")) {
			t.Errorf("%q in %s: %v", c.caller.Name, c.room, err)
		}
	}
}
