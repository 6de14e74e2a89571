package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/host/waittest"
)

// Agents that have conversations, on the Go SDK of MCP.

// project is configuration of agents that may have conversations with each other.
func project(name string, agents ...string) string {
	var toml strings.Builder
	fmt.Fprintf(&toml, "[project.%s]\nagents = [", name)
	for _, id := range agents {
		fmt.Fprintf(&toml, "%q, ", id)
	}
	toml.WriteString("]\n")
	for _, id := range agents {
		fmt.Fprintf(&toml, "[agent.%s]\ntype = \"ai\"\n", id)
	}
	return toml.String()
}

// talkRefusal is why a tool refused, in the words of docs/CONVERSATIONS.md.
type talkRefusal struct {
	Code, Message, Detail string
	Status                int
}

func (f *talkRefusal) Error() string {
	return fmt.Sprintf("%s (%d): %s %s", f.Code, f.Status, f.Message, f.Detail)
}

// refusedAs gives the code of a refusal, "" for no error, and the error itself for others.
func refusedAs(err error) string {
	if f, ok := err.(*talkRefusal); ok {
		return f.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// talkSaid is a message as agents are shown it.
type talkSaid struct {
	Conversation string `json:"conversation_id"`
	ID           string `json:"message_id"`
	From         string `json:"from_agent_id"`
	Content      string
	Seq          uint64
}

// talkNext is what get_next_action answers.
type talkNext struct {
	Action, State, Cursor, Reason, Target, Purpose, Instruction string

	Conversation string `json:"conversation_id"`
	From         string `json:"from_agent_id"`
	Name         string `json:"from_agent_name"`
	EndedBy      string `json:"ended_by"`
}

// talkSent is what send_message and respond_chat answer.
type talkSent struct {
	Conversation string `json:"conversation_id"`
	ID           string `json:"message_id"`
	Turns        int    `json:"current_turns"`
	MaxTurns     int    `json:"max_turns"`
	Ended        bool   `json:"conversation_ended"`

	Success           bool
	Reminder, Warning string
}

// talkStarted is what the tools of a conversation's life answer.
type talkStarted struct {
	Conversation string `json:"conversation_id"`
	Target       string `json:"target_agent_id"`

	Success             bool
	Status, Instruction string
}

// talkRead is what get_pending_messages answers.
type talkRead struct {
	Context   []talkSaid `json:"context_messages"`
	Pending   []talkSaid `json:"pending_messages"`
	Total     int        `json:"total_pending_count"`
	Truncated bool
	Cursor    string
}

// talkListed is a conversation as list_conversations and get_conversation_history show it.
type talkListed struct {
	Conversation string `json:"conversation_id"`
	Turns        int    `json:"current_turns"`
	EndedBy      string `json:"ended_by"`
	State        string
	Reason       string
	Members      []string
	Messages     []talkSaid // of a history
}

// mcpClient is a session of MCP. Agents may share one: who calls is said by a session_token.
type mcpClient struct {
	s *sdk.ClientSession

	mu    sync.Mutex
	conns []net.Conn
}

// dialMCP connects with the official SDK. Nothing of a call is done again by itself.
func dialMCP(ctx context.Context, url string) (*mcpClient, error) {
	c := &mcpClient{}
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err == nil {
			c.mu.Lock()
			c.conns = append(c.conns, conn)
			c.mu.Unlock()
		}
		return conn, err
	}
	var err error
	c.s, err = sdk.NewClient(&sdk.Implementation{Name: "companiond-conversations", Version: "1"}, nil).Connect(ctx, &sdk.StreamableClientTransport{
		Endpoint: url + "/mcp", DisableStandaloneSSE: true, MaxRetries: -1,
		HTTPClient: &http.Client{Transport: &http.Transport{DialContext: dial}}, // of its own: a daemon that was killed leaves nothing behind
	}, nil)
	return c, err
}

// cut closes its connections, as the system does for a process that crashed.
func (c *mcpClient) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		_ = conn.Close() // it may be closed
	}
}

// leave gives up a daemon that may have been killed, also before it was connected.
func (c *mcpClient) leave() {
	c.cut()
	if c.s != nil {
		_ = c.s.Close() // nobody hears it
	}
}

// call calls a tool. The error is a *talkRefusal where the daemon answered with one.
func (c *mcpClient) call(ctx context.Context, tool string, args map[string]any, out any) error {
	r, err := c.s.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return err
	}
	text, ok := r.Content[0].(*sdk.TextContent)
	if !ok {
		return fmt.Errorf("%s answers %T", tool, r.Content[0])
	}
	if r.IsError {
		refusal := &talkRefusal{}
		if err := json.Unmarshal([]byte(text.Text), refusal); err != nil || refusal.Code == "" {
			return fmt.Errorf("%s: %s", tool, text.Text)
		}
		return refusal
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal([]byte(text.Text), out)
}

// converser is an agent that has a session.
type converser struct {
	t     testing.TB
	id    string
	c     *mcpClient
	token string
}

