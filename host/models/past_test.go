package models

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/module/prompt"
)

// TestHouseVerifies: a house with a model and no companion has drafts verified over the wire; each request
// is written down, and an answer that was cut off is no YES, also where all of its JSON came.
func TestHouseVerifies(t *testing.T) {
	verdict := `{"items":[{"id":"M1","status":"kept","quote":"84,000"}],"added":[],"feedback":"","verdict":"YES"}`
	finish, content := "stop", verdict
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := json.Marshal(map[string]any{
			"choices": []any{map[string]any{"message": map[string]string{"content": content}, "finish_reason": finish}},
			"usage":   map[string]int{"prompt_tokens": 900, "completion_tokens": 30},
		})
		_, _ = w.Write(b)
	}))
	defer s.Close()
	var used []entry.Usage
	m := New(Config{
		Settings: []config.Model{{Name: "main", API: model.OpenAI, URL: s.URL, Model: "tiny", Temperature: -1, Timeout: time.Minute, FirstByte: time.Minute, Parallel: 1, MaxTokens: 100, Context: 8000}},
		Log:      slog.New(slog.DiscardHandler),
		Used: func(_ context.Context, room string, u entry.Usage) {
			if room != "main" {
				t.Errorf("written down in %q", room)
			}
			used = append(used, u)
		},
	})
	ask, err := json.Marshal(abi.Verifying{Turns: []abi.PastTurn{{N: 1, From: "taro", Text: "84,000"}}, Keep: []abi.KeepItem{{ID: "M1", Text: "84,000", Turn: 1}}, Draft: "84,000."})
	if err != nil {
		t.Fatal(err)
	}
	verify := func() (v abi.Verified, err error) {
		got, err := prompt.NewHouse("model", m, "").Call(t.Context(), abi.Request{V: 1, Op: abi.OpVerify, ID: "p1", Room: "main", Data: ask})
		if err != nil {
			return v, err
		}
		return v, json.Unmarshal(got, &v)
	}
	if v, err := verify(); err != nil || v.Verdict != abi.VerdictYes || v.Items[0].Quote != "84,000" {
		t.Errorf("%+v, %v", v, err)
	}
	if len(used) != 1 || used[0].Who != "model" || used[0].Op != abi.OpVerify || used[0].Model != "main" || used[0].In != 900 || used[0].Out != 30 || used[0].Error != "" {
		t.Errorf("%+v", used)
	}
	finish = "length"
	if v, err := verify(); abi.CodeOf(err) != abi.CodeInvalid || v.Verdict != "" {
		t.Errorf("cut off: %+v, %v", v, err)
	}
	content = verdict[:len(verdict)-20]
	if v, err := verify(); abi.CodeOf(err) != abi.CodeTooLarge || v.Verdict != "" {
		t.Errorf("half of it: %+v, %v", v, err)
	}
	if n := len(used); n != 3 || used[2].Calls != 2 || used[2].Error == "" {
		t.Errorf("%d times: %+v", n, used)
	}
}
