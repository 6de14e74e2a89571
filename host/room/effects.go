package room

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/call"
	"github.com/companiond/companiond/host/room/voice"
)

// dispatch starts the calls that the state asks for and that do not run yet.
func (r *Room) dispatch(ctx context.Context) {
	if r.drain.Load() || !r.present.Known() {
		return
	}
	s := r.state()
	members := r.membersNow() // listed once, not once a voter
	if round := s.Round; round != nil {
		for _, v := range round.Electorate {
			if v.Kind != abi.KindCompanion || !round.Awaits(v.ID) || r.asking[v.ID] {
				continue
			}
			r.asking[v.ID], r.running[call.VoteID(v.ID)] = true, call.Run{}
			id := round.ID
			r.drafts[v.ID] = id
			m, scene := r.context(v.ID, members, round.Due, call.VoteLimit(r.patience()))
			during := r.running.Begin(ctx, call.VoteID(v.ID))
			r.goCall(func() { r.vote(ctx, during, v.ID, id, m, scene) })
		}
	}
	if f := s.Floor; f != nil && f.Lost == "" && s.Kinds()[f.Who] == abi.KindCompanion && !r.running.Has(r.voice.Call(f)) {
		r.lines.Add(1)
		who, grant := f.Who, f.Grant
		m, scene := r.context(who, members, f.Expires, call.LineLimit(time.Duration(s.Rules.Floor)*time.Millisecond))
		m.ID = r.voice.Call(f)
		scene.Grant, scene.Retry, scene.Recent = &grant, f.Again, r.tail.Last(abi.RecentInAsk)
		r.running[m.ID] = call.Run{Line: true, Basis: f.Basis}
		delete(r.drafts, who) // this call takes it, or ends it
		during := r.running.Begin(ctx, m.ID)
		r.goCall(func() { r.speak(ctx, during, who, m, scene) })
	}
	for _, p := range r.senses.Due() {
		r.lines.Add(1) // a stop waits for it
		m, scene := call.Context{ID: p.Call, Room: r.Name(), Now: r.loop.Now(), Limit: time.Now().Add(judgePatience)}, r.state().Perceiving(p.Who, p.Newest(), members, r.tail.Last(abi.RecentInAsk))
		scene.More = p.All[:len(p.All)-1]
		during := r.running.Begin(ctx, p.Call)
		r.goCall(func() { r.judge(ctx, during, p, m, scene) })
	}
	r.dropDrafts()
	for id, run := range r.running { // a line that nobody waits for any more, and that is no answer to what was said since
		if run.Line && run.Basis < s.Last.Seq && (s.Floor == nil || id != r.voice.Call(s.Floor)) {
			r.running.Over(id)
		}
	}
}

// dropDrafts tells those who voted, and do not get the floor, that no line of theirs is
// wanted: one may have been begun with the vote.
func (r *Room) dropDrafts() {
	s := r.state()
	for who, round := range r.drafts {
		switch {
		case r.asking[who], s.Round != nil && s.Round.ID == round: // it is not decided yet
		case s.Floor != nil && s.Floor.Who == who && s.Floor.Round == round && s.Floor.Lost == "": // it will be asked for
		default:
			if delete(r.drafts, who); r.callees.Withdraw(who, r.Name()) {
				r.board.Count("draft withdrawn")
			}
		}
	}
}

// goCall runs a call of a module beside the loop.
func (r *Room) goCall(f func()) {
	r.busy.Add(1)
	r.calls.Go(func() {
		defer r.busy.Add(-1)
		f()
	})
}

// castEarly counts votes that came before the message of the open round.
func (r *Room) castEarly() {
	s := r.state()
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

// patience is how long the room waits for votes.
func (r *Room) patience() time.Duration {
	return time.Duration(r.state().Rules.Patience) * time.Millisecond
}

// context is what a call takes with it out of the loop, which alone knows the room's
// clock and state. The call may outlive what waits for it, but not the limit.
func (r *Room) context(who string, members []abi.Member, due time.Time, limit time.Duration) (call.Context, abi.Scene) {
	now, end := r.loop.Now(), time.Now().Add(limit)
	if until := r.loop.Real(due); end.Before(until) {
		end = until
	}
	return call.Context{Room: r.Name(), Now: now, Limit: end}, r.state().Scene(who, members, now)
}

// vote gets one vote and gives it to the loop. The call ends with during.
func (r *Room) vote(ctx, during context.Context, who string, round uint64, m call.Context, scene abi.Scene) {
	var v abi.Vote
	known, err := r.callees.Ask(during, who, abi.OpVote, m, scene, &v, func() error { return v.Check() })
	if err == nil && !known {
		v = abi.Vote{State: abi.Listen, Reason: "does not vote"}
	}
	r.loop.Post(ctx, func() { r.handleVote(round, who, v, err) })
}

// speak gets one line and gives it to the loop. The call ends with during.
func (r *Room) speak(ctx, during context.Context, who string, m call.Context, scene abi.Scene) {
	a := voice.Answer{Grant: scene.Grant.Token, Basis: scene.Grant.Basis, About: scene.Message.Seq, Who: who}
	var known bool
	known, a.Err = r.callees.Ask(during, who, abi.OpSpeak, m, scene, &a.Line, func() error { return call.CheckLine(a.Line) })
	if a.Err == nil && !known {
		a.Line.Pass = "does not speak"
	}
	r.loop.Post(ctx, func() { r.voice.Take(a) })
}
