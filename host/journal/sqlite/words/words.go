// Package words is an index of what was said, in an SQLite file of its own beside the journal: which
// messages have which grams, newest first. The file may be deleted at any time; all of it can be made again
// from the journal.
//
// It has no texts, but whoever reads its grams learns much of them: what is taken out of it is
// gone from the file when Clean has returned. It never reads a journal, and does not know what a gram is: tokens come
// in as letters and digits of ASCII and all that is beyond ASCII.
package words

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/store"
)

// applicationID marks the file as such an index, "COWO"; version is that of its tables and of what the grams are.
const (
	applicationID = 0x434f574f
	version       = 1
)

// Tokens of rooms and of whoever spoke stand beside the grams, so that these are looked for together. They
// are longer than any gram.
const tables = `
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE rooms(num INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, upto INTEGER NOT NULL, mark TEXT NOT NULL) STRICT;
CREATE TABLE said(id INTEGER PRIMARY KEY, room INTEGER NOT NULL, seq INTEGER NOT NULL, UNIQUE(room, seq)) STRICT;
CREATE VIRTUAL TABLE grams USING fts5(t, content='', contentless_delete=1, detail=none, tokenize='ascii');
INSERT INTO grams(grams, rank) VALUES('secure-delete', 1);
`

// The errors that say what is to be done about the file.
var (
	// ErrStale says that the file is damaged, or of another version: delete it and make it again.
	ErrStale = errors.New("words: the index is to be made again")
	// ErrMoved says that somebody else has written meanwhile; nothing was stored.
	ErrMoved = errors.New("words: the index moved on")
)

// Index is an open file. Reading may be done from many goroutines, writing from one at a time.
type Index struct {
	path string
	w    *store.Store // nil: it is only read
	r    *store.Store

	mu    sync.Mutex
	names map[int64]string
}

// patience is how long another process is waited for.
const patience = 5 * time.Second

// Open opens the file at path, which is made where there is none; with write false it is only
// read.
//
// # Errors
//
// ErrStale, journal.ErrUnavailable where it cannot be opened now, and store.ErrRefused for a file of another
// program, which is nobody's to delete.
func Open(path string, write bool) (_ *Index, err error) {
	x := &Index{path: path, names: map[int64]string{}}
	defer func() {
		if err != nil {
			err = errors.Join(x.classify(err), x.Close())
		}
	}()
	access := store.OnlyReading
	if write {
		access = store.Writing
		if err := x.openWriter(); err != nil {
			return nil, err
		}
	} else if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%w: %w", journal.ErrUnavailable, err)
	}
	if x.r, err = store.Open(path, access, patience, "query_only(1)", "cache_size(-16000)"); err != nil {
		return nil, err
	}
	if made, err := x.version(x.r); err != nil || !made {
		return nil, errors.Join(err, fmt.Errorf("%w: it is empty", ErrStale))
	}
	return x, nil
}

func (x *Index) openWriter() error {
	f, err := os.OpenFile(x.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", journal.ErrUnavailable, err)
	}
	f.Close() // SQLite gives its other files the mode of this one
	w, err := store.Open(x.path, store.Writing, patience, "cache_size(-32000)")
	if err != nil {
		return err
	}
	if err := w.Claim(); err != nil {
		return errors.Join(err, w.Close())
	}
	x.w = w
	made, err := x.version(x.w)
	if err != nil {
		return err
	}
	// What a crash of the machine takes is indexed again.
	if err := x.w.Configure("NORMAL"); err != nil || made {
		return err
	}
	return x.w.Script(fmt.Sprintf("BEGIN IMMEDIATE;%s PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT", tables, applicationID, version))
}

// version says whether the tables are there, and refuses a file that is not of this version.
func (x *Index) version(s *store.Store) (made bool, err error) {
	var app, v, n int
	err = s.Row(context.Background(), "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_application_id, pragma_user_version", nil, &app, &v, &n)
	switch {
	case err != nil:
		return false, err
	case app == 0 && v == 0 && n == 0:
		return false, nil
	case app != applicationID && app != 0:
		return false, fmt.Errorf("%w: %s is a file of another program (application_id %#x); move it away", store.ErrRefused, x.path, app)
	case app != applicationID || v != version:
		return false, fmt.Errorf("%w: it is of version %d, not %d", ErrStale, v, version)
	}
	return true, nil
}

