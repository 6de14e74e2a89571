package js

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module/wasm/drive"
)

//go:embed prelude.js
var prelude string

// preludeName is the file of the prelude in what QuickJS says of places.
const preludeName = "<companiond>"

const (
	// stackSize is how deep QuickJS may call before it throws a RangeError. It has a megabyte; without a bound of its own it
	// runs out of it and is lost.
	stackSize = 256 << 10
	// spare is what QuickJS may not take of an instance's memory for values, so that it can say that there is no more.
	spare = 4 << 20
	// asModule has qjs_eval take a file for a module.
	asModule = 1
	// fulfilled is a state of a promise.
	fulfilled, rejected = 1, 2
)

// imports are what QuickJS imports besides WASI. None of it runs the maker's code.
func imports() []drive.Import {
	zero := func(_ drive.Driver, stack []uint64) { stack[0] = 0 }
	return []drive.Import{
		{Name: "host_call", Params: "iiiii", Results: "i", Run: func(d drive.Driver, stack []uint64) { d.(*vm).hostCall(stack) }},
		{Name: "host_interrupt", Results: "i", Run: func(d drive.Driver, stack []uint64) { d.(*vm).interrupt(stack) }},
		{Name: "host_get_timezone_offset", Params: "ii", Results: "i", Run: zero},
		{Name: "host_promise_rejection", Params: "iii", Run: func(d drive.Driver, stack []uint64) { d.(*vm).rejected(stack) }},
		{Name: "host_module_normalize", Params: "ii", Results: "i", Run: func(d drive.Driver, stack []uint64) { d.(*vm).normalize(stack) }},
		{Name: "host_module_load", Params: "ii", Results: "i", Run: func(d drive.Driver, stack []uint64) { d.(*vm).module(stack) }},
	}
}

// script is a maker's source.
type script struct {
	id    string
	main  string            // the name of the file that is run
	files map[string]string // by name
	limit int64             // of an instance's memory
	// resolve finds the file that base imports as name; "" is none. nil is resolve.
	resolve func(files map[string]string, base, name string) string
}

// vm drives one QuickJS. Values of it are handles, which it counts.
type vm struct {
	script script
	g      drive.Guest

	undefined, entry uint32            // the prelude's door
	length           uint32            // where lengths are written
	args             uint32            // where arguments are
	text, room       uint32            // a buffer for texts, and its size
	stopped          bool              // the instance was interrupted, and goes
	astray           map[uint32]string // why promises were rejected that nobody has asked for yet
}

var _ drive.Driver = (*vm)(nil)

// Start implements [drive.Driver].
func (v *vm) Start(g drive.Guest) error {
	v.g, v.astray = g, map[uint32]string{}
	if failed, err := g.Call("qjs_init"); err != nil || failed != 0 {
		return errors.Join(err, fmt.Errorf("qjs_init gives %d", failed))
	}
	for name, arg := range map[string]uint64{"qjs_set_memory_limit": uint64(v.script.limit - spare), "qjs_set_max_stack_size": stackSize, "qjs_set_module_loader": 1, "qjs_set_interrupt_handler": 1, "qjs_set_promise_rejection_handler": 1} {
		if _, err := g.Call(name, arg); err != nil {
			return err
		}
	}
	var err error
	if v.undefined, err = g.Call("qjs_get_undefined"); err == nil {
		v.length, err = v.alloc(4)
	}
	if err == nil {
		v.args, err = v.alloc(16)
	}
	if err == nil {
		err = v.startPrelude()
	}
	if err != nil {
		return err
	}
	g.Alike()
	return v.startModule()
}

// Resume implements [drive.Driver].
func (v *vm) Resume(g drive.Guest) { v.g = g }

// startPrelude runs the prelude, and keeps its door.
func (v *vm) startPrelude() error {
	maker, err := v.eval(prelude, preludeName, 0)
	if err != nil {
		return err
	}
	ops, err := json.Marshal(abi.Ops())
	if err != nil {
		return err
	}
	with := make([]uint32, 0, 4)
	for _, name := range []string{"ask", "log"} {
		at, err := v.put([]byte(name))
		if err != nil {
			return err
		}
		f, err := v.g.Call("qjs_new_host_function", uint64(at), uint64(len(name)), 0)
		if err != nil {
			return err
		}
		with = append(with, f)
	}
	id, err := v.string([]byte(v.script.id))
	if err != nil {
		return err
	}
	known, err := v.eval(string(ops), preludeName, 0)
	if err != nil {
		return err
	}
	v.entry, err = v.call(maker, append(with, id, known)...)
	return err
}

