// Package together makes one question of several that are asked at nearly the same time:
// who asks in a round waits a moment for the others who are due, and one call answers all
// that have come.
//
// It never knows what is asked, and makes nobody wait longer than it was told for those who
// do not come.
package together

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// Seat is one who asks.
type Seat[Q any] struct {
	Who string
	Ask Q
}

// Tables bring those together who ask in one round, which K names. Make them with [New].
type Tables[K comparable, Q, A any] struct {
	wait   time.Duration
	answer func(ctx context.Context, seats []Seat[Q]) (map[string]A, error)

	mu   sync.Mutex
	open map[K]*table[Q, A]
}

// table is a round until it is answered.
type table[Q, A any] struct {
	due    map[string]bool // who has not come
	seats  []*Seat[Q]
	timer  *time.Timer
	shut   bool // who comes now comes too late
	during context.Context
	end    context.CancelFunc

	done    chan struct{} // closed when what follows stands
	answers map[string]A
	err     error
}

// New makes tables. answer is asked once for all who have come to one, in the order of
// their names, two at least, and need not answer each; its context ends when all of them
// have gone. wait is how long those are waited for who are due.
func New[K comparable, Q, A any](wait time.Duration, answer func(ctx context.Context, seats []Seat[Q]) (map[string]A, error)) *Tables[K, Q, A] {
	return &Tables[K, Q, A]{wait: wait, answer: answer, open: map[K]*table[Q, A]{}}
}

// Ask asks in a round. due are those who are expected there, whoever asks or not. It gives
// the answer for who asks; ok is false where there is none for it, because nobody else has
// come, or it was left out.
func (t *Tables[K, Q, A]) Ask(ctx context.Context, round K, who string, due []string, ask Q) (a A, ok bool, err error) {
	t.mu.Lock()
	at := t.at(ctx, round, due)
	seat := &Seat[Q]{who, ask}
	at.seats = append(at.seats, seat)
	t.came(round, at, who)
	t.mu.Unlock()
	select {
	case <-at.done:
	case <-ctx.Done():
		if t.leave(round, at, seat) {
			at.end()
			<-at.done // nobody else waits until the call has ended
		}
		return a, false, ctx.Err()
	}
	a, ok = at.answers[who]
	return a, ok, at.err
}

// Decline says that somebody who is due in a round asks nothing there.
func (t *Tables[K, Q, A]) Decline(ctx context.Context, round K, who string, due []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.came(round, t.at(ctx, round, due), who)
}

// at gives the open table of a round.
func (t *Tables[K, Q, A]) at(ctx context.Context, round K, due []string) *table[Q, A] {
	if at := t.open[round]; at != nil {
		return at
	}
	at := &table[Q, A]{due: map[string]bool{}, done: make(chan struct{})}
	at.during, at.end = context.WithCancel(context.WithoutCancel(ctx))
	for _, who := range due {
		at.due[who] = true
	}
	at.timer = time.AfterFunc(t.wait, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.shut(round, at)
	})
	t.open[round] = at
	return at
}

// came notes that somebody is no longer waited for.
func (t *Tables[K, Q, A]) came(round K, at *table[Q, A], who string) {
	if delete(at.due, who); len(at.due) == 0 {
		t.shut(round, at)
	}
}

// shut lets nobody else come to a table, and has those answered who are there.
func (t *Tables[K, Q, A]) shut(round K, at *table[Q, A]) {
	if at.shut {
		return
	}
	at.shut = true
	at.timer.Stop()
	delete(t.open, round)
	byName := func(a, b *Seat[Q]) int { return strings.Compare(a.Who, b.Who) }
	once := slices.CompactFunc(slices.SortedFunc(slices.Values(at.seats), byName), func(a, b *Seat[Q]) bool { return a.Who == b.Who })
	if len(once) < 2 {
		at.end()
		close(at.done)
		return
	}
	seats := make([]Seat[Q], len(once))
	for i, s := range once {
		seats[i] = *s
	}
	go func() { // whoever waits for it last ends it, and waits for that
		defer at.end()
		defer close(at.done)
		at.answers, at.err = t.answer(at.during, seats)
	}()
}

// leave takes somebody from a table; last says that nobody is left.
func (t *Tables[K, Q, A]) leave(round K, at *table[Q, A], seat *Seat[Q]) (last bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at.seats = slices.DeleteFunc(at.seats, func(s *Seat[Q]) bool { return s == seat })
	if len(at.seats) > 0 {
		return false
	}
	t.shut(round, at)
	return true
}
