package folder

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
)

// errMoving says that a file changed while it was read.
var errMoving = errors.New("it is still being written")

// key tells contents apart: the same bytes under another engine are another
// companion. The zero key is no content.
type key struct{ engine, hash string }

// read reads the source, of at most max bytes. Its errors are those of readWhole.
func (s source) read(id string, generation uint64, max int64) (_ module.Source, err error) {
	whole := module.Source{ID: id, Name: s.show, Path: s.path, Generation: generation}
	sum := sha256.New()
	if s.files == nil {
		if whole.Data, err = readWhole(s.path, max); err != nil {
			return whole, err
		}
		sum.Write(whole.Data)
	} else if total := s.stats.size(); total > max {
		return whole, abi.Errorf(abi.CodeTooLarge, "%d bytes in %d files, at most %d (wasm.max_file)", total, len(s.files), max)
	} else {
		whole.Siblings = make(map[string][]byte, len(s.files))
	}
	for _, name := range s.files {
		data, err := readWhole(filepath.Join(s.path, name), max)
		if e := new(abi.Error); errors.As(err, &e) {
			return whole, abi.Errorf(e.Code, "%s: %s", name, e.Message)
		} else if err != nil {
			return whole, err
		}
		whole.Siblings[name] = data
		fmt.Fprintf(sum, "%q %d\n%s", name, len(data), data)
	}
	whole.Hash = hex.EncodeToString(sum.Sum(nil))
	return whole, nil
}

// readWhole reads a file of at most max bytes that stays as it is meanwhile.
//
// # Errors
//
// errMoving if the file changed: try again. An *abi.Error says what is wrong
// with the file: it is empty, which some tools leave for a moment, or too
// large. Others are the system's.
func readWhole(name string, max int64) ([]byte, error) {
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
		return nil, errMoving
	}
	return data, nil
}
