package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
	"github.com/companiond/companiond/host/door/mcp/converse"
	"github.com/companiond/companiond/host/door/mcp/tools"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/room/registry"
)

// openDesks opens a door for conversations in memory.
func openDesks(t *testing.T, d *desks) *home {
	t.Helper()
	rooms := newRooms(t, memory.New(), &cast{})
	return openDoor(t, rooms, &converse.Config{Conversations: d, Sessions: d, Agent: d.agent, MaxWaits: 8}, rooms.Run)
}

// openDoor opens a door for conversations.
func openDoor(t *testing.T, rooms *registry.Registry, talks *converse.Config, runs ...func(context.Context) error) *home {
	t.Helper()
	h := &home{t: t, rooms: rooms}
	var stopping context.Context
	stopping, h.stops = context.WithCancel(context.Background())
	t.Cleanup(h.stops)
	h.door = New(Config{Rooms: h.rooms, Version: "test", Cards: noCards, Stopping: stopping, Conversations: talks})
	mux := http.NewServeMux()
	h.door.Register(mux)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller := identity.Guest(nil)
		caller.Address = identity.Local
		if name := r.Header.Get("Test-Caller"); name != "" {
			caller = identity.Caller{Name: name, Kind: abi.KindAgent, Scopes: identity.Scopes()}
			r.Header.Set("Authorization", "Bearer x")
		}
		mux.ServeHTTP(w, r.WithContext(identity.With(r.Context(), caller)))
	}))
	h.url = server.URL + "/mcp"
	run(t, append(runs, h.door.Run)...)
	t.Cleanup(func() { _ = h.door.Close(context.Background()); server.Close() })
	return h
}

// answerSchemas are what the tools say of their answers.
var answerSchemas = sync.OnceValue(func() map[string]*jsonschema.Resolved {
	all := map[string]*jsonschema.Resolved{}
	for _, tool := range []tools.Tool{
		tools.Authenticate(), tools.Logout(), tools.NextAction(), tools.StartConversation(), tools.SendMessage(), tools.RespondChat(), tools.PendingMessages(),
		tools.EndConversation(), tools.DeclineConversation(), tools.ConversationHistory(), tools.ListConversations(),
	} {
		r, err := tool.Out.Resolve(nil)
		if err != nil {
			panic(err)
		}
		all[tool.Name] = r
	}
	return all
})

// worker is an agent that has authenticated.
type worker struct {
	*agent
	id, token string
}

type args = map[string]any

// come opens a connection and a session.
func (h *home) come(id string) *worker {
	h.t.Helper()
	w := &worker{agent: h.connect(nil), id: id}
	w.authenticate(nil)
	return w
}

func (w *worker) authenticate(with args) args {
	w.t.Helper()
	in := args{"agent_id": w.id}
	for k, v := range with {
		in[k] = v
	}
	w.token = ""
	out := w.do("authenticate", in)
	w.token, _ = out["session_token"].(string)
	return out
}

// do calls a tool, which must not refuse.
func (w *worker) do(tool string, in args) args {
	w.t.Helper()
	out, failed := w.try(w.t.Context(), tool, in)
	if failed || tool != "get_next_action" && out["success"] != true || out["instruction"] == "" {
		w.t.Fatalf("%s of %s %v: %v", tool, w.id, in, out)
	}
	return out
}

// try calls a tool; failed says that it refused. Text and structured answer are one.
func (w *worker) try(ctx context.Context, tool string, in args) (out args, failed bool) {
	w.t.Helper()
	with := args{}
	for k, v := range in {
		with[k] = v
	}
	if w.token != "" && with["session_token"] == nil {
		with["session_token"] = w.token
	}
	res, err := w.session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: with})
	if err != nil {
		if ctx.Err() != nil {
			return nil, true
		}
		w.t.Fatalf("%s %v: %v", tool, with, err)
	}
	out, ok := res.StructuredContent.(map[string]any)
	if !ok || len(res.Content) != 1 {
		w.t.Fatalf("%s %v: %+v", tool, with, res)
	}
	again := args{}
	if text := res.Content[0].(*sdk.TextContent).Text; json.Unmarshal([]byte(text), &again) != nil || fmt.Sprint(again) != fmt.Sprint(out) {
		w.t.Fatalf("%s: the text %s is not the answer %v", tool, text, out)
	}
	if err := answerSchemas()[tool].Validate(out); err != nil {
		w.t.Fatalf("%s answers what it does not declare: %v: %v", tool, err, out)
	}
	if res.IsError && fmt.Sprint(res.Meta[metaError]) != fmt.Sprint(out) {
		w.t.Fatalf("%s: %v is not %v", tool, res.Meta, out)
	}
	return out, res.IsError
}

