package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/forget/ledger"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/erasure"
	"github.com/companiond/companiond/host/journal/statedir"
	"github.com/companiond/companiond/host/journal/swap"
)

// Back is what is put back, and where.
type Back struct {
	File string
	// Load reads a configuration, as the daemon will: it says where things go.
	Load       func(file string) (config.Config, error)
	ConfigFile string
	Tokens     func(config.Config) (string, error) // where the file of tokens is, empty for nowhere
	Only       []string                            // parts; none: all
	Force      bool                                // what is there is moved aside
}

// Put is what came of it.
type Put struct {
	Made     string   `json:"made"` // when the backup was, RFC 3339
	By       string   `json:"by"`   // the version of companiond that made it
	Rooms    int      `json:"rooms"`
	Entries  uint64   `json:"entries"`
	Restored []string `json:"restored"` // where something was put
	Aside    []string `json:"aside"`    // where what was there is now
	Same     []string `json:"same"`     // what was there already, letter by letter
}

// place is where a part goes.
type place struct {
	part string
	at   string // of the part: a file or a folder
	new  string // where it is made
	old  string // where what is there goes
	same bool   // it is there already
	busy bool   // something else is
}

// restoring is the work of putting one archive back.
type restoring struct {
	Back
	*Archive
	state  string // the state directory
	stamp  string
	places []*place
}

