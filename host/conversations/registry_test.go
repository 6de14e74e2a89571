package conversations_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/room/registry"
	"github.com/companiond/companiond/host/turn"
)

// daemon is the real rooms of conversations, which can be ended and begun again on the same
// journal.
type daemon struct {
	*conversations.Conversations
	t       testing.TB
	house   *house // who is here
	journal journal.Journal
	ids     atomic.Int64
	end     func()
	seen    map[string]*conversations.Seen
}

func newDaemon(t testing.TB, j journal.Journal) *daemon {
	d := &daemon{t: t, house: newHouse(), journal: j}
	d.house.arrive("a", "b", "c")
	d.run()
	return d
}

func (d *daemon) run() {
	d.t.Helper()
	d.seen = map[string]*conversations.Seen{}
	log := slog.New(slog.DiscardHandler)
	id := func() string { return fmt.Sprintf("%032x", d.ids.Add(1)*7919%1_000_003) }
	var talks *conversations.Conversations
	halls, err := registry.New(registry.Config{
		Usual: "main", Talks: entry.Rules{Policy: turn.ConversationPolicy, Patience: 1000, Floor: 10_000, Stale: entry.StaleAccept},
		Room: room.Config{
			Journal: d.journal, Log: log, NewID: id, Find: func(string) (room.Companion, bool) { return nil, false },
			Here:      func(_, who string) bool { return d.here(who) },
			Conversed: func(name string, now conversation.Conversation, es []entry.Entry) { talks.Wrote(name, now, es) },
		},
	})
	if err != nil {
		d.t.Fatal(err)
	}
	talks = d.house.build(func(c *conversations.Config) {
		c.Rooms, c.Halls, c.NewID = halls, halls, id
	})
	d.Conversations = talks
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = halls.Run(ctx) })
	running.Go(func() { _ = talks.Run(ctx) })
	d.end = func() { cancel(); running.Wait() }
	if err := talks.Load(ctx); err != nil {
		d.t.Fatal(err)
	}
}

func (d *daemon) here(who string) bool {
	d.house.mu.Lock()
	defer d.house.mu.Unlock()
	return d.house.here[in(who)]
}

// restart ends the daemon and begins another.
func (d *daemon) restart() {
	d.t.Helper()
	d.end()
	d.run()
}

func (d *daemon) next(who string, wait time.Duration) conversations.Action {
	d.t.Helper()
	if d.seen[who] == nil {
		d.seen[who] = new(conversations.Seen)
	}
	a, err := d.Next(context.Background(), in(who), d.seen[who], wait)
	if err != nil {
		d.t.Fatal(err)
	}
	return a
}

// does demands what somebody is to do, and about what.
func (d *daemon) does(who string, do conversations.Doing, id string) conversations.Action {
	d.t.Helper()
	a := d.next(who, 0)
	if a.Do != do || a.View.ID != id {
		d.t.Fatalf("%s is to %s %q: %+v; want %s %q", who, a.Do, a.View.ID, a, do, id)
	}
	return a
}

func (d *daemon) reads(who string, want ...string) {
	d.t.Helper()
	w, err := d.Waiting(context.Background(), in(who))
	if err == nil {
		err = d.Acknowledge(context.Background(), in(who), w.Cursor)
	}
	if got := textsOf(w.New); err != nil || !slices.Equal(got, want) {
		d.t.Fatalf("%s reads %q, %v; want %q", who, got, err, want)
	}
}

func (d *daemon) says(who, id, text string) conversations.Said {
	d.t.Helper()
	s, err := d.Say(context.Background(), in(who), conversations.Words{Conversation: id, Text: text})
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

func (d *daemon) start(from string, a conversations.Ask) string {
	d.t.Helper()
	v, err := d.Start(context.Background(), in(from), a)
	if err != nil {
		d.t.Fatal(err)
	}
	return v.ID
}

func (d *daemon) ended(who, id string, do conversations.Doing, e conversation.Ending) {
	d.t.Helper()
	a := d.does(who, do, id)
	if a.Ending != e {
		d.t.Errorf("%s is told of %+v; want %+v", who, a.Ending, e)
	}
	if err := d.Acknowledge(context.Background(), in(who), a.Cursor); err != nil {
		d.t.Fatal(err)
	}
	if a := d.next(who, 0); a.View.ID == id {
		d.t.Errorf("%s is told again: %+v", who, a)
	}
}

// real plays with real rooms in virtual time; with restarts the daemon is another at each
// step that calls over.
func real(t *testing.T, fn func(d *daemon, over func())) {
	t.Helper()
	for _, restarts := range []bool{false, true} {
		t.Run(fmt.Sprint("restarts=", restarts), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDaemon(t, memory.New())
				defer func() { d.end() }()
				fn(d, func() {
					if restarts {
						d.restart()
					}
				})
			})
		})
	}
}