// classify puts SQLite's errors into words. All statements are this package's: one that SQLite takes for wrong, or that finds no row, meets
// tables that are not as they were made.
func (x *Index) classify(err error) error {
	if err == nil || errors.Is(err, ErrStale) || errors.Is(err, ErrMoved) {
		return err
	}
	spoiled := store.Wrong(err) || errors.Is(err, sql.ErrNoRows)
	if err = store.Classify(err, journal.ErrUnavailable); spoiled || errors.Is(err, journal.ErrCorrupt) {
		return fmt.Errorf("%w: %w", ErrStale, err)
	}
	return err
}

// Close closes the file. What was taken out is not in its log then.
func (x *Index) Close() error {
	if x.w != nil {
		_ = x.w.Settle(true) // the log is as good
	}
	err := errors.Join(x.r.Close(), x.w.Close())
	x.r, x.w = nil, nil
	return err
}

// Delete deletes the file at path, and what belongs to it.
func Delete(path string) error {
	var err error
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if rerr := os.Remove(path + suffix); !errors.Is(rerr, os.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	return err
}

// Room is how far a room is indexed.
type Room struct {
	Num  int64
	Upto uint64 // seq of the newest message that was looked at
	Mark string // of that message, so that another with its number is known
}

// Room looks a room up, ok false for one of which nothing is there.
func (x *Index) Room(ctx context.Context, name string) (r Room, ok bool, err error) {
	err = x.r.Row(ctx, `SELECT num, upto, mark FROM rooms WHERE name = ?`, []any{name}, &r.Num, &r.Upto, &r.Mark)
	if errors.Is(err, sql.ErrNoRows) {
		return Room{}, false, nil
	}
	return r, err == nil, x.classify(err)
}

// Entry is a message to be indexed. Grams of "" only say that it was looked at.
type Entry struct {
	Room   string
	Seq    uint64
	Mark   string
	Grams  string // with spaces between them
	Tokens string // further tokens, which are longer than grams, likewise
}

// Add indexes messages behind all others, in one transaction, together with how far their rooms are then. after
// has how far each of these rooms was: where that is no longer so, ErrMoved.
func (x *Index) Add(after map[string]uint64, all []Entry) error {
	if x.w == nil {
		return fmt.Errorf("%w: the index is only read", journal.ErrUnavailable)
	}
	return x.classify(x.write(func() error {
		nums := map[string]int64{}
		for name, seq := range after {
			num, err := x.claim(name, seq)
			if err != nil {
				return err
			}
			nums[name] = num
		}
		var id int64
		if err := x.w.Row(context.Background(), `SELECT coalesce(max(id), 0) FROM said`, nil, &id); err != nil {
			return err
		}
		upto := map[string]Entry{}
		for _, e := range all {
			upto[e.Room] = e
			if e.Grams == "" {
				continue
			}
			id++
			if err := x.put(id, nums[e.Room], e); err != nil {
				return fmt.Errorf("index: %w", err)
			}
		}
		for name, e := range upto {
			if err := x.w.Exec(`UPDATE rooms SET upto = ?, mark = ? WHERE num = ?`, int64(e.Seq), e.Mark, nums[name]); err != nil {
				return err
			}
		}
		return nil
	}))
}

// claim gives the number of a room that is indexed up to a message.
func (x *Index) claim(name string, seq uint64) (num int64, err error) {
	var upto int64
	err = x.w.Row(context.Background(), `SELECT num, upto FROM rooms WHERE name = ?`, []any{name}, &num, &upto)
	if errors.Is(err, sql.ErrNoRows) {
		err = x.w.Row(context.Background(), `INSERT INTO rooms(name, upto, mark) VALUES(?, ?, '') RETURNING num`, []any{name, int64(seq)}, &num)
		return num, err
	}
	if err == nil && uint64(upto) != seq {
		err = fmt.Errorf("%w: room %s is at %d, not %d", ErrMoved, name, upto, seq)
	}
	return num, err
}

func (x *Index) put(id, room int64, e Entry) error {
	if err := x.w.Exec(`INSERT INTO said(id, room, seq) VALUES(?, ?, ?)`, id, room, int64(e.Seq)); err != nil {
		return err
	}
	return x.fill(id, room, e)
}

func (x *Index) fill(id, room int64, e Entry) error {
	return x.w.Exec(`INSERT INTO grams(rowid, t) VALUES(?, ?)`, id, InRoom(room)+" "+e.Tokens+e.Grams)
}

// InRoom is the token of a room.
func InRoom(num int64) string { return fmt.Sprintf("room%d", num) }

func (x *Index) write(f func() error) (err error) {
	if err := x.w.Script("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = x.w.Script("ROLLBACK") // it may have ended by itself
		}
	}()
	if err := f(); err != nil {
		return err
	}
	return x.w.Script("COMMIT")
}

