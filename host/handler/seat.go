package handler

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/force"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/rooms"
)

// seat is one handler beside one companion.
type seat struct{ handler, companion string }

// taken is a seat that is taken.
type taken struct {
	now   *atomic.Pointer[post] // as it is now
	leave context.CancelFunc
	renew chan struct{} // has a value when what is offered may be another
}

// seats are those that are taken.
type seats map[seat]taken

func (all seats) leave() {
	for _, t := range all {
		t.leave()
	}
}

// fill has the handlers take the seats that there are for them, and leave those that there are none for any more.
func (all seats) fill(ctx context.Context, busy *sync.WaitGroup, s *Stage, posts []*post) {
	type wanted struct {
		seat
		p *post
	}
	var want []wanted
	for _, p := range posts {
		if !p.answers(abi.OpAct) && !p.answers(abi.OpShow) {
			continue
		}
		for _, id := range p.companions {
			want = append(want, wanted{seat{p.Name, id}, p})
		}
	}
	for at, t := range all {
		i := slices.IndexFunc(want, func(w wanted) bool { return w.seat == at && w.p.module == t.now.Load().module })
		if i < 0 {
			t.leave()
			delete(all, at)
			continue
		}
		t.now.Store(want[i].p)
		select { // also where nothing changed: a name that was another's may be free
		case t.renew <- struct{}{}:
		default:
		}
	}
	first := map[string]chan struct{}{} // by companion, closed when the handler before has offered
	for _, w := range want {
		if _, has := all[w.seat]; has {
			continue
		}
		before, offered := first[w.companion], make(chan struct{})
		first[w.companion] = offered
		inner, leave := context.WithCancel(ctx)
		t := taken{new(atomic.Pointer[post]), leave, make(chan struct{}, 1)}
		t.now.Store(w.p)
		all[w.seat] = t
		busy.Go(func() {
			if before != nil {
				select {
				case <-before:
				case <-time.After(again): // it does not get to it
				case <-inner.Done():
				}
			}
			s.sit(inner, t, w.companion, sync.OnceFunc(func() { close(offered) }))
		})
	}
}

// sit has a handler act for a companion until ctx ends.
func (s *Stage) sit(ctx context.Context, t taken, companion string, offered func()) {
	defer offered()
	log := s.cfg.Log.With("handler", t.now.Load().Name, "companion", companion)
	for ctx.Err() == nil {
		talk, err := s.cfg.Home(ctx, companion)
		if err == nil {
			err = s.follow(ctx, talk, t, companion, offered, log)
		}
		if err != nil && ctx.Err() == nil && abi.CodeOf(err) != abi.CodeNotFound { // one that lives in no room may yet
			log.Debug("a handler is not in the room", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(again):
		}
	}
}

// follow lends the handler's actions in a room, carries out what is played, and shows it what the room shows.
func (s *Stage) follow(ctx context.Context, talk rooms.Room, t taken, companion string, offered func(), log *slog.Logger) error {
	_, head, err := talk.Entries(ctx, 0, 1)
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	defer end()
	lends, leave := "", func() {} // the body that lends the actions
	if t.now.Load().answers(abi.OpAct) {
		var lent *action.Game
		lent, leave = talk.Plug(companion, "handler "+t.now.Load().Name)
		defer leave()
		lent.Start(t.now.Load().Name)
		had := offer(lent, nil, t.now.Load().module.Describe(), log)
		lends = lent.ID()
		beside.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-t.renew:
					had = offer(lent, had, t.now.Load().module.Describe(), log)
				}
			}
		})
	}
	offered()
	shows := s.newShow(ctx, &beside, talk, t.now, companion, log)
	acts := actor{stage: s, ctx: ctx, talk: talk, now: t.now, log: log, busy: &beside, waiting: make(chan struct{}, mostWaiting), last: closedChan()}
	take := func(es []entry.Entry) error {
		for _, e := range es {
			head = e.Seq
			shows.take(e)
			if e.Kind != entry.KindAction || lends == "" {
				continue
			}
			if a, err := entry.Decode[entry.Action](e); err == nil && a.Body == lends {
				acts.take(a)
			}
		}
		return nil
	}
	err = talk.Follow(ctx, head, take)
	end() // what comes now is answered, and not carried out
	if lends != "" {
		leave()
		for _, wait := range []time.Duration{0, lastPlayed} { // what was played just before that has to have a result, too
			time.Sleep(wait)
			late, cancel := context.WithTimeout(context.Background(), grace)
			if es, _, err := talk.Entries(late, head, mostWaiting); err == nil {
				_ = take(es) // it has no errors
			}
			cancel()
		}
	}
	return err
}

// lastPlayed is more than what was played a moment before the handler left takes to be in the journal.
const lastPlayed = 200 * time.Millisecond

// offered is what a handler lends, and which of it somebody else has.
type offered struct {
	actions []card.Action
	refused map[string]string
}

// offer lends what a module can do now, in place of what it could before, as far as the names are to be had. Whoever
// was refused a name is told once.
func offer(lent *action.Game, had *offered, d abi.Description, log *slog.Logger) *offered {
	all, err := module.HandledActions(d)
	if err != nil { // the folder admitted it
		log.Error("the actions of a handler cannot be read", "error", err)
		return had
	}
	now := &offered{actions: all, refused: map[string]string{}}
	if had == nil {
		had = &offered{}
	}
	var gone []string
	for _, a := range had.actions {
		if !slices.ContainsFunc(all, func(b card.Action) bool {
			return a.Title == b.Title && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
		}) {
			gone = append(gone, a.Title)
		}
	}
	if len(gone) > 0 {
		lent.Withdraw(gone)
	}
	for _, r := range lent.Offer(all) {
		if r.Rule == force.RegisterAgain {
			continue // it has it
		}
		now.refused[r.Name] = r.Reason()
		if had.refused[r.Name] != r.Reason() {
			log.Warn("an action of a handler is not offered", "action", r.Name, "why", r.Reason())
		}
	}
	return now
}
