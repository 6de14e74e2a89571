package host_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/waittest"
)

const chatDir = "testdata/chat"

// talker is a language model that says the user's newest words back, in two sentences. To
// whoever asks it to wait it says the second when it is let.
type talker struct{ rest chan bool }

var newestWords = regexp.MustCompile(`Hello there|Hold on, \w+|And you all|Good morning, \w+|元気ですか|待って、[^。]+|おはよう、\w+`)

const ended = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

func (m talker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Messages []struct{ Content string }
		Stream   bool
		Format   json.RawMessage `json:"response_format"` // of a vote
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	all := ""
	for _, m := range in.Messages {
		all += m.Content
	}
	say := func(text string) {
		delta, _ := json.Marshal(text)
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", delta)
		w.(http.Flusher).Flush()
	}
	const vote = `{"state":"speak","importance":8,"closing":"none","reason":"x"}`
	if in.Format != nil && !in.Stream {
		fmt.Fprintf(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}]}`, vote)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if in.Format != nil {
		say(vote)
		fmt.Fprint(w, ended)
		return
	}
	words := ""
	if found := newestWords.FindAllString(all, -1); len(found) > 0 {
		words = found[len(found)-1]
	}
	say("You say " + words + ". ")
	if strings.Contains(words, "Hold") || strings.Contains(words, "待って") {
		select {
		case <-m.rest:
		case <-r.Context().Done():
			return
		}
	}
	say("そうですね。")
	fmt.Fprint(w, ended)
}

// chatEvent is a line that testdata/chat/clients.mjs prints.
type chatEvent struct {
	Event, Text, Finish, Code, Type, Param, Name string
	Models                                       []string
	Status                                       int
	Usage                                        *int
}

// TestChatClients: the packages openai and ai talk with a character and with a room,
// streaming and not, in English and Japanese, and take our errors for OpenAI's. A sentence
// is with them while the model still writes the next.
func TestChatClients(t *testing.T) {
	needsNode(t, chatDir)
	t.Parallel()
	model := talker{make(chan bool)}
	server := httptest.NewServer(model)
	t.Cleanup(server.Close)
	h := newHome(t)
	h.save("aya.json", []byte(`{"name":"綾","personality":"x","role":"x"}`))
	h.open("[model.main]\nurl = \"" + server.URL + "\"\nmodel = \"tiny\"\nretries = 0\n[room.main]\nmax_turns = 1\npatience = \"30s\"\nfloor = \"60s\"\n")
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Long)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "clients.mjs", h.url)
	cmd.Dir = chatDir
	cmd.WaitDelay = 5 * time.Second
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	got := map[string][]chatEvent{}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var e chatEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Errorf("%s: %v", lines.Text(), err)
		}
		t.Log(lines.Text())
		got[e.Event] = append(got[e.Event], e)
		if e.Event == "first" {
			select {
			case model.rest <- true:
			case <-ctx.Done():
				t.Errorf("the model was not to be let go on behind %q", e.Text)
			}
		}
	}
	_, _ = io.Copy(io.Discard, out) // a line that is too long ends the scanner
	if err := cmd.Wait(); err != nil {
		h.tell("main")
		t.Fatalf("%v\n%s", err, complaints.String())
	}
	judgeChat(t, got)
	words := 0
	for _, m := range h.messages("main") {
		if m.From == "ann" || m.From == "guest" {
			words++
		}
	}
	if words != 5+8 { // what was sent again, and what was refused, is not among them
		t.Errorf("%d messages were said", words)
	}
	h.replay("main")
}

// judgeChat holds what clients got to what was said.
func judgeChat(t *testing.T, got map[string][]chatEvent) {
	t.Helper()
	texts := func(event string) (all []string) {
		for _, e := range got[event] {
			all = append(all, strings.TrimPrefix(strings.TrimSuffix(e.Text, ". そうですね。"), "You say "))
		}
		return all
	}
	for event, want := range map[string][]string{
		"openai":               {"Hello there", "元気ですか"},
		"openai again":         {"元気ですか"},
		"openai stream":        {"Hold on, please", "待って、お願い"},
		"openai runner":        {"And you all"},
		"ai openai":            {"Good morning, openai", "おはよう、openai"},
		"ai openai stream":     {"Hold on, openai", "待って、openai"},
		"ai compatible":        {"Good morning, compatible", "おはよう、compatible"},
		"ai compatible stream": {"Hold on, compatible", "待って、compatible"},
	} {
		if all := texts(event); !slices.Equal(all, want) {
			t.Errorf("%s: %q, want %q", event, all, want)
		}
		for _, e := range got[event] {
			if e.Finish != "stop" && e.Finish != "" || strings.HasPrefix(event, "openai") && e.Usage != nil && *e.Usage != 0 {
				t.Errorf("%+v", e)
			}
		}
	}
	for _, e := range got["first"] { // the second sentence was not even made
		if !strings.HasPrefix(e.Text, "You say ") || strings.Contains(e.Text, "そう") {
			t.Errorf("the first piece is %q", e.Text)
		}
	}
	if len(got["first"]) != 6 || len(got["no error"]) > 0 || len(got["done"]) != 1 {
		t.Errorf("%v %v %v", got["first"], got["no error"], got["done"])
	}
	if m := got["models"]; len(m) != 1 || !slices.Equal(m[0].Models, []string{"aya", "room/main"}) || got["model"][0].Text != "room/main" {
		t.Errorf("models: %+v", m)
	}
	for event, want := range map[string]chatEvent{
		"error model":        {Status: 404, Code: "model_not_found", Param: "model", Type: "invalid_request_error", Name: "NotFoundError", Text: `no companion and no room "gpt-5"`},
		"error responses":    {Status: 404, Code: "not_found", Type: "invalid_request_error", Name: "NotFoundError", Text: "client.chat.completions.create"},
		"error companion":    {Status: 403, Code: "denied", Param: "user", Type: "permission_error", Name: "PermissionDeniedError", Text: "is the name of aya"},
		"error ai responses": {Status: 404, Text: "openai.chat(MODEL)"},
	} {
		if len(got[event]) != 1 {
			t.Errorf("%s: %+v", event, got[event])
			continue
		}
		e := got[event][0]
		if !strings.Contains(e.Text, want.Text) {
			t.Errorf("%s: %+v", event, e)
		}
		e.Text, e.Event, want.Text = "", "", ""
		if e.Status != want.Status || e.Code != want.Code || e.Param != want.Param || e.Type != want.Type || e.Name != want.Name {
			t.Errorf("%s: %+v, want %+v", event, e, want)
		}
	}
}
