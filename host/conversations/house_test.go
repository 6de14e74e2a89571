package conversations_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// house stands in for the registry and its rooms: it folds with the table itself and keeps
// what a journal would. Its rooms tell of a write before they answer, as a loop does.
type house struct {
	rooms.Directory

	mu    sync.Mutex
	now   func() time.Time
	wrote func(string, conversation.Conversation, []entry.Entry)
	halls map[string]*hall
	keys  map[string]string // key to name
	here  map[conversations.Member]bool
	ids   int
	// fail is asked before something is done, and lose after it was: what they answer is
	// the answer.
	fail, lose func(what string) error
	dissolved  []string
	mute       bool // what is written is not told: the journal was in trouble
}

// hall is the room of a conversation.
type hall struct {
	rooms.Room
	house    *house
	asked    rooms.Convening
	mu       sync.Mutex
	state    conversation.Conversation
	journal  []entry.Entry
	sleeping bool // it was registered, and nothing more
	settled  *rooms.Settled
}

func newHouse() *house {
	return &house{
		now: time.Now, halls: map[string]*hall{}, keys: map[string]string{}, here: map[conversations.Member]bool{},
		fail: fine, lose: fine,
	}
}

func (h *house) failing(what string) error {
	h.mu.Lock()
	fail := h.fail
	h.mu.Unlock()
	return fail(what)
}

func (h *house) losing(what string) error {
	h.mu.Lock()
	lose := h.lose
	h.mu.Unlock()
	return lose(what)
}

// trouble says what fails from now on, and which answers are lost.
func (h *house) trouble(fail, lose func(string) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fail, h.lose = fail, lose
}

// fine is no trouble.
func fine(string) error { return nil }

// on is trouble with one thing.
func on(what string, err error) func(string) error {
	return func(w string) error {
		if w == what {
			return err
		}
		return nil
	}
}

// freed gives the conversations whose keys were freed.
func (h *house) freed() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.dissolved)
}

// hush says whether rooms tell of what they write.
func (h *house) hush(mute bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mute = mute
}

// agents of every house. Those whose names begin with "human" are humans, "hosted" companions.
var agents = []string{"a", "b", "c", "human", "human2", "hosted"}

func agent(id string) (conversations.Agent, bool) {
	known := slices.Contains(agents, id) || strings.HasPrefix(id, "x") || id == "elsewhere"
	return conversations.Agent{ID: id, Name: "Agent " + id, Human: strings.HasPrefix(id, "human"), Hosted: id == "hosted"}, known
}

// open makes conversations on the house, as a daemon that starts does.
func (h *house) open(t testing.TB, change ...func(*conversations.Config)) *conversations.Conversations {
	t.Helper()
	c := h.build(change...)
	if err := c.Load(context.Background()); err != nil {
		t.Fatal(err)
	}
	return c
}

func (h *house) build(change ...func(*conversations.Config)) *conversations.Conversations {
	all := slices.Clone(agents)
	for i := range 2000 {
		all = append(all, fmt.Sprintf("x%d", i))
	}
	cfg := conversations.Config{
		Rooms: h, Halls: h, Projects: []conversations.Project{{Name: "p", Agents: all}, {Name: "q", Agents: []string{"a", "elsewhere"}}}, Agent: agent, Log: slog.New(slog.DiscardHandler),
		Here: func(m conversations.Member) bool { h.mu.Lock(); defer h.mu.Unlock(); return h.here[m] },
		NewID: func() string {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.ids++
			return fmt.Sprintf("%032x", h.ids*7919%1_000_003)
		},
	}
	for _, c := range change {
		c(&cfg)
	}
	c := conversations.New(cfg)
	h.mu.Lock()
	h.wrote = c.Wrote
	h.mu.Unlock()
	return c
}

// arrive says who has a session.
func (h *house) arrive(ids ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range ids {
		h.here[in(id)] = true
	}
}

func (h *house) depart(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.here, in(id))
}

func in(id string) conversations.Member { return conversations.Member{Project: "p", Agent: id} }

func (h *house) hall(name string) *hall {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.halls[name]
}

func (h *house) Room(_ context.Context, name string) (rooms.Room, error) {
	if r := h.hall(name); r != nil {
		return r, nil
	}
	return nil, abi.Errorf(abi.CodeNotFound, "room: %q", name)
}

