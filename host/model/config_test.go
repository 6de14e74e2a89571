package model

import (
	"net/http"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
)

func TestTarget(t *testing.T) {
	for _, c := range []struct{ api, url, want string }{
		{OpenAI, "http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1/chat/completions"},
		{OpenAI, "http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1/chat/completions"},
		{OpenAI, "http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/chat/completions"},
		{OpenAI, "https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions"},
		{OpenAI, "https://x.example/v1beta/openai/", "https://x.example/v1beta/openai/chat/completions"},
		{OpenAI, "http://[::1]:1234/v1", "http://[::1]:1234/v1/chat/completions"},
		{Anthropic, "https://api.anthropic.com", "https://api.anthropic.com/v1/messages"},
		{Anthropic, "https://api.anthropic.com/v1/", "https://api.anthropic.com/v1/messages"},
		{Anthropic, "https://proxy.example/claude", "https://proxy.example/claude/v1/messages"},
	} {
		if got := target(c.api, c.url); got != c.want {
			t.Errorf("%s %s: %s", c.api, c.url, got)
		}
	}
}

// New opens nothing: the endpoint need not be there, and the key is not read.
func TestNewAsksNothing(t *testing.T) {
	client := New(Config{Name: "main", API: Anthropic, URL: "https://nowhere.invalid", Model: "x", Timeout: time.Minute, Parallel: 1,
		Key:  func() (string, error) { t.Error("the key was read"); return "", nil },
		HTTP: &http.Client{Transport: tripper(func(*http.Request) (*http.Response, error) { panic("asked") })}})
	if client.Name() != "main" {
		t.Fatal(client)
	}
	if _, err := client.Generate(t.Context(), Request{}, nil); abi.CodeOf(err) != abi.CodeInvalid {
		t.Error(err)
	}
}

// The caller's http.Client is not changed.
func TestNewLeavesTheHTTPClientAlone(t *testing.T) {
	own := &http.Client{}
	if New(Config{Name: "main", API: OpenAI, URL: "http://x", Model: "x", HTTP: own}); own.CheckRedirect != nil {
		t.Error("CheckRedirect was set")
	}
}
