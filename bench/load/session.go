package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/companiond/companiond/host/model/stream"
)

// era is the newest revision of MCP with sessions, bareEra that without.
const (
	era     = "2025-11-25"
	bareEra = "2026-07-28"
)

// bareMeta is what each request brings where no session remembers it.
const bareMeta = `{"io.modelcontextprotocol/protocolVersion":"` + bareEra +
	`","io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// maxAnswer is the most that is read of an answer.
const maxAnswer = 64 << 20

// errAnswer is a wrong answer, as opposed to none.
var errAnswer = errors.New("wrong answer")

// session is an MCP session on a connection of its own. It is not safe for use
// by several at once.
type session struct {
	conn   connection
	host   string
	path   string
	header http.Header
	head   []byte // of a POST with this header
	answer reply
	same   []byte // an answer that was found right, up to its id and from there on
	behind []byte
}

// connection takes requests to a server.
type connection interface {
	ask(ctx context.Context, head, send, body []byte) (reply, error)
	close()
}

// dial opens a session, where the revision has any. A server without sessions names none.
func dial(ctx context.Context, of settings) (*session, error) {
	u, err := url.Parse(of.url)
	if err != nil {
		return nil, err
	}
	s := newSession(&wire{host: u.Host}, u)
	if of.bare {
		s.set("Mcp-Protocol-Version", bareEra)
		s.set("Mcp-Method", "tools/call")
		s.set("Mcp-Name", of.tool)
		return s, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	hello := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + era +
		`","capabilities":{},"clientInfo":{"name":"load","version":"1"}}}`
	if err := s.post(ctx, []byte(hello)); err != nil {
		return nil, fmt.Errorf("initialize: %w", err)
	}
	hi, err := answerTo(s.answer.body, s.answer.kind, 0)
	if err != nil {
		return nil, fmt.Errorf("initialize: %w", err)
	}
	s.set("Mcp-Protocol-Version", hi.ProtocolVersion)
	if s.answer.session != "" {
		s.set("Mcp-Session-Id", s.answer.session)
	}
	if err := s.post(ctx, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)); err != nil {
		return nil, fmt.Errorf("notifications/initialized: %w", err)
	}
	return s, nil
}

func newSession(conn connection, u *url.URL) *session {
	s := &session{conn: conn, host: u.Host, path: u.RequestURI(), header: http.Header{"Accept": {"application/json, text/event-stream"}}}
	s.set("Content-Type", "application/json")
	return s
}

// set sets a header of all requests from now on.
func (s *session) set(name, value string) {
	s.header.Set(name, value)
	s.head = head(http.MethodPost, s.host, s.path, s.header)
}

// close ends the session, if the server keeps one, so that many runs leave
// nothing behind.
func (s *session) close() {
	defer s.conn.close()
	if s.header.Get("Mcp-Session-Id") == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_, _ = s.conn.ask(ctx, head(http.MethodDelete, s.host, s.path, s.header), nil, nil) // it is given up either way
}

// call makes a tools/call and says whether its result has success false. An answer
// that is, but for its id, the same as one that was looked through is not decoded
// again: that would be measured with the server.
func (s *session) call(ctx context.Context, body []byte, id int64) (refused bool, err error) {
	if err := s.post(ctx, body); err != nil {
		return false, err
	}
	if s.known(id) {
		return false, nil
	}
	result, err := answerTo(s.answer.body, s.answer.kind, id)
	if err != nil {
		return false, err
	}
	if result.IsError {
		return false, fmt.Errorf("%w: isError in %.200s", errAnswer, s.answer.body)
	}
	if success := result.StructuredContent.Success; success != nil && !*success {
		return true, nil
	}
	s.same, s.behind = nil, nil
	mark := `"id":` + strconv.FormatInt(id, 10)
	if before, after, ok := bytes.Cut(s.answer.body, []byte(mark)); ok && !bytes.Contains(after, []byte(mark)) {
		s.same, s.behind = bytes.Clone(before), bytes.Clone(after)
	}
	return false, nil
}

// known says whether the answer is one that was found right, with this id.
func (s *session) known(id int64) bool {
	rest, ok := bytes.CutPrefix(s.answer.body, s.same)
	if !ok || s.same == nil {
		return false
	}
	rest, ok = bytes.CutSuffix(rest, s.behind)
	return ok && string(rest) == `"id":`+strconv.FormatInt(id, 10)
}

// post sends a body and leaves the answer in s.answer.
func (s *session) post(ctx context.Context, body []byte) error {
	var err error
	if s.answer, err = s.conn.ask(ctx, s.head, body, s.answer.body); err != nil {
		return err
	}
	if s.answer.status/100 != 2 {
		return fmt.Errorf("%w: %d: %.200s", errAnswer, s.answer.status, s.answer.body)
	}
	return nil
}

// message is what is read of a message from the server.
type message struct {
	ID     json.RawMessage
	Method string
	Error  json.RawMessage
	Result *result
}

// result is that of initialize and of tools/call.
type result struct {
	ProtocolVersion   string
	IsError           bool
	StructuredContent struct{ Success *bool }
}

// answerTo gives the result in an answer to the request with an id. The answer
// is one message, or a stream of events among which it is.
func answerTo(body []byte, kind string, id int64) (*result, error) {
	if !strings.HasPrefix(kind, "text/event-stream") {
		var m message
		_ = json.Unmarshal(body, &m) // what is no JSON has no id
		return m.resultOf(id)
	}
	for in := stream.NewEvents(bytes.NewReader(body)); ; {
		event, err := in.Next()
		if err != nil {
			return nil, fmt.Errorf("%w: no response in the stream", errAnswer)
		}
		var m message
		_ = json.Unmarshal(event.Data, &m)
		if len(event.Data) > 0 && m.Method == "" { // no notification, no request
			return m.resultOf(id)
		}
	}
}

func (m message) resultOf(id int64) (*result, error) {
	switch {
	case string(m.ID) != strconv.FormatInt(id, 10):
		return nil, fmt.Errorf("%w: id %.40s instead of %d", errAnswer, m.ID, id)
	case m.Error != nil:
		return nil, fmt.Errorf("%w: %.200s", errAnswer, m.Error)
	case m.Result == nil:
		return nil, fmt.Errorf("%w: no result", errAnswer)
	}
	return m.Result, nil
}
