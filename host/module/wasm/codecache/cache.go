// Package codecache keeps the machine code of WebAssembly files in a directory, so that
// a file is compiled once and not at each start.
//
// Code comes in from a private directory in which another process made it, whole or not at
// all: a process that was killed leaves nothing that is ever run. Each entry has a checksum
// of ours, which is looked at before the code is used; wazero's own covers the code only,
// and not where its functions begin. The directory has a bound, and forgets what was not
// used for the longest time.
//
// The package never compiles and never runs anything, and it trusts the directory no
// further than its permissions: whoever may write there may have code run.
package codecache

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Key is the SHA-256 of what was compiled.
type Key [sha256.Size]byte

// KeyOf gives the key of an image that is compiled.
func KeyOf(image []byte) Key { return sha256.Sum256(image) }

// String gives it in hexadecimal, which is its record's name.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// The parts of the directory beside wazero's own, whose names begin with wazeroPrefix.
const (
	records      = "records" // a file for each entry, named by its key
	private      = "new-"    // begins the name of a directory in which code is made, its process follows
	wazeroPrefix = "wazero-"
)

// Store is an open directory. It is safe for concurrent use, also by several processes.
type Store struct {
	dir  string
	max  int64
	temp bool // the directory goes at Close

	mu sync.Mutex
}

// record says what an entry must be.
type record struct {
	File  string `json:"file"` // below the directory
	Bytes int64  `json:"bytes"`
	Sum   string `json:"sha256"`
}

// Open opens a directory, which nobody else may write to, and makes it where there is
// none; max bounds the bytes in it. An empty name stands for a directory that is gone
// after Close. What a process left half-done long ago is removed.
//
// # Errors
//
// When the directory cannot be made or read, or others may write to it.
func Open(dir string, max int64) (*Store, error) {
	s := &Store{dir: dir, max: max}
	if dir == "" {
		temp, err := os.MkdirTemp("", "companiond-code-")
		if err != nil {
			return nil, fmt.Errorf("make a directory for compiled code: %w", err)
		}
		s.dir, s.temp = temp, true
	}
	if err := os.MkdirAll(filepath.Join(s.dir, records), 0o700); err != nil {
		return nil, fmt.Errorf("make cache directory: %w", err)
	}
	info, err := os.Stat(s.dir)
	if err != nil {
		return nil, fmt.Errorf("look at cache directory: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("cache directory %s has mode %o: others may write machine code into it; chmod 0700 it", s.dir, mode)
	}
	return s, s.sweep()
}

// Dir is where wazero looks for code.
func (s *Store) Dir() string { return s.dir }

// Close removes a directory that was made for this process.
func (s *Store) Close() error {
	if !s.temp {
		return nil
	}
	return os.RemoveAll(s.dir)
}

// Find says how many bytes of sound code there are for a key, ok false for none, and notes
// that it is used. Code that is damaged is removed.
func (s *Store) Find(k Key) (bytes int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.read(k.String())
	if err != nil {
		return 0, false
	}
	if sum, n, err := checksum(filepath.Join(s.dir, r.File)); err != nil || n != r.Bytes || sum != r.Sum {
		s.drop(k.String(), r)
		return 0, false
	}
	now := time.Now()
	_ = os.Chtimes(s.record(k.String()), now, now)
	return r.Bytes, true
}

// Drop forgets the code for a key.
func (s *Store) Drop(k Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, err := s.read(k.String()); err == nil {
		s.drop(k.String(), r)
	}
}

// Private makes a directory for another process to compile into. It goes with Adopt or
// Discard.
func (s *Store) Private() (string, error) {
	if err := os.MkdirAll(filepath.Join(s.dir, records), 0o700); err != nil { // whoever deleted it was allowed to
		return "", fmt.Errorf("make cache directory: %w", err)
	}
	dir, err := os.MkdirTemp(s.dir, fmt.Sprintf("%s%d-", private, os.Getpid()))
	if err != nil {
		return "", fmt.Errorf("make a directory to compile in: %w", err)
	}
	return dir, nil
}

// Discard removes a private directory.
func (s *Store) Discard(dir string) { _ = os.RemoveAll(dir) }

// Adopt takes over what was compiled into a private directory: one entry, and nothing
// beside it. The directory is removed.
func (s *Store) Adopt(k Key, dir string) error {
	defer os.RemoveAll(dir)
	made, err := filepath.Glob(filepath.Join(dir, wazeroPrefix+"*", "*"))
	if err != nil || len(made) != 1 {
		return fmt.Errorf("the compiler left %d files of code instead of one (%v)", len(made), err)
	}
	rel, err := filepath.Rel(dir, made[0])
	if err != nil {
		return fmt.Errorf("take compiled code over: %w", err)
	}
	sum, n, err := checksum(made[0])
	if err != nil {
		return fmt.Errorf("read compiled code: %w", err)
	}
	text, err := json.Marshal(record{File: rel, Bytes: n, Sum: sum})
	if err != nil {
		return fmt.Errorf("write down what was compiled: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.MkdirAll(filepath.Join(s.dir, filepath.Dir(rel)), 0o700); err != nil {
		return fmt.Errorf("take compiled code over: %w", err)
	}
	// The record comes first, so that nobody ever sees code that has none.
	if err := writeWhole(s.record(k.String()), text); err != nil {
		return fmt.Errorf("write down what was compiled: %w", err)
	}
	if err := os.Rename(made[0], filepath.Join(s.dir, rel)); err != nil {
		return fmt.Errorf("take compiled code over: %w", err)
	}
	return s.prune(k.String())
}

// writeWhole writes a file that is there whole or not at all.
func writeWhole(name string, data []byte) error {
	if err := os.WriteFile(name+".tmp", data, 0o600); err != nil {
		return err
	}
	return os.Rename(name+".tmp", name)
}

func (s *Store) record(key string) string { return filepath.Join(s.dir, records, key) }

func (s *Store) read(key string) (r record, err error) {
	text, err := os.ReadFile(s.record(key))
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, err
	}
	if !filepath.IsLocal(r.File) || !strings.HasPrefix(r.File, wazeroPrefix) {
		return r, errors.New("the record names no code")
	}
	return r, nil
}

func (s *Store) drop(key string, r record) {
	_ = os.Remove(filepath.Join(s.dir, r.File))
	_ = os.Remove(s.record(key))
}

func checksum(name string) (sum string, n int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	n, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), n, err
}

// entry is a record with the time of its last use.
type entry struct {
	key  string
	used time.Time
	record
}

// entries gives all records that can be read; others are removed.
func (s *Store) entries() (all []entry, err error) {
	files, err := os.ReadDir(filepath.Join(s.dir, records))
	if err != nil {
		return nil, fmt.Errorf("list compiled code: %w", err)
	}
	for _, f := range files {
		info, err := f.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		r, rerr := s.read(f.Name())
		if err != nil || rerr != nil {
			_ = os.Remove(s.record(f.Name()))
			continue
		}
		all = append(all, entry{f.Name(), info.ModTime(), r})
	}
	return all, nil
}
