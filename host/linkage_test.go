package host_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/waittest"
)

// linkage is a client of AITuberKit's, by hand.
type linkage struct {
	*home
	conn *websocket.Conn
}

// link connects one that says hello.
func (h *home) link(path string) *linkage {
	h.t.Helper()
	conn, res, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(h.url, "http")+path, nil)
	if err != nil {
		h.t.Fatalf("%s: %v %v", path, res, err)
	}
	h.t.Cleanup(func() { _ = conn.Close() })
	l := &linkage{h, conn}
	if kind, _, _ := l.next(); kind != "session.ready" {
		h.t.Fatal(kind)
	}
	l.send("session.hello", "", `"capabilities":["character.response.done"]`)
	return l
}

func (l *linkage) send(kind, id, payload string) {
	l.t.Helper()
	if err := l.conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"version":"2","id":%q,"type":%q,"requestId":%q,"payload":{%s}}`, id, kind, id, payload)); err != nil {
		l.t.Fatal(err)
	}
}

func (l *linkage) next() (kind, request, text string) {
	l.t.Helper()
	_ = l.conn.SetReadDeadline(time.Now().Add(waittest.Long))
	_, raw, err := l.conn.ReadMessage()
	if err != nil {
		l.t.Fatal(err)
	}
	var f struct {
		Type, RequestID string
		Payload         struct{ Text, Message string }
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		l.t.Fatalf("%s: %v", raw, err)
	}
	return f.Type, f.RequestID, f.Payload.Text + f.Payload.Message
}

// answer reads a line to its end, tells that it was spoken, and gives it and its name.
func (l *linkage) answer() (request, text string) {
	l.t.Helper()
	for {
		kind, of, words := l.next()
		switch kind {
		case "chat.delta":
			text += words
			l.send("character.speech.done", of, "")
		case "chat.done":
			l.send("character.response.done", of, "")
			return of, text
		case "chat.error":
			l.t.Fatal(words)
		}
	}
}

// A face of AITuberKit's, in front of the daemon: a turn, an end of its voice that frees the floor, a
// daemon that goes in the middle of a line and comes again, and an image that nobody perceives.
func TestAITuberKit(t *testing.T) {
	h := newHome(t)
	h.drop(parrot(t, "Polly"), "aya.wasm")
	h.open("")
	aya := h.link("/aituberkit/aya/ws?from=taro")
	aya.send("chat.message", "msg_1", `"text":"Hello, aya!"`)
	if request, text := aya.answer(); request != "msg_1" || !strings.Contains(text, "Polly") {
		t.Errorf("%s: %s", request, text)
	}
	h.until("the floor is free", func() bool {
		heard := ofKind[entry.Heard](h, "main", entry.KindHeard)
		return len(heard) == 1 && heard[0].End == entry.EndSaid && heard[0].Why == "played"
	})
	if m := h.messages("main"); m[0].From != "taro" || !strings.HasSuffix(m[0].ID, ".msg_1") {
		t.Errorf("%+v", m[0])
	}
	aya.send("chat.message", "msg_2", `"text":"What is this?","image":"data:image/png;base64,iVBORw0KGgo="`)
	if kind, request, text := aya.next(); kind != "chat.error" || request != "msg_2" || !strings.HasPrefix(text, "image: aya perceives no images") {
		t.Errorf("%s %s %s", kind, request, text)
	}

	aya.send("chat.message", "msg_3", `"text":"And again, aya!"`)
	for kind := ""; kind != "chat.delta"; {
		kind, _, _ = aya.next()
	}
	h.stop() // while it is spoken
	h.open("")
	h.until("the line is over", func() bool { return len(ofKind[entry.Heard](h, "main", entry.KindHeard)) == 2 })
	if heard := ofKind[entry.Heard](h, "main", entry.KindHeard)[1]; heard.End != entry.EndFailed || heard.Text != "" {
		t.Errorf("of a line of which the page told nothing was heard %+v", heard)
	}
	again := h.link("/aituberkit/aya/ws?from=taro")
	again.send("chat.message", "msg_4", `"text":"Are you there, aya?"`)
	for {
		request, text := again.answer()
		if request == "msg_4" {
			if !strings.Contains(text, "Polly") {
				t.Error(text)
			}
			break
		}
	}
	h.until("nobody is heard", func() bool { i := h.info("main"); return i.Heard == "" && i.Floor == "" })
	again.send("control.cancel", "msg_4", "")
	if kind, _, _ := again.next(); kind != "ack" {
		t.Error(kind)
	}
	if kind, _, _ := again.next(); kind != "chat.done" {
		t.Error(kind)
	}
	h.replay("main")
}

// nikoni's card perceives images: one that a person shows on a face is judged.
func TestAITuberKitShowsAnImage(t *testing.T) {
	h := openNikoni(t, "")
	face := h.link("/aituberkit/nikoni/ws")
	face.send("chat.message", "msg_1", `"image":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="`)
	for _, want := range []string{"ack", "chat.done"} {
		if kind, request, text := face.next(); kind != want || request != "msg_1" {
			t.Errorf("%s %s", kind, text)
		}
	}
	var nikoni struct{ Senses map[string]int }
	if h.get("/v1/companions/nikoni", &nikoni); nikoni.Senses["taken"] != 1 {
		t.Errorf("%v", nikoni.Senses)
	}
	face.send("chat.message", "msg_2", `"text":"Look!","image":"data:text/plain;base64,AAAA"`)
	if kind, _, text := face.next(); kind != "chat.error" || !strings.HasPrefix(text, "image: ") || len(h.messages("main")) != 0 {
		t.Errorf("%s %s", kind, text)
	}
}
