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
	cfg      Config
	clients  map[string]model.Client
	context  map[string]int    // tokens that a prompt may come to
	vectors  map[string]string // the model for embeddings beside it; empty: it has none
	withLine map[string]int    // how many lines one writes behind votes at once
	together map[string]bool   // one votes for several characters in a call
	bounds   *bounds
	usual    string // for companions that name none; empty: there is none
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
	m := &Models{cfg: cfg, clients: map[string]model.Client{}, context: map[string]int{}, vectors: map[string]string{}, withLine: map[string]int{}, together: map[string]bool{}, bounds: newBounds(cfg.Bounds)}
	for _, c := range cfg.Settings {
		client := model.Config{
			Name: c.Name, API: c.API, URL: cmp.Or(c.URL, vendorURL(c.API)), Model: c.Model, Structured: c.Structured,
			Timeout: c.Timeout, FirstByte: c.FirstByte, Retries: c.Retries, Parallel: c.Parallel, MaxTokens: c.MaxTokens,
			PriceIn: c.PriceIn, PriceOut: c.PriceOut, PriceCached: c.PriceCached, Log: cfg.Log,
			Effort: c.Effort, Without: c.Without, Embeddings: c.Embeddings,
			Key: func() (string, error) { return readKey(c, cfg.File) },
		}
		if c.Temperature >= 0 {
			client.Temperature = &c.Temperature
		}
		m.clients[c.Name], m.context[c.Name], m.vectors[c.Name] = model.New(client), c.Context, c.Embeddings
		if c.VoteWithLine {
			m.withLine[c.Name] = c.Parallel - 1
		}
		m.together[c.Name] = c.VotesTogether && !c.VoteWithLine
		if len(cfg.Settings) == 1 || c.Name == config.DefaultName {
			m.usual = c.Name
		}
	}
	return m
}

// of gives the model that a companion is to think with.
func (m *Models) of(wanted string) (model.Client, string) {
	if c, ok := m.clients[cmp.Or(wanted, m.usual)]; ok {
		return c, ""
	}
	switch {
	case wanted != "":
		return nil, fmt.Sprintf("waits for a model: its card names %q, and the configuration has no [model.%s]", wanted, wanted)
	case len(m.clients) > 0:
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
	model = cmp.Or(wanted, m.usual)
	return model, m.withLine[model]
}

// VotesTogether gives the name of a companion's model, and whether it votes for several of
// its characters in one call.
func (m *Models) VotesTogether(wanted string) (model string, ok bool) {
	model = cmp.Or(wanted, m.usual)
	return model, m.together[model]
}

// Window gives how long a prompt for a companion's model may be.
func (m *Models) Window(wanted string) (budget int, meter *tokens.Meter) {
	client, _ := m.of(wanted)
	if client == nil {
		return 0, new(tokens.Meter)
	}
	return m.context[client.Name()], client.Meter()
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
