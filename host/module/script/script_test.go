package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/moduletest"
	companion "github.com/companiond/companiond/sdk/go"
)

const momo = `lang: ja
name: Momo
aliases: もも モモ
likes: cat=3

[*]
greet: {hi}ももだよ！
bye: またね！
[cat]
tell: 猫は液体だと思うんだ。
answer 好き: 猫？大好き！
lang: en
name: Momo
[*]
greet: {hi} I am Momo!
[cat]
tell: Cats are liquid.
`

// The engine keeps what module.Module and module.Engine promise. A script cannot misbehave.
func TestEngine(t *testing.T) {
	moduletest.Run(t, New(Config{}), "aya.talk.txt", map[moduletest.Guest][]byte{moduletest.Good: []byte(momo)})
}

// hosts answers host calls, as far as scripts make some, of one character.
type hosts struct {
	mu     sync.Mutex
	kv     map[string]string
	by     []module.Caller
	during func() // nil: nothing
}

func (h *hosts) HostCall(ctx context.Context, c module.Caller, op string, data json.RawMessage) (json.RawMessage, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.by = append(h.by, c); h.during != nil {
		h.during()
	}
	switch op {
	case abi.HostKVGet:
		return module.Answer(data, func(k abi.KVKey) (abi.KVValue, error) {
			v, ok := h.kv[k.Key]
			return abi.KVValue{Value: v, Found: ok}, nil
		})
	case abi.HostKVSet:
		return module.Answer(data, func(p abi.KVPair) (struct{}, error) {
			h.kv[p.Key] = p.Value
			return struct{}{}, nil
		})
	case abi.HostHistoryGet:
		return json.Marshal(abi.History{})
	case abi.HostRandom:
		return module.Answer(data, func(r abi.RandomAsk) (abi.Random, error) { return abi.Random{Bytes: make([]byte, r.N)}, nil })
	}
	return nil, abi.Errorf(abi.CodeUnknownOp, "no %s", op)
}

