package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host"
	"github.com/companiond/companiond/host/child/warden"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/control"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/wasm"
	"github.com/companiond/companiond/host/module/wasm/compiler/compilertest"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/waittest"
)

// home is a running daemon in this process, with a folder of its own.
type home struct {
	t       testing.TB
	dir     string
	url     string
	environ []string     // that programs may be handed on
	log     *slog.Logger // nil discards
	stop    func()

	listen, toml string // of the configuration, see configuration
	reload       func(context.Context) (control.Report, error)
}

// guests are built once and shared: compiling one takes seconds.
var (
	guests   = filepath.Join(os.TempDir(), fmt.Sprintf("companiond-guests-%d", os.Getpid()))
	building sync.Mutex
)

func TestMain(m *testing.M) {
	if code, ok := compilertest.Main(os.Args[1:]); ok {
		os.Exit(code)
	}
	if code, ok := warden.Main(os.Args[1:]); ok {
		os.Exit(code)
	}
	if os.Getenv(beDaemon) != "" {
		os.Exit(daemonMain())
	}
	code := m.Run()
	_ = os.RemoveAll(guests) // the system cleans up after us
	os.Exit(code)
}

// build makes a Wasm file of a package and gives its path.
func build(t testing.TB, pkg, name, ldflags string) string {
	t.Helper()
	building.Lock()
	defer building.Unlock()
	out := filepath.Join(guests, name+".wasm")
	if _, err := os.Stat(out); err == nil {
		return out
	}
	if err := os.MkdirAll(guests, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w "+ldflags, "-o", out, pkg)
	cmd.Env = append(cmd.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, b)
	}
	compile(t, out)
	return out
}

// compile puts a file's machine code into the cache that all daemons of tests have, so that
// their characters are there together.
func compile(t testing.TB, file string) {
	t.Helper()
	engine, err := wasm.New(wasm.Config{CacheDir: filepath.Join(guests, "cache")})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close(context.Background())
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Load(context.Background(), module.Source{ID: "compile", Name: file, Data: data, Generation: 1}); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func parrot(t testing.TB, text string) string {
	return build(t, "./testdata/parrot", "parrot-"+text, "-X main.text="+text)
}

// forGuests is a patience that guests can keep on a machine that is as busy as this
// one is now, up to eight times as long, as the configuration has it.
func forGuests(idle time.Duration) string {
	return time.Duration(float64(idle) * min(waittest.Slowness(), 8)).Round(time.Millisecond).String()
}

// newHome makes a folder; put files into it and then open it.
func newHome(t testing.TB) *home {
	h := &home{t: t, dir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(h.dir, "characters"), 0o700); err != nil {
		t.Fatal(err)
	}
	return h
}

// drop saves a file into the folder the way careful tools do: beside it, then
// renamed.
func (h *home) drop(from, name string) {
	h.t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		h.t.Fatal(err)
	}
	h.save(name, b)
}

func (h *home) save(name string, b []byte) {
	h.t.Helper()
	path := filepath.Join(h.dir, "characters", name)
	if err := os.WriteFile(path+".tmp", b, 0o600); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		h.t.Fatal(err)
	}
}

// configuration is what the house is written down as now.
func (h *home) configuration() (config.Config, *identity.Register, error) {
	cfg, problems := config.Parse("test.toml", []byte(fmt.Sprintf("[journal]\nballast = \"0\"\n[door]\nlisten = %q\n", h.listen)+h.toml), nil)
	if config.Failed(problems) {
		return cfg, nil, fmt.Errorf("%v", problems)
	}
	cfg.Journal.Path = filepath.Join(h.dir, "state", "companiond.db")
	cfg.Modules.Characters = filepath.Join(h.dir, "characters")
	cfg.Modules.Cache = filepath.Join(guests, "cache")
	cfg.Modules.Plugins = filepath.Join(h.dir, "plugins")
	return cfg, &identity.Register{}, nil
}

