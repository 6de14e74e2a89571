package journal_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/journal"
)

// TestCodedTwice has what is in words for doors already, and was wrapped on its way, coded again: the
// reason is still there.
func TestCodedTwice(t *testing.T) {
	full := fmt.Errorf("erase words: %w: database or disk is full (13)", journal.ErrUnavailable)
	once := journal.Coded(full)
	twice := journal.Coded(fmt.Errorf("rooms: room main: %w", once))
	for _, err := range []error{once, twice} {
		if abi.CodeOf(err) != abi.CodeUnavailable || !strings.Contains(abi.AsError(err).Message, "disk is full") {
			t.Errorf("%v", err)
		}
	}
	if journal.Coded(nil) != nil {
		t.Error("nothing is an error")
	}
}
