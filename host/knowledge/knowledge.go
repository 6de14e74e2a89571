// Package knowledge reads the documents that a maker puts beside a companion, in
// characters/NAME/knowledge, as they are at the moment.
//
// It never reads what lies outside of that folder, follows no link out of it, and keeps nothing of a
// text: only which files could be read when they were last looked at.
package knowledge

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
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
type Shelves struct {
	dir string
	log *slog.Logger

	mu   sync.Mutex
	seen map[string]map[string]look // by companion and name, as of its newest list
}

// look is what was found when a file was last looked at. One with another size or time is
// looked at again, so that a list costs a stat for each file and reads none twice.
type look struct {
	size int64
	at   time.Time
	why  string // it is not offered; empty: it is
	once bool   // looking again would find the same
}

// New gives those below the folder of characters. The log is told of each file that cannot be
// offered, once until it changes; nil means nobody is told.
func New(characters string, log *slog.Logger) *Shelves {
	return &Shelves{dir: characters, log: cmp.Or(log, slog.New(slog.DiscardHandler)), seen: map[string]map[string]look{}}
}

// Get gives the list of a companion's documents, or one of them from a byte on. They are texts in UTF-8
// whose names end in .md, .txt or .json. A file with such a name that could not be read is not listed.
//
// # Errors
//
// CodeNotFound for a document that is not there, CodeInvalid for one that is no text, or a place that
// is not in it, CodeTooLarge for one above 1 MiB.
func (s *Shelves) Get(companion string, a abi.KnowledgeAsk) (abi.Knowledge, error) {
	if _, err := abi.Limit(a.Limit, abi.MaxKnowledge, abi.MaxKnowledge); err != nil {
		return abi.Knowledge{}, err
	}
	if err := abi.CheckName("companion", companion); err != nil {
		return abi.Knowledge{}, err
	}
	root, err := s.open(companion)
	if errors.Is(err, fs.ErrNotExist) {
		if a.Name == "" {
			s.note(companion, nil)
			return abi.Knowledge{}, nil
		}
		return abi.Knowledge{}, missing(a.Name)
	}
	if err != nil {
		return abi.Knowledge{}, unreadable(err)
	}
	defer root.Close()
	if a.Name == "" {
		return s.list(root, companion)
	}
	return read(root, a)
}

// open opens the folder of a companion's documents, which no link may lead out of the folder of
// characters.
func (s *Shelves) open(companion string) (*os.Root, error) {
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

func (s *Shelves) list(root *os.Root, companion string) (k abi.Knowledge, err error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return k, unreadable(err)
	}
	s.mu.Lock()
	before := s.seen[companion] // which nobody changes
	s.mu.Unlock()
	looked := map[string]look{}
	for _, e := range entries {
		if !document(e.Name()) || len(k.Documents) == maxDocuments {
			continue
		}
		info, err := root.Stat(e.Name())
		if err != nil || !info.Mode().IsRegular() { // it may have gone since
			continue
		}
		l := before[e.Name()]
		if !l.once || l.size != info.Size() || !l.at.Equal(info.ModTime()) {
			l = lookAt(root, e.Name(), info)
		}
		if looked[e.Name()] = l; l.why == "" {
			k.Documents = append(k.Documents, abi.Document{Name: e.Name(), Size: info.Size()})
		}
	}
	s.note(companion, looked)
	return k, nil
}

// lookAt finds out whether a file can be read as a document. A large one is not opened.
func lookAt(root *os.Root, name string, info fs.FileInfo) look {
	l := look{size: info.Size(), at: info.ModTime(), once: true}
	err := tooLarge(name)
	if l.size <= maxSize {
		_, err = load(root, name)
	}
	if err != nil {
		l.why = abi.AsError(err).Reason()
		l.once = abi.CodeOf(err) != abi.CodeUnavailable // who may read it is no matter of its time
	}
	return l
}

// note keeps what a list has found, and tells the log what is new of it.
func (s *Shelves) note(companion string, looked map[string]look) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.seen[companion] // another list may have been quicker
	for name, l := range looked {
		if l.why != "" && l != before[name] {
			s.log.Warn("a document is not offered to its companion", "companion", companion, "file", path.Join(s.dir, companion, Folder, name), "why", l.why)
		}
	}
	if len(looked) == 0 {
		delete(s.seen, companion)
		return
	}
	s.seen[companion] = looked
}

func read(root *os.Root, a abi.KnowledgeAsk) (k abi.Knowledge, err error) {
	if !document(a.Name) || strings.ContainsAny(a.Name, `/\`) {
		return k, missing(a.Name)
	}
	text, err := load(root, a.Name)
	if err != nil {
		return k, err
	}
	return a.Part(text)
}

func tooLarge(name string) error {
	return abi.Field("name", abi.CodeTooLarge, "%.64q has more than %d bytes; make several documents of it", name, maxSize)
}

// load reads a whole document.
func load(root *os.Root, name string) (string, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would be waited for
	if errors.Is(err, fs.ErrNotExist) {
		return "", missing(name)
	}
	if err != nil {
		return "", unreadable(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", missing(name)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	switch {
	case err != nil:
		return "", unreadable(err)
	case len(data) > maxSize:
		return "", tooLarge(name)
	case !utf8.Valid(data):
		return "", abi.Field("name", abi.CodeInvalid, "%.64q is no text in UTF-8 but in another encoding, such as Shift_JIS; save it as UTF-8", name)
	}
	return string(data), nil
}
