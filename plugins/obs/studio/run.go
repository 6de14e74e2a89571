package studio

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/obs/client"
	companion "github.com/companiond/companiond/sdk/go"
)

// How long Run waits before it tries to connect again, and how long OBS may take for a request.
const (
	firstWait = 500 * time.Millisecond
	longWait  = 30 * time.Second
	patience  = 5 * time.Second
	farewell  = time.Second // to clear the subtitle when the handler ends
)

// notReady is when something is tried again that OBS was not ready for.
const notReady = time.Second

// run keeps the connection, and the subtitle as it is to be.
func (s *studio) run(h *companion.Host, r abi.Running) error {
	st, err := s.station(r.Settings)
	if err != nil {
		return err
	}
	st.begins(r)
	defer st.ends(r)
	ctx := h.Context()
	said, wait := "", firstWait // said is what the log was told last
	for ctx.Err() == nil {
		conn, err := st.dial(ctx, st.Address, st.Password)
		if err == nil {
			lost := st.serve(ctx, h, r, conn)
			st.set(nil, st.unreachable())
			if ctx.Err() == nil {
				h.Log(abi.LevelWarn, fmt.Sprintf("the connection to OBS at %s is lost: %v", st.Address, lost))
			}
			said, wait = st.unreachable().Error(), firstWait // nobody needs to hear twice that it is not there
		} else if ctx.Err() == nil {
			why := st.absent(err)
			st.set(nil, why)
			if said != why.Error() {
				said = why.Error()
				h.Log(abi.LevelWarn, said)
			}
		}
		wait = st.rest(ctx, wait, err)
	}
	return nil
}

// unreachable says that OBS is not there, and what to do.
func (st *station) unreachable() error {
	return fmt.Errorf("OBS cannot be reached at %s: start it, and switch on Tools > WebSocket Server Settings > Enable WebSocket server", st.Address)
}

// absent gives why there is no connection, and what to do. What a network says of one that is not there differs
// from try to try, and is all the same.
func (st *station) absent(err error) error {
	var network *net.OpError
	switch {
	case errors.Is(err, client.ErrAddress):
		return fmt.Errorf("settings.address: %w", err)
	case errors.Is(err, client.ErrPassword), errors.Is(err, client.ErrNoPassword):
		return err
	case errors.As(err, &network), errors.Is(err, context.DeadlineExceeded):
		return st.unreachable()
	}
	return fmt.Errorf("OBS at %s cannot be used: %w", st.Address, err)
}

// rest waits before the next try, and gives how long to wait the time after. A password does not become right
// by itself.
func (st *station) rest(ctx context.Context, wait time.Duration, err error) time.Duration {
	if errors.Is(err, client.ErrPassword) || errors.Is(err, client.ErrNoPassword) {
		wait = longWait
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-st.now:
	}
	return min(2*wait, longWait)
}

// serve uses a connection until it or ctx ends, and gives why it did.
func (st *station) serve(ctx context.Context, h *companion.Host, r abi.Running, conn *client.Conn) error {
	defer conn.Close()
	st.set(conn, nil)
	h.Log(abi.LevelInfo, fmt.Sprintf("connected to OBS at %s, obs-websocket %.20q", st.Address, conn.Version()))
	inner, cancel := context.WithCancel(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	defer cancel()
	if st.Every > 0 && st.Vision != "" {
		beside.Go(func() { st.look(inner, h, r, conn) })
	}
	if st.Subtitle != "" {
		st.subtitles(ctx, h, conn)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-conn.Done():
		return conn.Err()
	}
}

// subtitles has the text source follow what is said, until ctx or the connection ends. It begins with what is to be there
// now: OBS keeps texts from its last time.
func (st *station) subtitles(ctx context.Context, h *companion.Host, conn *client.Conn) {
	var stands, failed string // what the source has, and what it last could not be given for
	has := false
	for {
		text, again := st.words()
		if !has || text != stands {
			err := st.write(ctx, conn, text)
			stands, has = text, client.CodeOf(err) != client.CodeNotReady
			if err == nil {
				failed = ""
			} else if !has {
				again = time.Now().Add(notReady) // or sooner, when something comes
			} else if why := st.unwritten(err); why != failed && ctx.Err() == nil {
				failed = why
				h.Log(abi.LevelWarn, why)
			}
		}
		var due <-chan time.Time
		if !again.IsZero() {
			due = time.After(time.Until(again))
		}
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
			defer cancel()
			if stands != "" {
				_ = st.write(last, conn, "") // nobody is there any more to be told
			}
			return
		case <-conn.Done():
			return
		case <-st.woken:
		case <-due:
		}
	}
}

// write gives the text source its text, and leaves all else of it as it is.
func (st *station) write(ctx context.Context, conn *client.Conn, text string) error {
	return ask(ctx, conn, "SetInputSettings", map[string]any{
		"inputName": st.Subtitle, "inputSettings": map[string]string{"text": text}, "overlay": true,
	}, nil)
}

// unwritten says why a subtitle is not there, and what to do.
func (st *station) unwritten(err error) string {
	if client.CodeOf(err) == client.CodeNotFound {
		return fmt.Sprintf("OBS has no source %q for the subtitle: add a text source of that name to a scene, or write the name of another into settings.subtitle of the handler", st.Subtitle)
	}
	return fmt.Sprintf("the subtitle %q cannot be written: %v", st.Subtitle, err)
}

// look has companions perceive screenshots, one after the other.
func (st *station) look(ctx context.Context, h *companion.Host, r abi.Running, conn *client.Conn) {
	every := time.NewTicker(time.Duration(st.Every * float64(time.Second)))
	defer every.Stop()
	failed := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-conn.Done():
			return
		case <-every.C:
		}
		err := st.perceive(ctx, h, conn, r.Companions)
		switch {
		case err == nil:
			failed = ""
		case ctx.Err() == nil && err.Error() != failed:
			failed = err.Error()
			h.Log(abi.LevelWarn, "no screenshot is perceived: "+failed)
		}
	}
}

// ask requests something of OBS within a while. A connection over which nothing is answered in that time is ended.
func ask(ctx context.Context, conn *client.Conn, kind string, data, into any) error {
	inner, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := conn.Request(inner, kind, data, into)
	if ctx.Err() == nil && inner.Err() != nil {
		conn.End(errors.New("OBS does not answer any more"))
	}
	return err
}
