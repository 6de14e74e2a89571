package js_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder/foldertest"
	"github.com/companiond/companiond/host/module/js"
	"github.com/companiond/companiond/host/module/moduletest"
	"github.com/companiond/companiond/host/module/wasm"
	"github.com/companiond/companiond/host/module/wasm/compiler/compilertest"
	"github.com/companiond/companiond/host/waittest"
)

func TestMain(m *testing.M) {
	if code, ok := compilertest.Main(os.Args[1:]); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// image is QuickJS as npm has put it beside the package.
func image(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("npm/node_modules/quickjs-wasi/quickjs.wasm")
	if err != nil {
		t.Skipf("no JavaScript: %v (make npm)", err)
	}
	return b
}

// cache keeps the machine code of QuickJS for all tests of this process.
var cache = os.TempDir() + "/companiond-js-test"

func newEngine(t testing.TB, calls module.HostCalls) *js.Engine {
	t.Helper()
	guests, err := wasm.New(wasm.Config{CacheDir: cache, Compiler: []string{compilertest.Program()}, Interpreter: js.Interpreter(image(t)), Host: calls, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := guests.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return js.New(guests, os.DirFS("npm/node_modules/sucrase/dist/esm"))
}

func TestSuite(t *testing.T) {
	const vote = "export const describe = {name: 'Aya'};\n"
	moduletest.Run(t, newEngine(t, nil), "aya.js", map[moduletest.Guest][]byte{
		moduletest.Good:          []byte(vote + "export function vote(scene) { return {state: 'listen'} }"),
		moduletest.Hang:          []byte(vote + "export function vote() { for (;;) try { throw 1 } catch {} }"),
		moduletest.Grow:          []byte(vote + "export function vote() { const all = []; for (;;) all.push(new Uint8Array(100000)) }"),
		moduletest.HugeReply:     []byte(vote + "export function vote() { return 'x'.repeat(2000000) }"),
		moduletest.WrongABI:      []byte("export const describe = {abi: '99'}; export function vote() {}"),
		moduletest.HangsAtLoad:   []byte("for (;;);"),
		moduletest.NotDescribing: []byte("export const x = 1"),
		moduletest.Scribe:        []byte(echo(t)),
	})
}

func mustRead(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func echo(t testing.TB) string { return mustRead(t, "testdata/echo.js") }

func load(t testing.TB, e *js.Engine, name, text string) (module.Module, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	m, err := e.Load(ctx, module.Source{ID: "mio", Name: name, Data: []byte(text), Generation: 1})
	if err == nil {
		t.Cleanup(func() { _ = m.Close(context.Background()) })
	}
	return m, err
}

// TestMistakes: what is wrong with a file is told with its place in it.
func TestMistakes(t *testing.T) {
	e := newEngine(t, nil)
	for text, want := range map[string]string{
		"export function vote( {":                              "SyntaxError: ",
		"\nexport const a = b;":                                "ReferenceError: b is not defined (mio.js:2:",
		"import fs from 'fs'":                                  `mio.js imports "fs"; a file may import files beside it`,
		"import fs from './no.js'":                             "there is no no.js to import",
		"await new Promise(() => {})":                          "mio.js: it waits for a promise that nothing settles",
		"export const x = 1":                                   "it exports no function of these: vote, ",
		"export const describe = () => { null.x }":             "TypeError: ",
		"function f() { f() }\nexport function vote() {}\nf()": "RangeError: ",
		"export function vote() {}\nthrow 'no'":                "no",
	} {
		_, err := load(t, e, "mio.js", text)
		if abi.CodeOf(err) != abi.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v\nwant %s", text, err, want)
		} else {
			t.Log(err)
		}
	}
}

// TestExceptions: an exception is an answer, with its place, and costs nothing.
func TestExceptions(t *testing.T) {
	m, err := load(t, newEngine(t, nil), "mio.js", `
export function vote(scene) {
  return scene.message.words.length;
}
export async function speak() {
  await null;
  throw new Error("no words");
}
export function perceive() { return new Promise(() => {}) }
export function event() { return deep() }
function deep() { return [deep()] }
`)
	if err != nil {
		t.Fatal(err)
	}
	for op, want := range map[string]string{
		"vote": "TypeError: cannot read property 'length' of undefined (mio.js:3:", "speak": "Error: no words (mio.js:7:",
		"perceive": "it waits for a promise that nothing settles", "event": "RangeError: ",
	} {
		for range 3 {
			_, err := m.Call(t.Context(), abi.Request{Op: op, Data: json.RawMessage(`{"message":{}}`)})
			if abi.CodeOf(err) != abi.CodeInternal || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", op, err, want)
			}
		}
	}
}

// TestAstray: a promise that is rejected and that nobody asks for is told in the log, once, and one that somebody asks for later is not;
// the daemon knows who asks.
func TestAstray(t *testing.T) {
	var said bytes.Buffer
	calls := &asked{t: t}
	guests, err := wasm.New(wasm.Config{CacheDir: cache, Compiler: []string{compilertest.Program()}, Interpreter: js.Interpreter(image(t)), Host: calls, Log: slog.New(slog.NewTextHandler(&said, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer guests.Close(context.Background())
	m, err := load(t, js.New(guests, nil), "mio.js", `
export async function vote() {
  const later = Promise.reject(new Error("asked for"));
  await null;
  await later.catch(() => {});
  return { state: "listen" };
}
export async function event() {
  host("say", { text: "x" });
}`)
	if err != nil {
		t.Fatal(err)
	}
	answers(t, m, "vote", "{}", `{"state":"listen"}`)
	calls.left.Host = append(calls.left.Host, struct {
		Expect abi.Request
		Answer abi.Reply
	}{abi.Request{Op: "say", Data: json.RawMessage(`{"text":"x"}`)}, abi.Reply{Error: abi.Errorf(abi.CodeDenied, "it is not granted")}})
	answers(t, m, "event", "{}", "{}")
	if n := strings.Count(said.String(), "await is missing?"); n != 1 || strings.Contains(said.String(), "asked for\"") || !strings.Contains(said.String(), "HostError: it is not granted") {
		t.Errorf("%d: %s", n, said.String())
	}
	if calls.by.Engine != "js" {
		t.Errorf("%+v", calls.by)
	}
}

// TestHangs: code that hangs is ended, and the fault says where it was when it called something last.
func TestHangs(t *testing.T) {
	waittest.WithoutRaces(t)
	m, err := load(t, newEngine(t, nil), "mio.ts", `export function vote(s: object) {
  while (true) {}
}
export async function speak(s: object) {
  await null;
  for (;;) try { throw 1 } catch {}
}
export function event() { return "ok" }
export function perceive() { const all: string[] = []; for (;;) all.push("x".repeat(1e5) + all.length) }
`)
	if err != nil {
		t.Fatal(err)
	}
	for op, want := range map[string]string{"vote": "interrupted (mio.ts:1:", "speak": "interrupted (mio.ts:5:", "perceive": "InternalError: out of memory (mio.ts:9:"} {
		for _, limit := range []time.Duration{time.Minute, 300 * time.Millisecond} {
			if op == "perceive" && limit < time.Minute {
				continue // it may be in the middle of what cannot be interrupted
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			_, err := m.Call(ctx, abi.Request{Op: op, Data: json.RawMessage("{}")})
			cancel()
			var fault *module.Fault
			is := errors.As(err, &fault)
			late := is && limit < time.Minute && fault.Kind == module.FaultTimeout // a machine that is busy may notice too late to say where
			if !is || !strings.Contains(err.Error(), want) && !late {
				t.Errorf("%s: %v, want %s", op, err, want)
			} else {
				t.Log(err)
			}
			if got, err := m.Call(t.Context(), abi.Request{Op: "event"}); err != nil || string(got) != `"ok"` {
				t.Errorf("%s, %v", got, err)
			}
		}
	}
}

// TestNoTime: a file that there is no time to start is not refused for a mistake, however far it gets.
func TestNoTime(t *testing.T) {
	e := newEngine(t, nil)
	if _, err := load(t, e, "mio.ts", "export function vote() {}"); err != nil { // QuickJS is compiled by now
		t.Fatal(err)
	}
	for d := time.Millisecond; d < 200*time.Millisecond; d = d * 5 / 4 {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		m, err := e.Load(ctx, module.Source{ID: "mio", Name: "mio.js", Data: []byte("export function vote() {}"), Generation: 1})
		cancel()
		if err == nil {
			_ = m.Close(context.Background())
		} else if abi.CodeOf(err) != abi.CodeTimeout {
			t.Errorf("within %v: %s, %v", d, abi.CodeOf(err), err)
		}
	}
}

// TestTooMuchTypeScript: a file that there is no time to read, or that is too much to be read, is refused in words, and the next one is read.
func TestTooMuchTypeScript(t *testing.T) {
	waittest.WithoutRaces(t)
	e := newEngine(t, nil)
	const good = "export const speak = (): string => 'hello'"
	if _, err := load(t, e, "mio.ts", good); err != nil { // what reads it is there by now
		t.Fatal(err)
	}
	for _, c := range []struct {
		what, text string
		within     time.Duration
		code       abi.Code
		want       string
	}{
		{"much", "export function vote() {}\n" + strings.Repeat("{ const a: number = 1 + 2 * (3 - 4); }\n", 20000), 5 * time.Millisecond, abi.CodeTimeout, "there was no time to read mio.ts as TypeScript"},
		{"deep", "export const x = " + strings.Repeat("(", 100000), time.Minute, abi.CodeInvalid, "mio.ts cannot be read as TypeScript: Maximum call stack"},
		{"more than is asked", "export const x = 1;" + strings.Repeat("//  \n", 1<<20), time.Minute, abi.CodeTooLarge, "mio.ts: "},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), c.within)
		_, err := e.Load(ctx, module.Source{ID: "mio", Name: "mio.ts", Data: []byte(c.text), Generation: 1})
		cancel()
		if abi.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %s, %v", c.what, abi.CodeOf(err), err)
		}
		if _, err := load(t, e, "mio.ts", good); err != nil {
			t.Errorf("after %s: %v", c.what, err)
		}
	}
}

// TestTypeScript: types are taken out, places stay, and a folder's files find each other.
func TestTypeScript(t *testing.T) {
	e := newEngine(t, nil)
	m, err := load(t, e, "mio.ts", `import type { Scene, Vote } from "companion";
interface Words { [mood: string]: string[] }
enum Mood { Good, Bad }
const words: Words = { happy: ["やった"] };

export function vote(scene: Scene): Vote {
  return { state: "speak", importance: Mood.Bad as number, reason: words.happy![0]! };
}
export function event(e: { kind: string }): never {
  throw new Error("here");
}
`)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.Call(t.Context(), abi.Request{Op: "vote"}); err != nil || string(got) != `{"state":"speak","importance":1,"reason":"やった"}` {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := m.Call(t.Context(), abi.Request{Op: "event"}); err == nil || !strings.Contains(err.Error(), "Error: here (mio.ts:10:") {
		t.Error(err)
	}
	if _, err := load(t, e, "mio.ts", "export function vote(): {\n  retrun 1;\n}"); abi.CodeOf(err) != abi.CodeInvalid || !strings.Contains(err.Error(), "(mio.ts:") {
		t.Error(err)
	}
	folder, err := e.Load(t.Context(), module.Source{ID: "mio", Name: "mio", Generation: 1, Siblings: map[string][]byte{
		"main.ts": []byte(`import { hello } from "./words"; export const speak = (): string => hello as string`), "words.ts": []byte(`export const hello: string = "hello"`), "notes.md": []byte("x"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close(context.Background())
	if got, err := folder.Call(t.Context(), abi.Request{Op: "speak"}); err != nil || string(got) != `{"text":"hello"}` || folder.Describe().Name != "Mio" {
		t.Errorf("%s, %v, %+v", got, err, folder.Describe())
	}
}

// example loads a file of sdk/examples/typescript.
func example(t *testing.T, calls module.HostCalls, name string) module.Module {
	t.Helper()
	m, err := load(t, newEngine(t, calls), name, mustRead(t, "../../../sdk/examples/typescript/"+name))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// answers asks a module, and compares what it answers.
func answers(t *testing.T, m module.Module, op, data, want string) {
	t.Helper()
	if got, err := m.Call(t.Context(), abi.Request{Op: op, Data: json.RawMessage(data)}); err != nil || !equal(got, []byte(want)) {
		t.Errorf("%s %s: %s, %v, want %s", op, data, got, err, want)
	}
}

// TestExamples: what the folder of examples has in TypeScript does what it says.
func TestExamples(t *testing.T) {
	t.Run("pip", func(t *testing.T) {
		b, err := os.ReadFile("../../../sdk/examples/vectors.json")
		if err != nil {
			t.Fatal(err)
		}
		var steps []struct {
			Op    string
			Data  json.RawMessage
			Reply json.RawMessage
		}
		if err := json.Unmarshal(b, &steps); err != nil {
			t.Fatal(err)
		}
		m := example(t, nil, "pip.ts")
		for _, s := range steps {
			if s.Reply != nil {
				answers(t, m, s.Op, string(s.Data), strings.Replace(string(s.Reply), "LANGUAGE", "TypeScript", 1))
			}
		}
	})
	t.Run("friend", func(t *testing.T) {
		m := example(t, &store{kv: map[string]string{}}, "friend.ts")
		if d := m.Describe(); !slices.Equal(d.Ops, []string{abi.OpDescribe, abi.OpVote, abi.OpSpeak, abi.OpEvent}) {
			t.Errorf("%+v", d)
		}
		for _, c := range []struct{ op, text, more, want string }{
			{"vote", "Aya, do you like cats?", "", `{"state":"listen","importance":0,"reason":"that was for aya"}`},
			{"vote", "Aya likes cats.", "", `{"state":"speak","importance":7,"reason":"I have something to add"}`},
			{"vote", "Friend?", `,"addressed":true`, `{"state":"speak","importance":9,"reason":"they mean me"}`},
			{"speak", "Hello.", "", `{"text":"What may I call you?"}`},
			{"speak", "I'm Taro.", "", `{"text":"Taro! I will remember that."}`},
		} {
			data := fmt.Sprintf(`{"message":{"from":"t1","to":[],"text":%q},"members":[{"id":"aya","name":"Aya","kind":"companion"},{"id":"t1","kind":"human"}]%s}`, c.text, c.more)
			if got, err := m.Call(t.Context(), abi.Request{Op: c.op, Self: "friend", Room: "main", ID: "1", Data: json.RawMessage(data)}); err != nil || !equal(got, []byte(c.want)) {
				t.Errorf("%s %s: %s, %v, want %s", c.op, c.text, got, err, c.want)
			}
		}
	})
	t.Run("ngword", func(t *testing.T) {
		m := example(t, nil, "ngword.ts")
		const settings = `"settings":{"words":["spoiler","a.c"]}`
		answers(t, m, "line", `{"text":"No Spoiler, abc a.c!",`+settings+`}`, `{"text":"No ＊＊＊＊＊＊＊, abc ＊＊＊!"}`)
		answers(t, m, "line", `{"text":"fine",`+settings+`}`, `{}`)
		answers(t, m, "sense", `{"perception":{"body":{"text":"a spoiler"}},`+settings+`}`, `{"body":{"text":"a ＊＊＊＊＊＊＊"}}`)
		answers(t, m, "sense", `{"perception":{},`+settings+`}`, `{}`)
		if d := m.Describe(); d.Kind != abi.Handler || len(d.Settings) == 0 {
			t.Errorf("%+v", d)
		}
	})
	t.Run("clock", func(t *testing.T) {
		reply := func(text string) abi.Reply { return abi.Reply{OK: json.RawMessage(text)} }
		calls := &asked{t: t}
		m := example(t, calls, "clock.ts")
		for name, most := range map[string]int{"": 2, "next": 3} {
			calls.left = step{}
			for _, c := range []struct{ op, data, answer string }{
				{"now", "", `{"unix_ms":1767323105000}`}, {"timer.set", `{"name":"next","after_ms":1495000}`, `{}`},
				{"perception.emit", `{"companion":"aya","title":"clock","body":{"time":"03:05","text":"It is 03:05."}}`, `{"seq":1}`},
			}[:most] {
				calls.left.Host = append(calls.left.Host, struct {
					Expect abi.Request
					Answer abi.Reply
				}{abi.Request{Op: c.op, Data: json.RawMessage(c.data)}, reply(c.answer)})
			}
			answers(t, m, "timer", `{"name":"`+name+`","companions":["aya"],"settings":{"every":30}}`, `{}`)
			if len(calls.left.Host) > 0 {
				t.Errorf("%q: %d host calls are missing", name, len(calls.left.Host))
			}
		}
	})
}

func TestReloadsUnderLoad(t *testing.T) {
	foldertest.Reloads(t, newEngine(t, nil), "mio.ts", func(n int) []byte {
		return fmt.Appendf(nil, "export function vote(): object { return { state: 'listen', importance: 1, reason: '%d' } }", n)
	})
}
