// Package statedir is the directory of a journal and what stands there beside the
// database: the lock, the mark of the newest entry, the reserve of space, copies of
// a damaged database. A crash leaves an old file or a new one, and never half of one.
//
// It never looks into the database, and takes nothing away but the reserve.
package statedir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/companiond/companiond/host/journal"
)

// MarkFile is the name of the file that says which entry was a journal's newest a
// moment ago. An engine that opens without a word when part of it is gone looks
// for that entry. It is called after what it held before: every room's head.
const MarkFile = "heads"

// Mark is an entry that a journal must have.
type Mark struct {
	Room  string                  // empty: of no room
	Seq   uint64                  //
	Sum   []byte                  // as the engine reckons it
	Rooms map[string]journal.Head // of a file of before; then the rest is empty
}

// file is a Mark as it is written. A file of before is an object of heads by
// room, in which no value is a number.
type file struct {
	V    int    `json:"v"`
	Room string `json:"room"`
	Seq  uint64 `json:"seq"`
	Sum  []byte `json:"sum"`
}

// LoadMark reads the mark of a directory; a directory without the file has none.
func LoadMark(dir string) (m Mark, err error) {
	b, err := os.ReadFile(filepath.Join(dir, MarkFile))
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, fmt.Errorf("load mark: %w", err)
	}
	var f file
	if json.Unmarshal(b, &f) == nil && f.V == 2 {
		return Mark{Room: f.Room, Seq: f.Seq, Sum: f.Sum}, nil
	}
	if err := json.Unmarshal(b, &m.Rooms); err != nil {
		return Mark{}, fmt.Errorf("load mark: %w", err)
	}
	return m, nil
}

// SaveMark replaces the mark of a directory.
func SaveMark(dir string, m Mark) error {
	b, err := json.Marshal(file{2, m.Room, m.Seq, m.Sum})
	if err != nil {
		return fmt.Errorf("encode mark: %w", err)
	}
	path := filepath.Join(dir, MarkFile)
	if err := write(path+".new", b); err != nil {
		return fmt.Errorf("write mark: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("replace mark: %w", err)
	}
	return Sync(path)
}

// write makes and syncs a file of mode 0600.
func write(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(b); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Stamp is the time as it stands in the names of copies; they sort by it.
func Stamp() string { return time.Now().UTC().Format("20060102T150405.000Z") }

// Sync makes the names in path's directory durable.
func Sync(path string) error {
	if runtime.GOOS == "windows" { // it has no such call
		return nil
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("open directory: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	return nil
}
