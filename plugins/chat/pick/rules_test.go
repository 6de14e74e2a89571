package pick_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/plugins/chat/line"
	"github.com/companiond/companiond/plugins/chat/pick"
)

// shadow does what a pool does in another way: it keeps one list, and sorts all of it whenever it looks.
type shadow struct {
	rule   pick.Rule
	list   []waiting
	picked map[string]bool
	wrote  map[string]time.Time
	seen   map[string]bool
	muted  map[string]time.Time
	last   time.Time
	any    bool
	n      int
}

type waiting struct {
	line.Line
	came time.Time
	n    int
}

func (s *shadow) isMuted(l line.Line, now time.Time) bool {
	until, has := s.muted[l.Viewer]
	return has && (until.IsZero() || now.Before(until))
}

func (s *shadow) add(l line.Line, now time.Time) pick.Fate {
	if s.seen[l.ID] {
		return pick.Known
	}
	s.seen[l.ID] = true
	if s.isMuted(l, now) {
		return pick.Muted
	}
	if l.Gift == nil {
		if wrote, has := s.wrote[l.Viewer]; has && now.Sub(wrote) < s.rule.Slow {
			return pick.TooSoon
		}
		s.wrote[l.Viewer] = now
	}
	s.n++
	s.list = append(s.list, waiting{l, now, s.n})
	s.tidy(now)
	for _, too := range []func([]waiting) []waiting{
		func(c []waiting) []waiting { return s.beyond(c, pick.MaxEach, l.Viewer) },
		func(c []waiting) []waiting { return s.beyond(c, s.rule.Waiting, "") },
	} {
		for _, w := range too(s.list) {
			s.list = slices.DeleteFunc(s.list, func(o waiting) bool { return o.n == w.n })
		}
	}
	if !slices.ContainsFunc(s.list, func(w waiting) bool { return w.n == s.n }) {
		return pick.Full
	}
	return pick.Waits
}

// beyond gives the comments of a viewer, of all where there is no name, that are behind the first so many.
func (s *shadow) beyond(list []waiting, most int, viewer string) []waiting {
	list = slices.DeleteFunc(slices.Clone(list), func(w waiting) bool { return w.Gift != nil || viewer != "" && w.Viewer != viewer })
	s.sort(list)
	return list[min(most, len(list)):]
}

func (s *shadow) sort(list []waiting) {
	rank := func(w waiting) int {
		switch {
		case w.Gift != nil:
			return w.n // before all, the oldest first
		case line.Asks(w.Text) && !s.picked[w.Viewer]:
			return 1_000_000 - w.n
		case line.Asks(w.Text):
			return 2_000_000 - w.n
		case !s.picked[w.Viewer]:
			return 3_000_000 - w.n
		}
		return 4_000_000 - w.n
	}
	slices.SortFunc(list, func(a, b waiting) int { return cmp.Compare(rank(a), rank(b)) })
}

func (s *shadow) tidy(now time.Time) {
	s.list = slices.DeleteFunc(s.list, func(w waiting) bool { return w.Gift == nil && now.Sub(w.came) >= s.rule.Stale })
}

func (s *shadow) next(now time.Time) (string, bool) {
	s.tidy(now)
	if len(s.list) == 0 || s.any && now.Sub(s.last) < s.rule.Every {
		return "", false
	}
	s.sort(s.list)
	l := s.list[0]
	s.list = s.list[1:]
	s.picked[l.Viewer], s.last, s.any = true, now, true
	return l.ID, true
}

func (s *shadow) drop(is func(line.Line) bool) {
	s.list = slices.DeleteFunc(s.list, func(w waiting) bool { return is(w.Line) })
}

// TestRule plays chats against a pool and the shadow, which have to agree, and looks at what holds for any rule: the time between
// two, gifts that are lost nowhere, and nobody who is muted.
func TestRule(t *testing.T) { rapid.Check(t, rules) }

func FuzzRule(f *testing.F) { f.Fuzz(rapid.MakeFuzz(rules)) }

