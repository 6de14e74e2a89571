package conversations_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/door/web"
)

// refuses holds an answer to a refusal with a code, about one place of the request.
func (s *stage) refuses(a answer, status int, code, where string) {
	s.Helper()
	at := ""
	if len(a.Errors) == 1 {
		at = a.Errors[0].Location
	}
	if a.status != status || a.Code != code || at != where || a.header.Get("Content-Type") != "application/problem+json" {
		s.Errorf("%d %s\nwant %d %s at %s", a.status, a.text, status, code, where)
	}
	if strings.Contains(a.Detail, code) && strings.Contains(code, "_") {
		s.Errorf("%q has the code in it", a.Detail)
	}
	if field := strings.TrimPrefix(where, "body."); where != "" && !strings.HasPrefix(a.Detail, field+": ") {
		s.Errorf("%q does not begin with %s", a.Detail, field)
	}
}

// TestRefusals: each of seed E's codes with its status, and the place that it is about.
func TestRefusals(t *testing.T) {
	in(t, func(s *stage) {
		chat, talk := s.starts(), s.between()
		long := strings.Repeat("あ", conversation.MaxText+1)
		for _, c := range []struct {
			path, body string
			status     int
			code, at   string
		}{
			{"/chat/start", `{"agent_id":"taro","from":"taro"}`, 400, conversation.WithSelf, "body.agent_id"},
			{"/chat/start", `{"agent_id":"nobody","from":"taro"}`, 404, conversation.AgentNotFound, "body.agent_id"},
			{"/chat/start", `{"agent_id":"loner","from":"taro"}`, 400, conversation.Invalid, "body.project"},
			{"/chat/start", `{"agent_id":"loner","from":"taro","project":"site"}`, 403, conversation.NotInProject, "body.agent_id"},
			{"/chat/start", `{"agent_id":"worker-a","from":"taro","project":"moon"}`, 404, "not_found", "body.project"},
			{"/chat/start", `{"agent_id":"worker-a","from":"taro"}`, 409, conversation.AlreadyActive, "body.agent_id"},
			{"/chat/start", `{"agent_id":"worker-b","from":"taro","purpose":"` + long + `"}`, 400, "invalid", "body.purpose"},
			{"/chat/start", `{"agent_id":"worker-b","from":"taro","message":"` + long + `"}`, 400, "invalid", "body.message"},
			{"/chat/start", `{"agent_id":"worker-b","from":"a b"}`, 400, "invalid", "body.from"},
			{"/chat/start", `{"from":"taro"}`, 400, "invalid", "body.agent_id"},
			{"/chat", fmt.Sprintf(`{"conversation_id":%q,"from":"taro","message":" "}`, chat), 400, "invalid", "body.message"},
			{"/chat", fmt.Sprintf(`{"conversation_id":%q,"from":"taro","message":"x","id":"a b"}`, chat), 400, "invalid", "body.id"},
			{"/chat", fmt.Sprintf(`{"conversation_id":%q,"from":"taro","message":"x","wait_seconds":46}`, chat), 400, "invalid", "body.wait_seconds"},
			{"/chat", `{"conversation_id":"conv_x","from":"taro","message":"x"}`, 404, conversation.NotFound, "body.conversation_id"},
			{"/chat/end", `{"conversation_id":"conv_x","from":"taro"}`, 404, conversation.NotFound, "body.conversation_id"},
			{"/chat/end", fmt.Sprintf(`{"conversation_id":%q,"from":"taro"}`, talk), 403, conversation.NotParticipant, "body.conversation_id"},
			{"/v1/conversations/conv_x/stop", `{"from":"taro"}`, 404, conversation.NotFound, "path.id"},
			{"/v1/conversations/conv_x/messages", `{"from":"taro","text":"x"}`, 404, conversation.NotFound, "path.id"},
			{"/v1/conversations/" + talk + "/messages", `{"from":"taro","text":""}`, 400, "invalid", "body.text"},
			{"/v1/conversations/" + talk + "/messages", `{"from":"taro","txt":"x","text":"x"}`, 400, "invalid", "body.txt"},
		} {
			s.refuses(s.ask("POST", c.path, c.body), c.status, c.code, c.at)
		}
		s.refuses(s.ask("GET", "/v1/conversations/conv_x", ""), 404, conversation.NotFound, "path.id")
		s.refuses(s.ask("GET", "/v1/conversations?project=moon", ""), 404, "not_found", "query.project")
		s.refuses(s.ask("GET", "/v1/conversations/feed?project=moon", ""), 404, "not_found", "query.project")
		s.refuses(s.ask("GET", "/v1/conversations?before=conv_x", ""), 400, conversation.Invalid, "query.before")
		if got := s.words(chat) + s.words(talk); got != "" {
			s.Errorf("said: %s", got)
		}
	})
}