func (h *house) Convene(_ context.Context, c rooms.Convening) (now conversation.Conversation, err error) {
	if err := h.failing("convene"); err != nil {
		return now, err
	}
	h.mu.Lock()
	if _, taken := h.keys[c.Key]; taken {
		h.mu.Unlock()
		return now, wrapped(conversation.Refuse(conversation.AlreadyActive, ""))
	}
	r := &hall{house: h, asked: c, sleeping: true}
	h.halls[c.Name], h.keys[c.Key] = r, c.Name
	h.mu.Unlock()
	if err := h.failing("begin"); err != nil {
		return now, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.begin(); err != nil {
		return now, err
	}
	return r.state.Clone(), h.losing("convene")
}

func (h *house) Settle(_ context.Context, name string, s rooms.Settled) error {
	if err := h.failing("dissolve"); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.halls[name]; r != nil {
		r.settled = &s
		if h.keys[r.asked.Key] == name {
			delete(h.keys, r.asked.Key)
		}
	}
	return nil
}

func (h *house) Dissolve(_ context.Context, name string) error {
	if err := h.failing("dissolve"); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dissolved = append(h.dissolved, name)
	if r := h.halls[name]; r != nil && h.keys[r.asked.Key] == name {
		delete(h.keys, r.asked.Key)
	}
	return nil
}

func (h *house) Convened(_ context.Context, after string, limit int) (all []rooms.Convened, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, r := range h.halls {
		if name > after {
			all = append(all, rooms.Convened{Convening: r.asked, Over: h.keys[r.asked.Key] != name, Settled: r.settled})
		}
	}
	slices.SortFunc(all, func(a, b rooms.Convened) int { return cmp.Compare(a.Name, b.Name) })
	return all[:min(len(all), limit)], nil
}

// wrapped gives a fault as rooms give it.
func wrapped(f *conversation.Fault) error { return abi.Wrap(abi.CodeConflict, f, f.Error()) }

// begin writes the start of a room that wakes for the first time; r.mu is held.
func (r *hall) begin() error {
	if !r.sleeping {
		return nil
	}
	r.sleeping = false
	r.write(entry.KindRules, "", struct{}{})
	return r.happens(conversation.Input{Kind: conversation.Start, Who: r.asked.Terms.Members[0], Terms: &r.asked.Terms})
}

func (r *hall) happens(in conversation.Input) error {
	in.At = r.house.now().Truncate(time.Millisecond)
	if err := r.state.Apply(in); err != nil {
		return wrapped(err.(*conversation.Fault))
	}
	r.write(entry.KindConversation, "", in)
	return r.tell()
}

// tell tells humans and companions, as the house does, at once.
func (r *hall) tell() error {
	for _, id := range slices.Concat(r.asked.Terms.Humans, r.asked.Terms.Hosted) {
		if r.state.Untold(id) != nil {
			return r.happens(conversation.Input{Kind: conversation.Tell, Who: id})
		}
	}
	return nil
}

func (r *hall) write(kind entry.Kind, id string, body any) entry.Entry {
	seq := uint64(len(r.journal) + 1)
	e, err := entry.Entry{Seq: seq, At: r.house.now().Truncate(time.Millisecond), Kind: kind, ID: cmp.Or(id, fmt.Sprintf("e%d", seq))}.WithBody(body)
	if err != nil {
		panic(err)
	}
	r.journal = append(r.journal, e)
	r.house.mu.Lock()
	wrote, mute := r.house.wrote, r.house.mute
	r.house.mu.Unlock()
	if mute {
		return e
	}
	wrote(r.asked.Name, r.state.Clone(), r.journal[seq-1:])
	return e
}

func (r *hall) Info() rooms.Info {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := rooms.Info{Name: r.asked.Name, Head: uint64(len(r.journal))}
	if r.state.State != conversation.None {
		now := r.state.Clone()
		i.Conversation = &now
	}
	return i
}

func (r *hall) Say(_ context.Context, u rooms.Utterance) (m abi.Message, err error) {
	if err := cmp.Or(u.Check(), r.house.failing("say")); err != nil {
		return m, err
	}
	m, err = r.say(u)
	return m, cmp.Or(err, r.house.losing("say"))
}

func (r *hall) say(u rooms.Utterance) (m abi.Message, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.begin(); err != nil {
		return m, err
	}
	for _, e := range r.journal {
		if m, ok := e.Message(); ok && m.ID == u.ID {
			return m, nil
		}
	}
	in := conversation.Input{Kind: conversation.Say, Who: u.From, At: r.house.now().Truncate(time.Millisecond)}
	if r.state.Member(u.From) == nil && u.By == abi.KindHuman && r.state.Open() {
		r.state.Heard = in.At
	} else if err := r.state.Apply(in); err != nil {
		return m, wrapped(err.(*conversation.Fault))
	}
	m, _ = r.write(entry.KindSaid, u.ID, entry.Said{From: u.From, By: u.By, Text: u.Text, Kind: abi.KindTurn}).Message()
	return m, r.tell()
}

func (r *hall) Converse(_ context.Context, in conversation.Input) (now conversation.Conversation, err error) {
	if err := r.house.failing(string(in.Kind)); err != nil {
		return now, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.begin(); err != nil {
		return now, err
	}
	if err := r.happens(in); err != nil {
		return now, err
	}
	return r.state.Clone(), r.house.losing(string(in.Kind))
}

func (r *hall) Entries(_ context.Context, since uint64, limit int) ([]entry.Entry, uint64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	from := min(int(since), len(r.journal))
	return slices.Clone(r.journal[from:min(len(r.journal), from+limit)]), uint64(len(r.journal)), nil
}

func (r *hall) Messages(_ context.Context, since uint64, limit int) (msgs []abi.Message, head uint64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.journal {
		if m, ok := e.Message(); ok && m.Seq > since && len(msgs) < limit {
			msgs = append(msgs, m)
		}
	}
	return msgs, uint64(len(r.journal)), nil
}

func (r *hall) History(ctx context.Context, ask abi.HistoryAsk) (abi.History, error) {
	msgs, head, err := r.Messages(ctx, 0, 1<<30)
	msgs = slices.DeleteFunc(msgs, func(m abi.Message) bool { return ask.Before > 0 && m.Seq >= ask.Before })
	return abi.History{Messages: msgs[max(0, len(msgs)-ask.Limit):], Head: head}, err
}
