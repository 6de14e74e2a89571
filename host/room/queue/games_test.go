package queue_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/queue"
)

func told(g *queue.Games, seq uint64, who string, b entry.Perceived) {
	b.Who = who
	g.Tell(entry.Entry{Seq: seq}, b)
}

func text(s string) entry.Perceived {
	body, _ := json.Marshal(s)
	return entry.Perceived{Title: "context", Format: "text", Body: body, Game: "chess"}
}

// TestTold: the newest of each companion, as far as it fits; nothing ephemeral, nothing twice, and
// nothing that no game told.
func TestTold(t *testing.T) {
	var g queue.Games
	told(&g, 1, "kyoko", text("hers"))
	for i := range 20 {
		told(&g, uint64(2+i), "aya", text(fmt.Sprint(i)))
	}
	plain := text("seen")
	plain.Game = ""
	told(&g, 30, "aya", plain)
	for i, f := range []abi.Force{{Ephemeral: true, Try: 1}, {Try: 2}} {
		b := text("forced")
		b.Force = &f
		told(&g, uint64(31+i), "aya", b)
	}
	if all := g.ToldTo("aya", 0); len(all) != 16 || all[0].Seq != 6 || all[15].Seq != 21 {
		t.Errorf("aya is told %+v", all)
	}
	if all := g.ToldTo("aya", 20); len(all) != 14 || all[13].Seq != 19 {
		t.Errorf("before 20 she was told %d", len(all))
	}
	if all := g.ToldTo("kyoko", 0); len(all) != 1 {
		t.Errorf("kyoko is told %+v", all)
	}
	told(&g, 40, "aya", text(strings.Repeat("x", 9<<10)))
	told(&g, 41, "aya", text(strings.Repeat("y", 7<<10)))
	told(&g, 42, "aya", text(strings.Repeat("z", 3<<10)))
	if all := g.ToldTo("aya", 0); len(all) != 1 || all[0].Seq != 42 {
		t.Errorf("of much: %d", len(all))
	}
}

// TestErasedBeforeOrAfter: it does not matter whether words were erased before or after they
// were folded.
func TestErasedBeforeOrAfter(t *testing.T) {
	var before, after queue.Games
	for i := range uint64(20) {
		b := text(fmt.Sprint(i))
		told(&after, i, "aya", b)
		if i == 10 {
			b.Body = nil
		}
		told(&before, i, "aya", b)
	}
	after.Untell(func(seq uint64) bool { return seq == 10 })
	if !reflect.DeepEqual(before, after) || len(after.ToldTo("aya", 0)) != 15 {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
}
