package model

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model/shape"
	"github.com/companiond/companiond/host/model/stream"
	"github.com/companiond/companiond/host/model/wire"
)

// adapter is an API: what it has of its own.
type adapter interface {
	// sign puts the key, and what else the API demands, into the header.
	sign(h http.Header, key string)
	// tool describes a tool. described has its name, and its description where there is one.
	tool(described object, parameters json.RawMessage) object
	// fill writes the talk, and what is said in a way of the API's own. way is how the structured answer
	// is asked for, "" where none is.
	fill(out *body, req Request, way string, q quirks)
	// event takes an event of an answer into a turn, and says whether it was the last. Its error is a
	// *wire.Failure, or what the listener said.
	event(ev stream.Event, t *turn) (last bool, err error)
}

// body is a request of either API.
type body struct {
	Model         string   `json:"model"`
	System        any      `json:"system,omitempty"`
	Messages      []object `json:"messages"`
	Tools         []object `json:"tools,omitempty"`
	Choice        any      `json:"tool_choice,omitempty"`
	Stream        bool     `json:"stream"`
	StreamOptions object   `json:"stream_options,omitempty"`
	MaxTokens     int      `json:"max_tokens,omitempty"`
	NewLimit      int      `json:"max_completion_tokens,omitempty"` // MaxTokens under the name that OpenAI's newest models know alone
	Temperature   *float64 `json:"temperature,omitempty"`
	Effort        string   `json:"reasoning_effort,omitempty"`
	Format        object   `json:"response_format,omitempty"`
	Output        object   `json:"output_config,omitempty"`
	CacheKey      string   `json:"prompt_cache_key,omitempty"`

	system string // the system prompt, which each API has in a place of its own
}

// object is a JSON object that is written and never read.
type object map[string]any

// body writes a request.
func (e *endpoint) body(req Request, q quirks) []byte {
	out := body{Model: e.cfg.Model, system: req.System, Stream: true, MaxTokens: req.MaxTokens}
	if !q.has(noTemperature) {
		out.Temperature = req.temperature
	}
	for _, t := range req.Tools {
		described := object{"name": shape.Name(t.Name)}
		if words := t.described(); words != "" {
			described["description"] = words
		}
		parameters, _ := shape.Parameters(t.Schema) // a request with a tool that has none was refused
		out.Tools = append(out.Tools, e.api.tool(described, parameters))
	}
	way := ""
	if req.Schema != nil {
		way, _ = e.way(q)
	}
	if way == StructuredObject || way == StructuredPrompt {
		out.system = req.withInstruction()
	}
	e.api.fill(&out, req, way, q)
	raw, _ := json.Marshal(out) // what is raw JSON in it was looked at
	return raw
}

// turn is what came in answer to one request.
type turn struct {
	key   string // it was asked with; never shown
	text  *stream.Text
	calls stream.Calls
	stop  string // in the words of Answer.Stop; "" when the endpoint did not say
	ended bool   // the endpoint said that it was done

	thought   strings.Builder // what a model thought beside its text
	reasoning strings.Builder // the same, under the name under which it is never wanted back
	blocks    []answerBlock   // the same, at an API that wants it back as it came

	in, out, cached int // tokens; 0: the endpoint did not say
	reasoned        int // the part of out that was thought
}

func (t *turn) add(part stream.Part) error {
	if !t.calls.Add(part) {
		return wire.Failed(abi.CodeTooLarge, false, nil, "the model calls more than %d tools at once", stream.MaxCalls)
	}
	return nil
}

// used takes what an event says of tokens. A later one repeats what is known by then, or says nothing.
func (t *turn) used(in, out, cached int) {
	t.in, t.out, t.cached = max(t.in, in), max(t.out, out), max(t.cached, cached)
}

// stopped takes the reason that an API gives for the end of an answer.
func (t *turn) stopped(reason string) {
	t.ended = true
	switch reason {
	case "length", "max_tokens", "model_context_window_exceeded":
		t.stop = StopLength
	case "tool_calls", "function_call", "tool_use":
		t.stop = StopTools
	case "content_filter", "refusal":
		t.stop = StopRefused
	default:
		t.stop = StopEnd
	}
}
