package host_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/waittest"
)

const specDir = "testdata/spec"

// TestSpecClient: an MCP client on the TypeScript SDK subscribes to a card, the
// file is edited on the disk, it hears of it and plays the new action.
func TestSpecClient(t *testing.T) {
	needsNode(t, specDir)
	h := openNikoni(t, "")
	_, frames := h.body("/v1/actions?companion=nikoni", nil)
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Long)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "client.mjs", h.url+"/mcp", filepath.Join(h.dir, "characters", "nikoni.json"), "nikoni", "edit")
	cmd.Dir = specDir
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("client: %v\n%s", err, out)
	}
	var saw []string
	for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); {
		var line struct {
			Saw     string
			Same    *bool
			IsError *bool
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		if line.Same != nil && !*line.Same {
			t.Errorf("the resource is not the file: %s", lines.Text())
		}
		saw = append(saw, line.Saw)
	}
	all := strings.Join(saw, " ")
	for _, want := range []string{"spec", "subscribed", "resources/updated", "tools/list_changed", "action-play", "done"} {
		if !strings.Contains(all, want) {
			t.Errorf("it did not see %s:\n%s", want, out)
		}
	}
	a := h.next(frames)
	if acts := ofKind[entry.Action](h, "main", entry.KindAction); len(acts) != 1 || acts[0].Action != a.Action || acts[0].ID != a.ID || acts[0].By == "" {
		t.Errorf("actions in the journal %+v, at the body %+v", acts, a)
	}
}

// TestFlood: a camera sends more than a companion can judge, for five seconds;
// memory stays bounded, frames are dropped and counted, and the words of
// people are said meanwhile.
func TestFlood(t *testing.T) {
	waittest.WithoutRaces(t)
	_, toml := aimock(t, "--chaos-latency", "500")
	h := newHome(t)
	sample, err := os.ReadFile("../characters/nikoni.json")
	if err != nil {
		t.Fatal(err)
	}
	h.save("nikoni.json", bytes.Replace(sample, []byte(`"title": "vision",`), []byte(`"title": "vision", "coalesce": true,`), 1))
	h.open(toml + "[room.main]\nmax_turns = 5\n")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const clients, each, lines = 4, 1250, 20
	var sent, refused atomic.Int64
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for range each {
				switch status, answer := h.ask("POST", "/v1/companions/nikoni/perceptions", `{"title":"vision","format":"object","body":"{\"people\":1}"}`); status {
				case http.StatusAccepted:
					sent.Add(1)
				case http.StatusTooManyRequests:
					refused.Add(1)
				default:
					t.Errorf("%d %s", status, answer)
					return
				}
			}
		})
	}
	began := time.Now()
	for range lines {
		if status, answer := h.ask("POST", "/v1/companions/nikoni/perceptions", `{"title":"input","format":"text","body":"こんにちは"}`); status != http.StatusCreated {
			t.Errorf("a human is turned away: %d %s", status, answer)
		}
		time.Sleep(50 * time.Millisecond)
	}
	wg.Wait()
	took := time.Since(began)
	runtime.GC()
	runtime.ReadMemStats(&after)
	var one struct{ Senses map[string]int }
	h.get("/v1/companions/nikoni", &one)
	t.Logf("%d frames in %v, %d refused; counts %v; heap %+d KiB", sent.Load(), took, refused.Load(), one.Senses, (int64(after.HeapAlloc)-int64(before.HeapAlloc))>>10)
	if one.Senses["said"] != lines || one.Senses["replaced"] == 0 || int64(one.Senses["taken"]) != sent.Load() {
		t.Errorf("counts %v for %d frames", one.Senses, sent.Load())
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 32<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	said := 0
	for _, m := range h.messages("main") {
		if m.Text == "こんにちは" {
			said++
		}
	}
	if said != lines {
		t.Errorf("%d of %d human lines were said", said, lines)
	}
}

// TestCardsAreThereFromTheStart: agents find the spec and may play without anybody
// saving a file first.
func TestCardsAreThereFromTheStart(t *testing.T) {
	h := openNikoni(t, "")
	agent := doortest.NewByHand(t, h.url+"/mcp")
	for ask, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`: `"action-play"`, `{"jsonrpc":"2.0","id":2,"method":"resources/list"}`: `"spec://main"`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"action-play","arguments":{"actionName":"move","parameters":{"x":1,"y":0,"z":2}}}}`: `delivered`,
	} {
		if res, body := agent.Post(ask); res.StatusCode != 200 || !strings.Contains(body, want) || strings.Contains(body, `"isError":true`) {
			t.Errorf("%s\n%d %s", ask, res.StatusCode, body)
		}
	}
}

// TestHowItIsSaidReachesTheBody: a card's speak may have more than a message; an
// agent that plays it is told which wish waits, and the message has it.
func TestHowItIsSaidReachesTheBody(t *testing.T) {
	h := newHome(t)
	h.save("emo.json", []byte(`{"name": "Emo", "actions": [{"title": "speak", "properties": {
		"message": {"type": "string"}, "emotion": {"type": "string", "enum": ["joy", "anger"]}}, "required": ["message"]}]}`))
	h.open("")
	_, frames := h.body("/v1/actions?companion=emo", nil)
	agent := doortest.NewByHand(t, h.url+"/mcp")
	play := func(parameters string) string {
		_, body := agent.Post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"action-play","arguments":{"actionName":"speak","parameters":` + parameters + `}}}`)
		return body
	}
	if body := play(`{"message":"やった！","emotion":"shame"}`); !strings.Contains(body, "parameters.emotion") {
		t.Errorf("%s", body)
	}
	body := play(`{"message":"やった！","emotion":"joy"}`)
	if f := h.next(frames); f.Action != "speak" || f.Parameters["message"] != "やった！" || f.Parameters["emotion"] != "joy" {
		t.Errorf("%+v", f)
	}
	said := ofKind[entry.Said](h, "main", entry.KindSaid)
	if len(said) != 1 || said[0].Text != "やった！" || !strings.Contains(body, fmt.Sprintf(`"wish":%d`, said[0].Wish)) {
		t.Errorf("%s, said %+v", body, said)
	}
	h.replay("main")
}

// TestStopWhileALineWaits: an agent whose line waits for the floor hears at once that the
// daemon stops, instead of holding it up.
func TestStopWhileALineWaits(t *testing.T) {
	h := newHome(t)
	h.open("[room.main]\npatience = \"1m\"\n")
	mute, agent := doortest.NewByHand(t, h.url+"/mcp"), doortest.NewByHand(t, h.url+"/mcp")
	mute.Post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"vote","arguments":{"from":"mute","state":"listen"}}}`) // every round waits for its vote
	h.say("main", "taro", "誰か話して")
	answer := make(chan string, 1)
	go func() {
		_, body := agent.Post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"consume","arguments":{"from":"bot","amount":60,"message":"話します"}}}`)
		answer <- body
	}()
	waittest.Until(t, "the line waits", func() bool { return len(ofKind[entry.Wish](h, "main", entry.KindWish)) == 1 })
	h.stop()
	if body := <-answer; !strings.Contains(body, "the daemon is stopping") {
		t.Error(body)
	}
}
