package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/memory/ask"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/module"
)

// Op is what a model is asked for by the keeper: no op of a module.
const Op = "remember"

// question is what a model is asked about a part of a talk, once for all who have that model and
// heard the same: what people said there is the same for all of them.
type question struct {
	known  []fact.Fact // of any of them
	answer string
	err    error
	done   bool
}

// question gives what is to be asked for a listener, together with others where it is the same.
func (l *listener) question(all map[string]*question) *question {
	of := "mind " + l.settings.Mind
	if l.settings.Mind == "" {
		of = "companion " + l.id
	}
	var heard strings.Builder
	for _, t := range l.turns[:l.part] {
		fmt.Fprint(&heard, " ", t.Seq)
	}
	key := of + heard.String()
	q := all[key]
	if q == nil {
		q = &question{}
		all[key] = q
	}
	for _, f := range l.known {
		same := func(g fact.Fact) bool { return g.SaidBy == f.SaidBy && g.Text == f.Text }
		if len(q.known) < maxKnown && !slices.ContainsFunc(q.known, same) {
			q.known = append(q.known, f)
		}
	}
	return q
}

// budget is what the model of a companion takes at once.
func (k *Keeper) budget(companion string) ask.Budget {
	context, meter := k.cfg.Window(companion)
	return ask.Budget{Context: context, Meter: meter}
}

// errNothingHolds is of a model that was asked.
var errNothingHolds = abi.Errorf(abi.CodeInvalid, "nothing of the answer stands up to what was said")

// asked gives what of a model's answer stands, for one of those whom it was asked for. Its error is CodeInvalid where
// there was an answer.
func (k *Keeper) asked(ctx context.Context, l *listener, room string) ([]fact.New, error) {
	if !l.asks.done {
		l.asks.answer, l.asks.err = k.ask(ctx, l, room)
		// One companion's bound is not another's.
		l.asks.done = abi.CodeOf(l.asks.err) != abi.CodeExhausted
	}
	if err := l.asks.err; err != nil {
		k.cfg.Log.Debug("a model could not go through a talk; rules do", "companion", l.id, "room", room, "err", err)
		return nil, err
	}
	found, rejected := ask.Read(l.asks.answer, l.known, l.turns)
	for _, why := range rejected {
		k.cfg.Log.Debug("something that a model found in a talk is not remembered", "companion", l.id, "room", room, "why", why)
	}
	if found = l.within(found); len(found) == 0 && len(rejected) > 0 {
		return nil, errNothingHolds
	}
	return found, nil
}

// ask asks the model.
func (k *Keeper) ask(ctx context.Context, l *listener, room string) (answer string, err error) {
	p := k.budget(l.id).For(l.asks.known, l.turns[:l.part])
	a, err := k.cfg.Model(ctx, module.Caller{Companion: l.id, Room: room, Call: k.cfg.NewID(), Op: Op}, model.Request{
		System: p.System, Schema: p.Schema, SchemaName: Op, Check: ask.Check, Messages: []model.Message{{Role: model.RoleUser, Text: p.User}},
	})
	if answer = string(a.JSON); answer == "" {
		answer = a.Text
	}
	return answer, err
}
