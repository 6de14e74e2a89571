// Package whole reads files that others may be writing: what it gives is a whole version of one, and never half.
//
// It waits for nobody and tries nothing again.
package whole

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
)

// ErrMoving says that a file changed while it was read.
var ErrMoving = errors.New("it is still being written")

// Read reads a file of at most max bytes that stays as it is meanwhile.
//
// # Errors
//
// ErrMoving if the file changed: try again. An *abi.Error says what is wrong
// with the file: it is empty, which some tools leave for a moment, or too
// large. Others are the system's.
func Read(name string, max int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readStable(f, name, max)
}

// openFile is what readStable needs of one.
type openFile interface {
	io.Reader
	Stat() (fs.FileInfo, error)
}

func readStable(f openFile, name string, max int64) ([]byte, error) {
	before, err := f.Stat()
	if err != nil {
		return nil, err
	}
	switch {
	case before.Size() == 0:
		return nil, abi.Errorf(abi.CodeInvalid, "is empty: not yet written?")
	case before.Size() > max:
		return nil, abi.Errorf(abi.CodeTooLarge, "%d bytes, at most %d (wasm.max_file)", before.Size(), max)
	}
	data := make([]byte, before.Size()+1) // to see whether there is more
	n, err := io.ReadFull(f, data)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	data = data[:n]
	// By name again: a rename put another file there.
	after, err := os.Stat(name)
	if err != nil || !sameFile(before, after) || int64(len(data)) != before.Size() {
		return nil, ErrMoving
	}
	return data, nil
}

// sameFile says that name, size, time, mode and identity are equal.
func sameFile(a, b fs.FileInfo) bool {
	return a.Name() == b.Name() && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode() && os.SameFile(a, b)
}

// Stats are those of the files of a source, links followed.
type Stats []fs.FileInfo

// Same says that no file came, went, or changed as far as they can tell.
func (a Stats) Same(b Stats) bool { return slices.EqualFunc(a, b, sameFile) }

// Newest gives when a file was last written; the zero time where there are none.
func (a Stats) Newest() (at time.Time) {
	for _, info := range a {
		if info.ModTime().After(at) {
			at = info.ModTime()
		}
	}
	return at
}

// Size gives the bytes of all files.
func (a Stats) Size() (n int64) {
	for _, info := range a {
		n += info.Size()
	}
	return n
}
