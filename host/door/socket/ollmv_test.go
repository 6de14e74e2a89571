package socket_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/host/door/socket"
	"github.com/companiond/companiond/host/entry"
)

// vtuber is Open-LLM-VTuber's page as far as the wire sees it: it tells several times that it has played what it was sent.
type vtuber struct {
	*bodies
	conn   *websocket.Conn
	got    chan string
	writes chan struct{} // holds a token while something is sent
}

func (v *vtuber) says(text string) {
	v.writes <- struct{}{}
	defer func() { <-v.writes }()
	_ = v.conn.WriteMessage(websocket.TextMessage, []byte(text))
}

func (s *bodies) vtuber(who, query, as string) *vtuber {
	s.Helper()
	v := &vtuber{s, s.dial("/ollmv/"+who+"/client-ws"+query, as), make(chan string, 10000), make(chan struct{}, 1)}
	go func() {
		_ = v.conn.SetReadDeadline(time.Time{})
		defer close(v.got)
		for {
			_, raw, err := v.conn.ReadMessage()
			if err != nil {
				return
			}
			var f struct {
				Type, Text, Message string
				ID                  string                      `json:"conf_uid"`
				Display             struct{ Name, Text string } `json:"display_text"`
			}
			if err := json.Unmarshal(raw, &f); err != nil {
				v.Errorf("%s: %v", raw, err)
			}
			if f.Type == "backend-synth-complete" {
				go func() { // it reads on meanwhile
					for range 10 {
						v.says(`{"type":"frontend-playback-complete"}`)
					}
				}()
			}
			v.got <- strings.TrimSpace(f.Type + " " + f.Text + f.Message + f.ID + f.Display.Name + f.Display.Text)
		}
	}()
	synctest.Wait()
	return v
}

// came gives the frames since it was asked last.
func (v *vtuber) came() string {
	synctest.Wait()
	var all []string
	for len(v.got) > 0 {
		all = append(all, <-v.got)
	}
	return strings.Join(all, "|")
}

// TestVTuberPages: a turn, an interruption whose words are those that the page has shown, the history, and another companion
// on the same connection, whose body the page is then.
func TestVTuberPages(t *testing.T) {
	onLinkage(t, nil, func(s *bodies) {
		v := s.vtuber("aya", "?from=taro", "")
		v.came()
		v.says(`{"type":"text-input","text":"Hello, Aya!"}`)
		time.Sleep(time.Second)
		if f := v.came(); !strings.Contains(f, "audio ayaI am aya, and I have a lot to say today.") || strings.Contains(f, "second") {
			t.Error(f)
		}
		v.says(`{"type":"interrupt-signal","text":"I am aya, and I have a lot to say today."}`)
		time.Sleep(time.Second)
		if f := v.came(); f != "backend-synth-complete|force-new-message|control conversation-chain-end" || s.room.Info().State != "stopped" {
			t.Errorf("%s, %s", f, s.room.Info().State)
		}
		var heard entry.Heard
		for _, e := range s.room.Journal() {
			if e.Kind == entry.KindHeard {
				heard, _ = entry.Decode[entry.Heard](e)
			}
		}
		if heard.End != entry.EndStopped || heard.Text != "I am aya, and I have a lot to say today." {
			t.Errorf("%+v", heard)
		}
		v.says(`{"type":"fetch-and-set-history","history_uid":"main"}`)
		if f := v.came(); f != "history-data" {
			t.Error(f)
		}
		v.says(`{"type":"switch-config","file":"hana"}`)
		if f := v.came(); !strings.HasPrefix(f, "error companion: ") {
			t.Error(f)
		}
		v.says(`{"type":"switch-config","file":"nikoni"}`)
		if f := v.came(); f != "set-model-and-conf nikoni|config-switched Switched to nikoni" {
			t.Error(f)
		}
		if a, n := s.room.Bodies("aya"), s.room.Bodies("nikoni"); a != 0 || n != 1 {
			t.Errorf("aya has %d bodies, nikoni %d", a, n)
		}
		v.says(`{"type":"text-input","text":"Hello, nikoni!"}`)
		time.Sleep(time.Minute)
		if f := v.came(); strings.Count(f, "audio nikoni") != 3 || strings.Count(f, "conversation-chain-end") != 1 {
			t.Error(f)
		}
		if h := lastHeard(t, s.room.Journal()); h.End != entry.EndSaid {
			t.Errorf("%+v", h)
		}
		s.refused("/ollmv/hana/client-ws", "", 404)
		s.refused("/ollmv/aya/client-ws?model=file:///etc/passwd", "", 400)
		s.refused("/ollmv/aya/client-ws?since=1", "", 400)
		s.refused("/ollmv/aya/client-ws?from=aya%00", "", 400)
	})
}

// lastHeard gives how the last line of nikoni's ended.
func lastHeard(t *testing.T, all []entry.Entry) (h entry.Heard) {
	t.Helper()
	for _, e := range all {
		if b, err := entry.Decode[entry.Heard](e); e.Kind == entry.KindHeard && err == nil && b.Who == "nikoni" {
			h = b
		}
	}
	return h
}

