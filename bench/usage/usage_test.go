package usage

import (
	"os"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("there is no /proc here")
	}
	before, err := Of(os.Getpid())
	if err != nil || before.Memory < 1 {
		t.Fatalf("%+v %v", before, err)
	}
	held := make([]byte, 64<<20)
	for i := range held {
		held[i] = byte(i)
	}
	after, err := Of(os.Getpid())
	if more := after.Memory - before.Memory; err != nil || more < 32 || more > 256 || after.CPU < before.CPU {
		t.Errorf("%d bytes more are %v MiB, %+v after %+v, %v", len(held), more, after, before, err)
	}
}

func TestOfNobody(t *testing.T) {
	if u, err := Of(0); err != nil || u != (Usage{}) {
		t.Errorf("%+v %v", u, err)
	}
	if _, err := Of(999999999); err == nil || !strings.Contains(err.Error(), "-pid: ") {
		t.Errorf("%v", err)
	}
}
