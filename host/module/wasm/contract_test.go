package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/moduletest"
	"github.com/companiond/companiond/host/waittest"
)

func TestLoadAndVote(t *testing.T) {
	e := newTestEngine(t, nil)
	if e.Name() != "wasm" {
		t.Errorf("engine is %q", e.Name())
	}
	m := load(t, e, guestFile(t, "aya"))
	if d := m.Describe(); d.Name != "Guest aya" || d.ABI != "1" {
		t.Errorf("described itself as %+v", d)
	}
	scene, _ := json.Marshal(abi.Scene{Message: abi.Message{Text: "Aya, good morning to you", From: "bob"}, Addressed: true})
	data, err := m.Call(t.Context(), abi.Request{Op: abi.OpVote, ID: "v1", Room: "main", Now: time.Now(), Data: scene})
	if err != nil {
		t.Fatal(err)
	}
	var v abi.Vote
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if v.State != abi.Speak || v.Importance != 7 || v.Reason != "said by bob" {
		t.Errorf("voted %+v", v)
	}
	if n := m.Memory(); n < 1<<20 || n > 64<<20 {
		t.Errorf("memory is %d bytes", n)
	}
}

func TestOwnErrorKeepsInstance(t *testing.T) {
	m := load(t, newTestEngine(t, nil), guestFile(t, "aya"))
	_, err := do(t.Context(), m, "fail", "no mood")
	wantRefusal(t, err, abi.CodeInvalid, "will not: no mood")
	if got := mustDo(t, m, "count", ""); got != "3" { // describe, fail, count
		t.Errorf("the instance answered %s calls, want 3: it was not kept", got)
	}
}

func TestFaultCostsInstance(t *testing.T) {
	m := load(t, newTestEngine(t, nil), guestFile(t, "aya"))
	if got := mustDo(t, m, "count", ""); got != "2" {
		t.Fatalf("count %s, want 2", got)
	}
	_, err := do(t.Context(), m, "panic", "at once")
	if faultKind(err) != module.FaultTrap || !strings.Contains(err.Error(), "panic: boom at once") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want a trap in one line that says what the guest said", err)
	}
	if got := mustDo(t, m, "count", ""); got != "1" {
		t.Errorf("count %s, want 1: the instance was not replaced", got)
	}
}

func TestReplies(t *testing.T) {
	e := newTestEngine(t, nil)
	for name, c := range map[string]struct {
		reply string
		code  []byte // instead of writing reply
		want  string // "ok", an abi code, or a fault kind
	}{
		"ok":              {reply: `{"ok":{"state":"listen","importance":1}}`, want: "ok"},
		"null":            {reply: `{"ok":null}`, want: "ok"},
		"unknown fields":  {reply: `{"ok":1,"later":2}`, want: "ok"},
		"error":           {reply: `{"error":{"code":"unknown_op","message":"what?"}}`, want: "unknown_op"},
		"strange code":    {reply: `{"error":{"code":"oops","message":"what?"}}`, want: "internal"},
		"no code":         {reply: `{"error":{}}`, want: "internal"},
		"empty":           {reply: `{}`, want: "reply"},
		"both":            {reply: `{"ok":1,"error":{"code":"invalid","message":""}}`, want: "reply"},
		"garbage":         {reply: "\x00\x01 not JSON", want: "reply"},
		"not UTF-8":       {reply: "{\"ok\":\"\xff\"}", want: "reply"},
		"two values":      {reply: `{"ok":1}{"ok":2}`, want: "reply"},
		"array":           {reply: `[]`, want: "reply"},
		"nothing written": {code: i32(0), want: "reply"},
		"wrote nothing":   {code: code(call(fnWrite, 0, 0), i32(0)), want: "reply"},
		"returned 7":      {code: code(call(fnWrite, atReply, int32(len(tinyReply))), i32(7)), want: "reply"},
		"returned -1":     {code: code(call(fnWrite, atReply, int32(len(tinyReply))), i32(-1)), want: "reply"},
		"1 with ok":       {code: code(call(fnWrite, atReply, int32(len(tinyReply))), i32(1)), want: "reply"},
		"reply is a copy": {code: code(call(fnWrite, atReply, int32(len(tinyReply))), i32(atReply), i32('x'), opI32Store8, 0, 0, i32(0)), want: "ok"},
		"last write wins": {code: code(call(fnWrite, 0, 9), call(fnWrite, atReply, int32(len(tinyReply))), i32(0)), want: "ok"},
	} {
		t.Run(name, func(t *testing.T) {
			m := load(t, e, tinyFile(tiny{reply: c.reply, vote: c.code}))
			err := vote(t.Context(), m)
			got := "ok"
			if kind := faultKind(err); kind != "" {
				got = string(kind)
			} else if err != nil {
				got = string(abi.CodeOf(err))
			}
			if got != c.want {
				t.Errorf("got %s, want %s: %v", got, c.want, err)
			}
		})
	}
}

