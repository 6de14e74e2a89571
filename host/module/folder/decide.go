package folder

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder/whole"
)

// decide does what the sources of an id ask for.
func (l *loader) decide(s *slot, sources []source) {
	s.due, s.again, s.polled, s.sources = time.Time{}, time.Time{}, nil, sources
	if len(sources) == 0 {
		l.missed(s)
		return
	}
	s.gone, s.known, s.sure = time.Time{}, true, true

	trouble := checkID(s.id)
	if trouble == "" {
		trouble = l.cfg.taken(s.id)
	}
	if trouble == "" {
		trouble = l.rival(s)
	}
	var src *source
	if trouble == "" {
		src, trouble = pick(s.id, sources, s.chosen)
	}
	if trouble != "" && trouble != s.trouble {
		l.log.Warn("not loaded", "companion", s.id, "error", trouble)
	}
	s.trouble = trouble
	switch {
	case src == nil:
		l.drop(s)
		return
	case src.err != nil:
		l.drop(s)
		s.chosen, s.sure = src.show, false
		l.refuse(s, *src, src.err, key{})
		return
	}
	s.chosen, s.sure = src.show, false // until it has been read
	if s.job != nil {
		if !s.job.stale && s.job.src.show == src.show && s.job.src.stats.Same(src.stats) {
			return // this very save is being loaded
		}
		l.drop(s)
	}
	if s.want == nil {
		l.asked++
		s.asked = l.asked
	}
	s.want = src
}

// rival says why an id may not be loaded beside another one. People could not
// tell two companions apart whose names read or look alike, and calling one would
// call both.
func (l *loader) rival(s *slot) string {
	s.behind = false
	if s.holds() {
		return ""
	}
	for id, other := range l.slots { // one at most holds a reading
		if other != s && other.alike(s) && other.holds() {
			s.behind = true
			return fmt.Sprintf("reads or looks like %s, which is loaded; rename the file", id)
		}
	}
	return ""
}

// freed has those looked at again that were behind an id which nobody holds any
// more.
func (l *loader) freed(s *slot) {
	if s.holds() && l.slots[s.id] == s {
		return
	}
	for _, other := range l.slots {
		if other.behind && other.alike(s) && other.due.IsZero() {
			other.due, other.polled = l.now, other.sources
		}
	}
}

// missed notes that nothing of an id is there. When it was so for Gone, it
// leaves.
func (l *loader) missed(s *slot) {
	switch {
	case !s.known:
		delete(l.slots, s.id)
	case s.gone.IsZero():
		s.gone = l.now.Add(l.cfg.Gone)
	case !l.now.Before(s.gone):
		l.leave(s)
	}
}

func (l *loader) leave(s *slot) {
	l.drop(s)
	delete(l.slots, s.id)
	l.freed(s)
	c := s.companion
	if c == nil {
		l.log.Info("the refused file is gone", "companion", s.id, "file", s.chosen)
		return
	}
	l.log.Info("companion left: its file is gone", "companion", s.id, "file", s.file)
	l.retire(s.id, c.End("has left: its file is gone"))
	l.told(Left, c)
}

// drop gives up the load that is under way, and the one that would be next.
func (l *loader) drop(s *slot) {
	waited := s.want != nil
	s.want = nil
	if s.job != nil {
		s.job.stale = true
		s.job.cancel(nil)
	} else if waited {
		l.freed(s)
	}
}

func (l *loader) start(s *slot) {
	j := newJob(l.ctx, l.cfg.LoadTimeout)
	j.slot, j.src, j.number, j.serving, j.refused = s, *s.want, l.numbers[s.id]+1, s.serving, s.refused
	if s.companion != nil && !s.stats.Same(s.want.stats) {
		if s.companion.Quarantined(l.now) {
			j.serving = key{} // saving the file again ends a quarantine, also unchanged
		}
	}
	if s.anew {
		j.serving, s.anew = key{}, false
	}
	s.want, s.job = nil, j
	l.running++
	go func() { l.outcomes <- l.f.load(j) }()
}

