package host_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/entry"

	"github.com/companiond/companiond/host/waittest"
)

// spokenWord is one line of the transcript that testdata/body/body.mjs prints.
type spokenWord struct {
	Event, Who, Line, Text, End, Reason string
	Part                                int
	At                                  int64 // milliseconds
	Error                               json.RawMessage
}

// needsWebSocket gives the arguments with which node has a global WebSocket, or skips
// the test with the reason; COMPANIOND_NODE=1 makes that a failure.
func needsWebSocket(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("node", "--version").Output()
	why, major := "", 0
	if _, scan := fmt.Sscanf(string(out), "v%d.", &major); err != nil || scan != nil {
		why = "node is not installed"
	} else if major < 20 {
		why = "node has no WebSocket before version 20: it is " + strings.TrimSpace(string(out))
	}
	switch {
	case why == "" && major < 22:
		return []string{"--experimental-websocket"}
	case why == "":
		return nil
	case os.Getenv("COMPANIOND_NODE") == "1":
		t.Fatal(why)
	}
	t.Skip(why)
	return nil
}

// embody runs the script as the bodies of companions, until the test ends or the
// transcript was read. voice is how many milliseconds a character takes.
func (h *home) embody(node []string, voice int, companions ...string) <-chan spokenWord {
	h.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, "node", slices.Concat(node, []string{"body.mjs", h.url}, companions)...)
	cmd.Dir = "testdata/body"
	cmd.Env = append(cmd.Environ(), fmt.Sprint("VOICE=", voice), "NODE_NO_WARNINGS=1")
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	words := make(chan spokenWord, 1000)
	go func() {
		defer close(words)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var w spokenWord
			if json.Unmarshal(lines.Bytes(), &w) != nil {
				w = spokenWord{Event: "no JSON", Text: lines.Text()}
			}
			words <- w
		}
	}()
	h.t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it is killed
		if complaints.Len() > 0 {
			h.t.Error(complaints.String())
		}
	})
	return words
}

// TestABodyFromTheDocument: a script that was written from the words of docs/BODIES.md plays a
// talk of three with a voice of its own. One mouth moves at a time, each line ends once,
// a person who calls the speaker cuts it off, and so does STOP.
func TestABodyFromTheDocument(t *testing.T) {
	node := needsWebSocket(t)
	waittest.WithoutRaces(t)
	h := newHome(t)
	three := []string{"aya", "kyoko", "natsumi"}
	for _, name := range three {
		h.drop("../characters/"+name+".talk.txt", name+".talk.txt")
	}
	h.open("[room.main]\ninterrupt = \"now\"\npatience = \"" + forGuests(time.Second) + "\"\n")
	words := h.embody(node, 15, three...)
	var all []spokenWord
	next := func(events ...string) spokenWord {
		t.Helper()
		for {
			select {
			case w, ok := <-words:
				if !ok {
					t.Fatal("the body is gone")
				}
				if all = append(all, w); slices.Contains(events, w.Event) {
					return w
				}
			case <-time.After(time.Minute):
				h.tell("main")
				t.Fatalf("no %v came", events)
			}
		}
	}
	next("ready")
	h.say("main", "taro", "こんにちは！あなたたちは誰ですか？")
	for range 4 {
		if w := next("end"); w.End != "said" || w.Reason != "played" {
			t.Errorf("nobody spoke over it: %+v", w)
		}
	}
	called := next("begin")
	time.Sleep(300 * time.Millisecond) // of a line that takes more
	h.say("main", "taro", "ちょっと待って、"+h.companion(called.Who).Name+"さん、それはどういうこと？")
	cut := next("end")
	if cut.Line != called.Line || cut.End != "cut" || cut.Reason != "taro spoke over it" {
		t.Errorf("%s was called over line %s, and the end is %+v", called.Who, called.Line, cut)
	}
	if answers := next("begin"); answers.Who != called.Who {
		t.Errorf("%s was called, %s answers", called.Who, answers.Who)
	}
	next("end")
	stopped := next("begin")
	for len(stopped.Text) < 3*40 { // it may be over before it is stopped
		stopped = next("begin")
	}
	time.Sleep(400 * time.Millisecond)
	if code, answer := h.ask("POST", "/v1/rooms/main/stop", `{"from":"taro"}`); code != 200 {
		t.Errorf("stop: %d %s", code, answer)
	}
	if w := next("end"); w.Line != stopped.Line || w.End != "stopped" {
		t.Errorf("STOP while %s was heard: %+v", stopped.Line, w)
	}
	if lines := judgeTranscript(t, all); len(lines) < 7 {
		t.Errorf("%d lines", len(lines))
	}

	entries, cuts := h.entries("main"), map[string]string{}
	for _, m := range h.messages("main") {
		i := slices.IndexFunc(entries, func(e entry.Entry) bool { return e.Seq == m.Seq })
		said, err := entry.Decode[entry.Said](entries[i])
		if err != nil {
			t.Fatal(err)
		}
		if m.From == "taro" || said.Grant != cut.Line && said.Grant != stopped.Line {
			if m.Cut != "" || m.Text != said.Text {
				t.Errorf("nobody cut %+v", m)
			}
			continue
		}
		if cuts[said.Grant] = m.Cut; !strings.HasPrefix(said.Text, m.Text) || len(m.Text) == len(said.Text) {
			t.Errorf("of %q people heard %+v", said.Text, m)
		}
	}
	if cuts[cut.Line] != "cut" || cuts[stopped.Line] != "stopped" {
		t.Errorf("history says of the two %v", cuts)
	}
	for _, e := range entries {
		if h, err := entry.Decode[entry.Heard](e); e.Kind == entry.KindHeard && (err != nil || len(h.Missed) > 0) {
			t.Errorf("the daemon heard nothing of its body: %s", e.Body)
		}
	}
	h.replay("main")
}

