package models

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/module"
)

// TestKeyFiles: a bad file is told with the name of the setting, never with what
// is in it.
func TestKeyFiles(t *testing.T) {
	dir := t.TempDir()
	plain := func(setting string) (string, error) { return filepath.Join(dir, setting), nil }
	for text, want := range map[string]string{
		"sk-secret": "", "\n sk-secret\n\n": "", "": "must hold the key and nothing else",
		"\n": "must hold the key and nothing else", "sk-secret\nsk-secret": "must hold the key and nothing else",
		"sk-secret\x00": "must hold the key and nothing else", strings.Repeat("sk-secret", 1000): "more than 8192 bytes",
	} {
		if err := os.WriteFile(filepath.Join(dir, "key"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		key, err := readKey(config.Model{Name: "main", Key: "key"}, plain)
		switch {
		case want == "" && (err != nil || key != "sk-secret"):
			t.Errorf("%q: %q, %v", text, key, err)
		case want != "" && (err == nil || key != "" || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "model.main.key: ") || strings.Contains(err.Error(), "secret")):
			t.Errorf("%.20q: %q, %v", text, key, err)
		}
	}
	for name, file := range map[string]func(string) (string, error){
		"no file":       func(string) (string, error) { return filepath.Join(dir, "none"), nil },
		"a folder":      func(string) (string, error) { return dir, nil },
		"no credential": func(string) (string, error) { return "", errors.New("there is no credential") },
	} {
		if key, err := readKey(config.Model{Name: "main", Key: "key"}, file); err == nil || key != "" || !strings.HasPrefix(err.Error(), "model.main.key: ") {
			t.Errorf("%s: %q, %v", name, key, err)
		}
	}
	if key, err := readKey(config.Model{Name: "main"}, nil); key != "" || err != nil {
		t.Errorf("a model without a key: %q, %v", key, err)
	}
}

// TestWhichModel: a card that names none gets the only one, or "main"; a companion
// that waits for one is told what to do about it.
func TestWhichModel(t *testing.T) {
	one := func(name string) config.Model {
		return config.Model{Name: name, API: model.OpenAI, URL: "http://127.0.0.1:1/v1", Model: "tiny", Temperature: -1}
	}
	for _, tc := range []struct {
		models      []config.Model
		wanted, got string
		waits       string
	}{
		{nil, "", "", "write [model.main] into the configuration"},
		{nil, "big", "", `its card names "big", and the configuration has no [model.big]`},
		{[]config.Model{one("tiny")}, "", "tiny", ""},
		{[]config.Model{one("tiny")}, "big", "", `has no [model.big]`},
		{[]config.Model{one("tiny"), one("big")}, "", "", "has several and none is called"},
		{[]config.Model{one("tiny"), one("main")}, "", "main", ""},
		{[]config.Model{one("tiny"), one("main")}, "tiny", "tiny", ""},
	} {
		m := New(Config{Settings: tc.models, Log: slog.New(slog.DiscardHandler)})
		client, why := m.of(tc.wanted)
		if got := client != nil; got != (tc.got != "") || got && client.Name() != tc.got || !strings.Contains(why, tc.waits) || (why == "") != got {
			t.Errorf("%d models, %q is wanted: %v, %q", len(tc.models), tc.wanted, client, why)
		}
		if m.Waits("x", tc.wanted) != why {
			t.Errorf("waits: %q, want %q", m.Waits("x", tc.wanted), why)
		}
	}
}

// TestWithout: the configuration takes the name of each thing that a client can do
// without, and the client asks so.
func TestWithout(t *testing.T) {
	lacks := `"` + strings.Join(model.Lacks(), `", "`) + `"`
	c, problems := config.Parse("companiond.toml", []byte("[model.main]\nmodel = \"tiny\"\nwithout = ["+lacks+"]\n"), nil)
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	asked := make(chan string, 1)
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked <- string(body)
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"Hello."},"finish_reason":"stop"}]}`)
	}))
	defer endpoint.Close()
	c.Models[0].URL, c.Models[0].Temperature = endpoint.URL, 1
	m := New(Config{Settings: c.Models, Log: slog.New(slog.DiscardHandler)})
	if _, err := m.Ask(t.Context(), module.Caller{Companion: "aya", Room: "main"}, abi.ModelAsk{Messages: []abi.ModelMessage{{Role: "user", Text: "hi"}}}); err != nil {
		t.Fatal(err)
	}
	if want := `{"model":"tiny","messages":[{"content":"hi","role":"user"}],"stream":true,"max_completion_tokens":1024}`; want != <-asked {
		t.Errorf("it was not asked %s", want)
	}
}

// TestModelAsks: a wrong request of a module never reaches a model.
func TestModelAsks(t *testing.T) {
	m := New(Config{})
	for want, ask := range map[string]abi.ModelAsk{
		"messages: must not be empty": {},
		`schema.type: is "nubmer", must be one of "array", "boolean", "integer", "null", "number", "object", "string"; did you mean "number"?`: {
			Schema: []byte(`{"type":"nubmer"}`), Messages: []abi.ModelMessage{{Role: "user", Text: "a"}}},
		`schema: is no JSON`: {Schema: []byte(`x`), Messages: []abi.ModelMessage{{Role: "user", Text: "a"}}},
		`messages[1].role: "system" is neither "user" nor "assistant"`: {Messages: []abi.ModelMessage{{Role: "user", Text: "a"}, {Role: "system", Text: "b"}}},
	} {
		if _, err := m.Ask(context.Background(), module.Caller{}, ask); abi.CodeOf(err) != abi.CodeInvalid || !strings.HasPrefix(abi.AsError(err).Message, want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := m.Ask(context.Background(), module.Caller{}, abi.ModelAsk{Messages: []abi.ModelMessage{{Role: "user", Text: "a"}}}); abi.CodeOf(err) != abi.CodeUnavailable {
		t.Errorf("without a model: %v", err)
	}
}

// TestAnswersAreHeldToTheSchema of the module that asked.
func TestAnswersAreHeldToTheSchema(t *testing.T) {
	check, err := checkOf([]byte(`{"type":"object","properties":{"mood":{"type":"string","enum":["glad","sad"]}},"required":["mood"]}`))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"mood":"glad"}`: "", `{"mood":"glad","more":1}`: "", `{}`: "mood: is missing", `{"mood":"angry"}`: "mood: ", `[]`: "answer: is an array", `{`: "answer: ",
	} {
		err := check([]byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestWhoseModel: the card of a module names its model as that of a companion without code does.
func TestWhoseModel(t *testing.T) {
	m := New(Config{Wants: func(companion string) string { return map[string]string{"seer": "big"}[companion] }})
	ask := abi.ModelAsk{Messages: []abi.ModelMessage{{Role: "user", Text: "a"}}}
	for who, want := range map[string]string{"seer": `its card names "big"`, "aya": "write [model.main]"} {
		if _, err := m.Ask(context.Background(), module.Caller{Companion: who}, ask); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", who, err)
		}
	}
}
