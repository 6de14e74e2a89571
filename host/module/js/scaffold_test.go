package js_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/sdk/scaffold"
)

// told is a store that writes down what else was asked.
type told struct {
	store
	all []string
}

func (s *told) HostCall(ctx context.Context, by module.Caller, op string, data json.RawMessage) (json.RawMessage, error) {
	if strings.HasPrefix(op, "kv.") {
		return s.store.HostCall(ctx, by, op, data)
	}
	s.all = append(s.all, op+" "+string(data))
	return json.RawMessage("{}"), nil
}

// TestNewHandlers: what companiond new handler writes in TypeScript does what it says.
func TestNewHandlers(t *testing.T) {
	for _, c := range []struct {
		kind     scaffold.Kind
		op, data string
		want     string
		code     abi.Code
		calls    []string
	}{
		{scaffold.Act, abi.OpAct, `{"action":"momo.count","parameters":{"what":"points","by":2},"settings":{"most":5}}`, `{"message":"points: 2 now"}`, "", nil},
		{scaffold.Act, abi.OpAct, `{"action":"momo.count","parameters":{"what":"points","by":9},"settings":{"most":5}}`, "", abi.CodeDenied, nil},
		{scaffold.Act, abi.OpAct, `{"action":"momo.count","parameters":{"what":"points","by":9}}`, `{"message":"points: 9 now"}`, "", nil},
		{scaffold.Line, abi.OpLine, `{"text":"ヤス did it, ヤス!","settings":{"words":["ヤス"]}}`, `{"text":"… did it, …!"}`, "", nil},
		{scaffold.Line, abi.OpLine, `{"text":"nobody did"}`, `{}`, "", nil},
		{scaffold.Perception, abi.OpSense, `{"perception":{"title":"chat","body":{"text":["you can BUY it"]}},"settings":{"words":["buy"]}}`, `{"refuse":"it has a word that is not wanted"}`, "", nil},
		{scaffold.Perception, abi.OpSense, `{"perception":{"title":"chat","body":"good morning"},"settings":{"words":["buy"]}}`, `{}`, "", nil},
		{scaffold.Source, abi.OpTimer, `{"name":"again","companions":["aya"],"settings":{"perception":"news","text":"hello","minutes":10}}`, `{}`, "", []string{
			`timer.set {"name":"again","after_ms":600000}`, `perception.emit {"companion":"aya","title":"news","body":{"text":"hello"}}`}},
	} {
		dir, calls := t.TempDir(), &told{store: store{kv: map[string]string{}}}
		f := scaffold.Folder{Name: "momo", Kind: c.kind, Lang: scaffold.TypeScript}
		if _, err := f.Write(dir); err != nil {
			t.Fatal(err)
		}
		m, err := load(t, newEngine(t, calls), "momo.ts", mustRead(t, filepath.Join(dir, "momo", "main.ts")))
		if err != nil {
			t.Fatalf("%s: %v", c.kind, err)
		}
		reply, err := m.Call(t.Context(), abi.Request{Op: c.op, ID: "1", Self: "momo", Data: json.RawMessage(c.data)})
		if string(reply) != c.want || abi.CodeOf(err) != c.code {
			t.Errorf("%s %s: %s, %v", c.op, c.data, reply, err)
		}
		if want := c.calls; !slices.Equal(calls.all, want) {
			t.Errorf("%s asks for %q", c.kind, calls.all)
		}
		readme, err := os.ReadFile(filepath.Join(dir, "momo", "README.md"))
		if err != nil || !strings.Contains(string(readme), f.TOML()) {
			t.Errorf("%v\n%s", err, readme)
		}
	}
}
