package extism_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/extism"
	"github.com/companiond/companiond/host/module/moduletest"
	"github.com/companiond/companiond/host/module/wasm"
	"github.com/companiond/companiond/host/module/wasm/compiler/compilertest"
	"github.com/companiond/companiond/host/module/wasm/drive"
)

func TestMain(m *testing.M) {
	if code, ok := compilertest.Main(os.Args[1:]); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// built is testdata/guest, built once.
var built = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "companiond-extism")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "guest.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", out, "./testdata/guest")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, said)
	}
	return os.ReadFile(out)
})

// guest is the guest, which is as the mark says.
func guest(t testing.TB, mark string) []byte {
	t.Helper()
	file, err := built()
	if err != nil {
		t.Fatal(err)
	}
	const good = "MARK:good          "
	if bytes.Count(file, []byte(good)) != 1 {
		t.Fatal("the guest has no mark")
	}
	return bytes.Replace(file, []byte(good), fmt.Appendf(nil, "%-*s", len(good), "MARK:"+mark), 1)
}

// noOps is a module that imports from Extism and exports its memory alone.
const noOps = "\x00asm\x01\x00\x00\x00" + "\x01\x06\x01\x60\x01\x7e\x01\x7e" +
	"\x02\x19\x01\x0fextism:host/env\x05alloc\x00\x00" + "\x05\x03\x01\x00\x01" + "\x07\x0a\x01\x06memory\x02\x00"

// host answers host ops.
type host func(c module.Caller, op string, data json.RawMessage) (json.RawMessage, error)

func (h host) HostCall(_ context.Context, c module.Caller, op string, data json.RawMessage) (json.RawMessage, error) {
	return h(c, op, data)
}

