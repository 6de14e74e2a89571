package conversations_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/web/conversations"
)

// TestChat is seed E's UC014 and UC015: start, say, hear, end; below /v1 and without.
func TestChat(t *testing.T) {
	for _, root := range []string{"/v1", ""} {
		in(t, func(s *stage) {
			started := s.ask("POST", root+"/chat/start", `{"agent_id":"worker-a","from":"taro","purpose":"the door","message":"are you there?","id":"m-1"}`)
			if started.status != 201 || started.Status != "pending" || started.AgentID != "worker-a" || started.Project != "site" {
				s.Fatalf("%d %s", started.status, started.text)
			}
			got := s.later("POST", root+"/chat", fmt.Sprintf(`{"conversation_id":%q,"from":"taro","message":"こんばんは"}`, started.ID))
			s.says(started.ID, "worker-a", "yes")
			a := <-got
			if a.status != 200 || !a.Answered || a.Status != "active" || a.ID != started.ID || a.Seq == 0 || a.Message == "" || a.Next != "" {
				s.Errorf("%d %s", a.status, a.text)
			}
			if len(a.Messages) != 1 || a.Messages[0].From != "worker-a" || a.Messages[0].Text != "yes" || a.Messages[0].Seq <= a.Seq {
				s.Errorf("%+v", a.Messages)
			}
			end := s.ask("POST", root+"/chat/end", fmt.Sprintf(`{"conversation_id":%q,"from":"taro","final_message":"bye"}`, started.ID))
			if end.status != 200 || end.Status != "terminating" || end.Ending == nil || end.Ending.By != "taro" || end.Ending.Reason != conversation.InitiatorEnded {
				s.Errorf("%d %s", end.status, end.text)
			}
			if got := s.words(started.ID); got != "taro: are you there?|taro: こんばんは|worker-a: yes|taro: bye" {
				s.Error(got)
			}
		})
	}
}

// TestChatWaits: an answer that does not come in time is to be asked for, and to say the same
// again says nothing and waits for it.
func TestChatWaits(t *testing.T) {
	in(t, func(s *stage) {
		id := s.starts()
		body := fmt.Sprintf(`{"conversation_id":%q,"from":"taro","message":"hello","id":"m-1"}`, id)
		began := time.Now()
		a := s.ask("POST", "/chat", body)
		if took := time.Since(began); a.status != 202 || a.Answered || a.Status != "pending" || a.Messages == nil || took != 45*time.Second {
			s.Errorf("%d after %v: %s", a.status, took, a.text)
		}
		if want := fmt.Sprintf("/v1/conversations/%s/messages?since=%d", id, a.Seq); a.Next != want {
			s.Errorf("next is %q, want %q", a.Next, want)
		}
		s.says(id, "worker-a", "hello, too")
		if later := s.ask("GET", a.Next, ""); later.status != 200 || len(later.Messages) != 1 || later.Messages[0].Text != "hello, too" || later.Status != "active" {
			s.Errorf("%d %s", later.status, later.text)
		}
		if again := s.ask("POST", "/chat", body); again.status != 200 || again.Seq != a.Seq || len(again.Messages) != 1 {
			s.Errorf("%d %s", again.status, again.text)
		}
		began = time.Now()
		if a := s.ask("POST", "/chat", fmt.Sprintf(`{"conversation_id":%q,"from":"taro","message":"?","wait_seconds":3}`, id)); a.status != 202 || time.Since(began) != 3*time.Second {
			s.Errorf("%d after %v: %s", a.status, time.Since(began), a.text)
		}
		if got := s.words(id); got != "taro: hello|worker-a: hello, too|taro: ?" {
			s.Error(got)
		}
		first := s.later("POST", "/chat", fmt.Sprintf(`{"conversation_id":%q,"from":"taro","message":"one"}`, id))
		if a := s.ask("POST", "/chat", fmt.Sprintf(`{"conversation_id":%q,"from":"taro","message":"two","wait_seconds":0}`, id)); a.status != 202 {
			s.Errorf("%d %s", a.status, a.text)
		}
		if a := s.ask("POST", "/v1/conversations/"+id+"/messages", `{"from":"ken","text":"three"}`); a.status != 201 {
			s.Errorf("%d %s", a.status, a.text)
		}
		synctest.Wait()
		s.says(id, "worker-a", "four")
		if a := <-first; len(a.Messages) != 3 || a.Messages[0].Text != "two" || a.Messages[2].Text != "four" || !a.Answered {
			s.Errorf("what is no answer: %d %s", a.status, a.text)
		}
	})
}

// TestChatIsOver: whoever waits is told at once when it is over, however that came.
func TestChatIsOver(t *testing.T) {
	in(t, func(s *stage) {
		id := s.starts()
		got := s.later("POST", "/chat", fmt.Sprintf(`{"conversation_id":%q,"from":"taro","message":"hello"}`, id))
		if a := s.ask("POST", "/v1/conversations/"+id+"/stop", `{"from":"ken"}`); a.status != 200 || a.State != "terminating" {
			s.Fatalf("%d %s", a.status, a.text)
		}
		if a := <-got; a.status != 200 || a.Answered || a.Next != "" || a.Ending == nil || a.Ending.By != "ken" {
			s.Errorf("%d %s", a.status, a.text)
		}
		s.refuses(s.ask("POST", "/chat", fmt.Sprintf(`{"conversation_id":%q,"from":"taro","message":"hello?"}`, id)), 409, conversation.NotOpen, "body.conversation_id")

		id = s.starts2("mika")
		got = s.later("POST", "/chat", fmt.Sprintf(`{"conversation_id":%q,"message":"hello"}`, id), "token=mika's")
		s.stop()
		if a := <-got; a.status != 202 || a.Next == "" {
			s.Errorf("the daemon stops: %d %s", a.status, a.text)
		}
	})
}

