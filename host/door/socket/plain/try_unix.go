//go:build unix

package plain

import (
	"net"
	"syscall"
)

// trier gives what writes to a connection without waiting, nil where it is not the system's:
// TLS, or a pipe of a test.
func trier(conn net.Conn) func(p []byte) (int, error) {
	system, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := system.SyscallConn()
	if err != nil {
		return nil
	}
	var p []byte
	var n int
	var failed error
	once := func(fd uintptr) bool { // made once: one a write would be the only memory that a delivery takes
		for {
			if n, failed = syscall.Write(int(fd), p); failed != syscall.EINTR {
				return true
			}
		}
	}
	return func(frames []byte) (int, error) {
		p = frames
		err := raw.Write(once)
		p = nil
		switch {
		case err != nil:
			return 0, err
		case failed == syscall.EAGAIN:
			return 0, nil
		}
		return n, failed
	}
}
