package companion_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
)

// probe is a character whose Speak runs do.
func probe(do func(h *companion.Host, s companion.Scene) companion.Line) *companion.Local {
	return companion.NewLocal(companion.Character{Name: "Probe", Speak: do})
}

func TestDescribe(t *testing.T) {
	c := companion.Character{Name: "Momo", Aliases: []string{"もも"}, Needs: []string{"http.fetch"}}
	d, err := companion.NewLocal(c).Describe()
	if err != nil || d.ABI != "1" || !slices.Equal(d.Ops, []string{"describe"}) || !slices.Equal(d.Needs, c.Needs) {
		t.Errorf("%+v, %v", d, err)
	}
}

// A character without the function for an op does not know the op.
func TestMissingOps(t *testing.T) {
	l := companion.NewLocal(companion.Character{Name: "Mute"})
	if _, err := l.Vote(companion.Scene{}); abi.CodeOf(err) != abi.CodeUnknownOp {
		t.Errorf("vote: %v", err)
	}
	if _, err := l.Speak(companion.Scene{}); abi.CodeOf(err) != abi.CodeUnknownOp {
		t.Errorf("speak: %v", err)
	}
}

// A vote that breaks the rules is the character's error, found at home.
func TestVoteIsChecked(t *testing.T) {
	for _, v := range []companion.Vote{{State: "shout"}, {State: abi.Speak, Importance: 11}, {Closing: "never"}} {
		l := companion.NewLocal(companion.Character{Name: "A", Vote: func(*companion.Host, companion.Scene) companion.Vote { return v }})
		if _, err := l.Vote(companion.Scene{}); abi.CodeOf(err) != abi.CodeInvalid {
			t.Errorf("%+v: %v", v, err)
		}
	}
	l := companion.NewLocal(companion.Character{Name: "A", Vote: func(*companion.Host, companion.Scene) companion.Vote { return companion.Vote{} }})
	if v, err := l.Vote(companion.Scene{}); err != nil || v.State != abi.Listen {
		t.Errorf("the zero vote: %+v, %v", v, err)
	}
	if companion.Want(99, "").Importance != 10 || companion.Want(-1, "").Importance != 0 {
		t.Error("Want keeps to 0..10")
	}
}

func TestKV(t *testing.T) {
	l := probe(func(h *companion.Host, _ companion.Scene) companion.Line {
		type mood struct{ Glad int }
		if found, err := h.GetJSON("mood", &mood{}); found || err != nil {
			t.Errorf("before: %v, %v", found, err)
		}
		if err := h.SetJSON("mood", mood{3}); err != nil {
			t.Error(err)
		}
		var m mood
		if found, err := h.GetJSON("mood", &m); !found || err != nil || m.Glad != 3 {
			t.Errorf("after: %v, %v, %v", found, err, m)
		}
		if err := h.Set("text", "no json"); err != nil {
			t.Error(err)
		}
		if _, err := h.GetJSON("text", &m); abi.CodeOf(err) != abi.CodeInvalid {
			t.Errorf("no json: %v", err)
		}
		if err := h.SetJSON("c", func() {}); abi.CodeOf(err) != abi.CodeInvalid {
			t.Errorf("a func as JSON: %v", err)
		}
		if keys, err := h.List("m"); err != nil || !slices.Equal(keys, []string{"mood"}) {
			t.Errorf("list: %v, %v", keys, err)
		}
		if found, err := h.Del("mood"); !found || err != nil {
			t.Errorf("del: %v, %v", found, err)
		}
		if found, err := h.Del("mood"); found || err != nil {
			t.Errorf("del again: %v, %v", found, err)
		}
		for key, code := range map[string]abi.Code{"": abi.CodeInvalid, strings.Repeat("k", abi.MaxKVKey+1): abi.CodeTooLarge} {
			if err := h.Set(key, "v"); abi.CodeOf(err) != code {
				t.Errorf("a key of %d bytes: %v", len(key), err)
			}
		}
		if err := h.Set("big", strings.Repeat("v", abi.MaxKVValue+1)); abi.CodeOf(err) != abi.CodeTooLarge {
			t.Errorf("a big value: %v", err)
		}
		return companion.Say("ok")
	})
	if line, err := l.Speak(companion.Scene{}); err != nil || line.Text != "ok" {
		t.Fatal(line, err)
	}
	if l.KV["text"] != "no json" || len(l.KV) != 1 {
		t.Errorf("store: %v", l.KV)
	}
}

