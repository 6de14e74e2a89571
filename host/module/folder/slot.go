package folder

import (
	"cmp"
	"strings"
	"time"

	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder/whole"
)

// slot is all the loader knows of one id. Only the loader touches it.
type slot struct {
	id        string
	look      address.Look      // what ids that nobody can tell apart are found by
	companion *module.Companion // nil before the first generation

	sources []source    // as they were decided upon last
	sure    bool        // unchanged stats mean unchanged contents
	chosen  string      // source.show of the one that counts
	trouble string      // why the sources are wrong as they are
	refusal string      // why the newest save was not loaded
	refused key         // the content of that save, if it is to blame
	blamed  whole.Stats // of that save
	anew    bool        // it is to be loaded though nothing changed
	behind  bool        // another companion's id reads the same, and was first

	file    string      // source.show of the serving generation
	serving key         // its content
	stats   whole.Stats // of its file, when it was last found to hold that

	due    time.Time     // when to look again; zero: no need
	polled []source      // what a rescan saw, which must be the same when due; nil after an event
	gone   time.Time     // when it leaves; zero while it has sources
	again  time.Time     // when a load that took too long is tried again; zero: not
	wait   time.Duration // how long that waited
	known  bool          // it had sources once, so that doors show it

	want  *source // to be loaded next
	asked uint64  // when that was wanted, in the order of all
	job   *job    // it is being loaded
	tried bool    // a load has ended
}

// next gives when to look at it again. The wait for quiet comes before the wait
// for a file that is gone, which may be coming back just now, and that before another try.
func (s *slot) next() time.Time { return cmp.Or(s.due, s.gone, s.again) }

// holds says that nobody else may have an id that reads like this one: it is
// loaded, or is being loaded just now.
func (s *slot) holds() bool { return s.companion != nil || s.busy() }

// busy says that a load is under way or will be.
func (s *slot) busy() bool { return s.job != nil || s.want != nil }

// newer says that a newer save is being loaded than the one that was refused, or will be: nobody knows yet what is wrong with that.
func (s *slot) newer() bool {
	src := s.want
	if src == nil && s.job != nil {
		src = &s.job.src
	}
	return src != nil && !s.blamed.Same(src.stats)
}

// status is what the slot adds to its companion's own status, or all there is
// to say before it has one.
func (s *slot) status() module.Status {
	st := module.Status{ID: strings.ToValidUTF8(s.id, "\uFFFD"), File: s.file, Error: module.Sentence(s.trouble, s.refusal)}
	if s.newer() {
		st.Error = s.trouble
	}
	if s.companion != nil {
		return st
	}
	st.File = s.chosen
	st.State = module.StateFailed
	if s.busy() || st.Error == "" {
		st.State = module.StateLoading
	}
	for _, src := range s.sources {
		if src.show == s.chosen {
			st.Engine = src.engine.Name()
		}
	}
	return st
}

// alike says whether people could not tell the ids of two slots apart.
func (s *slot) alike(other *slot) bool { return s.look.Alike(other.look) }
