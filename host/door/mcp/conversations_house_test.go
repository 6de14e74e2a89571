package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
	"github.com/companiond/companiond/host/door/mcp/converse"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/room/registry"
	"github.com/companiond/companiond/host/sessions"
	"github.com/companiond/companiond/host/turn"
)

// a stage has conversations behind a door: those of memory alone, or those of the house.
type stage interface {
	Get(ctx context.Context, id string) (conversations.View, error)
	// clear begins anew, as far as that is needed.
	clear()
	// expire ends all sessions of an agent.
	expire(agent string)
	// lapse lets the time of a conversation be over; ok is false where only time can.
	lapse(id string) (refused, ok bool)
}

// stages are all of them.
var stages = map[string]func(*testing.T) (*home, stage){
	"memory": func(t *testing.T) (*home, stage) { d := newDesks(); return openDesks(t, d), d },
	"house":  openHouse,
}

// house is conversations in real rooms, and real sessions.
type house struct {
	*conversations.Conversations
	*sessions.Sessions

	mu     sync.Mutex
	tokens map[string][]string // by agent
}

// Open is that of the sessions, and remembers what it opened.
func (h *house) Open(l sessions.Login) (sessions.Session, error) {
	s, err := h.Sessions.Open(l)
	if err == nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.tokens[s.Agent] = append(h.tokens[s.Agent], s.Token)
	}
	return s, err
}

func (h *house) clear() {}

func (h *house) lapse(string) (refused, ok bool) { return false, false }

func (h *house) expire(agent string) {
	h.mu.Lock()
	all := h.tokens[agent]
	h.tokens[agent] = nil
	h.mu.Unlock()
	for _, token := range all {
		_ = h.Close(token) // some are over
	}
}

// openHouse opens a door before real rooms. All that the desks of memory have is there as well.
func openHouse(t *testing.T) (*home, stage) {
	t.Helper()
	d := newDesks()
	h := &house{tokens: map[string][]string{}}
	var ids atomic.Int64
	newID := func() string { return fmt.Sprintf("%032x", ids.Add(1)) }
	log := slog.New(slog.DiscardHandler)
	rules := rulesOf(turn.ConversationPolicy, freePool())
	rules.Policy, rules.PolicyRaw, rules.Stale, rules.MaxTurns = turn.ConversationPolicy, nil, entry.StaleAccept, 0
	rooms, err := registry.New(registry.Config{
		Room: room.Config{
			Journal: memory.New(), House: &cast{}, Find: (&cast{}).find, Log: log, NewID: newID,
			Here:      func(project, who string) bool { return h.Here(project, who) },
			Conversed: func(room string, now conversation.Conversation, entries []entry.Entry) { h.Wrote(room, now, entries) },
		},
		Usual: usualRoom, MaxRooms: 3, Read: readRoom, Talks: rules,
	})
	if err != nil {
		t.Fatal(err)
	}
	line := identity.Holder{Name: "worker-c", Kind: abi.KindAgent, Scopes: identity.Scopes(), Hash: identity.Hash(d.passkeys["worker-c"])}.Line()
	tokens, err := identity.Parse("tokens", []byte(line))
	if err != nil {
		t.Fatal(err)
	}
	h.Sessions = sessions.New(sessions.Config{
		Tokens: tokens, Expiry: 15 * time.Minute, Random: func(b []byte) { copy(b, newID()) },
		Gone: func(project, agent string) {
			h.Conversations.Gone(context.Background(), conversations.Member{Project: project, Agent: agent})
		},
	})
	h.Conversations = conversations.New(conversations.Config{
		Rooms: rooms, Halls: rooms, Projects: d.projects, Agent: d.agent, NewID: newID, Log: log,
		Here:    func(m conversations.Member) bool { return h.Here(m.Project, m.Agent) },
		Pending: conversation.UsualPending, Idle: conversation.UsualIdle,
	})
	if err := h.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return openDoor(t, rooms, &converse.Config{Conversations: h.Conversations, Sessions: h, Agent: d.agent}, rooms.Run, h.Sessions.Run, h.Conversations.Run), h
}