func newEngine(t testing.TB, calls module.HostCalls, log *slog.Logger) *wasm.Engine {
	t.Helper()
	e, err := wasm.New(wasm.Config{CacheDir: filepath.Join(os.TempDir(), "companiond-extism-test"), Compiler: []string{compilertest.Program()}, Dialects: []drive.Dialect{extism.Dialect()}, Host: calls, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

func load(t testing.TB, e *wasm.Engine, file []byte) module.Module {
	t.Helper()
	m, err := e.Load(t.Context(), module.Source{ID: "pip", Name: "pip.wasm", Data: file, Generation: 1})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestSuite(t *testing.T) {
	moduletest.Run(t, newEngine(t, nil, nil), "aya.wasm", map[moduletest.Guest][]byte{
		moduletest.Good:          guest(t, "good"),
		moduletest.Hang:          guest(t, "hang"),
		moduletest.Trap:          guest(t, "trap"),
		moduletest.Exit:          guest(t, "exit"),
		moduletest.Grow:          guest(t, "grow"),
		moduletest.BadReply:      guest(t, "bad"),
		moduletest.HugeReply:     guest(t, "huge"),
		moduletest.WrongABI:      guest(t, "abi"),
		moduletest.HangsAtLoad:   guest(t, "loads"),
		moduletest.NotDescribing: []byte(noOps),
		moduletest.Scribe:        guest(t, "good"),
	})
}

// TestDescribe: what a file does not say of itself is seen.
func TestDescribe(t *testing.T) {
	m := load(t, newEngine(t, nil, nil), guest(t, "good"))
	d := m.Describe()
	if d.ABI != "1" || d.Name != "Pip" || d.Version != "1" || strings.Join(d.Ops, " ") != "describe vote speak compress verify" {
		t.Errorf("it describes itself as %+v", d)
	}
	_, err := m.Call(t.Context(), abi.Request{Op: abi.OpPerceive})
	if abi.CodeOf(err) != abi.CodeUnknownOp {
		t.Errorf("perceive gives %v", err)
	}
}

// speaks asks for a line, and gives its text.
func speaks(t testing.TB, m module.Module, text string) (string, error) {
	t.Helper()
	scene, err := json.Marshal(map[string]any{"message": map[string]string{"text": text}, "settings": map[string]any{"place": "hall", "size": 3}})
	if err != nil {
		t.Fatal(err)
	}
	data, err := m.Call(t.Context(), abi.Request{Op: abi.OpSpeak, ID: "7", Room: "main", Data: scene})
	if err != nil {
		return "", err
	}
	var line abi.Line
	if err := json.Unmarshal(data, &line); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return line.Text, nil
}

// TestPDK: what a PDK offers is there.
func TestPDK(t *testing.T) {
	var asked []string
	var log bytes.Buffer
	m := load(t, newEngine(t, host(func(c module.Caller, op string, data json.RawMessage) (json.RawMessage, error) {
		asked = append(asked, fmt.Sprintf("%s in %s: %s %s", c.Companion, c.Room, op, data))
		if op == abi.HostHTTPFetch && strings.Contains(string(data), "denied.example") {
			return nil, abi.Errorf(abi.CodeDenied, "the host is not listed")
		}
		if op == abi.HostHTTPFetch {
			return json.RawMessage(`{"status":201,"url":"","text":"made","headers":{"a":"b"}}`), nil
		}
		return json.RawMessage(`{"keys":[]}`), nil
	}), slog.New(slog.NewTextHandler(&log, nil))), guest(t, "good"))
	for _, c := range [][2]string{
		{"text ユキ", "やあ、ユキ"}, {"an object", "an"},
		{"count", "1"}, {"count", "2"}, {"forget", "0"}, {"count", "1"},
		{"config place", "hall"}, {"config size", "3"}, {"config none", ""}, {"config companion.room", "main"}, {"config companion.self", "pip"}, {"config companion.id", "7"},
		{`ask {"v":1,"op":"kv.list","data":{"prefix":"c"}}`, `> {"ok":{"keys":[]}}`}, {"ask no JSON", `> {"error":{"code":"invalid"`},
		{"fetch https://api.example/", "201 made"}, {"fetch https://denied.example/", "0 "},
		{"log 大変", "logged"}, {"again", "9000 0"},
	} {
		got, err := speaks(t, m, c[0])
		if err != nil || got != c[1] && !(strings.HasPrefix(c[1], "> {\"e") && strings.HasPrefix(got, c[1])) {
			t.Errorf("%s: %q, %v, want %q", c[0], got, err, c[1])
		}
	}
	for _, want := range []string{`pip in main: kv.list {"prefix":"c"}`, `pip in main: http.fetch {"method":"POST","url":"https://api.example/","headers":{"a":"b"},"text":"body"}`} {
		if !strings.Contains(strings.Join(asked, "\n"), want) {
			t.Errorf("it asked %q, not %s", asked, want)
		}
	}
	for _, want := range []string{"大変", "http_request: denied: the host is not listed"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %q: %s", want, log.String())
		}
	}
}

// TestErrors: what a module says went wrong is its answer, and costs it nothing.
func TestErrors(t *testing.T) {
	m := load(t, newEngine(t, nil, nil), guest(t, "good"))
	for text, want := range map[string]struct {
		code abi.Code
		says string
	}{
		"fail no mood": {abi.CodeInternal, "no mood"},
		`fail {"code":"unavailable","message":"not now","retry":true}`: {abi.CodeUnavailable, "not now"},
		"fail": {abi.CodeInternal, "it returned 7"},
	} {
		_, err := speaks(t, m, text)
		var fault *module.Fault
		if errors.As(err, &fault) || abi.CodeOf(err) != want.code || !strings.Contains(err.Error(), want.says) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if got, err := speaks(t, m, "count"); err != nil || got != "1" {
		t.Errorf("count: %s, %v", got, err)
	}
	if got, err := speaks(t, m, "count"); err != nil || got != "2" {
		t.Errorf("its instance was lost: %s, %v", got, err)
	}
}

// TestBounds: what a module takes on this side is bounded, and addresses are looked at.
func TestBounds(t *testing.T) {
	m := load(t, newEngine(t, nil, nil), guest(t, "good"))
	for text, want := range map[string]string{
		"outside": "8 bytes at 1099511627776 are outside of Extism's memory",
		"hoard":   "a call may have 16777216 bytes",
		"vars":    "an instance may keep 1 MiB",
	} {
		_, err := speaks(t, m, text)
		var fault *module.Fault
		if !errors.As(err, &fault) || fault.Kind != module.FaultTrap || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
		if got, err := speaks(t, m, "text a"); err != nil || got != "やあ、a" {
			t.Errorf("then it says %q, %v", got, err)
		}
	}
}

// TestRefused: what imports something of Extism's that there is not is refused by name.
func TestRefused(t *testing.T) {
	e := newEngine(t, nil, nil)
	for change, want := range map[string]string{
		"alloc": "it exports no function of these: vote, ",
		"alloe": `imports unknown function "extism:host/env.alloe"`,
	} {
		_, err := e.Load(t.Context(), module.Source{ID: "pip", Name: "pip.wasm", Data: []byte(strings.Replace(noOps, "alloc", change, 1)), Generation: 1})
		if abi.CodeOf(err) != abi.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", change, err)
		}
	}
}

// TestExamples: what is built with a PDK, or against Extism's functions alone, answers as ABI.md's examples do.
func TestExamples(t *testing.T) {
	steps := moduletest.Vectors(t, "../../../sdk/examples/vectors.json")
	asc, _ := filepath.Abs("../../../sdk/examples/extism/node_modules/.bin/asc")
	for language, c := range map[string]struct {
		dir   string
		build []string
	}{
		"Extism": {"../../../sdk/examples/extism", []string{asc, "pip.ts", "-O", "--exportStart", "_initialize"}},
		"C":      {"testdata", []string{"clang", "--target=wasm32", "-Os", "-nostdlib", "-Wl,--no-entry", "pip.c"}},
	} {
		t.Run(language, func(t *testing.T) {
			moduletest.Asks(t, load(t, newEngine(t, nil, nil), build(t, c.dir, c.build)), steps, language)
		})
	}
}

// build builds an example, or skips the test where its compiler is not installed.
func build(t testing.TB, dir string, command []string) []byte {
	t.Helper()
	if _, err := exec.LookPath(command[0]); err != nil {
		t.Skipf("%s is not installed", filepath.Base(command[0]))
	}
	out := filepath.Join(t.TempDir(), "pip.wasm")
	cmd := exec.Command(command[0], append(command[1:], "-o", out)...)
	cmd.Dir = dir
	if said, err := cmd.CombinedOutput(); err != nil {
		if strings.Contains(string(said), "wasm-ld") {
			t.Skipf("%s cannot build for WebAssembly here: %s", command[0], said)
		}
		t.Fatalf("%v: %s", err, said)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
