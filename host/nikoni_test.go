package host_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/waittest"
)

// aimockDir holds a fake of language-model APIs that others wrote.
const aimockDir = "model/testdata/aimock"

// aimock runs it with the answers of testdata/nikoni until the test ends, and
// gives the settings of a model that asks it.
func aimock(t *testing.T, flags ...string) (url, toml string) {
	t.Helper()
	needsNode(t, aimockDir)
	fixtures, err := filepath.Abs("testdata/nikoni/talk.json")
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"node_modules/@copilotkit/aimock/dist/cli.js", "-h", "127.0.0.1", "-p", "0", "-f", fixtures, "--strict", "--validate-on-load"}, flags...)
	cmd := exec.CommandContext(t.Context(), "node", args...)
	cmd.Dir = aimockDir
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may be gone
		_ = cmd.Wait()         // it was killed
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, at, found := strings.Cut(lines.Text(), "listening on "); found {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return at, "[model.main]\nurl = \"" + at + "/v1\"\nmodel = \"tiny\"\nretries = 0\nprice_out = 10\n"
		}
	}
	t.Fatal("aimock ended")
	return "", ""
}

// openNikoni opens a house with the AI Companion Protocol's sample, as its document prints it, and more.
func openNikoni(t *testing.T, toml string, more ...string) *home {
	t.Helper()
	h := newHome(t)
	sample, err := os.ReadFile("../characters/nikoni.json")
	if err != nil {
		t.Fatal(err)
	}
	h.save("nikoni.json", sample)
	for _, name := range more {
		h.drop("../characters/"+name+".talk.txt", name+".talk.txt")
	}
	h.open(toml)
	return h
}

// act is a frame of an action socket.
type act struct {
	Seq        uint64
	ID         string
	Action     string
	Parameters map[string]any
	Part       int
	Line       string
	Query      bool
	at         time.Time
}

// body connects to a socket and gives what comes, but what is about a line that ends.
func (h *home) body(path string, first any) (conn *websocket.Conn, frames <-chan act) {
	h.t.Helper()
	conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(h.url, "http")+path, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = conn.Close() })
	if first != nil {
		if err := conn.WriteJSON(first); err != nil {
			h.t.Fatal(err)
		}
	}
	got := make(chan act, 100)
	go func() {
		defer close(got)
		for {
			var a act
			if err := conn.ReadJSON(&a); err != nil {
				return
			}
			if a.at = time.Now(); a.Action != "" || a.Line == "" {
				got <- a
			}
		}
	}()
	return conn, got
}

// next gives the next frame.
func (h *home) next(frames <-chan act) act {
	h.t.Helper()
	select {
	case a, ok := <-frames:
		if !ok {
			h.t.Fatal("the socket was closed")
		}
		return a
	case <-time.After(waittest.Long):
		h.t.Fatal("no action came")
	}
	return act{}
}

