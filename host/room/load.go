package room

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/call"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/cast"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/queue"
	"github.com/companiond/companiond/host/room/reader"
)

// load takes what is known of the room from its journal.
func (r *Room) load(ctx context.Context, s *fold.State) error {
	recent, err := reader.Said(ctx, r.cfg.Journal, r.Name(), journal.Span{Limit: reader.TailSize, Newest: true})
	if err != nil {
		return err
	}
	r.tail.Set(recent, s.Head)
	if err := r.lay(ctx, s); err != nil {
		return err
	}
	r.voice.LetGo()
	r.members = nil
	r.present.Stale()
	r.cfg.Told(r.Name(), s.History)
	return nil
}

// lay finds out what the past is told as.
func (r *Room) lay(ctx context.Context, s *fold.State) error {
	l, err := reader.LaidOver(ctx, r.cfg.Journal, r.Name(), s.History, s.Head)
	if err == nil {
		r.laid.Store(&l)
	}
	return err
}

// begin writes down how the room is to be and who is there.
func (r *Room) begin() {
	if r.state().Newer() == "" { // whoever waited for these is not connected any more
		r.giveUp(func(w queue.Request) bool { return w.Waits != entry.WaitFloor })
	}
	if r.closed() == nil {
		r.voice.Resume()
	}
	r.stay()
	r.syncRules()
	if r.loop.Trouble() == nil {
		r.syncCast() // before what woke the room is handled: it may be about who is here
	}
}

// wrote keeps what is in the journal at hand.
func (r *Room) wrote(entries []entry.Entry) {
	for _, e := range entries {
		if e.Kind == entry.KindCast || e.Kind == entry.KindOwner || e.Kind == entry.KindSaid {
			r.members = nil
		}
	}
	r.tail.Add(entries)
	if r.laid.Load().Changed != r.state().History.Changed {
		if err := r.lay(context.Background(), r.state()); err != nil {
			r.log.Error("what turns are told as cannot be read; they are told as they were", "err", err)
		}
	}
	if c := r.state().Life.Conversation; c != nil {
		r.cfg.Conversed(r.Name(), c.Clone(), entries)
	}
	if slices.ContainsFunc(entries, func(e entry.Entry) bool { return e.Kind == entry.KindHistory }) {
		r.cfg.Told(r.Name(), r.state().History)
	}
	if r.cfg.Wrote != nil {
		r.cfg.Wrote(r.Name(), entries)
	}
	for _, e := range entries {
		if e.Kind != entry.KindSaid {
			continue
		}
		b, err := entry.Decode[entry.Said](e)
		switch {
		case err != nil || b.Kind != abi.KindTurn:
		case b.By == abi.KindHuman:
			r.cfg.Heard(r.Name(), e, b, r.companions())
		default:
			r.lately.Add(e.Seq, b.Text, r.spokenNames())
		}
	}
}

// companions are those of the cast that live here.
func (r *Room) companions() (ids []string) {
	for _, m := range r.state().Cast {
		if m.Kind == abi.KindCompanion {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// syncRules writes down that the room is opened and how it is to be, where that is
// not what is in force.
func (r *Room) syncRules() {
	if r.settings.Refuses() != nil || r.state().Newer() != "" {
		return
	}
	if o := r.settings.Open; o != nil && r.state().Opened == "" {
		r.loop.Input(entry.KindOpened, *o)
	}
	if o := r.settings.Reopen; o != nil && r.state().Archived != "" {
		r.loop.Input(entry.KindOpened, *o)
	}
	if r.loop.Trouble() != nil || r.state().Archived != "" { // a closed room needs no rules
		return
	}
	want, err := json.Marshal(r.settings.Rules)
	have, herr := json.Marshal(r.state().Rules)
	if err != nil || herr != nil || !bytes.Equal(want, have) { // rules that cannot be written down are the loop's trouble
		r.loop.Input(entry.KindRules, r.settings.Rules)
	}
	if t := r.settings.Terms; t != nil && r.state().Life.Conversation == nil && r.loop.Trouble() == nil {
		r.loop.Input(entry.KindConversation, conversation.Input{Kind: conversation.Start, Who: t.Members[0], Terms: t})
	}
}

// syncCast writes down who came, was reloaded, or left; after a new owner also
// that nobody is here. While it is not known yet which companions are loaded, it
// says so. In a room that takes nothing new nobody comes or goes.
func (r *Room) syncCast() {
	if r.closed() != nil {
		return
	}
	r.settleNames()
	change, some := r.present.Change(r.state().Present)
	for _, l := range change.Left {
		r.running.Over(call.VoteID(l.ID)) // should it come back, it is asked anew
	}
	if some {
		if !change.Loading {
			change.Addressed = r.addressedAnew()
		}
		r.loop.Input(entry.KindCast, change)
	}
}

// addressedAnew gives whom the newest turn addresses when the cast has changed, nil
// where that is whom it did before, or where it was asked about already.
func (r *Room) addressedAnew() *[]string {
	s := r.state()
	if !s.Open() || s.Last.Seq == 0 {
		return nil
	}
	after := cast.Present{Cast: r.present.Cast()}
	who, _ := r.meant(s.Last, s.LastBy, after.Named(), s.Last.Seq)
	meant := append([]string{}, who...) // none is not nil, which is no change
	if slices.Equal(meant, s.Meant) {
		return nil
	}
	return &meant
}

// publish shows the room as it is in the journal to those who look.
func (r *Room) publish() {
	r.lines.Add(-r.voice.Taken()) // their answers are in the journal, or lost
	r.board.Show(r.settings, r.state(), r.loop.Head().Seq, r.membersNow(), r.present.Known(), r.loop.Trouble())
}

// membersNow lists who is here, anew only where that has changed.
func (r *Room) membersNow() []abi.Member {
	if r.members == nil {
		r.members = r.state().Members()
	}
	return r.members
}
