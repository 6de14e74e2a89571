package host_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/companiond/companiond/host/waittest"
)

// killPoints are where in a round the daemon may be killed: before each of its calls, within it, and
// behind it.
const killPoints = 3 * 21

// TestKilledInConversation plays UC016 again and again, each time with the same two agents, and kills the
// daemon with SIGKILL before, within or behind one of their calls, each of them in turn. Whatever
// it was, both go on where they were: all is said once and heard once, both are told
// of one ending, and the next conversation of the two can begin. COMPANIOND_KILLS says how often.
func TestKilledInConversation(t *testing.T) {
	waittest.WithoutRaces(t)
	t.Parallel()
	rounds := 24
	if n, err := strconv.Atoi(os.Getenv("COMPANIOND_KILLS")); err == nil {
		rounds = n
	} else if testing.Short() {
		rounds = 6
	}
	m := newMortal(t, workers)
	points, ids := rand.Perm(killPoints), []string{}
	for round := range rounds {
		m.plan(points[round%killPoints])
		talk := &killedTalk{mortal: m, round: round, invited: make(chan string, 1)}
		ids = append(ids, talk.play())
		if t.Failed() {
			t.Fatalf("in round %d the daemon was killed %s", round, m.last)
		}
	}
	m.replays(ids)
	where := []string{}
	for _, w := range slices.Sorted(maps.Keys(m.where)) {
		where = append(where, fmt.Sprintf("%s %d", w, m.where[w]))
	}
	t.Logf("%d kills: %s", m.kills, strings.Join(where, ", "))
}

// killedTalk is one round.
type killedTalk struct {
	*mortal
	round   int
	invited chan string // the conversation that worker-b is wanted in
}

// text gives what is said in this round, and under which name.
func (k *killedTalk) text(i int) (text, id string) {
	return fmt.Sprintf("%d %s", k.round, uc016[i]), fmt.Sprintf("round-%d-message-%d", k.round, i)
}

// play lets both talk to the end, and looks at what is left. It gives the conversation.
func (k *killedTalk) play() (id string) {
	k.t.Helper()
	a, b := &survivor{mortal: k.mortal, id: "worker-a"}, &survivor{mortal: k.mortal, id: "worker-b"}
	var all sync.WaitGroup
	all.Go(func() {
		defer close(k.invited)
		k.failed(k.asks(a))
	})
	all.Go(func() { k.failed(k.answers(b)) })
	all.Wait()
	if k.fault != nil {
		k.t.Errorf("round %d: %v", k.round, k.fault)
		return ""
	}
	k.missed() // a talk may be over before its turn comes to be killed
	if err := errors.Join(k.check(a, 1), k.check(b, 0, 2), a.leave(), b.leave()); err != nil {
		k.t.Errorf("round %d: %v", k.round, err)
		return ""
	}
	return a.endings[0].Conversation
}

// asks is worker-a.
func (k *killedTalk) asks(a *survivor) error {
	id, err := a.starts("worker-b", "認証実装の相談")
	if err != nil {
		return err
	}
	k.invited <- id
	if err := a.says(k, "send_message", 0); err != nil {
		return err
	}
	return a.lives(func(m talkSaid) error {
		if err := a.says(k, "send_message", 2); err != nil {
			return err
		}
		again, err := a.do("end_conversation", map[string]any{"conversation_id": id}, nil)
		if again && refusedAs(err) == "conversation_not_open" {
			err = nil
		}
		return err
	})
}

// answers is worker-b.
func (k *killedTalk) answers(b *survivor) error {
	id, ok := <-k.invited
	if !ok {
		return nil // worker-a tells why
	}
	question, _ := k.text(0)
	return b.lives(func(m talkSaid) error {
		if m.Conversation != id {
			return fmt.Errorf("worker-b, who is in %s, hears %+v", id, m)
		}
		if m.Content != question {
			return nil
		}
		return b.says(k, "respond_chat", 1)
	})
}

// check looks at what somebody heard, was told, and has left: nothing.
func (k *killedTalk) check(s *survivor, heard ...int) error {
	var want, got []string
	for _, i := range heard {
		text, _ := k.text(i)
		want = append(want, text)
	}
	for _, m := range s.heard {
		got = append(got, m.Content)
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("%s heard %q, wanted %q", s.id, got, want)
	}
	if len(s.endings) != 1 || s.endings[0].EndedBy != "worker-a" || s.endings[0].Reason != "initiator_ended" {
		return fmt.Errorf("%s was told %+v", s.id, s.endings)
	}
	var l talkListed
	if _, err := s.do("get_conversation_history", map[string]any{"conversation_id": s.endings[0].Conversation}, &l); err != nil {
		return err
	}
	for i := range uc016 {
		text, id := k.text(i)
		if len(l.Messages) != len(uc016) || l.Messages[i].Content != text || l.Messages[i].ID != id {
			return fmt.Errorf("the history is %+v", l)
		}
	}
	if l.State != "ended" || l.Turns != len(uc016) {
		return fmt.Errorf("the conversation is %+v", l)
	}
	var all struct{ Conversations []talkListed }
	if _, err := s.do("list_conversations", nil, &all); err != nil {
		return err
	}
	for i, l := range all.Conversations {
		if l.State != "ended" || i == 0 && l.Conversation != s.endings[0].Conversation {
			return fmt.Errorf("left is %+v", l)
		}
	}
	if want := min(k.round+1, 20); len(all.Conversations) != want {
		return fmt.Errorf("%d conversations, wanted %d", len(all.Conversations), want)
	}
	return nil
}

