package prompt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/model/tokens"
	"github.com/companiond/companiond/host/module"
)

// reply is what the fake model does at one request.
type reply struct {
	deltas []string // streamed one by one
	calls  []model.ToolCall
	json   string
	err    error
	after  func()     // between the deltas
	ended  chan error // hears why it ended early, or nil
}

// fakeModels plays replies, and keeps what it was asked.
type fakeModels struct {
	mu       sync.Mutex
	replies  []reply
	asked    []model.Request
	told     []*entry.Told
	waits    string
	hang     bool
	inOne    int  // votes at once with which the line comes
	together bool // votes for several characters are one call
}

func (f *fakeModels) VotesWithLine(string) (string, int) { return "main", f.inOne }

func (f *fakeModels) VotesTogether(string) (string, bool) { return "main", f.together }

func (f *fakeModels) Window(string) (int, *tokens.Meter) { return 8000, new(tokens.Meter) }

func (f *fakeModels) Waits(string, string) string { return f.waits }

func (f *fakeModels) Generate(ctx context.Context, _ module.Caller, _ string, ask Ask, onText func(string) error) (a model.Answer, err error) {
	req := ask.Request
	f.mu.Lock()
	f.asked, f.told = append(f.asked, req), append(f.told, ask.Told)
	hang := f.hang
	var r reply
	if len(f.replies) > 0 {
		r, f.replies = f.replies[0], f.replies[1:]
	}
	f.mu.Unlock()
	if r.ended != nil {
		defer func() { r.ended <- err }()
	}
	if hang {
		<-ctx.Done()
		return a, ctx.Err()
	}
	for _, d := range r.deltas {
		a.Text += d
		if onText != nil {
			if err := onText(d); err != nil {
				return a, err
			}
		}
		if r.after != nil {
			r.after()
		}
		if ctx.Err() != nil {
			return a, ctx.Err()
		}
	}
	a.Calls, a.JSON = r.calls, json.RawMessage(r.json)
	if r.json != "" && req.Check != nil && r.err == nil {
		if err := req.Check(a.JSON); err != nil {
			return a, abi.Errorf(abi.CodeInvalid, "model main: answered rubbish twice: %v", err)
		}
	}
	return a, r.err
}

func (f *fakeModels) requests() []model.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

// fakeHost shows segments and plays actions that the card allows, as a room does.
type fakeHost struct {
	mu      sync.Mutex
	card    *card.Card
	said    []string
	played  []abi.ActionAsk
	sayErr  error
	onPlay  func()
	offered map[string]bool // what games offer besides
	history []abi.Message

	documents map[string]string
	read      []abi.KnowledgeAsk
}

func (h *fakeHost) HostCall(_ context.Context, c module.Caller, op string, data json.RawMessage) (json.RawMessage, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch op {
	case abi.HostSay:
		var a abi.SayAsk
		if err := json.Unmarshal(data, &a); err != nil {
			return nil, err
		}
		if h.sayErr != nil {
			return nil, h.sayErr
		}
		h.said = append(h.said, a.Text)
		return json.RawMessage("{}"), abi.CheckText("text", a.Text)
	case abi.HostActionEmit:
		var a abi.ActionAsk
		if err := json.Unmarshal(data, &a); err != nil {
			return nil, err
		}
		warning, err := h.card.Permit(a)
		if err != nil && !h.offered[a.Action] {
			return nil, err
		}
		if h.onPlay != nil {
			h.onPlay()
		}
		h.played = append(h.played, a)
		done := abi.ActionPlayed{ID: fmt.Sprintf("a%d", len(h.played)), Delivered: 1, Warning: warning}
		if x, ok := h.card.Action(a.Action); ok && x.Query {
			done.Due = time.Unix(30, 0)
		}
		return json.Marshal(done)
	case abi.HostKnowledgeGet:
		var a abi.KnowledgeAsk
		if err := json.Unmarshal(data, &a); err != nil {
			return nil, err
		}
		if a.Name == "" {
			var k abi.Knowledge
			for name := range h.documents {
				k.Documents = append(k.Documents, abi.Document{Name: name})
			}
			return json.Marshal(k)
		}
		h.read = append(h.read, a)
		text, ok := h.documents[a.Name]
		if !ok {
			return nil, abi.Field("name", abi.CodeNotFound, "there is no document")
		}
		return json.Marshal(abi.Knowledge{Text: text})
	case abi.HostHistoryGet:
		return json.Marshal(abi.History{Messages: h.history})
	}
	return nil, abi.Errorf(abi.CodeUnknownOp, "%s is not known to %+v", op, c)
}

