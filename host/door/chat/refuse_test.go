package chat_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/chat"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// hello is a good request, and with one with another field.
var hello = list("aya", "u:hello")

func with(field string) string { return list("aya", "u:hello", field) }

// long is a list with too much of something.
func long(before, each string, n int, behind string) string {
	return `{"model":"aya","messages":[` + before + strings.TrimSuffix(strings.Repeat(each+",", n), ",") + behind + "]}"
}

var refusals = []struct {
	name, method, path, body, options string
	status                            int
	kind, code, param, message        string
}{
	{"no model", "POST", completions, `{"messages":[]}`, "", 400, "invalid_request_error", "invalid", "model", "model: is missing; GET /v1/models lists them"},
	{"an unknown model", "POST", completions, list("gpt-5", "u:hello"), "", 404, "invalid_request_error", "model_not_found", "model", `there is no companion and no room "gpt-5"`},
	{"a model that is no name", "POST", completions, list("a b", "u:hello"), "", 404, "invalid_request_error", "model_not_found", "model", `no room "a b"`},
	{"one that lives nowhere", "POST", completions, list("nomad", "u:hello"), "", 404, "invalid_request_error", "model_not_found", "model", "nomad lives in no room"},
	{"no JSON", "POST", completions, `{"model":`, "", 400, "invalid_request_error", "invalid", "", "body: is no completion as JSON"},
	{"nothing", "POST", completions, "", "", 400, "invalid_request_error", "invalid", "", "body: is no completion as JSON"},
	{"a list", "POST", completions, "[]", "", 400, "invalid_request_error", "invalid", "", "body: must be a JSON object"},
	{"a number for a model", "POST", completions, `{"model":7}`, "", 400, "invalid_request_error", "invalid", "model", "is a JSON number"},
	{"a text for stream", "POST", completions, with(`"stream":"yes"`), "", 400, "invalid_request_error", "invalid", "stream", "is a JSON string"},
	{"no messages", "POST", completions, `{"model":"aya"}`, "", 400, "invalid_request_error", "invalid", "messages", "must be a list"},
	{"empty messages", "POST", completions, `{"model":"aya","messages":[]}`, "", 400, "invalid_request_error", "invalid", "messages", "must not be empty"},
	{"a text for messages", "POST", completions, `{"model":"aya","messages":"hello"}`, "", 400, "invalid_request_error", "invalid", "messages", "must be a list"},
	{"too many", "POST", completions, long("", `{"role":"user","content":"x"}`, chat.MaxMessages+1, ""), "", 413, "invalid_request_error", "too_large", "messages", "are more than 4096"},
	{"no message", "POST", completions, `{"model":"aya","messages":[7]}`, "", 400, "invalid_request_error", "invalid", "messages[0]", "must be {role, content}"},
	{"no role", "POST", completions, `{"model":"aya","messages":[{"content":"x"}]}`, "", 400, "invalid_request_error", "invalid", "messages[0].role", "is missing"},
	{"a number for content", "POST", completions, `{"model":"aya","messages":[{"role":"user","content":7}]}`, "", 400, "invalid_request_error", "invalid", "messages[0].content", "a string, or a list of parts"},
	{"a part that is none", "POST", completions, `{"model":"aya","messages":[{"role":"user","content":[7]}]}`, "", 400, "invalid_request_error", "invalid", "messages[0].content", "a part that is no {type, text}"},
	{"too many parts", "POST", completions, long(`{"role":"user","content":[`, `{"type":"text","text":"x"}`, chat.MaxParts+1, "]}"), "", 413, "invalid_request_error", "too_large", "messages[0].content", "more than 256 parts"},
	{"a picture", "POST", completions, `{"model":"aya","messages":[{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:"}}]}]}`, "", 400, "invalid_request_error", "invalid", "messages[0].content", `has a part of type "image_url"`},
	{"a picture alone", "POST", completions, `{"model":"aya","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:"}}]}]}`, "", 400, "invalid_request_error", "invalid", "messages[0].content", `has a part of type "image_url"`},
	{"sound alone", "POST", completions, `{"model":"aya","messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":""}}]}]}`, "", 400, "invalid_request_error", "invalid", "messages[0].content", `has a part of type "input_audio"`},
	{"a picture and a line behind it", "POST", completions, `{"model":"aya","messages":[{"role":"user","content":[{"type":"image_url"}]},{"role":"user","content":"look"}]}`, "", 400, "invalid_request_error", "invalid", "messages[0].content", `has a part of type "image_url"`},
	{"a part of no type", "POST", completions, `{"model":"aya","messages":[{"role":"user","content":[{"text":"look"}]}]}`, "", 400, "invalid_request_error", "invalid", "messages[0].content", "a part that is no {type, text}"},
	{"a text that is too long", "POST", completions, list("aya", "s:x|u:"+strings.Repeat("x", abi.MaxText+1)), "", 413, "invalid_request_error", "too_large", "messages[1].content", "at most"},
	{"a text that is none", "POST", completions, list("aya", "u:x\x00"), "", 400, "invalid_request_error", "invalid", "messages[0].content", "U+0000"},
	{"two answers", "POST", completions, with(`"n":2`), "", 400, "invalid_request_error", "invalid", "n", "is 2"},
	{"a tool", "POST", completions, with(`"tool_choice":"required"`), "", 400, "invalid_request_error", "invalid", "tool_choice", "characters call none"},
	{"one tool", "POST", completions, with(`"tool_choice":{"type":"function"}`), "", 400, "invalid_request_error", "invalid", "tool_choice", "characters call none"},
	{"JSON", "POST", completions, with(`"response_format":{"type":"json_object"}`), "", 400, "invalid_request_error", "invalid", "response_format", `"json_object"`},
	{"sound", "POST", completions, with(`"modalities":["text","audio"]`), "", 400, "invalid_request_error", "invalid", "modalities", `["text"]`},
	{"a number for a user", "POST", completions, with(`"user":7`), "", 400, "invalid_request_error", "invalid", "user", "must be a string"},
	{"a user that is no name", "POST", completions, with(`"user":"a b"`), "", 400, "invalid_request_error", "invalid", "user", "may not contain"},
	{"a companion's id", "POST", completions, with(`"user":"aya"`), "", 403, "permission_error", "denied", "user", "is the name of aya"},
	{"that looks like it", "POST", completions, with(`"user":"ＫＹＯＫＯ"`), "", 403, "permission_error", "denied", "user", "is the name of kyoko"},
	{"a companion's name", "POST", completions, with(`"user":"綾"`), "", 403, "permission_error", "denied", "user", "is the name of aya"},
	{"and nothing to say", "POST", completions, list("aya", "s:", `"user":"aya"`), "", 403, "permission_error", "denied", "user", "is the name of aya"},
	{"a holder's name", "POST", completions, with(`"user":"mika"`), "", 403, "permission_error", "denied", "user", "mika has a token"},
	{"a reserved name", "POST", completions, with(`"user":"system"`), "", 403, "permission_error", "denied", "user", "system"},
	{"a wrong token", "POST", completions, hello, "token=x", 401, "authentication_error", "invalid_api_key", "", "token: is not one of this house"},
	{"a token that may look only", "POST", completions, hello, "token=looker's", 403, "permission_error", "denied", "", `"talk"`},
	{"a token that may not look", "GET", "/v1/models", "", "token=mute's", 403, "permission_error", "denied", "", `"read"`},
	{"an agent", "POST", completions, hello, "token=bot's", 403, "permission_error", "denied", "", "connect it to /mcp"},
	{"a large body", "POST", completions, strings.Repeat(" ", chat.MaxBody+1), "", 413, "invalid_request_error", "too_large", "", "body: more than 4194304 bytes"},
	{"another site", "POST", completions, hello, "Origin: http://evil.example", 403, "permission_error", "denied", "", "origin: "},
	{"the wrong method", "GET", completions, "", "", 405, "invalid_request_error", "invalid", "", "method: GET"},
	{"the wrong method of models", "DELETE", "/v1/models/aya", "", "", 405, "invalid_request_error", "invalid", "", "method: DELETE"},
	{"another path", "POST", "/v1/chat/completion", hello, "", 404, "invalid_request_error", "not_found", "", `there is nothing at "/v1/chat/completion"`},
	{"embeddings", "POST", "/v1/embeddings", "{}", "", 404, "invalid_request_error", "not_found", "", "there is nothing at"},
	{"responses", "POST", "/v1/responses", "{}", "", 404, "invalid_request_error", "not_found", "", "call POST /v1/chat/completions; with the package openai that is client.chat.completions.create(...), with @ai-sdk/openai it is openai.chat(MODEL)"},
	{"a response", "GET", "/v1/responses/resp_1", "", "", 404, "invalid_request_error", "not_found", "", "call POST /v1/chat/completions"},
	{"completions of old", "POST", "/v1/completions", "{}", "", 404, "invalid_request_error", "not_found", "", "call POST /v1/chat/completions"},
	{"no such model", "GET", "/v1/models/x", "", "", 404, "invalid_request_error", "model_not_found", "model", "no companion and no room"},
}

