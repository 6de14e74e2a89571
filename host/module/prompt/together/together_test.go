package together_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/module/prompt/together"
)

const wait = 20 * time.Millisecond

// judge answers in capitals, a second later, and keeps whom it was asked for.
type judge struct {
	mu    sync.Mutex
	calls []string
	ended int // calls that were given up
	err   error
	omit  string
}

func (j *judge) answer(ctx context.Context, seats []together.Seat[string]) (map[string]string, error) {
	var all []string
	answers := map[string]string{}
	for _, s := range seats {
		all = append(all, s.Who)
		if s.Who != j.omit {
			answers[s.Who] = strings.ToUpper(s.Ask)
		}
	}
	j.mu.Lock()
	j.calls = append(j.calls, strings.Join(all, " "))
	j.mu.Unlock()
	select {
	case <-time.After(time.Second):
		return answers, j.err
	case <-ctx.Done():
		j.mu.Lock()
		j.ended++
		j.mu.Unlock()
		return nil, ctx.Err()
	}
}

// told is what came of asking.
type told struct {
	answer string
	ok     bool
	err    error
	after  time.Duration
}

type room struct {
	*judge
	tables *together.Tables[int, string, string]
	mu     sync.Mutex
	got    map[string]told
	wg     sync.WaitGroup
}

func play(t *testing.T, f func(t *testing.T, r *room)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &room{judge: &judge{}, got: map[string]told{}}
		r.tables = together.New[int](wait, r.answer)
		f(t, r)
		r.wg.Wait()
	})
}

// ask has somebody ask after a while.
func (r *room) ask(ctx context.Context, after time.Duration, round int, who string, due ...string) {
	r.wg.Go(func() {
		time.Sleep(after)
		began := time.Now()
		a, ok, err := r.tables.Ask(ctx, round, who, due, "ask "+who)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got[fmt.Sprint(who, round)] = told{a, ok, err, time.Since(began)}
	})
}

// told gives what somebody was told by now.
func (r *room) told(who string) told {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got[who]
}

// over gives how many were told something, and how many calls were given up.
func (r *room) over() (n, ended int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.judge.mu.Lock()
	defer r.judge.mu.Unlock()
	return len(r.got), r.ended
}

var three = []string{"aya", "bob", "cid"}

// All who are due have come: one call, at once.
func TestTogether(t *testing.T) {
	play(t, func(t *testing.T, r *room) {
		for i, who := range []string{"cid", "aya", "bob"} {
			r.ask(t.Context(), time.Duration(i)*time.Millisecond, 1, who, three...)
		}
		r.wg.Wait()
		if len(r.calls) != 1 || r.calls[0] != "aya bob cid" {
			t.Errorf("calls %q", r.calls)
		}
		for _, who := range three {
			if g := r.got[who+"1"]; !g.ok || g.answer != "ASK "+strings.ToUpper(who) || g.err != nil || g.after > time.Second+2*time.Millisecond {
				t.Errorf("%s is told %+v", who, g)
			}
		}
	})
}

// Nobody waits longer than a moment for who does not come, nor at all for who needs nothing.
func TestWhoDoesNotCome(t *testing.T) {
	play(t, func(t *testing.T, r *room) {
		r.ask(t.Context(), 0, 1, "aya", three...)
		r.ask(t.Context(), 0, 1, "bob", three...)
		r.ask(t.Context(), wait+time.Millisecond, 1, "cid", three...) // too late: it asks for itself
		r.wg.Wait()
		if len(r.calls) != 1 || r.calls[0] != "aya bob" || r.got["aya1"].after != time.Second+wait {
			t.Errorf("calls %q, aya is told %+v", r.calls, r.got["aya1"])
		}
		if g := r.got["cid1"]; g.ok || g.err != nil || g.after != wait {
			t.Errorf("cid is told %+v", g)
		}
	})
	for _, first := range []bool{true, false} {
		play(t, func(t *testing.T, r *room) {
			after := time.Millisecond
			if first {
				r.tables.Decline(t.Context(), 1, "cid", three)
			}
			r.ask(t.Context(), after, 1, "aya", three...)
			r.ask(t.Context(), after, 1, "bob", three...)
			if time.Sleep(2 * after); !first {
				r.tables.Decline(t.Context(), 1, "cid", three)
			}
			r.wg.Wait()
			if g := r.got["aya1"]; len(r.calls) != 1 || !g.ok || g.after > time.Second+after {
				t.Errorf("declined first %v: calls %q, aya is told %+v", first, r.calls, g)
			}
		})
	}
}

