package model

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/logtest"
)

// warnings counts the lines at warn.
func warnings(told *logtest.Log) int { return told.Count("level=WARN") }

// greets answers "Hello." at an API.
func greets(api string) http.HandlerFunc {
	if api == Anthropic {
		return claude("end_turn", textBlock("Hello."))
	}
	return says("Hello.")
}

// refusingTools are refusals of servers whose model cannot call tools.
func refusingTools() map[string]struct {
	api    string
	answer http.HandlerFunc
} {
	return map[string]struct {
		api    string
		answer http.HandlerFunc
	}{
		"Ollama":                {OpenAI, status(400, `{"error":{"message":"registry.ollama.ai/library/gemma3:4b does not support tools","type":"api_error","param":null,"code":null}}`)},
		"Ollama, Messages":      {Anthropic, status(400, `{"type":"error","error":{"type":"invalid_request_error","message":"registry.ollama.ai/library/gemma3:4b does not support tools"}}`)},
		"vLLM":                  {OpenAI, status(400, `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}`)},
		"vLLM, Messages":        {Anthropic, status(400, `{"type":"error","error":{"type":"BadRequestError","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}}`)},
		"llama.cpp":             {OpenAI, status(500, `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`)},
		"llama.cpp, Messages":   {Anthropic, status(500, `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`)},
		"llama.cpp, 501":        {OpenAI, status(501, `{"error":{"code":501,"message":"tools param requires --jinja flag","type":"not_supported_error"}}`)},
		"llama.cpp, old":        {OpenAI, status(500, `{"error":{"code":500,"message":"Unsupported param: tools","type":"server_error"}}`)},
		"OpenRouter":            {OpenAI, status(404, `{"error":{"message":"No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs/provider-routing","code":404}}`)},
		"OpenRouter, Messages":  {Anthropic, status(404, `{"type":"error","error":{"type":"not_found_error","message":"No endpoints found that support tool use."}}`)},
		"OpenAI":                {OpenAI, status(404, `{"error":{"message":"tools is not supported in this model. For a list of supported models, refer to https://platform.openai.com/docs/guides/function-calling"}}`)},
		"Groq":                  {OpenAI, status(400, "{\"error\":{\"message\":\"`tool calling` is not supported with this model\",\"type\":\"invalid_request_error\"}}")},
		"Mistral":               {OpenAI, status(400, `{"message":"Function calling is not enabled for this model"}`)},
		"DeepSeek":              {OpenAI, status(400, `{"error":{"message":"deepseek-reasoner does not support Function Calling"}}`)},
		"Bedrock":               {OpenAI, status(400, `{"message":"This model doesn't support tool use in streaming mode."}`)},
		"LiteLLM":               {OpenAI, status(400, `{"error":{"message":"groq does not support parameters: ['tools'], for model=x"}}`)},
		"a FastAPI":             {OpenAI, status(422, `{"detail":[{"loc":["body","tools"],"msg":"Extra inputs are not permitted"}]}`)},
		"an error in the reply": {OpenAI, sse(`{"error":{"message":"tiny does not support tools","code":400}}`)},
	}
}

// A model that cannot call tools is not mute: it is asked without, from then on, and that is told once.
func TestModelWithoutTools(t *testing.T) {
	for name, c := range refusingTools() {
		t.Run(name, func(t *testing.T) {
			told := new(logtest.Log)
			f := newFake(t, c.answer, greets(c.api))
			client := f.client(c.api, func(cfg *Config) { cfg.Log, cfg.Retries = told.Logger(), 0 })
			req := ask()
			req.Tools = []Tool{wave()}
			for range 3 {
				if a, heard, err := generate(t, client, req); err != nil || heard != "Hello." || len(a.Calls) != 0 {
					t.Fatalf("%q, %+v, %v", heard, a, err)
				}
			}
			f.last(4)
			for i, r := range f.requests() {
				if offered := r.get("tools") != nil; offered != (i == 0) {
					t.Errorf("request %d: %s", i, r.raw)
				}
			}
			if warnings(told) != 1 || !strings.Contains(told.String(), "talk but do not act") {
				t.Errorf("it was told %d times: %s", warnings(told), told)
			}
		})
	}
}

