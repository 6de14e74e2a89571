package model

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/companiond/companiond/host/model/shape"
	"github.com/companiond/companiond/host/model/stream"
	"github.com/companiond/companiond/host/model/wire"
)

// chatAPI is OpenAI's chat completions, as OpenAI and the servers that copy it speak it.
type chatAPI struct{}

func (chatAPI) sign(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

func (chatAPI) tool(described object, parameters json.RawMessage) object {
	described["parameters"] = parameters
	return object{"type": "function", "function": described}
}

func (chatAPI) fill(out *body, req Request, way string, q quirks) {
	if !q.has(noUsage) {
		out.StreamOptions = object{"include_usage": true}
	}
	if q.has(newLimit) {
		out.MaxTokens, out.NewLimit = 0, out.MaxTokens
	}
	if req.NoCalls && hasTools(req) {
		out.Choice = "none"
	}
	out.Effort = req.effort
	switch way {
	case StructuredSchema:
		out.Format = object{"type": way, "json_schema": object{"name": req.SchemaName, "schema": req.Schema, "strict": shape.Strict(req.Schema)}}
	case StructuredObject:
		out.Format = object{"type": way}
	}
	if req.CacheKey != "" && !q.has(noCacheKey) {
		out.CacheKey = shape.Name(req.CacheKey)
	}
	if out.system != "" {
		out.Messages = append(out.Messages, object{"role": "system", "content": out.system})
	}
	for _, m := range req.Messages {
		out.Messages = append(out.Messages, chatMessage(m))
	}
}

func chatMessage(m Message) object {
	out := object{"role": m.Role}
	if m.Text != "" {
		out["content"] = m.Text
	}
	switch {
	case m.Role == RoleTool:
		out["tool_call_id"], out["content"] = m.CallID, m.outcome()
	case len(m.Calls) > 0:
		if thought := m.Calls[0].thought.text; thought != "" {
			out["reasoning_content"] = thought
		}
		var calls []object
		for _, c := range m.Calls {
			calls = append(calls, object{"id": c.ID, "type": "function",
				"function": object{"name": shape.Name(c.Name), "arguments": string(shape.Arguments(c.Arguments))}})
		}
		out["tool_calls"] = calls
	case len(m.Images) > 0:
		var parts []object
		if m.Text != "" {
			parts = append(parts, object{"type": "text", "text": m.Text})
		}
		for _, im := range m.Images {
			address := "data:" + im.MediaType + ";base64," + base64.StdEncoding.EncodeToString(im.Data)
			parts = append(parts, object{"type": "image_url", "image_url": object{"url": address}})
		}
		out["content"] = parts
	}
	return out
}

// outcome is what a model is told of a call. It is never empty: some servers refuse that.
func (m Message) outcome() string {
	switch {
	case m.Failed && m.Text == "":
		return "failed"
	case m.Failed:
		return "failed: " + m.Text
	case m.Text == "":
		return "done"
	}
	return m.Text
}

// chunk is what this API streams, and, with Message in place of Delta, its whole answer.
type chunk struct {
	Choices []struct {
		Index          int
		Delta, Message *chatPart
		FinishReason   stream.Phrase `json:"finish_reason"`
	}
	Usage struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
		Details          struct {
			CachedTokens int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		CacheHit int `json:"prompt_cache_hit_tokens"` // DeepSeek's name for it
		Spent    struct {
			Reasoning int `json:"reasoning_tokens"` // all that OpenAI shows of its models' thoughts
		} `json:"completion_tokens_details"`
	}
	Object stream.Phrase // "error" when old vLLM means the whole to be one
	Error  json.RawMessage
}

type chatPart struct {
	Content   stream.Phrase
	Refusal   stream.Phrase
	Thought   stream.Phrase    `json:"reasoning_content"`
	Reasoning stream.Phrase    // Ollama's and OpenRouter's name for it; it is never wanted back
	ToolCalls []stream.Part    `json:"tool_calls"`
	Function  *stream.Function `json:"function_call"` // what tool_calls were before
}

func (chatAPI) event(ev stream.Event, t *turn) (bool, error) {
	if strings.TrimSpace(string(ev.Data)) == stream.Done {
		t.ended = true
		return true, nil
	}
	var c chunk
	if err := json.Unmarshal(ev.Data, &c); err != nil {
		return false, wire.Unread(ev, err)
	}
	if (len(c.Error) > 0 && string(c.Error) != "null") || c.Object == "error" || ev.Name == "error" {
		return false, wire.Streamed(ev.Data, t.key)
	}
	t.used(c.Usage.PromptTokens, c.Usage.CompletionTokens, max(c.Usage.CacheHit, c.Usage.Details.CachedTokens))
	t.reasoned = max(t.reasoned, c.Usage.Spent.Reasoning)
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // we ask for one
		}
		part := choice.Delta
		if choice.Message != nil {
			part, t.ended = choice.Message, true
		}
		if part != nil {
			if err := part.take(t); err != nil {
				return false, err
			}
		}
		if choice.FinishReason != "" {
			t.stopped(string(choice.FinishReason))
		}
	}
	return false, nil
}

func (p *chatPart) take(t *turn) error {
	t.thought.WriteString(string(p.Thought))
	t.reasoning.WriteString(string(p.Reasoning))
	parts := p.ToolCalls
	if p.Function != nil {
		parts = append(parts, stream.Part{Function: *p.Function})
	}
	for _, part := range parts {
		if err := t.add(part); err != nil {
			return err
		}
	}
	return t.text.Write(string(p.Content) + string(p.Refusal))
}
