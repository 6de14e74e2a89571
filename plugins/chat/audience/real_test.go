package audience

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/waittest"
	"github.com/companiond/companiond/plugins/chat/ircdtest"
	companion "github.com/companiond/companiond/sdk/go"
)

// real runs the handler as it is, for aya.
func real(t *testing.T, settings string) *stage {
	t.Helper()
	s := &stage{t: t, local: companion.NewLocalHandler(Handler())}
	s.local.KV = map[string]string{}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- s.local.Run(ctx, abi.Running{Companions: []string{"aya"}, Settings: json.RawMessage(settings)})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	return s
}

// perceived waits until something is.
func (s *stage) perceived(part string) abi.PerceptionAsk {
	s.t.Helper()
	var found abi.PerceptionAsk
	waittest.Until(s.t, part+" is perceived", func() bool {
		for _, e := range s.emitted() {
			if strings.Contains(string(e.Body), part) {
				found = e
				return true
			}
		}
		return false
	})
	return found
}

func (s *stage) logged(part string, times int) {
	s.t.Helper()
	waittest.Until(s.t, part+" is in the log", func() bool { return strings.Count(s.logs(), part) == times })
}

// TestNgircd reads a real IRC server, which is killed and started again.
func TestNgircd(t *testing.T) {
	irc := ircdtest.Start(t)
	s := real(t, fmt.Sprintf(`{"twitch":["vtuber"],"twitch_address":%q,"twitch_tls":false,"every":0.5}`, irc.Address))
	s.logged("Twitch's chat is read", 1)
	irc.Viewer("ann", "vtuber").Send("PRIVMSG #vtuber :hello Aya\x02\x1d")
	if got := s.perceived("hello Aya"); got.Companion != "aya" || got.From != "ann" || string(got.Body) != `{"name":"ann","text":"hello Aya","platform":"twitch"}` {
		t.Errorf("perceived: %s", got)
	}
	irc.Kill()
	s.logged("cannot be read", 1)
	irc.Again()
	s.logged("Twitch's chat is read", 2)
	irc.Viewer("bob", "vtuber").Send("PRIVMSG #vtuber :back again")
	s.perceived("back again")
	if n := strings.Count(s.logs(), "cannot be read"); n != 1 {
		t.Errorf("the log has %d losses:\n%s", n, s.logs())
	}
}

// TestThreeChats reads all that there are at once, each from a server.
func TestThreeChats(t *testing.T) {
	irc := ircdtest.Start(t)
	const secret = "AIzaSECRET"
	var pages atomic.Int32
	youtube := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Query().Get("key") != secret:
			http.Error(w, "no key", http.StatusForbidden)
		case strings.HasSuffix(r.URL.Path, "/videos"):
			fmt.Fprint(w, `{"items":[{"liveStreamingDetails":{"activeLiveChatId":"c1"}}]}`)
		case pages.Load() > 1:
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, `{"error":{"message":"no more for %s","errors":[{"reason":"quotaExceeded"}]}}`, secret)
		default:
			page := pages.Add(1)
			fmt.Fprintf(w, `{"nextPageToken":"p","pollingIntervalMillis":10,"items":[{"id":"y%d","snippet":{"type":"superChatEvent","superChatDetails":{"amountMicros":"1000000000","amountDisplayString":"¥1,000","userComment":"super %d"}},"authorDetails":{"channelId":"UC1","displayName":"Cho"}}]}`, page, page)
		}
	}))
	defer youtube.Close()
	conns := make(chan *websocket.Conn, 1)
	one := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn, err := (&websocket.Upgrader{}).Upgrade(w, r, nil); err == nil {
			conns <- conn
		}
	}))
	defer one.Close()
	s := real(t, fmt.Sprintf(`{"twitch":["vtuber"],"twitch_address":%q,"twitch_tls":false,"youtube":["vid"],"youtube_key":%q,"youtube_address":%q,"youtube_every":0,"onecomme":%q,"every":0.5,"gift":"chat"}`,
		irc.Address, secret, youtube.URL, strings.TrimPrefix(one.URL, "http://")))
	s.logged("Twitch's chat is read", 1)
	irc.Viewer("ann", "vtuber").Send("PRIVMSG #vtuber :from twitch")
	conn := <-conns
	defer conn.Close()
	if err := conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"comments","data":{"comments":[{"service":"niconama","id":"f","data":{"id":"n1","userId":"u1","name":"Dan","comment":"from <b>niconico</b>"}}]}}`)); err != nil {
		t.Fatal(err)
	}
	s.perceived("from twitch")
	s.perceived("from niconico")
	if got := s.perceived("super 2"); got.Key != "y2" || got.From != "Cho" || !strings.Contains(string(got.Body), `"gift":{"kind":"superchat","amount":1000,"display":"¥1,000"}`) {
		t.Errorf("perceived: %s", got)
	}
	s.logged("quota of the day is used up", 1)
	if strings.Contains(s.logs()+fmt.Sprintf("%s", s.emitted()), secret) || strings.Contains(fmt.Sprintf("%s", s.emitted()), "super 1") {
		t.Errorf("a secret, or the past: %s\n%s", s.logs(), s.emitted())
	}
}
