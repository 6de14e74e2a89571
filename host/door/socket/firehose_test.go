package socket_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/host/door/socket"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/speech"
)

// hoseFrame is a frame of the Firehose.
type hoseFrame struct {
	Method, ID string
	Error      json.RawMessage
	Params     struct {
		ID, From, Message, Type, Name string
		To                            []string
		Body                          struct{ Message, Emotion string }
		Metadata                      struct{ Emotion string }
	}
}

// hose is a client of aikyo's, which may speak what it is asked to.
type hose struct {
	*testing.T
	conn   *websocket.Conn
	speaks bool

	writes sync.Mutex
	mu     sync.Mutex
	frames []string
	sounds []sound
	gone   chan struct{}
}

func (s *bodies) hose(query, as string, speaks bool) *hose {
	s.Helper()
	h := &hose{T: s.T, conn: s.dial("/firehose/main"+query, as), speaks: speaks, gone: make(chan struct{})}
	go h.read()
	synctest.Wait()
	return h
}

func (h *hose) send(text string) {
	h.writes.Lock()
	defer h.writes.Unlock()
	_ = h.conn.WriteMessage(websocket.TextMessage, []byte(text))
}

func (h *hose) says(id, from, to, text string) {
	h.send(fmt.Sprintf(`{"topic":"messages","body":{"jsonrpc":"2.0","method":"message.send","params":{"id":%q,"from":%q,"to":[%s],"message":%q}}}`, id, from, to, text))
}

func (h *hose) read() {
	_ = h.conn.SetReadDeadline(time.Time{})
	defer close(h.gone)
	for {
		_, raw, err := h.conn.ReadMessage()
		if err != nil {
			return
		}
		var f hoseFrame
		if err := json.Unmarshal(raw, &f); err != nil && raw[0] != '[' {
			h.Errorf("%s: %v", raw, err)
		}
		h.mu.Lock()
		h.frames = append(h.frames, strings.TrimSpace(f.Method+" "+f.Params.From+" "+f.Params.Message+f.Params.Body.Message+string(f.Error)))
		h.mu.Unlock()
		if h.speaks && f.Method == "query.send" && f.Params.Type == "speak" {
			go h.speak(f)
		}
	}
}

func (h *hose) speak(f hoseFrame) {
	from := time.Now()
	select {
	case <-h.gone:
		return
	case <-time.After(speech.Estimate(f.Params.Body.Message) * 11 / 10):
	}
	h.mu.Lock()
	h.sounds = append(h.sounds, sound{f.Params.From, f.Params.Body.Message, from, time.Now()})
	h.mu.Unlock()
	h.send(fmt.Sprintf(`{"topic":"queries","body":{"jsonrpc":"2.0","id":%q,"result":{"success":true,"body":{}}}}`, f.ID))
}

// came gives the frames since it was asked last.
func (h *hose) came() string {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	all := strings.Join(h.frames, "|")
	h.frames = nil
	return all
}

// TestFirehose: a client of aikyo's says hello, hears companions answer one after the other, and speaks
// their lines: none begins before the one before was spoken, also where nothing said that it speaks.
func TestFirehose(t *testing.T) {
	for _, query := range []string{"?playback=1", ""} {
		onLinkage(t, nil, func(s *bodies) {
			h, other := s.hose(query, "", true), s.hose("", "", false)
			h.says("0b7e2c1d-77aa-4a55-8f0e-0f1a2b3c4d5e", "user_yamada", `"aya"`, "Hello Aya!")
			time.Sleep(3 * time.Minute)
			got := h.came()
			if strings.Contains(got, "Hello Aya!") || strings.Count(got, "message.send") != 3 || strings.Count(got, "query.send") != 3 {
				t.Errorf("%s: %s", query, got)
			}
			if query != "" && !strings.HasPrefix(got, "query.send aya I am aya") {
				t.Errorf("%s: %s", query, got)
			}
			if got := other.came(); !strings.HasPrefix(got, "message.send user_yamada Hello Aya!|") || strings.Count(got, "message.send") != 4 {
				t.Error(got)
			}
			h.mu.Lock()
			for i, x := range h.sounds[1:] {
				if x.from.Before(h.sounds[i].to) {
					t.Errorf("%s: %s begins before %s has ended", query, x.who, h.sounds[i].who)
				}
			}
			h.mu.Unlock()
			if m, _, err := s.room.Messages(s.Context(), 0, 1); err != nil || m[0].From != "user_yamada" || len(m[0].To) != 1 || m[0].To[0] != "aya" {
				t.Errorf("%+v %v", m, err)
			}
		})
	}
}