func load(t testing.TB, e *Engine, text string) *Module {
	t.Helper()
	m, err := e.Load(t.Context(), module.Source{ID: "momo", Name: "momo.talk.txt", Data: []byte(text), Generation: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	return m.(*Module)
}

// ask asks an op about a message.
func ask[Answer any](t testing.TB, m *Module, op string, seq uint64, text string) (a Answer) {
	t.Helper()
	scene := abi.Scene{
		Message: abi.Message{Seq: seq, ID: fmt.Sprintf("m%d", seq), From: "taro", Text: text, Kind: abi.KindTurn},
		Members: []abi.Member{{ID: "momo", Name: "Momo", Kind: abi.KindCompanion}, {ID: "taro", Kind: abi.KindHuman}},
	}
	data, err := json.Marshal(scene)
	if err != nil {
		t.Fatal(err)
	}
	given, err := m.Call(t.Context(), abi.Request{Op: op, ID: "r1", Room: "main", Now: time.Unix(0, 0).UTC(), Data: data})
	if err != nil {
		t.Fatalf("%s: %v", op, err)
	}
	if err := json.Unmarshal(given, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// A script votes, speaks in both of its languages, keeps what it has said with the host, and says who asks.
func TestPlays(t *testing.T) {
	h := &hosts{kv: map[string]string{}}
	m := load(t, New(Config{Host: h}), momo)
	if d := m.Describe(); d.Name != "Momo" || !slices.Equal(d.Aliases, []string{"もも", "モモ"}) || !slices.Equal(d.Ops, []string{abi.OpDescribe, abi.OpVote, abi.OpSpeak}) {
		t.Errorf("%+v", d)
	}
	if m.Memory() != int64(len(momo)) {
		t.Errorf("memory %d", m.Memory())
	}
	for i, c := range []struct{ says, want string }{{"こんにちは！", "こんにちは！ももだよ！"}, {"猫は好き？", "猫？大好き！"}, {"Hello!", "Hello! I am Momo!"}, {"What about cats?", "Cats are liquid."}} {
		if v := ask[abi.Vote](t, m, abi.OpVote, uint64(i+1), c.says); v.State != abi.Speak {
			t.Errorf("%s: %+v", c.says, v)
		}
		if line := ask[abi.Line](t, m, abi.OpSpeak, uint64(i+1), c.says); line.Text != c.want {
			t.Errorf("%s: %+v, want %s", c.says, line, c.want)
		}
	}
	if len(h.by) == 0 || h.by[0] != (module.Caller{Companion: "momo", Room: "main", Call: "r1", Op: abi.OpVote, Engine: "script", Generation: 2}) {
		t.Errorf("asked by %+v", h.by)
	}
	if h.kv["said/main"] == "" {
		t.Errorf("kept: %q", h.kv)
	}
}

// The shipped three load from their files, each under the name it had as a module of WebAssembly.
func TestShipped(t *testing.T) {
	for id, is := range map[string]string{"aya": "Aya", "kyoko": "Kyoko", "natsumi": "Natsumi"} {
		data, err := os.ReadFile(filepath.Join("../../../characters", id+suffix))
		if err != nil {
			t.Fatal(err)
		}
		m, err := new(Engine).Load(t.Context(), module.Source{ID: id, Name: id + suffix, Data: data, Generation: 1})
		if err != nil {
			t.Fatal(err)
		}
		if d := m.Describe(); d.Name != is || len(d.Aliases) < 3 || d.ABI != "1" || d.Version != "1" {
			t.Errorf("%+v", d)
		}
	}
}

// A broken file is refused with all that is wrong with it, each with file and line.
func TestBroken(t *testing.T) {
	for text, want := range map[string]string{
		"lang: ja\nnmae: Momo\n[*]\ngreet {hi}\n[tea]\ntell: x": `momo.talk.txt:2: key "nmae" is not known` + "\n" +
			`momo.talk.txt:4: "greet {hi}" is no "act: text"` + "\n" + `momo.talk.txt:5: section "tea" is no topic` + "\n" + `momo.talk.txt:1: the head has no name`,
		"# only a remark":                               "momo.talk.txt:1: the head has no name: nothing is written",
		"\r\n\r\nname: M\r\n[*]\r\nsing: la":            `momo.talk.txt:5: "sing" is no act of section "*"`,
		"name: M\n[*]\ngreet: \x82\xb1\x82\xf1\n":       "momo.talk.txt:3: it is no UTF-8; save the file in that encoding",
		"name: M\x00":                                   `momo.talk.txt: describe.name`,
		"name: M\naliases: " + strings.Repeat("x", 300): "momo.talk.txt: describe.aliases",
		strings.Repeat("# x\n", MaxFile/4+1):            fmt.Sprintf("momo.talk.txt: a script of %d bytes, at most %d", MaxFile+4, MaxFile),
	} {
		_, err := new(Engine).Load(t.Context(), module.Source{ID: "momo", Name: "momo.talk.txt", Data: []byte(text), Generation: 1})
		if got := fmt.Sprint(err); err == nil || !strings.HasPrefix(module.Reason(err), want) {
			t.Errorf("%.60q gives %s, want %s", text, got, want)
		}
	}
}

// What a bug of ours in a call costs is what the character remembers, and no more; it counts against the module.
func TestPanic(t *testing.T) {
	m := load(t, New(Config{Host: &hosts{kv: map[string]string{}}}), momo)
	m.character.Vote = func(*companion.Host, companion.Scene) companion.Vote { panic("oh") }
	_, err := m.Call(t.Context(), abi.Request{Op: abi.OpVote, ID: "1", Data: json.RawMessage(`{}`)})
	var fault *module.Fault
	if !errors.As(err, &fault) || fault.Kind != module.FaultTrap || !strings.Contains(err.Error(), "oh") {
		t.Errorf("%v", err)
	}
	if v := ask[abi.Vote](t, m, abi.OpVote, 1, "こんにちは"); v.State != abi.Speak {
		t.Errorf("%+v", v)
	}
}

// Calls wait for each other; one whose time is over gives its place up, and Close ends what waits.
func TestOneAtATime(t *testing.T) {
	h, began, goOn := &hosts{kv: map[string]string{}}, make(chan struct{}, 100), make(chan struct{})
	h.during = func() { began <- struct{}{}; <-goOn }
	m := load(t, New(Config{Host: h}), momo)
	vote := func(ctx context.Context) <-chan error {
		done := make(chan error, 1)
		go func() {
			_, err := m.Call(ctx, abi.Request{Op: abi.OpVote, ID: "1", Room: "main", Data: json.RawMessage(`{"message":{"seq":1,"text":"猫","from":"taro"}}`)})
			done <- err
		}()
		return done
	}
	first := vote(t.Context())
	<-began
	ctx, cancel := context.WithCancel(t.Context())
	second, third := vote(ctx), vote(t.Context())
	cancel()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Errorf("one that was given up: %v", err)
	}
	over, end := context.WithCancel(context.Background())
	end()
	closed := make(chan error, 1)
	go func() { closed <- m.Close(over) }()
	if err := <-third; !errors.Is(err, module.ErrClosed) {
		t.Errorf("one that waits: %v", err)
	}
	close(goOn)
	if err := errors.Join(<-first, <-closed); err != nil {
		t.Errorf("one that runs, and Close: %v", err)
	}
}

// A call whose caller has gone looks at no more lines: what is said then is heard by nobody.
func TestNobodyWaits(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	h := &hosts{kv: map[string]string{}}
	m := load(t, New(Config{Host: h}), momo)
	h.during = cancel
	data, err := m.Call(ctx, abi.Request{Op: abi.OpVote, ID: "1", Room: "main", Data: json.RawMessage(`{"message":{"seq":1,"text":"猫","from":"taro"}}`)})
	if err != nil || !strings.Contains(string(data), `"listen"`) {
		t.Errorf("%s, %v", data, err)
	}
	h.during = nil
	if v := ask[abi.Vote](t, m, abi.OpVote, 2, "猫は？"); v.State != abi.Speak {
		t.Errorf("%+v", v)
	}
}

// However many lines there are, what their placeholders stand for is found out once in a call.
func TestManyLines(t *testing.T) {
	h := &hosts{kv: map[string]string{}}
	var text strings.Builder
	text.WriteString("name: M\n[*]\n")
	for i := range 500 {
		fmt.Fprintf(&text, "react: {human}、{nobody}、%d\nunknown: {human}、{nobody}、%d\n", i, i)
	}
	m := load(t, New(Config{Host: h}), text.String())
	if v := ask[abi.Vote](t, m, abi.OpVote, 1, "猫だよ"); v.State != abi.Listen {
		t.Errorf("%+v", v)
	}
	if len(h.by) > 10 {
		t.Errorf("the host was asked %d times", len(h.by))
	}
}

// FuzzScript: whatever is saved is refused with a place in words, or is a character that answers.
func FuzzScript(f *testing.F) {
	for _, s := range []string{momo, "", "name: A", "name: A\n[*]\ntell{: x", "\xff\xfen\x00", "\ufeffname: A\n[cat]\ntell @b 猫: {b}、{quote}{", "lang: en\nname: A\n[*]\nreact: {word}?\nlang: ja\nname: A"} {
		f.Add([]byte(s))
	}
	e := New(Config{Host: &hosts{kv: map[string]string{}}})
	f.Fuzz(func(t *testing.T, text []byte) {
		loaded, err := e.Load(t.Context(), module.Source{ID: "momo", Name: "momo.talk.txt", Data: text, Generation: 1})
		if err != nil {
			for row := range strings.SplitSeq(module.Reason(err), "\n") {
				if !strings.HasPrefix(row, "momo.talk.txt:") || !utf8.ValidString(row) {
					t.Errorf("%q: %q", text, row)
				}
			}
			return
		}
		m := loaded.(*Module)
		if v := ask[abi.Vote](t, m, abi.OpVote, 1, "こんにちは！猫は好き？"); v.State == "" {
			t.Errorf("%q: %+v", text, v)
		}
		if line := ask[abi.Line](t, m, abi.OpSpeak, 1, "こんにちは！猫は好き？"); line.Text == "" && line.Pass == "" {
			t.Errorf("%q: %+v", text, line)
		}
		if err := m.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Where words are erased a character remembers no talk from its next call on, also one whose file could not be loaded anew.
func TestForget(t *testing.T) {
	e := New(Config{})
	m, other := load(t, e, momo), load(t, e, momo)
	m.character.Version = "the first"
	ask[abi.Vote](t, m, abi.OpVote, 1, "ねこ、好き？")
	if e.Forget(); m.character.Version != "the first" {
		t.Error("it is taken from whoever asks it")
	}
	ask[abi.Vote](t, m, abi.OpVote, 2, "ねこ、好き？")
	if m.character.Version == "the first" || !other.anew.Load() {
		t.Error("it remembers")
	}
	m.character.Version = "the second"
	if ask[abi.Vote](t, m, abi.OpVote, 3, "ねこ、好き？"); m.character.Version != "the second" {
		t.Error("it forgets with each call")
	}
	for _, m := range []*Module{m, other} {
		if err := m.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	e.open.Range(func(any, any) bool { t.Error("the engine keeps a module that is closed"); return false })
}
