//go:build unix

package service

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestNumberOfSockets: a number of sockets that is none is refused before one of them is looked at, and what is meant for another
// process is nobody's here.
func TestNumberOfSockets(t *testing.T) {
	for fds, wrong := range map[string]bool{"999999999": true, "65": true, "-1": true, "many": true, "9223372036854775808": true, "0": false, "": false} {
		for pid, here := range map[string]bool{strconv.Itoa(os.Getpid()): true, strconv.Itoa(os.Getppid()): false, "": false, "0": false} {
			t.Setenv("LISTEN_PID", pid)
			t.Setenv("LISTEN_FDS", fds)
			got, err := Sockets()
			if len(got) != 0 || (err != nil) != (wrong && here) || err != nil && !strings.Contains(err.Error(), `LISTEN_FDS is "`+fds+`"`) {
				t.Errorf("%q sockets for %q: %v, %v", fds, pid, got, err)
			}
		}
	}
}
