package hostops

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/module"
)

// roomed is stores that are apart in each room.
type roomed struct {
	of     map[string]*memory.KV
	forgot []string
}

func (r *roomed) KVIn(room string) journal.KV {
	if r.of[room] == nil {
		r.of[room] = new(memory.KV)
	}
	return r.of[room]
}

func (r *roomed) KVForget(_ context.Context, room, companion, key string) error {
	r.forgot = append(r.forgot, room+"/"+companion+"/"+key)
	return nil
}

// TestKeysAreOfTheRoom of a call; what a module changes because it is told that words are erased is gone for good.
func TestKeysAreOfTheRoom(t *testing.T) {
	stores := &roomed{of: map[string]*memory.KV{}}
	ops := &Ops{Stores: stores}
	do := func(room, asked, op, data string) string {
		t.Helper()
		got, err := ops.HostCall(context.Background(), module.Caller{Companion: "aya", Room: room, Op: asked}, op, json.RawMessage(data))
		if err != nil {
			t.Fatal(err)
		}
		return string(got)
	}
	for _, room := range []string{"main", "fork", ""} {
		do(room, abi.OpSpeak, abi.HostKVSet, fmt.Sprintf(`{"key":"k","value":"in %s"}`, room))
	}
	for _, room := range []string{"main", "fork", ""} {
		if got := do(room, abi.OpSpeak, abi.HostKVGet, `{"key":"k"}`); got != fmt.Sprintf(`{"found":true,"value":"in %s"}`, room) {
			t.Errorf("in %q: %s", room, got)
		}
	}
	do("main", abi.OpSpeak, abi.HostKVDel, `{"key":"k"}`)
	if got := do("main", abi.OpVote, abi.HostKVList, `{}`) + do("fork", abi.OpVote, abi.HostKVList, `{}`); got != `{"keys":[]}{"keys":["k"]}` {
		t.Error(got)
	}
	do("", abi.OpEvent, abi.HostKVGet, `{"key":"k"}`)
	do("", abi.OpEvent, abi.HostKVSet, `{"key":"k","value":"less"}`)
	do("fork", abi.OpEvent, abi.HostKVDel, `{"key":"k"}`)
	if !slices.Equal(stores.forgot, []string{"/aya/k", "fork/aya/k"}) {
		t.Errorf("%q", stores.forgot)
	}
}