// The local store has the daemon's bounds, and List pages through all keys.
func TestKVFull(t *testing.T) {
	l := probe(func(h *companion.Host, _ companion.Scene) companion.Line {
		for i := range abi.MaxKVKeys {
			if err := h.Set(string(rune('a'+i%26))+strings.Repeat("x", i/26), "v"); err != nil {
				t.Fatal(i, err)
			}
		}
		if err := h.Set("!", "v"); abi.CodeOf(err) != abi.CodeExhausted || !err.(*abi.Error).Retry {
			t.Errorf("one more: %v", err)
		}
		if keys, err := h.List(""); err != nil || len(keys) != abi.MaxKVKeys || !slices.IsSorted(keys) {
			t.Errorf("%d keys, %v", len(keys), err)
		}
		return companion.Line{}
	})
	if _, err := l.Speak(companion.Scene{}); err != nil {
		t.Error(err)
	}
}

func TestHostOps(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := probe(func(h *companion.Host, s companion.Scene) companion.Line {
		if !h.Now().Equal(at) || h.Self() != "probe" || h.Room() != "main" {
			t.Errorf("now %v, self %q, room %q", h.Now(), h.Self(), h.Room())
		}
		if b, err := h.Random(8); err != nil || len(b) != 8 {
			t.Errorf("random: %v, %v", b, err)
		}
		if _, err := h.Random(abi.MaxRandom + 1); abi.CodeOf(err) != abi.CodeInvalid {
			t.Errorf("too much random: %v", err)
		}
		seen := map[int]bool{}
		for range 200 {
			seen[h.Intn(6)] = true
		}
		if len(seen) != 6 || h.Intn(1) != 0 || h.Intn(-5) != 0 {
			t.Errorf("dice: %v", seen)
		}
		past, err := h.History(2)
		if err != nil || len(past) != 2 || past[1].Text != "three" {
			t.Errorf("history: %v, %v", past, err)
		}
		info, err := h.Info()
		if err != nil || info.ID != "probe" || info.Engine != "local" {
			t.Errorf("info: %+v, %v", info, err)
		}
		if err := h.Ask("launch.rockets", nil, nil); abi.CodeOf(err) != abi.CodeUnknownOp {
			t.Errorf("an unknown host op: %v", err)
		}
		h.Debugf("%d things", 2)
		h.Log(abi.LevelWarn, "careful")
		return companion.Say(s.Recent[2].Text, "someone")
	})
	l.Clock = func() time.Time { return at }
	for i, text := range []string{"one", "two", "three"} {
		l.History = append(l.History, companion.Message{Seq: uint64(i + 1), Text: text})
	}
	line, err := l.Speak(companion.Scene{})
	if err != nil || line.Text != "three" || !slices.Equal(line.To, []string{"someone"}) {
		t.Errorf("%+v, %v", line, err)
	}
	if !slices.Equal(l.Logs, []string{"DEBUG 2 things", "WARN careful"}) {
		t.Errorf("logs: %q", l.Logs)
	}
}

// The same seed gives the same dice, another seed others.
func TestSeed(t *testing.T) {
	roll := func(seed uint64) (out []int) {
		l := probe(func(h *companion.Host, _ companion.Scene) companion.Line {
			for range 8 {
				out = append(out, h.Intn(1000))
			}
			return companion.Line{}
		})
		l.Seed = seed
		if _, err := l.Speak(companion.Scene{}); err != nil {
			t.Fatal(err)
		}
		return out
	}
	if !slices.Equal(roll(1), roll(1)) || slices.Equal(roll(1), roll(2)) {
		t.Error("dice do not follow the seed")
	}
}