// judgeTranscript holds a transcript to the one mouth and the one end of each line, and
// gives how many pieces of each were begun.
func judgeTranscript(t *testing.T, all []spokenWord) (parts map[string]int) {
	t.Helper()
	parts = map[string]int{}
	ends, last := map[string]int{}, spokenWord{}
	for _, w := range all {
		switch w.Event {
		case "begin":
			t.Logf("%d %s %s/%d: %s", w.At, w.Who, w.Line, w.Part, w.Text)
			if last.Event == "begin" || w.At < last.At {
				t.Errorf("%s begins %s/%d while %s says %s/%d", w.Who, w.Line, w.Part, last.Who, last.Line, last.Part)
			}
			if parts[w.Line]++; parts[w.Line] != w.Part {
				t.Errorf("part %d of %s is the %dth that is said", w.Part, w.Line, parts[w.Line])
			}
			if ends[w.Line] > 0 {
				t.Errorf("%s goes on with %s, which has ended", w.Who, w.Line)
			}
			last = w
		case "played", "stopped":
			if last.Line != w.Line || last.Part != w.Part {
				t.Errorf("%s/%d ends, and %s/%d was being said", w.Line, w.Part, last.Line, last.Part)
			}
			last = w
		case "end":
			if ends[w.Line]++; ends[w.Line] > 1 {
				t.Errorf("line %s ends %d times", w.Line, ends[w.Line])
			}
			t.Logf("%d %s %s ends: %s, %s", w.At, w.Who, w.Line, w.End, w.Reason)
		case "ready":
		default:
			t.Errorf("%+v %s", w, w.Error)
		}
	}
	for _, w := range all {
		if w.Event == "begin" && ends[w.Line] != 1 {
			t.Errorf("line %s of %s has %d ends", w.Line, w.Who, ends[w.Line])
		}
	}
	return parts
}

// TestABodyPlaysPieces: a line that comes piece by piece is played so; a frame says how
// many there were, and the line ends once.
func TestABodyPlaysPieces(t *testing.T) {
	node := needsWebSocket(t)
	waittest.WithoutRaces(t)
	h, _, _ := openSeer(t, &oracle{good: "sk-one"}, grantAll)
	words := h.embody(node, 15, "seer")
	var all []spokenWord
	ends := 0
	for w := range words {
		if w.Event == "ready" {
			h.say("main", "taro", "Seer, what do you see?")
		}
		if all = append(all, w); w.Event == "end" {
			if ends++; ends == 3 {
				break
			}
			h.say("main", "taro", "Seer, and now?")
		}
	}
	parts := judgeTranscript(t, all)
	if len(parts) != 3 {
		t.Errorf("%d lines", len(parts))
	}
	for line, n := range parts {
		if n != 2 {
			t.Errorf("line %s came in %d pieces", line, n)
		}
	}
	h.replay("main")
}
