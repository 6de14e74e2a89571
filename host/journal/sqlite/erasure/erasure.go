// Package erasure takes words out of an SQLite journal for good: bodies of entries, what is left
// of bodies that were taken out before, and the pages in which they stood.
//
// It changes nothing else: number, kind, id and sum of an entry stay, and with them the chain. A
// body that was taken out is overwritten in the file (secure_delete), and gone from the
// log when that is emptied.
package erasure

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/chain"
	"github.com/companiond/companiond/host/journal/sqlite/store"
	"github.com/companiond/companiond/host/journal/statedir"
)

// Blank takes bodies out of entries of a room, in the writer's transaction, and leaves in
// their place what bodies has, nil for nothing. Entries that are blank already are passed over.
func Blank(w *store.Store, room int64, bodies map[uint64][]byte) error {
	for _, seq := range slices.Sorted(maps.Keys(bodies)) {
		if _, err := blank(w, room, seq, bodies[seq]); err != nil {
			return err
		}
	}
	return nil
}

func blank(w *store.Store, room int64, seq uint64, left []byte) (done bool, err error) {
	var salt, body []byte
	err = w.Row(context.Background(), `SELECT salt, body FROM entries WHERE room_id = ? AND seq = ? AND digest IS NULL`, []any{room, int64(seq)}, &salt, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read body: %w", err)
	}
	if err := w.Exec(`UPDATE entries SET salt = NULL, body = ?, digest = ?, blanked_ms = ? WHERE room_id = ? AND seq = ?`,
		text(left), chain.Digest(salt, body), time.Now().UnixMilli(), room, int64(seq)); err != nil {
		return false, fmt.Errorf("take body out: %w", err)
	}
	return true, nil
}

// Erase is Blank that also takes something out of what an earlier one left. Where that left
// nothing, nothing is put there.
func Erase(w *store.Store, room int64, bodies map[uint64][]byte) error {
	for _, seq := range slices.Sorted(maps.Keys(bodies)) {
		if done, err := blank(w, room, seq, bodies[seq]); done || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		if err := again(w, room, seq, bodies[seq]); err != nil {
			return fmt.Errorf("take more out of entry %d: %w", seq, err)
		}
	}
	return nil
}

// again writes the row of a blank entry anew, for no row of that kind may be changed.
func again(w *store.Store, room int64, seq uint64, left []byte) error {
	var n, epoch, at, v, blanked int64
	var kind, id string
	var digest, sum []byte
	err := w.Row(context.Background(), `SELECT n, epoch, at_ms, kind, id, v, digest, blanked_ms, sum FROM entries
		WHERE room_id = ? AND seq = ? AND digest IS NOT NULL AND body IS NOT NULL`, []any{room, int64(seq)},
		&n, &epoch, &at, &kind, &id, &v, &digest, &blanked, &sum)
	if err != nil {
		return store.Present(err)
	}
	if err := w.Exec(`DELETE FROM entries WHERE n = ?`, n); err != nil {
		return err
	}
	return w.Exec(`INSERT INTO entries(n, room_id, seq, epoch, at_ms, kind, id, v, salt, body, digest, blanked_ms, sum)
		VALUES(?,?,?,?,?,?,?,?,NULL,?,?,?,?)`, n, room, int64(seq), epoch, at, kind, id, v, text(left), digest, blanked, sum)
}

func text(body []byte) sql.NullString {
	return sql.NullString{String: string(body), Valid: body != nil}
}

// mark is the row that says up to which order everything was erased.
const mark = "erased"

// Mark writes down that all orders up to one are done in this file.
func Mark(w *store.Store, order string) error {
	return w.Exec(`INSERT INTO meta(key, value) VALUES(?1, ?2) ON CONFLICT(key) DO UPDATE SET value = ?2`, mark, order)
}

// Marked gives that order, empty for none.
func Marked(ctx context.Context, r *store.Store) (order string, err error) {
	return order, store.Present(r.Row(ctx, `SELECT value FROM meta WHERE key = ?`, []any{mark}, &order))
}

// patience is how long the log is waited for that others read.
const patience = 2 * time.Second

// Purge empties the log of the file at path, in which what was taken out may still stand; with
// anew the file is written anew before, because a copy that another program made may have pieces of rows between
// its rows. It is ErrUnavailable while another process reads there.
func Purge(path string, anew bool) (err error) {
	s, err := store.Open(path, store.Writing, patience)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Claim(); err != nil {
		return store.Classify(err, journal.ErrUnavailable)
	}
	if anew {
		err = s.Rewrite()
	}
	if err == nil {
		err = s.Settle(true)
	}
	return store.Classify(err, journal.ErrUnavailable)
}

// Before is in the name of the folder in which a journal lies in whose place a backup was put, behind the journal's own; Coming is that of the
// folder in which the next one is made.
const (
	Before = ".before-"
	Coming = "restore" + store.HalfDone
)

// Copies gives the files and folders beside the one at path that hold copies of it: of before a migration, of a
// damaged file, and halves of those.
func Copies(path string) (all []string, err error) {
	dir := filepath.Dir(path)
	for _, pattern := range []string{path + ".v*", path + ".*" + store.HalfDone + "*", path + ".rescued-*", path + Before + "*", filepath.Join(dir, Coming), filepath.Join(dir, "corrupt-*")} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	slices.Sort(all)
	return all, nil
}

// Delete deletes such copies. What they held is overwritten first, as far as that is any use on the disk.
func Delete(copies []string) error {
	for _, c := range copies {
		err := filepath.Walk(c, func(file string, info os.FileInfo, err error) error {
			if err != nil || info.IsDir() {
				return err
			}
			return overwrite(file, info.Size())
		})
		if err = errors.Join(err, os.RemoveAll(c)); err != nil {
			return fmt.Errorf("delete a copy: %w", err)
		}
		if err := statedir.Sync(c); err != nil {
			return err
		}
	}
	return nil
}

func overwrite(file string, size int64) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	zeros := make([]byte, 1<<16)
	for at := int64(0); at < size && err == nil; at += int64(len(zeros)) {
		_, err = f.WriteAt(zeros[:min(int64(len(zeros)), size-at)], at)
	}
	return errors.Join(err, f.Sync(), f.Close())
}
