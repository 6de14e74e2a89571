package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/waittest"
)

// declared is what the door says of its tools.
type declared struct {
	t     *testing.T
	out   map[string]*jsonschema.Resolved
	asked map[string]int // answers that were held to it
}

func (h *home) declared() *declared {
	h.t.Helper()
	list, err := h.connect(nil).session.ListTools(h.t.Context(), nil)
	if err != nil {
		h.t.Fatal(err)
	}
	d := &declared{t: h.t, out: map[string]*jsonschema.Resolved{}, asked: map[string]int{}}
	for _, tool := range list.Tools {
		d.out[tool.Name] = schemaOf(h.t, tool.OutputSchema)
	}
	return d
}

// schemaOf makes a schema of what came over the wire.
func schemaOf(t *testing.T, wire any) *jsonschema.Resolved {
	t.Helper()
	b, err := json.Marshal(wire)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// hold calls a tool and holds the answer to what is declared. An error has no
// structured answer: clients would hold that to the schema as well, and throw
// away the words.
func (d *declared) hold(a *agent, tool string, args map[string]any) map[string]any {
	d.t.Helper()
	res, err := a.session.CallTool(d.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		d.t.Fatalf("%s %v: %v", tool, args, err)
	}
	d.asked[fmt.Sprint(tool, " error ", res.IsError)]++
	if res.IsError {
		if res.StructuredContent != nil || len(res.Content) != 1 || res.Content[0].(*sdk.TextContent).Text == "" {
			d.t.Errorf("%s %v: an error with %v, %v", tool, args, res.Content, res.StructuredContent)
		}
		return nil
	}
	answer, _ := res.StructuredContent.(map[string]any)
	if err := d.out[tool].Validate(res.StructuredContent); err != nil {
		d.t.Errorf("%s %v answered %v: %v", tool, args, answer, err)
	}
	return answer
}

// What the tools answer is what they declare, where turns are paid for and where
// they are voted on, also when they refuse.
func TestAnswersAreAsDeclared(t *testing.T) {
	vote := rulesOf("vote", abi.Pool{})
	vote.Pace = 100
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", abi.DefaultPool()), "den": vote}, &actor{id: "aya", importance: 2})
	d, a := h.declared(), h.connect(nil)
	d.holdPool(h, a)
	d.holdVotes(h, a)
	for name := range d.out {
		for _, kind := range []string{" error true", " error false"} {
			if d.asked[name+kind] == 0 {
				t.Errorf("no answer was seen of %s,%s", name, kind)
			}
		}
	}
}

// holdPool holds the answers in a room where turns are paid for.
func (d *declared) holdPool(h *home, a *agent) {
	d.t.Helper()
	d.hold(a, "about", nil)
	d.hold(a, "about", map[string]any{"from": "aya"}) // an error
	d.hold(a, "status", nil)
	d.hold(a, "history", nil)
	h.human("main", "やあ")
	d.hold(a, "wait_for_turn", map[string]any{"from": "bot", "timeout_seconds": 5})
	waittest.Until(d.t, "aya answers", func() bool { return len(spoken(h, d.t)) == 2 })
	a.call("history", nil)
	for _, args := range []map[string]any{
		{"from": "bot", "amount": 60, "message": "いい天気ですね、散歩に行きませんか"},
		{"from": "bot", "amount": 5, "message": "うん"},
		{"from": "bot", "amount": 80, "message": "今は足りない"},                  // exhausted
		{"from": "bot", "amount": 60, "message": "古い話", "basis_seq": 1},     // stale
		{"from": "aya", "amount": 5, "message": "偽物"},                       // denied
		{"from": "bot", "amount": 5, "message": "これは相槌にしては長すぎます"},           // invalid
		{"from": "bot", "amount": 5, "message": "うん", "room": "attic"},      // not found: an error
		{"from": "bot", "amount": 101, "message": "うん"},                     // an error
		{"from": "bot", "amount": 5},                                        // an error
		{"from": "bot", "amount": 5, "message": "うん", "mesage": "an error"}, // an error
	} {
		if got := d.hold(a, "consume", args); args["message"] == "今は足りない" && got["message"] != "Not enough resource." {
			d.t.Errorf("%v: %v", args, got)
		}
	}
	d.hold(a, "say", map[string]any{"from": "bot", "message": "へえ", "kind": "backchannel"})
	d.hold(a, "say", map[string]any{"from": "bot"}) // an error
	d.hold(a, "history", map[string]any{"since": 0, "limit": 5})
	d.hold(a, "history", map[string]any{"limit": 1000})  // an error
	d.hold(a, "status", map[string]any{"room": "attic"}) // an error
}

// holdVotes holds the answers in a room where turns are voted on and nothing is spent.
func (d *declared) holdVotes(h *home, a *agent) {
	d.t.Helper()
	d.hold(a, "wait_for_turn", map[string]any{"from": "bot", "room": "den", "timeout_seconds": 0}) // timeout
	h.human("den", "botはどう?")
	d.hold(a, "about", map[string]any{"from": "bot", "room": "den"})
	d.hold(a, "wait_for_turn", map[string]any{"from": "bot", "room": "den"}) // asked
	d.hold(a, "vote", map[string]any{"from": "bot", "room": "den", "state": "speak", "importance": 9})
	d.hold(a, "vote", map[string]any{"from": "bot", "room": "den", "state": "shout"}) // an error
	granted := d.hold(a, "wait_for_turn", map[string]any{"from": "bot", "room": "den"})
	if got := d.hold(a, "about", map[string]any{"from": "bot", "room": "den"}); got["reason"] != "granted" || fmt.Sprint(got["grant"]) != fmt.Sprint(granted["grant"]) {
		d.t.Errorf("about: %v, granted %v", got, granted)
	}
	grant, ok := granted["grant"].(map[string]any)
	if !ok {
		d.t.Fatalf("no grant: %v", granted)
	}
	d.hold(a, "say", map[string]any{"from": "bot", "room": "den", "message": "いいね", "grant": grant["token"]})
	for _, got := range []map[string]any{
		d.hold(a, "status", map[string]any{"room": "den"}),
		d.hold(a, "consume", map[string]any{"from": "bot", "room": "den", "amount": 90, "message": "続けます"}),
		d.hold(a, "consume", map[string]any{"from": "aya", "room": "den", "amount": 90, "message": "偽物"}),
	} {
		if got["resource"] != 100.0 {
			d.t.Errorf("where nothing is spent: %v", got)
		}
	}
	d.hold(a, "wait_for_turn", map[string]any{"from": "aya", "room": "den"}) // an error
}

// Model providers refuse all of a request when one tool's schema is a choice at
// its root, and clients that know only objects cannot show it.
func TestSchemasAreObjects(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", abi.DefaultPool())})
	list, err := h.connect(nil).session.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) < 6 {
		t.Fatalf("%v, %d tools", err, len(list.Tools))
	}
	objects(t, list.Tools)
}

// objects demands that the schemas of tools are plain objects.
func objects(t *testing.T, tools []*sdk.Tool) {
	t.Helper()
	for _, tool := range tools {
		for which, schema := range map[string]any{"input": tool.InputSchema, "output": tool.OutputSchema} {
			root, _ := schema.(map[string]any)
			if root["type"] != "object" || root["properties"] == nil {
				t.Errorf("%s: the %s is %v", tool.Name, which, root)
			}
			for word := range root {
				if slices.Contains([]string{"oneOf", "anyOf", "allOf", "not", "if", "$ref"}, word) {
					t.Errorf("%s: the %s begins with %s", tool.Name, which, word)
				}
			}
		}
	}
}