// Every refusal below these paths is in OpenAI's shape, also those of the guard and of
// the mux, names the field, and says nothing in the room.
func TestRefusals(t *testing.T) {
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			together(t, func(t *testing.T, h *house) {
				r := h.ask(c.method, c.path, c.body, c.options)
				if r.Status != c.status || r.Error == nil || r.Error.Type != c.kind || r.Error.Code != c.code || !strings.Contains(r.Error.Message, c.message) {
					t.Fatalf("%d %s", r.Status, r.Raw)
				}
				if p := r.Error.Param; (p == nil) != (c.param == "") || p != nil && *p != c.param || !strings.Contains(r.Raw, `"param":`) {
					t.Errorf("param: %s", r.Raw)
				}
				if got := said(h.main); len(got) > 0 {
					t.Errorf("said %q", got)
				}
			})
		})
	}
}

// The bucket of an address, and its Retry-After.
func TestTooFast(t *testing.T) {
	together(t, func(t *testing.T, h *house) {
		h.ask("GET", "/v1/models", "", "from=192.0.2.1:1")
		if r := h.ask("GET", "/v1/models", "", "from=192.0.2.1:1"); r.Status != 429 || r.Error == nil || r.Error.Type != "rate_limit_error" || r.Error.Code != "exhausted" || r.Header.Get("Retry-After") == "" {
			t.Errorf("%d %v %s", r.Status, r.Header, r.Raw)
		}
	}, func(g *guard.Config, _ *chat.Config) { g.Rate, g.Burst = 0.1, 1 })
}

