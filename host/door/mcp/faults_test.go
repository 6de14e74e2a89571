package mcp

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
)

// rpcError is an error as it is on the wire.
type rpcError struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// Go's own words, which nobody should be told.
var ofGo = []string{"Go value", "Go struct", "unmarshal", "json:", "mcp.", "struct {", "%!"}

// What is wrong with a request that is no call of a tool is told with the code that
// JSON-RPC has for it, in words that name the argument, and with our own error as data.
func TestRequestsThatFail(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", abi.DefaultPool())})
	byHand := doortest.NewByHand(t, h.url)
	modern := &doortest.ByHand{T: t, URL: h.url, Header: http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {modernEra}, "Mcp-Name": {"turn_taking"},
	}}
	const meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"by hand","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	prompt := func(arguments string) string { return `"name":"turn_taking","arguments":` + arguments }
	for _, c := range []struct {
		method, params string
		code           int64
		message, field string
	}{
		{"prompts/get", `"name":"turn_taking"`, -32602, `invalid: card: is missing: give the participant's card as JSON, such as {"id":"companion_aya"}`, "card"},
		{"prompts/get", prompt(`{}`), -32602, `invalid: card: is missing: give the participant's card as JSON, such as {"id":"companion_aya"}`, "card"},
		{"prompts/get", prompt(`{"card":"aya"}`), -32602, `invalid: card: is no JSON object such as {"id":"companion_aya"}`, "card"},
		{"prompts/get", prompt(`{"card":"\"aya\""}`), -32602, `invalid: card: is no JSON object such as {"id":"companion_aya"}`, "card"},
		{"prompts/get", prompt(`{"card":"[]"}`), -32602, `invalid: card: is no JSON object such as {"id":"companion_aya"}`, "card"},
		{"prompts/get", prompt(`{"card":"{\"id\":7}"}`), -32602, "invalid: card.id: must not be empty", "card.id"},
		{"prompts/get", prompt(`{"card":"{\"id\":\"a b\"}"}`), -32602, "invalid: card.id: \"a b\" may not contain ' '", "card.id"},
		{"prompts/get", prompt(`{"card":"{\"id\":\"aya\"}","language":"fr"}`), -32602, `invalid: language: "fr" is neither "ja" nor "en"`, "language"},
		{"prompts/get", prompt(`{"card":"{\"id\":\"aya\"}","room":"attic"}`), -32602, `not_found: room: there is no "attic"`, "room"},
		{"prompts/get", `"name":"rules"`, -32602, `unknown prompt "rules"`, ""},
	} {
		for era, ask := range map[string]func() string{
			sessionEra: func() string {
				_, got := byHand.Post(`{"jsonrpc":"2.0","id":1,"method":"` + c.method + `","params":{` + c.params + `}}`)
				return got
			},
			modernEra: func() string {
				modern.Header.Set("Mcp-Method", c.method)
				modern.Header.Set("Mcp-Name", strings.Split(c.params, `"`)[3])
				_, got := modern.Post(`{"jsonrpc":"2.0","id":1,"method":"` + c.method + `","params":{` + c.params + meta + `}}`)
				return got
			},
		} {
			got := ask()
			var answer struct{ Error *rpcError }
			if err := json.Unmarshal([]byte(got), &answer); err != nil || answer.Error == nil {
				t.Errorf("%s, %s: %s", era, c.params, got)
				continue
			}
			var data abi.Error
			if c.field != "" && (json.Unmarshal(answer.Error.Data, &data) != nil || data.Field != c.field || data.Error() != c.message) {
				t.Errorf("%s, %s: data %s", era, c.params, answer.Error.Data)
			}
			if answer.Error.Code != c.code || answer.Error.Message != c.message {
				t.Errorf("%s, %s:\n got %d %s\nwant %d %s", era, c.params, answer.Error.Code, answer.Error.Message, c.code, c.message)
			}
		}
	}
	_, err := h.connect(nil).session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "turn_taking"})
	var coded *jsonrpc.Error
	if !errors.As(err, &coded) || coded.Code != jsonrpc.CodeInvalidParams || !strings.HasPrefix(coded.Message, "invalid: card: is missing") {
		t.Errorf("%v", err)
	}
}