// survivor is an agent that goes on with the next daemon where the last one was killed: it
// authenticates again, and sends again what was not answered.
type survivor struct {
	*mortal
	id     string
	c      *mcpClient
	life   int // of the daemon that it is connected with
	token  string
	cursor string // of what it received last

	heard   []talkSaid
	endings []talkNext
}

// do calls a tool until it is answered; again says that it was called more than once.
func (s *survivor) do(tool string, args map[string]any, out any) (again bool, err error) {
	for ; ; again = true {
		err := s.authenticated()
		if err == nil {
			all := map[string]any{"session_token": s.token}
			maps.Copy(all, args)
			err = s.step(tool, func(ctx context.Context) error { return s.c.call(ctx, tool, all, out) })
		}
		var refused *talkRefusal
		if err == nil || errors.As(err, &refused) {
			return again, err
		}
		if s.c != nil {
			s.c.leave()
			s.c = nil
		}
		if err := s.outlived(s.life, fmt.Errorf("%s calls %s: %w", s.id, tool, err)); err != nil {
			return again, err
		}
	}
}

// authenticated connects with the daemon that lives now.
func (s *survivor) authenticated() error {
	if s.c != nil {
		return nil
	}
	life, url, err := s.alive()
	if err != nil {
		return err
	}
	s.life = life
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Long)
	defer cancel()
	if s.c, err = dialMCP(ctx, url); err != nil {
		return err
	}
	var in struct {
		Token string `json:"session_token"`
	}
	err = s.step("authenticate", func(ctx context.Context) error {
		return s.c.call(ctx, "authenticate", map[string]any{"agent_id": s.id, "purpose": "chat"}, &in)
	})
	s.token = in.Token
	return err
}

// starts opens a conversation; one that was opened and not acknowledged is there.
func (s *survivor) starts(target, purpose string) (string, error) {
	var started talkStarted
	again, err := s.do("start_conversation", map[string]any{"target_agent_id": target, "purpose": purpose}, &started)
	if !again || refusedAs(err) != "conversation_already_active" {
		return started.Conversation, err
	}
	var open struct{ Conversations []talkListed }
	if _, err := s.do("list_conversations", map[string]any{"state": "pending"}, &open); err != nil {
		return "", err
	}
	if len(open.Conversations) != 1 || !strings.Contains(err.Error(), open.Conversations[0].Conversation) {
		return "", fmt.Errorf("%w, and there are %+v", err, open)
	}
	return open.Conversations[0].Conversation, nil
}

// says says one of the messages of a round.
func (s *survivor) says(k *killedTalk, tool string, i int) error {
	text, id := k.text(i)
	other := map[string]string{"worker-a": "worker-b", "worker-b": "worker-a"}[s.id]
	var sent talkSent
	_, err := s.do(tool, map[string]any{"target_agent_id": other, "content": text, "message_id": id}, &sent)
	if err == nil && (sent.ID != id || sent.Turns != i+1) {
		err = fmt.Errorf("%s said message %d and is answered %+v", s.id, i, sent)
	}
	return err
}

// lives does what it is to do until it is told that the conversation is over, and nothing after that. What it
// has received it acknowledges, and therefore it has all once.
func (s *survivor) lives(hears func(talkSaid) error) error {
	for {
		var n talkNext
		wait := 45
		if len(s.endings) > 0 {
			wait = 0
		}
		if err := s.asks("get_next_action", map[string]any{"timeout_seconds": wait}, &n, &n.Cursor); err != nil {
			return err
		}
		switch n.Action {
		case "conversation_ended":
			if s.endings = append(s.endings, n); len(s.endings) > 1 {
				return fmt.Errorf("%s is told %+v", s.id, s.endings)
			}
		case "conversation_request", "get_pending_messages":
			var r talkRead
			if err := s.asks("get_pending_messages", nil, &r, &r.Cursor); err != nil {
				return err
			}
			s.heard = append(s.heard, r.Pending...)
			for _, m := range r.Pending {
				if err := hears(m); err != nil {
					return err
				}
			}
		case "wait_for_messages":
			if len(s.endings) > 0 {
				return nil
			}
		default:
			return fmt.Errorf("%s is told %+v", s.id, n)
		}
	}
}

// asks calls a tool that acknowledges what was received before.
func (s *survivor) asks(tool string, args map[string]any, out any, cursor *string) error {
	all := map[string]any{"acknowledge": s.cursor}
	maps.Copy(all, args)
	_, err := s.do(tool, all, out)
	s.cursor = *cursor
	return err
}

// leave ends its session.
func (s *survivor) leave() error {
	if _, err := s.do("logout", nil, nil); err != nil {
		return err
	}
	return s.c.s.Close()
}