// Where guests are not let in, a client without a token learns it in its shape.
func TestTokensOnly(t *testing.T) {
	together(t, func(t *testing.T, h *house) {
		if r := h.ask("POST", completions, list("aya", "u:hello")); r.Status != 401 || r.Error == nil || !strings.Contains(r.Error.Message, "token: is missing") || r.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%d %s", r.Status, r.Raw)
		}
		if r := h.ask("POST", completions, list("aya", "u:hello", `"user":"taro"`), "token=mika's"); r.text() != "aya on hello." || said(h.main)[0] != "mika: hello" {
			t.Errorf("%d %s %q", r.Status, r.Raw, said(h.main))
		}
	}, func(g *guard.Config, _ *chat.Config) { g.TokensOnly = true })
}

// What a room refuses is told: its journal is in trouble, or it was closed.
func TestARoomInTrouble(t *testing.T) {
	together(t, func(t *testing.T, h *house) {
		h.main.Trouble(abi.Errorf(abi.CodeUnavailable, "the disk is full"))
		r := h.ask("POST", completions, list("aya", "u:hello"))
		if r.Status != 503 || r.Error == nil || r.Error.Type != "server_error" || r.Error.Code != "unavailable" || !strings.Contains(r.Error.Message, "the disk is full") {
			t.Errorf("%d %s", r.Status, r.Raw)
		}
		h.main.Trouble(nil)
	})
}

// In the middle of a stream a room's trouble is an event of its own.
func TestTroubleInAStream(t *testing.T) {
	together(t, func(t *testing.T, h *house) {
		ponder(h.main, "aya")
		ponder(h.main, "kyoko")
		w := httptest.NewRecorder()
		over := make(chan bool)
		go func() {
			h.handler.ServeHTTP(w, h.request("POST", completions, list("room/main", "u:hello", `"stream":true`)))
			close(over)
		}()
		settle()
		h.main.Trouble(abi.Errorf(abi.CodeUnavailable, "the disk is full"))
		<-over
		all := events(w.Body.String())
		var r reply
		if err := json.Unmarshal([]byte(all[len(all)-2]), &r); err != nil || r.Error == nil || r.Error.Type != "server_error" || all[len(all)-1] != "[DONE]" {
			t.Errorf("%q", all)
		}
		h.main.Trouble(nil)
	})
}

// faulty is a room that a bug has come into: who listens there panics.
type faulty struct{ rooms.Room }

func (faulty) Follow(context.Context, uint64, func([]entry.Entry) error) error { panic("a bug") }

type faultyRooms struct{ rooms.Directory }

func (f faultyRooms) Home(ctx context.Context, companion string) (rooms.Room, error) {
	talk, err := f.Directory.Home(ctx, companion)
	return faulty{talk}, err
}

