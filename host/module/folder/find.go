package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder/whole"
)

// finder knows which files below a folder are companions. It reads names and
// stats, never contents.
type finder struct {
	dir     string
	engines []module.Engine
}

// source is a file that could be a companion, or a folder that could as a whole.
type source struct {
	show   string // below the folder, with slashes
	path   string // to open
	engine module.Engine
	files  []string    // of a folder that the engine takes whole, sorted
	stats  whole.Stats // of the file, or of all files; none if err is set
	twins  []string    // what else is there for the id, and yields to this though this is not made of it
	err    error       // why it can never be read as it is
}

// ignored says that makers' tools left this name behind, or will in a moment
// rename it to the real one.
func ignored(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") ||
		strings.HasSuffix(name, ".tmp") || strings.HasSuffix(name, "-go-tmp-umask")
}

// engineOf gives the engine for a file name and the stem that it leaves of it; nil
// and the whole name if none takes it.
func (f finder) engineOf(name string) (e module.Engine, stem string) {
	stem = name
	for _, c := range f.engines {
		if s, ok := c.Match(name); ok && s != "" && (e == nil || len(s) < len(stem)) {
			e, stem = c, s
		}
	}
	return e, stem
}

// wholeOf gives the engine that takes a folder with these files; nil if none does.
func (f finder) wholeOf(files []string) module.Engine {
	for _, c := range f.engines {
		if e, ok := c.(module.FolderEngine); ok && e.MatchFolder(files) && !(yields(e) && slices.ContainsFunc(files, f.firm)) {
			return e
		}
	}
	return nil
}

// tools are files that editors and package managers of JavaScript want beside it, and that are no cards.
var tools = []string{"tsconfig.json", "jsconfig.json", "package.json", "package-lock.json"}

// firm says whether a file is of an engine whose files nothing is made of.
func (f finder) firm(file string) bool {
	e, _ := f.engineOf(file)
	return e != nil && !yields(e) && !slices.Contains(tools, file)
}

// IDs gives the ids that there are files for in a folder, sorted, whether or not
// they can be loaded.
func IDs(dir string, engines ...module.Engine) ([]string, error) {
	found, err := finder{dir: dir, engines: engines}.find("", visitor{})
	return slices.Sorted(maps.Keys(found)), err
}

// Try loads each module's file of some engines, of the ids that only gives or, where that is nil, of all, and
// gives what was loaded or the mistake in it to tell, sorted by id. A module is closed by then, and nothing is kept.
func Try(ctx context.Context, dir string, max int64, only []string, engines []module.Engine, tell func(id, file string, m module.Module, err error)) error {
	found, err := finder{dir: dir, engines: engines}.find("", visitor{})
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		if only != nil && !slices.Contains(only, id) {
			continue
		}
		for _, s := range found[id] {
			m, err := s.try(ctx, id, max)
			tell(id, s.show, m, err)
		}
	}
	return nil
}

// Twins says of each id of a folder that there are several files for which, sorted.
func Twins(dir string, engines ...module.Engine) (troubles []string) {
	found, _ := finder{dir: dir, engines: engines}.find("", visitor{}) // of a folder that is not there nothing is said
	for _, id := range slices.Sorted(maps.Keys(found)) {
		if _, trouble := pick(id, found[id], ""); trouble != "" {
			troubles = append(troubles, trouble)
		}
	}
	return troubles
}

func (s source) try(ctx context.Context, id string, max int64) (module.Module, error) {
	if s.err != nil {
		return nil, s.err
	}
	src, err := s.read(id, 1, max)
	if err != nil {
		return nil, err
	}
	m, err := s.engine.Load(ctx, src)
	if err != nil {
		return nil, err
	}
	return m, m.Close(ctx)
}

// idOf gives the id that an entry of the folder belongs to, if it is a
// companion at all.
func (f finder) idOf(name string) string {
	_, stem := f.engineOf(name)
	return norm.NFC.String(stem)
}

// visitor is told what finder comes by, by functions that may be nil.
type visitor struct {
	// before is called with each companion's own folder before it is listed, so
	// that what a watch on it misses is in the list.
	before func(folder string)
	// skipped is called with what looks like a companion and cannot be one.
	skipped func(show, why string)
}

func (v visitor) skip(show, why string, args ...any) {
	if v.skipped != nil {
		v.skipped(show, fmt.Sprintf(why, args...))
	}
}

// find looks for the id only, or for all if it is empty, and gives the sources of
// each: those directly in the folder first, then by name. The error says that the
// folder cannot be listed, which says nothing about what is in it.
func (f finder) find(only string, v visitor) (map[string][]source, error) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return nil, err
	}
	found := map[string][]source{}
	for _, e := range entries {
		id := f.idOf(e.Name())
		if ignored(e.Name()) || only != "" && id != only {
			continue
		}
		if sources := f.look(e.Name(), v); len(sources) > 0 {
			found[id] = append(found[id], sources...)
		}
	}
	for id, sources := range found {
		sources = unyielding(sources)
		found[id] = sources
		slices.SortFunc(sources, func(a, b source) int {
			if d := strings.Count(a.show, "/") - strings.Count(b.show, "/"); d != 0 {
				return d
			}
			return strings.Compare(a.show, b.show)
		})
	}
	return found, nil
}

// yields says whether an engine's files may be what others were made of.
func yields(e module.Engine) bool {
	_, ok := e.(module.Yielder)
	return ok
}

// unyielding leaves sources out that yield to others: one of these may be made of them, or has them for a twin.
func unyielding(sources []source) []source {
	soft := func(s source) bool { return s.engine != nil && yields(s.engine) }
	firm := slices.DeleteFunc(slices.Clone(sources), soft)
	if len(firm) == 0 {
		return sources
	}
	for _, s := range sources {
		if soft(s) {
			firm[0].beside(s.engine, s.show)
		}
	}
	return firm
}

