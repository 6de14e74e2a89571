package js_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/waittest"
)

// hostile are bodies of a vote that do what they should not.
var hostile = map[string]string{
	"eval":                   "for (let n = 0; ; n++) eval('globalThis.x' + n + ' = function() { return ' + n + ' }')",
	"a deep getter":          "const o = { get a() { return o.a } }; return o",
	"a cycle":                "const o = {}; o.o = o; return o",
	"toJSON":                 "return { toJSON() { for (;;); } }",
	"a proxy":                "return new Proxy({}, { ownKeys() { for (;;); } })",
	"then":                   "return { then(f) { for (;;) f } }",
	"a thenable of itself":   "const o = { then(f) { f(o) } }; return o",
	"jobs for ever":          "const again = () => Promise.resolve().then(again); return again()",
	"a large power":          "return String(7n ** (10n ** 7n))",
	"a regular expression":   "return /^(a+)+$/.test('a'.repeat(40) + 'b')",
	"a long text":            "return 'x'.repeat(2 ** 29)",
	"an array":               "return [...Array(1e9)]",
	"a buffer":               "return new ArrayBuffer(2 ** 31).byteLength",
	"a long search":          "const a = { length: 2 ** 53 - 1 }; return Array.prototype.indexOf.call(a, 1)",
	"JSON that is deep":      "let s = ''; for (let n = 0; n < 1e5; n++) s += '['; return JSON.parse(s)",
	"a log":                  "for (;;) console.log('x'.repeat(1000))",
	"questions":              "for (;;) kv.get('a')",
	"a large question":       "host('say', { text: 'x'.repeat(4e6) }); return kv.set('a', 'x'.repeat(4e6))",
	"an import":              "return import('./mio.ts').then(m => m.vote())",
	"an import from nowhere": "return import('os')",
	"no globals":             "for (const k of Object.getOwnPropertyNames(globalThis)) try { delete globalThis[k] } catch {} return { state: 'listen' }",
	"other globals":          "JSON.parse = JSON.stringify = Promise.resolve = Object.defineProperty = () => { for (;;); }; Promise.prototype.then = Array.prototype.map = Array.prototype.join = String.prototype.replace = () => 'no'; return { state: 'listen' }",
	"a prototype":            "Object.prototype.error = { code: 'denied', message: 'x' }; Object.prototype.then = function() { for (;;); }; return {}",
	"another error":          "Error.prepareStackTrace = () => { for (;;); }; throw new Error('x')",
	"a thrown proxy":         "throw new Proxy(new Error('x'), { get() { for (;;); } })",
	"an odd error":           "const e = new Error('x'); Object.defineProperty(e, 'stack', { get() { throw e } }); Object.defineProperty(e, 'message', { get() { throw e } }); throw e",
	"a symbol":               "throw Symbol('x')",
	"nothing":                "throw undefined",
	"a function":             "return () => 1",
	"no Unicode":             "return { state: 'listen', reason: '\\ud800' }",
	"atomics":                "return Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1e9)",
	"generators":             "function* g() { yield* g() } return [...g()]",
	"a sort":                 "return [3, 1, 2].sort(() => { for (;;); })",
	"a finalizer":            "new FinalizationRegistry(() => { for (;;); }).register({}, 1); for (let n = 0; n < 1e5; n++) ({ n }); return {}",
}

// TestHostile: whatever a vote does, it ends in its time, and the module answers the next question, as another does beside it.
func TestHostile(t *testing.T) {
	waittest.WithoutRaces(t)
	e := newEngine(t, nil)
	other, err := load(t, e, "mio.ts", "export function vote() { return { state: 'listen' } }")
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range hostile {
		t.Run(name, func(t *testing.T) {
			m, err := load(t, e, "mio.ts", "export function vote() {\n"+body+"\n}\nexport function event() { return { lives: true } }")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			data, err := m.Call(ctx, abi.Request{Op: "vote"})
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
			var fault *module.Fault
			var answer *abi.Error
			if err != nil && !errors.As(err, &fault) && !errors.As(err, &answer) || err == nil && !json.Valid(data) {
				t.Errorf("%.100s, %v", data, err)
			}
			t.Logf("%.60s %v", data, err)
			if got, err := other.Call(t.Context(), abi.Request{Op: "vote"}); err != nil || string(got) != `{"state":"listen"}` {
				t.Errorf("another answers %s, %v", got, err)
			}
			got, err := m.Call(t.Context(), abi.Request{Op: "event"})
			if err == nil && string(got) != `{"lives":true}` {
				t.Errorf("then it answers %s", got)
			}
			if err != nil { // it has changed what it needs itself; one more, and it is lost or answers
				t.Logf("then: %v", err)
			}
		})
	}
}

// FuzzLoad: no text takes the engine along, and what is refused is refused in words.
func FuzzLoad(f *testing.F) {
	for _, body := range hostile {
		f.Add("export function vote() { "+body+" }", false)
		f.Add(body, true)
	}
	f.Add(mustRead(f, "testdata/echo.js"), false)
	f.Add(mustRead(f, "../../../sdk/examples/typescript/clock.ts"), true)
	f.Add(mustRead(f, "../../../sdk/examples/typescript/friend.ts"), true)
	f.Add(mustRead(f, "../../../sdk/js/companion.js"), false)
	e := newEngine(f, nil)
	f.Fuzz(func(t *testing.T, text string, types bool) {
		name := "mio.js"
		if types {
			name = "mio.ts"
		}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		m, err := e.Load(ctx, module.Source{ID: "mio", Name: name, Data: []byte(text), Generation: 1})
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" || abi.CodeOf(err) == abi.CodeInternal {
				t.Errorf("refused with %q, %s", err, abi.CodeOf(err))
			}
			return
		}
		defer m.Close(context.Background())
		for _, op := range m.Describe().Ops {
			data, err := m.Call(ctx, abi.Request{Op: op, Data: json.RawMessage(`{"message":{"text":"a","from":"b"}}`)})
			if err == nil && !json.Valid(data) {
				t.Errorf("%s: %q", op, data)
			}
		}
	})
}
