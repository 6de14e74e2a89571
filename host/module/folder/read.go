package folder

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder/whole"
)

// key tells contents apart: the same bytes under another engine are another
// companion. The zero key is no content.
type key struct{ engine, hash string }

// read reads the source, of at most max bytes. Its errors are those of [whole.Read].
func (s source) read(id string, generation uint64, max int64) (_ module.Source, err error) {
	src := module.Source{ID: id, Name: s.show, Path: s.path, Generation: generation}
	sum := sha256.New()
	if s.files == nil {
		if src.Data, err = whole.Read(s.path, max); err != nil {
			return src, err
		}
		sum.Write(src.Data)
	} else if total := s.stats.Size(); total > max {
		return src, abi.Errorf(abi.CodeTooLarge, "%d bytes in %d files, at most %d (wasm.max_file)", total, len(s.files), max)
	} else {
		src.Siblings = make(map[string][]byte, len(s.files))
	}
	for _, name := range s.files {
		data, err := whole.Read(filepath.Join(s.path, name), max)
		if e := new(abi.Error); errors.As(err, &e) {
			return src, abi.Errorf(e.Code, "%s: %s", name, e.Message)
		} else if err != nil {
			return src, err
		}
		src.Siblings[name] = data
		fmt.Fprintf(sum, "%q %d\n%s", name, len(data), data)
	}
	src.Hash = hex.EncodeToString(sum.Sum(nil))
	return src, nil
}
