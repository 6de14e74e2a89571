package hostops

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/knowledge"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/room/registry"
	"github.com/companiond/companiond/host/rooms"
	companion "github.com/companiond/companiond/sdk/go"
)

// asker runs one host op and gives its answer.
type asker func(op string, data any) (json.RawMessage, error)

// step is one op of a table; code is that of the error it gives, "" for none.
type step struct {
	op   string
	data any
	code abi.Code
}

func set(key, value string) step {
	return step{abi.HostKVSet, abi.KVPair{Key: key, Value: value}, ""}
}

func (s step) fails(code abi.Code) step { s.code = code; return s }

// list gives one list op for each limit.
func list(code abi.Code, limits ...int) (steps []step) {
	for _, n := range limits {
		steps = append(steps, step{abi.HostKVList, abi.KVListAsk{Limit: n}, code}, step{abi.HostKVList, abi.KVListAsk{Limit: n, Prefix: "a", After: "a1"}, code})
	}
	return steps
}

func history(code abi.Code, limits ...int) (steps []step) {
	for _, n := range limits {
		steps = append(steps, step{abi.HostHistoryGet, abi.HistoryAsk{Limit: n}, code}, step{abi.HostHistoryGet, abi.HistoryAsk{Limit: n, Before: 30}, code})
	}
	return steps
}

func hostOps() []step {
	big := strings.Repeat("v", abi.MaxKVValue)
	steps := []step{
		{abi.HostKVGet, abi.KVKey{Key: "k"}, ""},
		{abi.HostKVGet, abi.KVKey{}, ""},
		{abi.HostKVDel, abi.KVKey{}, ""},
		{abi.HostKVGet, abi.KVKey{Key: strings.Repeat("k", abi.MaxKVKey+1)}, ""},
		{abi.HostKVGet, nil, ""},
		{abi.HostKVSet, nil, abi.CodeInvalid},
		set("", "v").fails(abi.CodeInvalid),
		set(strings.Repeat("k", abi.MaxKVKey), "v"),
		set(strings.Repeat("k", abi.MaxKVKey+1), "v").fails(abi.CodeTooLarge),
		set("k", big+"v").fails(abi.CodeTooLarge),
		set("猫", "\x00三毛"), set("猫", ""), set("a\xff", "v\xff"),
		{abi.HostKVGet, abi.KVKey{Key: "猫"}, ""},
		{abi.HostKVGet, abi.KVKey{Key: "a\uFFFD"}, ""},
		{abi.HostKVDel, abi.KVKey{Key: "猫"}, ""},
		{abi.HostKVDel, abi.KVKey{Key: "猫"}, ""},
		{abi.HostRandom, abi.RandomAsk{N: 0}, abi.CodeInvalid},
		{abi.HostRandom, abi.RandomAsk{N: abi.MaxRandom + 1}, abi.CodeInvalid},
		{abi.HostKVSet, json.RawMessage(`{"key":1}`), abi.CodeInvalid},
		{abi.HostKVList, json.RawMessage(`[]`), abi.CodeInvalid},
		{abi.HostKVList, nil, ""},
		{abi.HostHistoryGet, nil, ""},
		{abi.HostKnowledgeGet, nil, ""},
		{abi.HostKnowledgeGet, abi.KnowledgeAsk{Limit: -1}, abi.CodeInvalid},
		{abi.HostKnowledgeGet, abi.KnowledgeAsk{Name: "menu.md"}, ""},
		{abi.HostKnowledgeGet, abi.KnowledgeAsk{Name: "menu.md", From: 1, Limit: 4}, ""},
		{abi.HostKnowledgeGet, abi.KnowledgeAsk{Name: "menu.md", From: 99}, abi.CodeInvalid},
		{abi.HostKnowledgeGet, abi.KnowledgeAsk{Name: "menu.md", Limit: abi.MaxKnowledge + 1}, abi.CodeInvalid},
		{abi.HostKnowledgeGet, abi.KnowledgeAsk{Name: "../menu.md"}, abi.CodeNotFound},
		{abi.HostKnowledgeGet, abi.KnowledgeAsk{Name: "sjis.txt"}, abi.CodeInvalid},
		{"kv.nothing", abi.KVKey{}, abi.CodeUnknownOp},
		{"nothing", nil, abi.CodeUnknownOp},
	}
	for i := range 15 {
		steps = append(steps, set(fmt.Sprint("a", i), big))
	}
	// To the byte: what is there by now, and a key of its own.
	used := abi.MaxKVKey + 1 + len("a\uFFFDv\uFFFD") + 15*abi.MaxKVValue + 10*2 + 5*3
	left := strings.Repeat("v", abi.MaxKVTotal-used-len("b"))
	steps = append(steps, set("b", left+"v").fails(abi.CodeExhausted), set("b", left), set("c", "").fails(abi.CodeExhausted), set("a0", big))
	steps = append(steps, step{abi.HostKVDel, abi.KVKey{Key: "b"}, ""})
	for i := range abi.MaxKVKeys - 17 {
		steps = append(steps, set(fmt.Sprintf("n%03d", i), ""))
	}
	steps = append(steps, set("one more", "").fails(abi.CodeExhausted), set("n000", "another"))
	steps = append(steps, list("", 0, 1, 100, abi.MaxKVKeys)...)
	steps = append(steps, list(abi.CodeInvalid, -1, abi.MaxKVKeys+1)...)
	steps = append(steps, history("", 0, 1, 20, abi.MaxHistory)...)
	return append(steps, history(abi.CodeInvalid, -1, abi.MaxHistory+1)...)
}

