package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/companiond/companiond/bench/wire"
)

// server is what members call.
type server struct {
	host, path string
	bare       bool
	ids        atomic.Int64 // of requests: unique over all sessions, for a server may mix them up
}

func newServer(s settings) (*server, error) {
	u, err := url.Parse(s.url)
	if err != nil {
		return nil, err
	}
	return &server{host: u.Host, path: u.RequestURI(), bare: s.bare}, nil
}

// member is one of two in a conversation, with an MCP session of its own where the revision
// has any, and the connection that its polls are held on.
type member struct {
	server  *server
	id      string // of the agent
	partner *member
	conn    *wire.Conn
	header  http.Header
	head    []byte // of a POST with this header; of the revision without sessions, by tool
	body    []byte // the answer before, to read the next one into
	token   string
	talk    string // the conversation's id
}

func newMember(srv *server, id string) *member {
	m := &member{server: srv, id: id, conn: &wire.Conn{Host: srv.host}}
	m.header = http.Header{"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"}}
	if srv.bare {
		m.header.Set("Mcp-Protocol-Version", wire.BareEra)
	}
	m.head = wire.Head(http.MethodPost, srv.host, srv.path, m.header)
	return m
}

// begin opens the session of MCP.
func (m *member) begin(ctx context.Context) error {
	if m.server.bare {
		return nil
	}
	r, err := m.post(ctx, m.conn, m.head, []byte(wire.Hello("polls")), &m.body)
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	hi, err := wire.AnswerTo(r.Body, r.Kind, 0)
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	m.header.Set("Mcp-Protocol-Version", hi.ProtocolVersion)
	if r.Session != "" {
		m.header.Set("Mcp-Session-Id", r.Session)
	}
	m.head = wire.Head(http.MethodPost, m.server.host, m.server.path, m.header)
	if _, err := m.post(ctx, m.conn, m.head, []byte(wire.Initialized), &m.body); err != nil {
		return fmt.Errorf("notifications/initialized: %w", err)
	}
	return nil
}

// end gives the session of the agent and that of MCP back.
func (m *member) end(ctx context.Context) error {
	if err := m.call(ctx, m.conn, "logout", nil, nil, &m.body); err != nil {
		return err
	}
	if m.header.Get("Mcp-Session-Id") == "" {
		return nil
	}
	_, err := m.post(ctx, m.conn, wire.Head(http.MethodDelete, m.server.host, m.server.path, m.header), nil, &m.body)
	return err
}

// login authenticates the agent, and joins a conversation unless it is "".
func (m *member) login(ctx context.Context, project, conversation string) error {
	args := map[string]any{"agent_id": m.id, "project_id": project}
	if conversation != "" {
		args["conversation_id"] = conversation
	}
	var out struct {
		Token string `json:"session_token"`
	}
	err := m.call(ctx, m.conn, "authenticate", args, &out, &m.body)
	if err == nil && out.Token == "" {
		err = fmt.Errorf("authenticate: %w: no session_token", wire.ErrAnswer)
	}
	m.token, m.talk = out.Token, conversation
	return err
}

// start opens the conversation with the partner.
func (m *member) start(ctx context.Context) error {
	var out struct {
		ID string `json:"conversation_id"`
	}
	err := m.call(ctx, m.conn, "start_conversation", map[string]any{"target_agent_id": m.partner.id, "purpose": "bench", "max_turns": maxTurns}, &out, &m.body)
	if err == nil && out.ID == "" {
		err = fmt.Errorf("start_conversation: %w: no conversation_id", wire.ErrAnswer)
	}
	m.talk = out.ID
	return err
}

// say sends words to the partner, over a connection that is not the poll's.
func (m *member) say(ctx context.Context, c *talker, words string) error {
	var out struct{ Success bool }
	err := m.call(ctx, c.conn, "send_message", map[string]any{"conversation_id": m.talk, "target_agent_id": m.partner.id, "content": words}, &out, &c.body)
	if err == nil && !out.Success {
		err = fmt.Errorf("send_message: %w: success is not true", wire.ErrAnswer)
	}
	return err
}

// next waits for what there is to do.
func (m *member) next(ctx context.Context, wait time.Duration) (action string, err error) {
	var out struct{ Action string }
	err = m.call(ctx, m.conn, "get_next_action", map[string]any{"timeout_seconds": int(wait / time.Second)}, &out, &m.body)
	return out.Action, err
}

// pending reads what was said, as it came.
func (m *member) pending(ctx context.Context) ([]json.RawMessage, error) {
	var out struct {
		Pending []json.RawMessage `json:"pending_messages"`
	}
	err := m.call(ctx, m.conn, "get_pending_messages", nil, &out, &m.body)
	return out.Pending, err
}

// call calls a tool and reads its structured content. One connection is for one call at a time.
func (m *member) call(ctx context.Context, conn *wire.Conn, tool string, args map[string]any, out any, body *[]byte) error {
	if args == nil {
		args = map[string]any{}
	}
	if m.token != "" {
		args["session_token"] = m.token
	}
	given, err := json.Marshal(args)
	if err != nil {
		return err
	}
	id := m.server.ids.Add(1)
	ask := append([]byte(nil), `{"jsonrpc":"2.0","id":`...)
	ask = strconv.AppendInt(ask, id, 10)
	ask = append(ask, `,"method":"tools/call","params":{"name":"`+tool+`","arguments":`...)
	ask = append(ask, given...)
	head := m.head
	if m.server.bare {
		ask = append(ask, `,"_meta":`+wire.BareMeta("polls")...)
		h := m.header.Clone()
		h.Set("Mcp-Method", "tools/call")
		h.Set("Mcp-Name", tool)
		head = wire.Head(http.MethodPost, m.server.host, m.server.path, h)
	}
	ask = append(ask, `}}`...)
	r, err := m.post(ctx, conn, head, ask, body)
	if err != nil {
		return fmt.Errorf("%s of %s: %w", tool, m.id, err)
	}
	result, err := wire.AnswerTo(r.Body, r.Kind, id)
	if err == nil && result.IsError {
		err = fmt.Errorf("%w: isError in %.300s", wire.ErrAnswer, r.Body)
	}
	if err == nil && out != nil {
		if err = json.Unmarshal(result.StructuredContent, out); err != nil {
			err = errors.Join(wire.ErrAnswer, err)
		}
	}
	if err != nil {
		return fmt.Errorf("%s of %s: %w", tool, m.id, err)
	}
	return nil
}

// post sends a body, and reads the answer into what is given, which grows as it must.
func (m *member) post(ctx context.Context, conn *wire.Conn, head, send []byte, body *[]byte) (wire.Reply, error) {
	r, err := conn.Ask(ctx, head, send, *body)
	if err != nil {
		return r, err
	}
	*body = r.Body
	if r.Status/100 != 2 {
		return r, fmt.Errorf("%w: %d: %.300s", wire.ErrAnswer, r.Status, r.Body)
	}
	return r, nil
}