// TestRealRooms: the use case, with rooms that fall asleep in between.
func TestRealRooms(t *testing.T) {
	real(t, func(d *daemon, over func()) {
		id := d.start("a", conversations.Ask{Targets: []string{"b"}, Purpose: "a consultation", Text: "JWT or session?", MaxTurns: 6})
		over()
		if a := d.does("b", conversations.DoRequest, id); a.View.Turns != 1 {
			t.Errorf("%+v", a.View)
		}
		d.does("b", conversations.DoRead, id)
		over()
		d.reads("b", "JWT or session?")
		time.Sleep(2 * time.Minute) // the room sleeps
		if s := d.says("b", "", "JWT"); s.View.ID != id || s.View.Turns != 2 || s.View.State != conversation.Active {
			t.Errorf("%+v", s)
		}
		over()
		d.does("a", conversations.DoRead, id)
		d.reads("a", "JWT")
		d.says("a", id, "three")
		d.says("b", id, "four")
		if s := d.says("a", id, "five"); s.View.Turns != 5 || !s.View.Reminds() || s.View.Left() != 1 {
			t.Errorf("%+v", s)
		}
		if s := d.says("b", id, "six"); s.View.Turns != 6 || s.View.Open() {
			t.Errorf("%+v", s)
		}
		over()
		d.does("a", conversations.DoRead, id)
		d.reads("a", "four", "six")
		over()
		end := conversation.Ending{By: "b", Reason: conversation.MaxTurns}
		d.ended("a", id, conversations.DoEnded, end)
		over()
		d.does("b", conversations.DoRead, id)
		d.reads("b", "three", "five")
		d.ended("b", id, conversations.DoEnded, end)
		over()
		d.does("a", conversations.DoWait, "")
		again := d.start("b", conversations.Ask{Targets: []string{"a"}})
		over()
		e, err := d.Earlier(context.Background(), again)
		if err != nil || e == nil || e.ID != id || e.Turns != 6 || len(e.Last) != 4 || e.Last[3].Text != "six" || *e.Ending != end {
			t.Errorf("%+v, %v", e, err)
		}
		views, err := d.List(context.Background(), conversations.Filter{Project: "p"})
		if err != nil || len(views) != 2 || views[0].ID != again || views[1].State != conversation.Ended {
			t.Errorf("%+v, %v", views, err)
		}
	})
}

// TestRealTimeOuts come by themselves, also in a room that sleeps, and where the daemon was
// away.
func TestRealTimeOuts(t *testing.T) {
	real(t, func(d *daemon, over func()) {
		id := d.start("a", conversations.Ask{Targets: []string{"b"}})
		over()
		begun := time.Now()
		for {
			a := d.next("a", conversations.MaxWait)
			if a.Do == conversations.DoExpired && a.Target == "b" {
				break
			}
			if a.Do != conversations.DoWait || time.Since(begun) > time.Hour {
				t.Fatalf("%+v", a)
			}
		}
		if took := time.Since(begun).Round(time.Second); took != conversation.UsualPending {
			t.Errorf("it took %v", took)
		}
		over()
		d.ended("a", id, conversations.DoExpired, conversation.Ending{Reason: conversation.Timeout})
		d.ended("b", id, conversations.DoEnded, conversation.Ending{Reason: conversation.Timeout})
	})
}

