package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/companiond/companiond/bench/wire"
)

// session is an MCP session on a connection of its own. It is not safe for use
// by several at once.
type session struct {
	conn   connection
	host   string
	path   string
	header http.Header
	head   []byte // of a POST with this header
	answer wire.Reply
	same   []byte // an answer that was found right, up to its id and from there on
	behind []byte
}

// connection takes requests to a server.
type connection interface {
	Ask(ctx context.Context, head, send, body []byte) (wire.Reply, error)
	Close()
}

// dial opens a session, where the revision has any. A server without sessions names none.
func dial(ctx context.Context, of settings) (*session, error) {
	u, err := url.Parse(of.url)
	if err != nil {
		return nil, err
	}
	s := newSession(&wire.Conn{Host: u.Host}, u)
	if of.bare {
		s.set("Mcp-Protocol-Version", wire.BareEra)
		s.set("Mcp-Method", "tools/call")
		s.set("Mcp-Name", of.tool)
		return s, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := s.post(ctx, []byte(wire.Hello("load"))); err != nil {
		return nil, fmt.Errorf("initialize: %w", err)
	}
	hi, err := wire.AnswerTo(s.answer.Body, s.answer.Kind, 0)
	if err != nil {
		return nil, fmt.Errorf("initialize: %w", err)
	}
	s.set("Mcp-Protocol-Version", hi.ProtocolVersion)
	if s.answer.Session != "" {
		s.set("Mcp-Session-Id", s.answer.Session)
	}
	if err := s.post(ctx, []byte(wire.Initialized)); err != nil {
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
	s.head = wire.Head(http.MethodPost, s.host, s.path, s.header)
}

// close ends the session, if the server keeps one, so that many runs leave
// nothing behind.
func (s *session) close() {
	defer s.conn.Close()
	if s.header.Get("Mcp-Session-Id") == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_, _ = s.conn.Ask(ctx, wire.Head(http.MethodDelete, s.host, s.path, s.header), nil, nil) // it is given up either way
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
	result, err := wire.AnswerTo(s.answer.Body, s.answer.Kind, id)
	if err != nil {
		return false, err
	}
	if result.IsError {
		return false, fmt.Errorf("%w: isError in %.200s", wire.ErrAnswer, s.answer.Body)
	}
	var content struct{ Success *bool }
	if err := json.Unmarshal(result.StructuredContent, &content); err == nil && content.Success != nil && !*content.Success {
		return true, nil
	}
	s.same, s.behind = nil, nil
	mark := `"id":` + strconv.FormatInt(id, 10)
	if before, after, ok := bytes.Cut(s.answer.Body, []byte(mark)); ok && !bytes.Contains(after, []byte(mark)) {
		s.same, s.behind = bytes.Clone(before), bytes.Clone(after)
	}
	return false, nil
}

// known says whether the answer is one that was found right, with this id.
func (s *session) known(id int64) bool {
	rest, ok := bytes.CutPrefix(s.answer.Body, s.same)
	if !ok || s.same == nil {
		return false
	}
	rest, ok = bytes.CutSuffix(rest, s.behind)
	return ok && string(rest) == `"id":`+strconv.FormatInt(id, 10)
}

// post sends a body and leaves the answer in s.answer.
func (s *session) post(ctx context.Context, body []byte) error {
	var err error
	if s.answer, err = s.conn.Ask(ctx, s.head, body, s.answer.Body); err != nil {
		return err
	}
	if s.answer.Status/100 != 2 {
		return fmt.Errorf("%w: %d: %.200s", wire.ErrAnswer, s.answer.Status, s.answer.Body)
	}
	return nil
}
