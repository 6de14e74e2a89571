package wasm

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/companiond/companiond/abi"

	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/module/wasm/sig"
	"github.com/companiond/companiond/host/module/wasm/wasi"
)

// Our table of WASI must have the functions and types that everybody's has.
func TestWASIIsComplete(t *testing.T) {
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer rt.Close(ctx)
	b := rt.NewHostModuleBuilder(wasi_snapshot_preview1.ModuleName)
	wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(b)
	theirs, err := b.Compile(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if wasi.Name != wasi_snapshot_preview1.ModuleName {
		t.Errorf("module name %q", wasi.Name)
	}
	ours := make(map[string]string)
	for _, f := range wasiFuncs() {
		if _, twice := ours[f.name]; twice {
			t.Errorf("%s is there twice", f.name)
		}
		ours[f.name] = sig.Text(sig.Types(f.params), sig.Types(f.results))
	}
	for name, def := range theirs.ExportedFunctions() {
		if got, want := ours[name], sig.Of(def); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
		delete(ours, name)
	}
	for name := range ours {
		t.Errorf("%s is no function of WASI", name)
	}
}

func TestSleepCostsNothing(t *testing.T) {
	m := load(t, newTestEngine(t, nil), guestFile(t, "aya"))
	for _, d := range []string{"2s", "1h", "87600h"} {
		retry(t, func(b *timing) {
			start := time.Now()
			slept, err := strconv.ParseFloat(mustDo(t, m, "sleep", d), 64)
			if err != nil {
				t.Fatal(err)
			}
			want, _ := time.ParseDuration(d)
			if slept < want.Seconds() {
				t.Errorf("the guest slept %s and saw %.3f s pass", d, slept)
			}
			took := time.Since(start)
			b.atMost("a sleep of "+d+" took", took, time.Second)
			// The time that passes for the guest is what it slept and what really passed.
			if slept > want.Seconds()+took.Seconds()+0.001 {
				t.Errorf("the guest slept %s and saw %.3f s pass within %v", d, slept, took)
			}
		})
	}
}

func TestNoFilesNoEnvironment(t *testing.T) {
	t.Setenv("COMPANIOND_SECRET", "hidden")
	m := load(t, newTestEngine(t, nil), guestFile(t, "aya"))
	for _, path := range []string{"/etc/passwd", ".", "/", "../../../etc/passwd", "/dev/stdin"} {
		if data, err := do(t.Context(), m, "file", path); err == nil {
			t.Errorf("the guest read %s: %s", path, data)
		}
	}
	if got := mustDo(t, m, "env", ""); got != "[]" && got != "null" {
		t.Errorf("environment and arguments are %s", got)
	}
	if got := mustDo(t, m, "count", ""); got != "8" {
		t.Errorf("count %s, want 8: trying costs nothing", got)
	}
}

func TestOutputIsLogged(t *testing.T) {
	log := &logtest.Log{}
	m := load(t, newTestEngine(t, func(c *Config) { c.Log = log.Logger() }), guestFile(t, "aya"))
	mustDo(t, m, "say", "やあ")
	for _, want := range []string{
		`companion=aya generation=1 stream=stdout line="to stdout: やあ"`,
		`stream=stderr line="to stderr: やあ"`,
		`stream=stdout line="no end"`,
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %s:\n%s", want, log.String())
		}
	}
}

// errnoOf lets a tiny guest call a WASI function with i32 parameters, and gives
// the errno it saw: the guest says it in its reply, as two digits.
func errnoOf(t *testing.T, e *Engine, name string, params int, args ...int32) int {
	t.Helper()
	const (
		reply      = `{"ok":"00"}`
		tens, ones = atReply + 7, atReply + 8
		fn         = fnCall // the first import of tiny.imports comes right after its own
		digit      = '0'
		remU, add  = 0x70, 0x6a
	)
	typ := map[int]byte{0: typ_I, 1: typI_I, 2: typII_I, 4: typIIII_I}[params]
	vote := code(
		i32(tens), call(fn, args...), i32(10), opI32DivU, i32(digit), add, opI32Store8, 0, 0,
		i32(ones), call(fn, args...), i32(10), remU, i32(digit), add, opI32Store8, 0, 0,
		call(fnWrite, atReply, int32(len(reply))), i32(0))
	m := load(t, e, tinyFile(tiny{vote: vote, reply: reply, imports: [][]byte{importOf(wasi.Name, name, typ)}}))
	defer m.Close(context.Background())
	data, err := m.Call(t.Context(), abi.Request{Op: abi.OpVote})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	n, err := strconv.Atoi(strings.Trim(string(data), `"`))
	if err != nil {
		t.Fatalf("%s answered %s", name, data)
	}
	return n
}

func TestErrnos(t *testing.T) {
	e := newTestEngine(t, nil)
	for _, c := range []struct {
		name string
		want int
		args []int32
	}{
		{"args_sizes_get", wasi.OK, []int32{8, 12}},
		{"args_sizes_get", wasi.Fault, []int32{8, -1}},
		{"environ_get", wasi.OK, []int32{0, 0}},
		{"clock_res_get", wasi.OK, []int32{1, 8}},
		{"clock_res_get", wasi.Inval, []int32{2, 8}},
		{"clock_res_get", wasi.Fault, []int32{0, -4}},
		{"fd_close", wasi.OK, []int32{1}},
		{"fd_close", wasi.Badf, []int32{3}},
		{"fd_fdstat_get", wasi.OK, []int32{0, 64}},
		{"fd_fdstat_get", wasi.Fault, []int32{1, pageSize - 8}},
		{"fd_fdstat_get", wasi.Badf, []int32{-1, 64}},
		{"fd_filestat_get", wasi.OK, []int32{2, 64}},
		{"fd_prestat_get", wasi.Badf, []int32{3, 64}},
		{"fd_read", wasi.OK, []int32{0, 64, 1, 128}},
		{"fd_read", wasi.Badf, []int32{1, 64, 1, 128}},
		{"fd_write", wasi.Badf, []int32{0, 64, 1, 128}},
		{"fd_write", wasi.OK, []int32{1, 2048, 0, 128}},
		{"fd_write", wasi.Inval, []int32{1, 2048, wasi.MaxVectors + 1, 128}},
		{"fd_write", wasi.Fault, []int32{1, -8, 1, 128}},
		{"fd_write", wasi.Fault, []int32{1, 2048, 0, -2}},
		{"poll_oneoff", wasi.Inval, []int32{0, 0, 0, 0}},
		{"poll_oneoff", wasi.Inval, []int32{0, 0, wasi.MaxVectors + 1, 0}},
		{"poll_oneoff", wasi.Fault, []int32{-1, 0, 1, 0}},
		{"proc_raise", wasi.Nosys, []int32{9}},
		{"fd_tell", wasi.Spipe, []int32{1, 64}},
		{"random_get", wasi.OK, []int32{2048, 100}},
		{"random_get", wasi.Fault, []int32{2048, pageSize}},
		{"sched_yield", wasi.OK, nil},
		{"sock_shutdown", wasi.Badf, []int32{3, 0}},
	} {
		if got := errnoOf(t, e, c.name, len(c.args), c.args...); got != c.want {
			t.Errorf("%s%v gave errno %d, want %d", c.name, c.args, got, c.want)
		}
	}
}
