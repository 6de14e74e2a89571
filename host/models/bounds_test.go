package models

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/limits"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/prompt"
)

// endpoint answers everything; while over is set it is over its rate.
func endpoint(t *testing.T) (c config.Model, asked *atomic.Int32, over *atomic.Bool) {
	asked, over = new(atomic.Int32), new(atomic.Bool)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if over.Load() {
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"Hello."},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000000,"completion_tokens":0}}`)
	}))
	t.Cleanup(s.Close)
	return config.Model{Name: "main", API: model.OpenAI, URL: s.URL, Model: "tiny", Temperature: -1, Timeout: 10 * time.Second, FirstByte: 10 * time.Second, Parallel: 4, MaxTokens: 100, PriceIn: 2}, asked, over
}

var hello = model.Request{Messages: []model.Message{{Role: model.RoleUser, Text: "hi"}}}

// TestWhatIsOverABound is not asked: what is urgent is told when it may be, what is not is not,
// and a module's call counts like any other.
func TestWhatIsOverABound(t *testing.T) {
	settings, asked, _ := endpoint(t)
	m := New(Config{
		Settings: []config.Model{settings}, Log: slog.New(slog.DiscardHandler),
		Bounds: map[limits.Key]limits.Bounds{{Table: "companion", Name: "aya"}: {Minute: 3}, {Table: "room", Name: "stage"}: {Cost: 3}},
	})
	aya := module.Caller{Companion: "aya", Room: "main", Op: abi.OpVote}
	for range 2 {
		if _, err := m.Generate(t.Context(), aya, "", prompt.Ask{Request: hello}, nil); err != nil {
			t.Fatal(err)
		}
	}
	ask := abi.ModelAsk{Messages: []abi.ModelMessage{{Role: "user", Text: "hi"}}}
	_, err := m.Ask(t.Context(), aya, ask)
	if e := abi.AsError(err); abi.CodeOf(err) != abi.CodeExhausted || e.After != 0 || !strings.Contains(e.Message, "companion.aya.calls_minute") {
		t.Errorf("%+v", err)
	}
	aya.Op = abi.OpSpeak
	if _, err := m.Ask(t.Context(), aya, ask); err != nil {
		t.Error(err)
	}
	_, err = m.Generate(t.Context(), aya, "", prompt.Ask{Request: hello, Urgency: limits.Called}, nil)
	if e := abi.AsError(err); abi.CodeOf(err) != abi.CodeExhausted || e.After < 50_000 || e.After > 61_000 {
		t.Errorf("%+v", err)
	}
	ben := module.Caller{Companion: "ben", Room: "stage"}
	for n := range 3 {
		if _, err = m.Generate(t.Context(), ben, "", prompt.Ask{Request: hello, Urgency: limits.Called}, nil); (err != nil) != (n == 2) {
			t.Errorf("%d: %v", n, err) // two million tokens cost 4
		}
	}
	if n := asked.Load(); n != 5 || !strings.Contains(err.Error(), "room.stage.cost_day: 3 a day is spent") {
		t.Errorf("asked %d times: %v", n, err)
	}
}

// TestOverItsRate: an endpoint that has asked to be left alone is asked by nobody until then.
func TestOverItsRate(t *testing.T) {
	settings, asked, over := endpoint(t)
	over.Store(true)
	m := New(Config{Settings: []config.Model{settings}, Log: slog.New(slog.DiscardHandler)})
	for _, who := range []string{"aya", "ben"} {
		_, err := m.Generate(t.Context(), module.Caller{Companion: who, Room: "main"}, "", prompt.Ask{Request: hello, Urgency: limits.Called}, nil)
		if e := abi.AsError(err); e.Code != abi.CodeUnavailable || e.After < 20_000 || e.After > 30_000 || !strings.Contains(e.Message, "rate limited") {
			t.Errorf("%s: %+v", who, err)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// keysOf gives whose bounds a call of aya's in a room counts for.
func keysOf(t *testing.T, m *Models, room string) []limits.Key {
	t.Helper()
	keys, err := m.counted(t.Context(), "main", module.Caller{Companion: "aya", Room: room})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// TestForksSpendTogether: a room and all that was forked of it have one bound between them, however often it is
// forked, but for a fork that has bounds of its own, with those of it. Where nobody knows what a room is, nothing is spent.
func TestForksSpendTogether(t *testing.T) {
	of := map[string]string{"main-2": "main", "main-3": "main-2", "own": "main-2", "own-2": "own", "side-2": "side"}
	settings, asked, _ := endpoint(t)
	m := New(Config{
		Settings: []config.Model{settings}, Log: slog.New(slog.DiscardHandler),
		Bounds: map[limits.Key]limits.Bounds{{Table: "room", Name: "main"}: {Day: 3}, {Table: "room", Name: "own"}: {Day: 2}},
		ForkedOf: func(_ context.Context, room string) (string, error) {
			if room == "broken" {
				return "", abi.Errorf(abi.CodeUnavailable, "the journal cannot be read")
			}
			return of[room], nil
		},
	})
	for _, c := range []struct {
		room, why string // empty: it is asked
	}{
		{"main-3", ""}, {"main", ""}, {"own-2", ""}, {"main-2", ""},
		{"main", "room.main.calls_day"}, {"main-2", "room.main.calls_day"}, {"main-3", "room.main.calls_day"},
		{"own", ""}, {"own-2", "room.own.calls_day"}, {"own", "room.own.calls_day"},
		{"side-2", ""}, {"broken", "the journal cannot be read"},
	} {
		_, err := m.Generate(t.Context(), module.Caller{Companion: "aya", Room: c.room}, "", prompt.Ask{Request: hello, Urgency: limits.Called}, nil)
		if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want %q", c.room, err, c.why)
		}
	}
	if n := asked.Load(); n != 6 {
		t.Errorf("asked %d times", n)
	}
	for _, d := range m.bounds.days() {
		if want := map[string]int{"main": 3, "own": 2, "side": 1}[d.Name]; d.Table == "room" && d.Calls != want {
			t.Errorf("%+v, want %d", d, want)
		}
	}
}

// TestSpentIsKept: it is written while the daemon runs, so that one that is killed has it again.
func TestSpentIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(memory.KV)
		bounds := map[limits.Key]limits.Bounds{{Table: "model", Name: "main"}: {Day: 5}}
		m := New(Config{Bounds: bounds, Store: store, Log: slog.New(slog.DiscardHandler)})
		ctx, cancel := context.WithCancel(context.Background())
		gone := make(chan error, 1)
		go func() { gone <- m.Run(ctx) }()
		counted := keysOf(t, m, "main")
		for range 3 {
			if err := m.take(counted, limits.Called); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.take(counted, limits.Called); err != nil { // it was repeated once
			t.Fatal(err)
		}
		m.spend(counted, model.Usage{Calls: 2}, nil)
		synctest.Wait()
		again := New(Config{Bounds: bounds, Store: store}) // nothing was told the first that it ends
		if err := again.Restore(ctx); err != nil {
			t.Fatal(err)
		}
		if err := again.take(counted, limits.Called); err != nil {
			t.Error(err)
		}
		if d := again.bounds.days(); len(d) != 3 || d[0].Name != "aya" || d[0].Calls != 5 || d[1].Calls != 5 {
			t.Errorf("%+v", d)
		}
		if err := m.take(counted, limits.Called); err != nil {
			t.Error(err)
		}
		cancel()
		if err := <-gone; err != nil {
			t.Error(err)
		}
		if text, _, _ := store.KVGet(context.Background(), storeOwner, storeKey); !strings.Contains(text, `"calls":5`) {
			t.Errorf("kept %s", text)
		}
		if err := store.KVSet(context.Background(), storeOwner, storeKey, "{"); err != nil || again.Restore(context.Background()) == nil {
			t.Error("what cannot be read is taken for nothing")
		}
	})
}

// TestAMinuteIsKept: what the last minute spent counts after a restart, also of a daemon that was killed.
func TestAMinuteIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(memory.KV)
		bounds := map[limits.Key]limits.Bounds{{Table: "model", Name: "main"}: {Minute: 7}, {Table: "companion", Name: "aya"}: {Day: 100}}
		counted := keysOf(t, New(Config{}), "main")
		open := func() (m *Models, kill func()) {
			m = New(Config{Bounds: bounds, Store: store, Log: slog.New(slog.DiscardHandler)})
			if err := m.Restore(context.Background()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			gone := make(chan error, 1)
			go func() { gone <- m.Run(ctx) }()
			return m, func() {
				synctest.Wait() // what is not written by now is not when it ends either
				was, _, _ := store.KVGet(context.Background(), storeOwner, storeKey)
				cancel()
				if err := <-gone; err != nil {
					t.Error(err)
				}
				if is, _, _ := store.KVGet(context.Background(), storeOwner, storeKey); is != was {
					t.Errorf("at its end alone it wrote %s", is)
				}
			}
		}
		made := 0
		for range 3 {
			m, kill := open()
			for range 3 {
				if m.take(counted, limits.Called) == nil {
					made++
				}
			}
			time.Sleep(5 * time.Second)
			kill()
		}
		if made != 7 {
			t.Errorf("%d calls in a minute", made)
		}
		time.Sleep(46 * time.Second)
		m, kill := open()
		if err := m.take(counted, limits.Called); err != nil {
			t.Errorf("a minute later: %v", err)
		}
		kill()
	})
}

// TestNotToComeBack: while something is left for those who call somebody, others are not told when to come
// back, for nobody asks their speaker until then.
func TestNotToComeBack(t *testing.T) {
	m := New(Config{Bounds: map[limits.Key]limits.Bounds{{Table: "model", Name: "main"}: {Minute: 12}}, Log: slog.New(slog.DiscardHandler)})
	counted := keysOf(t, m, "main")
	made := 0
	var err error
	for err == nil {
		made++
		err = m.take(counted, limits.Waits)
	}
	if e := abi.AsError(err); made != 11 || e.Code != abi.CodeExhausted || e.After != 0 || !strings.Contains(e.Message, "kept for those who call somebody") {
		t.Errorf("%d, %+v", made-1, err)
	}
	for range 2 {
		if err := m.take(counted, limits.Called); err != nil {
			t.Error(err)
		}
	}
	for _, u := range []limits.Urgency{limits.Waits, limits.Called} {
		if e := abi.AsError(m.take(counted, u)); e == nil || e.After == 0 || strings.Contains(e.Message, "but for") {
			t.Errorf("%+v", e)
		}
	}
}
