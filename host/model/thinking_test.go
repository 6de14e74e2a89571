package model

import (
	"net/http"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model/tokens"
)

// reasoned is a piece of a thought as a server streams it under one of its names.
func reasoned(key, thought string) string {
	return `{"choices":[{"index":0,"delta":{"role":"assistant","content":"","` + key + `":` + jsonString(thought) + `},"finish_reason":null}]}`
}

// Thoughts are counted where the endpoint does not, under each name, once, and never spoken.
func TestThoughtsAreCounted(t *testing.T) {
	const thought = "She said hello, so a greeting is due."
	want := new(tokens.Meter).Tokens(tokens.Of(thought).Plus(tokens.Of("Hi.")))
	for name, events := range map[string][]string{
		"reasoning":         {reasoned("reasoning", thought), textChunk("Hi.")},
		"reasoning_content": {reasoned("reasoning_content", thought), textChunk("Hi.")},
		"both":              {`{"choices":[{"index":0,"delta":{"reasoning":"` + thought + `","reasoning_content":"` + thought + `"}}]}`, textChunk("Hi.")},
		"tags":              {textChunk("<thi"), textChunk("nk>" + thought[:9]), textChunk(thought[9:] + "</th"), textChunk("ink>\n\nHi.")},
		"whole":             {`{"choices":[{"index":0,"message":{"content":"Hi.","reasoning":"` + thought + `"},"finish_reason":"stop"}]}`},
	} {
		a, heard, err := generate(t, newFake(t, sse(append(events, finish("stop"))...)).client(OpenAI, nil), ask())
		if err != nil || heard != "Hi." || a.Usage.Out != want || !a.Usage.Estimated {
			t.Errorf("%s: heard %q, %+v, %v", name, heard, a, err)
		}
	}
}

// Thoughts under a name that is not wanted back do not go back.
func TestReasoningIsNotSentBack(t *testing.T) {
	f := newFake(t, sse(reasoned("reasoning", "I wave."), `{"choices":[{"index":0,"delta":{"tool_calls":[{"id":"c","function":{"name":"wave"}}]},"finish_reason":"tool_calls"}]}`), says("Done."))
	client := f.client(OpenAI, nil)
	req := ask()
	req.Tools = []Tool{wave()}
	a, _, err := generate(t, client, req)
	if err != nil || len(a.Calls) != 1 {
		t.Fatalf("%+v, %v", a, err)
	}
	req.Messages = append(req.Messages, Message{Role: RoleAssistant, Calls: a.Calls}, Message{Role: RoleTool, CallID: "c", Text: "waved"})
	if _, _, err := generate(t, client, req); err != nil || strings.Contains(f.last(2).raw, "I wave.") {
		t.Errorf("%v, asked %s", err, f.last(2).raw)
	}
}

// cutOff are answers in which thoughts took all the room.
func cutOff() map[string]struct {
	api    string
	answer http.HandlerFunc
} {
	thinkBlock := []string{`{"type":"thinking","thinking":""}`, `{"type":"thinking_delta","thinking":"Hm."}`}
	return map[string]struct {
		api    string
		answer http.HandlerFunc
	}{
		"Ollama":    {OpenAI, sse(reasoned("reasoning", "Hm."), finish("length"), "[DONE]")},
		"DeepSeek":  {OpenAI, sse(reasoned("reasoning_content", "Hm."), finish("length"), "[DONE]")},
		"tags":      {OpenAI, sse(textChunk("<think>Hm"), finish("length"), "[DONE]")},
		"OpenAI":    {OpenAI, sse(finish("length"), `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":200,"completion_tokens_details":{"reasoning_tokens":200}}}`, "[DONE]")},
		"Anthropic": {Anthropic, claude("max_tokens", thinkBlock)},
	}
}

// A model whose thoughts took the limit is asked once more with room for them, and with that room
// from then on.
func TestRoomForThoughts(t *testing.T) {
	for name, c := range cutOff() {
		f := newFake(t, c.answer, greets(c.api))
		client := f.client(c.api, func(cfg *Config) { cfg.MaxTokens = 1024 })
		req := ask()
		req.MaxTokens = 200
		a, heard, err := generate(t, client, req)
		if err != nil || heard != "Hello." || a.Stop != StopEnd || a.Usage.Calls != 2 {
			t.Fatalf("%s: heard %q, %+v, %v", name, heard, a, err)
		}
		req.MaxTokens = 2000
		if _, _, err := generate(t, client, req); err != nil {
			t.Fatal(err)
		}
		f.last(3)
		for i, want := range []float64{200, 1024 + thinkingRoom, 2000 + thinkingRoom} {
			if got := f.requests()[i].get("max_tokens"); got != want {
				t.Errorf("%s: request %d has the limit %v, want %v", name, i, got, want)
			}
		}
	}
}

