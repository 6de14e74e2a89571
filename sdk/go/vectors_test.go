package companion_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/testdata/reference"
)

// vector is a conversation of abi/testdata; abi's own test documents the form.
type vector struct {
	Name  string
	Steps []struct {
		Request json.RawMessage
		Raw     string
		Host    []struct{ Expect, Answer json.RawMessage }
		Reply   json.RawMessage
		Fails   abi.Code
	}
}

// register makes the reference character the one of this program.
var register = sync.OnceFunc(func() { companion.Register(reference.Character()) })

// The Go SDK answers the vectors as written.
func TestVectors(t *testing.T) {
	register()
	files, err := filepath.Glob("../../abi/testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("vectors: %v, %v", files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var vs []vector
		if err := json.Unmarshal(b, &vs); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		for _, v := range vs {
			t.Run(v.Name, func(t *testing.T) { run(t, v) })
		}
	}
}

func run(t *testing.T, v vector) {
	for i, s := range v.Steps {
		asked := 0
		host := func(request []byte) []byte {
			if asked >= len(s.Host) {
				t.Fatalf("step %d: an unexpected host call: %s", i, request)
			}
			h := s.Host[asked]
			asked++
			if !equal(h.Expect, request) {
				t.Errorf("step %d: the guest asks %s, want %s", i, request, h.Expect)
			}
			return h.Answer
		}
		in := []byte(s.Raw)
		if s.Request != nil {
			in = s.Request
		}
		out, _ := companion.Serve(in, quiet(host))
		if asked != len(s.Host) {
			t.Errorf("step %d: %d of %d host calls", i, asked, len(s.Host))
		}
		if s.Reply != nil && !equal(s.Reply, out) {
			t.Errorf("step %d: reply %.300s, want %.300s", i, out, s.Reply)
		}
		var r abi.Reply
		if err := json.Unmarshal(out, &r); err != nil {
			t.Fatalf("step %d: %v in %.300s", i, err, out)
		}
		if s.Fails != "" && (r.Error == nil || r.Error.Code != s.Fails || r.Error.Message == "") {
			t.Errorf("step %d: reply %.300s, want an error %q with a message", i, out, s.Fails)
		}
	}
}

// equal compares JSON by value.
func equal(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// BenchmarkVote is the native side of the border's cost.
func BenchmarkVote(b *testing.B) {
	register()
	request := []byte(`{"v":1,"op":"vote","id":"b-1","self":"echo","room":"main","data":{"message":{"seq":1,"id":"m1","from":"taro","to":[],"text":"hello there","kind":"turn","at":"2026-01-02T03:04:05Z"},"turns":1}}`)
	b.ReportAllocs()
	for b.Loop() {
		companion.Serve(request, quiet(nil))
	}
}
