package js_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
)

type step struct {
	Request abi.Request
	Raw     *string
	Host    []struct {
		Expect abi.Request
		Answer abi.Reply
	}
	Reply *abi.Reply
	Fails abi.Code
}

// asked answers the host calls of a step, in their order.
type asked struct {
	t    *testing.T
	left step
	by   module.Caller // who asked last
}

func (a *asked) HostCall(_ context.Context, by module.Caller, op string, data json.RawMessage) (json.RawMessage, error) {
	a.by = by
	if len(a.left.Host) == 0 {
		a.t.Fatalf("an unexpected host call: %s %s", op, data)
	}
	h := a.left.Host[0]
	a.left.Host = a.left.Host[1:]
	if op != h.Expect.Op || !equal(data, h.Expect.Data) {
		a.t.Errorf("it asks %s %s, want %s %s", op, data, h.Expect.Op, h.Expect.Data)
	}
	if h.Answer.Error != nil {
		return nil, h.Answer.Error
	}
	return h.Answer.OK, nil
}

// equal compares JSON by value; what is absent is null.
func equal(a, b []byte) bool {
	var x, y any
	_, _ = json.Unmarshal(a, &x), json.Unmarshal(b, &y)
	return reflect.DeepEqual(x, y)
}

// TestVectors: the echo in JavaScript answers what the vectors of abi say, with the helpers that makers may import and without.
func TestVectors(t *testing.T) {
	for name, source := range map[string]module.Source{
		"alone":   {ID: "echo", Name: "echo.js", Data: []byte(echo(t)), Generation: 1},
		"helpers": {ID: "echo", Name: "echo", Siblings: map[string][]byte{"main.js": []byte(mustRead(t, "testdata/helped.js")), "echo.js": []byte(echo(t))}, Generation: 1},
	} {
		t.Run(name, func(t *testing.T) { vectors(t, source) })
	}
}

func vectors(t *testing.T, source module.Source) {
	calls := &asked{}
	e := newEngine(t, calls)
	files, err := filepath.Glob("../../../abi/testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("vectors: %v, %v", files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var vectors []struct {
			Name  string
			Steps []step
		}
		if err := json.Unmarshal(b, &vectors); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		for _, v := range vectors {
			t.Run(v.Name, func(t *testing.T) {
				m, err := e.Load(t.Context(), source)
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close(context.Background())
				for i, s := range v.Steps {
					if s.Raw != nil {
						continue // the daemon writes requests
					}
					calls.t, calls.left = t, s
					got, err := m.Call(t.Context(), s.Request)
					if n := len(calls.left.Host); n > 0 {
						t.Errorf("step %d: %d host calls are missing", i, n)
					}
					switch code := abi.CodeOf(err); {
					case s.Fails != "" && code != s.Fails:
						t.Errorf("step %d: %s, %v, want an error %q", i, got, err, s.Fails)
					case s.Reply != nil && s.Reply.Error != nil && (err == nil || code != s.Reply.Error.Code):
						t.Errorf("step %d: %s, %v, want %v", i, got, err, s.Reply.Error)
					case s.Reply != nil && s.Reply.Error == nil && (err != nil || !equal(got, s.Reply.OK)):
						t.Errorf("step %d: %s, %v, want %s", i, got, err, s.Reply.OK)
					}
				}
			})
		}
	}
}