// The words of a tool's refusal are none of a Go program's, whatever is sent.
func TestNoWordsOfGo(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", abi.DefaultPool())})
	client := doortest.NewByHand(t, h.url)
	for _, tool := range []string{"status", "history", "consume", "wait_for_turn", "vote", "say", "about"} {
		for _, arguments := range []string{`[]`, `"main"`, `7`, `true`, `{"room":7}`, `{"room":{}}`, `{"room":[1]}`, `{"romm":"main"}`, `{"from":7,"amount":"x","message":{},"state":1}`} {
			_, got := client.Post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`)
			var answer struct {
				Error  *rpcError
				Result struct {
					IsError bool
					Content []struct{ Text string }
				}
			}
			if err := json.Unmarshal([]byte(got), &answer); err != nil || answer.Error == nil && !answer.Result.IsError {
				t.Errorf("%s %s: %s", tool, arguments, got)
				continue
			}
			for _, word := range ofGo {
				if strings.Contains(got, word) {
					t.Errorf("%s %s: %s", tool, arguments, got)
				}
			}
			if answer.Error == nil && strings.Count(answer.Result.Content[0].Text, "invalid: ") != 1 {
				t.Errorf("%s %s: %s", tool, arguments, got)
			}
		}
	}
}

// Who may not read is told so in our words, with a code.
func TestResourcesThatAreRefused(t *testing.T) {
	s := openShelf(t, false)
	s.save("nikoni", spec("ニコニ", waveAction))
	for _, era := range eras {
		s.from(holder("mute", identity.Talk))
		a, _ := s.connect(era)
		for _, uri := range []string{"spec://main", uriOf(usualRoom, historyPart)} {
			_, err := a.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
			var coded *jsonrpc.Error
			if !errors.As(err, &coded) || coded.Code != jsonrpc.CodeInvalidParams || coded.Message != `denied: the token of mute has not the scope "read"` {
				t.Errorf("%s: %v", uri, err)
			}
		}
	}
}

// What can be named is offered as it is typed, to the prompt's arguments as well.
func TestCompletionOffersLanguages(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("vote", abi.Pool{})})
	a := h.connect(nil)
	for value, want := range map[string]string{"": "ja en", "e": "en", "j": "ja", "f": ""} {
		res, err := a.session.Complete(t.Context(), &sdk.CompleteParams{
			Ref: &sdk.CompleteReference{Type: "ref/prompt", Name: "turn_taking"}, Argument: sdk.CompleteParamsArgument{Name: "language", Value: value},
		})
		if err != nil || strings.Join(res.Completion.Values, " ") != want {
			t.Errorf("%q: %v %v", value, res, err)
		}
	}
}

// A client is told in both languages where to begin.
func TestInstructions(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("vote", abi.Pool{})})
	said := h.connect(nil).session.InitializeResult().Instructions
	for _, want := range []string{"Call about first", "まずaboutを呼んで", "Pass from", "from(自分の名前)", "turn_taking", "action-play"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in %s", want, said)
		}
	}
}

// The prompt is in the language that is asked for, else in the card's.
func TestPromptInTwoLanguages(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", largePool()), "居間": rulesOf("vote", abi.Pool{})})
	a := h.connect(nil)
	const ja, en = "## 会話のルール", "## Rules of talking"
	for _, c := range []struct {
		args map[string]string
		want []string
	}{
		{map[string]string{"card": `{"id":"bot"}`}, []string{ja, "消費120、50文字以内"}},
		{map[string]string{"card": `{"id":"bot"}`, "language": "en"}, []string{en, "costs 120, at most 50 characters", "Pass \"bot\" as from to every tool"}},
		{map[string]string{"card": `{"id":"bot","language":"en-US"}`}, []string{en}},
		{map[string]string{"card": `{"id":"bot","language":"en-US"}`, "language": "ja"}, []string{ja}},
		{map[string]string{"card": `{"id":"bot"}`, "room": "居間", "language": "en"}, []string{en, "votes decide", `Pass "居間" as room to every tool`}},
	} {
		res, err := a.session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "turn_taking", Arguments: c.args})
		if err != nil {
			t.Fatal(err)
		}
		text := res.Messages[0].Content.(*sdk.TextContent).Text
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%v: %q is not in\n%s", c.args, want, text)
			}
		}
	}
}
