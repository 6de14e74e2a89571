package web_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
)

// The reference wire of seed C: JSON-RPC by POST.

// answers lets a companion say something a second after each message from now on,
// as a room writes that down, until stop is called.
func (s *sensing) answers(who string, text func(said string) string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	hear := func(entries []entry.Entry) error {
		for _, e := range entries {
			m, ok := e.Message()
			if !ok || m.From == who {
				continue
			}
			time.Sleep(time.Second)
			token := fmt.Sprint("g", e.Seq)
			if line := text(m.Text); line != "" {
				s.room.Append(entry.KindDecision, entry.Decision{Outcome: entry.OutcomeGrant, Speaker: who, Grant: &abi.Grant{Token: token}})
				s.room.Append(entry.KindSaid, entry.Said{From: who, By: abi.KindCompanion, Text: line, Kind: abi.KindTurn, Grant: token})
			}
			s.room.Append(entry.KindDecision, entry.Decision{Outcome: entry.OutcomeSilence})
		}
		return nil
	}
	since := s.room.Info().Head
	go func() { done <- s.room.Follow(ctx, since, hear) }()
	return func() { cancel(); <-done }
}

func (s *sensing) perceive(session, params string) *httptest.ResponseRecorder {
	return s.ask("POST", "/perception", `{"jsonrpc":"2.0","id":7,"method":"perception","params":`+params+`}`, "mcp-session-id", session)
}

