package memory

import (
	"testing"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/journaltest"
)

func TestStores(t *testing.T) {
	journaltest.RunStores(t, func(*testing.T) journaltest.Branching { return New() }, func(b journaltest.Branching, name string, f journal.Fork) error {
		j := b.(*Journal)
		j.mu.Lock()
		defer j.mu.Unlock()
		j.room(name).Head.Seq = f.At
		j.kv.forked(name, f.Of, f.At)
		return nil
	})
}
