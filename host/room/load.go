package room

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/room/rules"
)

// flush makes the entries so far durable and then tells those who wait. Votes
// alone are not worth a write: they wait for the decision they lead to, and
// nobody has been told of them.
func (r *Room) flush(ctx context.Context) {
	if r.trouble != nil {
		return
	}
	if len(r.m.Made()) == 0 {
		r.tell(nil) // they wait for what is in the journal already
		return
	}
	if len(r.acks) == 0 && !slices.ContainsFunc(r.m.Made(), func(e entry.Entry) bool { return !waits(e) }) {
		return
	}
	r.write(ctx)
}

// write makes the entries so far durable and tells those who wait.
func (r *Room) write(ctx context.Context) {
	entries := r.m.Take()
	news := make([]journal.New, len(entries))
	for i, e := range entries {
		news[i] = journal.New{ID: e.ID, V: e.V, Kind: e.Kind, At: e.At, Body: e.Body}
	}
	// The write is not to be cut short by a stop: its outcome would be unknown.
	write, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	head, err := r.journal.Append(write, r.name, r.head, news...)
	if err != nil {
		r.failed(write, err)
		return
	}
	r.head = head
	if slices.ContainsFunc(entries, changesMembers) {
		r.members = nil
	}
	r.tail.add(entries) // before it shows: one that sees how far the room is must find all of it
	r.publish()         // before anybody is woken to look
	r.tell(nil)
	if r.m.State.Head-r.snapped >= snapshotEvery {
		r.snapshot(write)
	}
}

// waits says whether an entry may wait in memory for the next that may not.
func waits(e entry.Entry) bool {
	if e.Kind == entry.KindFailed {
		b, err := entry.Decode[entry.Failed](e)
		return err == nil && b.Grant == ""
	}
	return e.Kind == entry.KindVote || e.Kind == entry.KindUsage
}

func (r *Room) tell(err error) {
	for _, a := range r.acks {
		a.tell(err)
	}
	r.acks = nil
}

// failed tells everybody that the journal did not take their entries. The
// state is folded anew, because it is ahead of the journal now.
func (r *Room) failed(ctx context.Context, err error) {
	r.log.Error("journal takes no entries", "err", err)
	r.counts.add("journal failed")
	r.trouble = err
	if errors.Is(err, journal.ErrUnknown) {
		r.acks = slices.DeleteFunc(r.acks, func(a ack) bool {
			_, found, ferr := r.journal.Find(ctx, r.name, a.id)
			if a.id == "" || ferr != nil || !found {
				return false
			}
			a.tell(nil)
			return true
		})
	}
	r.drop(err)
}

func (r *Room) snapshot(ctx context.Context) {
	blob, err := json.Marshal(r.m.State)
	if err == nil {
		err = r.journal.PutSnapshot(ctx, r.name, r.m.State.Head, blob)
	}
	if err != nil {
		r.log.Warn("snapshot failed", "err", err)
		return
	}
	r.snapped = r.m.State.Head
}

// recover loads the room, at the start and after journal trouble.
func (r *Room) recover(ctx context.Context) {
	if errors.Is(r.trouble, journal.ErrFenced) {
		return
	}
	if r.head.Epoch != 0 && r.journal.Health() != nil {
		return
	}
	if err := r.load(ctx); err != nil {
		if ctx.Err() == nil && (r.trouble == errNotLoaded || r.trouble.Error() != err.Error()) { // else it is an ordinary stop
			r.log.Error("room cannot be loaded", "err", err)
		}
		r.trouble = err
		return
	}
	r.trouble = nil
	r.syncRules()
	if r.trouble == nil {
		r.syncCast() // before what woke the room is handled: it may be about who is here
	}
}

// load folds the room's journal and takes the room over, unless this run of the
// daemon did that before. After journal trouble it takes it over again: what was
// asked meanwhile was lost, so rounds and grants start anew, as after a restart.
// What can fail does so before anything is written.
func (r *Room) load(ctx context.Context) error {
	row, _, err := r.journal.Room(ctx, r.name)
	if err != nil {
		return fmt.Errorf("look room up: %w", err)
	}
	first := r.head.Epoch == 0
	mine := row.Owner == r.cfg.Owner && row.Head.Epoch > 0
	if !first && !mine && row.Head.Epoch > r.head.Epoch {
		return journal.ErrFenced
	}
	st, from, err := reader.Fold(ctx, r.journal, r.Name())
	if err != nil {
		return err
	}
	if !mine { // before anything is written behind what may be damaged
		if bad, err := r.journal.Verify(ctx, r.name, from); err != nil {
			return fmt.Errorf("verify room: %w", err)
		} else if bad != 0 {
			return fmt.Errorf("%w: entry %d of room %s does not fit its hash", journal.ErrCorrupt, bad, r.name)
		}
	}
	head := row.Head
	if !first || !mine {
		if head, err = r.journal.Acquire(ctx, r.name, r.cfg.Owner, later(r.now(), st.At)); err != nil {
			return fmt.Errorf("take over room: %w", err)
		}
	}
	if err := reader.CatchUp(ctx, r.journal, r.Name(), st); err != nil {
		return err
	}
	recent, err := reader.Said(ctx, r.journal, r.Name(), journal.Span{Limit: tailSize, Newest: true})
	if err != nil {
		return err
	}
	r.tail.set(recent, st.Head)
	r.m, r.acks = rules.Machine{State: st}, nil
	r.head, r.snapped = head, from
	r.members, r.names.stale = nil, true
	return nil
}

