package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/bench/world"
	"github.com/companiond/companiond/host/call"
	"github.com/companiond/companiond/host/hostops"
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/knowledge"
	"github.com/companiond/companiond/host/models"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
)

// mindPatience is how long an answer of a character is waited for on the bench. It is
// none of a room's: whether the answer came in time is for the rules to find out.
const mindPatience = time.Minute

// Minds are the characters of a configuration without rooms and doors, for companiond
// bench to ask. They have the daemon's engines, grants and language models; what they
// keep is kept in memory, and the journal is left alone.
type Minds struct {
	h       *Host
	calls   call.Calls
	members []world.Member
	heard   atomic.Pointer[abi.History] // what history.get gives
	stop    context.CancelFunc
	gone    chan error
}

var _ world.Minds = (*Minds)(nil)

// OpenMinds loads the characters. Those that cannot be loaded are told in the log.
//
// # Errors
//
// What the engines cannot be opened for; that there is no character; ctx.
func OpenMinds(ctx context.Context, o Options) (_ *Minds, err error) {
	h := New(o)
	m := &Minds{h: h, gone: make(chan error, 1)}
	m.heard.Store(&abi.History{Messages: []abi.Message{}})
	h.stores = new(memory.KV)
	h.models = models.New(models.Config{Settings: h.cfg.Models, File: h.secrets, Wants: h.modelOf, Log: h.log})
	grants := module.Grants(h.cfg.GrantOf)
	calls := &hostops.Ops{
		Stores: h.stores, Generate: h.models.Ask, Knowledge: knowledge.New(h.cfg.Modules.Characters, h.log).Get,
		History: func(context.Context, string, abi.HistoryAsk) (abi.History, error) { return *m.heard.Load(), nil },
		Segment: func(context.Context, string, string, string, abi.SayAsk) error { return nil },
		Act: func(context.Context, module.Caller, abi.ActionAsk) (abi.ActionPlayed, error) {
			return abi.ActionPlayed{ID: newID()}, nil
		},
	}
	if err := h.openEngines(grants.Guard(calls)); err != nil {
		return nil, errors.Join(err, h.closeEngines())
	}
	h.folder, err = h.newFolders(grants, func(folder.Change) {})
	if err != nil {
		return nil, errors.Join(err, h.closeEngines())
	}
	m.calls = call.Calls{NewID: newID, Find: func(id string) (call.Companion, bool) { return loaded(h.folder.Companion(id)) }, Blame: func(string, string, error) {}}
	inner, stop := context.WithCancel(context.WithoutCancel(ctx))
	m.stop = stop
	go func() { m.gone <- h.folder.Run(inner) }()
	select {
	case <-h.folder.Ready():
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), m.Close())
	}
	for _, c := range h.folder.Companions() {
		d := c.Describe()
		m.members = append(m.members, world.Member{ID: c.ID(), Name: d.Name, Kind: abi.KindCompanion})
	}
	slices.SortFunc(m.members, func(a, b world.Member) int { return strings.Compare(a.ID, b.ID) })
	if len(m.members) == 0 {
		return nil, errors.Join(fmt.Errorf("no character of %s could be loaded", h.cfg.Modules.Characters), m.Close())
	}
	return m, nil
}

// Close ends the characters.
func (m *Minds) Close() error {
	m.stop()
	return errors.Join(<-m.gone, m.h.closeEngines())
}

// Members gives the characters.
func (m *Minds) Members() []world.Member { return m.members }

// Vote asks one for its vote.
func (m *Minds) Vote(who string, s abi.Scene) (v abi.Vote, took time.Duration, err error) {
	took, err = m.ask(who, abi.OpVote, s, &v, func() error { return v.Check() })
	if err == nil && v.State == "" {
		v = abi.Vote{State: abi.Listen, Reason: "does not vote"}
	}
	return v, took, err
}

// Line asks one for its line.
func (m *Minds) Line(who string, s abi.Scene) (l abi.Line, took time.Duration, err error) {
	m.heard.Store(&abi.History{Messages: s.Recent, Head: s.Message.Seq})
	took, err = m.ask(who, abi.OpSpeak, s, &l, func() error { return call.CheckLine(l) })
	return l, took, err
}

// ask asks one and measures how long that takes.
func (m *Minds) ask(who, op string, s abi.Scene, answer any, check func() error) (time.Duration, error) {
	began := time.Now()
	_, err := m.calls.Ask(context.Background(), who, op, call.Context{Room: benchRoom, Now: s.Message.At, Limit: began.Add(mindPatience)}, s, answer, check)
	return time.Since(began).Round(time.Millisecond), err
}

// benchRoom is what characters take the room for.
const benchRoom = "bench"
