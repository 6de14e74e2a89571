package streamable

import (
	"context"

	"github.com/companiond/companiond/host/door/mcp/rpc"
)

// Clients of the older era give a call up by a notice, and may leave its request open. The
// SDK ends the calls that it knows; those that run beside it are found here.

// runs notes that a call of a session runs beside the SDK, until over is called. Cancel ends
// it.
func (s *sessions) runs(ss *session, id []byte, cancel context.CancelFunc) (over func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ss.calls == nil {
		ss.calls = map[string]*context.CancelFunc{}
	}
	call := string(id)
	ss.calls[call] = &cancel
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if ss.calls[call] == &cancel { // not another's, whose client has used the id twice
			delete(ss.calls, call)
		}
	}
}

// cancelled ends the call that a message gives up, if it is such a notice.
func (s *sessions) cancelled(ss *session, m rpc.Message) {
	if method, plain := rpc.PlainText(m.Method); !plain || method != "notifications/cancelled" {
		return
	}
	var of [1][]byte
	if rpc.Pick(m.Params, of[:], "requestId") < 0 || of[0] == nil {
		return
	}
	s.mu.Lock()
	cancel := ss.calls[string(of[0])]
	s.mu.Unlock()
	if cancel != nil {
		(*cancel)()
	}
}
