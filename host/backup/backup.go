// Package backup writes all that is truth into one archive, also while a daemon runs, and puts it back: the journal, the ledger of what was
// erased, the configuration, the folders of characters and of plugins.
//
// An archive is a .tar.gz whose last file says what is in it, with checksums: one that was cut off has none. Keys of models and secrets of handlers
// are never in it, and the file of tokens only where somebody asks for it.
package backup

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/forget/ledger"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/journal/statedir"
)

// The parts of an archive, and how they are called where somebody wants only some of them.
const (
	Journal    = "journal"    // journal.db and erasures
	Config     = "config"     // companiond.toml
	Characters = "characters" // characters/...
	Plugins    = "plugins"    // plugins/...
	Tokens     = "tokens"     // tokens
)

// Parts gives all of them.
func Parts() []string { return []string{Config, Journal, Characters, Plugins, Tokens} }

// The files of an archive.
const (
	journalFile  = "journal.db"
	ledgerFile   = "erasures"
	configFile   = "companiond.toml"
	manifestFile = "MANIFEST.json"
)

// version is of the archive's shape. An older one is read for ever.
const version = 1

// Manifest is what an archive says of itself.
type Manifest struct {
	V     int       `json:"v"`
	Made  time.Time `json:"made"`
	By    string    `json:"by"` // the version of companiond
	Files []File    `json:"files"`
}

// File is one file of an archive.
type File struct {
	Name   string `json:"name"` // with slashes
	Size   int64  `json:"size"` // bytes
	Mode   uint32 `json:"mode"`
	SHA256 string `json:"sha256"` // in hex
}

// part says of which part a file is, "" for none.
func (f File) part() string {
	top, _, below := strings.Cut(f.Name, "/")
	switch {
	case below && (top == Characters || top == Plugins):
		return top
	case below:
		return ""
	}
	switch top {
	case journalFile, ledgerFile:
		return Journal
	case configFile:
		return Config
	case Tokens:
		return Tokens
	}
	return ""
}

// Options are of what, and where to.
type Options struct {
	File       string // of the archive; empty: Out
	Out        io.Writer
	Config     config.Config
	ConfigFile string // need not be there
	Tokens     string // the file of tokens, where it is to be in it; else empty
	Force      bool   // a file that is there is replaced
	Version    string // of this companiond
}

// Made is what came of it.
type Made struct {
	File    string   `json:"file"`
	Bytes   int64    `json:"bytes"`
	Files   int      `json:"files"`
	Rooms   int      `json:"rooms"`
	Entries uint64   `json:"entries"`  // of all rooms
	LeftOut []string `json:"left_out"` // what is not in it, each with the reason
}

// Write writes an archive, whole or not at all, and reads it through once more before it has its name.
//
// # Errors
//
// Of what is in the way, with what to type; journal.ErrCorrupt where the journal does not fit its chain; journal.ErrUnavailable where there is none.
func Write(ctx context.Context, o Options) (made Made, err error) {
	if err := o.refuse(); err != nil {
		return made, err
	}
	dir, done, err := o.workshop()
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, done()) }()
	db := filepath.Join(dir, journalFile)
	if err := sqlite.Copy(ctx, db, o.Config.Journal.Path); err != nil {
		return made, explain(err, o.Config.Journal.Path)
	}
	if made.Rooms, made.Entries, err = verify(ctx, db); err != nil {
		return made, fmt.Errorf("%w; nothing was written", err)
	}
	tmp := filepath.Join(dir, "archive")
	f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return made, err
	}
	w := &writer{ctx: ctx, config: o.Config, zip: gzip.NewWriter(f), manifest: Manifest{V: version, Made: time.Now().UTC().Truncate(time.Second), By: o.Version}}
	w.tar = tar.NewWriter(w.zip)
	err = cmp.Or(o.fill(w, db), w.end())
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return made, fmt.Errorf("write %s: %w", cmp.Or(o.File, "to standard output"), err)
	}
	if _, err := Inspect(ctx, tmp); err != nil {
		return made, fmt.Errorf("read the backup again: %w", err)
	}
	info, err := os.Stat(tmp)
	if err != nil {
		return made, err
	}
	made.File, made.Bytes, made.Files, made.LeftOut = o.File, info.Size(), len(w.manifest.Files), slices.Concat([]string{}, o.secrets(), w.left)
	return made, o.deliver(tmp)
}

