package playout

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/speech"
)

// daemon is the other side of a client, of which each test says what it does.
type daemon struct {
	refuse int // instead of a connection
	code   abi.Code
	plays  func(c *websocket.Conn) // until the connection is to end

	mu    sync.Mutex
	asked []string
}

func (d *daemon) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/actions" {
		fmt.Fprint(w, "RIFF")
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, r.URL.RawQuery)
	if d.refuse != 0 {
		w.WriteHeader(d.refuse)
		fmt.Fprintf(w, `{"code":%q,"detail":"no"}`, d.code)
		return
	}
	c, err := new(websocket.Upgrader).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer c.Close()
	d.plays(c)
}

// run has a client play in fake time what a daemon sends it, until it ends.
func (d *daemon) run(t *testing.T, ctx context.Context, c Client) error {
	pipe := doortest.NewPipe()
	srv := &http.Server{Handler: d}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(pipe) }()
	c.URL, c.Dial, c.Room = "http://daemon", pipe.Dial, "main"
	err := c.Run(ctx)
	_ = srv.Close()
	<-served
	synctest.Wait()
	return err
}

// says sends a line of some parts, each with a sound, while others read: a pipe has no room for either.
func says(c *websocket.Conn, id string, seq, parts int) {
	go func() {
		for n := range parts {
			for _, f := range []string{
				`{"seq":%d,"companion":"aya","kind":"speech","action":"speak","line":%q,"part":%d,"parameters":{"message":"Hello there."}}`,
				`{"seq":%d,"companion":"aya","kind":"sound","line":%q,"part":%d,"url":"/v1/blobs/x","seconds":1.5}`,
			} {
				seq++
				_ = c.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, f, seq, id, n+1)) // who reads misses it
			}
		}
	}()
}

// words reads what is told until n parts were played.
func words(c *websocket.Conn, n int) (told []word) {
	for {
		_ = c.SetReadDeadline(time.Now().Add(time.Hour))
		var w word
		if err := c.ReadJSON(&w); err != nil {
			return told
		}
		if told = append(told, w); w.Played == n {
			return told
		}
	}
}

// TestGoesOn: a connection that is lost in the middle of a line takes nothing from what sounds; the client comes back behind what
// it has read, and tells again how far it is. Between lines it comes back to what is said from then on.
func TestGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told [][]word
		times := 0
		d := &daemon{}
		ctx, cancel := context.WithCancel(t.Context())
		d.plays = func(c *websocket.Conn) {
			switch times++; times {
			case 1:
				says(c, "g", 0, 3)
				told = append(told, words(c, 1))
			case 2:
				told = append(told, words(c, 3))
				_ = c.WriteMessage(websocket.TextMessage, []byte(`{"seq":9,"line":"g","end":"said"}`))
				_ = c.WriteControl(websocket.CloseMessage, nil, time.Now().Add(time.Second))
			default:
				cancel()
				_, _, _ = c.ReadMessage()
			}
		}
		played := 0
		err := d.run(t, ctx, Client{Play: func(ctx context.Context, _ []byte) error {
			select {
			case <-time.After(1500 * time.Millisecond):
				played++
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}})
		if !errors.Is(err, context.Canceled) || played != 3 {
			t.Errorf("%d parts were played: %v", played, err)
		}
		want := [][]word{
			{{Line: "g", Part: 1, Seconds: 1.5}, {Line: "g", Played: 1}},
			{{Line: "g", Played: 1}, {Line: "g", Played: 2}, {Line: "g", Part: 3, Seconds: 1.5}, {Line: "g", Played: 3}},
		}
		if !slices.EqualFunc(told, want, slices.Equal) {
			t.Errorf("it told %+v", told)
		}
		asks := "answers=0&playback=1&room=main"
		if want := []string{asks + "&sounds=1", asks + "&since=6&sounds=1", asks + "&sounds=1"}; !slices.Equal(d.asked, want) {
			t.Errorf("it asked for %q", d.asked)
		}
	})
}

// TestCannotPlay: a part that cannot be played is silent for as long as it takes to say, and a player that fails three times in a
// row is none.
func TestCannotPlay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("no device")
		var told []word
		d := &daemon{plays: func(c *websocket.Conn) {
			says(c, "g", 0, 5)
			told = words(c, 5)
		}}
		var wrong []string
		calls := 0
		began := time.Now()
		err := d.run(t, t.Context(), Client{
			Play: func(context.Context, []byte) error {
				if calls++; calls == 2 {
					return nil
				}
				return broken
			},
			Wrong: func(who string, why error) { wrong = append(wrong, who+": "+why.Error()) },
		})
		if !errors.Is(err, broken) || calls != 5 {
			t.Errorf("%d calls: %v", calls, err)
		}
		if want := []string{"aya: no device", "aya: no device", "aya: no device"}; !slices.Equal(wrong, want) {
			t.Errorf("%q", wrong)
		}
		if took := time.Since(began); took != 3*speech.Estimate("Hello there.") {
			t.Errorf("three parts were silent for %v, want three times %v", took, speech.Estimate("Hello there."))
		}
		last := told[len(told)-1]
		if last.Played != 4 && last.Part != 5 {
			t.Errorf("%+v", told)
		}
	})
}

// TestRefused: a daemon that will not change its mind is not asked again, and one whose place is taken is, by who had it before.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		status int
		code   abi.Code
		asked  int
	}{{http.StatusNotFound, abi.CodeNotFound, 1}, {http.StatusUnauthorized, abi.CodeDenied, 1}, {http.StatusConflict, abi.CodeConflict, 1}, {http.StatusServiceUnavailable, abi.CodeUnavailable, 3}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			d := &daemon{refuse: c.status, code: c.code}
			tries := 0
			err := d.run(t, ctx, Client{Retry: func(error, time.Duration) {
				if tries++; tries == c.asked {
					cancel()
				}
			}})
			if len(d.asked) != c.asked || c.asked == 1 && abi.CodeOf(err) != c.code || c.asked > 1 && !errors.Is(err, context.Canceled) {
				t.Errorf("%d: asked %d times: %v", c.status, len(d.asked), err)
			}
		})
	}
	if err := (Client{URL: "daemon"}).Run(t.Context()); abi.CodeOf(err) != abi.CodeInvalid {
		t.Error(err)
	}
}

// TestSoundsAreAtTheirPlace: what a daemon names as the place of a sound is asked for nowhere else, and the token goes there alone.
func TestSoundsAreAtTheirPlace(t *testing.T) {
	p := &player{Client: Client{URL: "http://127.0.0.1:1", Header: http.Header{"Authorization": {"Bearer x"}}, Dial: func(context.Context, string, string) (net.Conn, error) {
		t.Error("it was asked for")
		return nil, net.ErrClosed
	}}}
	for _, path := range []string{"@127.0.0.1:2/internal", "/elsewhere", "http://127.0.0.1:2/v1/blobs/x", ""} {
		if _, err := p.get(t.Context(), path); err == nil {
			t.Errorf("%q", path)
		}
	}
}
