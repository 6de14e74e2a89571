package model

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
)

// claude answers with content blocks in the way of Anthropic's stream. Each block is its start and
// its deltas.
func claude(stop string, blocks ...[]string) http.HandlerFunc {
	events := []string{
		"event: message_start\ndata: " + `{"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":20,"cache_read_input_tokens":70,"cache_creation_input_tokens":10,"output_tokens":1}}}`,
		"event: ping\ndata: " + `{"type":"ping"}`}
	for i, b := range blocks {
		index := string(rune('0' + i))
		events = append(events, "event: content_block_start\ndata: "+`{"type":"content_block_start","index":`+index+`,"content_block":`+b[0]+`}`)
		for _, delta := range b[1:] {
			events = append(events, "event: content_block_delta\ndata: "+`{"type":"content_block_delta","index":`+index+`,"delta":`+delta+`}`)
		}
		events = append(events, "event: content_block_stop\ndata: "+`{"type":"content_block_stop","index":`+index+`}`)
	}
	return sse(append(events,
		"event: message_delta\ndata: "+`{"type":"message_delta","delta":{"stop_reason":"`+stop+`","stop_sequence":null},"usage":{"output_tokens":15}}`,
		"event: message_stop\ndata: "+`{"type":"message_stop"}`)...)
}

func textBlock(deltas ...string) []string {
	b := []string{`{"type":"text","text":""}`}
	for _, d := range deltas {
		b = append(b, `{"type":"text_delta","text":`+jsonString(d)+`}`)
	}
	return b
}

func toolBlock(id, name string, deltas ...string) []string {
	b := []string{`{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":{}}`}
	for _, d := range deltas {
		b = append(b, `{"type":"input_json_delta","partial_json":`+jsonString(d)+`}`)
	}
	return b
}

func TestMessages(t *testing.T) {
	f := newFake(t, claude("end_turn", textBlock("Hel", "lo.")))
	client := f.client(Anthropic, func(c *Config) {
		c.Key = func() (string, error) { return "sk-ant-secret", nil }
		c.PriceIn, c.PriceOut, c.Temperature = 3, 15, ptr(1.5)
	})
	req := ask()
	req.System = "You are Aya."
	a, heard, err := generate(t, client, req)
	if err != nil || heard != "Hello." || a.Stop != StopEnd {
		t.Fatalf("%q, %+v, %v", heard, a, err)
	}
	if want := (Usage{In: 100, Out: 15, Cached: 70, Calls: 1, Cost: (100*3 + 15*15) / 1e6}); a.Usage != want {
		t.Errorf("usage %+v, want %+v", a.Usage, want)
	}
	got := f.last(1)
	const body = `{"model":"tiny","system":[{"cache_control":{"type":"ephemeral"},"text":"You are Aya.","type":"text"}],"messages":[{"content":[{"text":"hello","type":"text"}],"role":"user"}],"stream":true,"max_tokens":4096,"temperature":1}`
	if got.raw != body {
		t.Errorf("asked %s", got.raw)
	}
	if got.path != "POST /v1/messages" || got.header.Get("X-Api-Key") != "sk-ant-secret" || got.header.Get("Anthropic-Version") != "2023-06-01" || got.header.Get("Authorization") != "" {
		t.Errorf("asked %s with %v", got.path, got.header)
	}
}

// Tools, their results in one message, and the thoughts that go back as they came.
func TestMessagesTools(t *testing.T) {
	f := newFake(t,
		claude("tool_use", []string{`{"type":"thinking","thinking":"","signature":""}`, `{"type":"thinking_delta","thinking":"I "}`, `{"type":"thinking_delta","thinking":"wave."}`, `{"type":"signature_delta","signature":"sig=="}`},
			[]string{`{"type":"redacted_thinking","data":"opaque"}`},
			textBlock("Hi."), toolBlock("t1", "wave", "", `{"hand"`, `:"left"}`), toolBlock("t2", "nod")),
		claude("end_turn", textBlock("Done.")))
	client := f.client(Anthropic, nil)
	req := ask()
	req.Tools = []Tool{wave(), {Name: "nod", Description: "Nods."}}
	a, heard, err := generate(t, client, req)
	want := []ToolCall{{ID: "t1", Name: "wave", Arguments: json.RawMessage(`{"hand":"left"}`)}, {ID: "t2", Name: "nod", Arguments: json.RawMessage(`{}`)}}
	if err != nil || heard != "Hi." || a.Stop != StopTools || !slices.EqualFunc(a.Calls, want, sameCall) {
		t.Fatalf("%q, %+v, %v", heard, a, err)
	}
	if got := f.last(1); got.get("tool_choice") != nil || got.get("tools.0.name") != "wave" || got.get("tools.0.input_schema.type") != "object" || got.get("tools.1.input_schema.type") != "object" {
		t.Errorf("asked %s", got.raw)
	}
	req.NoCalls = true
	req.Messages = append(req.Messages, Message{Role: RoleAssistant, Text: a.Text, Calls: a.Calls},
		Message{Role: RoleTool, CallID: "t1", Text: "waved"}, Message{Role: RoleTool, CallID: "t2", Text: "no neck", Failed: true},
		Message{Role: RoleUser, Text: "and now?", Images: []Image{{MediaType: "image/png", Data: []byte("png")}}})
	if _, heard, err = generate(t, client, req); err != nil || heard != "Done." {
		t.Fatalf("%q, %v", heard, err)
	}
	got := f.last(2)
	messages, err := json.Marshal(got.body["messages"])
	if err != nil {
		t.Fatal(err)
	}
	const wantMessages = `[{"content":[{"text":"hello","type":"text"}],"role":"user"},` +
		`{"content":[{"signature":"sig==","thinking":"I wave.","type":"thinking"},{"data":"opaque","type":"redacted_thinking"},{"text":"Hi.","type":"text"},` +
		`{"id":"t1","input":{"hand":"left"},"name":"wave","type":"tool_use"},{"id":"t2","input":{},"name":"nod","type":"tool_use"}],"role":"assistant"},` +
		`{"content":[{"content":"waved","tool_use_id":"t1","type":"tool_result"},{"content":"no neck","is_error":true,"tool_use_id":"t2","type":"tool_result"},` +
		`{"source":{"data":"cG5n","media_type":"image/png","type":"base64"},"type":"image"},{"text":"and now?","type":"text"}],"role":"user"}]`
	if string(messages) != wantMessages || got.get("tool_choice.type") != "none" {
		t.Errorf("asked %s", messages)
	}
}

