package module_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/module"
)

func TestReadReply(t *testing.T) {
	for reply, why := range map[string]string{
		"":                              "no JSON",
		"\xff":                          "UTF-8",
		`{"ok":1,"error":{"code":"x"}}`: "both",
		`{}`:                            "neither",
		`[]`:                            "no JSON",
	} {
		if _, _, err := module.ReadReply([]byte(reply)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %s", reply, err, why)
		}
	}
	long, _ := json.Marshal(abi.Reply{Error: &abi.Error{Code: "x", Message: strings.Repeat("あ", 4000)}})
	if _, e, err := module.ReadReply(long); err != nil || e.Code != abi.CodeInternal || len(e.Message) > 4<<10+3 || strings.ContainsRune(e.Message, '\uFFFD') {
		t.Errorf("%v, %v", e, err)
	}
	if ok, e, err := module.ReadReply([]byte(`{"ok":{"a":1}}`)); string(ok) != `{"a":1}` || e != nil || err != nil {
		t.Errorf("%s, %v, %v", ok, e, err)
	}
}

type calls func(op string) (json.RawMessage, error)

func (c calls) HostCall(_ context.Context, _ module.Caller, op string, _ json.RawMessage) (json.RawMessage, error) {
	return c(op)
}

func TestAsking(t *testing.T) {
	var book logtest.Log
	answers := calls(func(op string) (json.RawMessage, error) {
		switch op {
		case "panics":
			panic("boom")
		case "long":
			return json.Marshal(strings.Repeat("x", abi.MaxAnswer))
		case "no json":
			return json.RawMessage("{"), nil
		}
		return nil, nil
	})
	for _, c := range []struct {
		asking    module.Asking
		ask, want string
	}{
		{module.Asking{Calls: answers, Loaded: true}, `{"op":"x"}`, `{"ok":{}}`},
		{module.Asking{Calls: answers, Loaded: true}, `{"op":"panics"}`, "internal"},
		{module.Asking{Calls: answers, Loaded: true}, `{"op":"long"}`, "too_large"},
		{module.Asking{Calls: answers, Loaded: true}, `{"op":"no json"}`, "internal"},
		{module.Asking{Calls: answers, Loaded: true}, `{`, "invalid"},
		{module.Asking{Calls: answers}, `{"op":"x"}`, "unavailable"},
		{module.Asking{Loaded: true}, `{"op":"x"}`, "unknown_op"},
	} {
		c.asking.Log = book.Logger()
		if got := string(c.asking.Answer(t.Context(), []byte(c.ask), len(c.ask))); !strings.Contains(got, c.want) || len(got) > 1000 {
			t.Errorf("%s: %.200s, want %s", c.ask, got, c.want)
		}
	}
	if book.Count("host call panicked") != 1 {
		t.Errorf("the log says %s", &book)
	}
	if got := (module.Asking{Calls: answers, Loaded: true}).Answer(t.Context(), nil, abi.MaxReply+1); !strings.Contains(string(got), "too_large") {
		t.Errorf("%s", got)
	}
}
