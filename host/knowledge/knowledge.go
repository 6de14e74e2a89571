// Package knowledge reads the documents that a maker puts beside a companion, in
// characters/NAME/knowledge, as they are at the moment.
//
// It never reads what lies outside of that folder, follows no link out of it, and keeps nothing.
package knowledge

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
)

// Folder is the folder of a companion's documents, below its own.
const Folder = "knowledge"

// maxDocuments is how many are listed, and maxSize how many bytes one may have.
const (
	maxDocuments = 200
	maxSize      = 1 << 20
)

// Shelves are the documents of all companions of a folder.
type Shelves struct{ dir string }

// New gives those below the folder of characters.
func New(characters string) Shelves { return Shelves{characters} }

// Get gives the list of a companion's documents, or one of them from a byte on. They are texts in UTF-8
// whose names end in .md, .txt or .json.
//
// # Errors
//
// CodeNotFound for a document that is not there, CodeInvalid for one that is no text, or a place that
// is not in it, CodeTooLarge for one above 1 MiB.
func (s Shelves) Get(companion string, a abi.KnowledgeAsk) (abi.Knowledge, error) {
	if _, err := abi.Limit(a.Limit, abi.MaxKnowledge, abi.MaxKnowledge); err != nil {
		return abi.Knowledge{}, err
	}
	if err := abi.CheckName("companion", companion); err != nil {
		return abi.Knowledge{}, err
	}
	root, err := s.open(companion)
	if errors.Is(err, fs.ErrNotExist) {
		if a.Name == "" {
			return abi.Knowledge{}, nil
		}
		return abi.Knowledge{}, missing(a.Name)
	}
	if err != nil {
		return abi.Knowledge{}, unreadable(err)
	}
	defer root.Close()
	if a.Name == "" {
		return list(root)
	}
	return read(root, a)
}

// open opens the folder of a companion's documents, which no link may lead out of the folder of
// characters.
func (s Shelves) open(companion string) (*os.Root, error) {
	all, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, err
	}
	defer all.Close()
	return all.OpenRoot(path.Join(companion, Folder))
}

func missing(name string) error {
	return abi.Field("name", abi.CodeNotFound, "there is no document %.64q; ask without a name for those that are there", name)
}

func unreadable(err error) error {
	return abi.Errorf(abi.CodeUnavailable, "knowledge.get: the documents cannot be read: %w", err)
}

// document says whether a name is that of one.
func document(name string) bool {
	return !strings.HasPrefix(name, ".") && slices.Contains([]string{".md", ".txt", ".json"}, path.Ext(name))
}

func list(root *os.Root) (k abi.Knowledge, err error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return k, unreadable(err)
	}
	for _, e := range entries {
		if !document(e.Name()) || len(k.Documents) == maxDocuments {
			continue
		}
		if info, err := root.Stat(e.Name()); err == nil && info.Mode().IsRegular() { // it may have gone since
			k.Documents = append(k.Documents, abi.Document{Name: e.Name(), Size: info.Size()})
		}
	}
	return k, nil
}

func read(root *os.Root, a abi.KnowledgeAsk) (k abi.Knowledge, err error) {
	if !document(a.Name) || strings.ContainsAny(a.Name, `/\`) {
		return k, missing(a.Name)
	}
	f, err := root.OpenFile(a.Name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would be waited for
	if errors.Is(err, fs.ErrNotExist) {
		return k, missing(a.Name)
	}
	if err != nil {
		return k, unreadable(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return k, missing(a.Name)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	switch {
	case err != nil:
		return k, unreadable(err)
	case len(data) > maxSize:
		return k, abi.Field("name", abi.CodeTooLarge, "%.64q has more than %d bytes; make several documents of it", a.Name, maxSize)
	case !utf8.Valid(data):
		return k, abi.Field("name", abi.CodeInvalid, "%.64q is no text in UTF-8; save it as one", a.Name)
	}
	return a.Part(string(data))
}
