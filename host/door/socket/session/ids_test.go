package session_test

import (
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/door/socket/session"
)

// TestIDs stay as they are in journals: a message that is sent again is found by its id.
func TestIDs(t *testing.T) {
	alias := session.Alias([]byte("key"), "taro")
	if alias != "4779a8d8" {
		t.Errorf("the alias is %s", alias)
	}
	long := strings.Repeat("x", 51)
	for own, want := range map[string]string{"msg_a": "fh.4779a8d8.msg_a", "a b": "fhh.4779a8d8.c8687a08aa5d6ed2044328fa6a697ab8", long[1:]: "fh.4779a8d8." + long[1:]} {
		if got := session.MessageID("fh", alias, own); got != want {
			t.Errorf("%q: %s, want %s", own, got, want)
		}
	}
	if got := session.MessageID("fh", alias, long); !strings.HasPrefix(got, "fhh.") || len(got) > 64 {
		t.Errorf("of a long one: %s", got)
	}
}

func TestSooner(t *testing.T) {
	var none time.Time
	a, b := time.Unix(1, 0), time.Unix(2, 0)
	for _, c := range [][3]time.Time{{none, none, none}, {a, none, a}, {none, b, b}, {a, b, a}, {b, a, a}} {
		if got := session.Sooner(c[0], c[1]); !got.Equal(c[2]) {
			t.Errorf("%v and %v: %v", c[0], c[1], got)
		}
	}
}
