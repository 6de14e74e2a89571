package host_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// TestInitiatorIsTold: whoever asked for a conversation waits, and hears that somebody has
// joined it.
func TestInitiatorIsTold(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.open(project("main", "a", "b"))
	both := h.conversers("a", "b")
	a, b := both[0], both[1]
	id := a.start("b", nil)
	told := make(chan talkNext)
	go func() {
		var n talkNext
		if err := a.try("get_next_action", map[string]any{"timeout_seconds": 45}, &n); err != nil {
			t.Error(err)
		}
		told <- n
	}()
	b.enter(id)
	if n := <-told; n.Action != "wait_for_messages" || n.State != "conversation_active" || n.Conversation != id || n.Instruction == "" {
		t.Errorf("a is told %+v", n)
	}
	if n := a.now(); n.Action != "wait_for_messages" || n.Conversation != "" {
		t.Errorf("a is told %+v after that", n)
	}
	a.do("end_conversation", nil, nil)
	a.isTold(id, "a", "initiator_ended")
	b.isTold(id, "a", "initiator_ended")
}

// TestFortyTurns: forty messages are as many as anybody may ask for, and no more are said,
// however many want to at once.
func TestFortyTurns(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.open(project("main", "a", "b"))
	both := h.conversers("a", "b")
	a, b := both[0], both[1]
	for _, turns := range []int{1, 41} {
		if err := a.try("start_conversation", map[string]any{"target_agent_id": "b", "max_turns": turns}, nil); refusedAs(err) != "invalid_argument" {
			t.Errorf("max_turns %d: %v", turns, err)
		}
	}
	for _, side := range []string{"one after the other", "at once"} {
		t.Run(side, func(t *testing.T) {
			id := a.start("b", map[string]any{"max_turns": 40})
			b.enter(id)
			var said []talkSent
			if side == "at once" {
				said = bothSay(t, both)
			} else {
				for i := range 40 {
					var s talkSent
					both[i%2].do("send_message", map[string]any{"target_agent_id": both[(i+1)%2].id, "content": fmt.Sprint(i)}, &s)
					said = append(said, s)
				}
			}
			if err := a.try("send_message", map[string]any{"target_agent_id": "b", "content": "41"}, nil); refusedAs(err) != "conversation_required_for_ai_to_ai" {
				t.Errorf("message 41: %v", err)
			}
			if err := a.try("send_message", map[string]any{"conversation_id": id, "content": "41"}, nil); refusedAs(err) != "conversation_not_open" {
				t.Errorf("message 41: %v", err)
			}
			checkForty(t, id, said)
			l := a.history(id)
			if len(l.Messages) != 40 || l.Turns != 40 || l.Reason != "max_turns" || l.State != "terminating" {
				t.Errorf("%d messages, %+v", len(l.Messages), l)
			}
			by := l.Messages[len(l.Messages)-1].From
			for _, x := range both {
				x.isTold(id, by, "max_turns")
			}
			if l := a.history(id); l.State != "ended" || l.EndedBy != by {
				t.Errorf("when both were told it is %s, ended by %s", l.State, l.EndedBy)
			}
		})
	}
}

// checkForty looks at what was answered to forty messages.
func checkForty(t *testing.T, id string, said []talkSent) {
	t.Helper()
	slices.SortFunc(said, func(x, y talkSent) int { return x.Turns - y.Turns })
	if len(said) != 40 {
		t.Fatalf("%d messages were said", len(said))
	}
	for i, s := range said {
		if s.Turns != i+1 || s.MaxTurns != 40 || s.Conversation != id || s.ID == "" || !s.Success {
			t.Errorf("message %d: %+v", i+1, s)
		}
		if last := i == 39; s.Ended != last || (s.Warning != "") != last {
			t.Errorf("message %d ends it: %v, %q", i+1, s.Ended, s.Warning)
		}
		if five := (i+1)%5 == 0 && i != 39; (s.Reminder != "") != five || five && !strings.Contains(s.Reminder, fmt.Sprint(40-i-1)) {
			t.Errorf("message %d has the reminder %q", i+1, s.Reminder)
		}
	}
}