// next asks what to do, which must be this, and gives it.
func (w *worker) next(want conversations.Doing, timeout float64) args {
	w.t.Helper()
	out := w.do("get_next_action", args{"timeout_seconds": timeout})
	if out["action"] != string(want) {
		w.t.Fatalf("%s is to do %v, not %s", w.id, out, want)
	}
	return out
}

// has says whether an answer has these.
func has(out, want args) bool {
	for k, v := range want {
		if fmt.Sprint(out[k]) != fmt.Sprint(v) {
			return false
		}
	}
	return true
}

func contents(t *testing.T, out args, key string) (all []string) {
	t.Helper()
	lines, ok := out[key].([]any)
	if !ok {
		t.Fatalf("no %s: %v", key, out)
	}
	for _, l := range lines {
		line := l.(args)
		if id, _ := line["conversation_id"].(string); !strings.HasPrefix(id, "conv_") {
			t.Errorf("a message without its conversation: %v", line)
		}
		all = append(all, fmt.Sprint(line["from_agent_id"], ": ", line["content"]))
	}
	return all
}

// TestUC016 is the use case of seed E step by step, by two clients.
func TestUC016(t *testing.T) {
	for name, open := range stages {
		t.Run(name, func(t *testing.T) { h, _ := open(t); uc016(t, h) })
	}
}

func uc016(t *testing.T, h *home) {
	a := h.come("worker-a")
	started := a.do("start_conversation", args{"target_agent_id": "worker-b", "purpose": "認証実装の相談"}) // 1, 2
	id := started["conversation_id"].(string)
	if !has(started, args{"status": "pending", "target_agent_id": "worker-b", "current_turns": 0, "max_turns": 20}) || !strings.HasPrefix(started["instruction"].(string), "会話リクエストを送信しました。send_messageでメッセージを送信できます。") {
		t.Errorf("%v", started)
	}
	b := h.come("worker-b") // 3, 4
	request := b.next(conversations.DoRequest, 0)
	if !has(request, args{"conversation_id": id, "from_agent_id": "worker-a", "from_agent_name": "Analysis Worker", "purpose": "認証実装の相談", "state": "conversation_active", "conversation_state": "pending"}) ||
		!strings.HasPrefix(request["instruction"].(string), "worker-aから会話リクエストがあります。get_pending_messagesでメッセージを確認し、respond_chatで応答してください。") {
		t.Errorf("%v", request)
	}
	b.next(conversations.DoWait, 0)
	if sent := a.do("send_message", args{"target_agent_id": "worker-b", "content": "JWT と Session、どちらが推奨？"}); !has(sent, args{"conversation_id": id, "current_turns": 1, "max_turns": 20}) { // 5
		t.Errorf("%v", sent)
	}
	if read := b.next(conversations.DoRead, 0); !has(read, args{"conversation_id": id, "unread": 1}) { // 6
		t.Errorf("%v", read)
	}
	if got := contents(t, b.do("get_pending_messages", nil), "pending_messages"); !slices.Equal(got, []string{"worker-a: JWT と Session、どちらが推奨？"}) {
		t.Errorf("%q", got)
	}
	b.do("respond_chat", args{"target_agent_id": "worker-a", "content": "このプロジェクトではJWTを使用しています。"})
	if read := a.next(conversations.DoRead, 0); !has(read, args{"conversation_id": id, "conversation_state": "active"}) { // 7
		t.Errorf("%v", read)
	}
	waiting := a.do("get_pending_messages", nil)
	if got, before := contents(t, waiting, "pending_messages"), contents(t, waiting, "context_messages"); !slices.Equal(got, []string{"worker-b: このプロジェクトではJWTを使用しています。"}) || len(before) != 1 {
		t.Errorf("%q after %q", got, before)
	}
	a.do("send_message", args{"target_agent_id": "worker-b", "content": "了解、JWTで実装します"})
	if ended := a.do("end_conversation", nil); !has(ended, args{"conversation_id": id, "status": "terminating"}) || !strings.HasPrefix(ended["instruction"].(string), "会話終了をリクエストしました。相手に通知されます。") { // 8
		t.Errorf("%v", ended)
	}
	b.next(conversations.DoRead, 0)
	b.do("get_pending_messages", nil)   // the last words
	for _, w := range []*worker{a, b} { // 9
		ended := w.next(conversations.DoEnded, 0)
		if !has(ended, args{"conversation_id": id, "ended_by": "worker-a", "reason": "initiator_ended"}) || !strings.HasPrefix(ended["instruction"].(string), "会話が終了しました。get_next_actionで次の指示を確認してください。") {
			t.Errorf("%s: %v", w.id, ended)
		}
	}
	b.next(conversations.DoWait, 0)
	a.do("logout", nil)
	past := b.do("get_conversation_history", args{"conversation_id": id, "limit": 2})
	if got := contents(t, past, "messages"); len(got) != 2 || past["more"] != true || past["state"] != "ended" || past["reason"] != "initiator_ended" {
		t.Errorf("%v", past)
	}
	if got := contents(t, b.do("get_conversation_history", args{"conversation_id": id, "since": past["head"]}), "messages"); !slices.Equal(got, []string{"worker-a: 了解、JWTで実装します"}) {
		t.Errorf("%q", got)
	}
}

