package runs

import (
	"encoding/json"
	"testing"

	"github.com/companiond/companiond/abi"
)

func TestList(t *testing.T) {
	var l List[string]
	of := func(settings, companion, want string) {
		t.Helper()
		if got, ok := l.Of(json.RawMessage(settings), companion); got != want || ok != (want != "") {
			t.Errorf("%s for %s: %q, want %q", settings, companion, got, want)
		}
	}
	of("", "aya", "")
	leave := l.Enter(abi.Running{Companions: []string{"aya", "kyoko"}, Settings: json.RawMessage(`{"a":1,"b":"x"}`)}, "first")
	l.Enter(abi.Running{Companions: []string{"aya"}}, "second")
	of(`{ "b":"x", "a":1 }`, "kyoko", "first") // the order of keys means nothing
	of(`{"a":1,"b":"x"}`, "momo", "")          // it acts for others
	of(`{"a":1,"b":"x"}`, "", "first")         // a person has none
	of(`{"a":2,"b":"x"}`, "aya", "")
	of("", "aya", "second")
	of("{}", "aya", "second")
	of("null", "aya", "second")
	again := l.Enter(abi.Running{Companions: []string{"aya"}, Settings: json.RawMessage(`{"b":"x","a":1}`)}, "third")
	of(`{"a":1,"b":"x"}`, "aya", "third") // the newer one
	of(`{"a":1,"b":"x"}`, "kyoko", "first")
	again()
	of(`{"a":1,"b":"x"}`, "aya", "first")
	leave()
	leave()
	of(`{"a":1,"b":"x"}`, "aya", "")
	of("", "aya", "second")
}
