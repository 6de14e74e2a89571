package meter

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
)

// compute takes processor time.
func compute(d time.Duration) {
	before, _ := threadTime()
	for now := before; now-before < d; now, _ = threadTime() {
	}
}

func says(err error, what string) bool { return err != nil && strings.Contains(err.Error(), what) }

func TestUnits(t *testing.T) {
	var w Work
	defer w.End()
	for interpreted, budget := range map[bool]int64{false: 1000, true: 20} {
		w.Begin(1000, interpreted)
		if err := w.Add(budget); err != nil {
			t.Errorf("%d units: %v", budget, err)
		}
		if err := w.Add(1); !says(err, "more than "+map[bool]string{false: "1000", true: "20"}[interpreted]+" units") {
			t.Errorf("one more than %d: %v", budget, err)
		}
	}
	w.Begin(1000, false)
	w.Owe(Debt{Units: 990})
	if w.Add(10) != nil || w.Add(1) == nil {
		t.Errorf("what is owed is not counted: %+v", w.Done())
	}
	w.Begin(1000, false)
	if d := w.Done(); d != (Debt{}) {
		t.Errorf("a new call has done %+v", d)
	}
	w.Begin(1000, false)
	w.Owe(Debt{Units: 900})
	if w.Of(abi.OpLine); w.Add(100) != nil || w.Add(1) == nil {
		t.Errorf("a filter has another share, or owes more than half of it: %+v", w.Done())
	}
	w.Begin(1000, false)
	if w.Of(abi.OpVote); w.Add(1000) != nil || w.Add(1) == nil {
		t.Errorf("a vote has another share: %+v", w.Done())
	}
	w.Begin(math.MaxInt64, false)
	if err := w.Add(1 << 50); err != nil {
		t.Errorf("without a bound: %v", err)
	}
}

// Units that take long are held to processor time, and waiting is none.
func TestProcessorTime(t *testing.T) {
	if _, ok := threadTime(); !ok {
		t.Skip("the system does not tell the processor time of a thread")
	}
	const twoMS = 2 * every
	var w Work
	w.Begin(twoMS, false)
	if err := w.Add(every); err != nil || !w.pinned {
		t.Fatalf("the first units: %v, pinned %v", err, w.pinned)
	}
	time.Sleep(20 * time.Millisecond)
	if err := w.Check(); err != nil {
		t.Errorf("waiting: %v", err)
	}
	compute(5 * time.Millisecond)
	if err := w.Add(every); !says(err, "computed for more than 2ms") {
		t.Errorf("computing: %v", err)
	}
	w.End()
	w.End()
	d := w.Done()
	if w.pinned || d.Units != twoMS || d.Time < 5*time.Millisecond {
		t.Errorf("pinned %v, done %+v", w.pinned, d)
	}
	w.Begin(twoMS, false)
	w.Owe(d)
	w.Pin()
	defer w.End()
	if err := w.Check(); !says(err, "computed") {
		t.Errorf("what is owed is not counted: %v", err)
	}
}
