// Package statedir writes the small files that stand beside a journal in its
// state directory, so that a crash leaves the old one or the new one, and never
// half of one.
//
// It never looks into the database, and never takes a file away.
package statedir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/companiond/companiond/host/journal"
)

// HeadsFile is the name of the file that holds every room's head as it was a
// moment ago. An engine that opens without a word when part of it is gone
// compares what it finds with this file.
const HeadsFile = "heads"

// LoadHeads reads the heads of a directory; a directory without the file has
// none. Also with an error the map may be written to.
func LoadHeads(dir string) (map[string]journal.Head, error) {
	heads := map[string]journal.Head{}
	b, err := os.ReadFile(filepath.Join(dir, HeadsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return heads, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &heads)
	}
	if err != nil {
		return map[string]journal.Head{}, fmt.Errorf("load heads: %w", err)
	}
	return heads, nil
}

// SaveHeads replaces the file of heads.
func SaveHeads(dir string, heads map[string]journal.Head) error {
	b, err := json.Marshal(heads)
	if err != nil {
		return fmt.Errorf("encode heads: %w", err)
	}
	path := filepath.Join(dir, HeadsFile)
	if err := write(path+".new", b); err != nil {
		return fmt.Errorf("write heads: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("replace heads: %w", err)
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

// Copy copies a file to a new one of mode 0600 and syncs it.
func Copy(dst, src string) error {
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

// Fill makes a file of size bytes that really takes up as many; a hole would
// put nothing by.
func Fill(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("create reserve: %w", err)
	}
	chunk := make([]byte, 1<<20)
	for left := size; left > 0 && err == nil; left -= int64(len(chunk)) {
		_, err = f.Write(chunk[:min(left, int64(len(chunk)))])
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write reserve: %w", err)
	}
	return nil
}