// TestFaultsOfConversations: each row of the table of errors by code, status and text.
func TestFaultsOfConversations(t *testing.T) {
	for name, open := range stages {
		t.Run(name, func(t *testing.T) { h, _ := open(t); faultsOfConversations(t, h) })
	}
}

func faultsOfConversations(t *testing.T, h *home) {
	a, b, c := h.come("worker-a"), h.come("worker-b"), h.connect(nil)
	alone := &worker{agent: c, id: "both"}
	alone.authenticate(args{"project_id": "p"})
	open := a.do("start_conversation", args{"participant_agent_id": []string{"worker-b"}, "in_turn": true, "initial_message": "始めます"})["conversation_id"]
	over := b.do("start_conversation", args{"target_agent_id": "worker-c"})["conversation_id"]
	b.do("end_conversation", args{"conversation_id": over})
	rows := map[string]struct {
		by   *worker
		tool string
		in   args
	}{
		conversation.WithSelf:       {a, "start_conversation", args{"target_agent_id": "worker-a"}},
		conversation.WithHuman:      {a, "start_conversation", args{"target_agent_id": "boss"}},
		conversation.AgentNotFound:  {a, "start_conversation", args{"target_agent_id": "nobody"}},
		conversation.NotInProject:   {a, "start_conversation", args{"target_agent_id": "stranger"}},
		conversation.AlreadyActive:  {b, "start_conversation", args{"target_agent_id": "worker-a"}},
		conversation.NotFound:       {a, "get_conversation_history", args{"conversation_id": "conv_x"}},
		conversation.NoneActive:     {alone, "end_conversation", nil},
		conversation.NotParticipant: {a, "decline_conversation", args{"conversation_id": over}},
		conversation.Required:       {a, "send_message", args{"target_agent_id": "worker-c", "content": "hi"}},
		conversation.NotOpen:        {b, "send_message", args{"conversation_id": over, "content": "hi"}},
		conversation.NotYourTurn:    {a, "send_message", args{"conversation_id": open, "content": "hi"}},
		conversation.Invalid:        {a, "send_message", args{"conversation_id": open, "content": strings.Repeat("あ", 4001)}},
		conversation.NoSession:      {a, "list_conversations", args{"session_token": "t0"}},
		conversation.BadPasskey:     {&worker{agent: c}, "authenticate", args{"agent_id": "worker-c", "passkey": "hunter2"}},
	}
	for _, f := range conversation.Faults {
		row, ok := rows[f.Code]
		if !ok {
			t.Errorf("no row for %s", f.Code)
			continue
		}
		got, failed := row.by.try(t.Context(), row.tool, row.in)
		if !failed || !has(got, args{"code": f.Code, "status": f.Status, "message": f.Text}) || strings.Contains(fmt.Sprint(got), "hunter2") {
			t.Errorf("%s %v: %v, want %+v", row.tool, row.in, got, f)
		}
	}
	if got, _ := b.try(t.Context(), "start_conversation", rows[conversation.AlreadyActive].in); got["detail"] != open {
		t.Errorf("which one is open is not said: %v", got)
	}
	if got, _ := c.try2(t, "list_conversations", nil); !has(got, args{"code": "invalid_session", "status": 401}) {
		t.Errorf("without a session: %v", got)
	}
}

