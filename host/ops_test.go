package host_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/waittest"
)

// free gives an address of this machine that nobody has.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

// watched asks the door of whoever watches over a daemon.
func watched(t *testing.T, at, path string) (status int, body string) {
	t.Helper()
	resp, err := http.Get("http://" + at + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// value gives a figure, -1 where there is none.
func value(t *testing.T, at, figure string) float64 {
	t.Helper()
	_, all := watched(t, at, "/metrics")
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(figure) + ` (\S+)$`).FindStringSubmatch(all)
	if m == nil {
		return -1
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A daemon in which three characters talk tells of it: figures that are what the journal says, a line for each turn and no more,
// why it is not ready, and nothing of it at the doors of the rooms.
func TestSeeingInside(t *testing.T) {
	waittest.WithoutRaces(t)
	h, log, at := newHome(t), &logtest.Log{}, free(t)
	for _, name := range []string{"aya", "kyoko", "natsumi"} {
		h.drop("../characters/"+name+".talk.txt", name+".talk.txt")
	}
	h.log = log.Logger()
	h.open(fmt.Sprintf("ops = %q\n", at) + lively + "max_turns = 4\npatience = \"" + forGuests(time.Second) + "\"\n")
	if status, body := watched(t, at, "/readyz"); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	h.say("main", "KenSecret", "Hello! Who are you all? I like cats.")
	h.until("four turns", func() bool { return len(h.messages("main")) >= 5 && h.info("main").State != "talking" })
	turns, votes := map[string]int{}, 0
	for _, e := range h.entries("main") {
		switch e.Kind {
		case entry.KindVote:
			votes++
		case entry.KindSaid:
			if b, err := entry.Decode[entry.Said](e); err == nil && b.Kind == "turn" {
				turns[map[bool]string{true: "human", false: "said"}[b.By == "human"]]++
			}
		}
	}
	for figure, want := range map[string]float64{
		`companiond_turns_total{outcome="human",room="main"}`: 1, `companiond_turns_total{outcome="said",room="main"}`: float64(turns["said"]),
		`companiond_turn_duration_seconds_count{room="main"}`: float64(turns["said"]), `companiond_rooms`: 1, `companiond_config_last_reload_successful`: 1,
		`companiond_module_reloads_total{outcome="joined"}`: 3, `companiond_module_engine_info{engine="compiled"}`: 1, `companiond_inbox_depth{room="main"}`: 0,
		`companiond_build_info{go="",revision="",version="test"}`: 1, `companiond_door_connections{door="socket"}`: 0,
	} {
		if got := value(t, at, figure); got != want {
			t.Errorf("%s %v, want %v", figure, got, want)
		}
	}
	asked := 0.0
	for _, id := range []string{"aya", "kyoko", "natsumi"} {
		asked += value(t, at, fmt.Sprintf(`companiond_module_calls_total{export="vote",module=%q,outcome="ok"}`, id))
	}
	if asked < float64(votes) || votes == 0 || value(t, at, "companiond_journal_append_duration_seconds_count") < float64(turns["said"]) || value(t, at, "companiond_module_memory_bytes{module=\"aya\"}") <= 0 {
		t.Errorf("%v votes were asked for, %d are in the journal", asked, votes)
	}
	if n := log.Count("level=INFO msg=turn "); n != turns["said"]+turns["human"] {
		t.Errorf("%d lines of %v turns:\n%s", n, turns, log)
	}
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "Secret") || strings.Contains(line, "cats") {
			t.Error(line)
		}
	}
	h.save("mio.talk.txt", []byte("nonsense"))
	h.until("a refusal", func() bool {
		_, body := watched(t, at, "/readyz")
		return value(t, at, `companiond_module_reloads_total{outcome="refused"}`) == 1 && strings.Contains(body, `"ready":true`) && strings.Contains(body, "mio: mio.talk.txt")
	})
	for _, path := range []string{"/metrics", "/readyz", "/healthz", "/debug/pprof/"} {
		resp, err := http.Get(h.url + path)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s at the front door: %s", path, resp.Status)
		}
	}
	seeTheJournalGo(t, h, at)
	seeItStop(t, h, at)
}

