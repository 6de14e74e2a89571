package perception_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/perception"
)

// fill opens as many sessions as there may be and gives their ids.
func (h *house) fill(t *testing.T) (ids []string) {
	t.Helper()
	for {
		id, err := h.Open("nikoni", "")
		if err != nil {
			return ids
		}
		ids = append(ids, id)
	}
}

// refused gives how long somebody is told to wait who opens a session; 0 when it was
// opened.
func (h *house) refused(t *testing.T) time.Duration {
	t.Helper()
	_, err := h.Open("nikoni", "")
	if err == nil {
		return 0
	}
	var full *perception.Full
	if !errors.As(err, &full) || abi.CodeOf(err) != abi.CodeExhausted {
		t.Fatalf("%v", err)
	}
	return full.After
}

// One guest who opened 1,024 sessions and used none kept everybody out for ten
// minutes. It is half a minute, which is told, and those who use theirs keep them.
func TestSessionsLeftAloneGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		mine, err := h.Open("momo", "mika")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Session(mine, "mika"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		first := h.fill(t)
		if after := h.refused(t); len(first) != 1023 || after != 30*time.Second {
			t.Errorf("%d sessions, then wait for %v", len(first), after)
		}
		time.Sleep(28*time.Second + 500*time.Millisecond)
		if after := h.refused(t); after != 2*time.Second { // told too early nobody would get in
			t.Errorf("wait for %v", after)
		}
		// Somebody else who tries a session does not use it.
		if _, err := h.Session(first[0], "taro"); abi.CodeOf(err) != abi.CodeDenied {
			t.Error(err)
		}
		if _, err := h.Session(first[1], ""); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Second)
		for i := range 1022 {
			if after := h.refused(t); after != 0 {
				t.Fatalf("%d: wait for %v", i, after)
			}
		}
		if after := h.refused(t); after != 30*time.Second { // all are new, or used
			t.Errorf("wait for %v", after)
		}
		for id, want := range map[string]abi.Code{first[0]: abi.CodeNotFound, first[1]: "", first[1022]: abi.CodeNotFound} {
			if _, err := h.Session(id, ""); abi.CodeOf(err) != want {
				t.Errorf("%s: %v", id, err)
			}
		}
		if companion, err := h.Session(mine, "mika"); companion != "momo" || err != nil {
			t.Errorf("%q %v", companion, err)
		}
	})
}

// The oldest of those left alone goes first, and before one that was used and is
// quiet for longer; that goes when there is no other.
func TestWhichSessionGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		open := func() string {
			id, err := h.Open("nikoni", "")
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
		quiet, quieter := open(), open()
		for _, id := range []string{quieter, quiet} {
			time.Sleep(time.Second)
			if _, err := h.Session(id, ""); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(20 * time.Minute)
		oldest := open()
		time.Sleep(time.Second)
		rest := h.fill(t) // of which the last two took the places of quieter and quiet
		for id, want := range map[string]abi.Code{quieter: abi.CodeNotFound, quiet: abi.CodeNotFound, oldest: ""} {
			if _, err := h.Session(id, ""); abi.CodeOf(err) != want {
				t.Errorf("%s: %v", id, err)
			}
		}
		if len(rest) != 1023 {
			t.Errorf("%d", len(rest))
		}
		time.Sleep(time.Minute) // oldest was used a minute ago
		for _, id := range rest[2:] {
			if _, err := h.Session(id, ""); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Hour) // now all are quiet; two were left alone
		open()
		open()
		for id, want := range map[string]abi.Code{rest[0]: abi.CodeNotFound, rest[1]: abi.CodeNotFound} {
			if _, err := h.Session(id, ""); abi.CodeOf(err) != want {
				t.Errorf("%s: %v", id, err)
			}
		}
		open()
		if _, err := h.Session(oldest, ""); abi.CodeOf(err) != abi.CodeNotFound {
			t.Errorf("the quietest: %v", err)
		}
	})
}

// When only sessions that are in use are there, it takes until one is quiet.
func TestSessionsInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		for _, id := range h.fill(t) {
			if _, err := h.Session(id, ""); err != nil {
				t.Fatal(err)
			}
		}
		if after := h.refused(t); after != 10*time.Minute {
			t.Errorf("wait for %v", after)
		}
		time.Sleep(10*time.Minute - 1)
		if after := h.refused(t); after != time.Second {
			t.Errorf("wait for %v", after)
		}
		time.Sleep(time.Second)
		if after := h.refused(t); after != 0 {
			t.Errorf("wait for %v", after)
		}
	})
}