// show sends a picture to nikoni.
func (h *home) show(query string) (status int, answer string) {
	h.t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	if err := w.WriteField("title", "vision"); err != nil {
		h.t.Fatal(err)
	}
	part, err := w.CreateFormFile("image", "person.png")
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := part.Write([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")); err != nil {
		h.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		h.t.Fatal(err)
	}
	return h.ask("POST", "/v1/companions/nikoni/perceptions"+query, form.String(), "Content-Type", w.FormDataContentType())
}

const asksToMove = `{"title":"input","format":"text","body":"移動して"}`

// TestNikoni: a picture of a person makes her speak, 「移動して」 makes her move and
// speak; her body gets what her card allows, and the model is told what is not.
func TestNikoni(t *testing.T) {
	at, toml := aimock(t)
	h := openNikoni(t, toml)
	conn, frames := h.body("/v1/actions?companion=nikoni", nil)

	if status, answer := h.show("?wait=20"); status != 200 || !strings.Contains(answer, `"speak"`) {
		t.Fatalf("%d %s", status, answer)
	}
	if a := h.next(frames); a.Action != "speak" || a.Parameters["message"] != "こんにちは！会えてうれしいな！" {
		t.Errorf("a picture leads to %+v", a)
	}
	if status, answer := h.ask("POST", "/v1/companions/nikoni/perceptions", asksToMove); status != 201 {
		t.Fatalf("%d %s", status, answer)
	}
	move := h.next(frames)
	if p := move.Parameters; move.Action != "move" || p["x"] != 1.0 || p["y"] != 0.0 || p["z"] != 2.0 {
		t.Errorf("移動して leads to %+v", move)
	}
	for _, want := range []string{"うん、移動したよ！", "ここからの眺め、とってもきれいだね。"} {
		if a := h.next(frames); a.Action != "speak" || a.Parameters["message"] != want {
			t.Errorf("then %+v, not %s", a, want)
		}
	}
	if err := conn.WriteJSON(map[string]any{"id": move.ID, "ok": false, "reason": "壁がある"}); err != nil {
		t.Fatal(err)
	}
	h.until("the result is written down", func() bool {
		return len(ofKind[entry.Done](h, "main", entry.KindResult)) == 1
	})
	if acts := ofKind[entry.Action](h, "main", entry.KindAction); len(acts) != 1 || acts[0].Delivered != 1 {
		t.Errorf("actions in the journal: %+v", acts)
	}
	for _, u := range ofKind[entry.Usage](h, "main", entry.KindUsage) {
		if u.In == 0 || u.Out == 0 || u.Cost == 0 || u.Calls != 1 || u.Error != "" {
			t.Errorf("usage %+v", u)
		}
	}
	resp, err := http.Get(at + "/__aimock/journal")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	told, err := io.ReadAll(resp.Body)
	if err != nil || !bytes.Contains(told, []byte("parameters.x")) {
		t.Errorf("the model was not told what is wrong with x: %v", err)
	}
	h.stop()
	h.replay("main")
}

// ofKind gives the bodies of a room's entries of a kind.
func ofKind[T any](h *home, room string, kind entry.Kind) (all []T) {
	h.t.Helper()
	for _, e := range h.entries(room) {
		if e.Kind == kind {
			var b T
			if err := json.Unmarshal(e.Body, &b); err != nil {
				h.t.Fatal(err)
			}
			all = append(all, b)
		}
	}
	return all
}

// TestReferenceWire drives the protocol's reference server by its shapes alone:
// init, subscribe, perception, action.
func TestReferenceWire(t *testing.T) {
	_, toml := aimock(t)
	h := openNikoni(t, toml)
	status, answer := h.ask("POST", "/init", `{}`)
	var opened struct{ Result struct{ SessionID string } }
	if err := json.Unmarshal([]byte(answer), &opened); err != nil || status != 200 || opened.Result.SessionID == "" {
		t.Fatalf("%d %s", status, answer)
	}
	session := opened.Result.SessionID
	conn, frames := h.body("/", map[string]any{"jsonrpc": "2.0", "method": "subscribe", "params": map[string]any{"sessionId": session}})
	// The protocol's subscribe has no answer to wait for, but the call behind it may have.
	if err := conn.WriteJSON(map[string]any{"jsonrpc": "2.0", "id": "behind", "method": "none"}); err != nil {
		t.Fatal(err)
	}
	if a := h.next(frames); a.ID != "behind" {
		t.Fatalf("%+v", a)
	}
	status, answer = h.ask("POST", "/perception", `{"jsonrpc":"2.0","id":7,"method":"perception","params":`+asksToMove+`}`, "mcp-session-id", session)
	var heard struct {
		ID     int
		Result struct{ Text string }
	}
	if err := json.Unmarshal([]byte(answer), &heard); err != nil || status != 200 || heard.ID != 7 || heard.Result.Text != "うん、移動したよ！ここからの眺め、とってもきれいだね。" {
		t.Fatalf("%d %s", status, answer)
	}
	if a := h.next(frames); a.Action != "move" || a.Parameters["z"] != 2.0 {
		t.Errorf("%+v", a)
	}
	if a := h.next(frames); a.Action != "speak" {
		t.Errorf("%+v", a)
	}
	if status, answer := h.ask("POST", "/perception", `{"jsonrpc":"2.0","id":8,"method":"perception","params":{"title":"smell","format":"text","body":"x"}}`, "mcp-session-id", session); status == 200 || !strings.Contains(answer, "smell") {
		t.Errorf("an unknown perception: %d %s", status, answer)
	}
}

// TestFirstWordsBeforeTheLastToken: the model writes 20 tokens a second; the first
// sentence is at the body while it still writes: its usage is counted at its end.
func TestFirstWordsBeforeTheLastToken(t *testing.T) {
	_, toml := aimock(t)
	h := openNikoni(t, toml)
	_, frames := h.body("/v1/actions?companion=nikoni", nil)
	began := time.Now()
	if status, answer := h.ask("POST", "/v1/companions/nikoni/perceptions", `{"title":"input","format":"text","body":"自己紹介して"}`); status != 201 {
		t.Fatalf("%d %s", status, answer)
	}
	first := h.next(frames)
	if first.Parameters["message"] != "ニコニ立体ちゃんだよ！" || first.Part != 1 {
		t.Errorf("%+v", first)
	}
	last := first
	for range 3 {
		last = h.next(frames)
	}
	h.until("the whole line is said", func() bool { return len(h.messages("main")) == 2 })
	var spoken []uint64 // the order does not depend on how fast this machine is
	for _, e := range h.entries("main") {
		switch e.Kind {
		case entry.KindSegment:
			spoken = append(spoken, e.Seq)
		case entry.KindUsage:
			if len(spoken) != 3 {
				t.Errorf("when the model was done, the journal had %d of 4 sentences", len(spoken))
			}
		}
	}
	if len(spoken) != 4 || first.Seq != spoken[0] {
		t.Errorf("sentences %v, the first at the body was %d", spoken, first.Seq)
	}
	t.Logf("first sentence after %v, the last after %v", first.at.Sub(began), last.at.Sub(began))
}

// TestModelsThatFail: slow, down, rate-limited, talking rubbish, or not there at
// all: the room talks with the others, and the journal says why she does not.
func TestModelsThatFail(t *testing.T) {
	waittest.WithoutRaces(t)
	t.Parallel() // a model that is slow is waited for
	for _, tc := range []struct {
		name  string
		flags []string
		toml  string
		why   string
	}{
		{"slow", []string{"--chaos-latency", "30000"}, "", "nikoni: .*(in time|held too long)"},
		{"down", []string{"--chaos-disconnect", "1"}, "", "nikoni: model main: "},
		{"rate limited", []string{"--chaos-ratelimit", "1"}, "", "nikoni: model main: .*rate"},
		{"rubbish", []string{"--chaos-malformed", "1"}, "", "nikoni: model main: "},
		{"none", nil, "[log]\nlevel = \"info\"\n", `nikoni.*waits for a model: write \[model.main\] into the configuration`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			toml := tc.toml
			if toml == "" {
				_, toml = aimock(t, tc.flags...)
			}
			h := openNikoni(t, toml+"[room.main]\npatience = \""+forGuests(3*time.Second)+"\"\nfloor = \""+forGuests(2*time.Second)+"\"\npace = \"100ms\"\nmax_turns = 3\n", "aya", "kyoko")
			seq := h.say("main", "taro", "ニコニ立体ちゃん、移動して")
			h.until("the others talk", func() bool { return len(h.messages("main")) >= 3 })
			if h.messages("main")[1].From == "nikoni" {
				t.Errorf("she spoke: %+v", h.messages("main"))
			}
			why := regexp.MustCompile(tc.why)
			h.until("why says why", func() bool { return why.MatchString(h.why("main", seq)) })
		})
	}
}