// TestTroubleInConversations: a fault of the house is told as such, and no more of it.
func TestTroubleInConversations(t *testing.T) {
	d := newDesks()
	a := openDesks(t, d).come("worker-a")
	d.fails = abi.Errorf(abi.CodeUnavailable, "the disk is full")
	if got, failed := a.try(t.Context(), "get_next_action", args{"acknowledge": "x"}); !failed || !has(got, args{"code": "unavailable", "status": 503, "message": "the disk is full", "retry": true}) {
		t.Errorf("in trouble: %v", got)
	}
	d.fails = errors.New("secret of the house")
	if got, failed := a.try(t.Context(), "get_next_action", args{"acknowledge": "x"}); !failed || !has(got, args{"code": "internal", "status": 500, "message": "internal error"}) {
		t.Errorf("in trouble: %v", got)
	}
}

// try2 is try for who has no session.
func (a *agent) try2(t *testing.T, tool string, in args) (args, bool) {
	return (&worker{agent: a}).try(t.Context(), tool, in)
}

// TestWrongArgumentsOfConversations: each is told by its name and with what to type.
func TestWrongArgumentsOfConversations(t *testing.T) {
	h := openDesks(t, newDesks())
	a := h.come("worker-a")
	for _, c := range []struct {
		tool string
		in   args
		want string
	}{
		{"authenticate", args{}, "agent_id: is missing"},
		{"authenticate", args{"agent_id": "both"}, "project_id: both is in [p q]"},
		{"authenticate", args{"agent_id": "worker-a", "project_id": "q"}, "project_id: worker-a is not in the project q"},
		{"authenticate", args{"agent_id": "worker-a", "project_id": "x"}, "project_id: there is no project \"x\""},
		{"authenticate", args{"agent_id": "kyoko"}, "agent_id: kyoko is a companion that lives here"},
		{"authenticate", args{"agent_id": "worker-a", "purpose": "play"}, "purpose: \"play\" is none of chat, task"},
		{"get_next_action", args{"timeout_seconds": 46}, "timeout_seconds: 46 is outside 0..45"},
		{"get_next_action", args{"timeout_seconds": "1"}, "timeout_seconds: must be a number, not string"},
		{"get_next_action", args{"acknowledge": "junk"}, "acknowledge: is no cursor"},
		{"start_conversation", args{}, "target_agent_id: is missing"},
		{"start_conversation", args{"target_agent_id": 3}, "target_agent_id: must be an id, or a list of ids"},
		{"start_conversation", args{"target_agent_id": "worker-b", "participant_agent_id": "worker-c"}, "participant_agent_id: is another than target_agent_id"},
		{"start_conversation", args{"target_agent_id": "worker-b", "max_turns": 1}, "max_turns: is 2 to 40, not 1"},
		{"start_conversation", args{"target_agent_id": "worker-b", "max_turns": 41}, "max_turns: is 2 to 40, not 41"},
		{"start_conversation", args{"target_agent_id": "worker-b", "idle_seconds": 0}, "idle_seconds: 0 is outside 1..86400"},
		{"start_conversation", args{"target_agent_id": "worker-b", "pending_seconds": 1e9}, "pending_seconds: 1e+09 is outside 1..86400"},
		{"start_conversation", args{"target_agent_id": "worker-b", "purpose": strings.Repeat("x", 4001)}, "purpose: has 4001 characters, at most 4000"},
		{"start_conversation", args{"target_agent": "worker-b"}, "target_agent: there is no such argument"},
		{"send_message", args{"content": "hi"}, "target_agent_id: is missing"},
		{"send_message", args{"target_agent_id": "worker-b"}, "content: is missing"},
		{"respond_chat", args{}, "content: is missing"},
		{"respond_chat", args{"content": "a", "message": "b"}, "message: is another than content"},
		{"decline_conversation", args{}, "conversation_id: is missing"},
		{"decline_conversation", args{"conversation_id": "c", "reason": strings.Repeat("x", 4001)}, "reason: has 4001 characters"},
		{"end_conversation", args{"final_message": strings.Repeat("x", 4001)}, "final_message: has 4001 characters"},
		{"get_conversation_history", args{}, "conversation_id: is missing"},
		{"get_conversation_history", args{"conversation_id": "c", "limit": 101}, "limit: 101 is outside 1..100"},
		{"list_conversations", args{"state": "open"}, "state: \"open\" is none of [pending active"},
		{"list_conversations", args{"limit": 0}, "limit: 0 is outside 1..100"},
	} {
		by := a
		if c.tool == "authenticate" {
			by = &worker{agent: a.agent}
		}
		got, failed := by.try(t.Context(), c.tool, c.in)
		if detail, _ := got["detail"].(string); !failed || !has(got, args{"code": "invalid_argument", "status": 400}) || !strings.HasPrefix(detail, c.want) {
			t.Errorf("%s %.80v: %v, want %s", c.tool, c.in, got, c.want)
		}
	}
}