// Who is left out has no answer, and all have an error.
func TestNoAnswer(t *testing.T) {
	play(t, func(t *testing.T, r *room) {
		r.omit = "bob"
		for _, who := range three {
			r.ask(t.Context(), 0, 1, who, three...)
		}
		r.wg.Wait()
		if r.got["bob1"].ok || r.got["bob1"].err != nil || !r.got["cid1"].ok {
			t.Errorf("told %+v", r.got)
		}
		r.err = errors.New("away")
		for _, who := range three {
			r.ask(t.Context(), 0, 2, who, three...)
		}
		r.wg.Wait()
		for _, who := range three {
			if r.got[who+"2"].err != r.err {
				t.Errorf("%s is told %+v", who, r.got[who+"2"])
			}
		}
	})
}

// Who goes does not take the call from the others; the last one does, and waits until it
// has ended.
func TestWhoGoes(t *testing.T) {
	play(t, func(t *testing.T, r *room) {
		gone, go1 := context.WithCancel(t.Context())
		stopped, stop := context.WithCancel(t.Context())
		r.ask(gone, 0, 1, "aya", three...) // it opens the table
		r.ask(t.Context(), 0, 1, "bob", three...)
		r.ask(t.Context(), 0, 1, "cid", three...)
		for _, who := range three {
			r.ask(stopped, 0, 2, who, three...)
		}
		time.Sleep(time.Millisecond)
		go1()
		synctest.Wait()
		if g := r.told("aya1"); g.err != context.Canceled || r.told("bob1").ok {
			t.Errorf("aya is told %+v", g)
		}
		if _, ended := r.over(); ended != 0 {
			t.Error("the call ended with aya")
		}
		stop()
		synctest.Wait()
		if n, ended := r.over(); r.told("aya2").err != context.Canceled || ended != 1 || n != 4 {
			t.Errorf("%d are told, %d calls ended", n, ended)
		}
		r.wg.Wait()
		if !r.got["bob1"].ok || !r.got["cid1"].ok {
			t.Errorf("told %+v", r.got)
		}
	})
	play(t, func(t *testing.T, r *room) { // before it is asked
		gone, leave := context.WithCancel(t.Context())
		r.ask(gone, 0, 1, "aya", three...)
		time.Sleep(time.Millisecond)
		leave()
		synctest.Wait()
		if n, _ := r.over(); n != 1 {
			t.Errorf("%d are told", n)
		}
		r.ask(t.Context(), 0, 1, "bob", "bob", "cid") // the table is another
		r.ask(t.Context(), 0, 1, "bob", "bob", "cid") // once more, and once in the call
		r.ask(t.Context(), 0, 1, "cid", "bob", "cid")
		r.wg.Wait()
		if len(r.calls) != 1 || r.calls[0] != "bob cid" {
			t.Errorf("calls %q", r.calls)
		}
	})
}

// Whoever comes, goes and declines, whenever: everybody is told once, of its own round
// alone, nobody waits longer than it may, and nobody is asked for twice.
func TestAnybody(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		type step struct {
			who            string
			round          int
			after, stays   time.Duration
			declines, goes bool
		}
		var steps []step
		for _, who := range three {
			for round := range 3 {
				steps = append(steps, step{
					who: who, round: round, after: time.Duration(rapid.IntRange(0, 30).Draw(rt, "after")) * time.Millisecond,
					declines: rapid.Bool().Draw(rt, "declines"), goes: rapid.Bool().Draw(rt, "goes"),
					stays: time.Duration(rapid.IntRange(0, 1500).Draw(rt, "stays")) * time.Millisecond,
				})
			}
		}
		play(t, func(t *testing.T, r *room) {
			asked := 0
			for _, s := range steps {
				if s.declines {
					r.wg.Go(func() {
						time.Sleep(s.after)
						r.tables.Decline(context.Background(), s.round, s.who, three)
					})
					continue
				}
				asked++
				ctx := context.Background()
				if s.goes {
					during, cancel := context.WithTimeout(ctx, s.after+s.stays)
					defer cancel()
					ctx = during
				}
				r.ask(ctx, s.after, s.round, s.who, three...)
			}
			r.wg.Wait()
			if len(r.got) != asked {
				rt.Fatalf("%d of %d were told", len(r.got), asked)
			}
			for who, g := range r.got {
				if g.after > wait+time.Second || g.ok && g.answer != "ASK "+strings.ToUpper(who[:3]) {
					rt.Fatalf("%s was told %+v", who, g)
				}
			}
			for _, c := range r.calls {
				if names := strings.Fields(c); len(names) < 2 || len(slices.Compact(names)) != len(names) {
					rt.Fatalf("a call for %q", c)
				}
			}
		})
	})
}
