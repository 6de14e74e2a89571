package model

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model/stream"
)

// chatAPI is OpenAI's chat completions, as OpenAI and the servers that copy it speak it. Requests
// are go-openai's types; sending and reading are our own, see post: go-openai's reader cannot tell a
// stream that broke off from one that ended, skips errors it does not recognise, refuses by itself
// what it thinks a model cannot do, and gives up on fields that some servers write otherwise.
type chatAPI struct {
	model    string
	thoughts *thoughts
}

func (a *chatAPI) sign(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

// chatRequest has two fields in place of go-openai's: a temperature that may be 0, which theirs leaves
// out, and the limit under the name that all but OpenAI's newest models know.
type chatRequest struct {
	openai.ChatCompletionRequest
	MaxTokens   int      `json:"max_tokens,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
}

func (a *chatAPI) body(req Request, as how, q quirks) ([]byte, error) {
	out := chatRequest{ChatCompletionRequest: openai.ChatCompletionRequest{Model: a.model, Stream: true, ReasoningEffort: req.effort}}
	if !q.noUsage {
		out.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	if !q.noTemperature {
		out.Temperature = req.Temperature
	}
	if q.newLimit {
		out.MaxCompletionTokens = req.MaxTokens
	} else {
		out.MaxTokens = req.MaxTokens
	}
	system := req.System
	if req.Schema != nil {
		if as == bySchema {
			out.ResponseFormat = &openai.ChatCompletionResponseFormat{
				Type: openai.ChatCompletionResponseFormatTypeJSONSchema,
				JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{
					Name: req.SchemaName, Schema: req.Schema, Strict: strict(req.Schema)},
			}
		} else {
			system = req.withInstruction()
		}
		if as == byObject {
			out.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
		}
	}
	if system != "" {
		out.Messages = append(out.Messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleSystem, Content: system})
	}
	for _, m := range req.Messages {
		out.Messages = append(out.Messages, a.message(m))
	}
	for _, t := range req.Tools {
		parameters, err := t.parameters()
		if err != nil {
			return nil, abi.Errorf(abi.CodeInvalid, "tools: %s: %w", t.Name, err)
		}
		out.Tools = append(out.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: wireName(t.Name), Description: t.described(), Parameters: parameters}})
	}
	if len(req.Tools) > 0 && req.ToolChoice != "" && !(q.noForce && req.ToolChoice == "required") {
		out.ToolChoice = req.ToolChoice
	}
	body, err := json.Marshal(out)
	if err != nil {
		return nil, abi.Errorf(abi.CodeInvalid, "request: cannot be written: %w", err)
	}
	return body, nil
}

func (a *chatAPI) message(m Message) openai.ChatCompletionMessage {
	out := openai.ChatCompletionMessage{Role: string(m.Role), Content: m.Text}
	switch m.Role {
	case RoleTool:
		out.ToolCallID = m.CallID
		out.Content = m.outcome()
	case RoleAssistant:
		out.ReasoningContent = a.thoughts.before(m).text
		for _, c := range m.Calls {
			out.ToolCalls = append(out.ToolCalls, openai.ToolCall{ID: c.ID, Type: openai.ToolTypeFunction,
				Function: openai.FunctionCall{Name: wireName(c.Name), Arguments: string(sendable(c.Arguments))}})
		}
	case RoleUser:
		if len(m.Images) == 0 {
			break
		}
		out.Content = ""
		if m.Text != "" {
			out.MultiContent = append(out.MultiContent, openai.ChatMessagePart{Type: openai.ChatMessagePartTypeText, Text: m.Text})
		}
		for _, im := range m.Images {
			out.MultiContent = append(out.MultiContent, openai.ChatMessagePart{Type: openai.ChatMessagePartTypeImageURL,
				ImageURL: &openai.ChatMessageImageURL{URL: "data:" + im.mediaType() + ";base64," + base64.StdEncoding.EncodeToString(im.Data)}})
		}
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
	Usage *struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
		Details          *struct {
			CachedTokens int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		CacheHit int `json:"prompt_cache_hit_tokens"` // DeepSeek's name for it
		Spent    *struct {
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

func (a *chatAPI) event(ev stream.Event, t *turn) (bool, error) {
	if strings.TrimSpace(string(ev.Data)) == stream.Done {
		t.ended = true
		return true, nil
	}
	var c chunk
	if err := json.Unmarshal(ev.Data, &c); err != nil {
		return false, unread(ev, err)
	}
	if (len(c.Error) > 0 && string(c.Error) != "null") || c.Object == "error" || ev.Name == "error" {
		return false, streamed(ev.Data, t)
	}
	if u := c.Usage; u != nil {
		t.in, t.out, t.cached = u.PromptTokens, u.CompletionTokens, u.CacheHit
		if u.Details != nil {
			t.cached = max(t.cached, u.Details.CachedTokens)
		}
		if u.Spent != nil {
			t.reasoned = u.Spent.Reasoning
		}
	}
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
			t.stop, t.ended = chatStop(string(choice.FinishReason)), true
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
		if !t.calls.Add(part) {
			return tooManyCalls()
		}
	}
	return t.text.Write(string(p.Content) + string(p.Refusal))
}

func tooManyCalls() *failure {
	return failed(abi.CodeTooLarge, false, nil, "the model calls more than %d tools at once", stream.MaxCalls)
}

func chatStop(reason string) string {
	switch reason {
	case "length":
		return StopLength
	case "tool_calls", "function_call":
		return StopTools
	case "content_filter":
		return StopRefused
	}
	return StopEnd
}

// streamed reads an error that comes within a stream. Some servers give it the HTTP status that it
// would have been.
func streamed(data []byte, t *turn) *failure {
	var shape struct{ Error json.RawMessage }
	var inner struct {
		Code any
		Type string
	}
	_ = json.Unmarshal(data, &shape) // what has another shape has no code
	if len(shape.Error) == 0 {
		shape.Error = data
	}
	_ = json.Unmarshal(shape.Error, &inner)
	status := http.StatusBadGateway
	if n, ok := inner.Code.(float64); ok && n >= 400 && n < 600 {
		status = int(n)
	} else if n, known := statusOf(inner.Type); known {
		status = n
	}
	return refusal(status, stream.Scrub(complaint(data), t.key), 0)
}

// statusOf gives the HTTP status that an API's name for an error stands for.
func statusOf(kind string) (int, bool) {
	switch kind {
	case "invalid_request_error":
		return http.StatusBadRequest, true
	case "authentication_error":
		return http.StatusUnauthorized, true
	case "permission_error":
		return http.StatusForbidden, true
	case "billing_error":
		return http.StatusPaymentRequired, true
	case "not_found_error":
		return http.StatusNotFound, true
	case "request_too_large":
		return http.StatusRequestEntityTooLarge, true
	case "rate_limit_error":
		return http.StatusTooManyRequests, true
	case "timeout_error":
		return http.StatusRequestTimeout, true
	case "overloaded_error":
		return 529, true
	}
	return 0, false
}
