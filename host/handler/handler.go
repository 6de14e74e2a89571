// Package handler lets modules that are handlers stand behind companions: what one can do is
// lent to companions in their own rooms, as games lend actions, and what they play of it is asked of the handler's
// module; it is shown what the rooms show of them; it has timers, may have companions perceive something, and a program
// runs for as long as it acts. A person may ask for an action, too.
//
// Everything that happens to companions is in the rooms' journals: what is offered, what is played, what came of it, and what
// is perceived; what a person asks for is in the log alone. The package decides nothing about turns, loads no module, and a handler that hangs costs its own work alone.
package handler

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/secret"
	"github.com/companiond/companiond/host/secret/hide"
)

// Handler is a table [handler.NAME] of the configuration.
type Handler = config.Handler

// Config is what a stage of handlers needs.
type Config struct {
	Handlers   []Handler
	Home       func(ctx context.Context, companion string) (rooms.Room, error)
	Companions func() []*module.Companion // those that are loaded
	Module     func(id string) (*module.Companion, bool)
	SecretFile func(value string) (path string, err error) // of the value of a secret
	// Perceive has a companion perceive something, which is in the journal when it answers, unless a newer one may replace it.
	Perceive func(ctx context.Context, companion string, p abi.Percept) (seq uint64, err error)
	// Retract takes back what a companion has not judged yet, of those whose keys begin with of: by its key, or by whom it is from.
	Retract func(ctx context.Context, companion, of, key, from string) (int, error)
	Log     *slog.Logger
}

// Patience is how long a handler may take to carry out an action, or for another call of its; then that has failed.
const Patience = 20 * time.Second

// grace is how long an action that is being carried out may still take when the handler leaves; those that wait
// behind it have failed.
const grace = 3 * time.Second

// again is how long a seat waits that could not be taken, and lookEvery how often the stage looks whether all
// are, beside when it is told to.
const (
	again     = time.Second
	lookEvery = 10 * time.Second
)

// Stage has the handlers in the rooms. Make one with New; it does nothing before Run.
type Stage struct {
	cfg     Config
	changed chan struct{}
	said    map[string]string // what the log was told last of a handler; Run's alone
	began   time.Time         // when Run did

	mu     sync.Mutex
	all    []Handler                // of the configuration; never changed, but others take its place
	turns  map[string]chan struct{} // of modules that carry out an action
	calls  map[string]*post         // by id: in which handlers' calls are out
	asked  uint64                   // how many there were
	timers map[string]*timers       // by handler; Replace makes all of them
	hides  map[string]*hide.Secrets // by module
	here   context.Context          // of Run; nil while it does not run
	acting sync.WaitGroup           // what people have done; begins under mu, while Run runs
	out    []*work                  // oldest first
}

// New makes a stage.
func New(cfg Config) *Stage {
	s := &Stage{cfg: cfg, changed: make(chan struct{}, 1), said: map[string]string{}, turns: map[string]chan struct{}{}, calls: map[string]*post{}, timers: map[string]*timers{}, hides: map[string]*hide.Secrets{}}
	s.Replace(cfg.Handlers)
	return s
}

// Replace has other handlers act from now on. One that is not the same as before begins anew when what it is being asked has
// ended, and one that is not among them any more leaves.
func (s *Stage) Replace(all []Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = slices.Clone(all)
	for _, h := range all {
		if s.timers[h.Name] == nil {
			s.timers[h.Name] = &timers{}
		}
	}
	s.Changed()
}

// handlers gives those of the configuration, in its order.
func (s *Stage) handlers() []Handler {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

// timersOf gives those of a handler, whatever its post is.
func (s *Stage) timersOf(name string) *timers {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.timers[name]
}

// Changed says that modules or companions came, changed or went.
func (s *Stage) Changed() {
	select {
	case s.changed <- struct{}{}:
	default: // it will look
	}
}

// post is a handler with the module and the settings that it has now.
type post struct {
	Handler
	module     *module.Companion
	generation uint64
	companions []string        // of those that are loaded
	settings   json.RawMessage // with its secrets
	secrets    []string        // names of settings that are secrets
	concealed  *hide.Secrets   // what is taken out of texts
	timers     *timers         // of the handler, whatever its post is
}

// same says whether nothing has changed of a post that its calls would tell.
func (p *post) same(q *post) bool {
	return p.module == q.module && p.generation == q.generation && slices.Equal(p.companions, q.companions) && bytes.Equal(p.settings, q.settings)
}

// answers says whether the module answers an op.
func (p *post) answers(op string) bool { return slices.Contains(p.module.Describe().Ops, op) }

// Run has the handlers act until ctx ends. When it returns, nothing of it runs any more.
func (s *Stage) Run(ctx context.Context) error {
	var busy sync.WaitGroup
	defer busy.Wait()
	defer s.acting.Wait()
	defer s.open(ctx)()
	keepers, seats := keepers{}, seats{}
	defer keepers.leave()
	defer seats.leave()
	s.began = time.Now()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		posts := s.posts()
		s.outlive(posts)
		keepers.fill(ctx, &busy, s, posts)
		seats.fill(ctx, &busy, s, posts)
		select {
		case <-ctx.Done():
			return nil
		case <-s.changed:
		case <-look.C:
		}
	}
}

