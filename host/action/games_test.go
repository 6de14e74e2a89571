package action_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/force"
	"github.com/companiond/companiond/host/room/queue"
)

func offer(t *testing.T, name, description, schema string) card.Action {
	t.Helper()
	a, err := card.NewAction(name, description, json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestTooMuchIsLent: what games lend to one companion is bounded in bytes, and what is taken
// back makes room.
func TestTooMuchIsLent(t *testing.T) {
	var b action.Bodies
	g, leave := b.Plug("main", "aya", "", func() {})
	defer leave()
	g.Start("big")
	schema := `{"$comment":"` + strings.Repeat("x", card.MaxSchema-100) + `"}`
	var refused []action.Refusal
	for i := range 20 {
		refused = append(refused, g.Offer([]card.Action{offer(t, fmt.Sprint("a", i), "", schema)})...)
	}
	if len(refused) < 3 || refused[0].Rule != force.RegisterFull {
		t.Fatalf("refused: %v", refused)
	}
	g.Withdraw([]string{"a0"})
	if got := g.Offer([]card.Action{offer(t, "later", "", schema)}); got != nil {
		t.Errorf("where there is room again: %v", got)
	}
	other, gone := b.Plug("main", "kyoko", "", func() {})
	defer gone()
	other.Start("big")
	if got := other.Offer([]card.Action{offer(t, "a1", "", schema)}); got != nil {
		t.Errorf("to somebody else: %v", got)
	}
}

// TestOffers: what has changed since is told once, and another schema by the same name is a change.
func TestOffers(t *testing.T) {
	var b action.Bodies
	stirred := 0
	g, leave := b.Plug("main", "aya", "", func() { stirred++ })
	g.Start("chess")
	g.Offer([]card.Action{offer(t, "play", "one", ""), offer(t, "pass", "", "")})
	var state queue.Games
	look := func() (names []string) {
		for _, change := range b.Offers("main", state.Offered, func(string) bool { return true }) {
			state.Offer(change)
			names = append(names, fmt.Sprint(change.By, len(change.Actions), change.Withdrawn))
		}
		return names
	}
	if got := look(); !slices.Equal(got, []string{"chess2 []"}) {
		t.Errorf("first: %q", got)
	}
	if got := look(); got != nil {
		t.Errorf("nothing has changed: %q", got)
	}
	g.Withdraw([]string{"play"})
	g.Offer([]card.Action{offer(t, "play", "two", "")})
	if got := look(); !slices.Equal(got, []string{"chess1 [play]"}) || state.OfferedTo("aya", "play").Description != "two" {
		t.Errorf("another: %q, %+v", got, state.Offered)
	}
	if a, body, ok := b.Lent("main", "aya", "play"); !ok || body != g.ID() || a.Description != "two" {
		t.Errorf("lent: %+v by %s, %v", a, body, ok)
	}
	if _, _, ok := b.Lent("side", "aya", "play"); ok {
		t.Error("lent in another room")
	}
	if b.Count("main", "aya") != 0 {
		t.Error("a game counts as a body of the card's")
	}
	before := stirred
	leave()
	leave()
	if _, _, ok := b.Lent("main", "aya", "play"); ok || len(b.Of("main")) != 0 || stirred != before+1 {
		t.Errorf("it has left, and %v are there, stirred %d times", b.Of("main"), stirred-before)
	}
}
