package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/script"
	"github.com/companiond/companiond/host/module/wasm"
)

const rin = `lang: en
name: Rin
[*]
greet: {hi} GREETING
react: GREETING
unknown: GREETING
`

// TestScriptInTheFolder: a character is its lines, in a text. Saved while the room is open she is there, mistakes are told with their
// lines and change nothing, the next save is heard in the next line.
func TestScriptInTheFolder(t *testing.T) {
	h := newHome(t)
	h.open("[room.main]\nsilence = \"0s\"\npace = \"0s\"\n")
	says := func(text string) {
		t.Helper()
		h.say("main", "taro", "Hello Rin!")
		h.until(text, func() bool {
			all := h.messages("main")
			return len(all) > 0 && all[len(all)-1].Text == text
		})
	}
	at := func(generation uint64) func() bool {
		return func() bool {
			c := h.companion("rin")
			return c.State == "ready" && c.Generation == generation && c.Error == "" && c.Engine == "script" && strings.HasSuffix(c.File, "characters/rin.talk.txt")
		}
	}
	h.save("rin.talk.txt", []byte(strings.ReplaceAll(rin, "GREETING", "I am Rin.")))
	h.until("she is there", at(1))
	says("Hello! I am Rin.")
	h.save("rin.talk.txt", []byte(strings.ReplaceAll(strings.Replace(rin, "react:", "raect:", 1), "unknown:", "unknown")))
	h.until("the mistakes are told", func() bool {
		e := h.companion("rin").Error
		return strings.Contains(e, `rin.talk.txt:5: "raect" is no act of section "*"`) && strings.Contains(e, `rin.talk.txt:6: "unknown GREETING" is no "act: text"`)
	})
	says("I am Rin.")
	h.save("rin.talk.txt", []byte(strings.ReplaceAll(rin, "GREETING", "Rin here.")))
	h.until("she is another", at(2))
	says("Hello! Rin here.")
	if err := os.Remove(filepath.Join(h.dir, "characters", "rin.talk.txt")); err != nil {
		t.Fatal(err)
	}
	h.until("she has left", func() bool { return h.companion("rin").State == "" })
}

// TestScriptBesideModule: a module of WebAssembly that lies in a folder of its own, as the shipped ones did, goes on
// working; where there is a script of the same name in the folder above, the script counts, and the status says so.
func TestScriptBesideModule(t *testing.T) {
	h := newHome(t)
	if err := os.Mkdir(filepath.Join(h.dir, "characters", "rin"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.drop(parrot(t, "one"), "rin/rin.wasm")
	h.open("")
	h.until("the module is there", func() bool { return h.companion("rin").Engine == "wasm" && h.companion("rin").State == "ready" })
	h.save("rin.talk.txt", []byte(rin))
	h.until("both are named", func() bool {
		c := h.companion("rin")
		return c.Engine == "wasm" && strings.Contains(c.Error, "2 files for one companion rin: rin.talk.txt and rin/rin.wasm; keep one (rin/rin.wasm counts)")
	})
	if err := os.Remove(filepath.Join(h.dir, "characters", "rin", "rin.wasm")); err != nil {
		t.Fatal(err)
	}
	h.until("the script has taken over", func() bool { return h.companion("rin").Engine == "script" && h.companion("rin").Error == "" })
}

// silent answers host calls with nothing, and seeds lots with zeros.
type silent struct{}

func (silent) HostCall(_ context.Context, _ module.Caller, op string, data json.RawMessage) (json.RawMessage, error) {
	if op == abi.HostRandom {
		return module.Answer(data, func(r abi.RandomAsk) (abi.Random, error) { return abi.Random{Bytes: make([]byte, r.N)}, nil })
	}
	return nil, nil
}

// TestScriptAsModule: a script that a module of WebAssembly has in it, as the shipped ones did, is the same character as the file,
// answer by answer.
func TestScriptAsModule(t *testing.T) {
	guests, err := wasm.New(wasm.Config{CacheDir: filepath.Join(guests, "cache"), Host: silent{}})
	if err != nil {
		t.Fatal(err)
	}
	defer guests.Close(context.Background())
	load := func(e module.Engine, file, name string) module.Module {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := e.Load(t.Context(), module.Source{ID: "rin", Name: name, Data: data, Generation: 1})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	both := []module.Module{
		load(guests, build(t, "./testdata/talker", "talker", ""), "rin.wasm"),
		load(script.New(script.Config{Host: silent{}}), "testdata/talker/rin.talk.txt", "rin.talk.txt"),
	}
	if a, b := both[0].Describe(), both[1].Describe(); !reflect.DeepEqual(a, b) {
		t.Errorf("%+v and %+v", a, b)
	}
	said := map[string]bool{}
	for i, text := range []string{"こんにちは！", "お茶は何が一番好き？", "リン、猫は？", "量子もつれって何？", "もう死にたい", "ありがとう", "Hello!", "Do you know quantum physics?", "またね！"} {
		for _, op := range []string{abi.OpVote, abi.OpSpeak} {
			data, err := json.Marshal(abi.Scene{
				Message: abi.Message{Seq: uint64(i + 1), ID: fmt.Sprint("m", i), From: "taro", Text: text, Kind: abi.KindTurn, At: time.Unix(int64(i), 0)},
				Members: []abi.Member{{ID: "rin", Name: "Rin", Kind: abi.KindCompanion}, {ID: "taro", Kind: abi.KindHuman}},
			})
			if err != nil {
				t.Fatal(err)
			}
			var answers []string
			for _, m := range both {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				answer, err := m.Call(ctx, abi.Request{Op: op, ID: fmt.Sprint(op, i), Room: "main", Now: time.Unix(int64(i), 0).UTC(), Data: data})
				cancel()
				if err != nil {
					t.Fatal(err)
				}
				answers = append(answers, string(answer))
			}
			if answers[0] != answers[1] {
				t.Errorf("%s of %s: %s and %s", op, text, answers[0], answers[1])
			}
			said[answers[1]] = true
		}
	}
	if len(said) < 12 {
		t.Errorf("these are too few answers: %v", said)
	}
}
