package module

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// decide does what the sources of an id ask for.
func (k *keeper) decide(s *seat, sources []source) {
	s.due, s.polled, s.sources = time.Time{}, nil, sources
	if len(sources) == 0 {
		k.missed(s)
		return
	}
	s.gone, s.known, s.sure = time.Time{}, true, true
	defer k.f.show(s)

	trouble := checkID(s.id)
	if trouble == "" {
		trouble = k.rival(s)
	}
	var src *source
	if trouble == "" {
		src, trouble = pick(s.id, sources, s.chosen)
	}
	if trouble != "" && trouble != s.trouble {
		k.log.Warn("not loaded", "companion", s.id, "error", trouble)
	}
	s.trouble = trouble
	switch {
	case src == nil:
		k.drop(s)
		return
	case src.err != nil:
		k.drop(s)
		s.chosen, s.sure = src.show, false
		k.refuse(s, *src, src.err, key{})
		return
	}
	s.chosen, s.sure = src.show, false // until it has been read
	if s.job != nil {
		if !s.job.stale && s.job.src.show == src.show && sameFile(s.job.src.info, src.info) {
			return // this very save is being loaded
		}
		k.drop(s)
	}
	s.want = src
	k.enqueue(s)
}

// rival says why an id may not be loaded beside another one. People could not
// tell two companions apart whose names read or look alike, and calling one would
// call both.
func (k *keeper) rival(s *seat) string {
	s.behind = false
	if s.holds() {
		return ""
	}
	for id, other := range k.seats { // one at most holds a reading
		if other != s && other.alike(s) && other.holds() {
			s.behind = true
			return fmt.Sprintf("reads or looks like %s, which is loaded; rename the file", id)
		}
	}
	return ""
}

// freed has those looked at again that were behind an id which nobody holds any
// more.
func (k *keeper) freed(s *seat) {
	if s.holds() && k.seats[s.id] == s {
		return
	}
	for _, other := range k.seats {
		if other.behind && other.alike(s) && other.due.IsZero() {
			other.due, other.polled = k.now, other.sources
		}
	}
}

// missed notes that nothing of an id is there. When it was so for Gone, it
// leaves.
func (k *keeper) missed(s *seat) {
	switch {
	case !s.known:
		delete(k.seats, s.id)
	case s.gone.IsZero():
		s.gone = k.now.Add(k.cfg.Gone)
	case !k.now.Before(s.gone):
		k.leave(s)
	}
}

func (k *keeper) leave(s *seat) {
	k.drop(s)
	delete(k.seats, s.id)
	k.f.hide(s)
	k.freed(s)
	c := s.companion
	if c == nil {
		k.log.Info("the refused file is gone", "companion", s.id, "file", s.chosen)
		return
	}
	k.log.Info("companion left: its file is gone", "companion", s.id, "file", s.file)
	k.retire(s.id, c.end("has left: its file is gone"))
	k.told(Left, c)
}

// drop gives up the load that is under way, and the one that would be next.
func (k *keeper) drop(s *seat) {
	s.want = nil
	if s.job != nil {
		s.job.stale = true
		s.job.cancel()
	}
}

// enqueue has s.want loaded as soon as it can be.
func (k *keeper) enqueue(s *seat) {
	if s.want != nil && !s.busy() {
		s.queue = true
		k.queue = append(k.queue, s)
	}
}

// pump starts loads while there are some to start.
func (k *keeper) pump() {
	for k.running < k.atOnce() && len(k.queue) > 0 {
		s := k.queue[0]
		k.queue = k.queue[1:]
		s.queue = false
		if s.want != nil {
			k.start(s)
		} else {
			k.freed(s)
		}
	}
}

func (k *keeper) start(s *seat) {
	ctx, cancel := context.WithTimeout(k.ctx, k.cfg.LoadTimeout)
	j := &job{seat: s, src: *s.want, number: k.numbers[s.id] + 1, serving: s.serving, refused: s.refused, cancel: cancel}
	if s.companion != nil && !sameFile(s.stat, s.want.info) {
		if why, _ := s.companion.current().faults.quarantine(k.now); why != "" {
			j.serving = key{} // saving the file again ends a quarantine, also unchanged
		}
	}
	s.want, s.job = nil, j
	k.running++
	k.f.show(s)
	go func() { k.outcomes <- k.f.load(ctx, j) }()
}