// startModule runs the maker's file.
func (v *vm) startModule() error {
	promise, err := v.eval(v.script.files[v.script.main], v.script.main, asModule)
	if err == nil {
		err = v.work()
	}
	if err != nil {
		return err
	}
	state, err := v.g.Call("qjs_promise_state", uint64(promise))
	if err != nil {
		return err
	}
	result, err := v.g.Call("qjs_promise_result", uint64(promise))
	switch {
	case err != nil:
		return err
	case state == rejected:
		return v.wrong(result)
	case state != fulfilled:
		return abi.Errorf(abi.CodeInvalid, "%s: it waits for a promise that nothing settles", v.script.main)
	}
	_, err = v.ask("module", result)
	return err
}

// Call implements [drive.Driver].
func (v *vm) Call(request []byte) (reply []byte, err error) {
	what, err := v.string(request)
	if err != nil {
		return nil, err
	}
	reply, err = v.ask("call", what)
	if err != nil {
		return nil, err
	}
	if err := v.work(); err != nil {
		return nil, err
	}
	for _, why := range v.astray {
		v.g.Log(abi.LevelWarn, "a promise was rejected, and nobody has asked for it (await is missing?): "+why)
	}
	clear(v.astray)
	if len(reply) == 0 {
		return v.ask("reply", v.undefined)
	}
	return reply, nil
}

// mostAstray is how many of those promises are told of in a call.
const mostAstray = 8

// rejected notes that a promise was rejected: promise, reason, and whether somebody has asked for it by now.
func (v *vm) rejected(stack []uint64) {
	promise, reason, asked := stack[0], stack[1], uint32(stack[2]) != 0
	which := must(v.g.Call("qjs_get_value_ptr", promise))
	if asked {
		delete(v.astray, which)
	} else if len(v.astray) < mostAstray {
		v.astray[which] = string(must(v.read(uint32(reason))))
	}
	for _, value := range []uint64{promise, reason} {
		must(v.g.Call("qjs_free_value", value))
	}
}

// work runs what promises wait for, until there is nothing of it.
func (v *vm) work() error {
	for {
		waits, err := v.g.Call("qjs_is_job_pending")
		if err != nil || waits == 0 {
			return err
		}
		done, err := v.g.Call("qjs_execute_pending_job")
		if err != nil {
			return err
		}
		if int32(done) < 0 { // it was interrupted; what else is thrown there settles promises
			e, err := v.g.Call("qjs_get_exception")
			if err != nil {
				return err
			}
			return v.wrong(e)
		}
	}
}

// ask asks the prelude's door; it frees value, unless it is undefined.
func (v *vm) ask(what string, value uint32) ([]byte, error) {
	name, err := v.string([]byte(what))
	if err != nil {
		return nil, err
	}
	answer, err := v.call(v.entry, name, value)
	if err != nil {
		return nil, err
	}
	b, err := v.read(answer)
	for _, used := range []uint32{answer, name, value} {
		if used != v.undefined && err == nil {
			_, err = v.g.Call("qjs_free_value", uint64(used))
		}
	}
	return b, err
}

// call calls a function of JavaScript's.
func (v *vm) call(f uint32, args ...uint32) (uint32, error) {
	var at []byte
	for _, a := range args {
		at = append(at, byte(a), byte(a>>8), byte(a>>16), byte(a>>24))
	}
	if !v.g.Write(v.args, at) {
		return 0, errMemory
	}
	result, err := v.g.Call("qjs_call", uint64(f), uint64(v.undefined), uint64(len(args)), uint64(v.args))
	if err != nil {
		return 0, err
	}
	return v.checked(result)
}

// checked gives a value, or the exception that it stands for.
func (v *vm) checked(value uint32) (uint32, error) {
	thrown, err := v.g.Call("qjs_is_exception", uint64(value))
	if err != nil {
		return 0, err
	}
	if thrown == 0 {
		return value, nil
	}
	e, err := v.g.Call("qjs_get_exception")
	if err != nil {
		return 0, err
	}
	return 0, v.wrong(e)
}

