package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite"
)

// home is a folder in which a daemon would run.
type home struct {
	t   testing.TB
	dir string
}

func newHome(t testing.TB) home { return home{t, t.TempDir()} }

func (h home) path(name string) string { return filepath.Join(h.dir, filepath.FromSlash(name)) }

func (h home) write(name, text string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(h.path(name)), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(h.path(name), []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// read gives a file's text, empty where it is not there.
func (h home) read(name string) string {
	b, err := os.ReadFile(h.path(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.t.Error(err)
	}
	return string(b)
}

// config reads a configuration as if the daemon ran in the folder.
func (h home) config(file string) (config.Config, error) {
	src, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return config.Config{}, err
	}
	cfg, problems := config.Parse(file, src, nil)
	if config.Failed(problems) {
		return cfg, fmt.Errorf("%v", problems)
	}
	for _, p := range []*string{&cfg.Journal.Path, &cfg.Modules.Characters, &cfg.Modules.Plugins, &cfg.Modules.Cache} {
		*p = h.path(*p)
	}
	return cfg, nil
}

// open opens the journal; it is closed when the test ends, or before.
func (h home) open() *sqlite.Journal {
	h.t.Helper()
	j, err := sqlite.Open(sqlite.Config{Path: h.path("state/companiond.db")})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = j.Close() })
	return j
}

// say appends a text to a room and gives its id.
func say(ctx context.Context, j *sqlite.Journal, head journal.Head, room, id, text string) (journal.Head, error) {
	return j.Append(ctx, room, head, journal.New{ID: id, Kind: entry.KindSaid, At: time.Now(), Body: fmt.Appendf(nil, `{"from":"mika","text":%q}`, text)})
}

// talk has so many texts said in a room of its own journal, and closes it.
func (h home) talk(room string, texts ...string) {
	h.t.Helper()
	j := h.open()
	head, err := j.Acquire(h.t.Context(), room, "test", time.Now())
	for i, text := range texts {
		if err == nil {
			head, err = say(h.t.Context(), j, head, room, fmt.Sprint(room, "-", i), text)
		}
	}
	if err = errors.Join(err, j.Close()); err != nil {
		h.t.Fatal(err)
	}
}

// said gives the texts of a room as a daemon finds them at its start.
func (h home) said(room string) (texts []string) {
	h.t.Helper()
	j := h.open()
	es, err := j.Said(h.t.Context(), room, journal.Span{Limit: 1 << 20})
	if err = errors.Join(err, j.Close()); err != nil {
		h.t.Fatal(err)
	}
	for _, e := range es {
		m, _ := e.Message()
		texts = append(texts, m.Text)
	}
	return texts
}

// save writes a backup into the folder.
func (h home) save(name string, change ...func(*Options)) (Made, error) {
	cfg, err := h.config(h.path("companiond.toml"))
	if err != nil {
		h.t.Fatal(err)
	}
	o := Options{File: h.path(name), Config: cfg, ConfigFile: h.path("companiond.toml"), Version: "test"}
	for _, c := range change {
		c(&o)
	}
	return Write(h.t.Context(), o)
}

// back restores an archive here.
func (h home) back(file string, change ...func(*Back)) (Put, error) {
	b := Back{File: file, Load: h.config, ConfigFile: h.path("companiond.toml")}
	b.Tokens = func(c config.Config) (string, error) {
		if c.Identity.Tokens == "" {
			return "", nil
		}
		return h.path(c.Identity.Tokens), nil
	}
	for _, c := range change {
		c(&b)
	}
	return b.Restore(h.t.Context())
}

func force(b *Back) { b.Force = true }

// files lists what is below the folder, but for what a journal has beside it.
func (h home) files() (all []string) {
	err := filepath.WalkDir(h.dir, func(at string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(h.dir, at)
		switch name := d.Name(); {
		case err != nil || d.IsDir():
		case name == "lock" || name == "heads" || name == "companiond.db-wal" || name == "companiond.db-shm":
		default:
			all = append(all, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	slices.Sort(all)
	return all
}
