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
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
)

// The wire of the AI Companion Protocol: JSON-RPC by POST.

// answers lets a companion answer what people say, a second later each time.
func (s *sensing) answers(who string, text func(said string) string) {
	s.room.Play(who, &doortest.Actor{
		Vote: toPeople,
		Speak: func(_ context.Context, now abi.Scene) abi.Line {
			time.Sleep(time.Second)
			return abi.Line{Text: text(now.Message.Text)}
		},
	})
}

// toPeople is the vote of somebody who answers people and nobody else.
func toPeople(s abi.Scene) abi.Vote {
	for _, m := range s.Members {
		if m.ID == s.Message.From && m.Kind == abi.KindHuman {
			return abi.Vote{State: abi.Speak, Importance: 5}
		}
	}
	return abi.Vote{State: abi.Listen}
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
	// Without a name it is the usual one.
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

// What is no call is told by its place, and not in words of Go.
func TestWhatIsNoCall(t *testing.T) {
	s := newSensing(t)
	const call = `{"jsonrpc":"2.0","id":1,"method":"perception"`
	for _, c := range []struct{ path, body, id, want string }{
		{"/init", `[]`, "null", `{"code":-32600,"message":"body: must be an object"}`},
		{"/init", `7`, "null", `{"code":-32600,"message":"body: must be an object"}`},
		{"/perception", `"x"`, "null", `{"code":-32600,"message":"body: must be an object"}`},
		{"/init", `{"jsonrpc":2,"id":1}`, "1", `{"code":-32600,"message":"jsonrpc: must be \"2.0\""}`},
		{"/perception", `{"jsonrpc":"2.0","id":1,"method":[]}`, "1", `{"code":-32600,"message":"method: must be a text"}`},
		{"/init", `{"id":1`, "null", `{"code":-32700,"message":"body: is no JSON: unexpected end of JSON input"}`},
		{"/perception", call + `}`, "1", `{"code":-32602,"message":"params: must be {title, format, body}"}`},
		{"/perception", call + `,"params":[]}`, "1", `{"code":-32602,"message":"params: must be {title, format, body}"}`},
		{"/perception", call + `,"params":{"title":7}}`, "1", `{"code":-32602,"message":"params.title: must be a text"}`},
	} {
		exactly(t, s.ask("POST", c.path, c.body), 400, `{"jsonrpc":"2.0","id":`+c.id+`,"error":`+c.want+`}`)
	}
}

func TestPerceptionIsAnswered(t *testing.T) {
	in(t, func(t *testing.T, s *sensing) {
		s.answers("nikoni", func(said string) string { return "you said " + said })
		id, err := s.Open("nikoni", "", "")
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
		if e := s.room.Happened()[0]; e.Kind != entry.KindSaid || !strings.Contains(string(e.Body), `"from":"guest","by":"human"`) {
			t.Errorf("%s", e.Body)
		}
	})
}

// It says nothing, and the room rests: the answer is there at once. It never
// comes to anything: the answer is there after 55 s.
func TestPerceptionWithoutAnAnswer(t *testing.T) {
	in(t, func(t *testing.T, s *sensing) {
		id, err := s.Open("nikoni", "", "")
		if err != nil {
			t.Fatal(err)
		}
		s.room.Leave("nikoni")
		s.room.Leave("zoe") // with nobody there nothing is decided
		start := time.Now()
		exactly(t, s.perceive(id, `{"title":"input","format":"text","body":"x"}`), 200, result(""))
		if took := time.Since(start); took != 55*time.Second {
			t.Errorf("after %v", took)
		}
		s.room.Live("nikoni")
		start = time.Now()
		exactly(t, s.perceive(id, `{"title":"input","format":"text","body":"x"}`), 200, result(""))
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("after %v", took)
		}
	})
}

// For everything else the answer is the line of the judgement, when it was said: here
// zoe has the floor first, for three seconds.
func TestPerceptionIsJudged(t *testing.T) {
	in(t, func(t *testing.T, s *sensing) {
		s.room.Play("nikoni", &doortest.Actor{Perceive: func(p abi.Perceiving) abi.Judgement {
			if p.Perception.Title == "vision" {
				return abi.Judgement{State: abi.Speak, Importance: 5, Text: "a cat!"}
			}
			return abi.Judgement{State: abi.Listen}
		}})
		s.room.Play("zoe", &doortest.Actor{Vote: toPeople, Speak: func(ctx context.Context, _ abi.Scene) abi.Line {
			select {
			case <-ctx.Done():
			case <-time.After(3 * time.Second):
			}
			return abi.Line{Text: "well"}
		}})
		id, err := s.Open("nikoni", "", "")
		if err != nil {
			t.Fatal(err)
		}
		heard := func(params, want string, after time.Duration) {
			t.Helper()
			start := time.Now()
			exactly(t, s.perceive(id, params), 200, result(want))
			if took := time.Since(start); took != after {
				t.Errorf("after %v, want %v", took, after)
			}
		}
		const hello = `{"from":"mika","text":"zoe, how are you?"}`
		image := fmt.Sprintf(`{"title":"vision","format":"image","body":"%s"}`, base64.StdEncoding.EncodeToString(pixel))
		s.ask("POST", says, hello)
		heard(image, "a cat!", 3*time.Second)
		time.Sleep(7 * time.Second) // the cool-down
		s.ask("POST", says, hello)
		time.AfterFunc(2*time.Second, func() { s.ask("POST", stops, "") })
		heard(image, "", 2*time.Second)
		s.ask("POST", says, hello) // after a STOP nobody perceives until a human speaks
		heard(`{"title":"touch","format":"object","body":"{\"at\":[1]}"}`, "", 0)
		// A newer frame takes the place of one that cools down.
		heard(image, "a cat!", 8*time.Second)
		older := make(chan *httptest.ResponseRecorder)
		go func() { older <- s.perceive(id, image) }()
		synctest.Wait()
		s.ask("POST", perceives, image)
		exactly(t, <-older, 200, result(""))
		s.judge = cannot
		exactly(t, s.perceive(id, `{"title":"touch","format":"object","body":"{\"at\":[1]}"}`), 503,
			`{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"waits for a model: none is configured"}}`)
	})
}