func rules(t *rapid.T) {
	r := pick.Rule{
		Every: seconds(1, 20).Draw(t, "every"), Stale: seconds(5, 60).Draw(t, "stale"), Slow: seconds(0, 5).Draw(t, "slow"),
		Waiting: rapid.IntRange(1, 8).Draw(t, "waiting"),
	}
	p := pick.New(r)
	s := &shadow{rule: r, picked: map[string]bool{}, wrote: map[string]time.Time{}, seen: map[string]bool{}, muted: map[string]time.Time{}}
	viewers := rapid.SampledFrom([]string{"ann", "bob", "cho", "dan", "eri"})
	now, last := start, time.Time{}
	gifts := map[string]bool{} // that have to be taken
	t.Repeat(map[string]func(*rapid.T){
		"add": func(t *rapid.T) {
			l := said(fmt.Sprint(rapid.IntRange(0, 300).Draw(t, "id")), viewers.Draw(t, "viewer"), rapid.SampledFrom([]string{"hi", "why?", "え？", "no"}).Draw(t, "text"))
			if rapid.IntRange(0, 5).Draw(t, "gift") == 0 {
				l = given(l.ID, l.Viewer)
			}
			got, want := p.Add(l, now), s.add(l, now)
			if got != want {
				t.Fatalf("%+v: %s, want %s", l, got, want)
			}
			if l.Gift != nil && got == pick.Waits {
				gifts[l.ID] = true
			}
		},
		"tick": func(t *rapid.T) { now = now.Add(seconds(0, 20).Draw(t, "tick")) },
		"next": func(t *rapid.T) {
			id, has := s.next(now)
			got, ok := p.Next(now)
			if ok != has || got.ID != id {
				t.Fatalf("next is %q %v, want %q %v", got.ID, ok, id, has)
			}
			if !ok {
				return
			}
			if !last.IsZero() && now.Sub(last) < r.Every {
				t.Fatalf("%v after the one before", now.Sub(last))
			}
			last = now
			if s.isMuted(got.Line, now) {
				t.Fatalf("%q is muted", got.Viewer)
			}
			delete(gifts, got.ID)
		},
		"gone": func(t *rapid.T) {
			g := line.Gone{Platform: "twitch", Viewer: viewers.Draw(t, "viewer")}
			if rapid.Bool().Draw(t, "one") {
				g = line.Gone{Platform: "twitch", ID: fmt.Sprint(rapid.IntRange(0, 300).Draw(t, "id"))}
			}
			s.drop(func(l line.Line) bool {
				if g.Has(l) {
					delete(gifts, l.ID)
				}
				return g.Has(l)
			})
			p.Gone(g)
		},
		"mute": func(t *rapid.T) {
			viewer, until := viewers.Draw(t, "viewer"), now.Add(seconds(0, 60).Draw(t, "for"))
			if err := p.Mute(viewer, until, now); err != nil {
				t.Fatal(err)
			}
			s.muted[viewer] = until
			s.drop(func(l line.Line) bool {
				if l.Viewer == viewer {
					delete(gifts, l.ID)
				}
				return l.Viewer == viewer
			})
		},
		"": func(t *rapid.T) {
			if size := p.Size(); size.Comments > r.Waiting {
				t.Fatalf("size %+v", size)
			}
		},
	})
	for range 400 {
		now = now.Add(r.Every)
		if got, ok := p.Next(now); ok {
			delete(gifts, got.ID)
		}
	}
	if len(gifts) > 0 {
		t.Fatalf("gifts are lost: %v", gifts)
	}
}

func seconds(from, to int) *rapid.Generator[time.Duration] {
	return rapid.Map(rapid.IntRange(from, to), func(n int) time.Duration { return time.Duration(n) * time.Second })
}

// TestBackIsNoLoss takes lines and puts them back at random: each gift is taken once in the end.
func TestBackIsNoLoss(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := pick.New(rule)
		n := rapid.IntRange(1, 20).Draw(t, "gifts")
		for i := range n {
			p.Add(given(fmt.Sprint(i), "ann"), start)
		}
		var got []string
		now := start
		for len(got) < n {
			l, ok := p.Next(now)
			now = now.Add(rule.Every)
			if !ok {
				t.Fatalf("%d of %d are there", len(got), n)
			}
			if rapid.Bool().Draw(t, "back") {
				p.Back(l)
				continue
			}
			got = append(got, l.ID)
		}
		for i, id := range got {
			if id != fmt.Sprint(i) {
				t.Fatalf("in another order: %v", got)
			}
		}
	})
}

// BenchmarkFlood adds a comment to a pool that is full.
func BenchmarkFlood(b *testing.B) {
	p := pick.New(pick.Rule{Every: 8 * time.Second, Stale: time.Minute, Waiting: 200})
	for i := range b.N {
		p.Add(said(fmt.Sprint(i), fmt.Sprint(i%5000), "hello?"), start.Add(time.Duration(i)*time.Millisecond))
	}
}
