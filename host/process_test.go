//go:build unix

package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/process"
	"github.com/companiond/companiond/host/module/wasm"
	"github.com/companiond/companiond/host/waittest"
)

// program makes a program of the clerk and gives its path.
func program(t testing.TB, text string) string {
	t.Helper()
	building.Lock()
	defer building.Unlock()
	out := filepath.Join(guests, "clerk-"+text)
	if _, err := os.Stat(out); err == nil {
		return out
	}
	if err := os.MkdirAll(guests, 0o700); err != nil {
		t.Fatal(err)
	}
	if b, err := exec.Command("go", "build", "-ldflags=-s -w -X main.text="+text, "-o", out, "./testdata/clerk").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return out
}

// keys are the host calls of one character that need no daemon.
type keys struct {
	mu   sync.Mutex
	kept map[string]string
}

func (k *keys) HostCall(_ context.Context, c module.Caller, op string, data json.RawMessage) (json.RawMessage, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var pair abi.KVPair
	if len(data) > 0 {
		if err := json.Unmarshal(data, &pair); err != nil {
			return nil, err
		}
	}
	switch op {
	case abi.HostKVSet:
		k.kept[pair.Key] = pair.Value
		return nil, nil
	case abi.HostKVGet:
		v, found := k.kept[pair.Key]
		return json.Marshal(abi.KVValue{Found: found, Value: v})
	case abi.HostSelfInfo:
		return json.Marshal(abi.SelfInfo{ID: c.Companion, Room: c.Room})
	}
	return nil, abi.Errorf(abi.CodeUnknownOp, "no op %q", op)
}