// TestWho: a person is whose token it is or who a guest says it is, and never an AI; agents
// read what they are in.
func TestWho(t *testing.T) {
	in(t, func(s *stage) {
		chat, talk := s.starts(), s.between()
		posts := []struct{ path, body string }{
			{"/chat/start", `{"agent_id":"worker-b"}`},
			{"/chat", `{"conversation_id":"` + chat + `","message":"x"}`},
			{"/chat/end", `{"conversation_id":"` + chat + `"}`},
			{"/v1/conversations/" + talk + "/messages", `{"text":"x"}`},
			{"/v1/conversations/" + talk + "/stop", `{}`},
		}
		for _, p := range posts {
			body := func(from string) string {
				return strings.Replace(strings.Replace(p.body, "{", `{"from":"`+from+`",`, 1), ",}", "}", 1)
			}
			for _, name := range []string{"worker-b", "Worker-B", "ｗorker-a", "mika"} { // the last has a token
				s.refuses(s.ask("POST", p.path, body(name)), 403, "denied", "body.from")
			}
			s.refuses(s.ask("POST", p.path, body("worker-a"), "token=a's"), 403, "denied", "body.from")
			s.refuses(s.ask("POST", p.path, body("taro"), "token=mika's"), 403, "denied", "body.from")
			s.refuses(s.ask("POST", p.path, body("looker"), "token=looker's"), 403, "denied", "")
		}
		if v := s.ask("GET", "/v1/conversations/"+talk, ""); v.State != "pending" || s.words(talk) != "" || s.words(chat) != "" {
			s.Errorf("%s %s %s", v.text, s.words(talk), s.words(chat))
		}

		for _, c := range []struct {
			token  string
			path   string
			status int
			list   int
		}{
			{"b's", "/v1/conversations", 200, 1}, {"a's", "/v1/conversations", 200, 2}, {"looker's", "/v1/conversations", 200, 2},
			{"b's", "/v1/conversations?agent=worker-b", 200, 1}, {"b's", "/v1/conversations?agent=worker-a", 403, 0},
			{"b's", "/v1/conversations/" + chat, 403, 0}, {"b's", "/v1/conversations/" + chat + "/messages", 403, 0}, {"b's", "/v1/conversations/" + talk, 200, 0},
			{"b's", "/v1/rooms/" + chat, 403, 0}, {"b's", "/v1/rooms/" + chat + "/messages", 403, 0}, {"b's", "/v1/rooms/" + chat + "/entries", 403, 0}, {"b's", "/v1/rooms/" + talk + "/entries", 200, 0}, {"b's", "/v1/rooms/main", 200, 0},
			{"a's", "/v1/conversations/" + chat + "/messages", 200, 0}, {"looker's", "/v1/conversations/" + chat, 200, 0},
		} {
			if a := s.ask("GET", c.path, "", "token="+c.token); a.status != c.status || len(a.Conversations) != c.list {
				s.Errorf("%s with %s: %d %s", c.path, c.token, a.status, a.text)
			}
		}
	})
}

