// Package files lets makers change the files of characters from afar: what there is in the folder, a file's text, what is
// wrong with a text, and saving or deleting it.
//
// A text is judged by the very code that loads it, before anything is written: one with a mistake never takes the place of one
// without. A file is replaced whole or not at all, and only while it still is what its editor had seen. What it was before
// stands beside it, as NAME~, which nobody loads.
//
// The package never leaves the folder, follows no link in it, touches no file but those of characters that are one text, and
// does not load what it saved: who watches the folder does.
package files

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
)

// Max is how many bytes a text may have that is read or saved here.
const Max = 256 << 10

// Kind is what a file is written in.
type Kind string

// The kinds.
const (
	Card       Kind = "card"       // JSON that a language model lives
	Script     Kind = "script"     // lines to say
	JavaScript Kind = "javascript" //
	TypeScript Kind = "typescript" //
)

// endings are those of the kinds, one that another ends in behind that.
var endings = []struct {
	ending string
	kind   Kind
}{{".talk.txt", Script}, {".d.ts", ""}, {".json", Card}, {".js", JavaScript}, {".ts", TypeScript}}

// before is behind the name of a file that has what another was before. No file with such a name is loaded.
const before = "~"

// Config says which folder it is.
type Config struct {
	Dir     string
	Engines []module.Engine // that judge texts; what they load is closed at once
	Grants  module.Grants   // a text that needs more is refused
	Taken   func() []string // ids of modules that are elsewhere; nil: none
}

// Store is the files of a folder.
type Store struct {
	cfg    Config
	saving sync.Mutex // one at a time changes files
	trying chan struct{}
}

// New makes a store. It touches no file.
func New(cfg Config) *Store {
	if cfg.Taken == nil {
		cfg.Taken = func() []string { return nil }
	}
	return &Store{cfg: cfg, trying: make(chan struct{}, 1)}
}

// File is a file of a character.
type File struct {
	Name     string    // "momo.talk.txt"
	ID       string    // of the character: "momo"
	Kind     Kind      //
	Size     int64     // in bytes
	Modified time.Time //
	Hash     string    // SHA-256 of its bytes, in hex; only where it was read
	Text     string    // only where it was read
	Deleted  bool      // it is gone, and what it was is still there
	Before   bool      // what it was before is there
}

// kindOf gives what a file's name says; ok is false for one that is no character's text.
func kindOf(name string) (id string, kind Kind, ok bool) {
	for _, e := range endings {
		if id, ok := strings.CutSuffix(name, e.ending); ok {
			return norm.NFC.String(id), e.kind, e.kind != "" && id != ""
		}
	}
	return "", "", false
}

// checkName says why a file cannot have a name, and gives what it says.
func checkName(name string) (id string, kind Kind, err error) {
	id, kind, ok := kindOf(name)
	if !ok {
		return "", "", abi.Field("file", abi.CodeInvalid, "%.80q is no name of a character's file: it ends in .json for a card, .talk.txt for a script, .js or .ts", name)
	}
	if err := abi.CheckName("file", id); err != nil {
		return "", "", err
	}
	if why := address.Reserved(id, abi.KindCompanion); why != "" {
		return "", "", abi.Field("file", abi.CodeInvalid, "%s; take another name", why)
	}
	if reserved(id) {
		return "", "", abi.Field("file", abi.CodeInvalid, "%q cannot be a file's name on Windows; take another name", id)
	}
	return id, kind, nil
}

