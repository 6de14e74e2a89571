package memory

import (
	"testing"

	"github.com/companiond/companiond/host/journal/journaltest"
)

func TestStores(t *testing.T) {
	journaltest.RunStores(t, func(*testing.T) journaltest.Branching { return New() }, nil)
}
