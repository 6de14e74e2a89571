package ops

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/room/registry"
	"github.com/companiond/companiond/host/room/turns"
	"github.com/companiond/companiond/host/rooms"
)

// well is a daemon in which all is well, and in which nothing was loaded.
func well() Config {
	loaded := make(chan struct{})
	close(loaded)
	return Config{
		Build: Build{Version: "v1", Go: "go1"}, Engine: "compiled", Configured: func(room string) bool { return room == "main" },
		Rooms: func() map[string]int { return nil }, Modules: func() []module.Status { return nil }, Doors: func() map[string]int { return nil },
		Loaded: func() <-chan struct{} { return loaded }, Health: func() error { return nil }, Answers: func(context.Context) error { return nil },
		Stopping: func() bool { return false }, Log: slog.New(slog.DiscardHandler),
	}
}

// ask asks a door, as a program of this machine does.
func ask(d *Door, path string) *httptest.ResponseRecorder {
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = "127.0.0.1:3001"
	d.Handler().ServeHTTP(w, r)
	return w
}

// figure gives the lines of a metric.
func figure(d *Door, name string) (lines []string) {
	for line := range strings.Lines(ask(d, "/metrics").Body.String()) {
		if strings.HasPrefix(line, name+"{") || strings.HasPrefix(line, name+" ") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// Whatever is not well is told, with its reason, and nothing else is blamed for it.
func TestReady(t *testing.T) {
	never := make(chan struct{})
	for name, c := range map[string]struct {
		spoil  func(*Config)
		fails  string
		reason string
	}{
		"well": {func(*Config) {}, "", ""},
		"no journal": {func(c *Config) {
			c.Health = func() error { return fmt.Errorf("%w: disk full", journal.ErrUnavailable) }
		}, "journal", "disk full"},
		"loading":     {func(c *Config) { c.Loaded = func() <-chan struct{} { return never } }, "modules", "still being loaded"},
		"no such one": {func(c *Config) { c.Named = func() []string { return []string{"clock", "voice"} } }, "modules", "names clock, voice, of which there is no file"},
		"refused": {func(c *Config) {
			c.Named = func() []string { return []string{"clock"} }
			c.Modules = func() []module.Status {
				return []module.Status{{ID: "clock", State: module.StateFailed, Error: "clock.js:1:2:\nno\tname"}}
			}
		}, "", "clock: clock.js:1:2:\nno\tname"},
		"stopping": {func(c *Config) { c.Stopping = func() bool { return true } }, "draining", "stopping"},
		"a room": {func(c *Config) {
			c.Answers = func(context.Context) error { return errors.New("room main: does not answer") }
		}, "rooms", "room main"},
	} {
		cfg := well()
		c.spoil(&cfg)
		d := New(cfg)
		got := ask(d, "/readyz")
		var ready Ready
		if err := json.Unmarshal(got.Body.Bytes(), &ready); err != nil {
			t.Fatal(err)
		}
		text := ask(d, "/readyz?verbose")
		want := http.StatusOK
		if c.fails != "" {
			want = http.StatusServiceUnavailable
		}
		if got.Code != want || text.Code != want || ready.Ready != (c.fails == "") || len(ready.Checks) != 4 {
			t.Errorf("%s: %d %d %+v", name, got.Code, text.Code, ready)
		}
		for check, item := range ready.Checks {
			if item.OK != (check != c.fails) || check == c.fails && !strings.Contains(item.Reason, c.reason) {
				t.Errorf("%s: %s is %+v", name, check, item)
			}
		}
		if n := strings.Count(text.Body.String(), "\n"); n != 4 || strings.Contains(text.Body.String(), "[-]") != (c.fails != "") ||
			!strings.Contains(text.Body.String(), strings.Join(strings.Fields(c.reason), " ")) {
			t.Errorf("%s: %s", name, text.Body)
		}
		if h := ask(d, "/healthz"); h.Code != http.StatusOK || h.Body.String() != "ok\n" {
			t.Errorf("%s: %d %s", name, h.Code, h.Body)
		}
	}
}

// stuck is a journal that takes its time.
type stuck struct {
	journal.Journal
	gate chan struct{} // nil: it is in time
}

func (s *stuck) Append(ctx context.Context, room string, h journal.Head, entries ...journal.New) (journal.Head, error) {
	if s.gate != nil {
		<-s.gate
	}
	return s.Journal.Append(ctx, room, h, entries...)
}

// A room whose loop hangs is named after five seconds, and not before; when it goes on all is well.
func TestARoomThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &stuck{Journal: memory.New()}
		n := 0
		g, err := registry.New(registry.Config{
			Room:  room.Config{Journal: j, NewID: func() string { n++; return fmt.Sprint(n) }, Log: slog.New(slog.DiscardHandler), Find: func(string) (room.Companion, bool) { return nil, false }},
			Rooms: []room.Settings{{Name: "main", Companions: []string{"*"}, Rules: entry.Rules{Policy: "vote", Patience: 1000, Floor: 1000, MaxTurns: 2}}}, Usual: "main",
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- g.Run(ctx) }()
		g.SetCast(ctx, nil)
		cfg := well()
		cfg.Answers, cfg.Rooms = g.Answers, g.Inboxes
		d := New(cfg)
		say := func() {
			talk, err := g.Room(ctx, "main")
			if err == nil {
				_, err = talk.Say(ctx, rooms.Utterance{From: "Ken", Text: "Hello."})
			}
			if err != nil {
				t.Error(err)
			}
		}
		say()
		if got := ask(d, "/readyz"); got.Code != http.StatusOK {
			t.Errorf("%d %s", got.Code, got.Body)
		}
		synctest.Wait()
		j.gate = make(chan struct{})
		go say()
		synctest.Wait()
		go say() // which waits in the inbox
		synctest.Wait()
		if got := figure(d, "companiond_inbox_depth"); !slices.Equal(got, []string{`companiond_inbox_depth{room="main"} 1`}) {
			t.Error(got)
		}
		began := time.Now()
		if got := ask(d, "/readyz"); got.Code != http.StatusServiceUnavailable || !strings.Contains(got.Body.String(), "room main") || time.Since(began) != Patience {
			t.Errorf("%d %s after %v", got.Code, got.Body, time.Since(began))
		}
		close(j.gate)
		synctest.Wait()
		if got := ask(d, "/readyz"); got.Code != http.StatusOK {
			t.Errorf("%d %s", got.Code, got.Body)
		}
		cancel()
		<-done
	})
}

