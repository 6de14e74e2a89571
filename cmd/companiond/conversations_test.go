package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
)

var opened = time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)

// wordChain is a conversation of three, one of whom has left and was not told.
func wordChain() (v conversations.View) {
	v.ID, v.State, v.Turns, v.Opened, v.Heard = "conv_1", conversation.Active, 7, opened, opened.Add(time.Minute)
	v.Terms = conversation.Terms{Project: "home", Purpose: "word\tchain\nuntil the end of the day and all of the night, \x1b[31mred", MaxTurns: 20, Idle: 600_000, InTurn: true, Members: []string{"aya", "kyoko", "bob"}}
	v.Last = "aya"
	v.Members = []conversation.Member{
		{ID: "aya", Joined: true}, {ID: "kyoko", Joined: true, Ending: &conversation.Ending{By: "kyoko", Reason: conversation.ParticipantEnded}, Told: true},
		{ID: "bob", Ending: &conversation.Ending{Reason: conversation.Timeout}},
	}
	return v
}

// talkServer is a daemon that has one conversation with n messages, and writes down what it is asked.
type talkServer struct {
	*httptest.Server
	asked []string
}

func newTalkServer(t *testing.T, v conversations.View, n int) *talkServer {
	s := &talkServer{}
	mux := http.NewServeMux()
	answer := func(pattern string, give func(r *http.Request) any) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			s.asked = append(s.asked, strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Method, r.URL, b)))
			_ = json.NewEncoder(w).Encode(give(r))
		})
	}
	answer("GET /v1/conversations", func(*http.Request) any {
		return map[string]any{"conversations": []conversations.View{v}, "next": "conv_1"}
	})
	answer("GET /v1/conversations/conv_1", func(*http.Request) any { return v })
	answer("GET /v1/conversations/conv_1/messages", func(r *http.Request) any {
		var since int
		_, _ = fmt.Sscan(r.URL.Query().Get("since"), &since)
		said := []abi.Message{}
		for seq := since + 1; seq <= n && len(said) < perPage; seq++ {
			said = append(said, abi.Message{Seq: uint64(seq), From: "aya", To: []string{}, Text: fmt.Sprintf("word %d\nand \x1b[2Jmore", seq), At: opened})
		}
		return map[string]any{"messages": said, "head": n}
	})
	answer("POST /v1/conversations/conv_1/stop", func(*http.Request) any { return v })
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// do runs the verb and gives what it prints.
func (s *talkServer) do(t *testing.T, env, args string) string {
	t.Helper()
	t.Chdir(t.TempDir())
	var out, errs bytes.Buffer
	tm := &term{out: &out, err: &errs, env: append(strings.Fields(env), envURL+"="+s.URL)}
	if code := tm.do(t.Context(), append([]string{"conversations"}, strings.Fields(args)...)); code != exitOK {
		t.Fatalf("%s: ended with %d: %s", args, code, &errs)
	}
	return out.String()
}

func TestConversationsAreListed(t *testing.T) {
	s := newTalkServer(t, wordChain(), 2)
	got := s.do(t, "", "-project home -agent aya -state active -n 7")
	want := "ID      STATE   OPENED               TURNS  MEMBERS          PURPOSE\n" +
		"conv_1  active  2026-01-02 03:04:05  7/20   aya, kyoko, bob  word chain until the end of the day and…\n" +
		"there are older ones: companiond conversations -project home -agent aya -state active -before conv_1\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if asked := strings.Join(s.asked, "; "); asked != "GET /v1/conversations?agent=aya&limit=7&project=home&state=active" {
		t.Errorf("asked %s", asked)
	}
	var page struct{ Conversations []conversations.View }
	if err := json.Unmarshal([]byte(s.do(t, "", "-json")), &page); err != nil || len(page.Conversations) != 1 || page.Conversations[0].Terms.Purpose != wordChain().Terms.Purpose {
		t.Errorf("%+v, %v", page, err)
	}
	empty := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"conversations":[]}`)
	}))
	defer empty.Close()
	if got := (&talkServer{Server: empty}).do(t, "", "list"); got != "no conversations\n" {
		t.Errorf("got %q", got)
	}
}

// A conversation is shown with its life and all that was said; no word in it moves the cursor.
func TestAConversationIsShown(t *testing.T) {
	s := newTalkServer(t, wordChain(), 2)
	got := s.do(t, "", "show conv_1")
	want := `conv_1 is active