// Many characters that find out at the same time tell it once as well.
func TestModelWithoutToolsIsToldOnce(t *testing.T) {
	told := new(logtest.Log)
	refuse := status(400, "tiny does not support tools")
	all := make(chan struct{})
	var first sync.WaitGroup
	first.Add(4)
	go func() { first.Wait(); close(all) }()
	together := func(w http.ResponseWriter, r *http.Request) { first.Done(); <-all; refuse(w, r) }
	f := newFake(t, together, together, together, together, greets(OpenAI))
	client := f.client(OpenAI, func(c *Config) { c.Log = told.Logger() })
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			req := ask()
			req.Tools = []Tool{wave()}
			if a, err := client.Generate(t.Context(), req, nil); err != nil || a.Text != "Hello." {
				t.Errorf("%+v, %v", a, err)
			}
		})
	}
	wg.Wait()
	if f.last(8); warnings(told) != 1 {
		t.Errorf("told %d times", warnings(told))
	}
}

// Refusals that speak of tools and do not mean that there are none.
func TestRefusalsThatLeaveTheTools(t *testing.T) {
	for _, said := range []string{
		"tool_choice required is not supported",
		`tool_choice: type "tool" and "any" are not supported for this model.`,
		"No endpoints found that support the provided 'tool_choice' value.",
		"This model does not support tool choice 'required'",
		"Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions. Please use /v1/responses instead.",
		"Unsupported parameter: 'parallel_tool_calls' is not supported with this model.",
		"Failed to call a function. Please adjust your prompt. (tool_use_failed)",
		"This model only supports single tool-calls at once!",
		"tools[0].function.parameters: schema is not supported",
		`model "toolless" not found, try pulling it first`,
		"context length exceeded",
	} {
		if lacksTools(strings.ToLower(said)) {
			t.Errorf("%q is taken for one that there are no tools", said)
		}
	}
	f := newFake(t, status(400, "Unsupported parameter: 'parallel_tool_calls' is not supported with this model."))
	req := ask()
	req.Tools = []Tool{wave()}
	_, _, err := generate(t, f.client(OpenAI, nil), req)
	wantErr(t, err, abi.CodeInvalid, "(400)")
	f.last(1)
}

// A 404 is about tools or about nothing that another request mends.
func TestNotFoundIsNotAdapted(t *testing.T) {
	f := newFake(t, status(404, `{"error":{"message":"model \"json_schema-temperature\" not found"}}`))
	req := voteRequest()
	_, _, err := generate(t, f.client(OpenAI, func(c *Config) { c.Temperature = ptr(1) }), req)
	wantErr(t, err, abi.CodeInvalid, "(404)")
	f.last(1)
}

// A request that is for tools alone is not made without them.
func TestNeedsTools(t *testing.T) {
	for name, c := range refusingTools() {
		told := new(logtest.Log)
		f := newFake(t, c.answer, greets(c.api))
		client := f.client(c.api, func(cfg *Config) { cfg.Log, cfg.Retries = told.Logger(), 0 })
		req := ask()
		req.Tools, req.NeedsTools = []Tool{wave()}, true
		a, _, err := generate(t, client, req)
		wantErr(t, err, abi.CodeUnavailable, "the model tiny cannot call tools")
		if f.last(1); a.Usage.Calls != 1 || warnings(told) != 1 {
			t.Errorf("%s: %+v, told %d times", name, a.Usage, warnings(told))
		}
		a, _, err = generate(t, client, req)
		wantErr(t, err, abi.CodeUnavailable, "the model tiny cannot call tools")
		if f.last(1); a.Usage.Calls != 0 {
			t.Errorf("%s: it was asked again: %+v", name, a.Usage)
		}
		req.NeedsTools = false
		if _, heard, err := generate(t, client, req); err != nil || heard != "Hello." || f.last(2).get("tools") != nil || warnings(told) != 1 {
			t.Errorf("%s: %q, %v", name, heard, err)
		}
		none := ask()
		none.NeedsTools = true
		if _, _, err := generate(t, client, none); err != nil {
			t.Errorf("%s: where there are no tools nothing is missing: %v", name, err)
		}
	}
	f := newFake(t, sse(`{"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"name":"wave"}}]},"finish_reason":"stop"}]}`))
	req := ask()
	req.Tools, req.NeedsTools = []Tool{wave()}, true
	if a, _, err := generate(t, f.client(OpenAI, nil), req); err != nil || len(a.Calls) != 1 {
		t.Errorf("a model that can: %+v, %v", a, err)
	}
}

