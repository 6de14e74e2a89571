package models

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/limits"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/prompt"
)

// TestRetriesCount: each request is counted before it is sent, those that are sent again as well, so
// that no bound is passed, however many ask at once.
func TestRetriesCount(t *testing.T) {
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked.Add(1)
		w.Header().Set("Retry-After-Ms", "1")
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer s.Close()
	settings := config.Model{Name: "main", API: model.OpenAI, URL: s.URL, Model: "tiny", Temperature: -1, Timeout: 20 * time.Second, Retries: 3, Parallel: 8}
	m := New(Config{Settings: []config.Model{settings}, Log: slog.New(slog.DiscardHandler),
		Bounds: map[limits.Key]limits.Bounds{{Table: "model", Name: "main"}: {Minute: 10, Day: 100}}})
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			a, err := m.Generate(context.Background(), module.Caller{Companion: "aya", Room: "main"}, "", prompt.Ask{Request: hello, Urgency: limits.Called}, nil)
			var e *abi.Error
			if !errors.As(err, &e) || e.Code != abi.CodeUnavailable && (e.Code != abi.CodeExhausted || e.After < 1000 || e.Message != "model.main.calls_minute: 10 a minute are used up") {
				t.Errorf("%+v, %v", a, err)
			}
		})
	}
	all.Wait()
	if n := asked.Load(); n != 10 {
		t.Errorf("asked %d times, of 10", n)
	}
	if d := m.bounds.days(); len(d) != 3 || d[1].Table != "model" || d[1].Calls != 10 {
		t.Errorf("%+v", d)
	}
}