// TestRealGroup: a leaver, a session that is gone, and a human who stops it.
func TestRealGroup(t *testing.T) {
	real(t, func(d *daemon, over func()) {
		id := d.start("a", conversations.Ask{Targets: []string{"b", "c"}, Text: "one"})
		d.says("b", id, "two")
		d.says("c", id, "three")
		if s := d.says("human", id, "I am listening"); s.View.Turns != 3 {
			t.Errorf("%+v", s)
		}
		if _, err := d.End(context.Background(), in("c"), id, "bye"); err != nil {
			t.Fatal(err)
		}
		d.says("a", id, "behind c's back")
		over()
		d.does("c", conversations.DoRead, id)
		d.reads("c", "one", "two", "I am listening")
		d.ended("c", id, conversations.DoEnded, conversation.Ending{By: "c", Reason: conversation.ParticipantEnded})
		over()
		d.house.depart("b")
		d.Gone(context.Background(), in("b"))
		over()
		d.does("a", conversations.DoRead, id)
		d.reads("a", "two", "three", "I am listening", "bye")
		d.ended("a", id, conversations.DoEnded, conversation.Ending{By: "b", Reason: conversation.SessionExpired})
		over()
		v, err := d.Get(context.Background(), id)
		if err != nil || v.State != conversation.Ended || !v.Done() {
			t.Errorf("%+v, %v", v, err)
		}
		d.start("c", conversations.Ask{Targets: []string{"b", "a"}})
	})
}

// TestRealChat: a human and an AI.
func TestRealChat(t *testing.T) {
	real(t, func(d *daemon, over func()) {
		s, err := d.Say(context.Background(), in("human"), conversations.Words{Target: "a", Text: "hello", MessageID: "m1"})
		if err != nil || !s.Started {
			t.Fatalf("%+v, %v", s, err)
		}
		id := s.View.ID
		over()
		if s, err = d.Say(context.Background(), in("human"), conversations.Words{Target: "a", Text: "hello", MessageID: "m1"}); err != nil || s.Started || s.View.Turns != 1 {
			t.Fatalf("%+v, %v", s, err)
		}
		d.says("a", "", "hello")
		if _, err := d.Stop(context.Background(), "human", id); err != nil {
			t.Fatal(err)
		}
		over()
		if s, err = d.Say(context.Background(), in("a"), conversations.Words{Conversation: id, Text: "one more"}); !isFault(err, conversation.NotOpen) {
			t.Errorf("%+v, %v", s, err)
		}
		d.reads("a", "hello")
		d.ended("a", id, conversations.DoExit, conversation.Ending{By: "human", Reason: conversation.ParticipantEnded})
		if s, err = d.Say(context.Background(), in("human"), conversations.Words{Target: "a", Text: "hello", MessageID: "m1"}); err != nil || s.Started || s.View.ID != id {
			t.Errorf("a message that was sent, again: %+v, %v", s, err)
		}
	})
}

func isFault(err error, code string) bool {
	f, ok := err.(*conversation.Fault)
	return ok && f.Code == code
}

// TestRealStartsFromBothSides of 1,000 pairs at once.
func TestRealStartsFromBothSides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDaemon(t, memory.New())
		defer func() { d.end() }()
		opened := make([]atomic.Int64, 1000)
		var wg sync.WaitGroup
		for i := range opened {
			who := []string{fmt.Sprint("x", 2*i), fmt.Sprint("x", 2*i+1)}
			for side := range who {
				wg.Go(func() {
					v, err := d.Start(t.Context(), in(who[side]), conversations.Ask{Targets: []string{who[1-side]}, Text: "hello"})
					switch {
					case err == nil && v.Turns == 1:
						opened[i].Add(1)
					case !isFault(err, conversation.AlreadyActive):
						t.Error(err)
					}
				})
			}
		}
		wg.Wait()
		for i := range opened {
			if n := opened[i].Load(); n != 1 {
				t.Errorf("pair %d opened %d", i, n)
			}
		}
		d.restart()
		if views, err := d.List(t.Context(), conversations.Filter{State: conversation.Pending, Limit: 100}); err != nil || len(views) != 100 {
			t.Errorf("%d, %v", len(views), err)
		}
	})
}

// BenchmarkLoad measures how long a daemon takes to read conversations that are over.
func BenchmarkLoad(b *testing.B) {
	j, err := sqlite.Open(sqlite.Config{Path: filepath.Join(b.TempDir(), "j.db"), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	d := newDaemon(b, j)
	for i := range 1000 {
		who := fmt.Sprint("x", i)
		d.house.arrive(who)
		id := d.start(who, conversations.Ask{Targets: []string{"a"}})
		if _, err := d.Decline(b.Context(), in("a"), id, ""); err != nil {
			b.Fatal(err)
		}
		for _, who := range []string{"a", who} {
			if err := d.Acknowledge(b.Context(), in(who), id+":end"); err != nil {
				b.Fatal(err)
			}
		}
	}
	d.end()
	for b.Loop() {
		d.run()
		b.StopTimer()
		d.end()
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "us/conversation")
}
