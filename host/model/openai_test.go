package model

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model/shape"
)

const voteSchema = `{"type":"object","properties":{"state":{"type":"string","enum":["speak","listen"]},"importance":{"type":"number"}},"required":["state","importance"],"additionalProperties":false}`

func ptr(f float64) *float64 { return &f }

func voteRequest() Request {
	r := ask()
	r.System, r.Schema, r.SchemaName = "You judge.", json.RawMessage(voteSchema), "vote"
	return r
}

func wave() Tool {
	return Tool{Name: "wave", Description: "Waves.", Schema: json.RawMessage(`{"type":"object","properties":{"hand":{"type":"string"}}}`)}
}

func TestChat(t *testing.T) {
	f := newFake(t, sse(`{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`, textChunk("Hel"), textChunk("lo."), finish("stop"), usageChunk(120, 30, 100), "[DONE]"))
	client := f.client(OpenAI, func(c *Config) {
		c.Key = func() (string, error) { return " sk-secret\n", nil }
		c.PriceIn, c.PriceOut, c.PriceCached, c.MaxTokens, c.Temperature = 2, 10, 0.5, 300, ptr(0)
	})
	req := ask()
	req.System = "You are Aya."
	a, heard, err := generate(t, client, req)
	if err != nil || heard != "Hello." || a.Stop != StopEnd || len(a.Calls) != 0 {
		t.Fatalf("%q, %+v, %v", heard, a, err)
	}
	want := Usage{In: 120, Out: 30, Cached: 100, Calls: 1, Cost: (20*2 + 100*0.5 + 30*10) / 1e6}
	if a.Usage != want {
		t.Errorf("usage %+v, want %+v", a.Usage, want)
	}
	got := f.last(1)
	const body = `{"model":"tiny","messages":[{"content":"You are Aya.","role":"system"},{"content":"hello","role":"user"}],"stream":true,"stream_options":{"include_usage":true},"max_tokens":300,"temperature":0}`
	if got.raw != body {
		t.Errorf("asked %s", got.raw)
	}
	if got.path != "POST /v1/chat/completions" || got.header.Get("Authorization") != "Bearer sk-secret" || got.header.Get("Content-Type") != "application/json" {
		t.Errorf("asked %s with %v", got.path, got.header)
	}
}

// The request's own limit wins over the configured one.
func TestRequestOverConfig(t *testing.T) {
	f := newFake(t, says("x"))
	req := ask()
	req.MaxTokens = 7
	if _, _, err := generate(t, f.client(OpenAI, func(c *Config) { c.MaxTokens = 300 }), req); err != nil {
		t.Fatal(err)
	}
	if got := f.last(1); got.get("max_tokens") != 7.0 || got.header.Get("Authorization") != "" {
		t.Errorf("asked %s", got.raw)
	}
}

