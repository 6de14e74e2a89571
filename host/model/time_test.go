package model

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
)

// A pause is never shorter than what was asked for, grows when nothing was, and has an end.
func TestPause(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, random := rapid.IntRange(0, 100).Draw(t, "n"), rapid.Float64Range(0, 0.999).Draw(t, "random")
		asked := time.Duration(rapid.Int64Range(0, int64(24*time.Hour)).Draw(t, "asked"))
		got := pause(n, asked, random)
		if asked > 0 && (got < asked || got > asked+time.Second) {
			t.Fatalf("asked for %v, waits %v", asked, got)
		}
		if asked == 0 && (got < firstPause/2 || got > maxPause*3/2) {
			t.Fatalf("waits %v", got)
		}
	})
	if a, b := pause(0, 0, 0), pause(1, 0, 0); b != 2*a {
		t.Errorf("first %v, then %v", a, b)
	}
}

// It waits as long as it is asked to, and says so when there is no time for that.
func TestRetryAfterIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var at []time.Duration
		trip := func(r *http.Request) (*http.Response, error) {
			at = append(at, time.Since(begun))
			switch len(at) {
			case 1:
				return respond(r, 429, strings.NewReader(""), "Retry-After", "3"), nil
			case 2:
				when := time.Now().Add(20 * time.Second).UTC().Format(http.TimeFormat)
				return respond(r, 503, strings.NewReader(""), "Retry-After", when), nil
			}
			return respond(r, 429, strings.NewReader(""), "Retry-After", "3600"), nil
		}
		client := bubbleClient(t, trip, func(c *Config) { c.Retries = 9 })
		_, err := client.Generate(t.Context(), ask(), nil)
		wantErr(t, err, abi.CodeUnavailable, "rate limited, asked to wait 1h0m0s or longer, and is asked again then")
		if len(at) != 3 || at[1] < 3*time.Second || at[1] > 5*time.Second || at[2]-at[1] < 19*time.Second || at[2]-at[1] > 22*time.Second {
			t.Errorf("asked at %v", at)
		}
		if took := time.Since(begun); took > 30*time.Second {
			t.Errorf("it waited in vain for %v", took)
		}
	})
}

// Calls that failed together do not come back together.
func TestJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		at := map[time.Time]int{}
		trip := func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			at[time.Now()]++
			return respond(r, 500, strings.NewReader("")), nil
		}
		client := bubbleClient(t, trip, func(c *Config) { c.Parallel, c.Retries = 20, 1 })
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { _, _ = client.Generate(t.Context(), ask(), nil) }) // all fail
		}
		wg.Wait()
		if len(at) < 15 { // once together, then each alone
			t.Errorf("40 requests came at %d times", len(at))
		}
	})
}

// The deadline ends everything: a silent endpoint, one that drips for ever, the waiting between
// requests, the waiting for a place.
func TestDeadline(t *testing.T) {
	silent := func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() }
	dripping := func(r *http.Request) (*http.Response, error) {
		return respond(r, 200, drip{r.Context(), "data: " + textChunk("a") + "\n\n", time.Second}), nil
	}
	comments := func(r *http.Request) (*http.Response, error) {
		return respond(r, 200, drip{r.Context(), ": wait\n\n", time.Second}), nil
	}
	slowRefusal := func(r *http.Request) (*http.Response, error) {
		return respond(r, 500, drip{r.Context(), "sorry ", time.Second}), nil
	}
	for name, trip := range map[string]tripper{"silent": silent, "dripping": dripping, "comments": comments, "a refusal that drips": slowRefusal} {
		for who, own := range map[string]bool{"ours": true, "the caller's": false} {
			t.Run(name+", "+who, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					begun := time.Now()
					ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
					if !own {
						cancel()
						ctx, cancel = context.WithTimeout(t.Context(), 60*time.Second)
					}
					defer cancel()
					client := bubbleClient(t, trip, func(c *Config) {
						if !own {
							c.Timeout = time.Hour
						}
					})
					_, err := client.Generate(ctx, ask(), func(string) error { return nil })
					wantErr(t, err, abi.CodeTimeout, "in time")
					if took := time.Since(begun); took != 60*time.Second || !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("after %v: %v", took, err)
					}
				})
			})
		}
	}
}

