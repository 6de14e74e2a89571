// Package filter asks handlers about what companions are to perceive and about words of theirs before these are said:
// each may let it pass, change it, or refuse it.
//
// The handlers of a companion are asked one after the other, the next about what the one before has left of it. One that hangs,
// breaks down, answers nonsense or is not loaded is passed over or stops what it was asked about, as its configuration says.
//
// It never keeps words and decides nothing about turns. It gives steps that tell what the handlers did, for whoever asks to
// write down; of perceptions, which are no room's before they have passed, [Filter.Admit] has them written down.
package filter

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/secret/hide"
)

// Patience is how long one handler may take; then it has failed.
const Patience = abi.FilterTime * time.Millisecond

// Handler is a table [handler.NAME] of the configuration.
type Handler = config.Handler

// stop is what the key fail says of a handler whose failure is a refusal; else it is passed over.
const stop = "stop"

// Module is a handler's module. *module.Companion implements it.
type Module interface {
	Describe() abi.Description
	Generation() uint64
	Call(ctx context.Context, req abi.Request) (json.RawMessage, error)
	// Blame notes that an answer breaks the rules of its op.
	Blame(op string, err error)
}

var _ Module = (*module.Companion)(nil)

// Config is what a filter stands on.
type Config struct {
	Handlers []Handler
	Module   func(id string) (Module, bool) // one that is loaded
	NewID    func() string                  // unique ids for calls
	// Home is the room of a companion, see [Filter.Admit].
	Home func(ctx context.Context, companion string) (rooms.Room, error)
	// Settings gives what a handler is told as its settings, once for each generation of its module, and its secrets, which nobody
	// else is to read; nil: it is told what stands in its table.
	Settings func(h Handler) (settings json.RawMessage, secrets *hide.Secrets, err error)
	// Fits says why a companion cannot perceive what a handler made of a perception; nil: it can perceive all.
	Fits func(companion string, p abi.Percept) error
	// Ready is closed when all modules that are there at the start were loaded or refused: before, perceptions wait. nil: they are.
	Ready <-chan struct{}
	Log   *slog.Logger
}

// Filter asks handlers. Make it with New; it is safe for concurrent use. A nil one lets everything pass.
type Filter struct {
	cfg Config
	all atomic.Pointer[[]*handler] // in the order in which they are asked
}

// New makes a filter. It starts nothing.
func New(c Config) *Filter {
	f := &Filter{cfg: c}
	f.Replace(c.Handlers)
	return f
}

// Replace has other handlers be asked. What is being asked about goes on with those that were there before.
func (f *Filter) Replace(those []Handler) {
	var all []*handler
	for _, h := range those {
		all = append(all, &handler{Handler: h, told: told{h.Settings, nil}})
	}
	slices.SortStableFunc(all, func(a, b *handler) int { return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Name, b.Name)) })
	f.all.Store(&all)
}

// Line asks about words of a companion's: a line, or a piece of one. It gives what is to be said in their place, what each
// handler did, none where no handler filters for the companion, and, where one refused, "refused by NAME: why".
//
// Where ctx ends meanwhile there are steps, and nothing of what it gives is of use.
func (f *Filter) Line(ctx context.Context, companion, room, text string) (said string, steps []entry.Step, refused string) {
	said = text
	steps, refused = f.ask(ctx, abi.OpLine, companion, room, func(*handler) bool { return true }, func(settings json.RawMessage) any {
		return abi.Lining{Companion: companion, Text: said, Settings: settings}
	}, func(raw json.RawMessage, secrets *hide.Secrets) (a answer, err error) {
		lined, err := decode[abi.Lined](raw)
		switch {
		case err != nil:
		case lined.Refuse != "" && lined.Text != "":
			err = abi.Errorf(abi.CodeInvalid, "it has both refuse and text; it may have one of them")
		case lined.Text != "" && lined.Text != said:
			if err = abi.CheckText("text", lined.Text); err == nil {
				said, a.changed = secrets.Own(said, lined.Text), true
			}
		}
		a.refused = lined.Refuse
		return a, err
	})
	return said, steps, refused
}