// A panic while an answer is waited for ends the request, streaming or not, and not the daemon.
func TestPanicWhileItWaits(t *testing.T) {
	together(t, func(t *testing.T, h *house) {
		if r := h.ask("POST", completions, list("aya", "u:hello")); r.Status != 500 || r.Error == nil || strings.Contains(r.Raw, "a bug") {
			t.Errorf("%d %s", r.Status, r.Raw)
		}
		r := h.ask("POST", completions, list("aya", "u:hello", `"stream":true`))
		all := events(r.Raw)
		if want := `{"error":{"message":"internal error","type":"server_error","param":null,"code":"internal"}}`; len(all) != 3 || all[1] != want || all[2] != "[DONE]" {
			t.Errorf("%q", all)
		}
	}, func(_ *guard.Config, c *chat.Config) { c.Rooms = faultyRooms{c.Rooms} })
}

// A page on another site may ask where door.origins has it, with the headers of OpenAI's SDK.
func TestOrigins(t *testing.T) {
	together(t, func(t *testing.T, h *house) {
		const origin = "Origin: http://front.example"
		asked := "authorization, content-type, user-agent, x-stainless-arch, x-stainless-lang, x-stainless-os, x-stainless-package-version, x-stainless-retry-count, x-stainless-runtime, x-stainless-runtime-version, x-stainless-timeout"
		r := h.ask("OPTIONS", completions, "", origin, "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: "+asked)
		allowed := strings.Split(r.Header.Get("Access-Control-Allow-Headers"), ", ")
		for name := range strings.SplitSeq(asked, ", ") {
			if !slices.Contains(allowed, name) {
				t.Errorf("%s is not allowed: %v", name, allowed)
			}
		}
		if r := h.ask("POST", completions, list("aya", "u:hello"), origin); r.text() != "aya on hello." || r.Header.Get("Access-Control-Allow-Origin") != "http://front.example" {
			t.Errorf("%d %v %s", r.Status, r.Header, r.Raw)
		}
		if r := h.ask("POST", completions, list("nobody", "u:hello"), origin); r.Status != 404 || r.Header.Get("Access-Control-Allow-Origin") != "http://front.example" {
			t.Errorf("%d %v %s", r.Status, r.Header, r.Raw)
		}
	})
}

func TestModels(t *testing.T) {
	together(t, func(t *testing.T, h *house) {
		for _, name := range []string{"kitchen", "attic"} {
			if _, err := h.home.Open(t.Context(), rooms.Opening{Name: name, By: rooms.Owner{Name: rooms.Guests}, Settings: []byte(`{}`)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.home.Archive(t.Context(), "attic", rooms.Owner{Name: rooms.Guests}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		r := h.ask("GET", "/v1/models", "")
		var got struct {
			Object string
			Data   []struct {
				ID, Object, Name string
				Created          int64
				OwnedBy          string `json:"owned_by"`
				Kind             string `json:"x_companiond_kind"`
			}
		}
		if err := json.Unmarshal([]byte(r.Raw), &got); err != nil || r.Status != 200 || got.Object != "list" {
			t.Fatalf("%d %s", r.Status, r.Raw)
		}
		if s := fmt.Sprint(got.Data); s != "[{aya model 綾 1000000000 companiond companion} {kyoko model kyoko 0 companiond companion} {room/den model den 0 companiond room} {room/kitchen model kitchen 0 companiond room} {room/main model main 0 companiond room}]" {
			t.Error(s)
		}
		for _, m := range got.Data {
			one := h.ask("GET", "/v1/models/"+m.ID, "")
			if one.Status != 200 || one.Object != "model" || !strings.Contains(one.Raw, `"id":"`+m.ID+`"`) {
				t.Errorf("%s: %d %s", m.ID, one.Status, one.Raw)
			}
		}
		for _, id := range []string{"main", "room%2Fmain"} {
			if one := h.ask("GET", "/v1/models/"+id, ""); !strings.Contains(one.Raw, `"id":"room/main"`) {
				t.Errorf("%s: %d %s", id, one.Status, one.Raw)
			}
		}
	})
}

// Paths of the other doors keep their problems.
func TestOtherPathsKeepTheirShape(t *testing.T) {
	together(t, func(t *testing.T, h *house) {
		for _, path := range []string{"/v1/chatter", "/v1/modelsx", "/v1/rooms", "/"} {
			r := h.ask("GET", path, "")
			if r.Status != 404 || r.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s: %d %v", path, r.Status, r.Header)
			}
		}
		if r := h.ask("HEAD", "/v1/models", ""); r.Status != 200 {
			t.Errorf("%d", r.Status)
		}
		if r := h.ask("HEAD", "/v1/embeddings", ""); r.Status != 404 || r.Raw != "" || r.Error != nil {
			t.Errorf("%d %s", r.Status, r.Raw)
		}
	})
}