func TestFirstByte(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, n := time.Now(), 0
		trip := func(r *http.Request) (*http.Response, error) {
			if n++; n < 3 { // first no header, then no byte
				if n == 1 {
					<-r.Context().Done()
					return nil, r.Context().Err()
				}
				return respond(r, 200, drip{r.Context(), "data: 1\n\n", time.Hour}), nil
			}
			// The first byte is in time; the rest may be slow.
			slow := io.MultiReader(drip1{r.Context(), "d", 4 * time.Second}, drip1{r.Context(), "ata: " + textChunk("Hello.") + "\n\n", 20 * time.Second},
				strings.NewReader("data: [DONE]\n\n"))
			return respond(r, 200, slow), nil
		}
		client := bubbleClient(t, trip, func(c *Config) { c.FirstByte = 5 * time.Second })
		a, err := client.Generate(t.Context(), ask(), nil)
		if err != nil || a.Text != "Hello." || n != 3 {
			t.Errorf("%+v, %v, %d requests", a, err, n)
		}
		if took := time.Since(begun); took < 34*time.Second || took > 38*time.Second {
			t.Errorf("it took %v", took)
		}
		n = -10
		_, err = client.Generate(t.Context(), ask(), nil)
		wantErr(t, err, abi.CodeTimeout, "sent nothing within 5s")
	})
}

// drip1 gives one text after a pause.
type drip1 struct {
	ctx  context.Context
	text string
	wait time.Duration
}

func (d drip1) Read(p []byte) (int, error) {
	n, err := drip{d.ctx, d.text, d.wait}.Read(p)
	if err == nil {
		err = io.EOF
	}
	return n, err
}

// No more than Parallel calls run, the others wait, and their waiting counts.
func TestParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		trip := func(r *http.Request) (*http.Response, error) {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			select {
			case <-time.After(20 * time.Second):
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
			return respond(r, 200, strings.NewReader("data: "+textChunk("a")+"\n\ndata: [DONE]\n\n")), nil
		}
		client := bubbleClient(t, trip, func(c *Config) { c.Parallel = 2 })
		var wg sync.WaitGroup
		var ok, late atomic.Int32
		begun := time.Now()
		for range 10 {
			wg.Go(func() {
				_, err := client.Generate(t.Context(), ask(), nil)
				if err == nil {
					ok.Add(1)
					return
				}
				late.Add(1)
				if took := time.Since(begun); abi.CodeOf(err) != abi.CodeTimeout || took != 60*time.Second {
					t.Errorf("after %v: %v", took, err)
				}
			})
		}
		wg.Wait()
		if most.Load() != 2 || ok.Load() < 4 || ok.Load() > 6 || ok.Load()+late.Load() != 10 {
			t.Errorf("%d at once, %d answered, %d late", most.Load(), ok.Load(), late.Load())
		}
		// The places are free again.
		if _, err := client.Generate(t.Context(), ask(), nil); err != nil {
			t.Error(err)
		}
	})
}

// A call that is cancelled while it waits for a place or for the next request is gone at once.
func TestCancelledWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trip := func(r *http.Request) (*http.Response, error) {
			return respond(r, 429, strings.NewReader(""), "Retry-After", "30"), nil
		}
		client := bubbleClient(t, trip, func(c *Config) { c.Parallel = 1 })
		begun := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		var wg sync.WaitGroup
		for range 2 { // one waits to ask again, the other for its place
			wg.Go(func() {
				_, err := client.Generate(ctx, ask(), nil)
				if abi.CodeOf(err) != abi.CodeUnavailable || !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(begun); took != time.Second {
			t.Errorf("after %v", took)
		}
	})
}
