package card_test

import (
	"encoding/json"
	"testing"

	"github.com/companiond/companiond/host/card"
)

func TestBeside(t *testing.T) {
	for p, beside := range map[string]bool{
		"": false, "[]": false, "null": false, `{}`: false, `{"message":"a"}`: false, `{"message":"a","emotion":"joy"}`: true, `{"a":1,"b":2}`: true,
	} {
		if got := card.Beside(json.RawMessage(p)); (got != nil) != beside || beside && string(got) != p {
			t.Errorf("%s: %s", p, got)
		}
	}
}

func TestSaying(t *testing.T) {
	for _, tc := range [][3]string{
		{``, "a", ``}, {`null`, "a", ``}, {`[1]`, "a", ``},
		{`{"message":"a", "x":1}`, "a", `{"message":"a", "x":1}`}, // as it came
		{`{"message":"a","x":1e2}`, "b\"", `{"message":"b\"","x":1e2}`},
		{`{"x":1}`, "b", `{"message":"b","x":1}`},
	} {
		if got := card.Saying(json.RawMessage(tc[0]), tc[1]); string(got) != tc[2] {
			t.Errorf("%s with %q: %s", tc[0], tc[1], got)
		}
	}
}

func TestExpressive(t *testing.T) {
	for actions, want := range map[string]bool{
		``: false,
		`{"title":"move","properties":{"x":{},"y":{}}}`:                                                    false,
		`{"title":"speak","properties":{"message":{"type":"string"}}}`:                                     false,
		`{"title":"speak","properties":{"message":{}},"required":["message"],"additionalProperties":true}`: false, // it names none
		`{"title":"speak","properties":{"message":{},"emotion":{}}}`:                                       true,
		`{"title":"speak","properties":{"message":{}},"allOf":[{"properties":{"pose":{}}}]}`:               true,
	} {
		c, err := card.Parse("f", []byte(`{"name":"a","actions":[`+actions+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		if c.Expressive() != want {
			t.Errorf("%s: %v", actions, !want)
		}
	}
}
