package life

import (
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/entry"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func begun(t *testing.T, members ...string) *Life {
	t.Helper()
	l := new(Life)
	in := conversation.Input{Kind: conversation.Start, Who: members[0], Terms: &conversation.Terms{
		Members: members, MaxTurns: 9, Pending: 1000, Idle: 5000, Purpose: "p",
	}}
	if !l.Happens(in, noon) || l.Happens(in, noon) {
		t.Fatal("it begins once")
	}
	return l
}

// TestWhoIsAsked: whoever has left is not, and in turn nobody but the next.
func TestWhoIsAsked(t *testing.T) {
	all := func() []string { return []string{"b", "c", "x"} }
	l := begun(t, "a", "b", "c")
	if got := l.Asked(all()); len(got) != 2 {
		t.Errorf("%v are asked", got)
	}
	l.Happens(conversation.Input{Kind: conversation.Decline, Who: "b"}, noon)
	if got := l.Asked(all()); len(got) != 1 || got[0] != "c" {
		t.Errorf("%v are asked", got)
	}
	l.Conversation.Terms.InTurn = true
	if got := l.Asked(all()); len(got) != 0 {
		t.Errorf("%v are asked, though it is the turn of a", got)
	}
	if got := new(Life).Asked(all()); len(got) != 3 {
		t.Errorf("%v are asked where there is no conversation", got)
	}
}

// TestAHumansWords are no turn, and put its end off.
func TestAHumansWords(t *testing.T) {
	l := begun(t, "a", "b")
	l.Happens(conversation.Input{Kind: conversation.Join, Who: "b"}, noon)
	l.Hears(entry.Said{From: "taro", By: abi.KindHuman}, noon.Add(time.Second))
	if due, _ := l.Conversation.Due(); l.Conversation.Turns != 0 || !due.Equal(noon.Add(6*time.Second)) {
		t.Errorf("%d turns, due %v", l.Conversation.Turns, due)
	}
	if l.Refuses("taro", abi.KindHuman, noon) != nil || l.Refuses("taro", abi.KindAgent, noon) == nil {
		t.Error("a human may, an agent who is no member may not")
	}
	l.Happens(conversation.Input{Kind: conversation.End, Who: "a"}, noon)
	if l.Refuses("taro", abi.KindHuman, noon) == nil {
		t.Error("a human speaks in one that is over")
	}
}

// TestTelling: what was told is what became of it.
func TestTelling(t *testing.T) {
	l := begun(t, "a", "b")
	if !l.Moved() || l.Telling() != (entry.Lifecycle{To: "pending"}) {
		t.Errorf("%+v", l.Telling())
	}
	l.Shown = conversation.Pending
	if l.Moved() || l.Over() {
		t.Error("nothing has happened")
	}
	l.Happens(conversation.Input{Kind: conversation.End, Who: "a"}, noon)
	if !l.Over() || l.Telling() != (entry.Lifecycle{From: "pending", To: "terminating", EndedBy: "a", Reason: "initiator_ended"}) {
		t.Errorf("%+v", l.Telling())
	}
}