// open starts the daemon; the cache of compiled code is shared by all tests. Keys before
// the first table are the door's.
func (h *home) open(toml string) {
	h.t.Helper()
	h.openAt("127.0.0.1:0", toml)
}

func (h *home) openAt(listen, toml string) {
	h.t.Helper()
	h.listen, h.toml = listen, toml
	cfg, _, err := h.configuration()
	if err != nil {
		h.t.Fatal(err)
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	d := host.New(host.Options{Config: cfg, Log: h.log, Version: web.Version{Version: "test"}, Environ: h.environ, Source: h.configuration})
	h.reload = d.Reload
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	select {
	case <-d.Ready():
	case err := <-done:
		h.t.Fatalf("run: %v", err)
	}
	h.url = "http://" + d.Addr()
	stopped := false
	h.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			h.t.Errorf("run: %v", err)
		}
	}
	h.t.Cleanup(h.stop)
}

func (h *home) say(room, from, text string) uint64 {
	h.t.Helper()
	resp, err := http.Post(h.url+"/v1/rooms/"+room+"/messages", "application/json", strings.NewReader(fmt.Sprintf(`{"from":%q,"text":%q}`, from, text)))
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	var out struct{ Seq uint64 }
	if err := json.Unmarshal(b, &out); err != nil || resp.StatusCode != http.StatusCreated {
		h.t.Fatalf("say: %s %s", resp.Status, b)
	}
	return out.Seq
}

func (h *home) get(path string, out any) {
	h.t.Helper()
	resp, err := http.Get(h.url + path)
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	if err := json.Unmarshal(b, out); err != nil || resp.StatusCode != http.StatusOK {
		h.t.Fatalf("%s: %s %s", path, resp.Status, b)
	}
}

func (h *home) messages(room string) []abi.Message {
	h.t.Helper()
	var all []abi.Message
	for since := uint64(0); ; {
		var page struct{ Messages []abi.Message }
		h.get(fmt.Sprintf("/v1/rooms/%s/messages?limit=1000&since=%d", room, since), &page)
		if len(page.Messages) == 0 {
			return all
		}
		all = append(all, page.Messages...)
		since = all[len(all)-1].Seq
	}
}

func (h *home) entries(room string) []entry.Entry {
	h.t.Helper()
	var all []entry.Entry
	for since := uint64(0); ; {
		var page struct{ Entries []entry.Entry }
		h.get(fmt.Sprintf("/v1/rooms/%s/entries?limit=1000&since=%d", room, since), &page)
		if len(page.Entries) == 0 {
			return all
		}
		all = append(all, page.Entries...)
		since = all[len(all)-1].Seq
	}
}

func (h *home) companion(id string) web.Companion {
	h.t.Helper()
	var list []web.Companion
	h.get("/v1/companions", &list)
	for _, c := range list {
		if c.ID == id {
			return c
		}
	}
	return web.Companion{}
}

func (h *home) info(name string) rooms.Info {
	h.t.Helper()
	var out struct{ Rooms []rooms.Info }
	h.get("/v1/rooms", &out)
	return out.Rooms[slices.IndexFunc(out.Rooms, func(i rooms.Info) bool { return i.Name == name })]
}

func (h *home) until(what string, ok func() bool) {
	h.t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	h.tell("main")
	h.t.Fatalf("%s: not within two minutes", what)
}

// tell logs the last entries of a room if the daemon still answers, for whoever
// reads a failed test on another machine.
func (h *home) tell(room string) {
	answer, err := http.Get(h.url + "/v1/rooms/" + room + "/entries?limit=1000")
	if err != nil {
		h.t.Log(err)
		return
	}
	defer answer.Body.Close()
	var page struct{ Entries []entry.Entry }
	if err := json.NewDecoder(answer.Body).Decode(&page); err != nil {
		h.t.Log(err)
	}
	for _, e := range page.Entries[max(0, len(page.Entries)-20):] {
		h.t.Logf("%d %s %s %.300s", e.Seq, e.At.Format("15:04:05.000"), e.Kind, e.Body)
	}
}

