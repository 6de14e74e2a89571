package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/companiond/companiond/host/model/stream"
)

// Era is the newest revision of MCP with sessions, BareEra that without.
const (
	Era     = "2025-11-25"
	BareEra = "2026-07-28"
)

// BareMeta is what each request brings where no session remembers it, of a client with
// a name.
func BareMeta(name string) string {
	return `{"io.modelcontextprotocol/protocolVersion":"` + BareEra +
		`","io.modelcontextprotocol/clientInfo":{"name":"` + name + `","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
}

// Hello is the body of an initialize with the id 0, of a client with a name.
func Hello(name string) string {
	return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + Era +
		`","capabilities":{},"clientInfo":{"name":"` + name + `","version":"1"}}}`
}

// Initialized is what follows the answer to Hello.
const Initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// ErrAnswer is a wrong answer, as opposed to none.
var ErrAnswer = errors.New("wrong answer")

// message is what is read of a message from the server.
type message struct {
	ID     json.RawMessage
	Method string
	Error  json.RawMessage
	Result *Result
}

// Result is that of initialize and of tools/call.
type Result struct {
	ProtocolVersion   string
	IsError           bool
	StructuredContent json.RawMessage
}

// AnswerTo gives the result in an answer to the request with an id. The answer
// is one message, or a stream of events among which it is.
func AnswerTo(body []byte, kind string, id int64) (*Result, error) {
	if !strings.HasPrefix(kind, "text/event-stream") {
		var m message
		_ = json.Unmarshal(body, &m) // what is no JSON has no id
		return m.resultOf(id)
	}
	for in := stream.NewEvents(bytes.NewReader(body)); ; {
		event, err := in.Next()
		if err != nil {
			return nil, fmt.Errorf("%w: no response in the stream", ErrAnswer)
		}
		var m message
		_ = json.Unmarshal(event.Data, &m)
		if len(event.Data) > 0 && m.Method == "" { // no notification, no request
			return m.resultOf(id)
		}
	}
}

func (m message) resultOf(id int64) (*Result, error) {
	switch {
	case string(m.ID) != strconv.FormatInt(id, 10):
		return nil, fmt.Errorf("%w: id %.40s instead of %d", ErrAnswer, m.ID, id)
	case m.Error != nil:
		return nil, fmt.Errorf("%w: %.200s", ErrAnswer, m.Error)
	case m.Result == nil:
		return nil, fmt.Errorf("%w: no result", ErrAnswer)
	}
	return m.Result, nil
}