// why gives what `companiond why` says of the entries behind seq.
func (h *home) why(room string, seq uint64) (all string) {
	h.t.Helper()
	for _, e := range h.entries(room) {
		if e.Seq < seq || e.Kind != entry.KindDecision {
			continue
		}
		var why struct{ Text string }
		h.get(fmt.Sprintf("/v1/rooms/%s/entries/%d/why", room, e.Seq), &why)
		all += why.Text + "\n"
	}
	return all
}

// TestSavedCard: saving the file changes the companion in the running room, and a
// file with a mistake changes nothing.
func TestSavedCard(t *testing.T) {
	h := openNikoni(t, "")
	sample, err := os.ReadFile("../characters/nikoni.json")
	if err != nil {
		t.Fatal(err)
	}
	if c := h.companion("nikoni"); c.State != "ready" || !strings.HasPrefix(c.Error, "waits for a model") {
		t.Errorf("%+v", c)
	}
	h.save("nikoni.json", bytes.Replace(sample, []byte("ニコニ立体ちゃん"), []byte("ニコ"), 1))
	h.until("the new card is there", func() bool { return h.companion("nikoni").Name == "ニコ" })
	h.save("nikoni.json", bytes.Replace(sample, []byte(`"title": "move"`), []byte(`"titel": "move"`), 1))
	h.until("the mistake is told", func() bool { return strings.Contains(h.companion("nikoni").Error, "nikoni.json:15") })
	if c := h.companion("nikoni"); c.Name != "ニコ" || c.Generation != 2 {
		t.Errorf("%+v", c)
	}
}
