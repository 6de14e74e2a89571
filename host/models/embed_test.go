package models

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/limits"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/module"
)

// TestEmbed: vectors are asked for under the bounds of calls, are written down with what they cost, and are
// never urgent.
func TestEmbed(t *testing.T) {
	var asked atomic.Int32
	var down atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if down.Load() {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, `{"data":[{"embedding":[1,2]}],"usage":{"prompt_tokens":100000}}`)
	}))
	defer s.Close()
	var used []entry.Usage
	var rooms []string
	m := New(Config{
		Settings: []config.Model{
			{Name: "main", API: model.OpenAI, URL: s.URL, Model: "tiny", Embeddings: "nomic", Temperature: -1, Timeout: 10 * time.Second, FirstByte: 10 * time.Second, Parallel: 4, MaxTokens: 100, PriceIn: 2},
			{Name: "plain", API: model.OpenAI, URL: s.URL, Model: "tiny", Temperature: -1, Parallel: 1},
		},
		Log: slog.New(slog.DiscardHandler), Bounds: map[limits.Key]limits.Bounds{{Table: "model", Name: "main"}: {Minute: 6}},
		Used: func(_ context.Context, room string, u entry.Usage) {
			used, rooms = append(used, u), append(rooms, room)
		},
	})
	for wanted, want := range map[string]string{"": "nomic", "main": "nomic", "plain": "", "none": ""} {
		if got := m.Embeds(wanted); got != want {
			t.Errorf("%q: %q, want %q", wanted, got, want)
		}
	}
	c := module.Caller{Companion: "aya", Room: "main", Op: "recall"}
	for n := range 3 {
		got, err := m.Embed(t.Context(), c, "", []string{"a"})
		if err != nil || len(got) != 1 || len(got[0]) != 2 {
			t.Fatalf("%d: %v, %v", n, got, err)
		}
		c.Room = "" // of what is remembered, wherever that was
	}
	down.Store(true)
	if _, err := m.Embed(t.Context(), c, "", []string{"a"}); abi.CodeOf(err) != abi.CodeInvalid {
		t.Error(err)
	}
	_, err := m.Embed(t.Context(), c, "", []string{"a"})
	if e := abi.AsError(err); abi.CodeOf(err) != abi.CodeExhausted || e.After != 0 || !strings.Contains(e.Message, "model.main.calls_minute") {
		t.Errorf("%+v", err)
	}
	if n := asked.Load(); n != 4 || len(used) != 4 || fmt.Sprint(rooms) != "[main   ]" {
		t.Fatalf("asked %d times, told %+v in %q", n, used, rooms)
	}
	if u := used[0]; u.Who != "aya" || u.Op != "recall" || u.Model != "main" || u.In != 100000 || u.Calls != 1 || math.Abs(u.Cost-.2) > 1e-9 || u.Error != "" || used[3].Error == "" {
		t.Errorf("%+v", used)
	}
	if _, err := m.Embed(t.Context(), c, "none", []string{"a"}); abi.CodeOf(err) != abi.CodeUnavailable {
		t.Error(err)
	}
}
