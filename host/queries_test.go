package host_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/host/entry"
)

// watcher is a language model that asks its camera where it is asked about the door, says what it is answered, and
// reads its menu where it is asked about tea.
type watcher struct{}

func (watcher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Messages []struct{ Role, Content string }
		Tools    []struct {
			Function struct{ Name string }
		}
	}
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &req)
	last := req.Messages[len(req.Messages)-1]
	whole := string(body)
	offered := func(name string) bool {
		return slices.ContainsFunc(req.Tools, func(t struct{ Function struct{ Name string } }) bool { return t.Function.Name == name })
	}
	say := func(text string) { stream(w, fmt.Sprintf(`{"content":%q}`, text), "stop") }
	use := func(name, args string) {
		stream(w, fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":%q,"arguments":%q}}]}`, name, args), "tool_calls")
	}
	switch {
	case last.Role == "tool" && strings.Contains(last.Content, "400 yen"):
		say("Tea is 400 yen.")
	case last.Role == "tool" && strings.Contains(last.Content, "asked"):
		say("Let me look.")
	case last.Role == "tool":
		say("I cannot: " + last.Content)
	case strings.Contains(last.Content, `"answers_your_query":true`) && offered("speak"):
		use("speak", fmt.Sprintf(`{"message":%q}`, atTheDoor(last.Content)))
	case strings.Contains(whole, "the price of tea") && offered("knowledge_get"):
		use("knowledge_get", `{"name":"menu.md"}`)
	case offered("camera") && strings.Contains(last.Content, "waits_for_an_answer"):
		use("camera", `{"where":"door"}`)
	case offered("camera"): // she spoke since she was answered, and is asked for the line once more
		say(atTheDoor(last.Content))
	default: // a vote
		say("yes")
	}
}

// atTheDoor says what the newest answer is.
func atTheDoor(told string) string {
	if strings.LastIndex(told, "it is dark") > strings.LastIndex(told, "a cat") {
		return "It is too dark."
	}
	return "A cat is at the door."
}

// stream answers as an endpoint does, in one piece.
func stream(w http.ResponseWriter, delta, ends string) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", delta, ends)
}

const watching = `{"name": "Mio", "talkativeness": 0,
	"actions": [{"title": "speak", "properties": {"message": {"type": "string"}}, "required": ["message"]}],
	"queries": [{"title": "camera", "description": "What a camera sees", "properties": {"where": {"enum": ["door", "desk"]}}, "required": ["where"]}]}`

// TestQueriesOfACard: a card's model asks a client of the Firehose, and one of the action socket, perceives what
// they answer, and speaks about it; it reads a document that lies in its folder.
func TestQueriesOfACard(t *testing.T) {
	server := httptest.NewServer(watcher{})
	t.Cleanup(server.Close)
	h := newHome(t)
	h.save("mio.json", []byte(watching))
	shelf := filepath.Join(h.dir, "characters", "mio", "knowledge")
	if err := os.MkdirAll(shelf, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(shelf, "menu.md"), []byte("Tea: 400 yen"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.open("[model.main]\nurl = \"" + server.URL + "\"\nmodel = \"tiny\"\nretries = 0\n[room.main]\npatience = \"20s\"\n")
	last := func(text string) {
		t.Helper()
		h.until("Mio says "+text, func() bool { all := h.messages("main"); return all[len(all)-1].Text == text })
	}
	h.say("main", "taro", "Mio, who is at the door?")
	last(`I cannot: failed: action: nothing is connected to mio that could answer "camera"`)

	hose, _, err := websocket.DefaultDialer.Dial(strings.Replace(h.url, "http", "ws", 1)+"/firehose/main", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer hose.Close()
	answer := func(result string) {
		t.Helper()
		_ = hose.SetReadDeadline(time.Now().Add(time.Minute))
		for {
			var f struct {
				ID     string
				Method string
				Params struct {
					From, Type string
					Body       json.RawMessage
				}
			}
			if err := hose.ReadJSON(&f); err != nil {
				t.Fatal(err)
			}
			if f.Method != "query.send" || f.Params.Type == "speak" {
				continue
			}
			if f.Params.From != "mio" || f.Params.Type != "camera" || string(f.Params.Body) != `{"where":"door"}` {
				t.Fatalf("asked %+v %s", f, f.Params.Body)
			}
			if err := hose.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"topic":"queries","body":{"jsonrpc":"2.0","id":%q,%s}}`, f.ID, result)); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	h.say("main", "taro", "Mio, who is at the door now?")
	answer(`"result":{"success":true,"body":{"sees":"a cat"}}`)
	last("A cat is at the door.")
	h.say("main", "taro", "Mio, look at the door again.")
	answer(`"error":"it is dark"`)
	last("It is too dark.")
	_ = hose.Close()
	h.until("it has left", func() bool {
		all := ofKind[entry.Bodies](h, "main", entry.KindBody)
		return len(all) > 0 && len(all[len(all)-1].Left) > 0
	})

	body, frames := h.body("/v1/actions?companion=mio", nil)
	h.say("main", "taro", "Mio, and at the door at last?")
	f := h.next(frames)
	for f.Action == "speak" {
		f = h.next(frames)
	}
	if f.Action != "camera" || !f.Query {
		t.Fatalf("%+v", f)
	}
	if err := body.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"id":%q,"ok":true,"body":"a cat"}`, f.ID)); err != nil {
		t.Fatal(err)
	}
	last("A cat is at the door.")

	h.say("main", "taro", "Mio, what is the price of tea?")
	last("Tea is 400 yen.")
	if played := ofKind[entry.Action](h, "main", entry.KindAction); slices.ContainsFunc(played, func(a entry.Action) bool { return a.Action != "camera" || a.Due.IsZero() }) || len(played) != 3 {
		t.Errorf("played: %+v", played)
	}
	h.replay("main")
}
