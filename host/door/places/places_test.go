package places_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/places"
)

// held is a place of the model.
type held struct {
	who    string
	place  *places.Place
	body   bool
	done   []func()
	idleAt int // the step at which it became idle
	gone   bool
}

func (p *held) busy() bool { return p.body || len(p.done) > 0 }

// model does what the house should have done.
type model struct {
	t            *rapid.T
	total, share int
	house        *places.House
	all          []*held
	lost         []*held // of this step
	step         int
}

func (m *model) of(who string) (n, bodies int) {
	for _, p := range m.all {
		if p.who == who {
			n++
			if p.body {
				bodies++
			}
		}
	}
	return n, bodies
}

// due gives what has to go for somebody: the oldest idle place of whoever has the most of
// them, or its own where nobody has more.
func (m *model) due(who string) *held {
	idle := map[string]int{}
	for _, p := range m.all {
		if !p.busy() {
			idle[p.who]++
		}
	}
	before := func(p, q *held) bool {
		switch {
		case idle[p.who] != idle[q.who]:
			return idle[p.who] > idle[q.who]
		case (p.who == who) != (q.who == who):
			return p.who == who
		}
		return p.idleAt < q.idleAt
	}
	var first *held
	has, _ := m.of(who)
	for _, p := range m.all {
		if p.busy() || has >= m.share && p.who != who {
			continue
		}
		if first == nil || before(p, first) {
			first = p
		}
	}
	return first
}

func (m *model) take(who string, body bool) {
	want, has := m.due(who), len(m.all)
	_, bodies := m.of(who)
	fits := has < m.total || want != nil
	if body && bodies >= m.share {
		fits = false
	}
	p := &held{who: who, body: body, idleAt: m.step}
	gone := func() { p.gone = true; m.lost = append(m.lost, p) }
	var err error
	if body {
		p.place, err = m.house.TakeHeld(who, gone, time.Time{})
	} else {
		p.place, err = m.house.Take(who, gone)
	}
	if fits != (err == nil) {
		m.t.Fatalf("%s takes one, body %v, of %d/%d: %v", who, body, has, m.total, err)
	}
	if err != nil {
		if len(m.lost) > 0 {
			m.t.Fatal("a place was let go for nobody")
		}
		return
	}
	if has < m.total && len(m.lost) > 0 || has == m.total && !slices.Equal(m.lost, []*held{want}) {
		m.t.Fatalf("let go: %v, want %v", m.lost, want)
	}
	if want != nil && has == m.total {
		m.drop(want)
	}
	m.all = append(m.all, p)
}

func (m *model) drop(p *held) {
	m.all = slices.DeleteFunc(m.all, func(q *held) bool { return q == p })
}

// TestPlaces holds a house to the rules, whatever is done: the total is never exceeded, no
// caller holds more than its share or gets above it at the cost of others, what is held or
// used is never let go, and of the caller that has the most idle places the one that was idle
// for longest goes first.
func TestPlaces(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			total := rapid.IntRange(1, 8).Draw(t, "total")
			m := &model{t: t, total: total, share: rapid.IntRange(1, total).Draw(t, "share")}
			m.house = places.New(places.Config{What: "places", Total: m.total, Share: m.share})
			who := rapid.SampledFrom([]string{"a", "b", "c"})
			some := func(keep func(*held) bool) *held {
				var fit []*held
				for _, p := range m.all {
					if keep(p) {
						fit = append(fit, p)
					}
				}
				if len(fit) == 0 {
					t.Skip("there is none")
				}
				return rapid.SampledFrom(fit).Draw(t, "place")
			}
			any := func(*held) bool { return true }
			t.Repeat(map[string]func(*rapid.T){
				"take":      func(t *rapid.T) { m.take(who.Draw(t, "who"), false) },
				"take held": func(t *rapid.T) { m.take(who.Draw(t, "who"), true) },
				"leave":     func(t *rapid.T) { p := some(any); p.place.Leave(); m.drop(p) },
				"hold": func(t *rapid.T) {
					p := some(any)
					_, bodies := m.of(p.who)
					err := p.place.Hold(time.Time{})
					if (err == nil) != (p.body || bodies < m.share) {
						t.Fatalf("%s holds %d and one more: %v", p.who, bodies, err)
					}
					p.body = p.body || err == nil
				},
				"release": func(t *rapid.T) {
					p := some(func(p *held) bool { return p.body })
					p.place.Release()
					p.body, p.idleAt = false, m.step
				},
				"use": func(t *rapid.T) {
					p := some(any)
					done, ok := p.place.Use()
					if !ok {
						t.Fatal("it is gone")
					}
					p.done = append(p.done, done)
				},
				"done": func(t *rapid.T) {
					p := some(func(p *held) bool { return len(p.done) > 0 })
					p.done[0]()
					p.done[0]()
					p.done, p.idleAt = p.done[1:], m.step
				},
				"touch": func(t *rapid.T) {
					p := some(func(p *held) bool { return !p.busy() })
					p.place.Touch()
					p.idleAt = m.step
				},
				"": func(t *rapid.T) {
					m.step++
					m.lost = nil
					time.Sleep(time.Second)
					if n := m.house.Taken(); n != len(m.all) || n > m.total {
						t.Fatalf("%d places are taken of %d, want %d", n, m.total, len(m.all))
					}
					for _, p := range m.all {
						if n, bodies := m.of(p.who); p.gone || bodies > m.share {
							t.Fatalf("%s has %d and holds %d", p.who, n, bodies)
						}
					}
				},
			})
		})
	})
}