// TestAuthenticate: a token of one's own is as good as a passkey, the id of a conversation
// joins it, and what the same members had before is told.
func TestAuthenticate(t *testing.T) {
	h := openDesks(t, newDesks())
	a := h.come("worker-a")
	c := &worker{agent: h.connect(nil), id: "worker-c"}
	out := c.authenticate(args{"passkey": "secret", "purpose": "chat", "project_id": "p"})
	if !has(out, args{"agent_id": "worker-c", "agent_name": "worker-c", "project_id": "p"}) || out["earlier"] != nil || out["conversation_id"] != nil {
		t.Errorf("%v", out)
	}
	if _, err := time.Parse(time.RFC3339Nano, fmt.Sprint(out["expires_at"])); err != nil {
		t.Error(err)
	}
	s, err := sdk.NewClient(&sdk.Implementation{Name: "own", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: h.url, HTTPClient: &http.Client{Transport: called("worker-c")},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	own := &worker{agent: &agent{t, s}, id: "worker-c"}
	own.authenticate(nil)

	first := a.do("start_conversation", args{"target_agent_id": "worker-c", "purpose": "しりとり", "initial_message": "りんご"})["conversation_id"]
	if out := c.authenticate(args{"passkey": "secret", "conversation_id": first}); out["conversation_id"] != first || out["earlier"] != nil {
		t.Errorf("%v", out)
	}
	if active := a.next(conversations.DoWait, 0); !has(active, args{"conversation_id": first, "state": "conversation_active", "conversation_state": "active"}) {
		t.Errorf("%v", active)
	}
	c.do("end_conversation", args{"final_message": "ごりら"})
	second := c.do("start_conversation", args{"target_agent_id": "worker-a"})
	want := args{"conversation_id": first, "purpose": "しりとり", "ended_by": "worker-c", "reason": "participant_ended", "turns": 2}
	if e, _ := second["earlier"].(args); !has(e, want) || !slices.Equal(contents(t, e, "last_messages"), []string{"worker-a: りんご", "worker-c: ごりら"}) {
		t.Errorf("%v", second)
	}
	a.do("get_pending_messages", nil)
	a.next(conversations.DoEnded, 0)
	if e, _ := a.next(conversations.DoRequest, 0)["earlier"].(args); !has(e, want) {
		t.Errorf("%v", e)
	}
	if e, _ := a.authenticate(args{"conversation_id": second["conversation_id"]})["earlier"].(args); !has(e, want) {
		t.Errorf("%v", e)
	}
	late := &worker{agent: h.connect(nil), id: "worker-a"}
	if got, failed := late.try(t.Context(), "authenticate", args{"agent_id": "worker-a", "conversation_id": first}); !failed || got["code"] != conversation.NotOpen || got["session_token"] != nil {
		t.Errorf("joined what is over: %v", got)
	}
}

// called sends requests as the holder of a token would.
type called string

func (c called) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Test-Caller", string(c))
	return http.DefaultTransport.RoundTrip(r)
}