func result(text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"result":{"text":%q}}`, text)
}

func TestInit(t *testing.T) {
	s := newSensing(t)
	for i, c := range []struct{ path, body, id string }{
		{"/init", `{"jsonrpc":"2.0","id":1,"method":"init"}`, "1"},
		{"/init", `{"jsonrpc":"2.0","method":"init","params":{}}`, "null"},
		{"/init", `{}`, "null"},
		{"/init", ``, "null"},
		{"/init?companion=aya", `{"jsonrpc":"2.0","id":"a-1","method":"init","params":{"companion":"zoe"}}`, `"a-1"`},
		{"/init", `{"jsonrpc":"2.0","id":null,"method":"init","params":{"companion":"zoe"}}`, "null"},
		{"/init", `{"jsonrpc":"2.0","id":{"no":"id"},"method":"init"}`, "null"},
	} {
		exactly(t, s.ask("POST", c.path, c.body), 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"session-%d"}}`, c.id, i+1))
	}
	// Without a name it is the first by id of those that have a card.
	for i, want := range []string{"nikoni", "nikoni", "nikoni", "nikoni", "aya", "zoe", "nikoni"} {
		if companion, err := s.Session(fmt.Sprint("session-", i+1), ""); companion != want || err != nil {
			t.Errorf("%d: %q %v", i, companion, err)
		}
	}
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/init?companion=bo", `{"jsonrpc":"2.0","id":1,"method":"init"}`, 404, `{"code":-32000,"message":"companion: there is no \"bo\""}`},
		{"/init", `{"jsonrpc":"2.0","id":1,"params":{"companion":5}}`, 400, `{"code":-32602,"message":"params.companion: must be a text in an object"}`},
		{"/init", `{"jsonrpc":"1.0","id":1}`, 400, `{"code":-32600,"message":"jsonrpc: must be \"2.0\""}`},
	} {
		exactly(t, s.ask("POST", c.path, c.body), c.status, `{"jsonrpc":"2.0","id":1,"error":`+c.want+`}`)
	}
}

func TestPerceptionIsAnswered(t *testing.T) {
	in(t, func(t *testing.T, s *sensing) {
		defer s.answers("nikoni", func(said string) string { return "you said " + said })()
		id, err := s.Open("nikoni", "")
		if err != nil {
			t.Fatal(err)
		}
		for _, said := range []string{"one", "two", "three"} {
			start := time.Now()
			exactly(t, s.perceive(id, `{"title":"input","format":"text","body":"`+said+`"}`), 200, result("you said "+said))
			if took := time.Since(start); took != time.Second {
				t.Errorf("after %v", took)
			}
		}
		w := s.ask("POST", "/perception", `{"jsonrpc":"2.0","method":"perception.send","params":{"title":"input","format":"text","body":"x"}}`, "Mcp-Session-Id", id)
		exactly(t, w, 200, `{"jsonrpc":"2.0","id":null,"result":{"text":"you said x"}}`)
		if e := s.room.Journal()[0]; !strings.Contains(string(e.Body), `"from":"guest","by":"human"`) {
			t.Errorf("%s", e.Body)
		}
	})
}

// It says nothing, and the room rests: the answer is there at once. It never
// comes to anything: the answer is there after 55 s.
func TestPerceptionWithoutAnAnswer(t *testing.T) {
	in(t, func(t *testing.T, s *sensing) {
		id, err := s.Open("nikoni", "")
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		exactly(t, s.perceive(id, `{"title":"input","format":"text","body":"x"}`), 200, result(""))
		if took := time.Since(start); took != 55*time.Second {
			t.Errorf("after %v", took)
		}
		defer s.answers("nikoni", func(string) string { return "" })()
		start = time.Now()
		exactly(t, s.perceive(id, `{"title":"input","format":"text","body":"x"}`), 200, result(""))
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("after %v", took)
		}
	})
}

// For everything else the answer is the line of the judgement, when it was said.
func TestPerceptionIsJudged(t *testing.T) {
	in(t, func(t *testing.T, s *sensing) {
		wish, said := true, true
		s.judge = func(_ context.Context, who string, p abi.Percept) (abi.Judged, error) {
			if !wish {
				return abi.Judged{Seq: 1, Judgement: abi.Judgement{State: abi.Listen}}, nil
			}
			w := s.room.Append(entry.KindWish, entry.Wish{Who: who, Text: "a cat!"}).Seq
			go func() {
				time.Sleep(3 * time.Second)
				if !said {
					s.room.Append(entry.KindDue, entry.Due{What: entry.DueStale, Of: w})
					return
				}
				s.room.Append(entry.KindDecision, entry.Decision{Wish: w, Outcome: entry.OutcomeGrant, Speaker: who, Grant: &abi.Grant{Token: "g"}})
				s.room.Append(entry.KindSaid, entry.Said{From: who, By: abi.KindCompanion, Text: "a cat!", Kind: abi.KindTurn, Grant: "g"})
			}()
			return abi.Judged{Seq: w - 1, Judgement: abi.Judgement{State: abi.Speak, Text: "a cat!"}, Wish: w}, nil
		}
		id, err := s.Open("nikoni", "")
		if err != nil {
			t.Fatal(err)
		}
		image := fmt.Sprintf(`{"title":"vision","format":"image","body":"%s"}`, base64.StdEncoding.EncodeToString(pixel))
		exactly(t, s.perceive(id, image), 200, result("a cat!"))
		said = false
		exactly(t, s.perceive(id, image), 200, result("")) // after the cool-down
		wish = false
		start := time.Now()
		exactly(t, s.perceive(id, `{"title":"touch","format":"object","body":"{\"at\":[1]}"}`), 200, result(""))
		if took := time.Since(start); took != 0 {
			t.Errorf("after %v", took)
		}
		// A newer frame takes the place of one that cools down.
		exactly(t, s.perceive(id, image), 200, result(""))
		older := make(chan *httptest.ResponseRecorder)
		go func() { older <- s.perceive(id, image) }()
		synctest.Wait()
		s.ask("POST", perceives, image)
		exactly(t, <-older, 200, result(""))
		s.judge = func(context.Context, string, abi.Percept) (abi.Judged, error) {
			return abi.Judged{}, abi.Errorf(abi.CodeUnavailable, "waits for a model: none is configured")
		}
		exactly(t, s.perceive(id, `{"title":"touch","format":"object","body":"{\"at\":[1]}"}`), 503,
			`{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"waits for a model: none is configured"}}`)
	})
}

func TestPerceptionCallsThatAreWrong(t *testing.T) {
	in(t, func(t *testing.T, s *sensing) {
		id, err := s.Open("nikoni", "")
		if err != nil {
			t.Fatal(err)
		}
		mikas, err := s.Open("nikoni", "mika")
		if err != nil {
			t.Fatal(err)
		}
		const ok = `{"title":"touch","format":"object","body":{"at":[1]}}`
		call := func(params string) string {
			return `{"jsonrpc":"2.0","id":7,"method":"perception","params":` + params + `}`
		}
		for _, c := range []struct {
			name, session, body string
			status, code        int
			message             string // is in it
		}{
			{"no session", "", call(ok), 400, -32600, "mcp-session-id: the header is missing"},
			{"an unknown session", "nobody", call(ok), 404, -32000, "session: there is no such session"},
			{"somebody else's session (C4)", mikas, call(ok), 403, -32000, "session: was opened by somebody else"},
			{"unknown title (C1)", id, call(`{"title":"smell","format":"text","body":"x"}`), 404, -32602, "params.title: "},
			{"wrong format", id, call(`{"title":"touch","format":"text","body":"x"}`), 400, -32602, "params.format: "},
			{"the schema's path", id, call(`{"title":"touch","format":"object","body":{"at":[1,"x"]}}`), 400, -32602, "params.body.at[1]: "},
			{"no body", id, call(`{"title":"touch","format":"object"}`), 400, -32602, "params.body: "},
			{"no params", id, `{"jsonrpc":"2.0","id":7,"method":"perception"}`, 400, -32602, "params: "},
			{"params of another type", id, call(`["touch"]`), 400, -32602, "params: "},
			{"another method", id, `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, 400, -32601, `method: is "tools/list", must be "perception"`},
			{"no version", id, `{"id":7,"method":"perception","params":` + ok + `}`, 400, -32600, "jsonrpc: "},
			{"a batch", id, `[` + call(ok) + `]`, 400, -32600, "body: "},
			{"no JSON", id, `{"jsonrpc":`, 400, -32700, "body: "},
			{"nothing", id, "", 400, -32600, "body: is missing"},
		} {
			w := s.ask("POST", "/perception", c.body, "mcp-session-id", c.session)
			var got struct {
				Version string `json:"jsonrpc"`
				ID      any
				Result  any
				Error   struct {
					Code    int
					Message string
				}
			}
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatalf("%s: %v: %s", c.name, err, w.Body)
			}
			if w.Code != c.status || got.Version != "2.0" || got.Result != nil || got.Error.Code != c.code || !strings.Contains(got.Error.Message, c.message) || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%s: %d %s", c.name, w.Code, w.Body)
			}
			if want := any(7.0); c.status != 400 && got.ID != want {
				t.Errorf("%s: id %v", c.name, got.ID)
			}
		}
		if n := s.Counts("nikoni"); n["taken"] != 0 || len(s.room.Journal()) != 0 {
			t.Errorf("%v", n)
		}
	})
}