// Servers do some things otherwise.
func TestOtherServers(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		text   string
		stop   string
	}{
		"no usage, no end mark":  {sse(textChunk("Hello."), finish("stop")), "Hello.", StopEnd},
		"an end mark, no reason": {sse(textChunk("Hello."), "[DONE]"), "Hello.", StopEnd},
		"no content type, no lines": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("data: " + textChunk("Hello.") + "\ndata: [DONE]"))
		}, "Hello.", StopEnd},
		"it streams not":               {status(200, `{"choices":[{"index":0,"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`), "Hello.", StopEnd},
		"comments":                     {sse(":\n: OPENROUTER PROCESSING", textChunk("Hello."), finish("stop")), "Hello.", StopEnd},
		"reasoning_content":            {sse(`{"choices":[{"index":0,"delta":{"content":null,"reasoning_content":"He greets."}}]}`, textChunk("Hello."), finish("stop")), "Hello.", StopEnd},
		"reasoning":                    {sse(`{"choices":[{"index":0,"delta":{"content":"","reasoning":"He greets.","reasoning_details":[{}]}}]}`, textChunk("Hello."), finish("stop")), "Hello.", StopEnd},
		"thoughts in the text":         {sse(textChunk("<thi"), textChunk("nk>He greets."), textChunk("</think>\n\nHel"), textChunk("lo."), finish("stop")), "Hello.", StopEnd},
		"content in parts":             {sse(`{"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[]},{"type":"text","text":"Hello."}]}}]}`, finish("stop")), "Hello.", StopEnd},
		"other choices":                {sse(`{"choices":[{"index":1,"delta":{"content":"no"}},{"index":0,"delta":{"content":"Hello."}}]}`, finish("stop")), "Hello.", StopEnd},
		"a time that is no integer":    {sse(`{"created":1.5,"id":7,"choices":[{"index":0,"delta":{"content":"Hello."},"finish_reason":"stop"}]}`), "Hello.", StopEnd},
		"usage that is null":           {sse(`{"usage":null,"error":null,"choices":[{"index":0,"delta":{"content":"Hello."},"finish_reason":"stop"}]}`), "Hello.", StopEnd},
		"full":                         {sse(textChunk("Hel"), finish("length"), "[DONE]"), "Hel", StopLength},
		"filtered":                     {sse(textChunk("Hel"), finish("content_filter"), "[DONE]"), "Hel", StopRefused},
		"a refusal":                    {sse(`{"choices":[{"index":0,"delta":{"refusal":"I would rather not."}}]}`, finish("stop"), "[DONE]"), "I would rather not.", StopEnd},
		"a reason of its own":          {sse(textChunk("Hello."), finish("eos"), "[DONE]"), "Hello.", StopEnd},
		"tools as a reason, but none":  {sse(textChunk("Hello."), finish("tool_calls"), "[DONE]"), "Hello.", StopEnd},
		"nothing said, which is legal": {sse(finish("stop"), "[DONE]"), "", StopEnd},
	} {
		t.Run(name, func(t *testing.T) {
			a, heard, err := generate(t, newFake(t, c.answer).client(OpenAI, nil), ask())
			if err != nil || heard != c.text || a.Stop != c.stop {
				t.Errorf("heard %q, %+v, %v", heard, a, err)
			}
			if guess := !strings.Contains(name, "not"); a.Usage.Estimated != guess && c.text != "" {
				t.Errorf("usage %+v", a.Usage)
			}
			if a.Usage.In == 0 {
				t.Errorf("usage %+v", a.Usage)
			}
		})
	}
}

// A model whose template opens the thought is known after its first answer.
func TestThoughtsThatAreNotOpened(t *testing.T) {
	f := newFake(t, sse(textChunk("He greets."), textChunk("</think>Hello."), finish("stop")))
	client := f.client(OpenAI, nil)
	if _, heard, err := generate(t, client, ask()); err != nil || heard != "He greets.Hello." {
		t.Errorf("first %q, %v", heard, err)
	}
	if _, heard, err := generate(t, client, ask()); err != nil || heard != "Hello." {
		t.Errorf("then %q, %v", heard, err)
	}
	f.answers = []http.HandlerFunc{sse(`{"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"name":"wave"}}]},"finish_reason":"stop"}]}`)}
	if _, _, err := generate(t, client, ask()); err != nil || !client.(*endpoint).known.has(thinks) {
		t.Errorf("an answer without text is taken for one without a thought; %v", err)
	}
	f.answers = []http.HandlerFunc{says("Hello again.")}
	for range 2 {
		if _, heard, err := generate(t, client, ask()); err != nil || heard != "Hello again." {
			t.Errorf("in the end %q, %v", heard, err)
		}
	}
	if client.(*endpoint).known.has(thinks) {
		t.Error("it is still held back")
	}
}