// Pages of browsers get nothing, whatever they take this machine for.
func TestWhoMayAsk(t *testing.T) {
	d := New(well())
	for _, c := range []struct {
		method, host, site string
		origin             string
		want               int
	}{
		{"GET", "localhost:3001", "", "", 200}, {"GET", "127.0.0.1:3001", "none", "", 200}, {"GET", "[::1]:3001", "same-origin", "", 200}, {"GET", "LOCALHOST", "", "", 200},
		{"GET", "evil.example:3001", "", "", 403}, {"GET", "10.0.0.1:3001", "", "", 403}, {"GET", "", "", "", 403},
		{"GET", "localhost:3001", "cross-site", "", 403}, {"GET", "localhost:3001", "same-site", "", 403}, {"POST", "localhost:3001", "", "", 405},
		{"GET", "localhost:3001", "", "http://evil.example", 403}, {"GET", "localhost:3001", "", "null", 403}, {"GET", "localhost:3001", "", "http://localhost:3001", 200},
	} {
		for _, path := range []string{"/metrics", "/healthz", "/readyz", "/debug/pprof/", "/debug/pprof/cmdline"} {
			w, r := httptest.NewRecorder(), httptest.NewRequest(c.method, path, nil)
			r.Host = c.host
			r.Header.Set("Sec-Fetch-Site", c.site)
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			if d.Handler().ServeHTTP(w, r); w.Code != c.want {
				t.Errorf("%+v %s: %d", c, path, w.Code)
			}
		}
	}
}

// Rooms of guests and files without end make no figures without end.
func TestLabelsAreBounded(t *testing.T) {
	d := New(well())
	for i := range 10_000 {
		d.Turn(turns.Turn{Room: fmt.Sprint("guest's ", i), Number: 1, Outcome: turns.Said, Timed: true})
		d.Calls(fmt.Sprint("m", i))(abi.OpVote, time.Second, nil)
	}
	d.Calls("m1")("made up", time.Second, nil)
	d.Calls("bad\xff")(abi.OpSpeak, time.Second, nil)
	d.Turn(turns.Turn{Room: "main", Outcome: turns.Late})
	if got := figure(d, "companiond_turns_total"); !slices.Equal(got, []string{`companiond_turns_total{outcome="late",room="main"} 1`, `companiond_turns_total{outcome="said",room="(other)"} 10000`}) {
		t.Error(got)
	}
	if got := figure(d, "companiond_vote_duration_seconds_count"); len(got) != maxLabels+1 || !slices.Contains(got, `companiond_vote_duration_seconds_count{module="(other)"} 9744`) {
		t.Errorf("%d: %v", len(got), got[:3])
	}
	if got := figure(d, "companiond_module_calls_total"); !slices.Contains(got, `companiond_module_calls_total{export="(other)",module="m1",outcome="ok"} 1`) ||
		!slices.Contains(got, `companiond_module_calls_total{export="speak",module="(other)",outcome="ok"} 1`) {
		t.Error(got[:3])
	}
}

