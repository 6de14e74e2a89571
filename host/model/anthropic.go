package model

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model/stream"
)

// messagesAPI is Anthropic's Messages.
type messagesAPI struct {
	model    string
	thoughts *thoughts
}

func (a *messagesAPI) sign(h http.Header, key string) {
	h.Set("Anthropic-Version", "2023-06-01")
	if key != "" {
		h.Set("X-Api-Key", key)
	}
}

type messagesRequest struct {
	Model       string          `json:"model"`
	MaxTokens   int             `json:"max_tokens"`
	System      string          `json:"system,omitempty"`
	Messages    []blocksMessage `json:"messages"`
	Tools       []messagesTool  `json:"tools,omitempty"`
	Choice      *messagesChoice `json:"tool_choice,omitempty"`
	Output      *messagesOutput `json:"output_config,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	Stream      bool            `json:"stream"`
}

type blocksMessage struct {
	Role    string `json:"role"`
	Content []any  `json:"content"` // blocks; json.RawMessage for those that go back as they came
}

// block is a part of a message. Which fields it has is up to its type.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Source    *source         `json:"source,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"` // encoding/json writes base64
}

type messagesTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type messagesChoice struct {
	Type string `json:"type"`
	Name string `json:"name,omitempty"`
}

type messagesOutput struct {
	Format messagesFormat `json:"format"`
}

type messagesFormat struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

func (a *messagesAPI) body(req Request, as how, q quirks) ([]byte, error) {
	out := messagesRequest{Model: a.model, MaxTokens: req.MaxTokens, System: req.System, Stream: true, Messages: a.messages(req.Messages)}
	if out.MaxTokens == 0 {
		out.MaxTokens = defaultMaxTokens
	}
	if req.Temperature != nil && !q.noTemperature {
		t := min(*req.Temperature, 1) // its scale ends there
		out.Temperature = &t
	}
	for _, t := range req.Tools {
		parameters, err := t.parameters()
		if err != nil {
			return nil, abi.Errorf(abi.CodeInvalid, "tools: %s: %w", t.Name, err)
		}
		out.Tools = append(out.Tools, messagesTool{Name: wireName(t.Name), Description: t.described(), InputSchema: parameters})
	}
	switch {
	case len(req.Tools) == 0:
	case req.ToolChoice == "required" && !q.noForce:
		out.Choice = &messagesChoice{Type: "any"}
	case req.ToolChoice == "none":
		out.Choice = &messagesChoice{Type: "none"}
	}
	if req.Schema != nil {
		switch as {
		case byTool:
			out.Tools = []messagesTool{{Name: req.SchemaName, Description: "Give the answer.", InputSchema: req.Schema}}
			out.Choice = &messagesChoice{Type: "tool", Name: req.SchemaName}
		case bySchema:
			out.Output = &messagesOutput{messagesFormat{Type: "json_schema", Schema: req.Schema}}
		default:
			out.System = req.withInstruction()
		}
	}
	body, err := json.Marshal(out)
	if err != nil {
		return nil, abi.Errorf(abi.CodeInvalid, "request: cannot be written: %w", err)
	}
	return body, nil
}

// messages writes the talk. What came of tools is a user's message to this API, that of all calls of
// one answer together, with what a user said next.
func (a *messagesAPI) messages(all []Message) []blocksMessage {
	var out []blocksMessage
	for _, m := range all {
		role := "user"
		if m.Role == RoleAssistant {
			role = "assistant"
		}
		if n := len(out); n == 0 || out[n-1].Role != role {
			out = append(out, blocksMessage{Role: role})
		}
		to := &out[len(out)-1].Content
		if m.Role == RoleTool {
			*to = append(*to, block{Type: "tool_result", ToolUseID: m.CallID, Content: m.Text, IsError: m.Failed})
			continue
		}
		for _, b := range a.thoughts.before(m).blocks {
			*to = append(*to, b)
		}
		for _, im := range m.Images {
			*to = append(*to, block{Type: "image", Source: &source{Type: "base64", MediaType: im.mediaType(), Data: im.Data}})
		}
		if strings.TrimSpace(m.Text) != "" { // a block of mere space is refused
			*to = append(*to, block{Type: "text", Text: m.Text})
		}
		for _, c := range m.Calls {
			*to = append(*to, block{Type: "tool_use", ID: c.ID, Name: wireName(c.Name), Input: sendable(c.Arguments)})
		}
	}
	return out
}

// messagesEvent is what this API streams, and, of type message, its whole answer.
type messagesEvent struct {
	Type    string
	Index   int
	Message *struct{ Usage *messagesUsage }
	Block   *answerBlock `json:"content_block"`
	Delta   *struct {
		Type       string
		Text       string
		JSON       string `json:"partial_json"`
		Thinking   string
		Signature  string
		StopReason string `json:"stop_reason"`
	}
	Usage      *messagesUsage
	Content    []answerBlock
	StopReason string `json:"stop_reason"`
}

type answerBlock struct {
	Type, ID, Name, Text      string
	Input                     json.RawMessage
	Thinking, Signature, Data string
}

type messagesUsage struct {
	In     int `json:"input_tokens"`
	Out    int `json:"output_tokens"`
	Read   int `json:"cache_read_input_tokens"`
	Writes int `json:"cache_creation_input_tokens"`
}

func (a *messagesAPI) event(ev stream.Event, t *turn) (bool, error) {
	var m messagesEvent
	if err := json.Unmarshal(ev.Data, &m); err != nil {
		return false, unread(ev, err)
	}
	switch m.Type {
	case "error":
		return false, streamed(ev.Data, t)
	case "message_start":
		if m.Message != nil {
			m.Message.Usage.take(t)
		}
	case "content_block_start":
		if m.Block != nil {
			return false, m.Block.take(m.Index, t)
		}
	case "content_block_delta":
		return false, m.delta(t)
	case "message_delta":
		m.Usage.take(t)
		if m.Delta != nil && m.Delta.StopReason != "" {
			t.stop, t.ended = messagesStop(m.Delta.StopReason), true
		}
	case "message_stop":
		t.ended = true
		return true, nil
	case "message":
		m.Usage.take(t)
		for i, b := range m.Content {
			if err := b.take(i, t); err != nil {
				return false, err
			}
		}
		t.stop, t.ended = messagesStop(m.StopReason), true
	}
	return false, nil // pings, and what is yet to be invented
}

func (m *messagesEvent) delta(t *turn) error {
	if m.Delta == nil {
		return nil
	}
	switch m.Delta.Type {
	case "text_delta":
		return t.text.Write(m.Delta.Text)
	case "input_json_delta":
		if !t.calls.Add(stream.Part{Index: &m.Index, Function: stream.Function{Arguments: stream.Arguments(m.Delta.JSON)}}) {
			return tooManyCalls()
		}
	case "thinking_delta", "signature_delta":
		t.thought.WriteString(m.Delta.Thinking)
		t.blocks.add(m.Index, m.Delta.Thinking, m.Delta.Signature)
	}
	return nil
}

// take begins a block. What it holds already is an empty shape in a stream, and all of it in a whole
// answer.
func (b *answerBlock) take(index int, t *turn) error {
	switch b.Type {
	case "text":
		return t.text.Write(b.Text)
	case "tool_use":
		args := stream.Arguments(b.Input)
		if args == "{}" || args == "null" {
			args = "" // the deltas follow
		}
		if !t.calls.Add(stream.Part{Index: &index, ID: stream.Phrase(b.ID), Function: stream.Function{Name: stream.Phrase(b.Name), Arguments: args}}) {
			return tooManyCalls()
		}
	case "thinking", "redacted_thinking":
		t.thought.WriteString(b.Thinking)
		t.blocks.begin(index, b)
	}
	return nil
}

func (u *messagesUsage) take(t *turn) {
	if u == nil {
		return
	}
	// A message_delta repeats what is known by then; message_start has the rest.
	t.in = max(t.in, u.In+u.Read+u.Writes)
	t.out = max(t.out, u.Out)
	t.cached = max(t.cached, u.Read)
}

func messagesStop(reason string) string {
	switch reason {
	case "max_tokens", "model_context_window_exceeded":
		return StopLength
	case "tool_use":
		return StopTools
	case "refusal":
		return StopRefused
	}
	return StopEnd
}

// thoughtBlocks puts thinking blocks together. They go back as they came, signature and all.
type thoughtBlocks struct {
	all     []*thoughtBlock
	byIndex map[int]*thoughtBlock
}

type thoughtBlock struct{ kind, text, signature, data string }

func (b *thoughtBlocks) begin(index int, from *answerBlock) {
	if b.byIndex == nil {
		b.byIndex = map[int]*thoughtBlock{}
	}
	at := &thoughtBlock{kind: from.Type, text: from.Thinking, signature: from.Signature, data: from.Data}
	b.byIndex[index] = at
	b.all = append(b.all, at)
}

func (b *thoughtBlocks) add(index int, text, signature string) {
	if at := b.byIndex[index]; at != nil {
		at.text += text
		at.signature += signature
	}
}

func (b *thoughtBlocks) list() []json.RawMessage {
	var out []json.RawMessage
	for _, at := range b.all {
		shape := map[string]string{"type": at.kind, "thinking": at.text, "signature": at.signature}
		if at.kind == "redacted_thinking" {
			shape = map[string]string{"type": at.kind, "data": at.data}
		}
		raw, _ := json.Marshal(shape) // strings can always be marshalled
		out = append(out, raw)
	}
	return out
}
