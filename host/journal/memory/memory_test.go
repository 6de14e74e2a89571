package memory

import (
	"testing"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/journaltest"
	"github.com/companiond/companiond/host/journal/journaltest/storetest"
)

func TestJournal(t *testing.T) {
	journaltest.Run(t, func(*testing.T) journal.Journal { return New() }, nil)
}

func TestJournalModel(t *testing.T) {
	journaltest.Model(t, func(*testing.T) journal.Journal { return New() }, nil)
}

func TestKV(t *testing.T) {
	storetest.RunKV(t, func(*testing.T) journal.KV { return new(KV) }, nil)
}