func TestToolsAndFollowUp(t *testing.T) {
	f := newFake(t,
		sse(`{"choices":[{"index":0,"delta":{"content":"Hi. ","reasoning_content":"I wave.","tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"wave","arguments":""}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"hand\":"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"left\"}"}},{"index":1,"id":"c2","function":{"name":"`+shape.Name("手を振る")+`","arguments":""}}]}}]}`,
			finish("tool_calls"), "[DONE]"),
		says("Done."))
	client := f.client(OpenAI, nil)
	req := ask()
	req.Tools = []Tool{wave(), {Name: "手を振る", Description: "両手で"}}
	a, heard, err := generate(t, client, req)
	want := []ToolCall{{ID: "c1", Name: "wave", Arguments: json.RawMessage(`{"hand":"left"}`)}, {ID: "c2", Name: "手を振る", Arguments: json.RawMessage(`{}`)}}
	if err != nil || heard != "Hi. " || a.Stop != StopTools || !slices.EqualFunc(a.Calls, want, sameCall) {
		t.Fatalf("%q, %+v, %v", heard, a, err)
	}
	got := f.last(1)
	if got.get("tool_choice") != nil || got.get("tools.0.function.name") != "wave" || got.get("tools.0.type") != "function" ||
		got.get("tools.0.function.parameters.properties.hand.type") != "string" ||
		got.get("tools.1.function.name") != shape.Name("手を振る") || got.get("tools.1.function.description") != "手を振る: 両手で" ||
		got.get("tools.1.function.parameters.type") != "object" {
		t.Errorf("asked %s", got.raw)
	}
	req.NoCalls = true
	req.Messages = append(req.Messages, Message{Role: RoleAssistant, Text: a.Text, Calls: a.Calls},
		Message{Role: RoleTool, CallID: "c1", Text: `{"delivered":1}`}, Message{Role: RoleTool, CallID: "c2", Text: "no hands", Failed: true})
	if _, heard, err = generate(t, client, req); err != nil || heard != "Done." {
		t.Fatalf("%q, %v", heard, err)
	}
	got = f.last(2)
	for path, want := range map[string]any{
		"messages.1.role": "assistant", "messages.1.content": "Hi. ", "messages.1.reasoning_content": "I wave.",
		"messages.1.tool_calls.0.id": "c1", "messages.1.tool_calls.0.type": "function",
		"messages.1.tool_calls.0.function.arguments": `{"hand":"left"}`, "messages.1.tool_calls.1.function.name": shape.Name("手を振る"),
		"messages.2.role": "tool", "messages.2.tool_call_id": "c1", "messages.2.content": `{"delivered":1}`,
		"messages.3.tool_call_id": "c2", "messages.3.content": "failed: no hands", "tool_choice": "none",
	} {
		if v := got.get(path); v != want {
			t.Errorf("%s is %v, want %v", path, v, want)
		}
	}
}

func sameCall(a, b ToolCall) bool {
	return a.ID == b.ID && a.Name == b.Name && string(a.Arguments) == string(b.Arguments)
}

