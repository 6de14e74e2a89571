package moduletest

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
)

// Vector is a question to an example in sdk/examples, and what it answers in any language and on any carrier.
type Vector struct {
	Op    string
	Data  json.RawMessage
	Reply map[string]any // LANGUAGE in it stands for the language's name
	Error abi.Code
}

// Vectors reads them from the file.
func Vectors(t testing.TB, file string) (steps []Vector) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &steps); err != nil {
		t.Fatal(err)
	}
	return steps
}

// Asks holds an example, which calls itself Pip and knows its language, to them.
func Asks(t testing.TB, m module.Module, steps []Vector, language string) {
	t.Helper()
	if d := m.Describe(); d.Name != "Pip" {
		t.Errorf("it describes itself as %+v", d)
	}
	for _, s := range steps {
		got, err := m.Call(t.Context(), abi.Request{Op: s.Op, ID: "x", Data: s.Data})
		if s.Error != "" || err != nil {
			if abi.CodeOf(err) != s.Error {
				t.Errorf("%s %s: %s, %v", s.Op, s.Data, got, err)
			}
			continue
		}
		want, _ := json.Marshal(s.Reply)
		var is map[string]any
		if err := json.Unmarshal(got, &is); err != nil {
			t.Fatal(err)
		}
		have, _ := json.Marshal(is)
		if string(have) != strings.Replace(string(want), "LANGUAGE", language, 1) {
			t.Errorf("%s %s: %s, want %s", s.Op, s.Data, have, want)
		}
	}
}
