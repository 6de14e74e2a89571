package logs_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/lately"
)

// newDoor is the door before a log, with tokens of mika, who looks after the house, and bot, or with none.
func newDoor(t *testing.T, tokens bool, stopping context.Context) (log *slog.Logger, ask func(token, address, query string) (int, string)) {
	t.Helper()
	var register *identity.Register
	if tokens {
		var err error
		register, err = identity.Parse("tokens", []byte(fmt.Sprintf("mika human admin sha256:%s\nbot agent read,talk,act sha256:%s\n", identity.Hash("mika's"), identity.Hash("bot's"))))
		if err != nil {
			t.Fatal(err)
		}
	}
	g, err := guard.New(guard.Config{Tokens: register, Rate: -1}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	lines := lately.New()
	mux := http.NewServeMux()
	if err := web.Register(mux, web.Config{Rooms: doortest.NewHouse(t, "main"), Companions: func() []web.Companion { return nil }, Usual: func() string { return "" }, Log: lines, Stopping: stopping}); err != nil {
		t.Fatal(err)
	}
	door := g.Handler(guard.Mux(mux))
	return slog.New(lines.Handler(slog.NewTextHandler(io.Discard, nil))), func(token, address, query string) (int, string) {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/v1/logs"+query, nil)
		if r.Host, r.RemoteAddr = "127.0.0.1:7777", address; token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		door.ServeHTTP(w, r)
		return w.Code, strings.TrimSpace(w.Body.String())
	}
}

const here = "127.0.0.1:4000"

// TestLogs: lines are given as they were logged, by level and companion, and a head that goes on from.
func TestLogs(t *testing.T) {
	log, ask := newDoor(t, false, nil)
	log.Info("ready")
	log.With("companion", "aya").Warn("<b>refused</b>", "file", "aya.js")
	for query, want := range map[string]string{
		"?level=warn":      `"level":"warn","message":"<b>refused</b>","companion":"aya","fields":[{"name":"file","value":"aya.js"}]}],"head":2}`,
		"?companion=aya":   `{"lines":[{"seq":2,`,
		"?companion=kyoko": `{"lines":[],"head":2}`,
		"?since=2":         `{"lines":[],"head":2}`,
		"?since=1000":      `{"lines":[{"seq":1,`, // of a daemon that ended
		"?limit=1":         `{"lines":[{"seq":2,`,
	} {
		if status, got := ask("", here, query); status != 200 || !strings.Contains(got, want) {
			t.Errorf("%s: %d %s", query, status, got)
		}
	}
	for _, query := range []string{"?level=loud", "?limit=0", "?wait=26", "?x=1"} {
		if status, got := ask("", here, query); status != 400 {
			t.Errorf("%s: %d %s", query, status, got)
		}
	}
}

// TestWho: only whoever looks after the house reads its log.
func TestWho(t *testing.T) {
	_, ask := newDoor(t, true, nil)
	for _, c := range []struct {
		token, address string
		status         int
	}{{"mika's", "203.0.113.7:1", 200}, {"bot's", here, 403}, {"", here, 403}} {
		if status, got := ask(c.token, c.address, ""); status != c.status {
			t.Errorf("%s: %d %s", c.token, status, got)
		}
	}
	if _, ask = newDoor(t, false, nil); true {
		if status, got := ask("", "203.0.113.7:1", ""); status != 403 {
			t.Errorf("%d %s", status, got)
		}
	}
}

// TestWait: whoever waits gets the next line, nothing in time, and nothing when the daemon stops.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopping, stop := context.WithCancel(t.Context())
		log, ask := newDoor(t, false, stopping)
		got := make(chan string)
		wait := func() { _, answer := ask("", here, "?wait=20&level=warn"); got <- answer }
		go wait()
		synctest.Wait()
		log.Info("not this")
		log.Warn("this")
		if s := <-got; !strings.Contains(s, `"message":"this"`) || strings.Contains(s, "not this") {
			t.Error(s)
		}
		if _, s := ask("", here, "?wait=20&since=2"); s != `{"lines":[],"head":2}` {
			t.Error(s)
		}
		go func() { _, answer := ask("", here, "?wait=25&since=2"); got <- answer }()
		synctest.Wait()
		stop()
		if s := <-got; s != `{"lines":[],"head":2}` {
			t.Error(s)
		}
	})
}
