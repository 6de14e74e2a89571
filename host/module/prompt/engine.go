// Package prompt is the engine without code: a companion is a card (the
// AI Companion Protocol's JSON), and a language model lives it.
//
// The model is asked whether the character wants to speak, for its lines,
// what it makes of a perception, and for a part of the past in fewer words. The card is in what the model is told, as data;
// nothing is left to its obedience: an action that the card or its
// events do not allow is refused by the host, whatever the model says.
//
// The package never decides who speaks, never reaches a network or a body
// itself, and knows no vendor of models.
package prompt

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/context/layout"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/limits"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/model/tokens"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/prompt/together"
)

// Models gives the models of companions. The host implements it.
type Models interface {
	// Generate asks the model of a companion, see [model.Client]; wanted is what its
	// card names. Without a model it is abi.CodeUnavailable; where a bound on calls or money
	// is reached it is abi.CodeExhausted, and abi.Error.After says for how long.
	Generate(ctx context.Context, c module.Caller, wanted string, ask Ask, onText func(string) error) (model.Answer, error)
	// Window gives how many tokens a prompt for a companion's model may come to, and what
	// guesses them.
	Window(wanted string) (budget int, meter *tokens.Meter)
	// Waits says why a companion has no model; empty when it has one.
	Waits(companion, wanted string) string
	// VotesWithLine gives a model's name, and of how many votes at once it is to write
	// the line behind, 0 for none.
	VotesWithLine(wanted string) (model string, most int)
	// VotesTogether gives a model's name, and whether it is to vote for several characters
	// in one call.
	VotesTogether(wanted string) (model string, ok bool)
}

// Ask is a request for a model, with what it is for.
type Ask struct {
	model.Request
	About   uint64         // seq of what is judged or answered
	Grant   string         // token of the line
	Urgency limits.Urgency // how much of a bound on calls it may reach
	Told    *entry.Told    // what it says, for those who ask
	With    []string       // the others for whom it is, beside the caller
}

// Config is what the engine needs.
type Config struct {
	Models Models           // must be set
	Host   module.HostCalls // must be set: plays actions, shows segments
	Log    *slog.Logger     // must be set, where calls are made
	// Recall gives what a companion remembers that has to do with a text; nil: nothing.
	Recall func(ctx context.Context, c module.Caller, ask abi.MemoryAsk) (abi.Memories, error)
	Zone   *time.Location // in which characters are told the time; nil: UTC
	// Keep keeps the house's own words of prompts, by their hash; nil: they are not kept.
	Keep func(ctx context.Context, sha256, text string) error
}

// Engine loads cards.
type Engine struct {
	cfg Config

	tables *together.Tables[round, voter, abi.Vote]

	mu     sync.Mutex
	drafts map[string]int     // being written, by model
	cards  map[string]*Module // by id
	panels map[part]*panel
	astray map[string]int // answers of a model in a row that were to be votes for several and were not
	turn   uint64         // counts the uses of panels
}

var _ module.Engine = (*Engine)(nil)

// New makes an engine. It starts nothing.
func New(c Config) *Engine {
	e := &Engine{cfg: c, drafts: map[string]int{}, cards: map[string]*Module{}, panels: map[part]*panel{}, astray: map[string]int{}}
	e.tables = together.New[round](panelWait, e.judge)
	return e
}

// Name is "prompt".
func (*Engine) Name() string { return "prompt" }

// Match takes what ends in ".json".
func (*Engine) Match(file string) (name string, ok bool) { return strings.CutSuffix(file, ".json") }

// Load reads a card. No model is asked: a card is good or bad by itself.
func (e *Engine) Load(_ context.Context, s module.Source) (module.Module, error) {
	def, err := card.Parse(s.Name, s.Data)
	if err != nil {
		return nil, abi.Wrap(abi.CodeInvalid, err, abi.AsError(err).Message)
	}
	if def.ID != "" && def.ID != s.ID {
		return nil, abi.Errorf(abi.CodeInvalid, "%s: id: is %q, but the file's name makes it %q; take the id out or rename the file", s.Name, def.ID, s.ID)
	}
	m := &Module{
		engine: e, id: s.ID, generation: s.Generation, card: def, expressive: def.Expressive(), mind: layout.New(s.ID, def, e.cfg.Zone), size: int64(len(s.Data)),
		desc: abi.Description{
			ABI: "1", Name: def.Name, Aliases: def.Aliases, Version: def.Version, Card: def.Source(), Several: true,
			Ops: []string{abi.OpDescribe, abi.OpVote, abi.OpSpeak, abi.OpPerceive, abi.OpResult, abi.OpCompress, abi.OpVerify},
		},
		lately: map[string][]string{}, drafts: map[string]*draft{},
		talks: map[string]*talk{}, kept: map[string]bool{},
	}
	e.loaded(m)
	return m, nil
}

