package chat_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/chat"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
)

// house is a house with a chat door: "aya" and "kyoko" live in main, the usual room, of
// which there is a second, "den", where kyoko lives alone.
type house struct {
	t       testing.TB
	main    *doortest.Room
	den     *doortest.Room
	handler http.Handler
	home    *doortest.House
	stop    context.CancelFunc
	calls   atomic.Int64 // for lines
}

// tokens are mika's and a bot's, and of somebody who may only look.
const tokens = "mika human read,talk sha256:%m\nbot agent read,talk sha256:%b\nlooker human read sha256:%l\nmute human talk sha256:%t"

func open(t testing.TB, change ...func(*guard.Config, *chat.Config)) *house {
	t.Helper()
	main, den := doortest.Settings("main", "aya", "kyoko"), doortest.Settings("den", "kyoko")
	main.Rules.MaxTurns, den.Rules.MaxTurns = 1, 1
	main.Rules.Floor = time.Hour.Milliseconds()
	h := &house{t: t, home: doortest.NewHouseOf(t, main, den)}
	h.main, h.den = h.home.Get("main"), h.home.Get("den")
	hashes := strings.NewReplacer("%m", identity.Hash("mika's"), "%b", identity.Hash("bot's"), "%l", identity.Hash("looker's"), "%t", identity.Hash("mute's"))
	register, err := identity.Parse("tokens", []byte(hashes.Replace(tokens)))
	if err != nil {
		t.Fatal(err)
	}
	stopping, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	h.stop = stop
	g, c := guard.Config{Tokens: register, Rate: -1, Origins: []string{"http://front.example"}, MaxBodyAt: map[string]int64{"/v1/chat": chat.MaxBody}}, chat.Config{
		Rooms: h.home.Registry, MaxWaiting: 4, Stopping: stopping,
		Companions: func() []chat.Companion {
			return []chat.Companion{{ID: "aya", Name: "綾", Since: time.Unix(1e9, 0)}, {ID: "kyoko"}, {ID: "nomad"}}
		},
	}
	for _, f := range change {
		f(&g, &c)
	}
	around, err := guard.New(g, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	chat.Register(mux, c)
	h.handler = chat.Errors(around.Handler(guard.Mux(mux)))
	return h
}

// answers lets a companion answer people, and nobody else.
func (h *house) answers(r *doortest.Room, id string) {
	r.Play(id, &doortest.Actor{
		Vote: func(s abi.Scene) abi.Vote {
			if s.Message.From == "aya" || s.Message.From == "kyoko" {
				return abi.Vote{State: abi.Listen}
			}
			return abi.Vote{State: abi.Speak, Importance: 5}
		},
		Speak: func(_ context.Context, s abi.Scene) abi.Line {
			h.calls.Add(1)
			return abi.Line{Text: id + " on " + s.Message.Text + "."}
		},
	})
}

// ponder has a companion want to speak, and think for as long as anybody waits.
func ponder(r *doortest.Room, id string) {
	r.Play(id, &doortest.Actor{
		Vote:  func(abi.Scene) abi.Vote { return abi.Vote{State: abi.Speak, Importance: 5} },
		Speak: func(ctx context.Context, _ abi.Scene) abi.Line { <-ctx.Done(); return abi.Line{} },
	})
}

// reply is what a client got.
type reply struct {
	Status  int
	Header  http.Header
	Raw     string
	Object  string
	Model   string
	ID      string
	Created int64
	Choices []struct {
		Index        int
		Message      struct{ Role, Content string }
		Delta        struct{ Role, Content *string }
		FinishReason *string `json:"finish_reason"`
	}
	Usage *struct {
		Total *int `json:"total_tokens"`
	}
	X *struct {
		Room, From, None, Notice, Cut string
		Said, Seq                     uint64
		Again                         bool
	} `json:"x_companiond"`
	Error *struct {
		Message, Type, Code string
		Param               *string
	}
}

func (r reply) text() string {
	if len(r.Choices) != 1 {
		return "(" + r.Raw + ")"
	}
	return r.Choices[0].Message.Content
}

// ask sends a request and reads the answer. Options are "token=", "from=" (an address),
// "Header: value".
func (h *house) ask(method, path, body string, options ...string) reply {
	h.t.Helper()
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, h.request(method, path, body, options...))
	r := reply{Status: w.Code, Header: w.Header(), Raw: w.Body.String()}
	if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") && method != http.MethodHead {
		if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil {
			h.t.Errorf("%s: %v", r.Raw, err)
		}
	}
	return r
}

func (h *house) request(method, path, body string, options ...string) *http.Request {
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	r := httptest.NewRequestWithContext(h.t.Context(), method, path, in)
	r.Host, r.RemoteAddr = "localhost", "127.0.0.1:4000"
	for _, o := range options {
		if token, ok := strings.CutPrefix(o, "token="); ok {
			r.Header.Set("Authorization", "Bearer "+token)
		} else if from, ok := strings.CutPrefix(o, "from="); ok {
			r.RemoteAddr = from
		} else if name, value, ok := strings.Cut(o, ": "); ok {
			r.Header.Set(name, value)
		}
	}
	return r
}

const completions = "/v1/chat/completions"

// list makes a request of "u:hello|a:hi|s:be nice" and further fields.
func list(model, talk string, more ...string) string {
	roles := map[string]string{"u": "user", "a": "assistant", "s": "system"}
	messages := []map[string]string{}
	for part := range strings.SplitSeq(talk, "|") {
		role, text, _ := strings.Cut(part, ":")
		messages = append(messages, map[string]string{"role": roles[role], "content": text})
	}
	raw, _ := json.Marshal(messages)
	return `{"model":"` + model + `","messages":` + string(raw) + strings.Join(append([]string{""}, more...), ",") + "}"
}

// said gives what people said in a room, as "who: text".
func said(r *doortest.Room) (all []string) {
	for _, e := range r.Happened() {
		if s, err := entry.Decode[entry.Said](e); e.Kind == entry.KindSaid && err == nil && s.By == abi.KindHuman {
			all = append(all, s.From+": "+s.Text)
		}
	}
	return all
}

// events gives the data of a stream.
func events(body string) (all []string) {
	for part := range strings.SplitSeq(body, "\n\n") {
		if data, ok := strings.CutPrefix(part, "data: "); ok {
			all = append(all, data)
		}
	}
	return all
}
