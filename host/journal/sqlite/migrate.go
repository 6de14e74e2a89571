package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/companiond/companiond/host/journal/statedir"
)

const applicationID = 0x434f4d50 // "COMP"

// errRefused marks a file this program must not write to.
var errRefused = errors.New("refused")

func (j *Journal) scripts() []string {
	names, err := fs.Glob(j.tune.migrations, "sql/*.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	return names
}

// schema is the version this program writes.
func (j *Journal) schema() int { return len(j.scripts()) }

// identify gives the schema version of the file, 0 for an empty one, and
// refuses a file that is not ours or newer than this program. It changes nothing.
func (j *Journal) identify(s *store) (version int, err error) {
	var app, tables int
	ctx := context.Background()
	for _, q := range []struct {
		sql string
		dst *int
	}{{"PRAGMA application_id", &app}, {"PRAGMA user_version", &version}, {"SELECT count(*) FROM sqlite_schema", &tables}} {
		if err := s.row(ctx, q.sql, nil, q.dst); err != nil {
			return 0, fmt.Errorf("read header: %w", err)
		}
	}
	switch {
	case app == 0 && version == 0 && tables == 0:
		return 0, nil
	case app != applicationID:
		return 0, fmt.Errorf("%w: not a companiond journal (application_id %#x)", errRefused, app)
	case version > j.schema():
		return 0, fmt.Errorf("%w: schema %d is newer than this program's %d: use the newer companiond", errRefused, version, j.schema())
	}
	return version, nil
}

// migrate brings the schema from version to this program's in one transaction,
// after a copy of a file that has something in it.
func (j *Journal) migrate(s *store, version int) error {
	names := j.scripts()
	if version == len(names) {
		return nil
	}
	ctx := context.Background()
	if version > 0 {
		dst := fmt.Sprintf("%s.v%d-%s", j.path, version, time.Now().UTC().Format("20060102T150405.000Z"))
		if err := j.Backup(ctx, dst); err != nil {
			return fmt.Errorf("copy before migration: %w", err)
		}
		j.log.Info("copied the journal before migration", "copy", dst)
	}
	if _, err := s.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin migration: %w", err)
	}
	defer func() { _, _ = s.conn.ExecContext(ctx, "ROLLBACK") }() // nothing to do after COMMIT
	for _, name := range names[version:] {
		text, err := fs.ReadFile(j.tune.migrations, name)
		if err != nil {
			return fmt.Errorf("read migration: %w", err)
		}
		if _, err := s.conn.ExecContext(ctx, string(text)); err != nil {
			return fmt.Errorf("apply migration %s: %w", name, err)
		}
	}
	if _, err := s.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d", applicationID, len(names))); err != nil {
		return fmt.Errorf("mark migration: %w", err)
	}
	if _, err := s.conn.ExecContext(ctx, "COMMIT"); err != nil {
		return fmt.Errorf("commit migration: %w", err)
	}
	return errors.Join(statedir.Sync(j.path), statedir.Sync(filepath.Dir(j.path)))
}
