package perception_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
)

// TestRetract: what waits is taken back by its key or by whom it is from, is written down as taken back, and is not judged; what is
// being judged is too late, and where it cannot be written down it all waits on.
func TestRetract(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		h.takes = time.Second
		defer h.run()()
		offer := func(n int, key, from string) (judged func() error) {
			p := gift(n)
			p.Key = key
			taken, err := h.Offer(t.Context(), "nikoni", p, from)
			if err != nil {
				t.Fatal(err)
			}
			return func() error { return (<-taken.Outcome).Err }
		}
		first := offer(0, "k0", "ann")
		synctest.Wait() // it is being judged
		one, two, three, four := offer(1, "k1", "ann"), offer(2, "k2", "bob"), offer(3, "k3", "bob"), offer(4, "x4", "bob")
		retract := func(key, from string, want int) {
			t.Helper()
			if n, err := h.Retract(t.Context(), "nikoni", "k", key, from); n != want || err != nil {
				t.Errorf("%s %s: %d, %v", key, from, n, err)
			}
		}
		h.broken = errors.New("the disk is full")
		if n, err := h.Retract(t.Context(), "nikoni", "k", "k1", ""); n != 0 || !errors.Is(err, h.broken) {
			t.Error(n, err)
		}
		h.broken = nil
		retract("k0", "", 0)
		retract("k1", "", 1)
		retract("k1", "", 0)
		retract("", "bob", 2)
		retract("", "", 0)
		retract("k", "", 0)
		for n, judged := range []func() error{first, one, two, three, four} {
			if err := judged(); (abi.CodeOf(err) == abi.CodeDenied) != (n >= 1 && n <= 3) || err != nil && n%4 == 0 {
				t.Errorf("%d: %v", n, err)
			}
		}
		if len(h.perceived()) != 2 || len(h.ended) != 3 {
			t.Errorf("%v, %v", h.perceived(), h.ended)
		}
		if n := h.Counts("nikoni"); n["waiting"] != 0 || n["failed"] != 3 || n["judged"] != 2 {
			t.Error(n)
		}
	})
}

func (h *house) retract(_ context.Context, _ string, seqs []uint64) error {
	if h.broken == nil {
		h.ended = append(h.ended, seqs...)
	}
	return h.broken
}
