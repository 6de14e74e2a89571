package model

import (
	"math"
	"net/http"
	"strings"
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
		if got, err := target(c.api, c.url); err != nil || got != c.want {
			t.Errorf("%s %s: %s, %v", c.api, c.url, got, err)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	hot, none := 2.5, math.NaN()
	for want, change := range map[string]func(*Config){
		"url: is missing":                      func(c *Config) { c.URL = "" },
		"url: is not a URL":                    func(c *Config) { c.URL = "http://user:hunter2 @[x" },
		"url: must begin with http":            func(c *Config) { c.URL = "ftp://x/v1" },
		"url: must begin with http://":         func(c *Config) { c.URL = "127.0.0.1/v1" },
		"url: has no host":                     func(c *Config) { c.URL = "http:///v1" },
		"url: must not hold a user":            func(c *Config) { c.URL = "http://me:hunter2@x/v1" },
		"url: must not have a query":           func(c *Config) { c.URL = "http://x/v1?key=hunter2" },
		"url: must not have a query or":        func(c *Config) { c.URL = "http://x/v1#hunter2" },
		"without /chat/completions":            func(c *Config) { c.URL = "http://x/v1/chat/completions" },
		"without /messages":                    func(c *Config) { c.API, c.URL = Anthropic, "http://x/v1/messages/" },
		`api: must be "openai" or "anthropic"`: func(c *Config) { c.API = "gemini" },
		"model: is missing":                    func(c *Config) { c.Model = "" },
		"name: is missing":                     func(c *Config) { c.Name = "" },
		"structured: must be one of auto":      func(c *Config) { c.Structured = "xml" },
		"effort: must be one of none, low":     func(c *Config) { c.Effort = "max" },
		`without: must be some of effort, `:    func(c *Config) { c.Without = []string{"tools", "arms"} },
		`tools_while_thinking, has "arms"`:     func(c *Config) { c.Without = []string{"tools", "arms"} },
		"timeout: must not be negative":        func(c *Config) { c.Timeout = -time.Second },
		"first_byte: must not be negative":     func(c *Config) { c.FirstByte = -1 },
		"parallel: must be":                    func(c *Config) { c.Parallel = -1 },
		"max_tokens: must not":                 func(c *Config) { c.MaxTokens = -1 },
		"temperature: must be 0 to 2, is 2.5":  func(c *Config) { c.Temperature = &hot },
		"temperature: must be 0 to 2, is NaN":  func(c *Config) { c.Temperature = &none },
		"price_in: must not":                   func(c *Config) { c.PriceIn = -1 },
		"price_out: must not":                  func(c *Config) { c.PriceOut = math.Inf(1) },
		"price_cached: must not":               func(c *Config) { c.PriceCached = math.NaN() },
	} {
		c := Config{Name: "main", API: OpenAI, URL: "http://x/v1", Model: "tiny"}
		change(&c)
		client, err := New(c)
		if client != nil || abi.CodeOf(err) != abi.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the password is in %v", err)
		}
	}
}

// New opens nothing: the endpoint need not be there, and the key is not read.
func TestNewAsksNothing(t *testing.T) {
	client, err := New(Config{Name: "main", API: Anthropic, URL: "https://nowhere.invalid", Model: "x",
		Key:  func() (string, error) { t.Error("the key was read"); return "", nil },
		HTTP: &http.Client{Transport: tripper(func(*http.Request) (*http.Response, error) { panic("asked") })}})
	if err != nil || client.Name() != "main" {
		t.Fatal(client, err)
	}
	if _, err := client.Generate(t.Context(), Request{}, nil); abi.CodeOf(err) != abi.CodeInvalid {
		t.Error(err)
	}
}

// The caller's http.Client is not changed.
func TestNewLeavesTheHTTPClientAlone(t *testing.T) {
	own := &http.Client{}
	if _, err := New(Config{Name: "main", API: OpenAI, URL: "http://x", Model: "x", HTTP: own}); err != nil || own.CheckRedirect != nil {
		t.Error(err, "or CheckRedirect was set")
	}
}
