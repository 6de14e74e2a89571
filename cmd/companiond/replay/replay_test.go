package replay

import (
	"strings"
	"testing"

	"github.com/companiond/companiond/host/room/reader"
)

// What lies between entries that were erased is not said to be.
func TestFoundErased(t *testing.T) {
	var seqs []uint64
	for i := range uint64(573) {
		seqs = append(seqs, 4+3*i)
	}
	got := found(reader.Replayed{Derived: 5910, Erased: seqs})
	if want := "573 lost words on somebody's word: 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, and 563 more"; !strings.HasSuffix(got, want) {
		t.Errorf("%s", got)
	}
}
