package tools_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/guide"
	"github.com/companiond/companiond/host/door/mcp/tools"
	"github.com/companiond/companiond/host/rooms"
)

func all() []tools.Tool {
	terms := guide.TermsOf(rooms.Info{Name: "main", Policy: "vote"}, 300, true)
	return []tools.Tool{
		tools.Consume(terms), tools.Status(), tools.History(), tools.SearchHistory(), tools.WaitForTurn(), tools.Vote(), tools.Say(terms), tools.About(),
		tools.ActionPlay(json.RawMessage(`{"type":"object","properties":{}}`)),
	}
}

// What a model is shown of a tool says what it is for and what each argument is, in a
// schema that every client can read.
func TestTools(t *testing.T) {
	seen := map[string]bool{}
	for _, tool := range all() {
		if tool.Name == "" || seen[tool.Name] || tool.Title == "" || len(tool.About) < 20 {
			t.Errorf("%q, %q: %s", tool.Name, tool.Title, tool.About)
		}
		seen[tool.Name] = true
		in, isSchema := tool.In.(*jsonschema.Schema)
		for _, s := range []*jsonschema.Schema{in, tool.Out} {
			if s == nil && !isSchema {
				continue
			}
			if s.Type != "object" || len(s.Properties) == 0 || s.AnyOf != nil || s.OneOf != nil || s.AllOf != nil || s.Not != nil {
				t.Errorf("%s: %+v", tool.Name, s)
			}
			if _, err := s.Resolve(nil); err != nil {
				t.Errorf("%s: %v", tool.Name, err)
			}
		}
		if !isSchema {
			continue
		}
		for name, p := range in.Properties {
			if p.Description == "" && p.Enum == nil {
				t.Errorf("%s: nothing is said of %s", tool.Name, name)
			}
		}
		if (in.Properties["from"] == nil || in.Properties["room"] == nil) && tool.Name != tools.Play {
			t.Errorf("%s takes no from or no room", tool.Name)
		}
	}
}

// chat-relay's agents are Japanese, and refuse what has more in it than they know: what is
// added may be left out.
func TestSeedTools(t *testing.T) {
	needs := map[string][]string{"consume": {"amount", "from", "message"}, "status": nil, "history": nil}
	gives := map[string][]string{"consume": {"message", "resource", "success"}, "status": {"resource"}, "history": {"history"}}
	for _, tool := range all() {
		if _, seed := gives[tool.Name]; !seed {
			continue
		}
		in := slices.Sorted(slices.Values(tool.In.(*jsonschema.Schema).Required))
		if out := slices.Sorted(slices.Values(tool.Out.Required)); !slices.Equal(in, needs[tool.Name]) || !slices.Equal(out, gives[tool.Name]) {
			t.Errorf("%s needs %v and gives %v", tool.Name, in, out)
		}
		if !strings.ContainsAny(tool.About, "の") {
			t.Errorf("%s: no Japanese: %s", tool.Name, tool.About)
		}
	}
}

// The amount of consume is that of the terms.
func TestConsumeTakesWhatTheRoomsTake(t *testing.T) {
	pool := abi.DefaultPool()
	pool.Size = 5000
	in := tools.Consume(guide.TermsOf(rooms.Info{Name: "main", Policy: "pool", FreeTurns: true, Terms: &pool}, 5000, true)).In.(*jsonschema.Schema)
	r, err := in.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for amount, ok := range map[float64]bool{0: true, 5000: true, 5001: false, -1: false} {
		if err := r.Validate(map[string]any{"amount": amount, "message": "x", "from": "k"}); (err == nil) != ok {
			t.Errorf("%v: %v", amount, err)
		}
	}
}

// The tools of conversations take plain arguments, are told in Japanese and English, and may
// leave out all of an answer, for a refusal is in the same shape.
func TestToolsOfConversations(t *testing.T) {
	for _, tool := range []tools.Tool{
		tools.Authenticate(), tools.Logout(), tools.NextAction(), tools.StartConversation(), tools.SendMessage(), tools.RespondChat(), tools.PendingMessages(),
		tools.EndConversation(), tools.DeclineConversation(), tools.ConversationHistory(), tools.ListConversations(),
	} {
		if !strings.ContainsAny(tool.About, "のをに") || !strings.Contains(tool.About, ". ") && !strings.HasSuffix(tool.About, ".") {
			t.Errorf("%s: %s", tool.Name, tool.About)
		}
		in := tool.In.(*jsonschema.Schema)
		if _, session := in.Properties["session_token"]; session == (tool.Name == "authenticate") {
			t.Errorf("%s takes a session: %v", tool.Name, session)
		}
		for name, p := range in.Properties {
			if p.Type == "" || p.Description == "" {
				t.Errorf("%s: %s is %+v", tool.Name, name, p)
			}
		}
		for _, name := range []string{"code", "status", "message", "detail"} {
			if tool.Out.Properties[name] == nil || tool.Out.Required != nil {
				t.Errorf("%s: no refusal with %s", tool.Name, name)
			}
		}
		for _, s := range []*jsonschema.Schema{in, tool.Out} {
			if _, err := s.Resolve(nil); err != nil {
				t.Errorf("%s: %v", tool.Name, err)
			}
		}
	}
}
