package host_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/waittest"
)

// referenceDir runs the page of the AI Companion Protocol's reference server.
const referenceDir = "testdata/reference"

// needsReference gives the folder of that server's client, which is nobody's here, or skips
// the test with how to get it.
func needsReference(t *testing.T) string {
	t.Helper()
	at := os.Getenv("COMPANIOND_REFERENCE")
	if at == "" {
		t.Skip("the reference server's client is not here: clone github.com/marukun712/aikyo, check out 7448469, and set COMPANIOND_REFERENCE to its folder client")
	}
	if !filepath.IsAbs(at) {
		t.Fatalf("COMPANIOND_REFERENCE: %q is no absolute path", at)
	}
	for _, client := range []string{at, filepath.Join(at, "client")} {
		if _, err := os.Stat(filepath.Join(client, "src/routes/index.tsx")); err == nil {
			needsNode(t, referenceDir)
			return client
		}
	}
	t.Fatalf("COMPANIOND_REFERENCE: %s has no src/routes/index.tsx; check out 7448469", at)
	return ""
}

// pageEvent is one line that the page's script prints.
type pageEvent struct {
	Event   string
	Frame   json.RawMessage
	Actions []json.RawMessage
	What    string // that was refused
	Why     string
	Path    string
	Status  int
	Body    struct{ Result struct{ Text string } }
}

// referencePage opens the page, which presses its button, until the test ends; say lets it
// send a perception.
func (h *home) referencePage(client string) (events <-chan pageEvent, say func(string)) {
	h.t.Helper()
	cmd := exec.CommandContext(h.t.Context(), "node", "page.mjs", client, h.url)
	cmd.Dir = referenceDir
	cmd.WaitDelay = 5 * time.Second
	var complaints strings.Builder
	cmd.Stderr = &complaints
	in, err := cmd.StdinPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	got := make(chan pageEvent, 100)
	go func() {
		defer close(got)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var e pageEvent
			if json.Unmarshal(lines.Bytes(), &e) != nil {
				e = pageEvent{Event: "no JSON", Why: lines.Text()}
			}
			got <- e
		}
	}()
	h.t.Cleanup(func() {
		_ = in.Close()
		for range got { // it ends by itself
		}
		if err := cmd.Wait(); err != nil && h.t.Context().Err() == nil {
			h.t.Log(err)
		}
		if h.t.Failed() {
			h.t.Log(complaints.String())
		}
	})
	return got, func(line string) {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			h.t.Error(err)
		}
	}
}

// await gives the next event of a kind, "" for any.
func (h *home) await(events <-chan pageEvent, kind string) pageEvent {
	h.t.Helper()
	deadline := time.After(waittest.Long)
	for {
		select {
		case e, ok := <-events:
			if !ok {
				h.t.Fatalf("the page is gone before %q", kind)
			}
			if e.Event == kind || kind == "" {
				return e
			}
		case <-deadline:
			h.t.Fatalf("no %q came", kind)
		}
	}
}

// TestReferencePage: the page of the reference server, unmodified and from another origin,
// opens its companion, connects, sends what somebody typed and shows what she does; an agent
// over MCP moves the same body.
func TestReferencePage(t *testing.T) {
	client := needsReference(t)
	_, toml := aimock(t)
	h := openNikoni(t, "origins = [\"http://localhost:3000\"]\n"+toml)
	events, say := h.referencePage(client)
	h.await(events, "connected")
	// Its subscription has no answer: an agent looks about until somebody shows it.
	agent := doortest.NewByHand(t, h.url+"/mcp")
	h.until("its body is there", func() bool {
		_, played := agent.Post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"action-play","arguments":{"actionName":"look","parameters":{"x":0,"y":0,"z":1}}}}`)
		return strings.Contains(played, `"delivered":1`)
	})
	say("移動して")
	want := []string{
		`{"action":"look","parameters":{"x":0,"y":0,"z":1}}`,
		`{"action":"move","parameters":{"x":1,"y":0,"z":2}}`,
		`{"action":"speak","parameters":{"message":"うん、移動したよ！"}}`,
		`{"action":"speak","parameters":{"message":"ここからの眺め、とってもきれいだね。"}}`,
	}
	var frames []string
	var shown, answered pageEvent
	for shown.Event == "" || answered.Event == "" { // in whatever order
		switch e := h.await(events, ""); {
		case e.Event == "frame":
			frames = append(frames, string(e.Frame))
		case e.Event == "shown":
			shown = e
		case e.Event == "answered":
			answered = e
		}
	}
	for i, params := range want {
		if want := `{"jsonrpc":"2.0","method":"action.execute","params":` + params + `}`; i >= len(frames) || frames[i] != want {
			t.Errorf("frame %d is not %s: %q", i, want, frames)
		}
	}
	if len(shown.Actions) != len(want) || !strings.Contains(string(shown.Actions[1]), `"move"`) {
		t.Errorf("%s", shown.Actions)
	}
	if answered.Status != 200 || !strings.HasPrefix(answered.Path, "/perception/") || answered.Body.Result.Text != "うん、移動したよ！ここからの眺め、とってもきれいだね。" {
		t.Errorf("%+v", answered)
	}
	if acts := ofKind[entry.Action](h, "main", entry.KindAction); acts[len(acts)-1].Action != "move" || acts[len(acts)-1].Delivered != 1 {
		t.Errorf("%+v", acts)
	}
}

// TestReferencePageFromElsewhere: where door.origins does not list it, the page is told
// what to write there.
func TestReferencePageFromElsewhere(t *testing.T) {
	client := needsReference(t)
	h := openNikoni(t, "")
	events, _ := h.referencePage(client)
	if e := h.await(events, "refused"); !strings.Contains(e.What, `write origins = [\"http://localhost:3000\"] under [door]`) {
		t.Errorf("%+v", e)
	}
	h.await(events, "failed")
}
