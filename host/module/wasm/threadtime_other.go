//go:build !linux

package wasm

import "time"

// threadTime is not known here.
func threadTime() (t time.Duration, ok bool) { return 0, false }
