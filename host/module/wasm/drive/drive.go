// Package drive is what the engine of WebAssembly and those promise each other who ask guests in another way than ABI.md's: a
// guest that runs sources, as QuickJS does, or one that was built for another host.
//
// It does nothing itself.
package drive

import (
	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
)

// Interpreter is a file of WebAssembly that runs sources which are none, such as one of JavaScript. It is the daemon's own,
// and may import functions of "env" that others may not; its instances are bounded as all are.
type Interpreter struct {
	Name    string // of the engine, for what it runs
	Image   []byte
	Imports []Import
	// Globals are the exported globals of type i32 in which, beside its memory, all stands that an instance has of its own while it is
	// not called. Such instances are put to sleep. nil: there is more, and they are not.
	Globals []string
}

// Dialect is another border than that of ABI.md: files that import from one of its modules are asked by a driver. Its functions
// are by the modules that they are imported from.
type Dialect struct {
	Imports map[string][]Import
	Drive   func(s module.Source) Driver
}

// Import is a function that a driver answers; an interpreter imports it from "env". Its types are a letter each, i for i32 and l
// for i64. What it panics with ends the guest.
type Import struct {
	Name, Params, Results string
	Run                   func(d Driver, stack []uint64)
}

// Driver speaks with one instance: of an interpreter, which has a source, or of a file with a Dialect.
type Driver interface {
	// Start readies the instance. An [*abi.Error] says what is wrong with the source; others are the guest's.
	Start(g Guest) error
	// Call hands it a request, and gives its reply. Errors are the guest's, which loses its instance.
	Call(request []byte) (reply []byte, err error)
	// Resume has it go on with another instance, which has all that the one before had; with nil, with none until then.
	Resume(g Guest)
}

// Guest is an instance as its driver sees it, while it starts or is called.
type Guest interface {
	// Call calls an export, and gives its result, 0 where it has none.
	Call(name string, args ...uint64) (uint32, error)
	// Exports gives the types of the functions that it exports, by name.
	Exports() map[string]string
	// Read copies n bytes of memory, nil where there are none.
	Read(at, n uint32) []byte
	// Write writes to memory, and says whether there was room.
	Write(at uint32, b []byte) bool
	// Copied counts that so many bytes were copied for it beside its memory.
	Copied(n int)
	// Alike says that about the same stands in memory now in all instances: of one that sleeps is kept what differs from that.
	Alike()
	// Ask asks the host, as host_call does.
	Ask(ask []byte) (answer []byte)
	// Log writes a line to the daemon's log.
	Log(level abi.Level, line string)
	// Nearly says whether the guest has nearly done what it may, or its time is nearly over.
	Nearly() bool
	// Stopped is the error of a guest that was stopped because of that, with where it was.
	Stopped(where string) error
}
