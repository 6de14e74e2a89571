// Package models is the language models of the house: which companion thinks with which,
// the keys they are asked with, and what each call used.
//
// It never retries, judges or shortens what is asked; host/model talks to the vendors, and
// host/module/prompt makes the prompts of characters without code.
package models

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/limits"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/model/tokens"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/prompt"
)

// Config is what models stand on.
type Config struct {
	Settings []config.Model
	File     func(setting string) (path string, err error)         // of a setting that names a file with a key
	Wants    func(companion string) string                         // which model the card of a module names; nil: none does
	Used     func(ctx context.Context, room string, u entry.Usage) // told of each call; nil: nobody is
	Bounds   map[limits.Key]limits.Bounds                          // on calls and money
	Store    Store                                                 // of what was spent; for Restore and Run
	Log      *slog.Logger
	// ForkedOf gives the room that a room was forked of, empty for none. Its errors are *abi.Error. Nil: there are no forks.
	ForkedOf func(ctx context.Context, room string) (of string, err error)
}

// Models are the language models of a house. Make them with [New].
type Models struct {
	cfg    Config
	set    atomic.Pointer[set]
	bounds *bounds
}

// set is the models of one configuration. It never changes.
type set struct {
	settings []config.Model
	clients  map[string]model.Client
	context  map[string]int    // tokens that a prompt may come to
	vectors  map[string]string // the model for embeddings beside it; empty: it has none
	withLine map[string]int    // how many lines one writes behind votes at once
	together map[string]bool   // one votes for several characters in a call
	usual    string            // for companions that name none; empty: there is none
}

var _ prompt.Models = (*Models)(nil)

// vendorURL is where a model is whose url is empty.
func vendorURL(api string) string {
	if api == model.Anthropic {
		return "https://api.anthropic.com"
	}
	return "https://api.openai.com/v1"
}

// New makes the clients. Nothing is asked yet, and a key that is not there is told by the
// first call that needs it.
func New(cfg Config) *Models {
	m := &Models{cfg: cfg, bounds: newBounds(cfg.Bounds)}
	m.set.Store(m.newSet(cfg.Settings, new(set)))
	return m
}

// Replace puts the models of another configuration in the place of those that there were. Calls that run end as they began;
// a model whose settings are the same goes on as the one that it was, and what was spent counts on.
func (m *Models) Replace(settings []config.Model, of map[limits.Key]limits.Bounds) {
	m.bounds.set(of)
	m.set.Store(m.newSet(settings, m.set.Load()))
}

// newSet makes the clients that before does not have.
func (m *Models) newSet(settings []config.Model, before *set) *set {
	s := &set{settings: settings, clients: map[string]model.Client{}, context: map[string]int{}, vectors: map[string]string{}, withLine: map[string]int{}, together: map[string]bool{}}
	for _, c := range settings {
		same := slices.IndexFunc(before.settings, func(was config.Model) bool { return reflect.DeepEqual(was, c) })
		if same >= 0 {
			s.clients[c.Name] = before.clients[c.Name]
		} else {
			s.clients[c.Name] = m.client(c)
		}
		s.context[c.Name], s.vectors[c.Name] = c.Context, c.Embeddings
		if c.VoteWithLine {
			s.withLine[c.Name] = c.Parallel - 1
		}
		s.together[c.Name] = c.VotesTogether && !c.VoteWithLine
		if len(settings) == 1 || c.Name == config.DefaultName {
			s.usual = c.Name
		}
	}
	return s
}

func (m *Models) client(c config.Model) model.Client {
	client := model.Config{
		Name: c.Name, API: c.API, URL: cmp.Or(c.URL, vendorURL(c.API)), Model: c.Model, Structured: c.Structured,
		Timeout: c.Timeout, FirstByte: c.FirstByte, Retries: c.Retries, Parallel: c.Parallel, MaxTokens: c.MaxTokens,
		PriceIn: c.PriceIn, PriceOut: c.PriceOut, PriceCached: c.PriceCached, Log: m.cfg.Log,
		Effort: c.Effort, Without: c.Without, Embeddings: c.Embeddings,
		Key: func() (string, error) { return readKey(c, m.cfg.File) },
	}
	if c.Temperature >= 0 {
		client.Temperature = &c.Temperature
	}
	return model.New(client)
}

// of gives the model that a companion is to think with.
func (m *Models) of(wanted string) (model.Client, string) { return m.set.Load().of(wanted) }

func (s *set) of(wanted string) (model.Client, string) {
	if c, ok := s.clients[cmp.Or(wanted, s.usual)]; ok {
		return c, ""
	}
	switch {
	case wanted != "":
		return nil, fmt.Sprintf("waits for a model: its card names %q, and the configuration has no [model.%s]", wanted, wanted)
	case len(s.clients) > 0:
		return nil, "waits for a model: the configuration has several and none is called \"main\"; name one in the card"
	}
	return nil, "waits for a model: write [model.main] into the configuration"
}

// Waits says why a companion has no model; empty when it has one.
func (m *Models) Waits(_, wanted string) string {
	_, why := m.of(wanted)
	return why
}

// VotesWithLine gives the name of a companion's model, and how many lines it may write behind
// votes at once: one place of its is for all else.
func (m *Models) VotesWithLine(wanted string) (model string, most int) {
	s := m.set.Load()
	model = cmp.Or(wanted, s.usual)
	return model, s.withLine[model]
}

// VotesTogether gives the name of a companion's model, and whether it votes for several of
// its characters in one call.
func (m *Models) VotesTogether(wanted string) (model string, ok bool) {
	s := m.set.Load()
	model = cmp.Or(wanted, s.usual)
	return model, s.together[model]
}

// Window gives how long a prompt for a companion's model may be.
func (m *Models) Window(wanted string) (budget int, meter *tokens.Meter) {
	s := m.set.Load()
	client, _ := s.of(wanted)
	if client == nil {
		return 0, new(tokens.Meter)
	}
	return s.context[client.Name()], client.Meter()
}

// Generate asks a companion's model and writes down what it used. What is over a bound is not
// asked, and costs nothing.
func (m *Models) Generate(ctx context.Context, c module.Caller, wanted string, ask prompt.Ask, onText func(string) error) (model.Answer, error) {
	client, why := m.of(wanted)
	if client == nil {
		return model.Answer{}, abi.Errorf(abi.CodeUnavailable, "%s", why)
	}
	counted, err := m.counted(ctx, client.Name(), c)
	if err != nil {
		return model.Answer{}, err
	}
	if err := m.may(counted, ask.Urgency); err != nil { // before it waits for a place
		return model.Answer{}, err
	}
	ask.Before = func() error { return m.take(counted, ask.Urgency) }
	a, err := client.Generate(ctx, ask.Request, onText)
	m.spend(counted, a.Usage, err)
	m.used(ctx, c, entry.Usage{Model: client.Name(), About: ask.About, Grant: ask.Grant, Told: ask.Told, With: ask.With}, a.Usage, err)
	return a, err
}