// Calls from before are told in words, by the user.
func TestOldCallsWithoutTools(t *testing.T) {
	talk := []Message{{Role: RoleUser, Text: "hello"},
		{Role: RoleAssistant, Text: "Hi.", Calls: []ToolCall{{ID: "a", Name: "手を振る", Arguments: json.RawMessage(`{"hand":"left"}`)}, {ID: "b", Name: "nod", Arguments: json.RawMessage(`{}`)}}},
		{Role: RoleTool, CallID: "a", Text: "waved"}, {Role: RoleTool, CallID: "b", Text: "no neck", Failed: true},
		{Role: RoleAssistant, Calls: []ToolCall{{ID: "c", Name: "nod"}}}, {Role: RoleTool, CallID: "of nobody"}}
	const words = "(手を振る {\"hand\":\"left\"}: waved)\n(nod {}: failed: no neck)\n(done)"
	for api, paths := range map[string][3]string{
		OpenAI:    {"messages.0.content", "messages.1.content", "messages.2.content"},
		Anthropic: {"messages.0.content.0.text", "messages.1.content.0.text", "messages.2.content.0.text"},
	} {
		f := newFake(t, status(400, "tiny does not support tools"), greets(api))
		req := Request{Messages: talk} // no tools, and still it is refused
		if _, _, err := generate(t, f.client(api, nil), req); err != nil {
			t.Fatalf("%s: %v", api, err)
		}
		got := f.last(2)
		for i, want := range []string{"hello", "Hi.", words} {
			if v := got.get(paths[i]); v != want {
				t.Errorf("%s: %s is %q, want %q", api, paths[i], v, want)
			}
		}
		if got.get("messages.3") != nil || strings.Contains(got.raw, "tool") || got.get("messages.2.role") != "user" {
			t.Errorf("%s: asked %s", api, got.raw)
		}
	}
	only := Request{Messages: joined([]Message{{Role: RoleAssistant, Calls: []ToolCall{{ID: "a", Name: "nod"}}}})}
	if got := only.withoutTools().Messages; len(got) != 1 || got[0].Text != pausing {
		t.Errorf("of a call alone is left %+v", got)
	}
	if talk[1].Calls == nil || talk[2].Role != RoleTool {
		t.Error("the caller's talk was changed")
	}
}

