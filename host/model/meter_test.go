package model

import (
	"strconv"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/model/tokens"
)

// japanese is a request of some hundred letters.
func japanese() Request {
	return Request{System: strings.Repeat("彩は静かな女の子です。", 40), Messages: []Message{{Role: RoleUser, Text: strings.Repeat("こんにちは、元気？", 40)}}}
}

// A client's meter learns from what the endpoint says, and from nothing else.
func TestMeterLearns(t *testing.T) {
	plain := new(tokens.Meter).Tokens(japanese().Size())
	said := plain * 3 / 2
	for name, c := range map[string]struct {
		api    string
		answer string
		change func(*Request)
		learns bool
	}{
		"OpenAI":         {OpenAI, usageChunk(said, 2, 0), nil, true},
		"cached":         {OpenAI, usageChunk(said, 2, said-5), nil, true},
		"says nothing":   {OpenAI, `{"choices":[]}`, nil, false},
		"says 0":         {OpenAI, usageChunk(0, 2, 0), nil, false},
		"says less":      {OpenAI, usageChunk(-7, 2, 0), nil, false},
		"of the rest":    {OpenAI, usageChunk(12, 2, 0), nil, false}, // what was not in its cache
		"with a picture": {OpenAI, usageChunk(said, 2, 0), func(r *Request) { r.Messages[0].Images = []Image{{MediaType: "image/png", Data: []byte("x")}} }, false},
	} {
		f := newFake(t, sse(textChunk("Hi."), finish("stop"), c.answer, "[DONE]"))
		client := f.client(c.api, nil)
		for range 12 {
			req := japanese()
			if c.change != nil {
				c.change(&req)
			}
			if _, _, err := generate(t, client, req); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		got := client.Meter().Tokens(japanese().Size())
		if c.learns && (got < said*97/100 || got > said*103/100 || client.Meter().Reserve() != .15) || !c.learns && (got != plain || client.Meter().Reserve() != .2) {
			t.Errorf("%s: %d of %d, said %d, reserve %v", name, got, plain, said, client.Meter().Reserve())
		}
	}
}

// Of Anthropic's three counters the sum is what was read, and what is learned from.
func TestMeterLearnsFromAnthropic(t *testing.T) {
	plain := new(tokens.Meter).Tokens(japanese().Size())
	said := plain * 3 / 2
	f := newFake(t, sse(`{"type":"message_start","message":{"usage":{"input_tokens":50,"cache_read_input_tokens":`+strconv.Itoa(said-150)+`,"cache_creation_input_tokens":100,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi."}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`, `{"type":"message_stop"}`))
	client := f.client(Anthropic, nil)
	for range 10 {
		a, _, err := generate(t, client, japanese())
		if err != nil || a.Usage.In != said || a.Usage.Cached != said-150 {
			t.Fatalf("%+v, %v", a.Usage, err)
		}
	}
	if got := client.Meter().Tokens(japanese().Size()); got < said*97/100 || got > said*103/100 {
		t.Errorf("%d, said %d", got, said)
	}
}