// bothSay lets two agents say as much as they can in eight calls at once.
func bothSay(t *testing.T, both []*converser) (said []talkSent) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 8 {
		a, with := both[i%2], both[(i+1)%2]
		all.Go(func() {
			for n := 0; ; n++ {
				var s talkSent
				err := a.try("send_message", map[string]any{"target_agent_id": with.id, "content": fmt.Sprint(i, " ", n)}, &s)
				if err != nil {
					if refusedAs(err) != "conversation_required_for_ai_to_ai" && refusedAs(err) != "conversation_not_open" {
						t.Errorf("%s: %v", a.id, err)
					}
					return
				}
				mu.Lock()
				said = append(said, s)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return said
}

// TestBothBegin: of two that want to talk with each other in the same instant, one begins, and the
// other is told that they have a conversation. COMPANIOND_PAIRS says how many do so at once.
func TestBothBegin(t *testing.T) {
	t.Parallel()
	pairs := 50
	if n, err := strconv.Atoi(os.Getenv("COMPANIOND_PAIRS")); err == nil {
		pairs = n
	}
	var ids []string
	for i := range pairs {
		ids = append(ids, fmt.Sprintf("left%d", i), fmt.Sprintf("right%d", i))
	}
	h := newHome(t)
	h.open("max_rooms = 10000\n" + project("main", ids...))
	all := h.conversers(ids...)
	began, errs := make([]talkStarted, len(all)), make([]error, len(all))
	gun := make(chan struct{})
	var running sync.WaitGroup
	for i, a := range all {
		running.Go(func() {
			<-gun
			errs[i] = a.try("start_conversation", map[string]any{"target_agent_id": all[i^1].id}, &began[i])
		})
	}
	close(gun)
	running.Wait()
	lefts := 0
	for i := 0; i < len(all); i += 2 {
		one, other := i, i+1
		if errs[one] != nil {
			one, other = other, one
		} else {
			lefts++
		}
		id := began[one].Conversation
		if errs[one] != nil || refusedAs(errs[other]) != "conversation_already_active" || !strings.Contains(errs[other].Error(), id) {
			t.Fatalf("%s and %s: %v, %v", all[one].id, all[other].id, errs[one], errs[other])
		}
		for _, a := range []*converser{all[one], all[other]} {
			if l := a.list(""); len(l) != 1 || l[0].Conversation != id || l[0].State != "pending" {
				t.Errorf("%s has %+v", a.id, l)
			}
		}
		if n := all[other].now(); n.Action != "conversation_request" || n.Conversation != id || n.From != all[one].id {
			t.Errorf("%s is told %+v", all[other].id, n)
		}
	}
	t.Logf("%d pairs, %d times the first of the two began", pairs, lefts)
}

// TestCrashLoop: an agent joins and is gone without a word, again and again; the one it talks with is
// told of each conversation's end once, and can begin anew.
func TestCrashLoop(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.open("[conversations]\nsession = \"2s\"\n" + project("main", "a", "b"))
	a := h.conversers("a")[0]
	crashes := []func(b *converser){
		func(*converser) {},
		func(b *converser) { b.do("respond_chat", map[string]any{"content": "yes"}, nil) },
		func(b *converser) { b.do("logout", nil, nil) },
		(*converser).crash,
		func(b *converser) { // it comes again at once, and the conversation goes on until it does not
			id := b.list("active")[0].Conversation
			for range 20 {
				b = h.converser("b", id)
				b.crash()
			}
		},
	}
	for round, crash := range crashes {
		id := a.start("b", map[string]any{"initial_message": "are you there?"})
		b := h.converser("b", id)
		b.reads()
		crash(b)
		a.isTold(id, "b", "session_expired")
		if l := a.history(id); l.State != "ended" || l.EndedBy != "b" || l.Reason != "session_expired" {
			t.Errorf("round %d: %+v", round, l)
		}
	}
	if l := a.list(""); len(l) != len(crashes) {
		t.Errorf("%d conversations", len(l))
	}
}