// syncRules writes down that the room is opened and how it is to be, where that is
// not what is in force.
func (r *Room) syncRules() {
	if r.settings.Refuses() != nil || r.m.State.Newer() != "" {
		return
	}
	if o := r.settings.Open; o != nil && r.m.State.Opened == "" {
		r.must(r.m.Input(entry.KindOpened, r.now(), *o))
	}
	if o := r.settings.Reopen; o != nil && r.m.State.Archived != "" {
		r.must(r.m.Input(entry.KindOpened, r.now(), *o))
	}
	if r.trouble != nil || r.m.State.Archived != "" { // a closed room needs no rules
		return
	}
	want, err := json.Marshal(r.settings.Rules)
	r.must(err)
	have, err := json.Marshal(r.m.State.Rules)
	r.must(err)
	if r.trouble == nil && !bytes.Equal(want, have) {
		r.must(r.m.Input(entry.KindRules, r.now(), r.settings.Rules))
	}
}

// syncCast writes down who came, was reloaded, or left; after a new owner also
// that nobody is here. While it is not known yet which companions are loaded, it
// says so. In a room that takes nothing new nobody comes or goes.
func (r *Room) syncCast() {
	if r.closed() != nil {
		return
	}
	r.callThem()
	change := entry.Cast{Loading: r.cast == nil}
	here := map[string]bool{}
	come := func(j entry.Joined) {
		here[j.ID] = true
		if !slices.ContainsFunc(r.m.State.Cast, func(m entry.Joined) bool { return same(m, j) }) {
			change.Joined = append(change.Joined, j)
		}
	}
	for _, c := range r.names.settled {
		come(c)
	}
	for _, j := range r.attending() {
		if !here[j.ID] { // else a companion of this name was loaded meanwhile
			come(j)
		}
	}
	for _, m := range r.m.State.Cast {
		if !here[m.ID] {
			change.Left = append(change.Left, entry.Left{ID: m.ID, Reason: r.whyLeft(m)})
		}
	}
	if len(change.Joined)+len(change.Left) > 0 || r.m.State.Gathering && !change.Loading {
		change.Addressed = r.addressedAnew(change)
		r.must(r.m.Input(entry.KindCast, r.now(), change))
	}
}

// addressedAnew gives whom the newest turn addresses when the cast has changed, nil
// where that is whom it did before, or where it was asked about already.
func (r *Room) addressedAnew(change entry.Cast) *[]string {
	s := r.m.State
	if !s.Open() || s.Last.Seq == 0 {
		return nil
	}
	after := rules.State{Present: rules.Present{Cast: slices.Clone(s.Cast)}}
	for _, j := range change.Joined {
		after.Cast = append(slices.DeleteFunc(after.Cast, func(m entry.Joined) bool { return m.ID == j.ID }), j)
	}
	for _, l := range change.Left {
		after.Cast = slices.DeleteFunc(after.Cast, func(m entry.Joined) bool { return m.ID == l.ID })
	}
	meant := append([]string{}, address.Addressed(s.Last, after.Named())...) // none is not nil, which is no change
	if slices.Equal(meant, s.Meant) || change.Loading {
		return nil
	}
	return &meant
}

func same(a, b entry.Joined) bool {
	return a.ID == b.ID && a.Name == b.Name && a.Kind == b.Kind && a.Engine == b.Engine &&
		a.Generation == b.Generation && a.NoVote == b.NoVote && slices.Equal(a.Aliases, b.Aliases)
}

// publish shows the room as it is in the journal to those who look.
func (r *Room) publish() {
	i := infoOf(r.settings, r.m.State, r.head.Seq, r.membersNow())
	i.Loading = r.settings.waits(r.cast)
	i.Counts = r.counts.all()
	r.pool.Store(&poolView{r.m.State.PoolView(), r.m.State.At})
	if r.trouble != nil {
		i.State, i.Error = "unavailable", abi.AsError(DoorError(r.trouble)).Message
	}
	r.info.Store(&i)
}

// membersNow lists who is here, anew only where that has changed.
func (r *Room) membersNow() []abi.Member {
	if r.members == nil {
		r.members = r.m.State.Members()
	}
	return r.members
}

func changesMembers(e entry.Entry) bool {
	return e.Kind == entry.KindCast || e.Kind == entry.KindOwner || e.Kind == entry.KindSaid
}

// infoOf gives a room in a state at a glance.
func infoOf(set Settings, s *rules.State, head uint64, members []abi.Member) Info {
	i := Info{
		Name: set.Name, Head: head, Last: s.Last.Seq, Policy: set.Rules.Policy, Closing: s.Stage,
		Turns: s.Turns, MaxTurns: s.Rules.MaxTurns, Members: members, State: s.Condition(), Counts: map[string]int{},
		FreeTurns: s.PaysTurns(),
	}
	if s.Floor != nil {
		grant := s.Floor.Grant
		i.Floor, i.Grant = s.Floor.Who, &grant
	}
	if s.Round != nil {
		i.Round = openRound(s.Round)
	}
	switch why := cmp.Or(set.Unknown, s.Unjudged()); {
	case s.Archived != "" || set.Closed:
		i.State = "archived"
	case why != "":
		i.State, i.Error = "unjudged", why
	}
	return i
}

// DoorError puts what ails a room into the words that doors show, nil for nothing.
func DoorError(err error) error {
	if errors.Is(err, errNotLoaded) {
		return abi.Wrap(abi.CodeUnavailable, err, "the room is being loaded")
	}
	return journal.Coded(err)
}