// reserved says whether Windows means a device by a name, whatever it ends in.
func reserved(id string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(id), ".")
	switch stem {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(stem) == 4 && (strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")) && stem[3] >= '1' && stem[3] <= '9'
}

// open opens the folder. Nothing that is opened in it lies outside of it.
func (s *Store) open() (*os.Root, error) {
	root, err := os.OpenRoot(s.cfg.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, abi.Errorf(abi.CodeNotFound, "the folder of characters is not there: make it, or say in modules.characters where it is")
	}
	if err != nil {
		return nil, failed("open the folder of characters", err)
	}
	return root, nil
}

// List gives the files, by name, without their texts, and why none can be saved; nil: they can.
//
// # Errors
//
// CodeUnavailable: the folder cannot be read.
func (s *Store) List() (all []File, readOnly error, err error) {
	entries, err := os.ReadDir(s.cfg.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil // the first save makes it
	}
	if err != nil {
		return nil, nil, failed("read the folder of characters", err)
	}
	found := map[string]*File{}
	for _, e := range entries {
		name, was := strings.CutSuffix(e.Name(), before)
		if !e.Type().IsRegular() {
			continue
		}
		id, kind, err := checkName(name)
		if err != nil || strings.HasPrefix(name, ".") {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // it went this moment
		}
		f := found[name]
		if f == nil {
			f = &File{Name: name, ID: id, Kind: kind, Deleted: true}
			found[name] = f
		}
		if was {
			f.Before = true
		} else {
			f.Deleted = false
		}
		if !was || f.Deleted {
			f.Size, f.Modified = info.Size(), info.ModTime()
		}
	}
	for _, f := range found {
		all = append(all, *f)
	}
	slices.SortFunc(all, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return all, s.writable(), nil
}

// Read gives a file, or what it was before.
//
// # Errors
//
// CodeNotFound; CodeInvalid: it is no text, or a link; CodeTooLarge.
func (s *Store) Read(name string, was bool) (File, error) {
	id, kind, err := checkName(name)
	if err != nil {
		return File{}, err
	}
	root, err := s.open()
	if err != nil {
		return File{}, err
	}
	defer root.Close()
	at := name
	if was {
		at += before
	}
	data, info, err := read(root, at)
	if err != nil {
		return File{}, err
	}
	if !utf8.Valid(data) {
		return File{}, abi.Field("file", abi.CodeInvalid, "%s is no UTF-8; save it in that encoding with an editor", at)
	}
	return File{Name: name, ID: id, Kind: kind, Size: info.Size(), Modified: info.ModTime(), Hash: hashOf(data), Text: string(data)}, nil
}

// hashOf gives SHA-256 of a file's bytes in hex.
func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Save writes a text to a file that has the bytes of a hash, or, where that is empty, to one that is not there yet. It gives
// the hash of what is there now.
//
// # Errors
//
// [Refused] says what is wrong with the text. CodeConflict: the file is another by now, or is there, or is not; CodeInvalid:
// there cannot be such a file, or another one is of the same character; CodeDenied: nobody may write there; CodeTooLarge.
// Nothing has changed then.
func (s *Store) Save(ctx context.Context, name, text, hash string) (now string, err error) {
	if err := s.Check(ctx, name, text); err != nil {
		return "", err
	}
	s.saving.Lock()
	defer s.saving.Unlock()
	if hash == "" {
		if err := os.MkdirAll(s.cfg.Dir, 0o755); err != nil {
			return "", s.denied(err)
		}
	}
	root, err := s.open()
	if err != nil {
		return "", err
	}
	defer root.Close()
	if hash == "" {
		err = s.free(name)
		if err == nil {
			err = create(root, name, []byte(text))
		}
	} else {
		err = replace(root, name, []byte(text), hash)
	}
	if err != nil {
		return "", s.denied(err)
	}
	return hashOf([]byte(text)), nil
}

// Delete takes a file that has the bytes of a hash away. What it was stays beside.
//
// # Errors
//
// As those of [Store.Save].
func (s *Store) Delete(name, hash string) error {
	if _, _, err := checkName(name); err != nil {
		return err
	}
	s.saving.Lock()
	defer s.saving.Unlock()
	root, err := s.open()
	if err != nil {
		return err
	}
	defer root.Close()
	return s.denied(remove(root, name, hash))
}

// free says why a new file cannot have its name: another one is of the same character, or of one that people could not tell
// from it.
func (s *Store) free(name string) error {
	id, _, err := checkName(name)
	if err != nil {
		return err
	}
	names := s.cfg.Taken()
	entries, err := os.ReadDir(s.cfg.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || strings.HasSuffix(e.Name(), before) {
			continue
		}
		if strings.EqualFold(e.Name(), name) {
			return abi.Field("file", abi.CodeConflict, "%s is there already", e.Name())
		}
		other, _, ok := kindOf(e.Name())
		if !ok { // a folder, WebAssembly, or what is no character
			other = norm.NFC.String(e.Name())
			if strings.HasPrefix(other, id+".") {
				other = id
			}
		}
		if other == id {
			return abi.Field("file", abi.CodeInvalid, "%s is of the same character; change that, or delete it first", e.Name())
		}
		if ok || e.IsDir() {
			names = append(names, other)
		}
	}
	for _, other := range names {
		if address.LookOf(other).Alike(address.LookOf(id)) {
			return abi.Field("file", abi.CodeInvalid, "%s reads or looks like %s, who is there; take another name", id, other)
		}
	}
	return nil
}

// denied says what to do where nobody may write.
func (s *Store) denied(err error) error {
	if errors.Is(err, fs.ErrPermission) || readOnly(err) {
		return abi.Errorf(abi.CodeDenied, "the daemon may only read the folder of characters %s: change files there yourself, or let the daemon's user write there (as a service: docs/SERVICE.md, \"A folder that the page may change\"): %w", s.cfg.Dir, reason(err))
	}
	var known *abi.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return failed("save", err)
}

// failed is an error of the system, without the place of the folder.
func failed(what string, err error) error {
	return abi.Errorf(abi.CodeUnavailable, "cannot %s: %w", what, reason(err))
}

// reason is what the system says, without a path.
func reason(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}

// admit is what the folder asks of what was loaded.
func (s *Store) admit(id string, m module.Module) error {
	return folder.Admit(id, m.Describe(), false, s.cfg.Grants)
}
