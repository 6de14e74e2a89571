package rpc

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRead(t *testing.T) {
	for body, want := range map[string]Message{
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1,{"b":"}"}]}}`: {[]byte(`"2.0"`), []byte(`1`), []byte(`"m"`), []byte(`{"a":[1,{"b":"}"}]}`), false},
		" {\n\"id\" : \"a\\\"b\" ,\t\"x\":true}\r\n":                         {nil, []byte(`"a\"b"`), nil, nil, true},
		`{"id":1,"id":2}`: {nil, []byte(`1`), nil, nil, true},
		`{}`:              {}, `[]`: {}, `7`: {}, ``: {}, `{"id":1`: {}, `{"i\u0064":1}`: {},
		`{"id":` + strings.Repeat("[", 65) + strings.Repeat("]", 65) + `}`: {},
	} {
		got := Read([]byte(body))
		if !bytes.Equal(got.Version, want.Version) || !bytes.Equal(got.ID, want.ID) || !bytes.Equal(got.Method, want.Method) || !bytes.Equal(got.Params, want.Params) || got.More != want.More {
			t.Errorf("%s: %s %s %s %s %v", body, got.Version, got.ID, got.Method, got.Params, got.More)
		}
	}
}

func TestIDs(t *testing.T) {
	for id, usual := range map[string]bool{
		`0`: true, `-7`: true, `123456789012345`: true, `"a b<&"`: true, `""`: true,
		`1234567890123456`: false, `1.5`: false, `1e3`: false, `-0`: false, `"\u0041"`: false, `"é"`: false, `null`: false, `{}`: false, `-`: false, ``: false,
	} {
		if UsualID([]byte(id)) != usual {
			t.Errorf("%s: not %v", id, usual)
		}
	}
	for body, want := range map[string]string{
		`{"id":1.5,"method":"m"}`: `1.5`, `{"id":"é","method":7}`: `"é"`, `{"id":null,"method":"m"}`: ``, `{"id":{},"method":"m"}`: ``, `{"id":1}`: ``, `{"method":"m"}`: ``,
	} {
		if got := string(Read([]byte(body)).CallID()); got != want {
			t.Errorf("%s: %q", body, got)
		}
	}
}

// A fault is JSON, whatever is in its message.
func TestFault(t *testing.T) {
	f := &Fault{ID: []byte(`"x"`), Code: CodeMethod, Message: "there is no <\"\n" + string([]byte{0xff}) + "\">"}
	var back struct {
		JSONRPC, ID string
		Error       struct {
			Code    int64
			Message string
		}
	}
	if err := json.Unmarshal(f.Encode(), &back); err != nil || back.JSONRPC != "2.0" || back.ID != "x" || back.Error.Code != -32601 || back.Error.Message != "there is no <\"\n\ufffd\">" {
		t.Errorf("%s: %+v %v", f.Encode(), back, err)
	}
	if got := string((&Fault{Code: 1, Message: "é"}).Encode()); got != `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"é"}}` {
		t.Errorf("%s", got)
	}
}

func TestMisshapen(t *testing.T) {
	for body, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"m"}`: "", `{"jsonrpc":"2.0","method":"m"}`: "", `{"jsonrpc":"2.0","id":1,"result":{}}`: "", ` [ {"jsonrpc":"2.0","method":"m"} ]`: "", `{"jsonrpc":"2.0","id":null,"method":"m"}`: "",
		" \n":                                  "body: is empty",
		`{"a":}`:                               "body: is no JSON: invalid character '}' looking for beginning of value, at byte 6",
		` [ ] `:                                "body: an empty batch",
		`[1,2]`:                                "body[0]: must be an object",
		`[null]`:                               "body[0]: must be an object",
		`[{}]`:                                 `body[0].jsonrpc: must be "2.0"`,
		`[{"jsonrpc":"2.0","method":"m"}, []]`: "body[1]: must be an object",
		`[{"jsonrpc":"2.0","id":1}, {"jsonrpc":"2.0","id":{}}]`: "body[1].id: must be a text or a number",
		`"x"`:      "body: must be an object",
		`{"id":1}`: `jsonrpc: must be "2.0"`,
		`{} {}`:    "body: is no JSON: invalid character '{' after top-level value, at byte 4",
		`{"jsonrpc":"2.0","id":[1],"method":"m"}`: "id: must be a text or a number",
		`{"jsonrpc":"2.0","id":1,"method":null}`:  "method: must be a text",
		`{"jsonrpc":"2.0","id":null}`:             "method: is missing",
	} {
		got := ""
		if f := Misshapen([]byte(body)); f != nil {
			got = f.Message
		}
		if got != want {
			t.Errorf("%s: %s", body, got)
		}
	}
}

// What is picked is what encoding/json finds, or it is left alone.
func FuzzPick(f *testing.F) {
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status"}}`, `{ "id" : [ {"a":"\\\""} , 1e5,null ] ,"params":"}"}`,
		`{}`, ` { } `, `[]`, `7`, `{"id":-0.5e+1}`, `{"id":{},"id":true}`, `{"i\u0064":1}`, `{"":""}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		m := Read(body) // does not panic
		var want map[string]json.RawMessage
		if err := json.Unmarshal(body, &want); err != nil || !utf8.Valid(body) {
			if !json.Valid(body) && (m.ID != nil || m.More) {
				t.Fatalf("%q was read", body)
			}
			return
		}
		var values [2][]byte
		rest := Pick(body, values[:], "id", "params")
		if rest < 0 {
			return
		}
		found := 0
		for n, name := range []string{"id", "params"} {
			if values[n] == nil {
				if _, has := want[name]; has {
					t.Fatalf("%q: %s was not found", body, name)
				}
				continue
			}
			found++
			if string(values[n]) != string(want[name]) && rest == 0 { // else the first of two
				t.Fatalf("%q: %s is %q, not %q", body, name, values[n], want[name])
			}
		}
		if found+rest < len(want) {
			t.Fatalf("%q: %d and %d members of %d", body, found, rest, len(want))
		}
	})
}
