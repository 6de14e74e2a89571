package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/companiond/companiond/host/journal/statedir"
)

// The reserve is space put by in a file, so that there is some to give back
// when the disk is full.
func (j *Journal) reservePath() string { return filepath.Join(filepath.Dir(j.path), "reserve") }

func (j *Journal) releaseReserve() {
	switch err := os.Remove(j.reservePath()); {
	case err == nil:
		j.log.Warn("disk full: released the reserve", "bytes", j.cfg.Reserve)
	case !errors.Is(err, fs.ErrNotExist):
		j.log.Error("release reserve", "err", err)
	}
}

// regrowReserve makes sure there is a reserve, and says false while the disk
// has no space for it and a quarter, at least 1 MiB, more.
func (j *Journal) regrowReserve() bool {
	size := j.cfg.Reserve
	if st, err := os.Stat(j.reservePath()); size > 0 && err == nil && st.Size() == size {
		return true
	}
	if free, ok := statedir.Free(filepath.Dir(j.path)); ok && free < size+max(size/4, 1<<20) {
		return false
	}
	if size == 0 {
		return true
	}
	if time.Now().Before(j.regrowAfter) {
		return false
	}
	if err := statedir.Fill(j.reservePath(), size); err != nil {
		j.log.Warn("make reserve", "err", err)
		j.regrowAfter = time.Now().Add(time.Minute) // a quota, perhaps: not every second
		_ = os.Remove(j.reservePath())              // half a reserve is none
		return false
	}
	return true
}
