package models

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/limits"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/prompt"
)

// TestReplace: models of another configuration are there at once, those that it does not touch are the same ones, and what
// was spent counts for bounds that come with it.
func TestReplace(t *testing.T) {
	settings, asked, _ := endpoint(t)
	m := New(Config{Log: slog.New(slog.DiscardHandler)})
	aya := module.Caller{Companion: "aya", Room: "main"}
	ask := func() error {
		_, err := m.Generate(t.Context(), aya, "", prompt.Ask{Request: hello, Urgency: limits.Called}, nil)
		return err
	}
	if err := ask(); abi.CodeOf(err) != abi.CodeUnavailable || !strings.Contains(err.Error(), "waits for a model") {
		t.Errorf("without a model: %v", err)
	}
	m.Replace([]config.Model{settings}, nil)
	if err := ask(); err != nil || m.Waits("aya", "") != "" {
		t.Errorf("%v, %q", err, m.Waits("aya", ""))
	}
	was, _ := m.of("")
	second := settings
	second.Name = "second"
	m.Replace([]config.Model{second, settings}, map[limits.Key]limits.Bounds{{Table: "model", Name: "main"}: {Day: 2}})
	if is, _ := m.of("main"); is != was {
		t.Error("a model that did not change is another one")
	}
	if err := ask(); err != nil {
		t.Error(err)
	}
	if err := ask(); abi.CodeOf(err) != abi.CodeExhausted || asked.Load() != 2 {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
	m.Replace(nil, nil)
	if err := ask(); abi.CodeOf(err) != abi.CodeUnavailable {
		t.Error(err)
	}
}

// TestReplaceInACall: a call that runs ends with the model that it was begun with.
func TestReplaceInACall(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		<-goOn
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"Hello."},"finish_reason":"stop"}]}`)
	}))
	defer s.Close()
	settings, _, _ := endpoint(t)
	settings.URL = s.URL
	m := New(Config{Settings: []config.Model{settings}, Log: slog.New(slog.DiscardHandler)})
	done := make(chan error, 1)
	go func() {
		a, err := m.Generate(t.Context(), module.Caller{Companion: "aya", Room: "main"}, "", prompt.Ask{Request: hello}, nil)
		if err == nil && a.Text != "Hello." {
			t.Errorf("%+v", a)
		}
		done <- err
	}()
	<-begun
	m.Replace(nil, nil)
	close(goOn)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