// ended takes the outcome of a load.
func (k *keeper) ended(o outcome) {
	s := o.seat
	o.cancel()
	k.running--
	s.job = nil
	defer func() { k.freed(s) }()
	if o.stale {
		k.discard(o.module)
		k.enqueue(s)
		if k.seats[s.id] == s {
			k.f.show(s)
		}
		return
	}
	s.tried = true
	defer k.f.show(s)
	// A file that was written when it was read may be written again within the
	// grain of its time stamp.
	s.sure = o.read.Sub(o.src.info.ModTime()).Abs() > 2*time.Second
	switch {
	case errors.Is(o.err, errMoving):
		s.sure = false
		s.due = k.now.Add(k.cfg.Debounce)
		if s.companion == nil {
			s.refusal, s.refused = o.src.show+": "+reason(o.err), key{}
		}
	case o.err != nil:
		// What could not be read is worth another look, for it costs little; a
		// load that failed waits for the next save.
		s.sure = s.sure && (o.final || o.key != key{})
		if !o.final {
			o.key = key{}
		}
		k.refuse(s, o.src, o.err, o.key)
	case o.module != nil:
		k.publish(s, o)
	case o.key == s.serving:
		if s.refusal != "" {
			k.log.Info("companion repaired: the file is again the one that serves", "companion", s.id, "file", o.src.show,
				"generation", s.companion.Generation())
		}
		s.refusal, s.refused = "", key{}
		s.file, s.stat = o.src.show, o.src.info
	}
}

// refuse notes why the newest save is not loaded. What is loaded serves on.
func (k *keeper) refuse(s *seat, src source, err error, content key) {
	why := src.show + ": " + reason(err)
	if why != s.refusal || content != s.refused {
		args := []any{"companion", s.id, "file", src.show, "error", reason(err)}
		if s.companion != nil {
			args = append(args, "serving", s.companion.Generation())
		}
		k.log.Warn("file refused", args...)
	}
	s.refusal, s.refused = why, content
}

// publish makes a loaded module the current generation.
func (k *keeper) publish(s *seat, o outcome) {
	g := newGeneration(o.number, o.src.engine.Name(), o.module)
	k.numbers[s.id] = o.number
	s.refusal, s.refused = "", key{}
	s.serving, s.file, s.stat = o.key, o.src.show, o.src.info
	kind := Replaced
	if s.companion != nil {
		if old, ok := s.companion.swap(g); ok {
			k.retire(s.id, old)
		} else {
			s.companion = nil // somebody closed it
		}
	}
	if s.companion == nil {
		s.companion = newCompanion(s.id, k.cfg.Limits, k.cfg.Log, g)
		kind = Joined
	}
	did := "companion loaded" // into the folder; who joins which room is the rooms' to say
	if kind == Replaced {
		did = "companion replaced"
	}
	k.log.Info(did, "companion", s.id, "file", s.file, "engine", g.engine,
		"generation", g.number, "took", k.now.Sub(o.read).Round(time.Millisecond).String())
	k.f.show(s) // before anybody is told
	k.told(kind, s.companion)
}

func (k *keeper) told(kind ChangeKind, c *Companion) {
	if k.cfg.Changed != nil {
		k.tell.say(func() { k.cfg.Changed(Change{Kind: kind, Companion: c}) })
	}
}

// retire lets a generation end beside the loop; nil is none.
func (k *keeper) retire(id string, g *generation) {
	if g == nil {
		return
	}
	k.retiring.Go(func() {
		drained, err := g.retire(k.cfg.Grace)
		switch {
		case err != nil:
			k.log.Warn("closing a generation", "companion", id, "generation", g.number, "error", err)
		case !drained:
			k.log.Warn("ended calls by force", "companion", id, "generation", g.number, "grace", k.cfg.Grace)
		}
	})
}

// discard closes a module that never was anybody's generation.
func (k *keeper) discard(m Module) {
	if m == nil {
		return
	}
	k.retiring.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), k.cfg.Grace)
		defer cancel()
		if err := m.Close(ctx); err != nil {
			k.log.Warn("closing a module that came too late", "error", err)
		}
	})
}