// A block of mere space is refused, so there is none.
func TestMessagesWithoutEmptyBlocks(t *testing.T) {
	f := newFake(t, claude("end_turn", textBlock("Done.")))
	req := ask()
	req.Messages = append(req.Messages, Message{Role: RoleAssistant, Text: "\n", Calls: []ToolCall{{ID: "t", Name: "wave"}}}, Message{Role: RoleTool, CallID: "t"})
	if _, _, err := generate(t, f.client(Anthropic, nil), req); err != nil {
		t.Fatal(err)
	}
	if got := f.last(1); got.get("messages.1.content.0.type") != "tool_use" || got.get("messages.2.content.0.content") != nil {
		t.Errorf("asked %s", got.raw)
	}
}

func TestMessagesOtherwise(t *testing.T) {
	for name, c := range map[string]struct {
		answer     http.HandlerFunc
		text, stop string
	}{
		"it streams not": {status(200, `{"type":"message","content":[{"type":"text","text":"Hello."}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2}}`), "Hello.", StopEnd},
		"full":           {claude("max_tokens", textBlock("Hel")), "Hel", StopLength},
		"window full":    {claude("model_context_window_exceeded", textBlock("Hel")), "Hel", StopLength},
		"refused":        {claude("refusal", textBlock("No.")), "No.", StopRefused},
		"a new reason":   {claude("pause_turn", textBlock("Well")), "Well", StopEnd},
		"no end event":   {sse(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hel"}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo."}}`, `{"type":"new_event"}`, `{"type":"content_block_delta","index":0,"delta":{"type":"new_delta"}}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`), "Hello.", StopEnd},
	} {
		a, heard, err := generate(t, newFake(t, c.answer).client(Anthropic, nil), ask())
		if err != nil || heard != c.text || a.Stop != c.stop || a.Usage.In == 0 || a.Usage.Out == 0 {
			t.Errorf("%s: %q, %+v, %v", name, heard, a, err)
		}
	}
	whole := status(200, `{"type":"message","content":[{"type":"tool_use","id":"t","name":"wave","input":{"hand":"left"}}],"stop_reason":"tool_use"}`)
	a, _, err := generate(t, newFake(t, whole).client(Anthropic, nil), ask())
	if err != nil || len(a.Calls) != 1 || string(a.Calls[0].Arguments) != `{"hand":"left"}` {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestMessagesFailures(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		code   abi.Code
		calls  int
		words  string
	}{
		"overloaded":         {status(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), abi.CodeUnavailable, 3, "(529): Overloaded"},
		"overloaded, later":  {sse("event: error\ndata: " + `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), abi.CodeUnavailable, 3, "(529): Overloaded"},
		"too fast, later":    {sse(`{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}`), abi.CodeUnavailable, 3, "rate limited: slow"},
		"forbidden, later":   {sse(`{"type":"error","error":{"type":"permission_error","message":"not you"}}`), abi.CodeDenied, 1, "not you"},
		"wrong, later":       {sse(`{"type":"error","error":{"type":"invalid_request_error","message":"bad"}}`), abi.CodeInvalid, 1, "bad"},
		"of an unknown kind": {sse(`{"type":"error","error":{"type":"api_error","message":"oops"}}`), abi.CodeUnavailable, 3, "oops"},
		"cut":                {sse(`{"type":"message_start","message":{}}`), abi.CodeUnavailable, 3, "broke off"},
		"no JSON":            {sse(`{"type":`), abi.CodeInvalid, 1, "cannot be read"},
		"spent":              {status(429, `{"type":"error","error":{"type":"rate_limit_error","message":"usage paused","details":{"error_code":"enforced_spend_limit_reached"}}}`), abi.CodeUnavailable, 1, "usage paused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, c.answer)
			_, _, err := generate(t, f.client(Anthropic, nil), ask())
			wantErr(t, err, c.code, c.words)
			if n := len(f.requests()); n != c.calls {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestMessagesStructured(t *testing.T) {
	for _, structured := range []string{StructuredAuto, StructuredSchema, StructuredObject} {
		f := newFake(t, claude("tool_use", toolBlock("t1", "vote", `{"state":`, `"speak"}`)))
		a, _, err := generate(t, f.client(Anthropic, func(c *Config) { c.Structured = structured }), voteRequest())
		if err != nil || string(a.JSON) != `{"state":"speak"}` || a.Stop != StopEnd || a.Calls != nil {
			t.Errorf("%s: %+v, %v", structured, a, err)
		}
		if got := f.last(1); got.get("tool_choice.type") != "tool" || got.get("tool_choice.name") != "vote" || got.get("tools.0.input_schema.type") != "object" {
			t.Errorf("asked %s", got.raw)
		}
	}
	f := newFake(t, claude("end_turn", textBlock(`{"state":"speak"}`)))
	a, _, err := generate(t, f.client(Anthropic, func(c *Config) { c.Structured = StructuredPrompt }), voteRequest())
	if got := f.last(1); err != nil || string(a.JSON) != `{"state":"speak"}` || got.get("tools") != nil || !strings.HasSuffix(got.get("system.0.text").(string), voteSchema) {
		t.Errorf("%+v, %v, asked %s", a, err, got.raw)
	}
}

// A mistake in the arguments of the forced tool is told as its result.
func TestMessagesRepair(t *testing.T) {
	f := newFake(t, claude("tool_use", toolBlock("t1", "vote", `{"state":`)), claude("tool_use", toolBlock("t2", "vote", `{"state":"speak"}`)))
	a, _, err := generate(t, f.client(Anthropic, nil), voteRequest())
	if err != nil || string(a.JSON) != `{"state":"speak"}` || a.Usage.Out != 30 {
		t.Fatalf("%+v, %v", a, err)
	}
	got := f.last(2)
	if got.get("messages.1.content.0.type") != "tool_use" || got.get("messages.1.content.0.input.not_an_object") != `{"state":` ||
		got.get("messages.2.content.0.type") != "tool_result" || got.get("messages.2.content.0.is_error") != true || got.get("messages.2.content.0.tool_use_id") != "t1" ||
		!strings.Contains(got.get("messages.2.content.0.content").(string), "not a JSON object") {
		t.Errorf("asked %s", got.raw)
	}
}

// Some models refuse to be forced to call a tool. Then the schema is sent as one, then told.
func TestMessagesFallBack(t *testing.T) {
	f := newFake(t, status(400, `{"type":"error","error":{"type":"invalid_request_error","message":"tool_choice: forced tool use is not supported"}}`),
		status(400, `{"type":"error","error":{"type":"invalid_request_error","message":"output_config: Extra inputs are not permitted"}}`),
		claude("end_turn", textBlock(`{"state":"speak"}`)))
	client := f.client(Anthropic, nil)
	for range 2 {
		if a, _, err := generate(t, client, voteRequest()); err != nil || string(a.JSON) != `{"state":"speak"}` {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	got := f.last(4)
	if second := f.requests()[1]; second.get("output_config.format.type") != "json_schema" || second.get("output_config.format.schema.type") != "object" || second.get("tools") != nil {
		t.Errorf("asked %s", second.raw)
	}
	if got.get("output_config") != nil || got.get("tools") != nil || !strings.Contains(got.get("system.0.text").(string), "JSON Schema") {
		t.Errorf("asked %s", got.raw)
	}
}

// Thoughts go with the calls that they led to, and with no others of the same id.
func TestThoughtsGoWithTheirCalls(t *testing.T) {
	for api, answer := range map[string]http.HandlerFunc{
		OpenAI:    sse(reasoned("reasoning_content", "I wave."), `{"choices":[{"index":0,"delta":{"tool_calls":[{"id":"c","function":{"name":"wave"}}]},"finish_reason":"tool_calls"}]}`),
		Anthropic: claude("tool_use", []string{`{"type":"thinking","thinking":"I wave."}`}, toolBlock("c", "wave")),
	} {
		f := newFake(t, answer)
		client := f.client(api, nil)
		req := ask()
		req.Tools = []Tool{wave()}
		a, _, err := generate(t, client, req)
		if err != nil || len(a.Calls) != 1 {
			t.Fatalf("%s: %+v, %v", api, a, err)
		}
		for i, calls := range [][]ToolCall{a.Calls, {{ID: "c", Name: "wave"}}} {
			req.Messages = append(ask().Messages, Message{Role: RoleAssistant, Calls: calls}, Message{Role: RoleTool, CallID: "c"})
			if _, _, err := generate(t, client, req); err != nil || strings.Contains(f.last(2+i).raw, "I wave.") != (i == 0) {
				t.Errorf("%s: %v, asked %s", api, err, f.last(2+i).raw)
			}
		}
	}
}