// A panic costs the call, not the character.
func TestPanic(t *testing.T) {
	calls := 0
	l := probe(func(*companion.Host, companion.Scene) companion.Line {
		if calls++; calls == 1 {
			var m map[string]int
			//lint:ignore SA5000 the panic is what is tested
			m["x"] = 1
		}
		return companion.Pass("fine again")
	})
	_, err := l.Speak(companion.Scene{})
	if abi.CodeOf(err) != abi.CodeInternal || !strings.Contains(err.Error(), "panic in speak: assignment to entry in nil map") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error: %v", err)
	}
	if len(l.Logs) != 1 || !strings.Contains(l.Logs[0], "companion_test.go") {
		t.Errorf("the log should have the stack: %q", l.Logs)
	}
	if line, err := l.Speak(companion.Scene{}); err != nil || line.Pass != "fine again" {
		t.Errorf("after the panic: %+v, %v", line, err)
	}
}

// Fail hands a coded error on and keeps other errors to the log.
func TestFail(t *testing.T) {
	fail := error(abi.Errorf(abi.CodeUnavailable, "the sky is cloudy"))
	l := probe(func(h *companion.Host, _ companion.Scene) companion.Line {
		h.Fail(fail)
		return companion.Line{}
	})
	var e *abi.Error
	if _, err := l.Speak(companion.Scene{}); !errors.As(err, &e) || e.Code != abi.CodeUnavailable || e.Message != "the sky is cloudy" || !e.Retry {
		t.Errorf("coded: %v", err)
	}
	fail = errors.New("my secret path")
	if _, err := l.Speak(companion.Scene{}); abi.CodeOf(err) != abi.CodeInternal || strings.Contains(err.Error(), "secret") {
		t.Errorf("plain: %v", err)
	}
	if !strings.Contains(strings.Join(l.Logs, "\n"), "my secret path") {
		t.Errorf("log: %q", l.Logs)
	}
}

// A reply that is too large is an error, and a line's "<" stays one.
func TestReply(t *testing.T) {
	text := strings.Repeat("あ", abi.MaxReply/3)
	l := probe(func(*companion.Host, companion.Scene) companion.Line { return companion.Say(text) })
	if _, err := l.Speak(companion.Scene{}); abi.CodeOf(err) != abi.CodeTooLarge {
		t.Errorf("a big reply: %v", err)
	}
	text = `<b>&"quoted"\`
	if line, err := l.Speak(companion.Scene{}); err != nil || line.Text != text {
		t.Errorf("%q, %v", line.Text, err)
	}
}

// quiet is a carrier without a log.
func quiet(ask func([]byte) []byte) companion.Carrier {
	return companion.Carrier{Ask: ask, Log: func(abi.Level, string) {}}
}

// Serve is total: it answers everything with exactly one of ok and error.
func TestServe(t *testing.T) {
	register()
	for _, in := range []string{"", "{", "null", `{"v":1,"op":"vote"}`, `[]`, "\xff", `{"v":1,"op":"speak","data":{"message":{"text":"!now"}}}`} {
		out, _ := companion.Serve([]byte(in), quiet(nil))
		var r abi.Reply
		if err := json.Unmarshal(out, &r); err != nil || (r.OK == nil) == (r.Error == nil) {
			t.Errorf("Serve(%q) = %s, %v", in, out, err)
		}
	}
	if c, ok := companion.Registered(); !ok || c.Name != "Echo" {
		t.Errorf("registered: %v, %v", c.Name, ok)
	}
	defer func() {
		if recover() == nil {
			t.Error("a second Register should panic")
		}
	}()
	companion.Register(companion.Character{Name: "Second"})
}

// The sources are there to be copied.
func TestSource(t *testing.T) {
	for _, name := range []string{"host.go", "guest_wasip1.go", "talk/persona.go", "talk/stage/stage.go", "talk/lines/script.go"} {
		if b, err := companion.Source.ReadFile(name); err != nil || len(b) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
