package socket

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/socket/actions"
	"github.com/companiond/companiond/host/door/socket/session"
	"github.com/companiond/companiond/host/identity"
)

// The sockets that the AI Companion Protocol's reference server ever had: a client says which session it is
// the body of, in JSON-RPC, and gets that companion's actions; the first ones said nothing.
// docs/WIRES.md has all of them, and package actions their frames.

// openBare is for a client that listens and says nothing, as there was before there were
// sessions. Its URL has to say so with ?companion=ID, or ?companion= for the usual one:
// at the same place chat-relay's agents listen, and think for each frame that comes.
func (f *Feed) openBare(r *http.Request) (view, error) {
	if err := identity.Of(r.Context()).May(identity.Act); err != nil {
		return view{}, err
	}
	companion := cmp.Or(r.URL.Query().Get("companion"), f.cfg.Usual())
	if companion == "" {
		return view{}, abi.Field("query.companion", abi.CodeNotFound, "nobody who has a card lives in a room; name one")
	}
	return f.bodyOf(r, &session.Session{Companion: companion, Speaks: f.cfg.Speaks}, &actions.Wire{Shape: actions.Bare})
}

// answerCall does what a call asks for. Errors are told also to a client that sent no id:
// nobody would understand why there are no actions otherwise.
func (c *client) answerCall(ctx context.Context, k actions.Call) (*view, error) {
	if err := k.CheckID(); err != nil {
		return nil, c.refuseCall(actions.Call{}, actions.InvalidRequest, err)
	}
	shape, ok := actions.Shapes(k.Method)
	if !ok {
		if k.ID == nil {
			return nil, nil
		}
		return nil, c.refuseCall(k, actions.UnknownMethod, abi.Errorf(abi.CodeUnknownOp, "method: there are only subscribe and subscribe.request here, not %.64q", k.Method))
	}
	v, err := c.subscribe(ctx, shape, k)
	if ctx.Err() != nil {
		return nil, nil
	}
	if err != nil {
		return nil, c.refuseCall(k, actions.CodeOf(err), err)
	}
	if k.ID != nil {
		v.hello = actions.Subscribed(k.ID)
	}
	return v, nil
}

func (c *client) refuseCall(k actions.Call, code int, err error) error {
	return c.send(actions.CallRefusal(k.ID, code, c.told(err)))
}

// subscribe finds what the body of a session is to see. The session's id is not
// enough: it has to be the caller's own, who must be allowed to act, for ids are seen by others.
func (c *client) subscribe(ctx context.Context, shape actions.Shape, k actions.Call) (*view, error) {
	if err := c.caller.May(identity.Act); err != nil {
		return nil, err
	}
	id, err := k.Session()
	if err != nil {
		return nil, err
	}
	companion, err := c.cfg.Session(id, c.caller.Name)
	if err != nil {
		return nil, err
	}
	talk, err := c.cfg.Rooms.Home(ctx, companion)
	if err != nil {
		return nil, err
	}
	_, head, err := talk.Entries(ctx, 0, 1)
	if err != nil {
		return nil, err
	}
	if err := c.place.Hold(time.Time{}); err != nil {
		return nil, err
	}
	s := &session.Session{Room: talk, Companion: companion, Caller: c.caller, Speaks: c.cfg.Speaks, Mic: &c.mic}
	return &view{talk: talk, since: head, dialect: newFront(s, &actions.Wire{Shape: shape})}, nil
}
