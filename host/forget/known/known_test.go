package known_test

import (
	"encoding/json"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/forget/known"
)

// TestWithout lists to whom something was said, and who of them is said afterwards.
func TestWithout(t *testing.T) {
	names := known.Names{}
	for kind, body := range map[entry.Kind]any{
		entry.KindSaid:         entry.Said{From: "taro", By: abi.KindHuman, To: []string{"x"}},
		entry.KindCast:         entry.Cast{Joined: []entry.Joined{{ID: "aya", Name: "アヤ"}}},
		entry.KindConversation: map[string]any{"who": "ken", "terms": map[string]any{"members": []string{"lulu"}}},
		entry.KindVote:         map[string]any{"voter": "y"},
	} {
		raw, _ := json.Marshal(body)
		names.Learn(entry.Entry{Kind: kind, Body: raw})
	}
	for _, c := range []struct{ body, want string }{
		{`{"text":"","to":["taro","aya","ken","lulu","gone-1"]}`, ""},
		{`{"text":"","to":["taro","秘密のこと"]}`, `{"erased":"o1","text":"","to":["taro"]}`},
		{`{"text":"","to":["x","y"]}`, `{"erased":"o1","text":"","to":[]}`},
		{`{"text":""}`, ""},
		{`[]`, ""},
	} {
		left, lost := names.Without([]byte(c.body), "gone-1", "o1")
		if want := c.want; lost != (want != "") || lost && string(left) != want {
			t.Errorf("%s: %s %v", c.body, left, lost)
		}
	}
}
