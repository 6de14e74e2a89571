// Package onecomme hears the comments that OneComme (わんコメ) gathers from YouTube, Twitch, Niconico, TikTok and others, over its
// WebSocket on the same machine, which needs no key of any of them.
//
// It writes nothing, picks nothing, and knows no companion.
package onecomme

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/plugins/chat/line"
)

// Address is where OneComme usually is.
const Address = "127.0.0.1:11180"

// How long things take, and how much is read.
const (
	dialing    = 10 * time.Second
	pinging    = 20 * time.Second
	silence    = 3 * pinging
	writing    = 5 * time.Second
	maxMessage = 8 << 20 // at the start it sends all comments that it has
)

// Run hears comments of the OneComme at an address, host:port or ws://host:port, until ctx ends or the connection does, and says
// why. Up is called when it is connected, tell with each thing that happens.
func Run(ctx context.Context, address string, up func(), tell func(line.Event)) error {
	where, err := endpoint(address)
	if err != nil {
		return err
	}
	dialer := websocket.Dialer{HandshakeTimeout: dialing, NetDialContext: (&net.Dialer{Timeout: dialing}).DialContext}
	conn, _, err := dialer.DialContext(ctx, where, nil)
	if err != nil {
		return fmt.Errorf("OneComme at %s: %w", address, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	defer keep(conn)()
	up()
	for {
		kind, raw, err := conn.ReadMessage()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return fmt.Errorf("OneComme at %s: %w", address, err)
		case kind != websocket.TextMessage:
			continue
		}
		_ = conn.SetReadDeadline(time.Now().Add(silence))
		for _, e := range Events(raw) {
			tell(e)
		}
	}
}

// keep pings, for the other side says nothing for hours where nobody writes, and gives what ends that.
func keep(conn *websocket.Conn) (end func()) {
	conn.SetReadLimit(maxMessage)
	_ = conn.SetReadDeadline(time.Now().Add(silence))
	conn.SetPongHandler(func(string) error { return conn.SetReadDeadline(time.Now().Add(silence)) })
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(pinging)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				_ = conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writing)) // the reader finds out
			}
		}
	}()
	return func() { close(done); <-gone }
}

// endpoint gives the address of the WebSocket.
func endpoint(address string) (string, error) {
	if !strings.Contains(address, "://") {
		address = "ws://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "ws" && u.Scheme != "wss" {
		return "", fmt.Errorf("settings.onecomme: %q is no address; write it as %s", address, Address)
	}
	u.Path, u.RawQuery = "/sub", "p=connected,comments,deleted,clear"
	return u.String(), nil
}
