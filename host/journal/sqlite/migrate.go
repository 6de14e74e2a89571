package sqlite

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
	"time"

	"github.com/companiond/companiond/host/journal/statedir"
)

const applicationID = 0x434f4d50 // "COMP"

// errRefused marks a file this program must not write to, errOlder one that a
// daemon would migrate.
var (
	errRefused = errors.New("refused")
	errOlder   = errors.New("start companiond once")
)

//go:embed sql/*.sql
var scripts embed.FS

// migration brings the schema from one version to the next. Long work is
// done in pieces before the script, each of which stays where the next one is
// interrupted; the script and the new version are one transaction.
type migration struct {
	prepare string // a script that may run again
	move    func(ctx context.Context, s *store, log *slog.Logger) error
	script  string
}

func migrations() []migration {
	return []migration{
		{script: script("1")},
		{prepare: script("2-prepare"), move: moveBodies, script: script("2")},
	}
}

func script(name string) string {
	text, err := scripts.ReadFile("sql/" + name + ".sql")
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// schema is the version this program writes.
func (j *Journal) schema() int { return len(j.tune.migrations) }

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

// migrate brings the schema from version to this program's, after a copy of a
// file that has something in it. Interrupted, it goes on where it was, with the
// copy that it made.
func (j *Journal) migrate(s *store, version int) error {
	if version == j.schema() {
		return nil
	}
	ctx := context.Background()
	if err := j.copyBefore(ctx, s, version); err != nil {
		return fmt.Errorf("copy before migration: %w", err)
	}
	for to := version + 1; to <= j.schema(); to++ {
		if err := j.step(ctx, s, to); err != nil {
			return fmt.Errorf("migrate to schema %d: %w", to, err)
		}
	}
	return errors.Join(statedir.Sync(j.path), statedir.Sync(filepath.Dir(j.path)))
}

// copyBefore puts a copy of the file aside, unless an interrupted migration did.
// The row of meta that says so goes with the last step.
func (j *Journal) copyBefore(ctx context.Context, s *store, version int) error {
	if version == 0 {
		return nil
	}
	halves, _ := filepath.Glob(j.path + ".v*.new*") // of copies during which the program was killed
	for _, half := range halves {
		if err := os.Remove(half); err != nil {
			return err
		}
	}
	var grown sql.NullInt64 // of all rooms together, so that a copy is of what is there now
	if err := s.row(ctx, "SELECT sum(head + epoch) FROM rooms", nil, &grown); err != nil || !grown.Valid {
		return err
	}
	var copied string
	if err := s.row(ctx, "SELECT value FROM meta WHERE key = 'copied'", nil, &copied); present(err) != nil {
		return err
	}
	at, dst, ok := strings.Cut(copied, " ")
	if ok && at == fmt.Sprint(grown.Int64) {
		if _, err := os.Stat(dst); err == nil {
			j.log.Info("going on with the migration of the journal", "copy", dst)
			return nil
		}
	}
	// The name is written down first: a kill behind the copy makes no second one.
	dst = fmt.Sprintf("%s.v%d-%s", j.path, version, time.Now().UTC().Format("20060102T150405.000Z"))
	err := s.exec(`INSERT INTO meta(key, value) VALUES('copied', ?1) ON CONFLICT(key) DO UPDATE SET value = ?1`, fmt.Sprint(grown.Int64, " ", dst))
	if err != nil {
		return err
	}
	if err := j.Backup(ctx, dst); err != nil {
		return err
	}
	j.log.Info("copied the journal before migration", "copy", dst)
	return nil
}

// step brings the schema to the version to.
func (j *Journal) step(ctx context.Context, s *store, to int) error {
	m := j.tune.migrations[to-1]
	if _, err := s.conn.ExecContext(ctx, m.prepare); err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	if m.move != nil {
		if err := m.move(ctx, s, j.log); err != nil {
			return fmt.Errorf("move: %w", err)
		}
	}
	if _, err := s.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _, _ = s.conn.ExecContext(ctx, "ROLLBACK") }() // nothing to do after COMMIT
	end := fmt.Sprintf("; PRAGMA application_id=%d; PRAGMA user_version=%d", applicationID, to)
	if to == j.schema() {
		end += "; DELETE FROM meta WHERE key = 'copied'"
	}
	if _, err := s.conn.ExecContext(ctx, m.script+end); err != nil {
		return fmt.Errorf("apply: %w", err)
	}
	if _, err := s.conn.ExecContext(ctx, "COMMIT"); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}