// explain says what to do where there is no journal.
func explain(err error, path string) error {
	if _, serr := os.Stat(path); errors.Is(serr, fs.ErrNotExist) {
		return fmt.Errorf("%w; -config FILE names the configuration of another daemon", err)
	}
	return err
}

// refuse says why the archive may not be where somebody wants it.
func (o Options) refuse() error {
	if o.File == "" {
		return nil
	}
	info, err := os.Stat(o.File)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a folder: write %s", o.File, filepath.Join(o.File, "companiond-"+time.Now().Format("2006-01-02")+".tar.gz"))
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s is no file; with - for FILE the backup goes to standard output", o.File)
	case err == nil && !o.Force:
		return fmt.Errorf("%s is there already; -force replaces it", o.File)
	}
	for _, own := range []string{o.Config.Journal.Path, o.Config.Journal.Path + "-wal", o.Config.Journal.Path + "-shm", o.ledger(), o.ConfigFile, o.Tokens} {
		if there, oerr := os.Stat(own); err == nil && oerr == nil && os.SameFile(info, there) {
			return fmt.Errorf("%s is what is to be saved; give the backup another name", o.File)
		}
	}
	for key, folder := range map[string]string{"modules.characters": o.Config.Modules.Characters, "modules.plugins": o.Config.Modules.Plugins} {
		if within(o.File, folder) {
			return fmt.Errorf("%s would lie in %s, which is %s; put the backup elsewhere", o.File, folder, key)
		}
	}
	return nil
}

func (o Options) ledger() string {
	return filepath.Join(filepath.Dir(o.Config.Journal.Path), ledger.File)
}

// within says whether a file that need not be there lies in a folder, wherever links lead.
func within(file, folder string) bool {
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return false
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return false
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return false
	}
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return false
	}
	rel, err := filepath.Rel(folder, dir)
	return err == nil && filepath.IsLocal(rel)
}

// secrets names what an archive never holds.
func (o Options) secrets() (left []string) {
	if o.Tokens == "" && o.Config.Identity.Tokens != "" {
		left = append(left, "identity.tokens: "+o.Config.Identity.Tokens+" (-tokens takes it in)")
	}
	for _, m := range o.Config.Models {
		if m.Key != "" {
			left = append(left, "model."+m.Name+".key: "+m.Key)
		}
	}
	for _, h := range o.Config.Handlers {
		var secrets map[string]string
		_ = json.Unmarshal(h.Secrets, &secrets) // the configuration was read
		for _, name := range slices.Sorted(maps.Keys(secrets)) {
			left = append(left, "handler."+h.Name+".secrets."+name+": "+secrets[name])
		}
	}
	if o.Config.Door.OverlayCSS != "" {
		left = append(left, "door.overlay_css: "+o.Config.Door.OverlayCSS)
	}
	return left
}

