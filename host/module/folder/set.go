package folder

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/module"
)

// Set is several folders, seen as one. No two of its companions have ids that read or look alike: the
// folder that comes first has the name.
type Set struct {
	folders []*Folder
	ready   chan struct{}
}

// NewSet makes the folders of a set, which are not to be run alone.
//
// # Errors
//
// Those of [New].
func NewSet(all ...Config) (*Set, error) {
	s := &Set{ready: make(chan struct{})}
	for _, cfg := range all {
		before := slices.Clone(s.folders)
		cfg.taken = func(id string) string {
			for _, f := range before {
				if other := f.alike(id); other != "" {
					return "reads or looks like " + other + ", which is in " + f.cfg.Dir + "; rename one of them"
				}
			}
			return ""
		}
		f, err := New(cfg)
		if err != nil {
			return nil, err
		}
		s.folders = append(s.folders, f)
	}
	return s, nil
}

// alike gives an id of the folder that reads or looks like one, "" for none.
func (f *Folder) alike(id string) string {
	look := address.LookOf(id)
	for _, other := range f.IDs() {
		if look.Alike(address.LookOf(other)) {
			return other
		}
	}
	return ""
}

// Run runs all folders, as [Folder.Run] says.
func (s *Set) Run(ctx context.Context) error {
	ended := make(chan error)
	for _, f := range s.folders {
		go func() { ended <- f.Run(ctx) }()
	}
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		for _, f := range s.folders {
			select {
			case <-f.Ready():
			case <-ctx.Done():
				return
			}
		}
		close(s.ready)
	}()
	var err error
	for range s.folders {
		err = errors.Join(err, <-ended)
	}
	<-looked
	return err
}

// Ready is closed when all folders are, see [Folder.Ready].
func (s *Set) Ready() <-chan struct{} { return s.ready }

// Renew has companions loaded anew, see [Folder.Renew].
func (s *Set) Renew(ids ...string) {
	for _, f := range s.folders {
		f.Renew(ids...)
	}
}

// IDs gives the ids of all companions there are files for, sorted.
func (s *Set) IDs() (ids []string) {
	for _, f := range s.folders {
		ids = append(ids, f.IDs()...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Status gives all companions there are files for, sorted by id.
func (s *Set) Status() []module.Status {
	all := []module.Status{}
	for _, f := range s.folders {
		all = append(all, f.Status()...)
	}
	slices.SortStableFunc(all, func(a, b module.Status) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Companion gives the companion with this id, see [Folder.Companion]; a handler is none.
func (s *Set) Companion(id string) (c *module.Companion, ok bool) {
	if c, ok = s.Module(id); !ok || !module.IsCharacter(c.Describe()) {
		return nil, false
	}
	return c, true
}

// Module gives the companion or the handler with this id.
func (s *Set) Module(id string) (c *module.Companion, ok bool) {
	for _, f := range s.folders {
		if c, ok := f.Companion(id); ok {
			return c, true
		}
	}
	return nil, false
}

// Companions gives all companions that can be called, sorted by id. Handlers are none of them.
func (s *Set) Companions() []*module.Companion {
	var all []*module.Companion
	for _, f := range s.folders {
		for _, c := range f.Companions() {
			if first, _ := s.Companion(c.ID()); first == c {
				all = append(all, c)
			}
		}
	}
	slices.SortFunc(all, func(a, b *module.Companion) int { return strings.Compare(a.ID(), b.ID()) })
	return all
}