// conversers connects agents; they share a session of MCP.
func (h *home) conversers(ids ...string) []*converser {
	h.t.Helper()
	c := h.dial()
	var all []*converser
	for _, id := range ids {
		a := &converser{t: h.t, id: id, c: c}
		a.enter("")
		all = append(all, a)
	}
	return all
}

// converser connects an agent that joins a conversation.
func (h *home) converser(id, conversation string) *converser {
	h.t.Helper()
	a := &converser{t: h.t, id: id, c: h.dial()}
	a.enter(conversation)
	return a
}

func (h *home) dial() *mcpClient {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), waittest.Long)
	defer cancel()
	c, err := dialMCP(ctx, h.url)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = c.s.Close() }) // the daemon may have ended
	return c
}

// enter authenticates; with a conversation's id it joins that.
func (a *converser) enter(conversation string) {
	a.t.Helper()
	a.token = ""
	var in struct {
		Token string `json:"session_token"`
	}
	a.do("authenticate", map[string]any{"agent_id": a.id, "passkey": "", "purpose": "chat", "conversation_id": conversation}, &in)
	a.token = in.Token
}

// try calls a tool.
func (a *converser) try(tool string, args map[string]any, out any) error {
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Long)
	defer cancel()
	all := map[string]any{}
	for k, v := range args {
		if v != "" || k == "passkey" {
			all[k] = v
		}
	}
	if a.token != "" {
		all["session_token"] = a.token
	}
	return a.c.call(ctx, tool, all, out)
}

// do calls a tool that refuses nothing.
func (a *converser) do(tool string, args map[string]any, out any) {
	a.t.Helper()
	if err := a.try(tool, args, out); err != nil {
		a.t.Fatalf("%s calls %s %v: %v", a.id, tool, args, err)
	}
}

// start opens a conversation and gives its id.
func (a *converser) start(with string, more map[string]any) string {
	a.t.Helper()
	args := map[string]any{"target_agent_id": with}
	for k, v := range more {
		args[k] = v
	}
	var s talkStarted
	a.do("start_conversation", args, &s)
	if !s.Success || s.Status != "pending" || s.Target != with || s.Instruction == "" || !strings.HasPrefix(s.Conversation, "conv_") {
		a.t.Fatalf("start_conversation answers %+v", s)
	}
	return s.Conversation
}

// next asks what there is to do, and waits for it.
func (a *converser) next() (n talkNext) {
	a.t.Helper()
	a.do("get_next_action", map[string]any{"timeout_seconds": 45}, &n)
	return n
}

// now asks what there is to do and does not wait.
func (a *converser) now() (n talkNext) {
	a.t.Helper()
	a.do("get_next_action", map[string]any{"timeout_seconds": 0}, &n)
	return n
}

// reads gives what was said since it read last. Each look acknowledges the one before.
func (a *converser) reads() (all []talkSaid) {
	a.t.Helper()
	for {
		var r talkRead
		if a.do("get_pending_messages", nil, &r); r.Total == 0 {
			return all
		}
		all = append(all, r.Pending...)
	}
}

// list gives the newest conversations of a state, "" for any.
func (a *converser) list(state string) []talkListed {
	a.t.Helper()
	var l struct{ Conversations []talkListed }
	a.do("list_conversations", map[string]any{"state": state}, &l)
	return l.Conversations
}

// history gives a conversation and all that was said in it.
func (a *converser) history(id string) (l talkListed) {
	a.t.Helper()
	a.do("get_conversation_history", map[string]any{"conversation_id": id, "limit": 100}, &l)
	return l
}

// isTold waits for the ending of a conversation: it is told of it, as it was, and then of
// nothing more.
func (a *converser) isTold(id, by, reason string) {
	a.t.Helper()
	n := a.ending()
	if n.Action != "conversation_ended" || n.Conversation != id || n.EndedBy != by || n.Reason != reason || n.Instruction == "" {
		a.t.Errorf("%s is told %+v of %s, ended by %s, %s", a.id, n, id, by, reason)
	}
	a.hasNothing()
}

// hasNothing looks whether all was told.
func (a *converser) hasNothing() {
	a.t.Helper()
	a.reads()
	if n := a.now(); n.Action != "wait_for_messages" || n.Conversation != "" {
		a.t.Errorf("%s is told %+v after that", a.id, n)
	}
}

// ending waits for something else to do than to read and to wait.
func (a *converser) ending() (n talkNext) {
	a.t.Helper()
	for n = a.next(); n.Action == "get_pending_messages" || n.Action == "wait_for_messages"; n = a.next() {
		if n.Action == "get_pending_messages" {
			a.reads()
		}
	}
	return n
}

// crash ends an agent's process while it waits for something to do: of two calls the older is
// answered when the newer one waits.
func (a *converser) crash() {
	answered := make(chan error, 2)
	for range 2 {
		go func() { answered <- a.try("get_next_action", map[string]any{"timeout_seconds": 45}, nil) }()
	}
	if err := <-answered; err != nil {
		a.t.Errorf("the older call: %v", err)
	}
	a.c.cut()
	if err := <-answered; err == nil {
		a.t.Error("the newer call was answered")
	}
}
