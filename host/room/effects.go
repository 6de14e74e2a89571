package room

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
)

// dispatch starts the calls that the state asks for and that do not run yet.
func (r *Room) dispatch(ctx context.Context) {
	if r.drain.Load() || r.cast == nil {
		return
	}
	s := r.m.State
	members := r.membersNow() // listed once, not once a voter
	if round := s.Round; round != nil {
		for _, v := range round.Electorate {
			if v.Kind != abi.KindCompanion || !round.Awaits(v.ID) || r.asking[v.ID] {
				continue
			}
			r.asking[v.ID] = true
			id, m := round.ID, r.context(v.ID, members, round.Due)
			r.goCall(func() { r.vote(ctx, v.ID, id, m) })
		}
	}
	if f := s.Floor; f != nil && f.Lost == "" && s.Kinds()[f.Who] == abi.KindCompanion && !r.speaking[speakKey(f.Token, f.Basis)] {
		r.speaking[speakKey(f.Token, f.Basis)] = true
		r.lines.Add(1)
		who, grant, m := f.Who, f.Grant, r.context(f.Who, members, f.Expires)
		m.id = callID(r.name, f.Token, f.Basis)
		m.scene.Grant, m.scene.Retry, m.scene.Recent = &grant, f.Again, r.tail.last(abi.RecentInAsk)
		r.running[m.id] = nil
		during := r.running.begin(ctx, m.id)
		r.goCall(func() { r.speak(ctx, during, who, grant, m) })
	}
	for _, p := range r.judging {
		r.lines.Add(1) // a stop waits for it
		m, scene := callContext{id: p.call, now: r.now(), due: time.Now().Add(judgePatience)}, r.perceiving(p, members)
		during := r.running.begin(ctx, p.call)
		r.goCall(func() { r.judge(ctx, during, p, m, scene) })
	}
	r.judging = nil
}

// goCall runs a call of a module beside the loop.
func (r *Room) goCall(f func()) {
	r.busy.Add(1)
	r.calls.Go(func() {
		defer r.busy.Add(-1)
		f()
	})
}

// shown gives the members of a scene: everybody, or where they are too many to show
// each to each, the first so many, the newest speaker and the companion itself.
func (r *Room) shown(members []abi.Member, who string) []abi.Member {
	if len(members) <= abi.MaxMembers {
		return members
	}
	shown := slices.Clone(members[:abi.MaxMembers-2])
	for _, m := range members[abi.MaxMembers-2:] {
		if m.ID == who || m.ID == r.m.State.Last.From {
			shown = append(shown, m)
		}
	}
	return shown
}

// castEarly counts votes that came before the message of the open round.
func (r *Room) castEarly() {
	s := r.m.State
	if s.Round == nil {
		return
	}
	held := r.early.Take(s.Round.About)
	for _, who := range slices.Sorted(maps.Keys(held)) {
		if s.Round != nil {
			_ = r.castVote(who, held[who]) // a refusal is counted there
		}
	}
}

// callID names the call for a line, so that its segments are known by it.
func callID(room, token string, basis uint64) string { return room + "/" + speakKey(token, basis) }

func speakKey(token string, basis uint64) string { return fmt.Sprintf("%s@%d", token, basis) }

// callContext is what a call takes with it out of the loop, which alone knows the
// room's clock and state.
type callContext struct {
	id    string    // of the call; empty: any
	now   time.Time // of the room's clock
	due   time.Time // of the process's
	scene abi.Scene
}

func (r *Room) context(who string, members []abi.Member, due time.Time) callContext {
	return callContext{now: r.now(), due: r.real(due), scene: r.scene(who, members)}
}

// scene is what a companion needs to judge the moment.
func (r *Room) scene(who string, members []abi.Member) abi.Scene {
	s := r.m.State
	var addressed []string
	if s.Round != nil {
		addressed = s.Round.Addressed
	} else if s.Floor != nil {
		addressed = s.Floor.Addressed
	}
	scene := abi.Scene{
		Message: s.Last, Addressed: slices.Contains(addressed, who), Members: r.shown(members, who),
		Turns: s.Turns, MaxTurns: s.Rules.MaxTurns, Closing: s.Stage,
	}
	if b, ok := s.Budget(r.now()); ok && (s.Floor == nil || s.PaysTurns()) {
		scene.Budget = &b
	}
	return scene
}

// vote gets one vote and gives it to the loop.
func (r *Room) vote(ctx context.Context, who string, round uint64, m callContext) {
	var v abi.Vote
	call, cancel := context.WithDeadline(ctx, m.due)
	defer cancel()
	known, err := r.call(call, who, abi.OpVote, m, m.scene, &v, func() error { return v.Check() })
	if err == nil && !known {
		v = abi.Vote{State: abi.Listen, Reason: "does not vote"}
	}
	r.post(ctx, func() { r.handleVote(round, who, v, err) })
}

// speak gets one line and gives it to the loop. The call ends with during.
func (r *Room) speak(ctx, during context.Context, who string, grant abi.Grant, m callContext) {
	e := spoken{grant: grant.Token, basis: grant.Basis, who: who}
	call, cancel := context.WithDeadline(during, m.due)
	defer cancel()
	var known bool
	known, e.err = r.call(call, who, abi.OpSpeak, m, m.scene, &e.line, func() error { return checkLine(e.line) })
	if e.err == nil && !known {
		e.line.Pass = "does not speak"
	}
	r.post(ctx, func() { r.handleSpoken(e) })
}

// checkLine reports the first thing that is wrong with a module's line. A line
// without a text is none.
func checkLine(l abi.Line) error {
	if l.Text == "" {
		return nil
	}
	if err := abi.CheckText("line.text", l.Text); err != nil {
		return err
	}
	if l.Closing.Stage() < 0 {
		return abi.Errorf(abi.CodeInvalid, "line.closing: %q is none of none, pre-closing, closing, terminal", l.Closing)
	}
	return nil
}

// call asks one op of a companion and checks the answer; known is false when it
// does not answer that op.
func (r *Room) call(ctx context.Context, who, op string, m callContext, ask, answer any, check func() error) (known bool, err error) {
	c, ok := r.cfg.Find(who)
	if !ok {
		return false, abi.Errorf(abi.CodeUnavailable, "%s is not loaded", who)
	}
	if !slices.Contains(c.Describe().Ops, op) {
		return false, nil
	}
	data, err := json.Marshal(ask)
	if err != nil {
		return false, fmt.Errorf("encode %s: %w", op, err)
	}
	if m.id == "" {
		m.id = r.cfg.NewID()
	}
	got, err := c.Call(ctx, abi.Request{
		V: abi.Version, Op: op, ID: m.id, Self: who, Room: r.name,
		Now: m.now, Data: data,
	})
	switch {
	case abi.CodeOf(err) == abi.CodeUnknownOp:
		return false, nil
	case err != nil:
		if useless(err) {
			r.cfg.Blame(who, op, err)
		}
		return true, err
	}
	if err = json.Unmarshal(got, answer); err != nil {
		err = abi.Errorf(abi.CodeInvalid, "%s answered %s with something else: %v", who, op, err)
	} else {
		err = check()
	}
	if err != nil {
		r.cfg.Blame(who, op, err)
	}
	return true, err
}

// useless says whether an error is the companion's own and is worth its maker's
// attention: not that it is late, away, or broke down, which is told elsewhere.
func useless(err error) bool {
	var own *abi.Error
	if !errors.As(err, &own) {
		return false
	}
	switch own.Code {
	case abi.CodeUnavailable, abi.CodeTimeout:
		return false
	}
	return true
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
