// Package schema is the tables of a journal in SQLite: which version of them a file
// has, and how an older file is brought up to date, after a copy of it.
//
// It never writes to a file of another program or of a newer companiond.
package schema

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/companiond/companiond/host/journal/sqlite/store"
	"github.com/companiond/companiond/host/journal/statedir"
)

// ApplicationID marks a file as a journal: "COMP".
const ApplicationID = 0x434f4d50

// ErrOlder marks a file that Migrate would bring up to date.
var ErrOlder = errors.New("start companiond once")

//go:embed sql/*.sql
var scripts embed.FS

// Step brings the tables from one version to the next. Long work is done in pieces
// before the script, each of which stays where the next one is interrupted; the
// script and the new version are one transaction.
type Step struct {
	prepare string // a script that may run again
	move    func(s *store.Store, log *slog.Logger) error
	Script  string
}

// Schema is the steps to the version that a program writes, which is how many
// there are.
type Schema []Step

// Usual is the schema of this program.
func Usual() Schema {
	return Schema{
		{Script: script("1")},
		{prepare: script("2-prepare"), move: moveBodies, Script: script("2")},
		{Script: script("3")},
		{Script: script("4")},
	}
}

func script(name string) string {
	text, err := scripts.ReadFile("sql/" + name + ".sql")
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// Version gives the version of a file, 0 for an empty one, and refuses a file that
// is not ours or newer than this program. It changes nothing.
func (c Schema) Version(s *store.Store) (version int, err error) {
	var app, tables int
	err = s.Row(context.Background(), "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_application_id, pragma_user_version",
		nil, &app, &version, &tables)
	switch {
	case err != nil:
		return 0, fmt.Errorf("read header: %w", err)
	case app == 0 && version == 0 && tables == 0:
		return 0, nil
	case app != ApplicationID:
		return 0, fmt.Errorf("%w: not a companiond journal (application_id %#x)", store.ErrRefused, app)
	case version > len(c):
		return 0, fmt.Errorf("%w: schema %d is newer than this program's %d: use the newer companiond", store.ErrRefused, version, len(c))
	}
	return version, nil
}

// Current refuses, as Version does, and also a file that is older than this program.
func (c Schema) Current(s *store.Store) error {
	v, err := c.Version(s)
	if err == nil && v < len(c) {
		err = fmt.Errorf("%w: schema %d is older than this program's %d and cannot be brought up to date now: %w", store.ErrRefused, v, len(c), ErrOlder)
	}
	return err
}

// Migrate brings the file at path from a version to this program's, after a copy
// of one that has something in it. Interrupted, it goes on where it was, with the
// copy that it made.
func (c Schema) Migrate(s *store.Store, path string, version int, log *slog.Logger) error {
	if version == len(c) {
		return nil
	}
	if err := copyBefore(s, path, version, log); err != nil {
		return fmt.Errorf("copy before migration: %w", err)
	}
	for to := version + 1; to <= len(c); to++ {
		if err := c.step(s, to, log); err != nil {
			return fmt.Errorf("migrate to schema %d: %w", to, err)
		}
	}
	return errors.Join(statedir.Sync(path), statedir.Sync(filepath.Dir(path)))
}

// copyBefore puts a copy of the file aside, unless an interrupted migration did.
// The row of meta that says so goes with the last step.
func copyBefore(s *store.Store, path string, version int, log *slog.Logger) error {
	if version == 0 {
		return nil
	}
	ctx := context.Background()
	halves, _ := filepath.Glob(path + ".v*.new*") // of copies during which the program was killed
	for _, half := range halves {
		if err := os.Remove(half); err != nil {
			return err
		}
	}
	var grown sql.NullInt64 // of all rooms together, so that a copy is of what is there now
	if err := s.Row(ctx, "SELECT sum(head + epoch) FROM rooms", nil, &grown); err != nil || !grown.Valid {
		return err
	}
	var copied string
	if err := s.Row(ctx, "SELECT value FROM meta WHERE key = 'copied'", nil, &copied); store.Present(err) != nil {
		return err
	}
	at, dst, ok := strings.Cut(copied, " ")
	if ok && at == fmt.Sprint(grown.Int64) {
		if _, err := os.Stat(dst); err == nil {
			log.Info("going on with the migration of the journal", "copy", dst)
			return nil
		}
	}
	// The name is written down first: a kill behind the copy makes no second one.
	dst = fmt.Sprintf("%s.v%d-%s", path, version, statedir.Stamp())
	err := s.Exec(`INSERT INTO meta(key, value) VALUES('copied', ?1) ON CONFLICT(key) DO UPDATE SET value = ?1`, fmt.Sprint(grown.Int64, " ", dst))
	if err != nil {
		return err
	}
	if err := store.Copy(ctx, dst, path); err != nil {
		return fmt.Errorf("copy to %s: %w", dst, err)
	}
	log.Info("copied the journal before migration", "copy", dst)
	return nil
}

// step brings the tables to the version to.
func (c Schema) step(s *store.Store, to int, log *slog.Logger) error {
	m := c[to-1]
	if err := s.Script(m.prepare); err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	if m.move != nil {
		if err := m.move(s, log); err != nil {
			return fmt.Errorf("move: %w", err)
		}
	}
	if err := s.Script("BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = s.Script("ROLLBACK") }() // nothing to do after COMMIT
	end := fmt.Sprintf("; PRAGMA application_id=%d; PRAGMA user_version=%d", ApplicationID, to)
	if to == len(c) {
		end += "; DELETE FROM meta WHERE key = 'copied'"
	}
	if err := s.Script(m.Script + end); err != nil {
		return fmt.Errorf("apply: %w", err)
	}
	if err := s.Script("COMMIT"); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}