project  home
purpose  word chain
         until the end of the day and all of the night, \u001b[31mred
opened   2026-01-02 03:04:05 by aya
turns    7 of 20
until    2026-01-02 03:15:05, unless something is said
members  aya: opened it
         kyoko: joined; over (participant_ended by kyoko), and was told
         bob: has not answered; over (timeout), and is not told yet

03:04:05 #1    aya: word 1
               and \u001b[2Jmore
03:04:05 #2    aya: word 2
               and \u001b[2Jmore
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var one struct {
		ID       string `json:"conversation_id"`
		Messages []abi.Message
		State    conversation.State
	}
	if err := json.Unmarshal([]byte(s.do(t, "", "show conv_1 -json")), &one); err != nil || one.ID != "conv_1" || one.State != conversation.Active || len(one.Messages) != 2 {
		t.Errorf("%+v, %v", one, err)
	}
	long := newTalkServer(t, wordChain(), 2*perPage)
	if got := long.do(t, "", "show conv_1"); strings.Count(got, "aya: word") != 2*perPage || len(long.asked) != 4 {
		t.Errorf("of %d messages it shows %d, with %d requests", 2*perPage, strings.Count(got, "aya: word"), len(long.asked))
	}
}

// A terminal that wants colours gets them.
func TestColoursOfATerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	s := newTalkServer(t, wordChain(), 1)
	for _, colour := range []bool{false, true} {
		var out bytes.Buffer
		tm := &term{out: &out, err: io.Discard, env: []string{envURL + "=" + s.URL}, colour: colour}
		if code := tm.do(t.Context(), []string{"conversations", "show", "conv_1"}); code != exitOK || strings.Contains(out.String(), "\x1b[1;") != colour {
			t.Errorf("colour %v: ended with %d, shown as %q", colour, code, &out)
		}
	}
}

// A conversation is ended in one's own name, which with a token is the daemon's to know.
func TestAConversationIsEnded(t *testing.T) {
	s := newTalkServer(t, wordChain(), 0)
	if got := s.do(t, "", "end conv_1 -from mika"); got != "conv_1 is over, which bob will be told\n" {
		t.Errorf("got %q", got)
	}
	s.do(t, envToken+"=cmp_x", "end conv_1")
	if asked := strings.Join(s.asked, "; "); asked != `POST /v1/conversations/conv_1/stop {"from":"mika"}; POST /v1/conversations/conv_1/stop {}` {
		t.Errorf("asked %s", asked)
	}
}

// What is wrong is said in words, with what to type.
func TestWhatIsWrongWithConversations(t *testing.T) {
	t.Chdir(t.TempDir())
	for detail, want := range map[string]string{
		`there is nothing at "/v1/conversations"`:                             "write under [project.NAME] in its configuration: agents = [...]",
		`path.id: there is no such conversation (conv_1)`:                     ": there is no such conversation (conv_1); companiond conversations lists those there are",
		`path.id: you are not in that conversation (you is no human of home)`: "-from NAME",
		`query.state: must be one of "pending"`:                               `: -state: must be one of "pending"`,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusNotFound)
			_ = json.NewEncoder(w).Encode(map[string]any{"detail": detail})
		}))
		for _, args := range []string{"list", "show conv_1", "end conv_1"} {
			var errs bytes.Buffer
			code := (&term{out: io.Discard, err: &errs, env: []string{envURL + "=" + server.URL}}).do(t.Context(), strings.Fields("conversations "+args))
			if code != exitFailed || !strings.Contains(errs.String(), want) || strings.Count(errs.String(), "\n") != 1 {
				t.Errorf("%s: %q: ended with %d, says %q", args, detail, code, &errs)
			}
		}
		server.Close()
	}
	for args, want := range map[string]string{
		"show": "show ID and end ID are about one", "end": "show ID and end ID are about one", "list conv_1": "companiond conversations lists them",
		"conv_1": "companiond conversations show conv_1, or end conv_1?", "dance": `does not "dance": companiond conversations [list | show ID | end ID]`,
		"show conv_1 now": `unexpected argument "now"`,
	} {
		var errs bytes.Buffer
		if code := (&term{out: io.Discard, err: &errs}).do(t.Context(), strings.Fields("conversations "+args)); code != exitUsage || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: ended with %d, says %q", args, code, &errs)
		}
	}
}
