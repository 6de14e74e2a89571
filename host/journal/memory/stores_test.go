package memory

import (
	"testing"

	"github.com/companiond/companiond/host/journal/journaltest/storetest"
)

func TestStores(t *testing.T) {
	storetest.RunStores(t, func(*testing.T) storetest.Branching { return New() }, nil)
}