// Place is where a message stands.
type Place struct {
	ID   int64 // messages that came into the index later have greater ones, also in other rooms
	Room string
	Seq  uint64
}

// Span is a part of the index: ids with After < id < Before. Before 0 means no bound.
type Span struct{ After, Before int64 }

// Find gives up to limit places that have all of some tokens, newest first.
func (x *Index) Find(ctx context.Context, tokens []string, in Span, limit int) (all []Place, err error) {
	const find = `SELECT g.rowid, s.room, s.seq FROM grams g CROSS JOIN said s ON s.id = g.rowid
		WHERE g.grams MATCH ? AND g.rowid > ? AND g.rowid < ? ORDER BY g.rowid DESC LIMIT ?`
	var nums []int64
	err = x.r.Each(ctx, find, []any{match(tokens), in.After, in.before(), limit}, func(row *sql.Rows) error {
		var p Place
		var num int64
		err := row.Scan(&p.ID, &num, &p.Seq)
		all, nums = append(all, p), append(nums, num)
		return err
	})
	for i := range all {
		if err == nil {
			all[i].Room, err = x.name(ctx, nums[i])
		}
	}
	return all, x.classify(err)
}

func (in Span) before() int64 {
	if in.Before == 0 {
		return math.MaxInt64
	}
	return in.Before
}

// match is FTS5's expression for all of some tokens.
func match(tokens []string) string { return `"` + strings.Join(tokens, `" AND "`) + `"` }

// name gives the name of a room.
func (x *Index) name(ctx context.Context, num int64) (name string, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if name, ok := x.names[num]; ok {
		return name, nil
	}
	if err = x.r.Row(ctx, `SELECT name FROM rooms WHERE num = ?`, []any{num}, &name); err == nil {
		x.names[num] = name
	}
	return name, err
}

// Sparse says how rare a token is among the newest messages of a span: how many of the newest depth messages that have it
// there are, and the id of the oldest of these. The fewer there are and the lower the id, the rarer it is.
func (x *Index) Sparse(ctx context.Context, token string, in Span, depth int) (n int, id int64, err error) {
	const far = `SELECT count(*), coalesce(min(id), 0) FROM (SELECT rowid AS id FROM grams WHERE grams MATCH ? AND rowid > ? AND rowid < ? ORDER BY rowid DESC LIMIT ?)`
	err = x.r.Row(ctx, far, []any{match([]string{token}), in.After, in.before(), depth}, &n, &id)
	return n, id, x.classify(err)
}

// Within gives the span of a room's messages with after < seq < before, 0 for no bound. Messages of other
// rooms may lie in it. ok is false where there are none.
func (x *Index) Within(ctx context.Context, room int64, after, before uint64) (in Span, ok bool, err error) {
	if before == 0 {
		before = math.MaxInt64
	}
	var low, high sql.NullInt64
	err = x.r.Row(ctx, `SELECT (SELECT id FROM said WHERE room = ?1 AND seq > ?2 ORDER BY seq LIMIT 1), (SELECT id FROM said WHERE room = ?1 AND seq < ?3 ORDER BY seq DESC LIMIT 1)`,
		[]any{room, clip(after), clip(before)}, &low, &high)
	if err != nil || !low.Valid || !high.Valid || low.Int64 > high.Int64 {
		return Span{}, false, x.classify(err)
	}
	return Span{low.Int64 - 1, high.Int64 + 1}, true, nil
}

// clip fits a number of an entry into SQLite's integers.
func clip(n uint64) int64 { return int64(min(n, math.MaxInt64)) }
