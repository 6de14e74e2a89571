package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/statedir"
)

// Backup implements journal.Backuper. The copy is one file with mode 0600,
// complete or not there; it is made on a connection of its own, so writers go
// on. Copying the database file by other means loses what is in its log.
func (j *Journal) Backup(ctx context.Context, path string) (err error) {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("back up to %s: %w", path, errors.Join(fs.ErrExist, err))
	}
	tmp := path + ".new"
	f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) // an empty file is what VACUUM INTO accepts
	if err != nil {
		return fmt.Errorf("back up to %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp)
		}
		err = errors.Join(err, f.Close())
	}()
	s, err := j.connect(onlyReading) // VACUUM INTO does not go with query_only
	if err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	defer s.close()
	if _, err = s.db.ExecContext(ctx, `VACUUM INTO ?`, tmp); err != nil {
		return fmt.Errorf("back up to %s: %w", path, classify(err, journal.ErrUnavailable))
	}
	if err = errors.Join(f.Sync(), os.Rename(tmp, path)); err != nil {
		return fmt.Errorf("back up to %s: %w", path, err)
	}
	return statedir.Sync(path)
}