// fill writes all that there is. The ledger comes behind the copy of the journal: it knows all orders that are done there.
func (o Options) fill(w *writer, db string) error {
	if err := w.file(journalFile, db); err != nil {
		return err
	}
	for _, f := range [][2]string{{ledgerFile, o.ledger()}, {configFile, o.ConfigFile}} {
		if err := w.file(f[0], f[1]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if o.Tokens != "" {
		if err := w.file(Tokens, o.Tokens); err != nil {
			return fmt.Errorf("identity.tokens: %w", err)
		}
	}
	return cmp.Or(w.folder(Characters, o.Config.Modules.Characters), w.folder(Plugins, o.Config.Modules.Plugins))
}

// deliver gives an archive its name, or writes it out.
func (o Options) deliver(tmp string) error {
	if o.File == "" {
		f, err := os.Open(tmp)
		if err != nil {
			return err
		}
		_, err = io.Copy(o.Out, f)
		return errors.Join(err, f.Close())
	}
	if !o.Force {
		// A link is refused where a file has come meanwhile, and a rename is not; where a disk has no links, that has to do.
		if err := os.Link(tmp, o.File); err == nil {
			return statedir.Sync(o.File)
		} else if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s is there already; -force replaces it", o.File)
		}
	}
	if err := os.Rename(tmp, o.File); err != nil {
		return err
	}
	return statedir.Sync(o.File)
}

// verify looks whether a journal fits its chain, and gives how many rooms and entries it has.
func verify(ctx context.Context, db string) (rooms int, entries uint64, err error) {
	j, err := sqlite.OpenReadOnly(db)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	look := func(r journal.Room) error {
		entries += r.Head.Seq
		switch bad, err := j.Verify(ctx, r.Name, 0); {
		case err != nil:
			return fmt.Errorf("%s: %w", r.Name, err)
		case bad != 0:
			return fmt.Errorf("%w: entry %d of %s does not fit its hash", journal.ErrCorrupt, bad, r.Name)
		}
		return nil
	}
	for r, err := range journal.AllRooms(ctx, j) {
		if err = cmp.Or(err, look(r)); err != nil {
			return 0, 0, err
		}
		rooms++
	}
	for r, err := range journal.AllStreams(ctx, j) {
		if err = cmp.Or(err, look(r)); err != nil {
			return 0, 0, err
		}
	}
	return rooms, entries, nil
}

// writer writes an archive.
type writer struct {
	ctx      context.Context
	zip      *gzip.Writer
	tar      *tar.Writer
	manifest Manifest
	config   config.Config
	left     []string
}

// file takes a file in.
func (w *writer) file(name, path string) (err error) {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no file", path)
	}
	mode := int64(info.Mode().Perm())
	if err := w.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: info.Size(), Mode: mode, ModTime: info.ModTime().Truncate(time.Second), Format: tar.FormatPAX}); err != nil {
		return err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w.tar, sum), io.LimitReader(f, info.Size()))
	if err != nil {
		return err
	}
	if n < info.Size() {
		return fmt.Errorf("%s became shorter while it was read; try again", path)
	}
	w.manifest.Files = append(w.manifest.Files, File{Name: name, Size: n, Mode: uint32(mode), SHA256: hexOf(sum)})
	return nil
}

func hexOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// folder takes a folder in, which need not be there. What begins with a dot is an editor's, and links are not followed.
func (w *writer) folder(name, path string) error {
	root, err := filepath.EvalSymlinks(path) // the folder itself may be a link
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && at != root { // it went while others were read
			return nil
		}
		if err != nil || at == root {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, at)
		if err != nil || d.IsDir() {
			return err
		}
		if !d.Type().IsRegular() {
			w.left = append(w.left, filepath.Join(path, rel)+": a link, or no file")
			return nil
		}
		if info, err := d.Info(); err == nil && name == Characters {
			if why := tooLarge(w.config, info.Size()); why != "" { // nor would it be put back
				w.left = append(w.left, filepath.Join(path, rel)+": "+why)
				return nil
			}
		}
		if err := w.file(name+"/"+filepath.ToSlash(rel), at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// end writes what the archive says of itself.
func (w *writer) end() error {
	b, err := json.MarshalIndent(w.manifest, "", " ")
	if err != nil {
		return err
	}
	if err := w.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: manifestFile, Size: int64(len(b)), Mode: 0o600, ModTime: w.manifest.Made, Format: tar.FormatPAX}); err != nil {
		return err
	}
	if _, err := io.Copy(w.tar, bytes.NewReader(b)); err != nil {
		return err
	}
	return cmp.Or(w.tar.Close(), w.zip.Close())
}
