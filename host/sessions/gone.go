package sessions

import "time"

// due wakes Run where something expires sooner than it looks again. The caller has the
// lock.
func (s *Sessions) due(at time.Time) {
	if !s.next.IsZero() && !at.Before(s.next) {
		return
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// soonest gives when something expires next, zero where nothing does. The caller has the lock.
func (s *Sessions) soonest() (at time.Time) {
	sooner := func(t time.Time) {
		if at.IsZero() || t.Before(at) {
			at = t
		}
	}
	for _, x := range s.all {
		if x.held == 0 {
			sooner(x.expires)
		}
	}
	for _, p := range s.who {
		if !p.assumed.IsZero() {
			sooner(p.assumed)
		}
	}
	return at
}

// expired gives those of whom something has expired.
func (s *Sessions) expired() (all []member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for m, p := range s.who {
		over := !p.assumed.IsZero() && !now.Before(p.assumed)
		for x := range p.sessions {
			over = over || x.over(now)
		}
		if over {
			all = append(all, m)
		}
	}
	return all
}

// clear takes out what somebody had that has expired, and says whether that was the last. The
// caller has the lock, and says that to Gone.
func (s *Sessions) clear(m member, now time.Time) (gone bool) {
	p := s.who[m]
	for x := range p.sessions {
		if x.over(now) {
			s.drop(x)
		}
	}
	if !now.Before(p.assumed) {
		p.assumed = time.Time{}
	}
	if len(p.sessions) > 0 || !p.assumed.IsZero() {
		return false
	}
	delete(s.who, m)
	return true
}

// tell says to Gone that somebody's last session is gone. The caller has the lock, which it
// gives up.
func (s *Sessions) tell(m member) {
	told := make(chan struct{})
	s.going[m] = told
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.going, m)
		s.mu.Unlock()
		close(told)
	}()
	s.cfg.Gone(m.project, m.agent)
}