// TestAShareIsNotAllThereIs: who holds all it may leaves the others the rest, and who has
// more idle places than its share gives them to whoever comes.
func TestAShareIsNotAllThereIs(t *testing.T) {
	h := places.New(places.Config{What: "sockets", Total: 8})
	let := 0
	for range 6 {
		if _, err := h.TakeHeld("a", nil, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.TakeHeld("a", nil, time.Time{}); abi.CodeOf(err) != abi.CodeExhausted {
		t.Errorf("a holds one more than its share: %v", err)
	}
	for range 2 {
		if _, err := h.Take("a", func() { let++ }); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2 {
		if _, err := h.TakeHeld(fmt.Sprint("b", i), nil, time.Time{}); err != nil || let != i+1 {
			t.Fatalf("b%d: %v, %d let go", i, err, let)
		}
	}
	if _, err := h.Take("c", nil); abi.CodeOf(err) != abi.CodeUnavailable {
		t.Errorf("the house is full of what is held: %v", err)
	}
}

// TestWhoSaysSomethingStays longer than who does not.
func TestWhoSaysSomethingStays(t *testing.T) {
	h := places.New(places.Config{What: "sockets", Total: 2})
	var gone []string
	take := func(name string) *places.Place {
		p, err := h.Take("a", func() { gone = append(gone, name) })
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := take("first")
	take("second")
	first.Touch()
	take("third")
	if !slices.Equal(gone, []string{"second"}) {
		t.Errorf("gone: %q", gone)
	}
}

// TestWhatIsLetGoIsGone: it cannot be used, held, or left at another's cost.
func TestWhatIsLetGoIsGone(t *testing.T) {
	h := places.New(places.Config{What: "sessions", Total: 1})
	old, err := h.Take("a", func() {})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Take("b", nil); err != nil {
		t.Fatal(err)
	}
	if _, ok := old.Use(); ok {
		t.Error("it can be used")
	}
	if err := old.Hold(time.Time{}); !errors.Is(err, places.ErrGone) {
		t.Errorf("it can be held: %v", err)
	}
	old.Touch()
	old.Release()
	old.Leave()
	if h.Taken() != 1 {
		t.Errorf("%d are taken", h.Taken())
	}
}

// TestRetryAfter is when a place will be free: the first of those that are held, in whole
// seconds, rounded up, and what the house says where nobody knows.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := places.New(places.Config{What: "calls", Total: 4, Share: 2, Again: 20 * time.Second})
		in := func(d time.Duration) time.Time { return time.Now().Add(d) }
		hold := func(who string, until time.Time) *places.Place {
			t.Helper()
			p, err := h.TakeHeld(who, nil, until)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		after := func(who string) (time.Duration, abi.Code) {
			t.Helper()
			_, err := h.TakeHeld(who, nil, time.Time{})
			var full *places.Full
			if !errors.As(err, &full) {
				t.Fatalf("%s: %v", who, err)
			}
			return full.RetryAfter(), abi.CodeOf(err)
		}
		hold("a", in(9*time.Second))
		hold("a", in(30*time.Second))
		hold("b", in(3500*time.Millisecond))
		b := hold("b", time.Time{})
		for _, test := range []struct {
			who  string
			code abi.Code
			want time.Duration
		}{{"a", abi.CodeExhausted, 9 * time.Second}, {"b", abi.CodeExhausted, 4 * time.Second}, {"c", abi.CodeUnavailable, 4 * time.Second}} {
			if got, code := after(test.who); got != test.want || code != test.code {
				t.Errorf("%s: %v after %v, want %v", test.who, code, got, test.want)
			}
		}
		time.Sleep(5 * time.Second) // it should have left by now
		if got, _ := after("b"); got != time.Second {
			t.Errorf("what is late: %v", got)
		}
		b.Leave()
		if _, err := h.TakeHeld("b", nil, time.Time{}); err != nil {
			t.Error(err)
		}
	})
}

// TestManyComeAndVanish is cheap, and leaves nothing behind.
func TestManyComeAndVanish(t *testing.T) {
	h := places.New(places.Config{What: "sessions", Total: 256})
	for i := range 10_000 {
		if _, err := h.Take(fmt.Sprint("ghost", i%5000), func() {}); err != nil {
			t.Fatal(err)
		}
	}
	if h.Taken() != 256 {
		t.Errorf("%d are taken", h.Taken())
	}
}

// TestManyAtOnce is for the race detector: what everybody left is free again.
func TestManyAtOnce(t *testing.T) {
	h := places.New(places.Config{What: "sockets", Total: 16})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 500 {
				ctx, gone := context.WithCancel(context.Background())
				p, err := h.Take(fmt.Sprint("caller", i%3), gone)
				if err != nil {
					t.Error(err)
					return
				}
				done, ok := p.Use()
				if held := p.Hold(time.Now()); ok && held != nil && ctx.Err() != nil {
					t.Error("let go in use")
				}
				done()
				p.Touch()
				p.Release()
				if n := h.Taken(); n > 16 {
					t.Errorf("%d are taken", n)
				}
				p.Leave()
				gone()
			}
		})
	}
	all.Wait()
	if n := h.Taken(); n != 0 {
		t.Errorf("%d are still taken", n)
	}
}

// A place that is used from the start is not let go before its caller knows of it.
func TestTakeUsed(t *testing.T) {
	h := places.New(places.Config{What: "sessions", Total: 1, Share: 1})
	p, done, err := h.TakeUsed("a", func() { t.Error("it was let go") })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Take("b", nil); err == nil {
		t.Error("there was room for another")
	}
	done()
	p.Leave()
	if _, err := h.Take("b", nil); err != nil {
		t.Error(err)
	}
}
