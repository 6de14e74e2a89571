//go:build wasip1

package companion

import (
	"unsafe"

	"github.com/companiond/companiond/abi"
)

//go:wasmimport companion_v1 read
func hostRead(dst unsafe.Pointer)

//go:wasmimport companion_v1 write
func hostWrite(src unsafe.Pointer, n uint32)

//go:wasmimport companion_v1 host_call
func hostCall(src unsafe.Pointer, n uint32) uint32

//go:wasmimport companion_v1 log
func hostLog(level int32, src unsafe.Pointer, n uint32)

// call is the module's one export: n bytes of request are pending.
//
//go:wasmexport companion_v1_call
func call(n uint32) uint32 {
	reply, ok := Serve(pending(n), Carrier{Ask: ask, Log: writeLog})
	hostWrite(unsafe.Pointer(unsafe.SliceData(reply)), uint32(len(reply)))
	if ok {
		return 0
	}
	return 1
}

// ask is the Carrier's.
func ask(request []byte) []byte {
	return pending(hostCall(unsafe.Pointer(unsafe.SliceData(request)), uint32(len(request))))
}

// pending fetches the n bytes the host holds for this module.
func pending(n uint32) []byte {
	b := make([]byte, n)
	if n > 0 {
		hostRead(unsafe.Pointer(unsafe.SliceData(b)))
	}
	return b
}

// writeLog writes to the daemon's log.
func writeLog(level abi.Level, text string) {
	hostLog(int32(level), unsafe.Pointer(unsafe.StringData(text)), uint32(len(text)))
}
