package host_test

import (
	"fmt"
	"sync"
	"testing"
)

// ending is a way for a conversation of two to end.
type ending struct {
	name    string
	ask     map[string]any
	pending bool                     // b has not answered
	do      func(a, b *converser)    // what ends it; nil: time
	by      func(a, b string) string // as both are told
	reason  string
	gone    string // whoever is not there any more
}

func byA(a, _ string) string    { return a }
func byB(_, b string) string    { return b }
func byNone(_, _ string) string { return "" }

func end(x *converser) { x.do("end_conversation", nil, nil) }

func leave(x *converser) { x.do("logout", nil, nil) }

var talkEndings = []ending{
	{name: "the initiator ends it", do: func(a, _ *converser) { end(a) }, by: byA, reason: "initiator_ended"},
	{name: "the invited one ends it", do: func(_, b *converser) { end(b) }, by: byB, reason: "participant_ended"},
	{name: "the initiator takes it back", pending: true, do: func(a, _ *converser) { end(a) }, by: byA, reason: "initiator_ended"},
	{name: "the invited one declines", pending: true, do: func(_, b *converser) {
		b.do("decline_conversation", map[string]any{"conversation_id": b.list("pending")[0].Conversation}, nil)
	}, by: byB, reason: "declined"},
	{name: "nobody answers", pending: true, ask: map[string]any{"pending_seconds": 1}, by: byNone, reason: "timeout"},
	{name: "nobody says anything", ask: map[string]any{"idle_seconds": 1}, by: byNone, reason: "timeout"},
	{name: "the last turn", ask: map[string]any{"max_turns": 2}, do: func(a, b *converser) {
		a.do("send_message", map[string]any{"target_agent_id": b.id, "content": "one"}, nil)
		b.do("respond_chat", map[string]any{"content": "two"}, nil)
	}, by: byB, reason: "max_turns"},
	{name: "the initiator's session ends", do: func(a, _ *converser) { leave(a) }, by: byA, reason: "session_expired", gone: "a"},
	{name: "the invited one's session ends", do: func(_, b *converser) { leave(b) }, by: byB, reason: "session_expired", gone: "b"},
}

// pollings are in which order the two ask what there is to do.
var pollings = []string{"a first", "b first", "both wait"}

// TestEachIsToldOnce: however a conversation ends and whoever asks first, each of the two is told of
// one ending, by whoever it was, with the right reason.
func TestEachIsToldOnce(t *testing.T) {
	t.Parallel()
	var ids []string
	for i := range len(talkEndings) * len(pollings) {
		ids = append(ids, fmt.Sprint("a", i), fmt.Sprint("b", i))
	}
	h := newHome(t)
	h.open("max_rooms = 1000\n" + project("main", ids...))
	all := h.conversers(ids...)
	t.Run("all", func(t *testing.T) { // the daemon ends behind those that run at the same time
		for i, e := range talkEndings {
			for j, polling := range pollings {
				n := 2 * (i*len(pollings) + j)
				t.Run(e.name+"/"+polling, func(t *testing.T) {
					t.Parallel()
					a, b := *all[n], *all[n+1]
					a.t, b.t = t, t
					e.play(&a, &b, polling)
				})
			}
		}
	})
}

// play lets a conversation end.
func (e ending) play(a, b *converser, polling string) {
	id := a.start(b.id, e.ask)
	if e.pending {
		if n := b.now(); n.Action != "conversation_request" || n.Conversation != id {
			a.t.Errorf("b is told %+v", n)
		}
	} else {
		leave(b) // one session each
		b.enter(id)
	}
	told := []func(){func() { e.told(a, id, a.id, b.id) }, func() { e.told(b, id, a.id, b.id) }}
	switch e.gone {
	case "a":
		told = told[1:]
	case "b":
		told = told[:1]
	}
	if polling == "both wait" {
		var waiting sync.WaitGroup
		for _, f := range told {
			waiting.Go(f)
		}
		e.happens(a, b)
		waiting.Wait()
		return
	}
	e.happens(a, b)
	if polling == "b first" && len(told) == 2 {
		told[0], told[1] = told[1], told[0]
	}
	for _, f := range told {
		f()
	}
}

func (e ending) happens(a, b *converser) {
	if e.do != nil {
		e.do(a, b)
	}
}

// told looks at what one of the two is told.
func (e ending) told(x *converser, id, a, b string) {
	action, target := "conversation_ended", ""
	if e.pending && e.do == nil && x.id == a {
		action, target = "conversation_expired", b
	}
	n := x.ending()
	if n.Action != action || n.Conversation != id || n.EndedBy != e.by(a, b) || n.Reason != e.reason || n.Target != target || n.Instruction == "" {
		x.t.Errorf("%s is told %+v", x.id, n)
	}
	x.hasNothing()
}