// Module is one loaded card. Its calls run side by side.
type Module struct {
	engine     *Engine
	id         string
	generation uint64
	card       *card.Card
	mind       *layout.Mind
	expressive bool // its "speak" says how a line is said
	desc       abi.Description
	size       int64

	calls module.Calls
	gone  bool         // it was closed; under the engine's lock
	unfit atomic.Int32 // answers in a row that were to begin with a vote and did not

	mu      sync.Mutex
	results []abi.Result        // of its actions, the newest last
	lately  map[string][]string // actions of its last line, by room
	drafts  map[string]*draft   // that wait for the floor, by room
	talks   map[string]*talk    // by room
	turn    uint64              // counts the uses of talks
	kept    map[string]bool     // hashes of words that are kept
}

var (
	_ module.Module  = (*Module)(nil)
	_ module.Drafter = (*Module)(nil)
)

// Describe gives what the card says.
func (m *Module) Describe() abi.Description { return m.desc }

// Memory gives the bytes of the file; a card has no guest.
func (m *Module) Memory() int64 { return m.size }

// Close lets the running calls end until its ctx does, and then ends them.
func (m *Module) Close(ctx context.Context) error {
	m.mu.Lock()
	rooms := slices.Collect(maps.Keys(m.drafts))
	m.mu.Unlock()
	for _, room := range rooms {
		m.Withdraw(room)
	}
	m.engine.closed(m)
	idle, _ := m.calls.Close(ctx)
	<-idle
	return nil
}

// Call answers one op.
func (m *Module) Call(ctx context.Context, req abi.Request) (json.RawMessage, error) {
	ctx, end, err := m.calls.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	call := &call{m: m, caller: module.Caller{
		Companion: m.id, Room: req.Room, Call: req.ID, Op: req.Op, Engine: m.engine.Name(), Generation: m.generation,
	}, now: req.Now}
	data, err := call.answer(ctx, req)
	if err != nil && context.Cause(ctx) == module.ErrClosed {
		err = module.ErrClosed
	}
	return data, err
}

// call is one op that is being answered.
type call struct {
	m      *Module
	caller module.Caller
	draft  *draft // of a line: its beginning, made with the vote; nil: there is none
	games  games  // what those offer
	now    time.Time
}

func (c *call) answer(ctx context.Context, req abi.Request) (json.RawMessage, error) {
	switch req.Op {
	case abi.OpDescribe:
		return json.Marshal(c.m.desc)
	case abi.OpVote:
		return module.Answer(req.Data, func(s abi.Scene) (abi.Vote, error) { return c.vote(ctx, s) })
	case abi.OpSpeak:
		return module.Answer(req.Data, func(s abi.Scene) (abi.Line, error) { return c.speak(ctx, s) })
	case abi.OpPerceive:
		return module.Answer(req.Data, func(p abi.Perceiving) (abi.Judgement, error) { return c.perceive(ctx, p) })
	case abi.OpResult:
		return module.Answer(req.Data, func(r abi.Result) (struct{}, error) { return struct{}{}, c.m.remember(r) })
	}
	return c.past().answer(ctx, req)
}

// maxResults is how many results of actions a card remembers.
const maxResults = 8

// remember keeps what became of an action, for the next prompts.
func (m *Module) remember(r abi.Result) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.results = append(m.results, r)
	m.results = m.results[max(0, len(m.results)-maxResults):]
	return nil
}

func (m *Module) remembered() []abi.Result {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.results)
}

// generate asks the model. A call that ran out of time says so in plain words.
func (c *call) generate(ctx context.Context, ask Ask, onText func(string) error) (model.Answer, error) {
	a, err := c.m.engine.cfg.Models.Generate(ctx, c.caller, c.m.card.Model, ask, onText)
	return a, late(ctx, err)
}

// late puts the error of a call that ran out of time into words.
func late(ctx context.Context, err error) error {
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return abi.Errorf(abi.CodeTimeout, "the model did not answer in time")
	}
	return err
}

// host asks the host for one op.
func host[Answer any](ctx context.Context, c *call, op string, ask any) (a Answer, err error) {
	data, err := json.Marshal(ask)
	if err != nil {
		return a, abi.Errorf(abi.CodeInternal, "encode %s: %w", op, err)
	}
	got, err := c.m.engine.cfg.Host.HostCall(ctx, c.caller, op, data)
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(got, &a)
}
