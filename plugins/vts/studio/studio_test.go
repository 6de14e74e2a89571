package studio_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/plugins/vts/studio"
)

// serve takes one connection over a pipe, and has do talk with the other side.
func serve(t *testing.T, do func(ws *websocket.Conn)) studio.Dial {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		here, there := net.Pipe()
		go func() {
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				ws, err := new(websocket.Upgrader).Upgrade(w, r, nil)
				if err != nil {
					t.Error(err)
					return
				}
				do(ws)
				_ = ws.Close()
			})}
			_ = server.Serve(&one{c: there, ended: t.Context().Done()})
		}()
		return here, nil
	}
}

// one is a listener of one connection.
type one struct {
	once  sync.Once
	c     net.Conn
	ended <-chan struct{}
}

func (o *one) Accept() (c net.Conn, err error) {
	o.once.Do(func() { c = o.c })
	if c == nil {
		<-o.ended
		return nil, io.EOF
	}
	return c, nil
}
func (o *one) Close() error   { return nil }
func (o *one) Addr() net.Addr { return &net.UnixAddr{} }

// hears gives the next request.
func hears(t *testing.T, ws *websocket.Conn) (e studio.Envelope) {
	if err := ws.ReadJSON(&e); err != nil {
		t.Errorf("read: %v", err)
	}
	return e
}

func says(ws *websocket.Conn, id, kind, data string) {
	_ = ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"apiName":"VTubeStudioPublicAPI","apiVersion":"1.0","timestamp":1,"requestID":%q,"messageType":%q,"data":%s,"new":true}`, id, kind, data))
}

func none(string, json.RawMessage) {}

func TestAskAndEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial := serve(t, func(ws *websocket.Conn) {
			e := hears(t, ws)
			if e.APIName != "VTubeStudioPublicAPI" || e.APIVersion != "1.0" || e.MessageType != "HotkeyTriggerRequest" || string(e.Data) != `{"hotkeyID":"wave"}` {
				t.Errorf("%+v", e)
			}
			says(ws, "unasked", "HotkeyTriggerResponse", `{"hotkeyID":"h0"}`)
			_ = ws.WriteMessage(websocket.TextMessage, []byte("no JSON"))
			says(ws, e.RequestID, "ModelLoadedEvent", `{"modelLoaded":true}`) // an event answers nothing, whatever its id
			says(ws, e.RequestID, "HotkeyTriggerResponse", `{"hotkeyID":"h1"}`)
			e = hears(t, ws)
			says(ws, e.RequestID, "APIError", `{"errorID":202,"message":"not\n\u001b[2J found"}`)
			e = hears(t, ws)
			says(ws, e.RequestID, "HotkeyTriggerResponse", `["nonsense"]`)
		})
		var events []string
		c, err := studio.Open(t.Context(), dial, "127.0.0.1:1", func(name string, data json.RawMessage) { events = append(events, name+string(data)) })
		if err != nil {
			t.Fatal(err)
		}
		var answer studio.Trigger
		if err := c.Ask(t.Context(), studio.HotkeyRequest, studio.Trigger{Hotkey: "wave"}, &answer); err != nil || answer.Hotkey != "h1" {
			t.Errorf("%+v, %v", answer, err)
		}
		err = c.Ask(t.Context(), studio.HotkeyRequest, nil, &answer)
		if studio.ID(err) != 202 || !strings.Contains(err.Error(), "VTube Studio says: not[2J found (202)") {
			t.Errorf("%v", err)
		}
		if err := c.Ask(t.Context(), studio.HotkeyRequest, nil, &answer); err == nil || studio.ID(err) != -1 {
			t.Errorf("%v", err)
		}
		<-c.Ended()
		if strings.Join(events, " ") != `ModelLoadedEvent{"modelLoaded":true}` {
			t.Errorf("%q", events)
		}
		if err := c.Ask(t.Context(), studio.HotkeyRequest, nil, nil); err == nil || err.Error() != c.Err().Error() {
			t.Errorf("after the end: %v, want %v", err, c.Err())
		}
	})
}

// One that answers nothing costs whoever asks their patience, and its connection when too much waits.
func TestItAnswersNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial := serve(t, func(ws *websocket.Conn) {
			for {
				if _, _, err := ws.ReadMessage(); err != nil {
					return
				}
			}
		})
		c, err := studio.Open(t.Context(), dial, "127.0.0.1:1", none)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := c.Ask(ctx, studio.HotkeyRequest, nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		failed := 0
		for i := range 1000 {
			if err := c.Tell(studio.InjectRequest, nil, func(error) { failed++ }); err != nil {
				if i != 256 || !strings.Contains(err.Error(), "hangs") {
					t.Errorf("%d: %v", i, err)
				}
				break
			}
		}
		if failed != 256 {
			t.Errorf("%d were told", failed)
		}
		<-c.Ended()
	})
}

// A connection whose other side is gone without a word ends, whether it answered before or never did.
func TestSilence(t *testing.T) {
	for _, answers := range []int{0, 3} {
		synctest.Test(t, func(t *testing.T) {
			hear := make(chan struct{})
			dial := serve(t, func(ws *websocket.Conn) {
				if answers > 0 {
					left := answers
					ws.SetPingHandler(func(string) error {
						_ = ws.WriteControl(websocket.PongMessage, nil, time.Now().Add(time.Second))
						if left--; left == 0 {
							return errors.New("that was the last")
						}
						return nil
					})
					_, _, _ = ws.ReadMessage()
				}
				<-hear
			})
			begun := time.Now()
			c, err := studio.Open(t.Context(), dial, "127.0.0.1:1", none)
			if err != nil {
				t.Fatal(err)
			}
			<-c.Ended()
			close(hear)
			if d, want := time.Since(begun), time.Duration(10*answers+35)*time.Second; d != want {
				t.Errorf("after %d answers it ended after %v, want %v: %v", answers, d, want, c.Err())
			}
		})
	}
}

func TestOpenWhereNoneIs(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	if _, err := studio.Open(t.Context(), new(net.Dialer).DialContext, address, none); err == nil {
		t.Error("it connects to nobody")
	}
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	_, err = studio.Open(t.Context(), new(net.Dialer).DialContext, other.Listener.Addr().String(), none)
	if err == nil || !strings.Contains(err.Error(), "is no WebSocket: it answers 404") {
		t.Errorf("%v", err)
	}
}

// Asked from many goroutines, each has its own answer.
func TestManyAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial := serve(t, func(ws *websocket.Conn) {
			for {
				var e studio.Envelope
				if ws.ReadJSON(&e) != nil {
					return
				}
				says(ws, e.RequestID, "HotkeyTriggerResponse", string(e.Data))
			}
		})
		c, err := studio.Open(t.Context(), dial, "127.0.0.1:1", none)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				var answer studio.Trigger
				want := fmt.Sprint("h", i)
				if err := c.Ask(t.Context(), studio.HotkeyRequest, studio.Trigger{Hotkey: want}, &answer); err != nil || answer.Hotkey != want {
					t.Errorf("%s: %+v, %v", want, answer, err)
				}
			})
		}
		all.Wait()
		c.Close(errors.New("the end"))
		if err := c.Tell(studio.InjectRequest, nil, func(error) {}); err == nil || err.Error() != "the end" {
			t.Errorf("%v", err)
		}
	})
}