// wrong makes an error of what JavaScript threw where no call of the maker's functions catches it.
func (v *vm) wrong(e uint32) error {
	if v.entry == 0 {
		if v.stopped { // a busy machine is nobody's fault
			return v.g.Stopped("it has just been started")
		}
		return errors.New("the prelude does not run")
	}
	entry := v.entry
	v.entry = 0 // should it throw, too
	defer func() { v.entry = entry }()
	name, err := v.string([]byte("error"))
	if err != nil {
		return err
	}
	said, err := v.call(entry, name, e)
	if err != nil {
		return err
	}
	b, err := v.read(said)
	if err != nil {
		return err
	}
	if v.stopped {
		return v.g.Stopped(string(b))
	}
	if strings.HasPrefix(string(b), "InternalError: out of memory") {
		return errors.New(string(b))
	}
	return abi.Errorf(abi.CodeInvalid, "%s", b)
}

var errMemory = errors.New("out of memory")

// eval runs a text, and gives its value.
func (v *vm) eval(text, file string, how uint64) (uint32, error) {
	code, err := v.alloc(len(text) + 1)
	if err != nil {
		return 0, err
	}
	name, err := v.alloc(len(file) + 1)
	if err != nil {
		return 0, err
	}
	if !v.g.Write(code, append([]byte(text), 0)) || !v.g.Write(name, append([]byte(file), 0)) {
		return 0, errMemory
	}
	value, err := v.g.Call("qjs_eval", uint64(code), uint64(len(text)), uint64(name), how)
	for _, at := range []uint32{code, name} {
		if err == nil {
			_, err = v.g.Call("wasm_free", uint64(at))
		}
	}
	if err != nil {
		return 0, err
	}
	return v.checked(value)
}

// alloc takes memory that is given back with wasm_free.
func (v *vm) alloc(n int) (uint32, error) {
	at, err := v.g.Call("wasm_malloc", uint64(n))
	if err == nil && at == 0 {
		err = errMemory
	}
	return at, err
}

// put writes a text where the next one is written, too.
func (v *vm) put(text []byte) (at uint32, err error) {
	if n := uint32(len(text)); n > v.room || v.text == 0 {
		if v.text != 0 {
			if _, err := v.g.Call("wasm_free", uint64(v.text)); err != nil {
				return 0, err
			}
		}
		v.text, v.room = 0, 0
		if v.text, err = v.alloc(int(2*n + 64)); err != nil {
			return 0, err
		}
		v.room = 2*n + 64
	}
	if !v.g.Write(v.text, text) {
		return 0, errMemory
	}
	return v.text, nil
}

// string makes a value of a text.
func (v *vm) string(text []byte) (uint32, error) {
	at, err := v.put(text)
	if err != nil {
		return 0, err
	}
	return v.g.Call("qjs_new_string", uint64(at), uint64(len(text)))
}

// read gives a value as a text.
func (v *vm) read(value uint32) ([]byte, error) {
	at, err := v.g.Call("qjs_get_string_len", uint64(value), uint64(v.length))
	if err != nil {
		return nil, err
	}
	if at == 0 {
		return nil, errMemory
	}
	n := v.g.Read(v.length, 4)
	if n == nil {
		return nil, errMemory
	}
	text := v.g.Read(at, uint32(n[0])|uint32(n[1])<<8|uint32(n[2])<<16|uint32(n[3])<<24)
	_, err = v.g.Call("qjs_free_cstring", uint64(at))
	return text, err
}

// interrupt ends code that hangs while there is time to say where it does: the maker's code cannot catch that. What it does not
// end, fuel ends.
func (v *vm) interrupt(stack []uint64) {
	stack[0] = 0
	if v.g.Nearly() && !v.stopped {
		v.stopped = true
		stack[0] = 1
	}
}

// hostCall answers the two functions that the prelude has: name, length of name, this, number of arguments, arguments.
func (v *vm) hostCall(stack []uint64) {
	name, argc, argv := v.g.Read(uint32(stack[0]), uint32(stack[1])), uint32(stack[3]), uint32(stack[4])
	var args [2][]byte
	for i := range min(argc, 2) {
		if at := v.g.Read(argv+4*i, 4); at != nil {
			args[i] = must(v.read(uint32(at[0]) | uint32(at[1])<<8 | uint32(at[2])<<16 | uint32(at[3])<<24))
		}
	}
	switch string(name) {
	case "ask":
		stack[0] = uint64(must(v.string(v.g.Ask(args[0]))))
	default:
		level, _ := strconv.Atoi(string(args[0])) // the prelude's
		v.g.Log(abi.Level(level), string(args[1]))
		stack[0] = uint64(must(v.g.Call("qjs_dup_value", uint64(v.undefined))))
	}
}

// must ends the guest in the middle of what it calls, as the engine's own functions do.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