// Sense is Line for a perception of a companion, before anything is kept of it.
func (f *Filter) Sense(ctx context.Context, companion, room string, p abi.Percept) (perceived abi.Percept, steps []entry.Step, refused string) {
	perceived = p
	steps, refused = f.ask(ctx, abi.OpSense, companion, room, func(h *handler) bool { return h.on(p.Title) }, func(settings json.RawMessage) any {
		return abi.Sensing{Companion: companion, Perception: perceived, Settings: settings}
	}, func(raw json.RawMessage, secrets *hide.Secrets) (a answer, err error) {
		sensed, err := decode[abi.Sensed](raw)
		changed, body := perceived, bytes.TrimSpace(sensed.Body)
		if changed.Body = body; bytes.Equal(secrets.JSON(perceived.Body), perceived.Body) { // else they are no secrets of its
			changed.Body = secrets.JSON(body)
		}
		switch given := len(body) > 0 && string(body) != "null"; {
		case err != nil:
		case sensed.Refuse != "" && given:
			err = abi.Errorf(abi.CodeInvalid, "it has both refuse and body; it may have one of them")
		case given && !bytes.Equal(body, perceived.Body):
			if err = f.fits(companion, perceived, changed); err == nil {
				perceived, a.changed = changed, true
			}
		}
		a.refused = sensed.Refuse
		return a, err
	})
	return perceived, steps, refused
}

// fits holds a perception to the shape that it had: an object stays one, and a text.
func (f *Filter) fits(companion string, was, is abi.Percept) error {
	if len(was.Body) == 0 {
		return abi.Field("body", abi.CodeInvalid, "is given for a perception that has none: an image can be refused, and not changed")
	}
	if a, b := kindOf(was.Body), kindOf(is.Body); a != b {
		return abi.Field("body", abi.CodeInvalid, "is %s in place of %s", b, a)
	}
	if f.cfg.Fits == nil {
		return nil
	}
	return f.cfg.Fits(companion, is)
}

// kindOf gives what a JSON value is.
func kindOf(raw json.RawMessage) string {
	switch bytes.TrimSpace(raw)[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a text"
	}
	return "a number or a word"
}

// decode reads an answer, which is an object.
func decode[T any](raw json.RawMessage) (v T, err error) {
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, abi.Errorf(abi.CodeInvalid, "the answer is no object as its op has it: %v", err)
	}
	return v, nil
}

// answer is what a handler made of what it was asked about.
type answer struct {
	changed bool
	refused string // why, empty where it is not
}

// ask asks those who filter by an op for a companion, until one refuses.
func (f *Filter) ask(ctx context.Context, op, companion, room string, which func(*handler) bool, data func(settings json.RawMessage) any, take func(json.RawMessage, *hide.Secrets) (answer, error)) (steps []entry.Step, refused string) {
	if f == nil {
		return nil, ""
	}
	for _, h := range *f.all.Load() {
		if !h.For(companion) || !which(h) || h.Module == module.DuringOf(ctx) { // which would wait for itself
			continue
		}
		m, told, why, asked := h.module(f.cfg, op)
		if !asked {
			continue
		}
		if why == "" && !h.rest.over(time.Now()) {
			why = resting
		}
		step := entry.Step{Handler: h.Name, Did: entry.DidFail, Reason: why}
		if why == "" {
			step = f.step(ctx, h, m, op, room, data(told.settings), take, told.secrets)
		}
		if steps = append(steps, step); ctx.Err() != nil {
			return steps, ""
		}
		if step.Did == entry.DidRefuse || step.Did == entry.DidFail && h.Fail == stop {
			return steps, "refused by " + h.Name + ": " + step.Reason
		}
	}
	return steps, ""
}