// ended takes the outcome of a load.
func (l *loader) ended(o outcome) {
	s := o.slot
	o.end()
	l.over(o)
	s.job = nil
	defer func() { l.freed(s) }()
	if o.stale {
		l.discard(o.module)
		return
	}
	s.tried = true
	// A file that was written when it was read may be written again within the
	// grain of its time stamp.
	s.sure = o.read.Sub(o.src.stats.Newest()).Abs() > 2*time.Second
	switch {
	case errors.Is(o.err, whole.ErrMoving):
		s.sure = false
		s.due = l.now.Add(l.cfg.Debounce)
		if s.companion == nil {
			s.refusal, s.refused = o.src.show+": "+module.Reason(o.err), key{}
		}
	case o.err != nil:
		// A file that could not be read is worth another look, for it costs little; a
		// load that failed waits for the next save, unless it took too long.
		s.sure = s.sure && (o.final || o.key != key{})
		if !o.final {
			o.key = key{}
		}
		switch abi.CodeOf(o.err) {
		case abi.CodeUnavailable: // the file is not to blame
			s.due = l.now.Add(l.cfg.Rescan)
		case abi.CodeTimeout: // nobody knows whether it is: the machine may have been busy
			s.wait = min(max(2*s.wait, l.cfg.Rescan), longestAgain)
			s.again = l.now.Add(s.wait)
		}
		l.refuse(s, o.src, o.err, o.key)
	case o.module != nil:
		l.publish(s, o)
	case o.key == s.serving:
		if s.refusal != "" {
			l.log.Info("companion repaired: the file is again the one that serves", "companion", s.id, "file", o.src.show,
				"generation", s.companion.Generation())
		}
		s.refusal, s.refused = "", key{}
		s.file, s.stats = o.src.show, o.src.stats
	}
}

// refuse notes why the newest save is not loaded. The loaded one serves on.
func (l *loader) refuse(s *slot, src source, err error, content key) {
	why := src.show + ": " + module.Reason(err)
	if why != s.refusal || content != s.refused {
		args := []any{"companion", s.id, "file", src.show, "error", module.Reason(err)}
		if s.companion != nil {
			args = append(args, "serving", s.companion.Generation())
		}
		l.log.Warn("file refused", args...)
		l.told(Refused, s.companion)
	}
	s.refusal, s.refused, s.blamed = why, content, src.stats
}

// publish makes a loaded module the current generation.
func (l *loader) publish(s *slot, o outcome) {
	g := module.NewGeneration(o.number, o.src.engine.Name(), o.module)
	l.numbers[s.id] = o.number
	s.refusal, s.refused = "", key{}
	s.serving, s.file, s.stats = o.key, o.src.show, o.src.stats
	kind, did := Replaced, "companion replaced"
	if s.companion != nil {
		if old, ok := s.companion.Swap(g); ok {
			l.retire(s.id, old)
		} else {
			s.companion = nil // somebody closed it
		}
	}
	if s.companion == nil {
		s.companion = module.NewCompanion(s.id, g, l.cfg.Limits, l.cfg.Log)
		kind, did = Joined, "companion loaded" // into the folder; the rooms say whom they let join
	}
	l.log.Info(did, "companion", s.id, "file", s.file, "engine", o.src.engine.Name(),
		"generation", g.Number(), "took", l.now.Sub(o.read).Round(time.Millisecond).String())
	l.told(kind, s.companion)
}

// ChangeKind says what happened to a companion.
type ChangeKind string

// The changes. Each companion goes joined, replaced any number of times, left;
// after that a new Companion with the same id may join.
const (
	Joined   ChangeKind = "joined"
	Replaced ChangeKind = "replaced"
	Left     ChangeKind = "left"
	Refused  ChangeKind = "refused" // its newest save, which changes nothing; Companion may be nil
)

// Change tells that a companion came, changed or went. The companion may be
// further on already than the change that is told.
type Change struct {
	Kind      ChangeKind
	Companion *module.Companion
}

func (l *loader) told(kind ChangeKind, c *module.Companion) {
	if l.cfg.Changed != nil {
		l.news = append(l.news, func() { l.cfg.Changed(Change{Kind: kind, Companion: c}) })
	}
}

// retire lets a generation end beside the loop; nil is none.
func (l *loader) retire(id string, g *module.Generation) {
	if g == nil {
		return
	}
	l.retiring.Go(func() {
		drained, err := g.Retire(l.cfg.Grace)
		switch {
		case err != nil:
			l.log.Warn("closing a generation", "companion", id, "generation", g.Number(), "error", err)
		case !drained:
			l.log.Warn("ended calls by force", "companion", id, "generation", g.Number(), "grace", l.cfg.Grace)
		}
	})
}

// discard closes a module that never was anybody's generation.
func (l *loader) discard(m module.Module) {
	if m == nil {
		return
	}
	l.retiring.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), l.cfg.Grace)
		defer cancel()
		if err := m.Close(ctx); err != nil {
			l.log.Warn("closing a module that came too late", "error", err)
		}
	})
}