// Calls as servers send them: whole, without ids, with the same one, as an object, in the old way.
func TestToolsOfOtherServers(t *testing.T) {
	call := func(s string) string { return `{"choices":[{"index":0,"delta":` + s + `}]}` }
	for name, c := range map[string]struct {
		events []string
		want   []string
	}{
		"no ids": {[]string{call(`{"tool_calls":[{"function":{"name":"wave","arguments":"{\"n\":1}"}},{"function":{"name":"wave","arguments":"{\"n\":2}"}}]}`)},
			[]string{`call_1 wave {"n":1}`, `call_2 wave {"n":2}`}},
		"one id": {[]string{call(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"wave","arguments":"{}"}},{"index":1,"id":"a","function":{"name":"nod","arguments":"{}"}}]}`)},
			[]string{`a wave {}`, `call_1 nod {}`}},
		"an object":          {[]string{call(`{"tool_calls":[{"id":"a","function":{"name":"wave","arguments":{"n":1}}}]}`)}, []string{`a wave {"n":1}`}},
		"the old way":        {[]string{call(`{"function_call":{"name":"wave","arguments":"{\"n\":"}}`), call(`{"function_call":{"arguments":"1}"}}`)}, []string{`call_1 wave {"n":1}`}},
		"nameless":           {[]string{call(`{"tool_calls":[{"id":"a","function":{"name":"","arguments":"{}"}},{"id":"b","function":{"name":"nod"}}]}`)}, []string{`b nod {}`}},
		"no JSON":            {[]string{call(`{"tool_calls":[{"id":"a","function":{"name":"wave","arguments":"left!"}}]}`)}, []string{`a wave left!`}},
		"one nobody offered": {[]string{call(`{"tool_calls":[{"id":"a","function":{"name":"jump","arguments":"{}"}}]}`)}, []string{`a jump {}`}},
	} {
		req := ask()
		req.Tools = []Tool{wave(), {Name: "nod"}}
		// Ollama says stop here.
		a, _, err := generate(t, newFake(t, sse(append(c.events, finish("stop"))...)).client(OpenAI, nil), req)
		var got []string
		for _, c := range a.Calls {
			got = append(got, c.ID+" "+c.Name+" "+string(c.Arguments))
		}
		if err != nil || !slices.Equal(got, c.want) || a.Stop != StopTools {
			t.Errorf("%s: %q, stop %q, %v", name, got, a.Stop, err)
		}
	}
	many := make([]string, 0, 65)
	for range 65 {
		many = append(many, call(`{"tool_calls":[{"function":{"name":"nod","arguments":"{}"}}]}`))
	}
	_, _, err := generate(t, newFake(t, sse(many...)).client(OpenAI, nil), ask())
	wantErr(t, err, abi.CodeTooLarge, "more than 64 tools")
}

// Arguments that the model wrote wrong go back as an object: Ollama and vLLM refuse anything else.
func TestWrongArgumentsGoBack(t *testing.T) {
	f := newFake(t, says("x"))
	req := ask()
	req.Messages = append(req.Messages, Message{Role: RoleAssistant, Calls: []ToolCall{{ID: "a", Name: "wave", Arguments: json.RawMessage("left!")}}},
		Message{Role: RoleTool, CallID: "a", Text: "not JSON", Failed: true})
	if _, _, err := generate(t, f.client(OpenAI, nil), req); err != nil {
		t.Fatal(err)
	}
	if got := f.last(1); got.get("messages.1.tool_calls.0.function.arguments") != `{"not_an_object":"left!"}` {
		t.Errorf("asked %s", got.raw)
	}
}

func TestImages(t *testing.T) {
	f := newFake(t, says("A cat."))
	png := []byte("\x89PNG\r\n\x1a\n0000")
	req := Request{Messages: []Message{{Role: RoleUser, Text: "What is it?", Images: []Image{{MediaType: "image/png", Data: png}, {MediaType: "image/webp", Data: []byte("w")}}}}}
	a, _, err := generate(t, f.client(OpenAI, nil), req)
	if err != nil {
		t.Fatal(err)
	}
	got := f.last(1)
	if got.get("messages.0.content.0.text") != "What is it?" || got.get("messages.0.content.1.type") != "image_url" ||
		got.get("messages.0.content.1.image_url.url") != "data:image/png;base64,"+base64.StdEncoding.EncodeToString(png) ||
		got.get("messages.0.content.2.image_url.url") != "data:image/webp;base64,dw==" {
		t.Errorf("asked %s", got.raw)
	}
	if a.Usage.In != 10 {
		t.Errorf("usage %+v", a.Usage)
	}
}

func TestStructured(t *testing.T) {
	for structured, c := range map[string]struct{ kind, system string }{
		StructuredAuto: {"json_schema", "You judge."}, "": {"json_schema", "You judge."}, StructuredSchema: {"json_schema", "You judge."},
		StructuredObject: {"json_object", voteSchema}, StructuredPrompt: {"", voteSchema},
	} {
		f := newFake(t, says(`{"state":"speak","importance":7}`))
		req := voteRequest()
		checked := false
		req.Check = func(raw json.RawMessage) error { checked = true; return nil }
		a, heard, err := generate(t, f.client(OpenAI, func(c *Config) { c.Structured = structured }), req)
		if err != nil || string(a.JSON) != `{"state":"speak","importance":7}` || heard != "" || a.Stop != StopEnd || !checked {
			t.Errorf("%s: %+v, heard %q, %v", structured, a, heard, err)
		}
		got := f.last(1)
		if kind, _ := got.get("response_format.type").(string); kind != c.kind {
			t.Errorf("%s: asked %s", structured, got.raw)
		}
		if system, _ := got.get("messages.0.content").(string); !strings.HasSuffix(system, c.system) || !strings.HasPrefix(system, "You judge.") {
			t.Errorf("%s: the system prompt is %q", structured, system)
		}
		if c.kind == "json_schema" {
			schema, err := json.Marshal(got.get("response_format.json_schema.schema.required"))
			if err != nil || string(schema) != `["state","importance"]` || got.get("response_format.json_schema.name") != "vote" || got.get("response_format.json_schema.strict") != true {
				t.Errorf("asked %s", got.raw)
			}
		}
	}
}

func TestRepair(t *testing.T) {
	f := newFake(t, says("I would speak."), says("```json\n{\"state\":\"speak\"}\n```"))
	req := voteRequest()
	a, _, err := generate(t, f.client(OpenAI, func(c *Config) { c.Temperature = ptr(1) }), req)
	if err != nil || string(a.JSON) != `{"state":"speak"}` || a.Usage.Calls != 2 || a.Usage.In != 20 || a.Usage.Out != 4 {
		t.Fatalf("%+v, %v", a, err)
	}
	got := f.last(2)
	if got.get("messages.2.role") != "assistant" || got.get("messages.2.content") != "I would speak." ||
		!strings.Contains(got.get("messages.3.content").(string), "it is not a JSON object") || got.get("messages.4") != nil {
		t.Errorf("asked %s", got.raw)
	}
}

