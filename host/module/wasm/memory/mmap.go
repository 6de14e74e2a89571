//go:build linux || darwin

package memory

import (
	"fmt"
	"syscall"
)

// reserve gives n bytes of zeroes that use no memory before they are touched.
func reserve(n uint64) ([]byte, error) {
	space, err := syscall.Mmap(-1, 0, int(n), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("reserve %d bytes of memory: %w", n, err)
	}
	return space, nil
}

// release gives back what reserve gave. Nothing can be done if it fails.
func release(space []byte) { _ = syscall.Munmap(space) }