// Restore puts an archive back. Until all of it lies beside its place, and was verified, nothing is changed; from then on it is put in its place
// also where the program is killed, by the next start of the daemon or the next Restore.
//
// # Errors
//
// journal.ErrLocked while a daemon runs; what is in the way, with what to type; what is wrong with the archive.
func (b Back) Restore(ctx context.Context) (put Put, err error) {
	a, err := Inspect(ctx, b.File)
	if err != nil {
		return put, err
	}
	r := &restoring{Back: b, Archive: a, stamp: statedir.Stamp()}
	for _, part := range b.Only {
		if !a.has(part) {
			return put, fmt.Errorf("%s has no %s", b.File, part)
		}
	}
	cfg, err := r.settle()
	if err != nil {
		return put, err
	}
	if err := r.bounded(cfg); err != nil {
		return put, err
	}
	if err := os.MkdirAll(r.state, 0o700); err != nil {
		return put, err
	}
	lock := statedir.NewLock(r.state)
	if err := lock.Take(); errors.Is(err, journal.ErrLocked) {
		return put, fmt.Errorf("%w; stop it first, for it would write into what is put back", err)
	} else if err != nil {
		return put, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if err := swap.Finish(r.state); err != nil { // of one that was killed
		return put, err
	}
	put = Put{Made: a.Made.Format("2006-01-02T15:04:05Z"), By: a.By, Restored: []string{}, Aside: []string{}, Same: []string{}}
	if err := r.look(); err != nil {
		return put, err
	}
	defer r.clean()
	if err := r.extract(ctx); err != nil {
		return put, err
	}
	if p := r.place(Journal); p != nil {
		if put.Rooms, put.Entries, err = verify(ctx, p.new); err != nil {
			return put, fmt.Errorf("%s: %w; nothing was changed", b.File, err)
		}
	}
	steps, err := r.steps(&put)
	if err != nil {
		return put, err
	}
	return put, swap.Commit(r.state, steps)
}

func (r *restoring) wants(part string) bool {
	return r.has(part) && (len(r.Only) == 0 || slices.Contains(r.Only, part))
}

func (r *restoring) place(part string) *place {
	for _, p := range r.places {
		if p.part == part {
			return p
		}
	}
	return nil
}

// settle finds where each part goes: where the configuration says that will be there then.
func (r *restoring) settle() (cfg config.Config, err error) {
	file := r.ConfigFile
	there, err := os.ReadFile(r.ConfigFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cfg, err
	}
	if r.wants(Config) && !bytes.Equal(there, r.config) && (r.Force || len(there) == 0) {
		dir, err := os.MkdirTemp("", "companiond")
		if err != nil {
			return cfg, err
		}
		defer os.RemoveAll(dir)
		file = filepath.Join(dir, configFile)
		if err := os.WriteFile(file, r.config, 0o600); err != nil {
			return cfg, err
		}
	}
	if cfg, err = r.Load(file); err != nil {
		return cfg, err
	}
	db, err := filepath.Abs(cfg.Journal.Path)
	if err != nil {
		return cfg, err
	}
	r.state = filepath.Dir(db)
	places := map[string]string{Journal: db, Config: r.ConfigFile, Characters: cfg.Modules.Characters, Plugins: cfg.Modules.Plugins}
	if r.wants(Tokens) {
		if places[Tokens], err = r.Tokens(cfg); err != nil {
			return cfg, err
		}
		if places[Tokens] == "" {
			return cfg, errors.New("the backup has tokens, and the configuration names no file for them: set identity.tokens, or leave them out with -only journal,config,characters,plugins")
		}
	}
	for _, part := range Parts() { // the configuration first: it says where the plan lies
		if !r.wants(part) {
			continue
		}
		at, err := filepath.Abs(places[part])
		if err != nil {
			return cfg, err
		}
		p := &place{part: part, at: at, new: at + ".restore" + storeNew, old: at + erasure.Before + r.stamp}
		if part == Journal {
			p.new = filepath.Join(r.state, erasure.Coming, journalFile)
			p.old = filepath.Join(p.old, filepath.Base(at))
		}
		r.places = append(r.places, p)
	}
	return cfg, nil
}

// storeNew ends the name of what is not complete.
const storeNew = ".new"

// look finds what is in the way, and refuses it where nobody said that it is moved aside.
func (r *restoring) look() error {
	var busy []string
	for _, p := range r.places {
		var err error
		if p.same, p.busy, err = r.compare(p); err != nil {
			return err
		}
		if p.busy {
			busy = append(busy, p.at)
		}
	}
	if len(busy) > 0 && !r.Force {
		return fmt.Errorf("there is already %s; -force moves that aside and deletes nothing; -only takes a part alone out of the backup: %s", strings.Join(busy, ", "), strings.Join(Parts(), ", "))
	}
	return nil
}

// compare says whether a part is in its place already, or something else is.
func (r *restoring) compare(p *place) (same, busy bool, err error) {
	info, err := os.Stat(p.at)
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	if p.part == Journal {
		return false, info.Size() > 0, nil
	}
	have := map[string]File{}
	w := summer{p.part, have}
	if info.IsDir() {
		err = w.folder(p.at)
	} else {
		err = w.file(r.nameOf(p.part), p.at)
	}
	if err != nil {
		return false, false, err
	}
	want := 0
	for _, f := range r.Files {
		if f.part() == p.part {
			want++
			got := have[f.Name]
			same = got.SHA256 == f.SHA256
			if !same {
				return false, len(have) > 0, nil
			}
		}
	}
	same = want == len(have)
	return same, !same && len(have) > 0, nil
}

// nameOf gives the name in the archive of a part that is one file.
func (r *restoring) nameOf(part string) string {
	if part == Config {
		return configFile
	}
	return part
}

// clean deletes what was made beside places, and did not come there.
func (r *restoring) clean() {
	for _, p := range r.places {
		if !swap.Pending(r.state) {
			_ = os.RemoveAll(p.new)
		}
	}
	if !swap.Pending(r.state) {
		_ = os.RemoveAll(filepath.Join(r.state, erasure.Coming))
	}
}

// extract takes what is wanted out of the archive, beside the places.
func (r *restoring) extract(ctx context.Context) error {
	roots := map[string]*os.Root{}
	defer func() {
		for _, root := range roots {
			_ = root.Close()
		}
	}()
	r.clean()
	for _, p := range r.places {
		dir := filepath.Dir(p.new)
		if p.part == Characters || p.part == Plugins {
			dir = p.new
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return err
		}
		roots[p.part] = root
	}
	m, err := read(ctx, r.path, func(f File, in io.Reader) error {
		p := r.place(f.part())
		if p == nil || p.same {
			_, err := io.Copy(io.Discard, in)
			return err
		}
		name := filepath.Base(p.new)
		switch {
		case f.Name == ledgerFile:
			name = ledgerFile
		case p.part == Characters || p.part == Plugins:
			name = filepath.FromSlash(strings.TrimPrefix(f.Name, p.part+"/"))
		}
		return unpack(roots[p.part], name, f, in)
	})
	if err == nil && !m.Made.Equal(r.Made) {
		err = errors.New("it became another file while it was read")
	}
	if err != nil {
		return fmt.Errorf("%s: %w; nothing was changed", r.File, err)
	}
	for _, p := range r.places {
		if err := settled(p); err != nil {
			return err
		}
	}
	return nil
}

// unpack writes one file, whole and on the disk.
func unpack(root *os.Root, name string, f File, in io.Reader) error {
	if free, ok := statedir.Free(root.Name()); ok && free < f.Size+1<<20 {
		return fmt.Errorf("%s takes %d bytes, and on the disk of %s are %d", f.Name, f.Size, root.Name(), free)
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	if part := f.part(); part == Characters || part == Plugins || part == Config {
		mode = fs.FileMode(f.Mode)&0o775 | 0o600
	}
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Chmod(mode), out.Sync(), out.Close())
}

// steps are what is exchanged, in order.
func (r *restoring) steps(put *Put) (steps []swap.Step, err error) {
	for _, p := range r.places {
		if p.same {
			put.Same = append(put.Same, p.at)
			continue
		}
		s := swap.Step{New: p.new, Place: p.at}
		if !empty(p.at) {
			s.Old = p.old
			put.Aside = append(put.Aside, p.old)
		}
		if p.part == Journal {
			before, err := r.beside(p)
			if err != nil {
				return nil, err
			}
			steps = append(steps, before...)
		}
		steps = append(steps, s)
		put.Restored = append(put.Restored, p.at)
	}
	return append(steps, swap.Step{Place: filepath.Join(r.state, erasure.Coming)}), nil
}

// empty says whether there is nothing at a path, or a folder or file with nothing in it.
func empty(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	if !info.IsDir() {
		return info.Mode().IsRegular() && info.Size() == 0
	}
	files, err := os.ReadDir(path)
	return err == nil && len(files) == 0
}

// beside is what goes with the journal: its log and its mark go aside with it, the index of words is made anew, and the ledger has the orders of
// both, those of the backup first, so that all that were given since are carried out in it.
func (r *restoring) beside(p *place) (steps []swap.Step, err error) {
	aside := filepath.Dir(p.old)
	for _, suffix := range []string{"-wal", "-shm"} {
		steps = append(steps, swap.Step{Place: p.at + suffix, Old: p.old + suffix})
	}
	steps = append(steps, swap.Step{Place: filepath.Join(r.state, statedir.MarkFile), Old: filepath.Join(aside, statedir.MarkFile)})
	for _, suffix := range []string{"", "-wal", "-shm"} {
		steps = append(steps, swap.Step{Place: filepath.Join(r.state, indexFile+suffix)})
	}
	at, made := filepath.Join(r.state, ledger.File), filepath.Join(filepath.Dir(p.new), ledgerFile)
	theirs, err := os.ReadFile(made)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	ours, err := os.ReadFile(at)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if len(theirs) == 0 {
		return steps, nil
	}
	if err := rewrite(made, ledger.Merge(theirs, ours)); err != nil {
		return nil, err
	}
	if err := like(made, at, r.state); err != nil {
		return nil, err
	}
	return append(steps, swap.Step{New: made, Place: at}), nil
}

// indexFile is what host/search finds words by, which is made anew from the journal.
const indexFile = "search.db"

func rewrite(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

// settled gives what was made the owner and the rights of what it replaces, or of the folder it goes to, and has its names on the disk.
func settled(p *place) error {
	if p.same {
		return os.RemoveAll(p.new)
	}
	mode := fs.FileMode(0o755) // of folders: a group may drop characters into some
	if info, err := os.Stat(p.at); err == nil && info.IsDir() {
		mode = info.Mode() & (fs.ModePerm | fs.ModeSetgid)
	}
	return filepath.WalkDir(p.new, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := like(at, p.at, filepath.Dir(p.at)); err != nil {
			return err
		}
		if !d.IsDir() {
			return nil
		}
		if err := os.Chmod(at, mode); err != nil {
			return err
		}
		return statedir.Sync(filepath.Join(at, "x"))
	})
}

// like gives a file the owner of the first of some others that is there, where this process may.
func like(path string, others ...string) error {
	for _, other := range others {
		if info, err := os.Stat(other); err == nil {
			return own(path, info)
		}
	}
	return nil
}
