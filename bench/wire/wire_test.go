package wire

import (
	"strings"
	"testing"
)

// Whatever a name stands for, only this machine is called.
func TestDialsLoopbackOnly(t *testing.T) {
	_, err := (&Conn{Host: "192.0.2.1:1"}).Ask(t.Context(), nil, nil, nil)
	if err == nil || !strings.Contains(err.Error(), "not a loopback address") {
		t.Errorf("%v", err)
	}
}