// TestWhoAClientOfTheFirehoseIs: nobody says or does anything there in another's name.
func TestWhoAClientOfTheFirehoseIs(t *testing.T) {
	onLinkage(t, nil, func(s *bodies) {
		guest, mika, mute := s.hose("", "", false), s.hose("", "mika talk,act,read", false), s.hose("", "hana act,read", false)
		for _, from := range []string{"aya", "ＡＹＡ"} {
			if guest.says("1", from, "", "I am "+from); !strings.Contains(guest.came(), `"path":["body","params","from"]`) {
				t.Errorf("a guest speaks as %s", from)
			}
		}
		if mika.says("1", "taro", "", "I am taro"); !strings.Contains(mika.came(), `"path":["body","params","from"]`) {
			t.Error("mika speaks as taro")
		}
		if mute.says("1", "hana", "", "Hi."); !strings.Contains(mute.came(), `"code":"custom"`) {
			t.Error("hana speaks without the scope for it")
		}
		guest.send(`{"topic":"states","body":{"jsonrpc":"2.0","method":"state.send","params":{"from":"aya","state":"speak","importance":10,"selected":true,"closing":"none"}}}`)
		guest.send(`{"topic":"actions","body":{"jsonrpc":"2.0","method":"action.send","params":{"from":"aya","name":"move","params":{}}}}`)
		if got := guest.came(); strings.Count(got, "companions alone") != 2 {
			t.Error(got)
		}
		for _, e := range s.room.Journal() {
			if e.Kind == entry.KindSaid || e.Kind == entry.KindVote || e.Kind == entry.KindAction {
				t.Errorf("it is written down: %s", e.Body)
			}
		}
		s.refused("/firehose/main", "mika talk", 403)
		s.refused("/firehose/nowhere", "", 404)
		s.refused("/firehose/main?since=0", "", 400)
	})
}

// TestHostileHoses: rubbish, floods, silence and what is too large cost nobody else anything.
func TestHostileHoses(t *testing.T) {
	onLinkage(t, nil, func(s *bodies) {
		good, bad := s.hose("", "", false), s.hose("?playback=1&states=1", "", false) // which never answers
		for _, rubbish := range []string{"", "{", "null", "7", "[[[[", "\xff\xfe", `{"topic":"messages"}`, `{"topic":7,"body":{}}`, strings.Repeat("[", 60_000)} {
			bad.send(rubbish)
		}
		for i := range 300 {
			bad.says(fmt.Sprint(i), "aya", "", "I am aya")
		}
		good.says("1", "taro", `"aya"`, "Hello!")
		time.Sleep(4 * time.Minute)
		if got := good.came(); strings.Count(got, "message.send aya") == 0 || strings.Count(got, "message.send nikoni") == 0 {
			t.Error(got)
		}
		go bad.send(strings.Repeat(" ", 17<<20))
		<-bad.gone
		big := s.dial("/firehose/main", "")
		go func() { _ = big.WriteMessage(websocket.TextMessage, []byte(strings.Repeat(" ", 17<<20))) }()
		if code := ended(big); code != socket.CloseTooBig {
			t.Errorf("closed with %d", code)
		}
	})
}