func TestErrorMessagesAreBounded(t *testing.T) {
	// 8 KiB of a character of three bytes, cut in the middle of one.
	reply := `{"error":{"code":"invalid","message":"` + strings.Repeat("あ", 700) + `"}}`
	m := load(t, newTestEngine(t, nil), tinyFile(tiny{reply: reply}))
	if err := vote(t.Context(), m); abi.CodeOf(err) != abi.CodeInvalid {
		t.Errorf("got %v", err)
	}
}

func TestHostCalls(t *testing.T) {
	host := &fakeHost{kv: make(map[string]string)}
	e := newTestEngine(t, func(c *Config) { c.Host = module.Grants(nil).Guard(host) })
	aya, ken := load(t, e, guestFile(t, "aya")), load(t, e, guestFile(t, "ken"))
	for _, c := range []struct {
		m         *Module
		ask, want string
	}{
		{aya, `{"op":"kv.set","data":{"key":"mood","value":"sunny"}}`, `{"ok":{}}`},
		{aya, `{"op":"kv.get","data":{"key":"mood"}}`, `{"ok":{"found":true,"value":"sunny"}}`},
		{ken, `{"op":"kv.get","data":{"key":"mood"}}`, `{"ok":{"found":false}}`},
		{aya, `{"op":"launch_rockets"}`, `{"error":{"code":"unknown_op","message":"host_call: there is no op \"launch_rockets\""}}`},
		{aya, `{"op":"history.get"}`, `{"error":{"code":"unknown_op","message":"no host op \"history.get\""}}`},
		{aya, `{"op":"now"}`, `{"error":{"code":"internal","message":"internal error"}}`},
		{aya, `{"op":"random"}`, `{"error":{"code":"internal","message":"the host's answer cannot be written"}}`},
	} {
		if got := mustDo(t, c.m, "host", c.ask); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.ask, got, c.want)
		}
	}
	if got := mustDo(t, aya, "host", `{{`); !strings.Contains(got, `"code":"invalid"`) {
		t.Errorf("broken ask: %s", got)
	}
	if got := mustDo(t, aya, "host", `{"op":"`+strings.Repeat("x", abi.MaxReply)+`"}`); !strings.Contains(got, `"code":"too_large"`) {
		t.Errorf("long ask: %s", got)
	}
	want := module.Caller{Companion: "aya", Room: "main", Op: abi.OpVote, Engine: "wasm", Generation: 1}
	got := host.callers[0]
	if want.Call = got.Call; got != want || got.Call == "" {
		t.Errorf("caller %+v, want %+v", got, want)
	}
}

func TestHostCallsAreGranted(t *testing.T) {
	host := &fakeHost{hook: func(context.Context, string) (json.RawMessage, error) { return json.RawMessage(`"yes"`), nil }}
	e := newTestEngine(t, func(c *Config) {
		c.Host = module.Grants(func(id string) []string { return map[string][]string{"aya": {"test.x"}}[id] }).Guard(host)
	})
	aya, ken := load(t, e, guestFile(t, "aya")), load(t, e, guestFile(t, "ken"))
	if got := mustDo(t, aya, "host", `{"op":"test.x"}`); got != `{"ok":"yes"}` {
		t.Errorf("granted op: %s", got)
	}
	if got := mustDo(t, ken, "host", `{"op":"test.x"}`); !strings.Contains(got, "unknown_op") {
		t.Errorf("op not granted: %s", got)
	}
	if got := mustDo(t, ken, "host", `{"op":"model.generate"}`); got != `{"error":{"code":"denied","message":"host_call: \"model.generate\" is not granted to ken; to grant it, write under [module.ken] in the configuration: grant = [\"model.generate\"]"}}` {
		t.Errorf("op that somebody else may: %s", got)
	}
}

func TestNoHost(t *testing.T) {
	m := load(t, newTestEngine(t, nil), guestFile(t, "aya"))
	if got := mustDo(t, m, "host", `{"op":"kv.get"}`); !strings.Contains(got, "unknown_op") {
		t.Errorf("got %s", got)
	}
}

// A module that is refused in the end must not have changed anything.
func TestNoHostCallsBeforeLoaded(t *testing.T) {
	host := &fakeHost{kv: make(map[string]string)}
	ask := `{"op":"kv.set","data":{"key":"a","value":"b"}}`
	m := tiny{init: code(call(fnHostCall, atReply, int32(len(ask))), opDrop), reply: ask}
	load(t, newTestEngine(t, func(c *Config) { c.Host = host }), tinyFile(m))
	if len(host.callers) != 0 {
		t.Errorf("the host was asked %d times while the module loaded", len(host.callers))
	}
}

func TestConcurrentCallers(t *testing.T) {
	m := load(t, newTestEngine(t, nil), guestFile(t, "aya"))
	const callers, each = 8, 50
	seen := make([]map[int]bool, callers)
	var wg sync.WaitGroup
	for k := range callers {
		seen[k] = make(map[int]bool)
		wg.Go(func() {
			for range each {
				data, err := do(t.Context(), m, "count", "")
				n, _ := strconv.Atoi(string(data))
				if err != nil || seen[k][n] {
					t.Errorf("call: %v, count %d", err, n)
				}
				seen[k][n] = true
			}
		})
	}
	wg.Wait()
	all := make(map[int]bool)
	for _, s := range seen {
		for n := range s {
			all[n] = true
		}
	}
	if len(all) != callers*each { // every call saw a count of its own: none ran beside another
		t.Errorf("%d different counts from %d calls", len(all), callers*each)
	}
}

