package hostops

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
)

// remembering is a memory that is only asked.
type remembering struct {
	by    []module.Caller
	asked []abi.MemoryAsk
	added []abi.MemoryAdd
}

func (r *remembering) Recall(_ context.Context, c module.Caller, a abi.MemoryAsk) (abi.Memories, error) {
	r.by, r.asked = append(r.by, c), append(r.asked, a)
	return abi.Memories{Memories: []abi.Memory{{ID: "m1", Kind: abi.MemoryFact, Text: "a cat"}}}, nil
}

func (r *remembering) Add(_ context.Context, c module.Caller, a abi.MemoryAdd) (abi.Memory, error) {
	r.by, r.added = append(r.by, c), append(r.added, a)
	return abi.Memory{ID: "m2", Text: a.Text}, nil
}

// TestMemoryIsGranted by name; a module asks of its own companion alone, whatever it says.
func TestMemoryIsGranted(t *testing.T) {
	const search, add = abi.HostMemorySearch, abi.HostMemoryAdd
	for name, tc := range map[string]struct {
		grants   []string
		none     bool // nothing is remembered here
		op, data string
		code     abi.Code
		says     string
	}{
		"search":              {[]string{search}, false, search, `{"text":"cat","companion":"kyoko"}`, "", `{"memories":[{"id":"m1","kind":"fact","text":"a cat","importance":0}]}`},
		"nothing to look for": {[]string{search}, false, search, ``, "", `"m1"`},
		"add":                 {[]string{add}, false, add, `{"text":"a dog"}`, "", `"id":"m2"`},
		"the other one":       {[]string{search}, false, add, `{"text":"a dog"}`, abi.CodeDenied, `grant = ["say", "action.emit", "memory.add"]`},
		"not granted":         {nil, false, search, `{}`, abi.CodeDenied, `"memory.search" is not granted to aya`},
		"too many":            {[]string{search}, false, search, `{"limit":51}`, abi.CodeInvalid, "limit: 51 is outside 1..50"},
		"a long text":         {[]string{search}, false, search, `{"text":"` + strings.Repeat("a", abi.MaxText+1) + `"}`, abi.CodeTooLarge, "MaxText"},
		"a number":            {[]string{search}, false, search, `{"text":7}`, abi.CodeInvalid, "text"},
		"none here":           {[]string{search}, true, search, `{}`, abi.CodeUnavailable, "memory.search: nothing is remembered here"},
	} {
		r := new(remembering)
		ops := &Ops{Memory: r}
		if tc.none {
			ops.Memory = nil
		}
		got, err := module.Grants(func(string) []string { return tc.grants }).Guard(ops).HostCall(context.Background(), module.Caller{Companion: "aya", Room: "main"}, tc.op, json.RawMessage(tc.data))
		said := string(got)
		if err != nil {
			said = err.Error()
		}
		if abi.CodeOf(err) != tc.code || tc.code == "" && !strings.Contains(said, tc.says) || tc.code != "" && tc.code != abi.CodeDenied && !strings.Contains(said, tc.says) {
			t.Errorf("%s: %s", name, said)
		}
		if asked := len(r.asked) + len(r.added); (asked == 1) != (tc.code == "") || asked == 1 && r.by[0].Companion != "aya" {
			t.Errorf("%s: asked %+v %+v as %+v", name, r.asked, r.added, r.by)
		}
	}
}