// step asks one handler.
func (f *Filter) step(ctx context.Context, h *handler, m Module, op, room string, data any, take func(json.RawMessage, *hide.Secrets) (answer, error), secrets *hide.Secrets) entry.Step {
	begun := time.Now()
	a, err := f.call(ctx, h, m, op, room, data, take, secrets)
	s := entry.Step{Handler: h.Name, Did: entry.DidPass, MS: time.Since(begun).Milliseconds()}
	switch {
	case err != nil:
		s.Did, s.Reason = entry.DidFail, short(secrets.Text(reason(err)))
		if before := h.failed.Swap(&s.Reason); ctx.Err() == nil && (before == nil || *before != s.Reason) { // once, or each piece of a line would say it
			f.cfg.Log.Warn("a handler failed as a filter", "handler", h.Name, "op", op, "error", s.Reason, "it", cmp.Or(h.Fail, "skip"))
		}
	case a.refused != "":
		s.Did, s.Reason = entry.DidRefuse, short(secrets.Text(a.refused))
	case a.changed:
		s.Did = entry.DidChange
	}
	switch {
	case err == nil:
		h.failed.Store(nil)
		h.rest.answered()
	case ctx.Err() != nil: // whoever asked gave up
	case !isLate(err):
		h.rest.answered()
	default:
		if alone := h.rest.late(begun, time.Now()); alone > 0 {
			f.cfg.Log.Warn("a handler is late as a filter, and is left alone", "handler", h.Name, "op", op, "for", alone, "it", cmp.Or(h.Fail, "skip"))
		}
	}
	return s
}

func (f *Filter) call(ctx context.Context, h *handler, m Module, op, room string, data any, take func(json.RawMessage, *hide.Secrets) (answer, error), secrets *hide.Secrets) (a answer, err error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return a, err
	}
	during, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	got, err := m.Call(during, abi.Request{V: abi.Version, Op: op, ID: f.cfg.NewID(), Self: h.Module, Room: room, Now: time.Now().UTC(), Data: raw})
	if err != nil {
		return a, err
	}
	if a, err = take(got, secrets); err != nil {
		m.Blame(op, abi.Errorf(abi.CodeOf(err), "%s", secrets.Text(reason(err))))
	}
	return a, err
}

// handler is one of the configuration, and what is known of its module.
type handler struct {
	Handler

	mu   sync.Mutex
	seen uint64   // the generation of which ops and bad are; 0: it was never loaded
	ops  []string // that it answered then
	bad  string   // why its settings are of no use to it
	said string   // what the log was told last

	failed atomic.Pointer[string] // why it failed last, nil where it has answered since
	rest   rest

	again bool // its settings could not be had: a file may be there later

	told told
}

// told is what a module is told as settings, and the secrets among these.
type told struct {
	settings json.RawMessage
	secrets  *hide.Secrets
}

// on says whether it is asked about perceptions with a title.
func (h *handler) on(title string) bool {
	return len(h.On) == 0 || slices.ContainsFunc(h.On, func(pattern string) bool {
		ok, _ := path.Match(pattern, title) // the configuration has looked at it
		return ok
	})
}

// module gives the module to ask and what it is told as settings, or why it cannot be asked; asked is false for one that does not filter by the op. Of one that
// was never loaded nobody knows that: it is asked where its failure stops.
func (h *handler) module(c Config, op string) (m Module, now told, why string, asked bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m, loaded := c.Module(h.Module)
	if loaded && (m.Generation() != h.seen || h.again) {
		d := m.Describe()
		h.rest.answered() // the one before was late, if any
		h.seen, h.ops, h.bad = m.Generation(), nil, ""
		if !module.IsCharacter(d) {
			h.ops = d.Ops
		}
		var err error
		if c.Settings != nil {
			h.told.settings, h.told.secrets, err = c.Settings(h.Handler)
			h.again = err != nil
		}
		if err = cmp.Or(err, module.CheckSettings(d, h.told.settings)); err != nil {
			h.bad = short(h.told.secrets.Text(module.Reason(err)))
		}
	}
	asked = slices.Contains(h.ops, op) || h.seen == 0 && h.Fail == stop
	if why = h.bad; !loaded {
		why = "its module is not loaded"
	}
	if asked && why != h.said {
		if h.said = why; why != "" {
			c.Log.Warn("a handler cannot be asked as a filter", "handler", h.Name, "module", h.Module, "error", why, "it", cmp.Or(h.Fail, "skip"))
		}
	}
	return m, h.told, why, asked
}