func TestWaitingCallerGivesUp(t *testing.T) {
	release := make(chan struct{})
	host := &fakeHost{hook: func(context.Context, string) (json.RawMessage, error) { <-release; return nil, nil }}
	m := load(t, newTestEngine(t, func(c *Config) {
		c.Host = host
	}), guestFile(t, "aya"))
	var wg sync.WaitGroup
	wg.Go(func() { mustDo(t, m, "host", `{"op":"test.wait"}`) })
	waitForCall(t, m)
	_, err := do(within(t, 20*time.Millisecond), m, "count", "")
	if !errors.Is(err, context.DeadlineExceeded) || faultKind(err) != "" || abi.CodeOf(err) != abi.CodeInternal {
		t.Errorf("got %v, want ctx's bare error", err)
	}
	close(release)
	wg.Wait()
	if got := mustDo(t, m, "count", ""); got != "3" { // describe, host, count
		t.Errorf("count %s, want 3: the instance was not kept", got)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := vote(ended, m); !errors.Is(err, context.Canceled) || faultKind(err) != "" {
		t.Errorf("call with an ended ctx: %v", err)
	}
}

func TestUnitsAndFuelBudget(t *testing.T) {
	m := load(t, newTestEngine(t, nil), guestFile(t, "aya"))
	before := m.units.Load()
	for range 50 {
		mustDo(t, m, "count", "")
	}
	if used := m.units.Load() - before; used < slice || used > 50*slice {
		t.Errorf("50 small calls used %d units", used)
	}
	const budget = 20_000_000
	tight := load(t, newTestEngine(t, func(c *Config) { c.FuelPerCall = budget }), guestFile(t, "aya"))
	before = tight.units.Load()
	start := time.Now()
	_, err := do(within(t, waittest.Long), tight, "loop", "")
	if faultKind(err) != module.FaultFuel {
		t.Fatalf("got %v, want a fuel fault", err)
	}
	t.Logf("a budget of %d units lasted %v", budget, time.Since(start))
	if used := tight.units.Load() - before; used < budget || used > budget+2*slice+5_000_000 { // and the next start's
		t.Errorf("used %d units of %d", used, budget)
	}
	mustDo(t, tight, "count", "")
}

func TestRequestThatCannotBeWritten(t *testing.T) {
	m := load(t, newTestEngine(t, nil), tinyFile(tiny{}))
	_, err := m.Call(t.Context(), abi.Request{Op: abi.OpVote, Data: json.RawMessage("{")})
	wantRefusal(t, err, abi.CodeInvalid, "request")
	if err := vote(t.Context(), m); err != nil {
		t.Errorf("next call: %v", err)
	}
}

// The suite that every engine passes.
func TestEngineSuite(t *testing.T) {
	const (
		voted   = `{"ok":{"state":"speak","importance":3}}`
		unknown = `{"error":{"code":"unknown_op","message":"what?"}}`
		opAt    = atRequest + int32(len(`{"v":1,"op":"`))
	)
	// guest does something when asked for a vote, and knows no other op.
	guest := func(vote []byte) []byte {
		return tiny{reply: voted + unknown, vote: code(
			i32(opAt), opI32Load8U, 0, 0, i32('v'), opI32Eq, opIf, void, vote, opReturn, opEnd,
			call(fnWrite, atReply+int32(len(voted)), int32(len(unknown))), i32(0))}.build()
	}
	scribe, err := echo()
	if err != nil {
		t.Fatal(err)
	}
	moduletest.Run(t, newTestEngine(t, nil), "aya.wasm", map[moduletest.Guest][]byte{
		moduletest.Scribe:        scribe,
		moduletest.Good:          guest(code(call(fnWrite, atReply, int32(len(voted))), i32(0))),
		moduletest.Hang:          guest(forever()),
		moduletest.Trap:          guest(code(opUnreachable)),
		moduletest.Exit:          guest(code(call(fnExit, 0), i32(0))),
		moduletest.Grow:          guest(forever(i32(1), opMemoryGrow, 0, i32(-1), opI32Eq, opIf, void, opUnreachable, opEnd)),
		moduletest.BadReply:      guest(code(call(fnWrite, atReply, 5), i32(0))),
		moduletest.HugeReply:     guest(code(call(fnWrite, 0, abi.MaxReply+1), i32(0))),
		moduletest.WrongABI:      tiny{describe: `{"ok":{"abi":"99","name":"Tiny","ops":["vote"]}}`}.build(),
		moduletest.HangsAtLoad:   tiny{init: forever()}.build(),
		moduletest.NotDescribing: tiny{noCall: true}.build(),
	})
}
