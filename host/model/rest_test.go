package model

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
)

// TestLeftAlone: while an endpoint has asked for it no request goes out, of no call: those that have the
// time wait, the others fail at once with how long it is yet.
func TestLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		begun := time.Now()
		var at []time.Duration
		trip := func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			if at = append(at, time.Since(begun)); len(at) == 1 {
				return respond(r, 429, strings.NewReader(""), "Retry-After", "7"), nil
			}
			return respond(r, 200, strings.NewReader("data: "+textChunk("Hello.")+"\n\ndata: [DONE]\n\n")), nil
		}
		client := bubbleClient(t, trip, func(c *Config) { c.Embeddings = "vectors" })
		quick := bubbleClient(t, trip, func(c *Config) { c.Timeout = 3 * time.Second })
		quick.(*endpoint).at.Rest = client.(*endpoint).at.Rest
		var all sync.WaitGroup
		for n := range 4 {
			all.Go(func() {
				time.Sleep(time.Duration(n) * 2 * time.Second)
				if _, err := client.Generate(t.Context(), ask(), nil); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(2 * time.Second)
		a, err := quick.Generate(t.Context(), ask(), nil)
		wantErr(t, err, abi.CodeUnavailable, "rate limited, asked to wait 7s")
		if e := abi.AsError(err); e.After != 5000 || a.Usage.Calls != 0 {
			t.Errorf("after %d, %+v", e.After, a.Usage)
		}
		_, _, err = client.Embed(t.Context(), []string{"a"})
		if abi.CodeOf(err) != abi.CodeInvalid { // it answers with something else
			t.Error(err)
		}
		all.Wait()
		if len(at) != 6 {
			t.Errorf("asked at %v", at)
		}
		for _, when := range at[1:] {
			if when < 7*time.Second || when > 10*time.Second {
				t.Errorf("asked at %v", when)
			}
		}
	})
}

// TestBefore is asked before each request, and its error ends the call as it is.
func TestBefore(t *testing.T) {
	f := newFake(t, status(500, "sorry"))
	client, n := f.client(OpenAI, nil), 0
	no := abi.Errorf(abi.CodeExhausted, "a bound")
	req := ask()
	req.Before = func() error {
		if n++; n > 2 {
			return no
		}
		return nil
	}
	a, err := client.Generate(t.Context(), req, nil)
	if err != error(no) || a.Usage.Calls != 2 || len(f.requests()) != 2 {
		t.Errorf("%+v, %v, %d requests", a, err, len(f.requests()))
	}
}
