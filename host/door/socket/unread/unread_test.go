package unread_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/companiond/companiond/host/door/socket/unread"
)

// What the daemon says of an entry fits into a close frame, and is understood.
func TestReason(t *testing.T) {
	const most = 1<<53 - 1
	for _, s := range []unread.Spoiled{1, most} {
		if got, ok := unread.In(s.Error()); !ok || got != s || len(s.Error()) > 123 {
			t.Errorf("%q is read as %d, %v", s, got, ok)
		}
	}
	for _, other := range []string{"", "internal error", "entry x cannot be read", "the journal is damaged"} {
		if got, ok := unread.In(other); ok {
			t.Errorf("%q is read as %d", other, got)
		}
	}
}

func TestPlace(t *testing.T) {
	var told []string
	p := unread.Place{Room: "main", Seen: 2, Told: func(first, last uint64, why error) { told = append(told, fmt.Sprintf("%d-%d %v", first, last, why)) }}
	bad := errors.New("bad")
	if err := errors.Join(p.Reach(3), p.Pass(3, bad), p.Reach(6), p.Pass(9, bad)); err != nil || p.Seen != 9 {
		t.Errorf("%v, seen %d", err, p.Seen)
	}
	const gone = " the journal has it no more"
	if want := []string{"3-3 bad", "4-5" + gone, "6-8" + gone, "9-9 bad"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	p.Told = nil
	if err := p.Pass(10, bad); !errors.Is(err, bad) || err.Error() != "entry 10 of room main cannot be read: bad" || p.Seen != 9 {
		t.Errorf("%v, seen %d", err, p.Seen)
	}
}
