package model

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model/shape"
	"github.com/companiond/companiond/host/model/tokens"
)

func TestRequestsThatCannotBeAsked(t *testing.T) {
	client := newFake(t, says("x")).client(OpenAI, nil)
	for want, change := range map[string]func(*Request){
		"messages: none says anything":             func(r *Request) { r.Messages = []Message{{Role: RoleUser, Text: " \n"}} },
		"messages[0]: the role must be":            func(r *Request) { r.Messages[0].Role = "system" },
		"max_tokens: must not be":                  func(r *Request) { r.MaxTokens = -1 },
		"tools[0].name: is missing":                func(r *Request) { r.Tools = []Tool{{}} },
		"tools[1].name: is missing or there twice": func(r *Request) { r.Tools = []Tool{wave(), wave()} },
		"tools[0].schema: is not a JSON object":    func(r *Request) { r.Tools = []Tool{{Name: "a", Schema: json.RawMessage(`[`)}} },
		"tools[0].schema: its root must":           func(r *Request) { r.Tools = []Tool{{Name: "a", Schema: json.RawMessage(`{"type":"string"}`)}} },
		"schema: must be a JSON Schema whose":      func(r *Request) { r.Schema = json.RawMessage(`{"type":"array"}`) },
		"schema: must be a JSON Schema":            func(r *Request) { r.Schema = json.RawMessage(`{`) },
	} {
		r := ask()
		change(&r)
		a, err := client.Generate(t.Context(), r, nil)
		wantErr(t, err, abi.CodeInvalid, want)
		if a.Usage.Calls != 0 {
			t.Errorf("%s: it was asked", want)
		}
	}
}

// A talk as templates take it: from user to user, in turns, and nothing that was said is lost.
func TestJoined(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []Message
		var said []string
		for i := range rapid.IntRange(1, 12).Draw(t, "messages") {
			m := Message{Role: RoleUser, Text: fmt.Sprintf("%d.", i)}
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				m.Role = RoleAssistant
			case 1:
				m = Message{Role: RoleAssistant, Text: m.Text, Calls: []ToolCall{{ID: "c", Name: "wave"}}}
				said = append(said, m.Text)
				all = append(all, m)
				m = Message{Role: RoleTool, CallID: "c", Text: "r" + m.Text}
			case 2:
				m.Images = []Image{{Data: []byte{byte(i)}}}
			case 3:
				all = append(all, Message{Role: RoleAssistant, Text: " "})
			}
			said = append(said, m.Text)
			all = append(all, m)
		}
		before := fmt.Sprint(all)
		got := joined(all)
		if fmt.Sprint(all) != before {
			t.Fatal("the caller's messages were changed")
		}
		last, images := Role(""), 0
		var heard []string
		for i, m := range got {
			images += len(m.Images)
			heard = append(heard, strings.Split(m.Text, "\n")...)
			if m.Role == last && m.Role != RoleTool && len(m.Calls) == 0 && len(got[i-1].Calls) == 0 || i == 0 && m.Role == RoleAssistant {
				t.Fatalf("message %d of %+v", i, got)
			}
			last = m.Role
		}
		if last == RoleAssistant {
			t.Fatalf("the end of %+v", got)
		}
		var sent int
		for _, m := range all {
			sent += len(m.Images)
		}
		text := strings.ReplaceAll(strings.Join(heard, " "), pausing, "")
		if strings.Join(strings.Fields(text), " ") != strings.Join(said, " ") || images != sent {
			t.Fatalf("said %q, sent %q", said, heard)
		}
	})
}

// Joining does not write into a list of the caller's.
func TestJoinedLeavesImagesAlone(t *testing.T) {
	own := []Image{{MediaType: "a"}, {MediaType: "b"}}
	got := joined([]Message{{Role: RoleUser, Images: own[:1]}, {Role: RoleUser, Images: []Image{{MediaType: "c"}}}})
	if len(got) != 1 || len(got[0].Images) != 2 || own[1].MediaType != "b" {
		t.Errorf("%+v, the caller has %+v", got, own)
	}
}

// A picture has a size of its own, and every message one beside its words.
func TestSize(t *testing.T) {
	of := func(r Request) int { return new(tokens.Meter).Tokens(r.Size()) }
	r := ask()
	if got := of(r); got < 4 || got > 10 {
		t.Errorf("hello: %d", got)
	}
	r.Messages[0].Images = []Image{{}, {}}
	if got := of(r); got < 2*ImageTokens {
		t.Errorf("with two pictures: %d", got)
	}
}

// Nonsense in a usage is not believed further than it goes.
func TestUsageOfNonsense(t *testing.T) {
	f := newFake(t, sse(textChunk("Hello."), finish("stop"), usageChunk(10, 5, 99)))
	a, _, err := generate(t, f.client(OpenAI, func(c *Config) { c.PriceIn, c.PriceCached = 1, 0.1 }), ask())
	if err != nil || a.Usage.Cached != 10 || a.Usage.Cost != 10*0.1/1e6 {
		t.Errorf("%+v, %v", a.Usage, err)
	}
	f = newFake(t, sse(textChunk("Hello."), finish("stop"), usageChunk(-10, -5, -1)))
	a, _, err = generate(t, f.client(OpenAI, func(c *Config) { c.PriceIn, c.PriceCached = 1, 0.1 }), ask())
	if err != nil || a.Usage.In <= 0 || a.Usage.Out <= 0 || a.Usage.Cost < 0 || !a.Usage.Estimated {
		t.Errorf("%+v, %v", a.Usage, err)
	}
}

// Reading an answer ends, whatever the endpoint says, without a panic.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte("data: "+textChunk("a")+"\n\ndata: "+finish("stop")+"\n\n"), true)
	f.Add([]byte(`data: {"type":"content_block_delta","index":9,"delta":{"type":"thinking_delta"}}`), false)
	f.Add([]byte(`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":-1,"function":{}}]}}],"error":null,"usage":{}}`), true)
	f.Add([]byte(`{"type":"message","content":[{"type":"tool_use"}]}`), false)
	f.Fuzz(func(t *testing.T, body []byte, chat bool) {
		api := Anthropic
		if chat {
			api = OpenAI
		}
		client := fuzzClient(t, api, body)
		a, err := client.Generate(t.Context(), ask(), nil)
		if err != nil && !reflect.DeepEqual(a, Answer{Usage: a.Usage}) {
			t.Errorf("an answer with an error: %+v", a)
		}
		if err == nil && a.Stop == "" {
			t.Errorf("an answer without an end: %+v", a)
		}
		if a.Usage.In < 0 || a.Usage.Out < 0 || a.Usage.Cached < 0 {
			t.Errorf("usage %+v", a.Usage)
		}
		if _, err := client.Generate(t.Context(), voteRequest(), nil); err != nil && abi.CodeOf(err) == abi.CodeInternal {
			t.Error(err)
		}
	})
}

// The names under which tools are sent are translated back.
func TestToolName(t *testing.T) {
	for _, name := range []string{"wave", "手を振る", "look at"} {
		if got := toolName(shape.Name(name), []Tool{{Name: "x"}, {Name: name}}); got != name {
			t.Errorf("%q came back as %q", name, got)
		}
	}
}