// Where a structured answer is a forced tool, the schema is sent as one.
func TestStructuredWithoutTools(t *testing.T) {
	f := newFake(t, status(400, `{"type":"error","error":{"type":"invalid_request_error","message":"tiny does not support tools"}}`),
		claude("end_turn", textBlock(`{"state":"speak"}`)))
	client := f.client(Anthropic, nil)
	for range 2 {
		if a, _, err := generate(t, client, voteRequest()); err != nil || string(a.JSON) != `{"state":"speak"}` {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	if got := f.last(3); got.get("tools") != nil || got.get("output_config.format.type") != "json_schema" {
		t.Errorf("asked %s", got.raw)
	}
}

// A quirk that is learnt from a refusal is told once, as the line that keeps it; and a client that was
// told so from the beginning asks in that way at once.
func TestWithout(t *testing.T) {
	withTools := func(r *Request) { r.Tools = []Tool{wave()} }
	for _, c := range []struct {
		name, api, refusal string
		change             func(*Request)
		config             func(*Config)
		gone, there        string // paths of the request that is taken
	}{
		{"tools", OpenAI, "tiny does not support tools", withTools, nil, "tools", ""},
		{"tool_choice", Anthropic, "tool_choice any is not supported", func(r *Request) { *r = voteRequest() }, nil, "tool_choice", "output_config"},
		{"tools_while_thinking", OpenAI, "Function tools with reasoning_effort are not supported", withTools, nil, "", "reasoning_effort"},
		{"temperature", Anthropic, "temperature is deprecated for this model", nil, func(c *Config) { c.Temperature = ptr(1) }, "temperature", ""},
		{"effort", OpenAI, "unknown field reasoning_effort", nil, func(c *Config) { c.Effort = "low" }, "reasoning_effort", ""},
		{"stream_options", OpenAI, "extra field: stream_options", nil, nil, "stream_options", ""},
		{"max_tokens", OpenAI, "use max_completion_tokens instead", func(r *Request) { r.MaxTokens = 9 }, nil, "max_tokens", "max_completion_tokens"},
		{"cache_key", OpenAI, "Unrecognized request argument supplied: prompt_cache_key", func(r *Request) { r.CacheKey = "main" }, func(c *Config) { atOpenAI(c) }, "prompt_cache_key", ""},
		{"cache_key", Anthropic, "system.0.cache_control: Extra inputs are not permitted", func(r *Request) { r.System = "You are Aya." }, nil, "system.0", "system"},
		{"json_schema", OpenAI, "response_format json_schema is unknown", func(r *Request) { *r = voteRequest() }, nil, "response_format.json_schema", "response_format.type"},
		{"json_schema", Anthropic, "output_config is unknown", func(r *Request) { *r = voteRequest() }, func(c *Config) { c.Without = []string{"tool_choice"} }, "output_config", "system"},
		{"json_object", OpenAI, "response_format is unknown", func(r *Request) { *r = voteRequest() }, func(c *Config) { c.Without = []string{"json_schema"} }, "response_format", ""},
	} {
		t.Run(c.api+" "+c.name, func(t *testing.T) {
			answer := greets(c.api)
			req := ask()
			if c.change != nil {
				c.change(&req)
			}
			if req.Schema != nil {
				answer = says(`{"state":"speak"}`)
				if c.api == Anthropic {
					answer = claude("end_turn", textBlock(`{"state":"speak"}`))
				}
			}
			told := new(logtest.Log)
			var known []string
			f := newFake(t, status(400, c.refusal), answer)
			client := f.client(c.api, func(cfg *Config) {
				cfg.Log = told.Logger()
				if c.config != nil {
					c.config(cfg)
				}
				known = append(cfg.Without, c.name)
			})
			for range 3 {
				if _, _, err := generate(t, client, req); err != nil {
					t.Fatal(err)
				}
			}
			f.last(4)
			for _, name := range known {
				if n := strings.Count(told.String(), `write="without = [`); n != 1 || !strings.Contains(told.String(), "'"+name+"'") || !strings.Contains(told.String(), "into=[model.main]") {
					t.Errorf("told %d times: %s", n, told.String())
				}
			}
			fresh := newFake(t, answer)
			client = fresh.client(c.api, func(cfg *Config) {
				if c.config != nil {
					c.config(cfg)
				}
				cfg.Log, cfg.Without = told.Logger(), known
			})
			before := told.String()
			if _, _, err := generate(t, client, req); err != nil || told.String() != before {
				t.Errorf("%v, told %s", err, strings.TrimPrefix(told.String(), before))
			}
			if got := fresh.last(1); c.gone != "" && got.get(c.gone) != nil || c.there != "" && got.get(c.there) == nil || got.raw != f.last(4).raw {
				t.Errorf("asked %s", got.raw)
			}
		})
	}
}