// busy is a door at which everything was counted once.
func busy() *Door {
	cfg := well()
	cfg.Rooms = func() map[string]int { return map[string]int{"main": 1, "a": 2, "b": 3} }
	cfg.Doors = func() map[string]int { return map[string]int{"socket": 2} }
	cfg.Modules = func() []module.Status {
		return []module.Status{{ID: "aya", Generation: 1, MemoryBytes: 7}, {ID: "bad"}}
	}
	d := New(cfg)
	for _, o := range turns.All() {
		d.Turn(turns.Turn{Room: "main", Number: 1, Outcome: o, Took: time.Second, Timed: true})
	}
	for _, err := range []error{
		nil, abi.Errorf(abi.CodeInvalid, "no"), abi.Errorf(abi.CodeUnavailable, "no"), context.Canceled, fmt.Errorf("x: %w", context.DeadlineExceeded),
		&module.Fault{Kind: module.FaultTrap}, &module.Fault{Kind: module.FaultFuel}, &module.Fault{Kind: module.FaultReply}, &module.Fault{Kind: module.FaultTimeout, Cause: context.Canceled},
	} {
		d.Calls("aya")(abi.OpVote, time.Millisecond, err)
	}
	for _, what := range []string{"joined", "replaced", "refused", "left"} {
		d.Loaded(what)
	}
	d.Dropped("socket")("slow")
	d.Appended(time.Millisecond)
	d.Connection(nil, http.StateNew)
	d.Reloaded(errors.New("a mistake"))
	return d
}

func TestFigures(t *testing.T) {
	d := busy()
	for name, want := range map[string][]string{
		"companiond_rooms":                                     {"companiond_rooms 3"},
		"companiond_inbox_depth":                               {`companiond_inbox_depth{room="(other)"} 5`, `companiond_inbox_depth{room="main"} 1`},
		"companiond_module_memory_bytes":                       {`companiond_module_memory_bytes{module="aya"} 7`},
		"companiond_door_connections":                          {`companiond_door_connections{door="socket"} 2`},
		"companiond_door_dropped_total":                        {`companiond_door_dropped_total{door="socket",reason="slow"} 1`},
		"companiond_build_info":                                {`companiond_build_info{go="go1",revision="",version="v1"} 1`},
		"companiond_module_engine_info":                        {`companiond_module_engine_info{engine="compiled"} 1`},
		"companiond_config_last_reload_successful":             {"companiond_config_last_reload_successful 0"},
		"companiond_journal_append_duration_seconds_count":     {"companiond_journal_append_duration_seconds_count 1"},
		"companiond_turn_duration_seconds_count":               {fmt.Sprintf(`companiond_turn_duration_seconds_count{room="main"} %d`, len(turns.All()))},
		`companiond_vote_duration_seconds_bucket{module="aya"`: nil,
	} {
		if got := figure(d, name); !slices.Equal(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if n := len(figure(d, "companiond_module_calls_total")); n != 8 { // two were given up
		t.Errorf("%d outcomes of calls", n)
	}
	d.Reloaded(nil)
	d.Connection(nil, http.StateHijacked)
	if got := figure(d, "companiond_config_last_reload_successful"); got[0] != "companiond_config_last_reload_successful 1" || d.Connected() != 0 {
		t.Error(got, d.Connected())
	}
	if got := figure(d, "go_goroutines"); len(got) != 1 {
		t.Error(got)
	}
}

// What Prometheus's own judges say of the figures.
func TestLint(t *testing.T) {
	text := ask(busy(), "/metrics").Body.Bytes()
	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	if err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Log("promtool is not installed; its library was asked")
		return
	}
	cmd := exec.Command(promtool, "check", "metrics")
	cmd.Stdin = bytes.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// A door that nobody configured takes all that is counted.
func TestNobodyWatches(t *testing.T) {
	var d *Door
	d.Turn(turns.Turn{})
	d.Calls("aya")(abi.OpVote, time.Second, nil)
	d.Loaded("joined")
	d.Dropped("socket")("slow")
	d.Reloaded(nil)
	d.Connection(nil, http.StateNew)
	if err := errors.Join(d.Open(""), d.Close()); err != nil {
		t.Error(err)
	}
}

// A door opens at its address alone, names its key where it cannot, and ends with Close, whether somebody served there or not.
func TestOpen(t *testing.T) {
	cfg, log := well(), &logtest.Log{}
	cfg.Log = log.Logger()
	d, other := New(cfg), New(cfg)
	if err := d.Open("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	at := d.listener.Addr().String()
	if err := other.Open(at); err == nil || !strings.Contains(err.Error(), "door.ops") {
		t.Error(err)
	}
	if err := errors.Join(other.Close(), other.Close()); err != nil {
		t.Error(err)
	}
	done := make(chan error)
	go func() { done <- d.Serve() }()
	resp, err := http.Get("http://" + at + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, _ := io.ReadAll(resp.Body); string(b) != index {
		t.Errorf("%s", b)
	}
	if err := errors.Join(d.Close(), <-done, d.Close()); err != nil {
		t.Error(err)
	}
	unserved := New(cfg)
	if err := errors.Join(unserved.Open(at), unserved.Close(), unserved.Close()); err != nil {
		t.Error(err)
	}
	if log.Count("http://"+at) != 2 {
		t.Error(log.String())
	}
}

// BenchmarkObserved is what it costs to count a turn and a call.
func BenchmarkObserved(b *testing.B) {
	for name, d := range map[string]*Door{"nobody": nil, "door": New(well())} {
		b.Run(name, func(b *testing.B) {
			call := d.Calls("aya")
			b.ReportAllocs()
			for b.Loop() {
				call(abi.OpVote, time.Millisecond, nil)
				d.Turn(turns.Turn{Room: "main", Number: 1, Outcome: turns.Said, Took: time.Second, Timed: true})
			}
		})
	}
}
