// Package summon starts the programs of agents that were invited to a conversation and are
// not here, and sees to it that there are never many of them: one for each agent in a project,
// so many starts a minute, so many programs at once. What does not fit is said in the log
// and not made up for: whoever invited the agent hears of it when the invitation expires.
//
// It starts no program again by itself, runs no shell, hands on nothing of the daemon's
// environment but what any program needs, and tells a program only which conversation it
// is for. What that is about and who asks are a stranger's words: the program hears them from
// the daemon, where it authenticates.
package summon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/companiond/companiond/host/child"
)

// Bounds.
const (
	PerMinute = 6  // starts of one agent
	AtOnce    = 16 // programs that run
	// Grace is how long a program may take to end when the daemon does.
	Grace = 3 * time.Second
)

// Agent is one that has a program.
type Agent struct {
	Name  string
	Start []string // the program and its arguments
}

// Invitation is for an agent that is not here.
type Invitation struct{ Project, Agent, Conversation string }

// Config is what a summoner stands on.
type Config struct {
	Agents []Agent
	URL    string // of the daemon, http://127.0.0.1:3000; the program's COMPANIOND_URL
	MCP    string // where agents connect; the program's COMPANIOND_MCP_URL
	// Environ is the daemon's environment, of which the program gets PATH, HOME and the like.
	Environ []string
	// Ended is told when a program has ended that was started then, not when the daemon does. Until
	// it answers, the agent is not started anew. Nil: nobody is told.
	Ended func(i Invitation, began time.Time)
	// Wanted says whether an invitation has not been answered yet. It is asked of one that came while
	// the agent's program ran, when that has ended: it may have come too late for it. Nil: none is.
	Wanted func(Invitation) bool
	Log    *slog.Logger
}

// member is an agent in a project.
type member struct{ project, agent string }

// Summoner starts programs. Make one with New; Run runs them.
type Summoner struct {
	cfg    Config
	starts map[string][]string // by agent
	env    []string            // what every program gets
	jobs   chan Invitation     // those that Run is to start; it never fills
	now    func() time.Time
	grace  time.Duration

	mu      sync.Mutex
	running map[member]*Invitation // the newest that came while it ran, nil for none
	recent  map[string][]time.Time // the starts of the last minute, by agent
	warned  map[string]time.Time   // when it was said last that an agent is not started
}

// New makes a summoner; it starts nothing before Run.
func New(c Config) *Summoner {
	s := &Summoner{
		cfg: c, starts: map[string][]string{}, env: child.HandedOn(c.Environ), jobs: make(chan Invitation, AtOnce), now: time.Now, grace: Grace,
		running: map[member]*Invitation{}, recent: map[string][]time.Time{}, warned: map[string]time.Time{},
	}
	s.env = append(s.env, "COMPANIOND_URL="+c.URL, "COMPANIOND_MCP_URL="+c.MCP)
	for _, a := range c.Agents {
		if len(a.Start) > 0 {
			s.starts[a.Name] = a.Start
		}
	}
	return s
}

// Invite has an agent's program started, if it has one and none runs. It does not wait.
func (s *Summoner) Invite(i Invitation) {
	if s.starts[i.Agent] == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := member{i.Project, i.Agent}
	if _, runs := s.running[m]; runs {
		s.running[m] = &i
		s.log(i).Debug("an agent was invited and is running", "conversation", i.Conversation)
		return
	}
	if len(s.running) >= AtOnce {
		s.warn(i, fmt.Sprintf("%d programs of agents run, and no more are started", AtOnce))
		return
	}
	if !s.may(i) {
		return
	}
	s.running[m] = nil
	s.jobs <- i
}

// may says whether an agent may be started once more now, and counts that; the log hears where it
// may not. The caller has the lock.
func (s *Summoner) may(i Invitation) bool {
	now := s.now()
	recent := s.recent[i.Agent]
	for len(recent) > 0 && now.Sub(recent[0]) >= time.Minute {
		recent = recent[1:]
	}
	if len(recent) >= PerMinute {
		s.recent[i.Agent] = recent
		s.warn(i, fmt.Sprintf("it was started %d times within a minute, and is not started more often: look why it ends", PerMinute))
		return false
	}
	s.recent[i.Agent] = append(recent, now)
	return true
}

// warn says why an agent is not started, once a minute. The caller has the lock.
func (s *Summoner) warn(i Invitation, why string) {
	now := s.now()
	if last, said := s.warned[i.Agent]; said && now.Sub(last) < time.Minute {
		return
	}
	s.warned[i.Agent] = now
	s.log(i).Warn("an agent was invited and is not started: "+why, "conversation", i.Conversation)
}

func (s *Summoner) log(i Invitation) *slog.Logger {
	return s.cfg.Log.With("agent", i.Agent, "project", i.Project)
}

// Run runs the programs until ctx ends, and then until they have ended: they are asked to, and
// have [Grace].
func (s *Summoner) Run(ctx context.Context) error {
	var programs sync.WaitGroup
	defer programs.Wait()
	for {
		select {
		case <-ctx.Done():
			return nil
		case i := <-s.jobs:
			programs.Go(func() {
				for wanted := true; wanted && ctx.Err() == nil; i, wanted = s.next(ctx, i) {
					began := s.now()
					if s.run(ctx, i); s.cfg.Ended != nil && ctx.Err() == nil {
						s.cfg.Ended(i, began)
					}
				}
			})
		}
	}
}

// next gives the invitation that an agent is to be started for anew when its program has ended.
func (s *Summoner) next(ctx context.Context, i Invitation) (Invitation, bool) {
	m := member{i.Project, i.Agent}
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		waiting := s.running[m]
		if waiting == nil || s.cfg.Wanted == nil || ctx.Err() != nil {
			delete(s.running, m)
			return Invitation{}, false
		}
		s.running[m] = nil
		s.mu.Unlock()
		wanted := s.cfg.Wanted(*waiting)
		s.mu.Lock()
		if wanted && s.may(*waiting) {
			return *waiting, true
		}
	}
}

// run runs an agent's program once.
func (s *Summoner) run(ctx context.Context, i Invitation) {
	log, start, begun := s.log(i), s.starts[i.Agent], s.now()
	log.Info("an agent is started", "conversation", i.Conversation)
	said, complained := &voice{now: s.now}, &voice{now: s.now}
	err := child.Command{
		Path: start[0], Args: start[1:], Plain: true, Grace: s.grace,
		Env: append(s.env[:len(s.env):len(s.env)],
			"COMPANIOND_CONVERSATION="+i.Conversation, "COMPANIOND_PROJECT="+i.Project, "COMPANIOND_AGENT="+i.Agent),
		Line:      func(line string) { said.tell(log, slog.LevelDebug, "an agent's program says", line) },
		Complaint: func(line string) { complained.tell(log, slog.LevelInfo, "an agent's program complains", line) },
	}.Run(ctx)
	took := s.now().Sub(begun).Round(time.Millisecond)
	var ended *child.Ended
	switch {
	case err == nil:
		log.Info("an agent's program has ended", "took", took)
	case errors.As(err, &ended) && ended.Why == child.Cancelled:
		log.Debug("an agent's program was ended", "took", took)
	case errors.As(err, &ended) && ended.Why == child.Missing:
		log.Warn("an agent's program could not be started: look at start in its table", "err", clean(err.Error()))
	default:
		log.Warn("an agent's program ended, and not well", "took", took, "err", clean(err.Error()))
	}
}