// Where one answer alone counts, two that differ are none, and the model is asked which; elsewhere the first counts, or the one in a fence.
func TestSole(t *testing.T) {
	const twice = "{\"state\":\"speak\"}\nWait, that was wrong:\n```json\n{\"state\":\"listen\"}\n```"
	for _, sole := range []bool{true, false} {
		f := newFake(t, says(twice), says("{\"state\":\"speak\"}\n{\"state\": \"speak\"}"))
		req := voteRequest()
		req.Sole = sole
		a, _, err := generate(t, f.client(OpenAI, nil), req)
		if want := map[bool]string{true: `{"state":"speak"}`, false: `{"state":"listen"}`}[sole]; err != nil || string(a.JSON) != want || a.Usage.Calls != map[bool]int{true: 2, false: 1}[sole] {
			t.Errorf("%v: %+v, %v", sole, a, err)
		}
		if got := f.requests(); sole && !strings.Contains(got[1].get("messages.3.content").(string), "several JSON objects that differ") {
			t.Errorf("asked %s", got[1].raw)
		}
	}
	f := newFake(t, claude("tool_use", toolBlock("t1", "vote", `{"state":"speak"}`), toolBlock("t2", "vote", `{"state":"listen"}`)))
	req := voteRequest()
	req.Sole = true
	_, _, err := generate(t, f.client(Anthropic, nil), req)
	wantErr(t, err, abi.CodeInvalid, "which one counts is not clear")
}

func TestRepairTellsWhatCheckSays(t *testing.T) {
	f := newFake(t, says(`{"state":"sing"}`))
	req := voteRequest()
	req.Check = func(json.RawMessage) error { return errors.New("state: must be speak or listen") }
	a, _, err := generate(t, f.client(OpenAI, nil), req)
	wantErr(t, err, abi.CodeInvalid, "could not mend it: state: must be speak or listen")
	if got := f.last(2); !strings.Contains(got.get("messages.3.content").(string), "state: must be speak or listen") || a.Usage.Calls != 2 || a.JSON != nil {
		t.Errorf("asked %s, got %+v", got.raw, a)
	}
}

// An answer that was cut off gets more room the second time, and what a model said before nothing.
func TestRepairOfWhatWasCutOff(t *testing.T) {
	f := newFake(t, sse(textChunk(""), finish("length")), says(`{"state":"speak"}`))
	req := voteRequest()
	req.MaxTokens = 50
	if _, _, err := generate(t, f.client(OpenAI, nil), req); err != nil {
		t.Fatal(err)
	}
	got := f.last(2)
	if got.get("max_tokens") != 200.0 || !strings.Contains(got.get("messages.1.content").(string), "too long and was cut off") {
		t.Errorf("asked %s", got.raw)
	}
}

func TestRefusedStructuredIsNotRepaired(t *testing.T) {
	f := newFake(t, sse(textChunk("I would rather not."), finish("content_filter")))
	_, _, err := generate(t, f.client(OpenAI, nil), voteRequest())
	wantErr(t, err, abi.CodeInvalid, "would not answer: I would rather not.")
	f.last(1)
}

// `auto` goes on to what the endpoint can, and remembers.
func TestAutoFallsBack(t *testing.T) {
	good := says(`{"state":"listen"}`)
	for name, c := range map[string]struct {
		refusals []http.HandlerFunc
		kinds    []any
	}{
		"DeepSeek":       {[]http.HandlerFunc{status(400, `{"error":{"message":"This response_format type is unavailable now"}}`)}, []any{"json_schema", "json_object", "json_object"}},
		"a FastAPI":      {[]http.HandlerFunc{status(422, `{"detail":[{"loc":["body","response_format","type"],"msg":"Input should be 'text'"}]}`), status(422, `{"detail":[{"loc":["body","response_format","type"]}]}`)}, []any{"json_schema", "json_object", nil, nil}},
		"llama.cpp":      {[]http.HandlerFunc{status(400, `{"error":{"code":400,"message":"Failed to initialize samplers: failed to parse grammar","type":"invalid_request_error"}}`)}, []any{"json_schema", "json_object", "json_object"}},
		"llama.cpp, 500": {[]http.HandlerFunc{status(500, `{"error":{"code":500,"message":"JSON schema conversion failed","type":"server_error"}}`)}, []any{"json_schema", "json_object", "json_object"}},
		"LM Studio":      {[]http.HandlerFunc{status(400, `{"error":"'response_format.type' must be 'text'"}`), status(400, `{"error":"'response_format.type' must be 'json_schema' or 'text'"}`)}, []any{"json_schema", "json_object", nil, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, append(c.refusals, good)...)
			client := f.client(OpenAI, nil)
			for range 2 {
				if a, _, err := generate(t, client, voteRequest()); err != nil || string(a.JSON) != `{"state":"listen"}` {
					t.Fatalf("%+v, %v", a, err)
				}
			}
			var kinds []any
			for _, r := range f.requests() {
				kinds = append(kinds, r.get("response_format.type"))
			}
			if !slices.Equal(kinds, c.kinds) {
				t.Errorf("asked for %v, want %v", kinds, c.kinds)
			}
		})
	}
}