// TestPeopleLookOn: they see conversations of others, say something that is no turn, and stop
// one.
func TestPeopleLookOn(t *testing.T) {
	in(t, func(s *stage) {
		chat, talk := s.starts(), s.between()
		s.says(talk, "worker-a", "a word")
		s.says(talk, "worker-b", "another")
		if a := s.ask("POST", "/v1/conversations/"+talk+"/messages", `{"text":"go on","id":"m-1"}`, "token=mika's"); a.status != 201 || a.Seq == 0 {
			s.Errorf("%d %s", a.status, a.text)
		}
		if a := s.ask("GET", "/v1/conversations/"+talk, ""); a.Turns != 2 || a.State != "active" || a.ID != talk {
			s.Errorf("%s", a.text)
		}
		if got := s.words(talk); got != "worker-a: a word|worker-b: another|mika: go on" {
			s.Error(got)
		}
		ids := func(query string) (all string) {
			a := s.ask("GET", "/v1/conversations"+query, "")
			for _, v := range a.Conversations {
				all += v.ID + " "
			}
			return all + a.Next
		}
		for query, want := range map[string]string{
			"": talk + " " + chat + " ", "?limit=1": talk + " " + talk, "?limit=1&before=" + talk: chat + " " + chat, "?state=active": talk + " ", "?agent=taro": chat + " ", "?project=site&state=ended": "",
		} {
			if got := ids(query); got != want {
				s.Errorf("%s: %q, want %q", query, got, want)
			}
		}
		if a := s.ask("GET", "/v1/conversations?state=ended", ""); a.text != `{"conversations":[]}`+"\n" {
			s.Errorf("%s", a.text)
		}
		if a := s.ask("POST", "/v1/conversations/"+talk+"/stop", ""); a.status != 200 || a.State != "terminating" || a.Ending == nil || a.Ending.By != "guest" {
			s.Errorf("%d %s", a.status, a.text)
		}
		s.refuses(s.ask("POST", "/v1/conversations/"+talk+"/stop", `{}`), 409, conversation.NotOpen, "path.id")
		s.refuses(s.ask("POST", "/v1/conversations/"+talk+"/messages", `{"text":"still there?","from":"ken"}`), 409, conversation.NotOpen, "path.id")
	})
}

// TestFeed: whoever follows hears how conversations change and who is not there; an agent of
// its own alone.
func TestFeed(t *testing.T) {
	in(t, func(s *stage) {
		s.here = false
		next, gone := s.listen("GET", "/v1/conversations/feed?project=site", "")
		only, goneToo := s.listen("GET", "/v1/conversations/feed", "", "token=b's")
		if a, b := next(), only(); a != ": still here" || b != a {
			s.Errorf("%q %q", a, b)
		}
		synctest.Wait()
		chat, talk := s.starts(), s.between()
		for i, want := range []string{chat, talk} {
			absent := []string{"worker-a", "worker-b"}[i]
			if got := next(); !strings.HasPrefix(got, "event: conversation\ndata: {") || !strings.Contains(got, `"conversation_id":"`+want) || !strings.Contains(got, `"absent":["`+absent+`"]`) || !strings.Contains(got, `"state":"pending"`) {
				s.Errorf("%s", got)
			}
		}
		if got := only(); !strings.Contains(got, talk) {
			s.Errorf("%s", got)
		}
		if got := next(); got != ": still here" {
			s.Errorf("%s", got)
		}
		gone()
		s.stop()
		got := only()
		for got == ": still here" {
			got = only()
		}
		if !strings.HasSuffix(got, "EOF)") {
			s.Errorf("%s", got)
		}
		goneToo()
	})
}

