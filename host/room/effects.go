package room

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/turn"
)

// dispatch starts the calls that the state asks for and that do not run yet.
func (r *Room) dispatch(ctx context.Context) {
	if r.drain.Load() || r.cast == nil {
		return
	}
	s := r.m.State
	if round := s.Round; round != nil {
		for _, v := range round.Electorate {
			if v.Kind != abi.KindCompanion || !round.Awaits(v.ID) || r.asking[v.ID] {
				continue
			}
			r.asking[v.ID] = true
			id, due, scene := round.ID, r.real(round.Due), r.scene(v.ID)
			r.calls.Go(func() { r.ask(ctx, v.ID, id, due, scene) })
		}
	}
	if f := s.Floor; f != nil && f.Lost == "" && s.Kinds()[f.Who] == abi.KindCompanion && !r.speaking[speakKey(f.Token, f.Basis)] {
		r.speaking[speakKey(f.Token, f.Basis)] = true
		r.lines.Add(1)
		who, grant, due, scene := f.Who, f.Grant, r.real(f.Expires), r.scene(f.Who)
		scene.Grant, scene.Retry, scene.Recent = &grant, f.Again, r.tail.last(abi.RecentInAsk)
		r.calls.Go(func() { r.speak(ctx, who, grant, due, scene) })
	}
}

// castEarly counts votes that came before the message of the open round.
func (r *Room) castEarly() {
	s := r.m.State
	if s.Round == nil {
		return
	}
	held := r.early.Take(s.Round.About)
	for _, who := range slices.Sorted(keys(held)) {
		if s.Round != nil {
			_ = r.castVote(who, held[who]) // a refusal is counted there
		}
	}
}

func speakKey(token string, basis uint64) string { return fmt.Sprintf("%s@%d", token, basis) }

// scene is what a companion needs to judge the moment.
func (r *Room) scene(who string) abi.Scene {
	s := r.m.State
	addressed := turn.Addressed(s.Last, s.Named())
	if s.Round != nil {
		addressed = s.Round.Addressed
	} else if s.Floor != nil {
		addressed = s.Floor.Addressed
	}
	scene := abi.Scene{
		Message: s.Last, Addressed: contains(addressed, who), Members: s.Members(),
		Turns: s.Turns, MaxTurns: s.Rules.MaxTurns, Closing: s.Stage,
	}
	if b, ok := s.Budget(r.now()); ok && (s.Floor == nil || s.PaysTurns()) {
		scene.Budget = &b
	}
	return scene
}

// ask gets one vote and puts it into the inbox.
func (r *Room) ask(ctx context.Context, who string, round uint64, due time.Time, scene abi.Scene) {
	e := votedEvent{round: round, who: who}
	call, cancel := context.WithDeadline(ctx, due)
	defer cancel()
	var known bool
	known, e.err = r.call(call, who, abi.OpVote, scene, &e.vote)
	if e.err == nil && !known {
		e.vote = abi.Vote{State: abi.Listen, Reason: "does not vote"}
	}
	r.post(ctx, e)
}

// speak gets one line and puts it into the inbox.
func (r *Room) speak(ctx context.Context, who string, grant abi.Grant, due time.Time, scene abi.Scene) {
	e := spokeEvent{grant: grant.Token, basis: grant.Basis, who: who}
	call, cancel := context.WithDeadline(ctx, due)
	defer cancel()
	var known bool
	known, e.err = r.call(call, who, abi.OpSpeak, scene, &e.line)
	if e.err == nil && !known {
		e.line.Pass = "does not speak"
	}
	r.post(ctx, e)
}

// call asks one op of a companion; known is false when it does not answer that
// op.
func (r *Room) call(ctx context.Context, who, op string, scene abi.Scene, answer any) (known bool, err error) {
	c, ok := r.find(who)
	if !ok {
		return false, abi.Errorf(abi.CodeUnavailable, "%s is not loaded", who)
	}
	if !contains(c.Describe().Ops, op) {
		return false, nil
	}
	data, err := json.Marshal(scene)
	if err != nil {
		return false, fmt.Errorf("encode scene: %w", err)
	}
	got, err := c.Call(ctx, abi.Request{
		V: abi.Version, Op: op, ID: r.newID(), Self: who, Room: r.settings.Name,
		Now: time.Now().UTC().Truncate(time.Millisecond), Data: data,
	})
	switch {
	case abi.CodeOf(err) == abi.CodeUnknownOp:
		return false, nil
	case err != nil:
		return true, err
	}
	if err := json.Unmarshal(got, answer); err != nil {
		return true, abi.Errorf(abi.CodeInvalid, "%s answered %s with something else: %v", who, op, err)
	}
	return true, nil
}

// post gives a result to the loop.
func (r *Room) post(ctx context.Context, e event) {
	if ctx.Err() != nil {
		return // the daemon is stopping, which is no answer
	}
	select {
	case r.inbox <- e:
	case <-ctx.Done():
	}
}

// failure puts a failed call into words for the journal.
func failure(err error) (abi.Code, string) {
	var fault *module.Fault
	switch {
	case errors.As(err, &fault) && fault.Kind == module.FaultTimeout:
		return abi.CodeTimeout, "did not answer in time and was stopped"
	case errors.As(err, &fault):
		return abi.CodeInternal, clip("broke down: " + fault.Error())
	case errors.Is(err, context.DeadlineExceeded):
		return abi.CodeTimeout, "did not answer in time"
	case errors.Is(err, context.Canceled):
		return abi.CodeUnavailable, "the daemon is stopping"
	}
	e := abi.AsError(err)
	return e.Code, clip(e.Message)
}

// clip keeps a module's words in the journal short.
func clip(s string) string {
	const most = 300
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && s[cut]&0xc0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}
