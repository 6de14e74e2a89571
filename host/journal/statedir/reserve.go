package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

// Reserve is space put by in a file, so that there is some to give back when the
// disk is full.
type Reserve struct {
	path  string
	size  int64
	log   *slog.Logger
	later time.Time // when to try again to make it
}

// NewReserve is the reserve of a directory, of so many bytes, 0 for none. Nothing
// is written yet.
func NewReserve(dir string, size int64, log *slog.Logger) *Reserve {
	return &Reserve{path: filepath.Join(dir, "reserve"), size: size, log: log}
}

// Release gives the space back.
func (r *Reserve) Release() {
	switch err := os.Remove(r.path); {
	case err == nil:
		r.log.Warn("disk full: released the reserve", "bytes", r.size)
	case !errors.Is(err, fs.ErrNotExist):
		r.log.Error("release reserve", "err", err)
	}
}

// Regrow makes sure there is a reserve, and says false while the disk has no
// space for it and a quarter, at least 1 MiB, more.
func (r *Reserve) Regrow() bool {
	if st, err := os.Stat(r.path); r.size > 0 && err == nil && st.Size() == r.size {
		return true
	}
	if free, ok := Free(filepath.Dir(r.path)); ok && free < r.size+max(r.size/4, 1<<20) {
		return false
	}
	if r.size == 0 {
		return true
	}
	if time.Now().Before(r.later) {
		return false
	}
	if err := fill(r.path, r.size); err != nil {
		r.log.Warn("make reserve", "err", err)
		r.later = time.Now().Add(time.Minute) // a quota, perhaps: not every second
		_ = os.Remove(r.path)                 // half a reserve is none
		return false
	}
	return true
}

// fill makes a file of size bytes that really takes up as many; a hole would
// put nothing by.
func fill(path string, size int64) error {
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
