package arguments_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/arguments"
)

type in struct {
	Room   string   `json:"room"`
	Amount *float64 `json:"amount"`
	Limit  int      `json:"limit"`
	Basis  uint64   `json:"basis_seq"`
	To     []string `json:"to"`
	Quiet  bool     `json:"quiet"`
	Card   struct {
		ID string `json:"id"`
	} `json:"card"`
}

func TestDecode(t *testing.T) {
	for _, raw := range []string{"", "  ", "{}", "null", " {\n} "} {
		if got, err := arguments.Decode[in](json.RawMessage(raw)); err != nil || got.Room != "" || got.Amount != nil {
			t.Errorf("%q: %+v, %v", raw, got, err)
		}
	}
	got, err := arguments.Decode[in](json.RawMessage(`{"room":"居間","amount":2.5,"limit":-1,"basis_seq":7,"to":["a","b"],"quiet":true,"card":{"id":"x"}}`))
	if err != nil || got.Room != "居間" || *got.Amount != 2.5 || got.Limit != -1 || got.Basis != 7 || !slices.Equal(got.To, []string{"a", "b"}) || !got.Quiet || got.Card.ID != "x" {
		t.Errorf("%+v, %v", got, err)
	}
}

// A mistake names its argument, in no word of Go's.
func TestMistakes(t *testing.T) {
	for raw, want := range map[string]string{
		`{"room":1}`:            "room: must be a text, not number",
		`{"amount":"5"}`:        "amount: must be a number, not string",
		`{"limit":1.5}`:         "limit: must be a whole number, not number 1.5",
		`{"basis_seq":-1}`:      "basis_seq: must be a whole number of 0 or more, not number -1",
		`{"to":"aya"}`:          "to: must be a list, not string",
		`{"quiet":"yes"}`:       "quiet: must be true or false, not string",
		`{"card":[]}`:           "card: must be an object, not array",
		`{"card":{"id":{}}}`:    "card.id: must be a text, not object",
		`{"romm":"main"}`:       "romm: there is no such argument",
		`[]`:                    "arguments: must be an object such as {}, not array",
		`"main"`:                "arguments: must be an object such as {}, not string",
		`7`:                     "arguments: must be an object such as {}, not number",
		`{} {}`:                 "arguments: more than one value",
		`{"room":`:              "arguments: are no JSON: they end too early",
		`{room}`:                "arguments: are no JSON: invalid character 'r' looking for beginning of object key string",
		`{"room":"main"} extra`: "arguments: more than one value",
	} {
		_, err := arguments.Decode[in](json.RawMessage(raw))
		var e *abi.Error
		if !errors.As(err, &e) || e.Code != abi.CodeInvalid || e.Message != want {
			t.Errorf("%s:\n got %v\nwant %s", raw, err, want)
		}
	}
}

// Whatever comes, the words are for people who never saw this program.
func TestNoWordsOfGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw, _ := json.Marshal(map[string]any{
			rapid.SampledFrom([]string{"room", "amount", "limit", "basis_seq", "to", "quiet", "card", "x y"}).Draw(t, "name"): rapid.OneOf(
				rapid.Just[any](map[string]any{"id": 1}), rapid.Just[any]([]any{1}), rapid.Map(rapid.Float64Range(-1e300, 1e300), func(f float64) any { return f }),
				rapid.Map(rapid.String(), func(s string) any { return s })).Draw(t, "value"),
		})
		cut := rapid.IntRange(0, len(raw)).Draw(t, "cut")
		_, err := arguments.Decode[in](raw[:cut])
		if err == nil {
			return
		}
		for _, word := range []string{"Go ", "struct", "json:", "arguments_test", "unmarshal", "uint", "float64"} {
			if strings.Contains(err.Error(), word) {
				t.Fatalf("%s: %v", raw[:cut], err)
			}
		}
	})
}

// What the room calls otherwise is told under the name that the argument has.
func TestName(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{abi.Field("text", abi.CodeInvalid, "must not be empty"), "invalid: message: must not be empty"},
		{abi.Field("vote.state", abi.CodeInvalid, "is none"), "invalid: state: is none"},
		{abi.Field("from", abi.CodeDenied, "is a human here"), "denied: from: is a human here"},
		{abi.Errorf(abi.CodeStale, "taro spoke meanwhile"), "stale: taro spoke meanwhile"},
		{abi.Field("textile", abi.CodeInvalid, "is red"), "invalid: textile: is red"},
	} {
		if got := arguments.Name(c.err); got.Error() != c.want || abi.CodeOf(got) != abi.CodeOf(c.err) {
			t.Errorf("%v: %v", c.err, got)
		}
	}
	plain := errors.New("of the journal")
	if arguments.Name(plain) != plain || arguments.Name(nil) != nil {
		t.Error("an error without a field was changed")
	}
}