// replay stops the daemon and holds its journal to the rules.
func (h *home) replay(rooms ...string) {
	h.t.Helper()
	h.stop()
	j, err := sqlite.OpenReadOnly(filepath.Join(h.dir, "state", "companiond.db"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer j.Close()
	for _, name := range rooms {
		r, err := reader.Replay(context.Background(), j, name)
		if err != nil || r.Diff != nil || r.Derived == 0 || r.Folded > 0 && len(r.Erased) == 0 { // what was erased is folded
			h.t.Errorf("replay of %s: %+v %v", name, r, err)
		}
		if bad, err := j.Verify(context.Background(), name, 0); err != nil || bad != 0 {
			h.t.Errorf("verify %s: entry %d, %v", name, bad, err)
		}
	}
}

const lively = "[room.main]\npace = \"0s\"\n"

// openThree opens a house with the three characters of the repository.
func openThree(t *testing.T) *home {
	h := newHome(t)
	for _, name := range []string{"aya", "kyoko", "natsumi"} {
		h.drop("../characters/"+name+".talk.txt", name+".talk.txt")
	}
	h.open(lively + "patience = \"" + forGuests(time.Second) + "\"\n")
	return h
}

func TestThreeCharactersTalk(t *testing.T) {
	waittest.WithoutRaces(t)
	for _, opening := range []string{"こんにちは！あなたたちは誰ですか？", "Hello! Who are you all?"} {
		t.Run(opening, func(t *testing.T) {
			h := openThree(t)
			h.say("main", "taro", opening)
			h.until("the talk ends", func() bool { s := h.info("main").State; return s == "closed" || s == "capped" })
			if s := h.info("main").State; s != "closed" {
				t.Errorf("the talk did not end by itself: %s", s)
			}
			msgs := h.messages("main")[1:]
			if len(msgs) < 12 {
				t.Errorf("%d turns", len(msgs))
			}
			said, turns := map[string]bool{}, map[string]int{}
			for _, m := range msgs {
				t.Logf("%s: %s", m.From, m.Text)
				if said[m.Text] {
					t.Errorf("said twice: %s", m.Text)
				}
				said[m.Text] = true
				turns[m.From]++
			}
			for _, who := range []string{"aya", "kyoko", "natsumi"} {
				if turns[who] < 2 {
					t.Errorf("%s spoke %d times", who, turns[who])
				}
			}
			h.replay("main")
		})
	}
}

func TestAddressedCharacterAnswers(t *testing.T) {
	waittest.WithoutRaces(t)
	h := openThree(t)
	for _, q := range []struct{ text, who string }{
		{"きょうこさん、猫は好き？", "kyoko"},
		{"natsumi, do you like ramen?", "natsumi"},
		{"@aya P2Pって何？", "aya"},
	} {
		seq := h.say("main", "taro", q.text)
		h.until("an answer", func() bool {
			msgs := h.messages("main")
			i := slices.IndexFunc(msgs, func(m abi.Message) bool { return m.Seq == seq })
			return len(msgs) > i+1
		})
		msgs := h.messages("main")
		i := slices.IndexFunc(msgs, func(m abi.Message) bool { return m.Seq == seq })
		if next := msgs[i+1]; next.From != q.who {
			t.Errorf("%q was answered by %s: %s", q.text, next.From, next.Text)
		}
	}
	h.replay("main")
}

func TestSavedFileSpeaksInTheRunningRoom(t *testing.T) {
	waittest.WithoutRaces(t)
	one, two := parrot(t, "one"), parrot(t, "two")
	h := newHome(t)
	h.drop(one, "polly.wasm")
	h.drop(one, "molly.wasm")
	h.open("[room.main]\npace = \"5ms\"\nmax_turns = 0\n")
	h.say("main", "taro", "talk!")
	saying := func(who, text string) func() bool {
		return func() bool {
			msgs := h.messages("main")
			i := slices.IndexFunc(msgs, func(m abi.Message) bool { return m.From == who && strings.HasPrefix(m.Text, text) })
			return i >= 0
		}
	}
	h.until("polly says one", saying("polly", "one"))

	whole, err := os.ReadFile(two)
	if err != nil {
		t.Fatal(err)
	}
	for name, broken := range map[string][]byte{
		"empty": {}, "half": whole[:len(whole)/2], "text": []byte("hello"), "a module without anything": []byte("\x00asm\x01\x00\x00\x00"),
	} {
		h.save("polly.wasm", broken)
		h.until("a word about the "+name+" file", func() bool { return h.companion("polly").Error != "" })
		c := h.companion("polly")
		t.Logf("%s file: %s", name, c.Error)
		if c.State != "ready" || c.Generation != 1 {
			t.Errorf("%s file: state %s, generation %d", name, c.State, c.Generation)
		}
		h.drop(one, "polly.wasm")
		h.until("the error is gone", func() bool { return h.companion("polly").Error == "" })
	}

	saved := time.Now()
	h.drop(two, "polly.wasm")
	h.until("polly says two", saying("polly", "two"))
	t.Logf("the new line was heard %v after the save", time.Since(saved))
	if c := h.companion("polly"); c.Generation != 2 {
		t.Errorf("generation %d", c.Generation)
	}
	if resp, err := http.Post(h.url+"/v1/rooms/main/stop", "application/json", strings.NewReader(`{"from":"taro"}`)); err != nil || resp.StatusCode >= 300 {
		t.Fatalf("stop: %v %v", resp, err)
	}
	checkNoRoundLost(t, h.entries("main"))
	h.replay("main")
}

// checkNoRoundLost looks for rounds without a grant and voters that did not
// answer, in a talk where everybody always wants to speak.
func checkNoRoundLost(t *testing.T, es []entry.Entry) {
	t.Helper()
	rounds := 0
	for _, e := range es {
		var d entry.Decision
		if e.Kind != entry.KindDecision {
			continue
		}
		if err := json.Unmarshal(e.Body, &d); err != nil {
			t.Fatal(err)
		}
		rounds++
		if d.Outcome != entry.OutcomeGrant && d.Outcome != entry.OutcomeStopped {
			t.Errorf("entry %d: %s, %s", e.Seq, d.Outcome, d.Reason)
		}
		for _, c := range d.Ranking {
			if c.Standing == "absent" {
				t.Errorf("entry %d: %s did not answer: %s", e.Seq, c.Who, c.Note)
			}
		}
	}
	t.Logf("%d rounds, none lost", rounds)
}

func TestRestartRemembers(t *testing.T) {
	waittest.WithoutRaces(t)
	h := openThree(t)
	h.say("main", "taro", "こんにちは")
	h.until("the talk ends", func() bool { return h.info("main").State == "closed" })
	before := h.messages("main")
	h.stop()
	h.open(lively)
	if after := h.messages("main"); len(after) != len(before) || after[0].Text != before[0].Text {
		t.Errorf("%d messages before, %d after", len(before), len(after))
	}
	h.say("main", "taro", "また来たよ")
	h.until("they talk again", func() bool { return len(h.messages("main")) > len(before)+3 })
	said := map[string]bool{}
	for _, m := range h.messages("main") {
		if m.From != "taro" && said[m.Text] {
			t.Errorf("said twice: %s", m.Text)
		}
		said[m.Text] = true
	}
	h.replay("main")
}

func TestSecondDaemonIsRefused(t *testing.T) {
	h := newHome(t)
	h.open("")
	cfg, _ := config.Parse("x", []byte("[door]\nlisten = \"127.0.0.1:0\""), nil)
	cfg.Journal.Path = filepath.Join(h.dir, "state", "companiond.db")
	cfg.Modules.Characters, cfg.Modules.Cache = filepath.Join(h.dir, "characters"), filepath.Join(h.dir, "cache")
	err := host.New(host.Options{Config: cfg, Log: slog.New(slog.DiscardHandler)}).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "another daemon") {
		t.Errorf("err = %v", err)
	}
}
