package model

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/companiond/companiond/host/model/shape"
	"github.com/companiond/companiond/host/model/stream"
	"github.com/companiond/companiond/host/model/wire"
)

// messagesAPI is Anthropic's Messages.
type messagesAPI struct{}

func (messagesAPI) sign(h http.Header, key string) {
	h.Set("Anthropic-Version", "2023-06-01")
	if key != "" {
		h.Set("X-Api-Key", key)
	}
}

func (messagesAPI) tool(described object, parameters json.RawMessage) object {
	described["input_schema"] = parameters
	return described
}

func (a messagesAPI) fill(out *body, req Request, way string, q quirks) {
	if out.MaxTokens == 0 {
		out.MaxTokens = defaultMaxTokens
	}
	if out.Temperature != nil {
		t := min(*out.Temperature, 1) // its scale ends there
		out.Temperature = &t
	}
	if req.NoCalls && hasTools(req) {
		out.Choice = object{"type": "none"}
	}
	switch way {
	case byTool:
		out.Tools = []object{a.tool(object{"name": req.SchemaName, "description": "Give the answer."}, req.Schema)}
		out.Choice = object{"type": "tool", "name": req.SchemaName}
	case StructuredSchema:
		out.Output = object{"format": object{"type": way, "schema": req.Schema}}
	}
	marks := !q.has(noCacheKey)
	switch {
	case strings.TrimSpace(out.system) == "":
	case marks:
		out.System = []object{marked(object{"type": "text", "text": out.system})}
	default:
		out.System = out.system
	}
	out.Messages = talkOf(req.Messages, marks)
}

// maxMarks is how many marks are sent beside that of the system prompt. The API takes four.
const maxMarks = 3

// marked tells the API to keep what it has read up to the end of a block.
func marked(block object) object {
	block["cache_control"] = object{"type": "ephemeral"}
	return block
}

// talkOf gives the messages. What came of tools is a user's message to this API, that of all calls of one answer
// together, with what a user said next. Where there are marks each message has blocks of its own, also where
// it was joined: only the ends of blocks are looked up in the cache.
func talkOf(all []Message, marks bool) (talk []object) {
	marks = marks && slices.ContainsFunc(all, func(m Message) bool {
		return slices.ContainsFunc(m.split(), func(p Message) bool { return p.Mark })
	})
	var role Role
	var blocks, ends []object
	for _, m := range all {
		of := m.Role
		if of == RoleTool {
			of = RoleUser
		}
		if of != role {
			role, blocks = of, nil
			talk = append(talk, object{"role": role})
		}
		parts := []Message{m}
		if marks {
			parts = m.split()
		}
		for i, p := range parts {
			if i > 0 && p.Text != "" {
				p.Text = "\n" + p.Text
			}
			own := blocksOf(p)
			if blocks = append(blocks, own...); marks && p.Mark && len(own) > 0 {
				ends = append(ends, own[len(own)-1])
			}
		}
		talk[len(talk)-1]["content"] = blocks
	}
	for _, end := range ends[max(0, len(ends)-maxMarks):] {
		marked(end)
	}
	return talk
}

// blocksOf gives what a message consists of.
func blocksOf(m Message) (blocks []object) {
	if m.Role == RoleTool {
		result := object{"type": "tool_result", "tool_use_id": m.CallID}
		if m.Text != "" {
			result["content"] = m.Text
		}
		if m.Failed {
			result["is_error"] = true
		}
		return []object{result}
	}
	if len(m.Calls) > 0 {
		blocks = append(blocks, m.Calls[0].thought.blocks...)
	}
	for _, im := range m.Images {
		blocks = append(blocks, object{"type": "image", "source": object{"type": "base64", "media_type": im.MediaType, "data": im.Data}})
	}
	if strings.TrimSpace(m.Text) != "" { // a block of mere space is refused
		blocks = append(blocks, object{"type": "text", "text": m.Text})
	}
	for _, c := range m.Calls {
		blocks = append(blocks, object{"type": "tool_use", "id": c.ID, "name": shape.Name(c.Name), "input": shape.Arguments(c.Arguments)})
	}
	return blocks
}

// messagesEvent is what this API streams, and, of type message, its whole answer.
type messagesEvent struct {
	Type    string
	Index   int
	Message struct{ Usage messagesUsage }
	Block   answerBlock `json:"content_block"`
	Delta   struct {
		Type       string
		Text       string
		JSON       string `json:"partial_json"`
		Thinking   string
		Signature  string
		StopReason string `json:"stop_reason"`
	}
	Usage      messagesUsage
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

func (messagesAPI) event(ev stream.Event, t *turn) (bool, error) {
	var m messagesEvent
	if err := json.Unmarshal(ev.Data, &m); err != nil {
		return false, wire.Unread(ev, err)
	}
	switch m.Type {
	case "error":
		return false, wire.Streamed(ev.Data, t.key)
	case "message_start":
		m.Message.Usage.take(t)
	case "content_block_start":
		return false, m.Block.take(m.Index, t)
	case "content_block_delta":
		return false, m.delta(t)
	case "message_delta":
		m.Usage.take(t)
		if m.Delta.StopReason != "" {
			t.stopped(m.Delta.StopReason)
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
		t.stopped(m.StopReason)
	}
	return false, nil // pings, and what is yet to be invented
}

func (m *messagesEvent) delta(t *turn) error {
	switch m.Delta.Type {
	case "text_delta":
		return t.text.Write(m.Delta.Text)
	case "input_json_delta":
		return t.add(stream.Part{Index: &m.Index, Function: stream.Function{Arguments: stream.Arguments(m.Delta.JSON)}})
	case "thinking_delta", "signature_delta":
		t.thought.WriteString(m.Delta.Thinking)
		if n := len(t.blocks); n > 0 { // one block ends before the next begins
			t.blocks[n-1].Thinking += m.Delta.Thinking
			t.blocks[n-1].Signature += m.Delta.Signature
		}
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
		return t.add(stream.Part{Index: &index, ID: stream.Phrase(b.ID), Function: stream.Function{Name: stream.Phrase(b.Name), Arguments: args}})
	case "thinking", "redacted_thinking":
		t.thought.WriteString(b.Thinking)
		t.blocks = append(t.blocks, *b)
	}
	return nil
}

func (u messagesUsage) take(t *turn) {
	t.used(u.In+u.Read+u.Writes, u.Out, u.Read)
}

// back gives a thought as it came, signature and all.
func (b answerBlock) back() object {
	if b.Type == "redacted_thinking" {
		return object{"type": b.Type, "data": b.Data}
	}
	return object{"type": b.Type, "thinking": b.Thinking, "signature": b.Signature}
}
