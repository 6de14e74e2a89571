package abi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
)

func TestHandlersDescribeThemselves(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat(`{"name":"a"},`, abi.MaxHandled+1), ",")
	for data, why := range map[string]string{
		`{"abi":"1","name":"Lamp","kind":"action-handler","ops":["act"],"actions":[{"name":"lamp.set","schema":{"type":"object"}}],"settings":{"type":"object"}}`: "",
		`{"abi":"1","name":"Lamp","kind":"action-handler","ops":["act"]}`:                                                                                         "",
		`{"abi":"1","name":"Lamp","kind":"action-handler","ops":["act"],"actions":[{"name":"a b"}]}`:                                                              "describe.actions",
		`{"abi":"1","name":"Lamp","kind":"action-handler","ops":["act"],"actions":[` + many + `]}`:                                                                "describe.actions",
		`{"abi":"1","name":"Aya","ops":["vote"],"actions":[{"name":"wave"}]}`:                                                                                     "describe.actions",
		`{"abi":"1","name":"Aya","kind":"line-handler","ops":["line"],"settings":{"type":"object"}}`:                                                              "",
		`{"abi":"1","name":"Aya","kind":"handler","ops":["show","run","timer","sense","act"],"actions":[{"name":"wave"}]}`:                                        "",
		`{"abi":"1","name":"Aya","ops":["vote","line"]}`:                                                                                                          "describe.ops",
		`{"abi":"1","name":"Aya","ops":["vote"],"settings":{"type":"object"}}`:                                                                                    "describe.settings",
		`{"abi":"1","name":"Aya","kind":"character","ops":["vote"],"settings":{},"actions":[]}`:                                                                   "describe.settings",
	} {
		_, err := abi.ReadDescription(json.RawMessage(data))
		if got := fmt.Sprint(err); (err == nil) != (why == "") || !strings.Contains(got, why) {
			t.Errorf("%.120s: %v, want %q", data, err, why)
		}
	}
}

func TestFetchAsk(t *testing.T) {
	for _, c := range []struct {
		ask   abi.FetchAsk
		field string
	}{
		{abi.FetchAsk{URL: "https://a.example/x?y=z"}, ""},
		{abi.FetchAsk{URL: "http://a.example", Method: "DELETE", Headers: map[string]string{"Authorization": "Bearer x"}, Timeout: abi.MaxFetch}, ""},
		{abi.FetchAsk{URL: "http://a.example", Method: "get"}, "method"},
		{abi.FetchAsk{URL: "http://a.example", Method: "CONNECT"}, "method"},
		{abi.FetchAsk{}, "url"},
		{abi.FetchAsk{URL: "http://" + strings.Repeat("a", abi.MaxFetchURL)}, "url"},
		{abi.FetchAsk{URL: "http://a:b@c.example"}, "url"},
		{abi.FetchAsk{URL: "http://a.example", Headers: map[string]string{"host": "b"}}, "headers"},
		{abi.FetchAsk{URL: "http://a.example", Headers: map[string]string{"": "b"}}, "headers"},
		{abi.FetchAsk{URL: "http://a.example", Headers: map[string]string{"x": "a\nb"}}, "headers"},
		{abi.FetchAsk{URL: "http://a.example", Headers: map[string]string{"x": strings.Repeat("a", 17<<10)}}, "headers"},
		{abi.FetchAsk{URL: "http://a.example", Text: "a", Bytes: []byte("b")}, "bytes"},
		{abi.FetchAsk{URL: "http://a.example", Text: strings.Repeat("a", abi.MaxFetchBody+1)}, "text"},
		{abi.FetchAsk{URL: "http://a.example", Timeout: abi.MaxFetch + 1}, "timeout_ms"},
		{abi.FetchAsk{URL: "http://a.example", Timeout: -1}, "timeout_ms"},
	} {
		err := c.ask.Check()
		if (err == nil) != (c.field == "") || err != nil && abi.AsError(err).Field != c.field {
			t.Errorf("%.200v: %v, want the field %q", c.ask, err, c.field)
		}
	}
}
