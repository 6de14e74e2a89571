package memories

import (
	"slices"
	"testing"

	"github.com/companiond/companiond/host/forget"
)

func TestOrderOfAReceipt(t *testing.T) {
	o := orderOf(forget.Receipt{State: forget.Done, Entries: 12, Memories: 4, Keys: 1, Others: forget.Others{Entries: 3, Memories: 1, Episodes: 1}}, false)
	if want := []Count{{"entries", 12, 3}, {"memories", 4, 2}, {"keys", 1, 0}}; !slices.Equal(o.Stores, want) || o.Talks != 1 {
		t.Errorf("%+v", o)
	}
}