// Over this wire too, what people say needs talk and the rest needs act; a session
// is opened by who may do either.
func TestWireScopes(t *testing.T) {
	in(t, func(t *testing.T, s *sensing) {
		for _, scope := range identity.Scopes() {
			w := s.as(holder("mika", abi.KindHuman, scope), "POST", "/init", `{"jsonrpc":"2.0","id":1}`)
			if want := scope == identity.Talk || scope == identity.Act; (w.Code == 200) != want {
				t.Errorf("%s: %d %s", scope, w.Code, w.Body)
			}
		}
		if _, err := s.Session("session-1", ""); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("mika's session is a guest's, too: %v", err)
		}
		defer s.answers("nikoni", func(string) string { return "hi" })()
		id, err := s.Open("nikoni", "mika")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			scope  identity.Scope
			params string
			status int
		}{
			{identity.Talk, `{"title":"input","format":"text","body":"x"}`, 200}, {identity.Act, `{"title":"input","format":"text","body":"x"}`, 403},
			{identity.Act, `{"title":"touch","format":"object","body":{"at":[]}}`, 200}, {identity.Talk, `{"title":"touch","format":"object","body":{"at":[]}}`, 403},
		} {
			r := httptest.NewRequest("POST", "/perception", strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"perception","params":`+c.params+`}`))
			r.Header.Set("mcp-session-id", id)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r.WithContext(identity.With(r.Context(), holder("mika", abi.KindHuman, c.scope))))
			if w.Code != c.status {
				t.Errorf("%s with %s: %d %s", c.params, c.scope, w.Code, w.Body)
			}
		}
		if e := s.room.Journal()[0]; !strings.Contains(string(e.Body), `"from":"mika"`) {
			t.Errorf("%s", e.Body)
		}
	})
}

// Too much of it is told with how long to wait.
func TestWireIsFull(t *testing.T) {
	in(t, func(t *testing.T, s *sensing) {
		s.judge = func(ctx context.Context, _ string, _ abi.Percept) (abi.Judged, error) {
			<-ctx.Done()
			return abi.Judged{}, ctx.Err()
		}
		id, err := s.Open("zoe", "")
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			s.ask("POST", "/v1/companions/zoe/perceptions", `{"title":"vision","format":"text","body":"x"}`)
			synctest.Wait()
		}
		w := s.perceive(id, `{"title":"vision","format":"text","body":"x"}`)
		if w.Code != 429 || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), `"error":{"code":-32000,`) {
			t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
		}
	})
}

// Nobody here has a card: a companion has to be named.
func TestInitWithoutCards(t *testing.T) {
	f := newDoor(t, nil)
	if w := f.ask("POST", "/init", `{"jsonrpc":"2.0","id":1}`); w.Code != 404 || !strings.Contains(w.Body.String(), "?companion=") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
