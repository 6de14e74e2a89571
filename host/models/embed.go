package models

import (
	"context"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/limits"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/module"
)

// Embeds gives the name of the model for vectors that is beside a companion's model; empty: there is
// none.
func (m *Models) Embeds(wanted string) string {
	s := m.set.Load()
	client, _ := s.of(wanted)
	if client == nil {
		return ""
	}
	return s.vectors[client.Name()]
}

// Embed asks for the vectors of texts, and writes down what that used. What is over a bound is not
// asked: nobody waits for it.
func (m *Models) Embed(ctx context.Context, c module.Caller, wanted string, texts []string) ([][]float32, error) {
	client, why := m.of(wanted)
	if client == nil {
		return nil, abi.Errorf(abi.CodeUnavailable, "%s", why)
	}
	counted, err := m.counted(ctx, client.Name(), c)
	if err == nil {
		err = m.take(counted, limits.Idle)
	}
	if err != nil {
		return nil, err
	}
	all, used, err := client.Embed(ctx, texts)
	m.spend(counted, used, err)
	m.used(ctx, c, entry.Usage{Model: client.Name()}, used, err)
	return all, err
}

// used writes down what a call used.
func (m *Models) used(ctx context.Context, c module.Caller, u entry.Usage, used model.Usage, err error) {
	u.Who, u.Op = c.Companion, c.Op
	u.In, u.Out, u.Cached, u.Calls, u.Estimated, u.Cost = used.In, used.Out, used.Cached, used.Calls, used.Estimated, used.Cost
	if err != nil {
		u.Error = abi.AsError(err).Message
	}
	if m.cfg.Used != nil && (u.Calls > 0 || err != nil && abi.CodeOf(err) != abi.CodeExhausted) {
		m.cfg.Used(context.WithoutCancel(ctx), c.Room, u)
	}
}