// TestHostilePages: rubbish, floods, images and silence cost nobody else anything.
func TestHostilePages(t *testing.T) {
	onLinkage(t, nil, func(s *bodies) {
		good, bad := s.vtuber("nikoni", "", ""), s.vtuber("aya", "", "")
		good.came()
		bad.came()
		for _, rubbish := range []string{"", "{", "null", "7", "[[[[", "\xff\xfe", `{"type":7}`, `{"type":"text-input","text":["x"]}`, strings.Repeat("[", 60_000)} {
			bad.says(rubbish)
		}
		for i := range 300 {
			bad.says(fmt.Sprintf(`{"type":"switch-config","file":"nobody%d"}`, i))
		}
		bad.says(`{"type":"text-input","images":[{"data":"` + strings.Repeat("A", 15<<20) + `"}]}`)
		good.says(`{"type":"text-input","text":"Hello, nikoni!"}`)
		time.Sleep(2 * time.Minute)
		if f := good.came(); strings.Count(f, "audio nikoni") != 3 {
			t.Error(f)
		}
		if f := bad.came(); !strings.Contains(f, "error image: ") {
			t.Errorf("%.300s", f)
		}
		big := s.dial("/ollmv/aya/client-ws", "")
		go func() { _ = big.WriteMessage(websocket.TextMessage, []byte(strings.Repeat(" ", 17<<20))) }()
		if code := ended(big); code != socket.CloseTooBig {
			t.Errorf("closed with %d", code)
		}
	})
}

// TestAPageIsAVoice: a page with ?sound is the one voice of its companion, is sent the sound of a part, and gives the place back when
// it goes; it wants the scope that sounds want.
func TestAPageIsAVoice(t *testing.T) {
	onBodies(t, func(c *socket.Config) {
		c.Sound = func(hash string) ([]byte, error) { return []byte("RIFF" + hash), nil }
	}, func(s *bodies) {
		const page = "/ollmv/nikoni/client-ws?sound"
		s.refused(page, "taro act", http.StatusForbidden)
		s.refused(page+"=perhaps", "", http.StatusBadRequest)
		v := s.vtuber("nikoni", "?sound", "taro read,act")
		s.refused(page, "taro read,act", http.StatusConflict)
		s.refused("/v1/actions?companion=nikoni&playback=1&sounds=1", "", http.StatusConflict)
		s.dial("/ollmv/nikoni/client-ws", "")
		s.room.Append(entry.KindSegment, entry.Segment{Grant: "g", Who: "nikoni", N: 1, Text: "やあ。元気？"})
		s.room.Append(entry.KindSound, entry.Sound{Line: "g", Who: "nikoni", Part: 1, Blob: "b1", Seconds: 1.2, By: "voice"})
		for frame := range v.got {
			if strings.HasPrefix(frame, "audio") {
				if frame != "audio nikoniやあ。元気？" {
					t.Errorf("%q", frame)
				}
				break
			}
		}
		_ = v.conn.Close()
		synctest.Wait()
		s.vtuber("nikoni", "?sound=1", "taro read,act")
		s.dial("/ollmv/nikoni/client-ws?sound=0", "")
		s.dial("/ollmv/nikoni/client-ws?sound=false", "")
	})
}

// TestAVoiceTurnsToAnother: a page that is turned to another companion is that one's voice, and no longer the other's; where that one
// has a voice it stays what it is, and when it goes nobody is held.
func TestAVoiceTurnsToAnother(t *testing.T) {
	onBodies(t, nil, func(s *bodies) {
		const nikoni, aya = "/ollmv/nikoni/client-ws?sound", "/ollmv/aya/client-ws?sound"
		v := s.vtuber("nikoni", "?sound", "")
		v.came()
		v.says(`{"type":"switch-config","file":"nikoni"}`)
		if f := v.came(); f != "set-model-and-conf nikoni|config-switched Switched to nikoni" {
			t.Errorf("to itself: %s", f)
		}
		s.refused(nikoni, "", http.StatusConflict)
		v.says(`{"type":"switch-config","file":"aya"}`)
		if f := v.came(); f != "set-model-and-conf aya|config-switched Switched to aya" {
			t.Error(f)
		}
		s.refused(aya, "", http.StatusConflict)
		other := s.vtuber("nikoni", "?sound", "")
		v.says(`{"type":"switch-config","file":"nikoni"}`)
		if f := v.came(); !strings.HasPrefix(f, "error the sound of nikoni in room main is played elsewhere already") || !strings.HasSuffix(f, "set-model-and-conf aya|full-text aya") {
			t.Error(f)
		}
		s.refused(aya, "", http.StatusConflict)
		_ = v.conn.Close()
		synctest.Wait()
		v = s.vtuber("aya", "?sound", "")
		v.came()
		_ = other.conn.Close()
		synctest.Wait()
		v.says(`{"type":"switch-config","file":"nikoni"}`)
		if f := v.came(); f != "set-model-and-conf nikoni|config-switched Switched to nikoni" {
			t.Error(f)
		}
		s.vtuber("aya", "?sound", "")
		s.refused(nikoni, "", http.StatusConflict)
	})
}
