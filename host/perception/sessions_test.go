package perception_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
)

// open opens sessions of guests at an address, a tenth of a second apart, and gives their ids.
func (h *house) open(t *testing.T, address string, n int) (ids []string) {
	t.Helper()
	for range n {
		id, err := h.Open("nikoni", "", address)
		if err != nil {
			t.Fatalf("%s, after %d: %v", address, len(ids), err)
		}
		ids = append(ids, id)
		time.Sleep(time.Second / 10)
	}
	return ids
}

// use has guests come back to sessions, a tenth of a second apart.
func (h *house) use(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if _, err := h.Session(id, ""); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		time.Sleep(time.Second / 10)
	}
}

// gone gives those of some sessions of guests that are not there any more. It counts as use of the others.
func (h *house) gone(ids ...string) (all []string) {
	for _, id := range ids {
		if _, err := h.Session(id, ""); abi.CodeOf(err) == abi.CodeNotFound {
			all = append(all, id)
		}
	}
	return all
}

// TestOneGuestLocksNobodyOut: one who opened 1,024 sessions and came back to each now and then
// kept everybody out, token holders too. Its own go, and nobody else's.
func TestOneGuestLocksNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		flood := h.open(t, "a", 1024)
		h.use(t, flood...)
		mikas, err := h.Open("momo", "mika", "token mika")
		if err != nil {
			t.Fatal(err)
		}
		others := h.open(t, "b", 10)
		h.open(t, "a", 1100)
		for range 1100 {
			h.use(t, h.open(t, "a", 1)...)
		}
		if companion, err := h.Session(mikas, "mika"); companion != "momo" || err != nil {
			t.Errorf("%q %v", companion, err)
		}
		if got := h.gone(others...); len(got) > 0 {
			t.Errorf("of others' are gone: %v", got)
		}
		if got := h.gone(flood...); len(got) < 11 {
			t.Errorf("%d sessions of the guest are gone", len(got))
		}
	})
}

// TestWhichSessionGoes of one sharer: the oldest of those that nobody came back to, before one
// that was used and is quiet for a bit longer. A new one stays where others are quiet for long.
func TestWhichSessionGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		used := h.open(t, "a", 2)
		h.use(t, used[1], used[0])
		alone := h.open(t, "a", 1022)
		// Somebody else who tries a session does not use it.
		if _, err := h.Session(alone[0], "taro"); abi.CodeOf(err) != abi.CodeDenied {
			t.Error(err)
		}
		h.use(t, alone[1])
		h.open(t, "a", 2)
		if got, want := h.gone(alone[:4]...), []string{alone[0], alone[2]}; !slices.Equal(got, want) {
			t.Errorf("gone: %v, want %v", got, want)
		}
		h.use(t, alone[3:]...)
		time.Sleep(10 * time.Minute) // but for one all are quiet for as long
		h.use(t, used[0])
		fresh := h.open(t, "a", 5)
		if got := h.gone(append(fresh, used...)...); !slices.Equal(got, used[1:]) {
			t.Errorf("gone, where all are quiet: %v, want %v", got, used[1:])
		}
	})
}

// TestSessionsAreShared: one goes of the sharer that has the most, be it who asks; of several
// that have as many, of who asks.
func TestSessionsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		as := h.open(t, "a", 600)
		h.use(t, as...)
		bs := h.open(t, "b", 424)
		h.open(t, "b", 88) // which is half of all, then
		if got := h.gone(bs...); len(got) > 0 {
			t.Errorf("%d of b are gone, which had less", len(got))
		}
		if got := h.gone(as...); !slices.Equal(got, as[:88]) {
			t.Errorf("%d of a are gone", len(got))
		}
		h.open(t, "b", 88)
		if got := h.gone(as...); !slices.Equal(got, as[:88]) {
			t.Errorf("%d of a are gone, which had as many", len(got))
		}
		h.open(t, "c", 512)
		if left := len(as) - len(h.gone(as...)); left < 1024/3 || left > 1024/3+1 {
			t.Errorf("%d of a are left, where three share", left)
		}
	})
}