// rig is a loaded card between a fake model and a fake host.
type rig struct {
	t      *testing.T
	models *fakeModels
	host   *fakeHost
	m      module.Module
}

func nikoni(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("../../../characters/nikoni.json")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func load(t *testing.T, data []byte, replies ...reply) *rig {
	t.Helper()
	r := &rig{t: t, models: &fakeModels{replies: replies}, host: &fakeHost{}}
	m, err := New(Config{Models: r.models, Host: r.host, Log: slog.New(slog.DiscardHandler)}).Load(t.Context(), module.Source{ID: "nikoni", Name: "nikoni.json", Data: data, Generation: 1})
	if err != nil {
		t.Fatal(err)
	}
	r.m = m
	if r.host.card, err = card.Parse("nikoni.json", data); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := m.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return r
}

func call_[Answer any](r *rig, ctx context.Context, op string, ask any) (a Answer, err error) {
	r.t.Helper()
	data, err := json.Marshal(ask)
	if err != nil {
		r.t.Fatal(err)
	}
	got, err := r.m.Call(ctx, abi.Request{V: 1, Op: op, ID: "main/g1@0", Self: "nikoni", Room: "main", Data: data})
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(got, &a); err != nil {
		r.t.Fatalf("%s answered %s", op, got)
	}
	return a, nil
}

func (r *rig) speak(s abi.Scene) (abi.Line, error) {
	return call_[abi.Line](r, r.t.Context(), abi.OpSpeak, s)
}

func (r *rig) perceive(p abi.Percept) (abi.Judgement, error) {
	return call_[abi.Judgement](r, r.t.Context(), abi.OpPerceive, abi.Perceiving{Perception: p, Members: members()})
}

func members() []abi.Member {
	return []abi.Member{
		{ID: "aya", Name: "Aya", Kind: abi.KindCompanion}, {ID: "nikoni", Name: "ニコニ立体ちゃん", Kind: abi.KindCompanion}, {ID: "taro", Kind: abi.KindHuman},
	}
}

// scene is a room in which somebody said something last.
func scene(from, text string) abi.Scene {
	m := abi.Message{Seq: 7, ID: "m7", From: from, To: []string{}, Text: text, Kind: abi.KindTurn}
	return abi.Scene{Message: m, Recent: []abi.Message{m}, Members: members(), Grant: &abi.Grant{Token: "g1"}}
}

func tool(name, args string) model.ToolCall {
	return model.ToolCall{ID: "call-" + name, Name: name, Arguments: json.RawMessage(args)}
}

// asked is what a request asks for: all that stands behind the history.
func asked(req model.Request) string { return req.Messages[len(req.Messages)-1].Text }

// said is the history of a request, a line for each message.
func said(req model.Request) string {
	var lines []string
	for _, m := range req.Messages[:len(req.Messages)-1] {
		lines = append(lines, string(m.Role)+" "+m.Text)
	}
	return strings.Join(lines, "\n")
}

func names(tools []model.Tool) string {
	var all []string
	for _, t := range tools {
		all = append(all, t.Name)
	}
	return strings.Join(all, " ")
}

var errBroken = errors.New("broken pipe")