const notLoaded = "its module is not loaded"

// posts gives the handlers that can act now, in the order of the configuration: of two with one name of an action the
// first has it.
func (s *Stage) posts() (all []*post) {
	var loaded []string
	for _, c := range s.cfg.Companions() {
		loaded = append(loaded, c.ID())
	}
	for _, h := range s.handlers() {
		p, why := s.post(h)
		if why == notLoaded && time.Since(s.began) < lookEvery {
			continue // it may be on its way
		}
		if s.said[h.Name] != why && why != "" {
			s.cfg.Log.Warn("a handler acts for nobody", "handler", h.Name, "module", h.Module, "error", why)
		}
		s.said[h.Name] = why
		if p == nil {
			continue
		}
		for _, id := range loaded {
			if h.For(id) {
				p.companions = append(p.companions, id)
			}
		}
		all = append(all, p)
	}
	return all
}

// post gives a handler as it is now, or why it can do nothing.
func (s *Stage) post(h Handler) (p *post, why string) {
	m, ok := s.cfg.Module(h.Module)
	if !ok {
		return nil, notLoaded
	}
	d := m.Describe()
	if module.IsCharacter(d) {
		return nil, "its module is no handler but a character"
	}
	p = &post{Handler: h, module: m, generation: m.Generation(), timers: s.timersOf(h.Name), concealed: new(hide.Secrets)}
	if err := s.fillIn(p); err != nil {
		return nil, err.Error()
	}
	m.Hide(s.hidden(h.Module).Text)
	if err := module.CheckSettings(d, p.settings); err != nil {
		return nil, p.wrong(err)
	}
	return p, ""
}

// Check holds a handler's settings to a module that describes itself as d.
//
// # Errors
//
// An [*abi.Error] with the place, and of a secret no more than that; another error where a secret cannot be read.
func (s *Stage) Check(h Handler, d abi.Description) error {
	p := &post{Handler: h, concealed: new(hide.Secrets)}
	if err := s.fillIn(p); err != nil {
		return err
	}
	if err := module.CheckSettings(d, p.settings); err != nil {
		return abi.Errorf(abi.CodeOf(err), "%s", p.wrong(err))
	}
	return nil
}

// Settings gives what a handler is told as its settings, secrets among them, and those, to be taken out of what others may read.
func (s *Stage) Settings(h Handler) (settings json.RawMessage, secrets *hide.Secrets, err error) {
	p := &post{Handler: h, concealed: new(hide.Secrets)}
	err = s.fillIn(p)
	return p.settings, p.concealed, err
}

// fillIn gives a post its settings, secrets among them.
func (s *Stage) fillIn(p *post) error {
	p.settings = p.Settings
	var where map[string]string
	if len(p.Secrets) > 0 {
		if err := json.Unmarshal(p.Secrets, &where); err != nil {
			return fmt.Errorf("its secrets: %w", err)
		}
	}
	if len(where) == 0 {
		return nil
	}
	all := map[string]json.RawMessage{}
	if len(p.Settings) > 0 {
		if err := json.Unmarshal(p.Settings, &all); err != nil {
			return fmt.Errorf("its settings: %w", err)
		}
	}
	var unread error // of all that are not to be had
	for _, name := range slices.Sorted(maps.Keys(where)) {
		text, err := secret.Read("handler."+p.Name+".secrets."+name, where[name], s.cfg.SecretFile)
		if err != nil {
			if unread != nil {
				err = fmt.Errorf("%w; %w", unread, err)
			}
			unread = err
			continue
		}
		p.secrets = append(p.secrets, name)
		p.concealed.Add(text)
		s.hidden(p.Module).Add(text)
		all[name], _ = json.Marshal(text) // a text can always be written
	}
	if unread != nil {
		return unread
	}
	p.settings, _ = json.Marshal(all) // all of it was JSON
	return nil
}

// call asks the module of a handler one op, about a room or, where that is empty, about none.
func (s *Stage) call(ctx context.Context, p *post, op, room string, data any) (json.RawMessage, error) {
	b, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.asked++
	id := fmt.Sprintf("%s-%s-%d", op, p.Name, s.asked)
	s.calls[id] = p
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.calls, id)
	}()
	return p.module.Call(ctx, abi.Request{V: abi.Version, Op: op, ID: id, Self: p.Module, Room: room, Now: time.Now().UTC(), Data: b})
}

// caller gives the handler in whose call a host op is asked.
func (s *Stage) caller(c module.Caller) (*post, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.calls[c.Call]
	if p == nil || p.Module != c.Companion {
		return nil, abi.Errorf(abi.CodeDenied, "%s is no call of a handler, which alone may ask this", c.Op)
	}
	return p, nil
}