// beside notes a file of an engine that yields, unless the source may be made of it.
func (s *source) beside(e module.Engine, show string) {
	if s.engine != nil && !e.(module.Yielder).Yields(s.engine.Name()) && !slices.Contains(s.twins, show) {
		s.twins = append(s.twins, show)
	}
}

// look gives what one entry of the folder holds: itself, or what is in it.
func (f finder) look(name string, v visitor) []source {
	p := filepath.Join(f.dir, name)
	info, err := os.Stat(p)
	if errors.Is(err, fs.ErrNotExist) {
		if e, _ := f.engineOf(name); e != nil || path.Ext(name) == "" {
			f.gone(name, p, v)
		}
		return nil
	}
	dir := err == nil && info.IsDir()
	if engine, stem := f.engineOf(name); engine != nil && !(dir && stem == name) {
		return []source{newSource(name, p, engine, info, err)}
	}
	if !dir {
		f.almost(name, name, v)
		return nil
	}
	if v.before != nil {
		v.before(p)
	}
	return f.inside(name, p, v)
}

// inside gives the candidates in a companion's own folder: the folder, if an
// engine takes it whole, or files. One that is named as the folder is wins over
// the others.
func (f finder) inside(name, folder string, v visitor) []source {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return []source{{show: name, path: folder, err: err}}
	}
	if s := f.whole(name, folder, entries); s != nil {
		return []source{*s}
	}
	var named, other []source
	for _, e := range entries {
		engine, stem := f.engineOf(e.Name())
		p, show := filepath.Join(folder, e.Name()), path.Join(name, e.Name())
		switch {
		case ignored(e.Name()), slices.Contains(tools, e.Name()):
			continue
		case engine == nil:
			f.almost(e.Name(), show, v)
			continue
		}
		info, err := os.Stat(p)
		if errors.Is(err, fs.ErrNotExist) {
			f.gone(show, p, v)
			continue
		}
		s := newSource(show, p, engine, info, err)
		if norm.NFC.String(stem) == norm.NFC.String(name) {
			named = append(named, s)
		} else {
			other = append(other, s)
		}
	}
	if len(named) > 0 {
		f.passed(name, entries, &named[0])
		return named
	}
	return other
}

// passed notes at a source what an engine would have begun with that takes folders whole, and was passed over for the source's name.
func (f finder) passed(name string, entries []fs.DirEntry, s *source) {
	if s.engine == nil || yields(s.engine) {
		return
	}
	for _, c := range f.engines {
		e, ok := c.(module.FolderEngine)
		if !ok || !yields(e) {
			continue
		}
		for _, file := range entries {
			if e.MatchFolder([]string{file.Name()}) && path.Join(name, file.Name()) != s.show {
				s.beside(e, path.Join(name, file.Name()))
			}
		}
	}
}

// whole gives a companion's own folder as one source; nil if no engine takes it.
func (f finder) whole(name, folder string, entries []fs.DirEntry) *source {
	var files []string
	for _, e := range entries {
		if !ignored(e.Name()) && !e.IsDir() {
			files = append(files, e.Name())
		}
	}
	s := &source{show: name, path: folder, engine: f.wholeOf(files)}
	if s.engine == nil {
		return nil
	}
	for _, file := range files {
		if info, err := os.Stat(filepath.Join(folder, file)); err == nil && info.Mode().IsRegular() {
			s.files, s.stats = append(s.files, file), append(s.stats, info)
		}
	}
	return s
}

// almost tells of a file whose ending is an engine's in other letters. It is not
// taken: on another machine the same name would be another file.
func (f finder) almost(name, show string, v visitor) {
	lower := strings.ToLower(name)
	if e, stem := f.engineOf(lower); e != nil && stem != lower {
		v.skip(show, "its ending must be %s, in small letters; rename the file", lower[len(stem):])
	}
}

// gone tells of a link that leads nowhere; anything else was just removed.
func (f finder) gone(show, p string, v visitor) {
	to, err := os.Readlink(p)
	if err == nil {
		v.skip(show, "it is a link to %s, which is not there", to)
	}
}

func newSource(show, p string, e module.Engine, info fs.FileInfo, err error) source {
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("is not a regular file but %s", info.Mode())
	}
	if err != nil {
		return source{show: show, path: p, engine: e, err: err}
	}
	return source{show: show, path: p, engine: e, stats: whole.Stats{info}}
}

// pick chooses among the sources of an id. The one chosen before stays as long
// as it is there. trouble names the others, or says why none can be chosen.
func pick(id string, sources []source, before string) (chosen *source, trouble string) {
	names := make([]string, len(sources))
	for i, s := range sources {
		names[i] = s.show
		if s.show == before {
			chosen = &sources[i]
		}
	}
	if chosen == nil && !strings.Contains(sources[0].show, "/") {
		chosen = &sources[0]
	}
	for _, s := range sources {
		names = append(names, s.twins...)
	}
	if len(names) == 1 {
		return &sources[0], ""
	}
	if len(sources) == 1 {
		chosen = &sources[0]
	}
	trouble = fmt.Sprintf("%d files for one companion %s: %s; keep one", len(names), id, strings.Join(names, " and "))
	if chosen != nil {
		return chosen, fmt.Sprintf("%s (%s counts)", trouble, chosen.show)
	}
	return nil, trouble
}

// sameSources says that nothing changed as far as stats can tell.
func sameSources(a, b []source) bool {
	return slices.EqualFunc(a, b, func(x, y source) bool {
		return x.show == y.show && (x.err == nil) == (y.err == nil) && x.stats.Same(y.stats)
	})
}