// A vote that was cut off while the model thought is asked for again, and not called wrong.
func TestRoomForThoughtsOfAVote(t *testing.T) {
	f := newFake(t, sse(reasoned("reasoning", "Hm."), finish("length")), says(`{"state":"speak"}`))
	client := f.client(OpenAI, nil)
	req := voteRequest()
	req.MaxTokens = 200
	for range 2 {
		if a, _, err := generate(t, client, req); err != nil || string(a.JSON) != `{"state":"speak"}` {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	got := f.last(3)
	if second := f.requests()[1]; second.get("messages.2") != nil || strings.Contains(second.raw, "cannot be used") || second.get("max_tokens") != 200.0+thinkingRoom {
		t.Errorf("asked %s", second.raw)
	}
	if got.get("max_tokens") != 200.0+thinkingRoom {
		t.Errorf("asked %s", got.raw)
	}
}

// A vote that thoughts left half of its room to is mended, with room.
func TestRoomForThoughtsOfHalfAVote(t *testing.T) {
	f := newFake(t, sse(reasoned("reasoning", "Hm."), textChunk(`{"state":`), finish("length")), says(`{"state":"speak"}`))
	req := voteRequest()
	req.MaxTokens = 200
	if a, _, err := generate(t, f.client(OpenAI, nil), req); err != nil || string(a.JSON) != `{"state":"speak"}` {
		t.Fatalf("%+v, %v", a, err)
	}
	if got := f.last(2); got.get("max_tokens") != 200.0*moreTokens+thinkingRoom || !strings.Contains(got.raw, "too long and was cut off") {
		t.Errorf("asked %s", got.raw)
	}
}

// Where somebody heard something, or nobody thought, or there is no limit to lift, or the room was
// there, the answer stays what it is.
func TestNoMoreRoom(t *testing.T) {
	starved := sse(reasoned("reasoning", "Hm."), finish("length"))
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		limit  int
		heard  string
		calls  int
	}{
		"heard":      {sse(reasoned("reasoning", "Hm."), textChunk("Hel"), finish("length")), 200, "Hel", 1},
		"a space":    {sse(reasoned("reasoning", "Hm."), textChunk("\n"), finish("length")), 200, "\n", 1},
		"no thought": {sse(textChunk(""), finish("length")), 200, "", 1},
		"no limit":   {starved, 0, "", 1},
		"done":       {sse(reasoned("reasoning", "Hm."), finish("stop")), 200, "", 1},
		"a call":     {sse(reasoned("reasoning", "Hm."), `{"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"name":"wave"}}]}}]}`, finish("length")), 200, "", 1},
		"in vain":    {starved, 200, "", 2},
	} {
		f := newFake(t, c.answer)
		req := ask()
		req.MaxTokens, req.Tools = c.limit, []Tool{wave()}
		if _, heard, err := generate(t, f.client(OpenAI, nil), req); err != nil || heard != c.heard || len(f.requests()) != c.calls {
			t.Errorf("%s: heard %q in %d requests, %v", name, heard, len(f.requests()), err)
		}
	}
}

// An endpoint that has not that much room is asked for less, and another time again for all of it.
func TestRoomThatIsRefused(t *testing.T) {
	starved := sse(reasoned("reasoning", "Hm."), finish("length"))
	full := status(400, `{"object":"error","message":"'max_tokens' or 'max_completion_tokens' is too large: 4296. This model's maximum context length is 4096 tokens","code":400}`)
	f := newFake(t, starved, full, says("Hello."))
	client := f.client(OpenAI, nil)
	req := ask()
	req.MaxTokens = 200
	for range 2 {
		if _, heard, err := generate(t, client, req); err != nil || heard != "Hello." {
			t.Fatalf("heard %q, %v", heard, err)
		}
	}
	f.last(4)
	for i, want := range []float64{200, 200 + thinkingRoom, 200, 200 + thinkingRoom} {
		if got := f.requests()[i].get("max_tokens"); got != want {
			t.Errorf("request %d has the limit %v, want %v", i, got, want)
		}
	}
}

// A thought that is not opened and does not end is not spoken when it is cut off.
func TestThoughtThatIsCutOff(t *testing.T) {
	f := newFake(t, sse(textChunk("He greets.</think>Hello."), finish("stop")),
		sse(textChunk("He greets"), finish("length")), sse(textChunk("He greets.</think>Hello."), finish("stop")))
	client := f.client(OpenAI, nil)
	req := ask()
	req.MaxTokens = 200
	for range 2 {
		if _, heard, err := generate(t, client, req); err != nil || heard != "Hello." {
			t.Fatalf("heard %q, %v", heard, err)
		}
	}
	if got := f.last(3); got.get("max_tokens") != 200.0+thinkingRoom {
		t.Errorf("asked %s", got.raw)
	}
}

func TestEffort(t *testing.T) {
	for _, effort := range []string{"", "none", "low", "medium", "high"} {
		for _, api := range []string{OpenAI, Anthropic} {
			f := newFake(t, greets(api))
			if _, _, err := generate(t, f.client(api, func(c *Config) { c.Effort = effort }), ask()); err != nil {
				t.Fatal(err)
			}
			got, _ := f.last(1).get("reasoning_effort").(string)
			if want := map[string]string{OpenAI: effort}[api]; got != want || strings.Contains(f.last(1).raw, "effort") != (want != "") {
				t.Errorf("%s %q: asked %s", api, effort, f.last(1).raw)
			}
		}
	}
}

// An endpoint that refuses the effort is asked without, from then on.
func TestEffortThatIsRefused(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"OpenAI":           status(400, `{"error":{"message":"Unsupported parameter: 'reasoning_effort' is not supported with this model.","param":"reasoning_effort"}}`),
		"Groq":             status(400, "{\"error\":{\"message\":\"`reasoning_effort` must be one of `none` or `default`\"}}"),
		"vLLM":             status(422, `{"detail":[{"loc":["body","reasoning_effort"],"msg":"Input should be 'low', 'medium' or 'high'"}]}`),
		"Ollama":           status(400, `{"error":{"message":"\"gemma3:4b\" does not support thinking","type":"api_error"}}`),
		"Ollama, of words": status(400, `{"error":{"message":"think value \"low\" is not supported for this model","type":"api_error"}}`),
		"OpenRouter":       status(400, `{"error":{"message":"Reasoning is mandatory for this endpoint and cannot be disabled.","code":400}}`),
		"xAI":              status(400, `{"code":"invalid-argument","error":"Model grok-4 does not support parameter reasoningEffort."}`),
	} {
		f := newFake(t, answer, says("Hello."))
		client := f.client(OpenAI, func(c *Config) { c.Effort = "low" })
		for range 2 {
			if _, heard, err := generate(t, client, ask()); err != nil || heard != "Hello." {
				t.Fatalf("%s: heard %q, %v", name, heard, err)
			}
		}
		f.last(3)
		for i, r := range f.requests() {
			if sent := r.get("reasoning_effort") != nil; sent != (i == 0) {
				t.Errorf("%s: request %d is %s", name, i, r.raw)
			}
		}
	}
	f := newFake(t, status(400, "reasoning_effort is wrong"))
	_, _, err := generate(t, f.client(OpenAI, nil), ask())
	wantErr(t, err, abi.CodeInvalid, "reasoning_effort")
	f.last(1) // there was none to leave out
	f = newFake(t, status(400, `{"error":{"message":"qwen3:4b-thinking does not support tools"}}`), says("Hello."))
	req := ask()
	req.Tools = []Tool{wave()}
	if _, _, err := generate(t, f.client(OpenAI, func(c *Config) { c.Effort = "low" }), req); err != nil || f.last(2).get("reasoning_effort") != "low" {
		t.Errorf("a model's name is taken for a refusal of the effort: %v, asked %s", err, f.last(2).raw)
	}
	f = newFake(t, status(400, `{"type":"error","error":{"type":"invalid_request_error","message":"tiny does not support thinking"}}`))
	_, _, err = generate(t, f.client(Anthropic, func(c *Config) { c.Effort = "low" }), ask())
	wantErr(t, err, abi.CodeInvalid, "thinking")
	f.last(1) // nor here, where it is not sent
}

// Some of OpenAI's models call tools only when they are told not to think, and think by themselves.
func TestToolsWithoutThoughts(t *testing.T) {
	refusal := status(400, `{"error":{"message":"Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.","param":"reasoning_effort"}}`)
	for _, effort := range []string{"", "high"} {
		f := newFake(t, refusal, says("Hello."))
		client := f.client(OpenAI, func(c *Config) { c.Effort = effort })
		req := ask()
		req.Tools = []Tool{wave()}
		for range 2 {
			if _, heard, err := generate(t, client, req); err != nil || heard != "Hello." {
				t.Fatalf("heard %q, %v", heard, err)
			}
		}
		if got := f.last(3); got.get("reasoning_effort") != "none" || got.get("tools") == nil {
			t.Errorf("asked %s", got.raw)
		}
		if _, _, err := generate(t, client, ask()); err != nil {
			t.Fatal(err)
		}
		if got, _ := f.last(4).get("reasoning_effort").(string); got != effort {
			t.Errorf("without tools the effort is %q, want %q", got, effort)
		}
	}
}
