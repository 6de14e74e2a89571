package sqlite

import (
	"context"
	"errors"

	"github.com/companiond/companiond/host/journal"
)

var errNotYet = errors.New("no forks yet")

// Fork implements journal.Branches.
func (j *Journal) Fork(context.Context, string, journal.Fork, journal.Listing, ...journal.New) (journal.Head, error) {
	return journal.Head{}, errNotYet
}

// Forks implements journal.Branches.
func (j *Journal) Forks(context.Context, string) ([]journal.Room, error) { return nil, errNotYet }

// SnapshotAt implements journal.Branches.
func (j *Journal) SnapshotAt(context.Context, string, uint64) (uint64, []byte, error) {
	return 0, nil, errNotYet
}
