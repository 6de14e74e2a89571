//go:build wasip1

// Command guest is the companion the tests load: it votes properly, and does
// anything bad it is asked to do. Ask with op "vote" and data {"do": "...", "arg": "..."}.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
	"unsafe"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module/wasm/testdata/vote"
)

//go:wasmimport companion_v1 read
func hostRead(dst unsafe.Pointer)

//go:wasmimport companion_v1 write
func hostWrite(src unsafe.Pointer, n uint32)

//go:wasmimport companion_v1 host_call
func hostCall(src unsafe.Pointer, n uint32) uint32

//go:wasmimport companion_v1 log
func hostLog(level uint32, src unsafe.Pointer, n uint32)

func pointer(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

// calls counts what this instance answered, so that tests see a new instance.
var calls int

// hoard keeps what was allocated.
var hoard [][]byte

//go:wasmexport companion_v1_call
func call(n uint32) uint32 {
	request := make([]byte, n)
	hostRead(pointer(request))
	reply := answer(request)
	hostWrite(pointer(reply), uint32(len(reply)))
	return 0
}

func answer(request []byte) []byte {
	var req struct {
		Op   string
		Self string
		Data struct{ Do, Arg string }
	}
	if err := json.Unmarshal(request, &req); err != nil {
		return reply(nil, err)
	}
	calls++
	if req.Op == abi.OpDescribe {
		return reply(abi.Description{ABI: "1", Name: "Guest " + req.Self, Ops: []string{"describe", "vote"}}, nil)
	}
	if req.Data.Do == "" {
		return vote.Answer(request)
	}
	value, err := do(req.Data.Do, req.Data.Arg)
	return reply(value, err)
}

func reply(value any, err error) []byte {
	if err != nil {
		b, _ := json.Marshal(abi.Reply{Error: &abi.Error{Code: abi.CodeInvalid, Message: err.Error()}})
		return b
	}
	data, _ := json.Marshal(value)
	b, _ := json.Marshal(abi.Reply{OK: data})
	return b
}

func do(what, arg string) (any, error) {
	switch what {
	case "count":
		return calls, nil
	case "fail":
		return nil, fmt.Errorf("will not: %s", arg)
	case "loop":
		for {
		}
	case "recurse":
		return recurse(1), nil
	case "hoard":
		for {
			b := make([]byte, 1<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			hoard = append(hoard, b)
		}
	case "exit":
		os.Exit(3)
	case "panic":
		panic("boom " + arg)
	case "deadlock":
		select {}
	case "big":
		return strings.Repeat("x", 2<<20), nil
	case "stdout":
		for {
			fmt.Println("a line that is written for ever")
		}
	case "log":
		line := []byte("a line that is logged for ever")
		for {
			hostLog(1, pointer(line), uint32(len(line)))
		}
	}
	return doQuietly(what, arg)
}

// doQuietly has what is not hostile, or tries in vain.
func doQuietly(what, arg string) (any, error) {
	switch what {
	case "say":
		fmt.Println("to stdout: " + arg)
		fmt.Fprintln(os.Stderr, "to stderr: "+arg)
		fmt.Print("no end")
		return nil, nil
	case "sleep":
		d, err := time.ParseDuration(arg)
		if err != nil {
			return nil, err
		}
		start := time.Now()
		time.Sleep(d)
		return time.Since(start).Seconds(), nil
	case "file":
		b, err := os.ReadFile(arg)
		return string(b), err
	case "env":
		return append(os.Environ(), os.Args...), nil
	case "work":
		n, start := 0, time.Now()
		for time.Since(start) < 30*time.Millisecond {
			n++
		}
		return n, nil
	case "host":
		return host(arg)
	}
	return nil, fmt.Errorf("cannot do %q", what)
}

func host(ask string) (any, error) {
	b := []byte(ask)
	n := hostCall(pointer(b), uint32(len(b)))
	answer := make([]byte, n)
	hostRead(pointer(answer))
	return json.RawMessage(answer), nil
}

//go:noinline
func recurse(n int) int {
	if n == 0 {
		return 0
	}
	return recurse(n+1) + n
}

func main() {}