func TestPerceptionCallsThatAreWrong(t *testing.T) {
	in(t, func(t *testing.T, s *sensing) {
		id, err := s.Open("nikoni", "", "")
		if err != nil {
			t.Fatal(err)
		}
		mikas, err := s.Open("nikoni", "mika", "")
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
			{"an unknown session", "nobody", call(ok), 404, -32000, "session: there is no such session"},
			{"somebody else's session", mikas, call(ok), 403, -32000, "session: was opened by somebody else"},
			{"unknown title", id, call(`{"title":"smell","format":"text","body":"x"}`), 404, -32602, "params.title: "},
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
		if n, all := s.Counts("nikoni"), s.room.Happened(); n["taken"] != 0 || len(all) != 0 {
			t.Errorf("%v, and written down %v", n, all)
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
		s.answers("nikoni", func(string) string { return "hi" })
		id, err := s.Open("nikoni", "mika", "")
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
		if e := s.room.Happened()[0]; e.Kind != entry.KindSaid || !strings.Contains(string(e.Body), `"from":"mika"`) {
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
		id, err := s.Open("zoe", "", "")
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
	for _, path := range []string{"/init", "/perception"} {
		w := f.ask("POST", path, `{"jsonrpc":"2.0","id":1,"method":"perception","params":{}}`)
		if w.Code != 404 || !strings.Contains(w.Body.String(), "companion: nobody who has a card lives in a room; name one in the URL: /init?companion=ID, /perception/ID") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// Every way there was to say whose perception it is: a session in the URL, one in the
// header, the companion's own name, and nothing at all.
func TestWhosePerceptionItIs(t *testing.T) {
	in(t, func(t *testing.T, s *sensing) {
		for _, who := range []string{"nikoni", "zoe"} {
			s.answers(who, func(said string) string { return who + " heard " + said })
		}
		nikonis, err := s.Open("nikoni", "", "")
		if err != nil {
			t.Fatal(err)
		}
		zoes, err := s.Open("zoe", "", "")
		if err != nil {
			t.Fatal(err)
		}
		mikas, err := s.Open("zoe", "mika", "")
		if err != nil {
			t.Fatal(err)
		}
		const body = `{"jsonrpc":"2.0","method":"perception.send","params":{"title":"input","format":"text","body":"hi"}}`
		const heard = `{"jsonrpc":"2.0","id":null,"result":{"text":"%s heard hi"}}`
		refused := func(code int, message string) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`, code, message)
		}
		for _, c := range []struct {
			path, header, usual string
			status              int
			want                string
		}{
			{"/perception", "", "nikoni", 200, fmt.Sprintf(heard, "nikoni")},
			{"/perception", "", "zoe", 200, fmt.Sprintf(heard, "zoe")},
			{"/perception", zoes, "nikoni", 200, fmt.Sprintf(heard, "zoe")},
			{"/perception/zoe", "", "nikoni", 200, fmt.Sprintf(heard, "zoe")},
			{"/perception/" + zoes, "", "nikoni", 200, fmt.Sprintf(heard, "zoe")},
			{"/perception/zoe", zoes, "nikoni", 200, fmt.Sprintf(heard, "zoe")},
			{"/perception/zoe", "one-of-mcp", "nikoni", 200, fmt.Sprintf(heard, "zoe")},
			{"/perception/zoe", nikonis, "nikoni", 400, refused(-32600, "mcp-session-id: is a session with nikoni, and the URL names zoe; leave one of them out")},
			{"/perception/" + mikas, "", "nikoni", 403, refused(-32000, "session: was opened by somebody else; open another with POST /init")},
			{"/perception/kyoko", "", "nikoni", 404, refused(-32000, `companion: "kyoko" is neither a session that is open nor a companion; open a session with POST /init, or name one of GET /v1/companions`)},
			{"/perception/late", "", "nikoni", 503, refused(-32000, "companion: late is being loaded; try again")},
			{"/perception", "", "late", 503, refused(-32000, "companion: late is being loaded; try again")},
			{"/perception", "", "kyoko", 404, refused(-32000, "companion: kyoko, whom the configuration means by whoever names nobody, has no file here; name one in the URL: /init?companion=ID, /perception/ID")},
		} {
			s.usual = c.usual
			var header []string
			if c.header != "" {
				header = []string{"mcp-session-id", c.header}
			}
			w := s.ask("POST", c.path, body, header...)
			if got := strings.TrimSpace(w.Body.String()); w.Code != c.status || got != c.want {
				t.Errorf("%+v: %d %s", c, w.Code, got)
			}
		}
	})
}