// A refusal of something else, or where the way is configured, is an error.
func TestAutoDoesNotFallBackForAnything(t *testing.T) {
	for structured, answer := range map[string]http.HandlerFunc{
		StructuredAuto:   status(400, `{"error":{"message":"context length exceeded"}}`),
		StructuredSchema: status(400, `{"error":{"message":"response_format is not known"}}`),
	} {
		f := newFake(t, answer)
		_, _, err := generate(t, f.client(OpenAI, func(c *Config) { c.Structured = structured }), voteRequest())
		wantErr(t, err, abi.CodeInvalid, "(400)")
		f.last(1)
	}
}

// A field that an endpoint does not know is left out from then on.
func TestParametersThatAreRefused(t *testing.T) {
	f := newFake(t,
		status(400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens"}}`),
		status(400, `{"error":{"message":"Unsupported value: 'temperature' does not support 0.7 with this model."}}`),
		status(422, `{"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`),
		says("Hello."))
	client := f.client(OpenAI, func(c *Config) { c.Temperature = ptr(0.7) })
	req := ask()
	req.MaxTokens, req.Tools = 9, []Tool{wave()}
	for range 2 {
		if _, heard, err := generate(t, client, req); err != nil || heard != "Hello." {
			t.Fatalf("%q, %v", heard, err)
		}
	}
	got := f.last(5)
	for _, gone := range []string{"max_tokens", "temperature", "stream_options", "tool_choice"} {
		if v := got.get(gone); v != nil {
			t.Errorf("%s is still %v", gone, v)
		}
	}
	if got.get("max_completion_tokens") != 9.0 {
		t.Errorf("asked %s", got.raw)
	}
}

// An endpoint that complains of the same for ever is not asked for ever.
func TestComplaintsEnd(t *testing.T) {
	f := newFake(t, status(400, `stream_options max_completion_tokens temperature tool_choice response_format schema`))
	req := voteRequest()
	_, _, err := generate(t, f.client(OpenAI, func(c *Config) { c.Temperature = ptr(1) }), req)
	wantErr(t, err, abi.CodeInvalid, "(400)")
	if n := len(f.requests()); n != 6 {
		t.Errorf("%d requests", n)
	}
}

func TestOutcome(t *testing.T) {
	for want, m := range map[string]Message{
		"done": {}, "failed": {Failed: true}, "failed: no hands": {Failed: true, Text: "no hands"}, "waved": {Text: "waved"},
	} {
		if got := m.outcome(); got != want {
			t.Errorf("%+v: %q, want %q", m, got, want)
		}
	}
}

// Where a packet ends says nothing.
func TestAnswersByteByByte(t *testing.T) {
	for api, body := range map[string]string{
		OpenAI:    "data: " + textChunk("こんに") + "\r\n\r\ndata: " + textChunk("ちは🎉") + "\n\ndata: " + finish("stop") + "\n\ndata: [DONE]\n\n",
		Anthropic: "event: a\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"こんにちは🎉\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
	} {
		trip := tripper(func(r *http.Request) (*http.Response, error) {
			return respond(r, 200, iotest.OneByteReader(strings.NewReader(body))), nil
		})
		_, heard, err := generate(t, bubbleClient(t, trip, func(c *Config) { c.API = api }), ask())
		if err != nil || heard != "こんにちは🎉" {
			t.Errorf("%s: %q, %v", api, heard, err)
		}
	}
}