// TestOneSourceTwoCarriers: the same source is WebAssembly and a program, and answers the same, byte
// for byte.
func TestOneSourceTwoCarriers(t *testing.T) {
	compiled, err := wasm.New(wasm.Config{CacheDir: filepath.Join(guests, "cache"), Host: &keys{kept: map[string]string{}}})
	if err != nil {
		t.Fatal(err)
	}
	defer compiled.Close(context.Background())
	run, err := process.New(process.Config{Programs: []process.Program{{Module: "clerk", File: "clerk-first"}}, Host: &keys{kept: map[string]string{}}})
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close(context.Background())
	scene, err := json.Marshal(abi.Scene{Message: abi.Message{Seq: 1, ID: "m1", From: "taro", Text: "clerk?"}, Addressed: true})
	if err != nil {
		t.Fatal(err)
	}
	answers := func(e module.Engine, path string) (all []string) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := e.Load(t.Context(), module.Source{ID: "clerk", Name: filepath.Base(path), Path: path, Data: data, Generation: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close(context.Background())
		for _, ask := range []abi.Request{
			{Op: abi.OpDescribe}, {Op: abi.OpVote, Data: scene}, {Op: abi.OpSpeak, Data: scene}, {Op: abi.OpSpeak, Data: scene},
			{Op: abi.OpSpeak}, {Op: abi.OpPerceive, Data: scene}, {Op: "no.such.op"}, {Op: abi.OpVote, Data: json.RawMessage(`[]`)},
		} {
			ask.ID, ask.Room, ask.Now = "1", "main", time.Unix(0, 0).UTC()
			ctx, cancel := context.WithTimeout(t.Context(), waittest.Long)
			data, err := m.Call(ctx, ask)
			cancel()
			all = append(all, fmt.Sprintf("%s: %s %v", ask.Op, data, err))
		}
		return all
	}
	in, out := answers(compiled, build(t, "./testdata/clerk", "clerk", "")), answers(run, program(t, "first"))
	if a, b := strings.Join(in, "\n"), strings.Join(out, "\n"); a != b || !strings.Contains(a, `"text":"2 clerk first"`) {
		t.Errorf("as WebAssembly\n%s\nas a program\n%s", a, b)
	}
}

const clerkRoom = "[room.main]\nsilence = \"0s\"\npatience = \"10s\"\npace = \"0s\"\n[module.clerk]\nprogram = \"my-clerk\"\n"

// TestProgramInARoom: a program that the configuration names is a companion like others: it talks, keeps its
// keys, is replaced by a file that takes its place, and a bad one replaces nothing. A program that nobody names
// is not run.
func TestProgramInARoom(t *testing.T) {
	h := newHome(t)
	var log logtest.Log
	h.log = log.Logger()
	plugins := filepath.Join(h.dir, "plugins")
	install(t, program(t, "first"), plugins, "my-clerk")
	install(t, program(t, "first"), plugins, "stranger")
	h.open(clerkRoom)
	said := func(want string) {
		t.Helper()
		n := len(h.messages("main"))
		h.say("main", "taro", "clerk, are you there?")
		h.until(want, func() bool {
			all := h.messages("main")
			return len(all) == n+2 && all[n+1].Text == want
		})
	}
	said("1 clerk first")
	h.until("what it prints is in the log", func() bool { return strings.Contains(log.String(), `line="clerk was asked"`) })
	var list []web.Companion
	h.get("/v1/companions", &list)
	if len(list) != 1 || list[0].Engine != "process" || list[0].ID != "clerk" || list[0].MemoryBytes == 0 || list[0].File != filepath.ToSlash(filepath.Join(plugins, "my-clerk")) {
		t.Fatalf("%+v", list)
	}
	install(t, program(t, "second"), plugins, "my-clerk")
	h.until("the next generation", func() bool {
		h.get("/v1/companions", &list)
		return list[0].Generation == 2
	})
	said("2 clerk second")
	install(t, "host_test.go", plugins, "my-clerk")
	h.until("it is refused", func() bool {
		h.get("/v1/companions", &list)
		return strings.Contains(list[0].Error, "exec format error")
	})
	said("3 clerk second")
	h.stop()
	if left, err := filepath.Glob(filepath.Join(h.dir, "state", "run", "*")); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}

// TestProgramsEndWithTheDaemon: nothing of a program is left when the daemon is killed, not even one that it
// started in a session of its own, and the next daemon starts it again.
func TestProgramsEndWithTheDaemon(t *testing.T) {
	m := newMortal(t, clerkRoom)
	install(t, program(t, "first"), filepath.Join(m.dir, "state", "plugins"), "my-clerk")
	file := filepath.Join(m.dir, "family")
	var pids [2]int
	waittest.Until(t, "the program runs", func() bool {
		m.tell("clerk, family:" + file) // it may not be there yet
		for range 100 {
			text, _ := os.ReadFile(file)
			if n, _ := fmt.Sscan(string(text), &pids[0], &pids[1]); n == 2 {
				return true
			}
			time.Sleep(10 * time.Millisecond)
		}
		return false
	})
	m.kill("while a program runs")
	killed := time.Now()
	waittest.Gone(t, pids[:]...)
	t.Logf("nothing is left %v after the daemon was killed", time.Since(killed).Round(time.Millisecond))
	before := pids
	_ = os.Remove(file)
	waittest.Until(t, "it runs again", func() bool {
		m.tell("clerk, family:" + file)
		for range 100 {
			text, _ := os.ReadFile(file)
			if n, _ := fmt.Sscan(string(text), &pids[0], &pids[1]); n == 2 && pids != before {
				return true
			}
			time.Sleep(10 * time.Millisecond)
		}
		return false
	})
}

// TestCheckOfPrograms: a program that is not there, or that everybody may write, is told of.
func TestCheckOfPrograms(t *testing.T) {
	dir := t.TempDir()
	c, problems := config.Parse("c.toml", fmt.Appendf(nil, "[modules]\nplugins = %q\n[module.clerk]\nprogram = \"my-clerk\"\n", dir), nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	says := func(want string) {
		t.Helper()
		got := host.CheckFiles(c)
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || got[0].Severity != config.Warning || !strings.Contains(got[0].String(), want)) {
			t.Errorf("%v, want %q", got, want)
		}
	}
	says(`c.toml:4:11: module.clerk.program: "` + filepath.Join(dir, "my-clerk") + `" is not there`)
	install(t, "host_test.go", dir, "my-clerk")
	says("")
	if err := os.Chmod(filepath.Join(dir, "my-clerk"), 0o777); err != nil {
		t.Fatal(err)
	}
	says("chmod o-w " + filepath.Join(dir, "my-clerk"))
}
