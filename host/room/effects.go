package room

import (
	"cmp"
	"context"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/call"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/voice"
)

// dispatch starts the calls that the state asks for and that do not run yet.
func (r *Room) dispatch(ctx context.Context) {
	if r.drain.Load() || !r.present.Known() {
		return
	}
	s := r.state()
	members := r.membersNow() // listed once, not once a voter
	for _, who := range r.votes.Due() {
		id := s.Round.ID
		m, scene := r.context(who, members, s.Round.Due, call.VoteLimit(r.patience()))
		during := r.running.Begin(ctx, call.VoteID(who))
		r.goCall(func() { r.vote(ctx, during, who, id, m, scene) })
	}
	atHand := s.Floor != nil && s.Floor.Wish != nil && s.Floor.Wish.Text != "" && !s.Floor.Again // it may wait until it may sound
	if f := s.Floor; f != nil && f.Lost == "" && !atHand && s.Kinds()[f.Who] == abi.KindCompanion && !r.running.Has(r.voice.Call(f)) {
		r.lines.Add(1)
		who, grant := f.Who, f.Grant
		m, scene := r.context(who, members, f.Expires, call.LineLimit(time.Duration(s.Rules.Floor)*time.Millisecond))
		m.ID = r.voice.Call(f)
		scene.Grant, scene.Retry, scene.Recent = &grant, f.Again, r.recent()
		r.running[m.ID] = call.Run{Line: true, Basis: f.Basis}
		r.votes.Speaks(who)
		during := r.running.Begin(ctx, m.ID)
		r.goCall(func() { r.speak(ctx, during, who, m, scene) })
	}
	for _, p := range r.senses.Due() {
		r.lines.Add(1) // a stop waits for it
		m, scene := call.Context{ID: p.Call, Room: r.Name(), Now: r.loop.Now(), Limit: time.Now().Add(judgePatience)}, r.state().Perceiving(p.Who, p.Newest(), members, r.recent())
		scene.More = p.All[:len(p.All)-1]
		during := r.running.Begin(ctx, p.Call)
		r.goCall(func() { r.judge(ctx, during, p, m, scene) })
	}
	r.dropDrafts()
	for id, run := range r.running { // a line that nobody waits for any more, and that is no answer to what was said since
		if run.Line && run.Basis < s.Newest().Seq && (s.Floor == nil || id != r.voice.Call(s.Floor)) {
			r.running.Over(id)
		}
	}
}

// recent gives the newest messages as minds are told them.
func (r *Room) recent() []abi.Message { return r.laid.Load().Over(r.tail.Last(abi.RecentInAsk)) }

// dropDrafts tells those who voted, and do not get the floor, that no line of theirs is
// wanted: one may have been begun with the vote.
func (r *Room) dropDrafts() {
	for _, who := range r.votes.Unwanted() {
		if r.callees.Withdraw(who, r.Name()) {
			r.board.Count("draft withdrawn")
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
	scene := r.state().Scene(who, members, now)
	scene.Conversation = r.state().Life.Scene(r.Name(), who)
	return call.Context{Room: r.Name(), Now: now, Limit: end}, scene
}

// vote gets one vote and gives it to the loop. The call ends with during.
func (r *Room) vote(ctx, during context.Context, who string, round uint64, m call.Context, scene abi.Scene) {
	var v abi.Vote
	known, err := r.callees.Ask(during, who, abi.OpVote, m, scene, &v, func() error { return v.Check() })
	if err == nil && !known {
		v = abi.Vote{State: abi.Listen, Reason: "does not vote"}
	}
	var handled *entry.Handled
	if err == nil && v.Backchannel != "" {
		said, h, refused, ended := r.words.Ask(during, who, v.Backchannel)
		if v.Backchannel, handled = said, h; refused != "" || ended != nil {
			v.Backchannel = ""
		}
	}
	r.loop.Post(ctx, func() {
		r.handled(handled)
		r.votes.Take(round, who, v, err)
	})
}

// speak gets one line and gives it to the loop. The call ends with during.
func (r *Room) speak(ctx, during context.Context, who string, m call.Context, scene abi.Scene) {
	a := voice.Answer{Grant: scene.Grant.Token, Basis: scene.Grant.Basis, About: scene.Message.Seq, Who: who}
	r.words.Begin(m.ID, a.Grant)
	defer r.words.End(m.ID)
	var known bool
	known, a.Err = r.callees.Ask(during, who, abi.OpSpeak, m, scene, &a.Line, func() error { return call.CheckLine(a.Line) })
	if a.Err == nil && !known {
		a.Line.Pass = "does not speak"
	}
	if a.Err == nil && len(a.Line.Parameters) > 0 {
		a.Warning = r.checkParameters(who, a.Line)
	}
	whole, ended := r.words.Rest(during, who, m.ID, a.Line)
	a.Line, a.Refused = whole.Line, whole.Refused
	if a.Err = cmp.Or(ended, a.Err); a.Refused != "" { // whatever its module made of that
		a.Err = nil
	}
	if whole.Astray {
		r.voice.Astray(who)
	}
	r.loop.Post(ctx, func() {
		r.handled(whole.Handled)
		r.voice.Take(a)
	})
}

// checkParameters says what is wrong with the parameters of a companion's line. The line is
// good without them: it loses them, the journal says why, and so does the log.
func (r *Room) checkParameters(who string, l abi.Line) (warning string) {
	c, ok := r.cfg.Find(who)
	if !ok { // gone meanwhile, and with it what would check them
		return who + " is not loaded"
	}
	err := action.CheckLine(l, c.Permit)
	if err == nil {
		return ""
	}
	r.cfg.Blame(who, abi.OpSpeak, err)
	return call.Clip(abi.AsError(err).Message)
}