// starts2 opens a chat of the holder of a token with worker-b.
func (s *stage) starts2(who string) string {
	s.Helper()
	a := s.ask("POST", "/chat/start", `{"agent_id":"worker-b"}`, "token="+who+"'s")
	if a.status != 201 {
		s.Fatalf("%d %s", a.status, a.text)
	}
	return a.ID
}

// listen sends a request over a connection and reads the events of its answer.
func (s *stage) listen(method, path, body string, options ...string) (next func() string, gone func()) {
	s.Helper()
	pipe := doortest.NewPipe()
	server := &http.Server{Handler: s.Handler} //nolint:gosec // of a test
	served := make(chan struct{})
	go func() { _ = server.Serve(pipe); close(served) }()
	ctx, cancel := context.WithCancel(s.Context())
	r := s.request(ctx, method, "http://localhost"+path, body, options...)
	r.RequestURI = ""
	res, err := pipe.Client().Do(r)
	if err != nil {
		s.Fatal(err)
	}
	if ct := res.Header.Get("Content-Type"); res.StatusCode != 200 || ct != "text/event-stream; charset=utf-8" || res.Header.Get("Cache-Control") != "no-store" {
		s.Fatalf("%d %s", res.StatusCode, ct)
	}
	lines := bufio.NewReader(res.Body)
	gone = func() {
		cancel()
		_ = res.Body.Close()
		_ = server.Close()
		<-served
		synctest.Wait()
	}
	return func() string {
		event := ""
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return "(" + err.Error() + ")"
			}
			if line == "\n" {
				return strings.TrimSuffix(event, "\n")
			}
			event += line
		}
	}, gone
}

// TestChatStreams: what is said comes as it is said, and the stream shows that it is there.
func TestChatStreams(t *testing.T) {
	for _, way := range []string{`,"stream":true`, ""} {
		in(t, func(s *stage) {
			id := s.starts()
			accept := "Accept: */*"
			if way == "" {
				accept = "Accept: text/event-stream"
			}
			next, gone := s.listen("POST", "/chat", fmt.Sprintf(`{"conversation_id":%q,"from":"taro","message":"hello"%s}`, id, way), accept)
			defer gone()
			expect := func(want string) {
				s.Helper()
				if got := next(); !strings.HasPrefix(got, want) {
					s.Fatalf("%q\nwant %q", got, want)
				}
			}
			expect("event: said\nid: ")
			expect(": still here")
			if a := s.ask("POST", "/v1/conversations/"+id+"/messages", `{"from":"ken","text":"<b>I look on</b>"}`); a.status != 201 {
				s.Fatalf("%s", a.text)
			}
			if got := next(); !strings.HasPrefix(got, "event: message\nid: ") || !strings.Contains(got, `"from":"ken"`) || strings.Contains(got, "<b>") {
				s.Errorf("%s", got)
			}
			expect(": still here")
			s.says(id, "worker-a", "one\n\nevent: done")
			if got := next(); !strings.HasPrefix(got, "event: message\nid: ") || !strings.Contains(got, `"text":"one\n\nevent: done"`) {
				s.Errorf("%s", got)
			}
			expect(`event: conversation` + "\n" + `data: {"conversation_id":"` + id + `","from":"pending","to":"active"}`)
			if got := next(); !strings.HasPrefix(got, "event: done\ndata: ") || !strings.Contains(got, `"answered":true`) || !strings.Contains(got, `"status":"active"`) {
				s.Errorf("%s", got)
			}
			expect("(EOF)")
		})
	}
}

// TestClientsGo: who goes away leaves nothing behind, and others get its place.
func TestClientsGo(t *testing.T) {
	in(t, func(s *stage) {
		id := s.starts()
		body := fmt.Sprintf(`{"conversation_id":%q,"from":"taro","message":"hello","stream":true}`, id)
		_, gone := s.listen("POST", "/chat", body)
		if a := s.ask("POST", "/chat", body); a.status != 503 || a.header.Get("Retry-After") != "45" || a.Code != "unavailable" {
			s.Errorf("%d %s", a.status, a.text)
		}
		gone()
		_, gone = s.listen("POST", "/chat", body)
		gone()
	}, func(c *conversations.Config) { c.MaxWaiting = 1 })
}

// TestAnybodyChats: a person need not be named by the configuration to chat, and to speak into what
// others say.
func TestAnybodyChats(t *testing.T) {
	in(t, func(s *stage) {
		a := s.ask("POST", "/chat/start", `{"agent_id":"worker-a","from":"ken"}`)
		if a.status != 201 || !strings.Contains(a.text, `"agent_id":"worker-a"`) {
			s.Fatalf("%d %s", a.status, a.text)
		}
		talk := s.between()
		if a := s.ask("POST", "/chat", fmt.Sprintf(`{"conversation_id":%q,"from":"ken","message":"x","wait_seconds":0}`, talk)); a.status != 202 {
			s.Errorf("%d %s", a.status, a.text)
		}
		if got := s.words(talk); !strings.Contains(got, "ken: x") {
			s.Errorf("said: %s", got)
		}
	})
}
