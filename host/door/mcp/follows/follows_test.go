package follows

import (
	"testing"

	"github.com/companiond/companiond/abi"
)

// Of a room that is followed the newest lines are known, each once.
func TestNewestLines(t *testing.T) {
	f := New(Config[int]{})
	f.Use("main")
	for i := range 3 * Recent {
		f.heard("main", []abi.Message{{Seq: uint64(i)}})
	}
	if said := f.Said("main"); len(said) != Recent || said[Recent-1].Seq != 3*Recent-1 {
		t.Errorf("%v", said)
	}
	f.Use("side")
	f.heard("side", []abi.Message{{Seq: 1}, {Seq: 3}})
	f.heard("side", []abi.Message{{Seq: 1}, {Seq: 3}, {Seq: 4}}) // as one does who follows it anew
	if said := f.Said("side"); len(said) != 3 {
		t.Errorf("%v", said)
	}
	if said := f.Said("den"); said != nil {
		t.Errorf("of a room that nobody uses: %v", said)
	}
}