// TestNothingWithoutProjects: where no project is configured nothing is offered, and the room
// of a conversation is no room of the list.
func TestNothingWithoutProjects(t *testing.T) {
	in(t, func(s *stage) {
		talk := s.between()
		if a := s.ask("GET", "/v1/rooms", ""); a.status != 200 || strings.Contains(a.text, talk) || !strings.Contains(a.text, `"main"`) {
			s.Errorf("%s", a.text)
		}
		if a := s.ask("GET", "/v1/rooms/"+talk, ""); a.status != 200 || !strings.Contains(a.text, `"conversation":{"terms":`) {
			s.Errorf("%s", a.text)
		}
		s.web.Conversations = nil
		s.Handler = s.door(s.web)
		for _, path := range []string{"POST /chat", "POST /chat/start", "POST /chat/end", "POST /v1/chat", "GET /v1/conversations", "GET /v1/conversations/feed"} {
			method, at, _ := strings.Cut(path, " ")
			if a := s.ask(method, at, ""); a.status != http.StatusNotFound {
				s.Errorf("%s: %d %s", path, a.status, a.text)
			}
		}
	})
}

// TestEndIsStreamed: whoever listens is told when and how it is over, and then no more.
func TestEndIsStreamed(t *testing.T) {
	in(t, func(s *stage) {
		id := s.starts()
		s.says(id, "worker-a", "hello")
		next, gone := s.listen("POST", "/chat", fmt.Sprintf(`{"conversation_id":%q,"from":"taro","message":"hello","stream":true}`, id))
		defer gone()
		_ = next()
		talk, err := s.Room(s.Context(), id)
		if err != nil {
			s.Fatal(err)
		}
		if _, err := talk.Converse(s.Context(), conversation.Input{Kind: conversation.End, Who: "worker-a"}); err != nil {
			s.Fatal(err)
		}
		if got := next(); got != `event: conversation`+"\n"+`data: {"conversation_id":"`+id+`","from":"active","to":"terminating","ended_by":"worker-a","reason":"participant_ended"}` {
			s.Errorf("%s", got)
		}
		if got := next(); !strings.HasPrefix(got, "event: done") || !strings.Contains(got, `"answered":false`) || !strings.Contains(got, `"ending":{"ended_by":"worker-a","reason":"participant_ended"}`) {
			s.Errorf("%s", got)
		}
		if got := next(); got != "(EOF)" {
			s.Errorf("%s", got)
		}
	})
}

// TestDocument holds the tables of docs/CONVERSATIONS.md about HTTP to the API.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/CONVERSATIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## HTTP\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var rows []string
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) == 5 && strings.HasPrefix(cells[1], " `") {
			words := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[2], -1)
			fields := []string{}
			for _, w := range words {
				fields = append(fields, strings.Split(strings.ReplaceAll(strings.Trim(w[1], "?"), "=", ""), "&")...)
			}
			slices.Sort(fields)
			rows = append(rows, strings.Trim(cells[1], " `")+" "+strings.Join(fields, " "))
		}
	}
	asJSON, _, err := web.OpenAPI(web.Version{})
	if err != nil {
		t.Fatal(err)
	}
	var api struct {
		Paths map[string]map[string]struct {
			Parameters  []struct{ Name, In string }
			RequestBody struct {
				Content map[string]struct {
					Schema struct {
						Ref string `json:"$ref"`
					}
				}
			}
		}
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(asJSON, &api); err != nil {
		t.Fatal(err)
	}
	var want []string
	for path, methods := range api.Paths {
		if !strings.HasPrefix(path, "/v1/chat") && !strings.HasPrefix(path, "/v1/conversations") {
			continue
		}
		for method, op := range methods {
			fields := slices.Collect(maps.Keys(api.Components.Schemas[strings.TrimPrefix(op.RequestBody.Content["application/json"].Schema.Ref, "#/components/schemas/")].Properties))
			for _, p := range op.Parameters {
				if p.In == "query" {
					fields = append(fields, p.Name)
				}
			}
			slices.Sort(fields)
			want = append(want, strings.ToUpper(method)+" "+path+" "+strings.Join(fields, " "))
		}
	}
	slices.Sort(rows)
	slices.Sort(want)
	if !slices.Equal(rows, want) {
		t.Errorf("docs/CONVERSATIONS.md has\n%s\nthe door has\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
}
