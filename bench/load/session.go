package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/companiond/companiond/host/model/stream"
)

// era is the newest revision of MCP with sessions.
const era = "2025-11-25"

// maxAnswer is the most that is read of an answer.
const maxAnswer = 64 << 20

// errAnswer is a wrong answer, as opposed to none.
var errAnswer = errors.New("wrong answer")

// session is an MCP session on a connection of its own. It is not safe for use
// by several at once.
type session struct {
	client *http.Client
	url    *url.URL
	header http.Header
	answer bytes.Buffer
}

// dial opens a session. A server without sessions names none.
func dial(ctx context.Context, endpoint string) (*session, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return nil, err
	}
	s := &session{client: newClient(), url: u, header: http.Header{
		"Content-Type": {"application/json"},
		"Accept":       {"application/json, text/event-stream"},
	}}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	hello := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + era +
		`","capabilities":{},"clientInfo":{"name":"load","version":"1"}}}`
	header, err := s.post(ctx, []byte(hello))
	if err != nil {
		return nil, fmt.Errorf("initialize: %w", err)
	}
	hi, err := answerTo(s.answer.Bytes(), header.Get("Content-Type"), 0)
	if err != nil {
		return nil, fmt.Errorf("initialize: %w", err)
	}
	s.header.Set("Mcp-Protocol-Version", hi.ProtocolVersion)
	if id := header.Get("Mcp-Session-Id"); id != "" {
		s.header.Set("Mcp-Session-Id", id)
	}
	if _, err := s.post(ctx, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)); err != nil {
		return nil, fmt.Errorf("notifications/initialized: %w", err)
	}
	return s, nil
}

// close ends the session, if the server keeps one, so that many runs leave
// nothing behind.
func (s *session) close() {
	defer s.client.CloseIdleConnections()
	if s.header.Get("Mcp-Session-Id") == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	req := (&http.Request{Method: http.MethodDelete, URL: s.url, Host: s.url.Host, Header: s.header}).WithContext(ctx)
	if res, err := s.client.Do(req); err == nil {
		_ = res.Body.Close()
	}
}

// call makes a tools/call and says whether its result has success false.
func (s *session) call(ctx context.Context, body []byte, id int64) (refused bool, err error) {
	header, err := s.post(ctx, body)
	if err != nil {
		return false, err
	}
	result, err := answerTo(s.answer.Bytes(), header.Get("Content-Type"), id)
	if err != nil {
		return false, err
	}
	if result.IsError {
		return false, fmt.Errorf("%w: isError in %.200s", errAnswer, s.answer.Bytes())
	}
	success := result.StructuredContent.Success
	return success != nil && !*success, nil
}

// post sends a body and leaves the whole answer in s.answer.
func (s *session) post(ctx context.Context, body []byte) (http.Header, error) {
	req := (&http.Request{
		Method: http.MethodPost, URL: s.url, Host: s.url.Host, Header: s.header,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}).WithContext(ctx)
	res, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	s.answer.Reset()
	if _, err := s.answer.ReadFrom(io.LimitReader(res.Body, maxAnswer)); err != nil {
		return nil, err
	}
	if res.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%w: %s: %.200s", errAnswer, res.Status, s.answer.Bytes())
	}
	return res.Header, nil
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
