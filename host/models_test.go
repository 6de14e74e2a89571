package host_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"

	"github.com/companiond/companiond/host/waittest"
)

// oracle is a language model for tests: it gives one answer, and refuses every key
// but one, telling it aloud as some vendors do.
type oracle struct {
	mu   sync.Mutex
	good string
	keys []string // as they came
}

func (o *oracle) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	o.mu.Lock()
	o.keys = append(o.keys, key)
	good := key == o.good
	o.mu.Unlock()
	if !good {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s","type":"invalid_request_error"}}`, key)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, data := range []string{
		`{"choices":[{"index":0,"delta":{"role":"assistant","content":"It is 42. "}}]}`,
		`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
		`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4}}`, "[DONE]",
	} {
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
}

func (o *oracle) takes(key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.good = key
}

func (o *oracle) asked() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.keys, " ")
}

// openSeer starts a daemon with the seer and a model behind a key in a file.
func openSeer(t *testing.T, o *oracle, toml string) (h *home, key string, log *bytes.Buffer) {
	t.Helper()
	model := httptest.NewServer(o)
	t.Cleanup(model.Close)
	h = newHome(t)
	key = filepath.Join(h.dir, "model.key")
	write(t, key, "sk-one\n")
	log = new(bytes.Buffer)
	h.log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h.drop(build(t, "./testdata/seer", "seer", ""), "seer.wasm")
	h.open(fmt.Sprintf("[model.main]\nurl = \"%s/v1\"\nmodel = \"tiny\"\nkey = %q\nretries = 0\n[room.main]\npatience = \"10s\"\n", model.URL, key) + toml)
	return h, key, log
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const grantAll = "[modules]\ngrant = [\"say\", \"action.emit\", \"model.generate\"]\n"

// TestSensesInWasm: a character in Wasm can do what one without code can: it
// perceives, plays the actions of its card and no others, hears what became of
// them, says its line piece by piece, and asks the model.
func TestSensesInWasm(t *testing.T) {
	waittest.WithoutRaces(t)
	o := &oracle{good: "sk-one"}
	h, _, _ := openSeer(t, o, grantAll)
	conn, frames := h.body("/v1/actions?companion=seer", nil)
	status, answer := h.ask("POST", "/v1/companions/seer/perceptions?wait=20", `{"title":"sound","format":"text","body":"knock knock"}`)
	if status != 200 || !strings.Contains(answer, `"reason":"nodded"`) {
		t.Fatalf("%d %s", status, answer)
	}
	nod := h.next(frames)
	if nod.Action != "nod" || nod.Parameters["times"] != 2.0 {
		t.Errorf("%+v", nod)
	}
	if err := conn.WriteJSON(map[string]any{"id": nod.ID, "ok": false, "reason": "a stiff neck"}); err != nil {
		t.Fatal(err)
	}
	h.until("the result is in the journal", func() bool { return len(ofKind[abi.Result](h, "main", entry.KindResult)) == 1 })
	const line = "Let me think. It is 42. a stiff neck"
	h.until("she says what she thought", func() bool {
		h.say("main", "taro", "Seer, what do you see?")
		h.until("an answer", func() bool { m := h.messages("main"); return m[len(m)-1].From == "seer" })
		m := h.messages("main")
		return m[len(m)-1].Text == line // the result is told beside the room
	})
	if first := h.next(frames); first.Action != "speak" || first.Parameters["message"] != "Let me think. " || first.Part != 1 {
		t.Errorf("%+v", first)
	}
	for tone, want := range map[string]string{"glad": `{"message":"So be it.","tone":"glad"}`, "sour": ""} { // how a line is said
		h.say("main", "taro", "Seer, tone: "+tone)
		h.until("it is said so", func() bool { m := h.messages("main"); return m[len(m)-1].From == "seer" })
		said := ofKind[entry.Said](h, "main", entry.KindSaid)
		if s := said[len(said)-1]; s.Text != "So be it." || string(s.Parameters) != want || strings.Contains(s.Warning, "parameters.tone") != (want == "") {
			t.Errorf("%s: %+v", tone, s)
		}
	}
	used := ofKind[entry.Usage](h, "main", entry.KindUsage)
	if u := used[0]; u.Who != "seer" || u.Op != abi.OpSpeak || u.Model != "main" || u.In != 9 || u.Out != 4 {
		t.Errorf("%+v", u)
	}
	h.replay("main")
}

// TestModelIsGranted: a module that is not granted the model does not get it, and
// why names the key to write; its words up to then are a message. The grants of all
// modules do not count for one that has a grant of its own.
func TestModelIsGranted(t *testing.T) {
	waittest.WithoutRaces(t)
	for toml, key := range map[string]string{
		"": `under [module.seer] in the configuration: grant = ["say", "action.emit", "model.generate"]`,
		grantAll + "[module.seer]\ngrant = [\"say\"]": `under [module.seer] in the configuration: grant = ["say", "model.generate"]`,
	} {
		o := &oracle{good: "sk-one"}
		h, _, log := openSeer(t, o, toml)
		h.say("main", "taro", "Seer, what do you see?")
		h.until("her line breaks off", func() bool { return len(h.messages("main")) == 2 })
		if m := h.messages("main")[1]; m.Text != "Let me think. " {
			t.Errorf("%+v", m)
		}
		h.stop()
		if said := strings.ReplaceAll(log.String(), `\"`, `"`); !strings.Contains(said, key) || o.asked() != "" {
			t.Errorf("the model was asked with %q; the log does not name %s\n%s", o.asked(), key, log)
		}
	}
}

// TestGrantOfOneModule is beside what all are granted.
func TestGrantOfOneModule(t *testing.T) {
	waittest.WithoutRaces(t)
	o := &oracle{good: "sk-one"}
	h, _, _ := openSeer(t, o, "[modules]\ngrant = []\n[module.seer]\ngrant = [\"say\", \"model.generate\"]\n")
	h.say("main", "taro", "Seer, what do you see?")
	h.until("she asks the model", func() bool { return o.asked() != "" })
}

// TestKeyIsReadAtEachCall: a new key needs no restart, and no key is ever in the
// log, the journal, or an answer of a door.
func TestKeyIsReadAtEachCall(t *testing.T) {
	waittest.WithoutRaces(t)
	o := &oracle{good: "sk-one"}
	h, key, log := openSeer(t, o, grantAll)
	lines := func() int { return len(ofKind[entry.Usage](h, "main", entry.KindUsage)) }
	for n, step := range []struct{ key, good, fails string }{
		{"sk-one\n", "sk-one", ""},
		{"sk-two", "sk-two", ""},
		{"sk-bad", "sk-two", "key"},
		{"", "sk-two", "must hold the key"},
		{"sk-two\nsk-one\n", "sk-two", "must hold the key"},
		{" sk-two \r\n", "sk-two", ""},
	} {
		write(t, key, step.key)
		o.takes(step.good)
		h.say("main", "taro", "Seer, what do you see?")
		h.until("the model was asked", func() bool { return lines() == n+1 })
		u := ofKind[entry.Usage](h, "main", entry.KindUsage)[n]
		if step.fails == "" && u.Error != "" || !strings.Contains(u.Error, step.fails) {
			t.Errorf("with the key %q: %+v", step.key, u)
		}
		h.until("the floor is free", func() bool { m := h.messages("main"); return m[len(m)-1].From == "seer" })
	}
	if got := o.asked(); got != "sk-one sk-two sk-bad sk-two" {
		t.Errorf("asked with %s", got)
	}
	entries, err := json.Marshal(h.entries("main"))
	if err != nil {
		t.Fatal(err)
	}
	_, companions := h.ask("GET", "/v1/companions", "")
	h.stop()
	files, err := filepath.Glob(filepath.Join(h.dir, "state", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v %v", files, err)
	}
	shown := map[string][]byte{"entries": entries, "companions": []byte(companions), "log": log.Bytes()}
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil { // a lock or a socket is none
			shown[f] = b
		}
	}
	for where, text := range shown {
		for _, secret := range []string{"sk-one", "sk-two", "sk-bad"} {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s has the key %s", where, secret)
			}
		}
	}
}
