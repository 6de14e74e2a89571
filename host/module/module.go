// Package module is the border to what makers write: what a loaded module and an
// engine promise, what a module may ask of the host, and a companion, which changes
// from one generation of its module to the next so that a running room never
// misses a call.
//
// It never runs guest code itself (engines do: host/module/wasm), it looks into no
// folder (host/module/folder does), and it knows no rooms: a module's lines are
// host/room's business.
package module

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/companiond/companiond/abi"
)

// Module is one loaded generation of a companion's behaviour. Its life:
//
//  1. an Engine loads it from a Source: compile, check imports and exports,
//     start an instance;
//  2. the engine calls describe and checks the answer, so that what Load
//     returns has already answered once;
//  3. Call runs ops, from many goroutines; an instance runs one at a time;
//  4. a call that does not end by the guest's own reply costs the instance: it
//     is dropped and the next call gets a new one from the same compiled code;
//  5. Close waits for running calls until its ctx ends, then ends them by force;
//  6. after Close, Call answers abi.CodeUnavailable.
type Module interface {
	// Describe gives what the module said of itself at load.
	Describe() abi.Description
	// Call asks one op. data is the "ok" part of the reply.
	//
	// # Errors
	//
	// An *abi.Error is the module's own answer and costs it nothing. A *Fault
	// says the instance was dropped. Any other error is ctx's, when the call
	// never started.
	Call(ctx context.Context, req abi.Request) (data json.RawMessage, err error)
	// Memory gives the bytes of guest memory in use now.
	Memory() int64
	// Close ends the module. It is safe to call once.
	Close(ctx context.Context) error
}

// Drafter is a module that may begin a line with the vote for it.
type Drafter interface {
	Module
	// Withdraw ends the line that was begun in a room, which nobody wants, and says
	// whether there was one.
	Withdraw(room string) bool
}

// Hider is a module that has secrets taken out of what it says in the log. Hide may be called at any time.
type Hider interface {
	Hide(secrets func(text string) string)
}

// Troubled is a module that may be in trouble for a while, though it is loaded: as one whose program does not start
// again. Trouble says why, "" where it is not; it may be asked at any time.
type Troubled interface{ Trouble() string }

// Engine loads sources of one kind. One that has something to give back when the
// daemon stops is a [Closer] too, and one that takes folders a [FolderEngine].
type Engine interface {
	// Name is the engine's name as doors show it: "wasm".
	Name() string
	// Match says whether the engine takes a file of this name, and gives the
	// module's name in it: "aya" for "aya.wasm". Where several engines take a
	// file, it is loaded by the one that leaves the shortest name, or else by the
	// first of them.
	Match(file string) (name string, ok bool)
	// Load makes a module of a source. Errors are *abi.Error whose message says
	// what is wrong with the source in words for its maker.
	Load(ctx context.Context, s Source) (Module, error)
}

// FolderEngine is an engine that takes some folders whole. All others are
// searched for one file that an engine takes.
type FolderEngine interface {
	Engine
	// MatchFolder says whether it takes a folder in which there are these files.
	MatchFolder(files []string) bool
}

// Yielder is an engine of files that others may be made of, as a file of WebAssembly is of TypeScript. Where there is a file of
// another engine for a module, that one is the module.
type Yielder interface {
	// Yields says whether files of an engine, by its name, may be made of its own. Where they are not, two files for a module are a
	// mistake, which is told.
	Yields(to string) bool
}

// Closer is an engine that holds something though no module is loaded. Close ends
// its modules too, and Load is refused from its start on.
type Closer interface {
	Close(ctx context.Context) error
}

// Forgetter is an engine that keeps what modules hold in memory. Forget has it keep nothing of it, and its modules begin anew:
// words were erased, and nobody knows in what of it they stand.
type Forgetter interface{ Forget() }

// Source is what an engine loads: a file, or a folder that it takes whole. It was
// read once, so that its bytes are those of Hash whatever becomes of the file
// meanwhile.
type Source struct {
	ID         string            // the companion's id, from the name of the file or folder
	Name       string            // as doors and logs show it: "aya.wasm", "aya/main.wasm"
	Path       string            // where it is, for an engine that runs it in its place
	Hash       string            // SHA-256 of Data, or of all Siblings, in hex
	Data       []byte            // of a file
	Siblings   map[string][]byte // of a folder: the files directly in it, by name
	Generation uint64            // the generation it will be, counted from 1
	// Progress hears what the load waits for, such as "being compiled", and "" when it goes
	// on; nil is nobody. Meanwhile it is not late.
	Progress func(what string)
}

// HostCalls answers what guests ask with host_call.
type HostCalls interface {
	// HostCall runs op for a companion. Its errors reach the guest as *abi.Error.
	HostCall(ctx context.Context, c Caller, op string, data json.RawMessage) (json.RawMessage, error)
}

// Caller says who asks with host_call, and from which call.
type Caller struct {
	Companion  string
	Room       string // room of the request being answered, may be empty
	Call       string // its id
	Op         string // its op
	Engine     string
	Generation uint64
}

// Fault says that a call cost the module its instance.
type Fault struct {
	Kind  FaultKind
	Cause error // for logs
}

// FaultKind says how it came to that.
type FaultKind string

// The ways in which a call can cost an instance. Only work is held against a guest, and
// never the clock: FaultTimeout says as little about it as a caller that gave up, for the
// machine may have been busy, or the guest waited in a host call. So it counts neither in
// the status nor towards quarantine, and an engine whose guests may hang measures what
// they do, to end them with FaultFuel. What that is:
//
//   - wasm: units of fuel, which its code burns, and which host functions charge for
//     their own work; and where the system tells it, processor time. See the engine's
//     Config.FuelPerCall. Time as such is none, and neither is a wait in a host call.
//   - prompt: nothing. A card does no work, and a model that fails, is slow or says
//     nonsense is an error of the call and costs no instance.
//   - an engine of processes: processor time of the process, which the system counts.
const (
	FaultTimeout FaultKind = "timeout" // the call ended before the guest did: by the clock, or given up
	FaultFuel    FaultKind = "fuel"    // did more work than one call may
	FaultTrap    FaultKind = "trap"    // unreachable, out of bounds, stack overflow, exit
	FaultReply   FaultKind = "reply"   // answered something that is no reply
)

// Error names the fault; the cause's first line is added for the maker.
func (f *Fault) Error() string { return fmt.Sprintf("module fault: %s: %v", f.Kind, f.Cause) }

// Unwrap gives the cause.
func (f *Fault) Unwrap() error { return f.Cause }
