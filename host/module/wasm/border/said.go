package border

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"unicode/utf16"

	"github.com/tetratelabs/wazero/api"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
)

// Reply takes the reply that a guest wrote, if it did, before it returned status from abi.Export.
// err says why it is none.
func Reply(status uint32, reply []byte, written bool) (data json.RawMessage, guestErr *abi.Error, err error) {
	switch {
	case status > 1:
		return nil, nil, fmt.Errorf("%s returned %d, which is neither 0 nor 1", abi.Export, int32(status))
	case !written:
		return nil, nil, fmt.Errorf("%s returned %d without a reply", abi.Export, status)
	}
	data, guestErr, err = module.ReadReply(reply)
	if err == nil && status == 1 && guestErr == nil {
		return nil, nil, fmt.Errorf(`%s returned 1, for an error, but replied "ok"`, abi.Export)
	}
	return data, guestErr, err
}

// AssemblyString reads at most so many bytes of an AssemblyScript string: UTF-16, its length in bytes
// in the four bytes before it.
func AssemblyString(mem api.Memory, ptr, most uint32) string {
	if ptr < 4 {
		return "?"
	}
	n, ok := mem.ReadUint32Le(ptr - 4)
	if !ok {
		return "?"
	}
	raw, ok := mem.Read(ptr, min(n, most)&^1)
	if !ok {
		return "?"
	}
	units := make([]uint16, len(raw)/2)
	for k := range units {
		units[k] = binary.LittleEndian.Uint16(raw[2*k:])
	}
	return string(utf16.Decode(units))
}