// TestLocalAnswersAsTheDaemon holds the daemon in memory that makers test their
// characters with to the real one: an op that passes there must pass here, and one
// that is refused here must be refused there, in the same words.
func TestLocalAnswersAsTheDaemon(t *testing.T) {
	real, messages := daemonOps(t)
	local := localOps(messages)
	for i, s := range hostOps() {
		name := fmt.Sprintf("step %d, %s %.60s", i, s.op, fmt.Sprintf("%+v", s.data))
		want, werr := real(s.op, s.data)
		got, err := local(s.op, s.data)
		if abi.CodeOf(werr) != s.code {
			t.Errorf("%s: the daemon gives %.100s %v, want code %q", name, want, werr, s.code)
		}
		if fmt.Sprint(err) != fmt.Sprint(werr) || abi.CodeOf(err) != abi.CodeOf(werr) {
			t.Errorf("%s: Local gives %v, the daemon %v", name, err, werr)
		}
		if plain(got) != plain(want) {
			t.Errorf("%s: Local gives\n%.200s, the daemon\n%.200s", name, plain(got), plain(want))
		}
	}
}

// plain leaves out where a history's head is: a room has more entries than
// messages.
func plain(data json.RawMessage) string {
	var h abi.History
	if json.Unmarshal(data, &h) != nil || h.Messages == nil {
		return string(data)
	}
	h.Head = 0
	b, _ := json.Marshal(h) // it came from JSON
	return string(b)
}

// documents are the probe's.
var documents = map[string]string{"menu.md": "紅茶は 400 円", "b.txt": "", "sjis.txt": "\x82\xa0"}

// daemonOps asks the daemon's own host ops, in a room where things were said.
func daemonOps(t *testing.T) (asker, []abi.Message) {
	t.Helper()
	j, err := sqlite.Open(sqlite.Config{Path: filepath.Join(t.TempDir(), "x.db")})
	if err != nil {
		t.Fatal(err)
	}
	house, err := registry.New(registry.Config{
		Room: room.Config{
			Journal: j, Log: slog.New(slog.DiscardHandler), NewID: rand.Text,
			Find: func(string) (room.Companion, bool) { return nil, false },
		},
		Rooms: []room.Settings{{Name: "main", Rules: entry.Rules{Policy: "vote", Seed: "x", Patience: 1000, Floor: 1000, Stale: entry.StaleReask}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- house.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-done, j.Close()); err != nil {
			t.Error(err)
		}
	})
	house.SetCast(ctx, nil)
	main, err := house.Room(ctx, "main")
	if err != nil {
		t.Fatal(err)
	}
	for n := range 120 {
		if _, err := main.Say(ctx, rooms.Utterance{From: "taro", Text: fmt.Sprint("line ", n)}); err != nil {
			t.Fatal(err)
		}
	}
	said, _, err := main.Messages(ctx, 0, 1000)
	if err != nil || len(said) != 120 {
		t.Fatalf("%d messages, %v", len(said), err)
	}
	dir := t.TempDir()
	shelf := filepath.Join(dir, "probe", knowledge.Folder)
	if err := os.MkdirAll(shelf, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range documents {
		if err := os.WriteFile(filepath.Join(shelf, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	calls := module.Grants(nil).Guard(&Ops{Stores: j, History: house.History, Knowledge: knowledge.New(dir, nil).Get})
	return func(op string, data any) (json.RawMessage, error) {
		var raw json.RawMessage
		if data != nil {
			if raw, err = json.Marshal(data); err != nil {
				return nil, err
			}
		}
		return calls.HostCall(ctx, module.Caller{Companion: "probe", Room: "main"}, op, raw)
	}, said
}

// localOps asks as a character in companion.Local does.
func localOps(said []abi.Message) asker {
	return func() asker {
		var op string
		var data any
		var answer json.RawMessage
		var err error
		l := companion.NewLocal(companion.Character{Name: "Probe", Speak: func(h *companion.Host, _ companion.Scene) companion.Line {
			answer = nil
			err = h.Ask(op, data, &answer)
			return companion.Line{}
		}})
		l.History, l.Clock, l.Documents = said, time.Now, documents
		return func(o string, d any) (json.RawMessage, error) {
			op, data = o, d
			if _, serr := l.Speak(companion.Scene{}); serr != nil {
				return nil, serr
			}
			return answer, err
		}
	}()
}