// seeTheJournalGo moves the journal away, and back.
func seeTheJournalGo(t *testing.T, h *home, at string) {
	db := filepath.Join(h.dir, "state", "companiond.db")
	if err := os.Rename(db, db+".away"); err != nil {
		t.Fatal(err)
	}
	h.until("the journal is missed", func() bool {
		status, body := watched(t, at, "/readyz?verbose")
		return status == http.StatusServiceUnavailable && strings.Contains(body, "[-] journal") && strings.Contains(body, "moved away") && strings.Contains(body, "[+] rooms")
	})
	if status, _ := watched(t, at, "/healthz"); status != http.StatusOK {
		t.Errorf("the process does not answer: %d", status)
	}
	if err := os.Rename(db+".away", db); err != nil {
		t.Fatal(err)
	}
	h.until("the journal is back", func() bool { status, _ := watched(t, at, "/readyz"); return status == http.StatusOK })
}

// seeItStop stops a daemon in which a request is not at its end.
func seeItStop(t *testing.T, h *home, at string) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := `{"from":"Ken","text":"Bye."}`
	if _, err := fmt.Fprintf(conn, "POST /v1/rooms/main/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body[:5]); err != nil {
		t.Fatal(err)
	}
	h.until("it is connected", func() bool { return value(t, at, `companiond_door_connections{door="http"}`) > 0 })
	stopped := make(chan struct{})
	go func() { h.stop(); close(stopped) }()
	for { // the request holds the daemon up for a while
		resp, err := http.Get("http://" + at + "/readyz")
		if err != nil {
			t.Fatal("nobody said that the daemon is stopping: ", err)
		}
		b, _ := io.ReadAll(resp.Body)
		if resp.Body.Close(); resp.StatusCode == http.StatusServiceUnavailable && strings.Contains(string(b), `"draining":{"ok":false,"reason":"the daemon is stopping"}`) {
			break
		}
	}
	if _, err := io.WriteString(conn, body[5:]); err != nil {
		t.Fatal(err)
	}
	<-stopped
	if _, err := http.Get("http://" + at + "/healthz"); err == nil {
		t.Error("somebody answers after the end")
	}
}

// A reload that fails is seen. An address that somebody has already is named with its key, and the daemon does not begin.
func TestReloadIsSeen(t *testing.T) {
	at := free(t)
	mistake := errors.New("room.main.patience: no")
	dir := t.TempDir()
	open := func(dir string) (h *host.Host, stop context.CancelFunc, done chan error) {
		cfg, problems := config.Parse("test.toml", []byte(fmt.Sprintf("[journal]\nballast = \"0\"\n[door]\nlisten = \"127.0.0.1:0\"\nops = %q\n", at)), nil)
		if config.Failed(problems) {
			t.Fatal(problems)
		}
		cfg.Journal.Path, cfg.Modules.Characters, cfg.Modules.Cache = filepath.Join(dir, "a.db"), filepath.Join(dir, "characters"), filepath.Join(guests, "cache")
		h = host.New(host.Options{Config: cfg, Log: slog.New(slog.DiscardHandler), Source: func() (config.Config, *identity.Register, error) {
			return cfg, &identity.Register{}, mistake
		}})
		ctx, cancel := context.WithCancel(context.Background())
		done = make(chan error, 1)
		go func() { done <- h.Run(ctx) }()
		return h, cancel, done
	}
	h, stop, done := open(dir)
	<-h.Ready()
	for _, want := range []float64{0, 1} {
		if _, err := h.Reload(t.Context()); (err == nil) != (want == 1) {
			t.Error(err)
		}
		if got := value(t, at, "companiond_config_last_reload_successful"); got != want {
			t.Errorf("%v, want %v", got, want)
		}
		mistake = nil
	}
	_, end, failed := open(t.TempDir())
	defer end()
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "door.ops: another program listens at "+at) {
		t.Error(err)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
