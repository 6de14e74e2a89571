package memory_test

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/hostops"
	jmem "github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/memory"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/model/tokens"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/prompt"
	"github.com/companiond/companiond/host/module/wasm"
	"github.com/companiond/companiond/host/module/wasm/compiler/compilertest"
	"github.com/companiond/companiond/host/room"
)

// character is a loaded module as rooms have it.
type character struct{ module.Module }

func (character) Permit(abi.ActionAsk) (string, error) { return "", nil }

// scripted is a language model that knows nothing but its prompt: it says which of the things that
// it might know stand there.
type scripted struct{ things []string }

func (scripted) Window(string) (int, *tokens.Meter)  { return 8000, new(tokens.Meter) }
func (scripted) Waits(string, string) string         { return "" }
func (scripted) VotesWithLine(string) (string, int)  { return "main", 0 }
func (scripted) VotesTogether(string) (string, bool) { return "main", false }
func (s scripted) Generate(_ context.Context, c module.Caller, _ string, ask prompt.Ask, onText func(string) error) (a model.Answer, err error) {
	if c.Op != abi.OpSpeak {
		return a, abi.Errorf(abi.CodeUnavailable, "it only talks")
	}
	told := ask.System
	for _, m := range ask.Messages {
		told += "\n" + m.Text
	}
	a.Text = "I know nothing."
	for _, thing := range s.things {
		if strings.Contains(told, thing) {
			a.Text = strings.TrimSuffix(strings.Replace(a.Text, "I know nothing.", "I know: ", 1), ".") + " " + thing + "."
		}
	}
	if onText != nil {
		err = onText(a.Text)
	}
	return a, err
}

// ops are the host ops of a house.
func (h *house) ops() *hostops.Ops {
	return &hostops.Ops{
		Stores: new(jmem.KV), Memory: later{h},
		History: func(ctx context.Context, room string, ask abi.HistoryAsk) (abi.History, error) {
			return h.History(ctx, room, ask)
		},
		Segment: func(ctx context.Context, room, who, call string, a abi.SayAsk) error {
			return h.Segment(ctx, room, who, call, a)
		},
	}
}

// later is the keeper that a house has by the time it is asked.
type later struct{ h *house }

func (l later) Recall(ctx context.Context, c module.Caller, a abi.MemoryAsk) (abi.Memories, error) {
	return l.h.keeper.Recall(ctx, c, a)
}

func (l later) Add(ctx context.Context, c module.Caller, a abi.MemoryAdd) (abi.Memory, error) {
	return l.h.keeper.Add(ctx, c, a)
}

func TestMain(m *testing.M) {
	if code, ok := compilertest.Main(os.Args[1:]); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// diarist builds the test character, and puts its machine code into a cache.
func diarist(t *testing.T, cache string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "diarist.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", out, "./testdata/diarist")
	cmd.Env = append(cmd.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := wasm.New(wasm.Config{CacheDir: cache, Compiler: []string{compilertest.Program()}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Load(context.Background(), module.Source{ID: "dia", Name: "dia.wasm", Data: data, Generation: 1}); err != nil {
		t.Fatal(err)
	}
	if err := engine.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	return data
}

// last gives the newest line of a companion in a room.
func (h *house) last(name, who string) string {
	h.t.Helper()
	talk, err := h.Room(context.Background(), name)
	if err != nil {
		h.t.Fatal(err)
	}
	ms, _, err := talk.Messages(context.Background(), 0, 1000)
	for i := len(ms) - 1; err == nil && i >= 0; i-- {
		if ms[i].From == who {
			return ms[i].Text
		}
	}
	h.t.Fatalf("%s said nothing: %v", who, err)
	return ""
}

// TestCharactersAWeekLater: a card with a language model, and a module in Wasm with host ops, are told things in
// two languages and use them a week and a restart later in another room, where the person is; they do not say what
// they were not told, or others may not hear.
func TestCharactersAWeekLater(t *testing.T) {
	cache := t.TempDir()
	code := diarist(t, cache)
	for _, who := range []string{"rin", "dia"} {
		for _, lang := range []struct {
			said, asks [3]string
			things     [3]string
			correction string
			corrected  string
			untold     string
		}{
			{[3]string{"My name is Taro Yamada.", "My cat is called Mike.", "I am going to Kyoto next Saturday."},
				[3]string{"what is my name?", "what is my cat called?", "when am I going to Kyoto?"}, [3]string{"Taro Yamada", "Tama", "Kyoto"},
				"Actually, my cat is called Tama, not Mike.", "Mike", "what colour is my bicycle?"},
			{[3]string{"私の名前は山田太郎です。", "うちの猫の名前はミケだよ。", "来週の土曜日に京都に行くんだ。"},
				[3]string{"私の名前は？", "うちの猫の名前は？", "京都の予定はいつ？"}, [3]string{"山田太郎", "タマ", "京都"},
				"猫の名前はミケじゃなくてタマだよ。", "ミケ", "ぼくの自転車は何色？"},
		} {
			in(t, func(h *house) {
				h.rooms = []room.Settings{roomOf("main", "rin", "dia"), roomOf("garden", "rin", "dia")}
				h.settings[who] = memory.Settings{Visibility: abi.VisiblePerson}
				calls := module.Grants(func(string) []string { return []string{abi.HostSay, abi.HostMemorySearch, abi.HostMemoryAdd} }).Guard(h.ops())
				cards := prompt.New(prompt.Config{Models: scripted{append(lang.things[:], lang.corrected)}, Host: calls, Log: slog.New(slog.DiscardHandler), Recall: later{h}.Recall})
				modules, err := wasm.New(wasm.Config{CacheDir: cache, Compiler: []string{compilertest.Program()}, Host: calls, Log: slog.New(slog.DiscardHandler)})
				if err != nil {
					h.t.Fatal(err)
				}
				h.t.Cleanup(func() { _ = modules.Close(context.Background()) })
				var engine module.Engine = cards
				source := module.Source{ID: "rin", Name: "rin.json", Data: []byte(`{"name":"Rin","aliases":["リン"]}`), Generation: 1}
				if who == "dia" {
					engine, source = modules, module.Source{ID: "dia", Name: "dia.wasm", Data: code, Generation: 1}
				}
				m, err := engine.Load(context.Background(), source)
				if err != nil {
					h.t.Fatal(err)
				}
				h.minds = map[string]room.Companion{who: character{m}}
				h.t.Cleanup(func() { _ = m.Close(context.Background()) })
			}, func(t *testing.T, h *house) {
				h.again(who)
				to := map[string]string{"rin": "Rin, ", "dia": "Dia, "}[who]
				for _, text := range lang.said {
					h.say("main", "taro", text)
				}
				rests()
				h.say("main", "taro", lang.correction)
				rests()
				sleep(week)
				h.again(who)
				for i, ask := range lang.asks {
					h.say("garden", "taro", to+ask)
					if got := h.last("garden", who); !strings.Contains(got, lang.things[i]) || strings.Contains(got, lang.corrected) {
						t.Errorf("%s: %s: says %q, not %s", who, ask, got, lang.things[i])
					}
				}
				sleep(memory.Stays + time.Hour)
				h.say("garden", "hana", to+lang.untold)
				if got := h.last("garden", who); who == "dia" && got != "I was not told." {
					t.Errorf("%s: %s: says %q", who, lang.untold, got)
				}
				h.say("garden", "hana", to+lang.asks[1])
				if got := h.last("garden", who); who == "dia" && strings.Contains(got, lang.things[1]) {
					t.Errorf("%s: somebody else is told: %q", who, got)
				}
			})
		}
	}
}
