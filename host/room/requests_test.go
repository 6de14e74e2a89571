package room

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/queue"
	"github.com/companiond/companiond/host/rooms"
)

// offered is what became of an offer.
type offered struct {
	m   abi.Message
	err error
}

// offer offers a line of an agent beside the test.
func (s *stage) offer(ctx context.Context, from, text string, basis uint64, importance float64) <-chan offered {
	done := make(chan offered, 1)
	go func() {
		m, _, err := s.room.Offer(ctx, rooms.Utterance{From: from, By: abi.KindAgent, Text: text, Basis: basis}, importance)
		done <- offered{m, err}
	}()
	synctest.Wait()
	return done
}

// kinds gives the kinds of the newest entries, as many as wanted.
func (s *stage) kinds(n int) (kinds []entry.Kind) {
	es := s.entries()
	for _, e := range es[max(0, len(es)-n):] {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// TestOfferWakesARoom: a line that is offered where nothing goes on opens a round,
// votes in it, wins and is said; each step is an entry.
func TestOfferWakesARoom(t *testing.T) {
	play(t, testRules, []*actor{{id: "aya"}}, func(s *stage) {
		s.say("taro", "hello")
		synctest.Wait()
		got := <-s.offer(s.t.Context(), "bot", "I am here", 0, 4)
		if got.err != nil || got.m.Text != "I am here" || got.m.From != "bot" {
			t.Fatalf("%+v", got)
		}
		synctest.Wait()
		es := s.entries()
		i := slices.IndexFunc(es, func(e entry.Entry) bool { return e.Kind == entry.KindWish })
		var after []entry.Kind
		for _, e := range es[i:] {
			after = append(after, e.Kind)
		}
		want := []entry.Kind{entry.KindWish, entry.KindRound, entry.KindVote, entry.KindVote, entry.KindDecision, entry.KindSaid}
		if len(after) < len(want) || !slices.Equal(after[:len(want)], want) {
			t.Errorf("%v, want %v", after, want)
		}
		said := s.said()
		if last := said[len(said)-1]; last.Wish != es[i].Seq || last.By != abi.KindAgent || last.Grant == "" {
			t.Errorf("%+v", last)
		}
		w := decode[entry.Wish](es[i])
		if w.Who != "bot" || w.Waits != entry.WaitRound || w.Importance != 4 || es[i].V != entry.Version {
			t.Errorf("%+v in version %d", w, es[i].V)
		}
	})
}

// TestOfferThatLoses: when somebody else is first, the line is refused with its words in
// the journal; what was lost counts in the next round, also after a restart, until one
// is heard.
func TestOfferThatLoses(t *testing.T) {
	rules := testRules
	rules.Pace, rules.MaxTurns = 500, 100
	play(t, rules, []*actor{wants_("aya", 6), wants_("kyoko", 5.9)}, func(s *stage) {
		lost := func() (n int) {
			for _, d := range s.decisions() {
				for _, c := range d.Ranking {
					if c.Who == "bot" {
						n = c.Debt
					}
				}
			}
			return n
		}
		said := func() bool {
			t.Helper()
			got := <-s.offer(s.t.Context(), "bot", "me too", s.room.Info().Head, 4)
			wishes := bodies[entry.Wish](s.t, s.entries(), entry.KindWish)
			if w := wishes[len(wishes)-1]; w.Importance != 4 {
				t.Errorf("importance %v", w.Importance)
			}
			if got.err == nil {
				return true
			}
			if abi.CodeOf(got.err) != abi.CodeStale || !strings.Contains(got.err.Error(), "spoke first") {
				t.Fatal(got.err)
			}
			refused := bodies[entry.Refused](s.t, s.entries(), entry.KindRefused)
			if r := refused[len(refused)-1]; r.Wish == 0 || r.Text != "me too" || r.Who != "bot" || r.By != abi.KindAgent {
				t.Errorf("%+v", r)
			}
			return false
		}
		s.say("taro", "hello")
		if said() {
			t.Fatal("4 won over 6")
		}
		s.end()
		s.start()
		s.say("taro", "go on")
		n := 1
		for ; !said(); n++ {
			if lost() < n-2 { // the first was offered too late for its round, and the newest is not in a ranking yet
				t.Errorf("lost %d rounds, counted %d", n, lost())
			}
			if n == 9 { // N + n - 2
				t.Fatal("lost ten times in a row")
			}
		}
		time.Sleep(time.Second)
		if said() {
			t.Error("4 won over 6 after it was heard")
		}
	})
}

// TestOfferThatIsTakenBack: a caller that goes away takes its line along, one that waits
// too long is told so, and both are entries.
func TestOfferThatIsTakenBack(t *testing.T) {
	rules := testRules
	rules.Patience = 60_000
	play(t, rules, []*actor{{id: "aya"}}, func(s *stage) {
		s.attend("mute", true) // every round waits for its vote
		s.say("taro", "hello")
		ctx, cancel := context.WithCancel(s.t.Context())
		gone := s.offer(ctx, "bot", "first", 0, 4)
		cancel()
		if got := <-gone; got.err == nil {
			t.Errorf("%+v", got)
		}
		synctest.Wait()
		if got := s.kinds(1); got[0] != entry.KindDue || len(s.room.state().Requests) != 0 {
			t.Errorf("%v, %v wait", got, s.room.state().Requests)
		}
		start := time.Now()
		got := <-s.offer(s.t.Context(), "bot", "second", 0, 4)
		if abi.CodeOf(got.err) != abi.CodeConflict || time.Since(start) != queue.WishPatience {
			t.Errorf("%v after %v", got.err, time.Since(start))
		}
		for range 4 {
			s.offer(s.t.Context(), "bot", "many", 0, 4)
		}
		if got := <-s.offer(s.t.Context(), "bot", "too many", 0, 4); abi.CodeOf(got.err) != abi.CodeExhausted {
			t.Errorf("%+v", got)
		}
		s.say("mika", "what now?")
		synctest.Wait()
		if n := len(s.room.offers); n != 0 {
			t.Errorf("%d offers wait though their moment has passed", n)
		}
	})
}

// TestOfferThatIsPaidFor waits while votes are counted, and no longer than a model
// would take to try again.
func TestOfferThatIsPaidFor(t *testing.T) {
	for _, tc := range []struct {
		name     string
		patience int64
		want     abi.Code
	}{{"the votes are in soon", 1000, ""}, {"the votes are not in", 10_000, abi.CodeConflict}} {
		t.Run(tc.name, func(t *testing.T) {
			rules := poolRules("pool")
			rules.Patience = tc.patience
			play(t, rules, []*actor{{id: "aya", vote: hang[abi.Vote]}}, func(s *stage) {
				s.say("taro", "hello")
				synctest.Wait()
				start := time.Now()
				got := <-s.offer(s.t.Context(), "bot", longText(20), 0, 4)
				if code := abi.CodeOf(got.err); got.err != nil && code != tc.want || got.err == nil && tc.want != "" {
					t.Errorf("%+v", got)
				}
				if took := time.Since(start); took != min(turnPatience, time.Duration(tc.patience)*time.Millisecond) {
					t.Errorf("after %v", took)
				}
			})
		})
	}
}

// TestACompanionAddressesAnother: the addressee of a companion's line is found when it is
// said, in one piece or in several, and the call counts: it goes before one that
// finds its own line more important, though not by more than a call adds.
func TestACompanionAddressesAnother(t *testing.T) {
	for _, pieces := range []bool{false, true} {
		var s *stage
		aya := recites(&s, "aya", []string{"kyoko, ", "what do you think?"}, func(said string) (abi.Line, error) { return abi.Line{Text: said}, nil })
		if !pieces {
			aya.line, aya.speak = nil, func(context.Context, abi.Scene) (abi.Line, error) {
				return abi.Line{Text: "kyoko, what do you think?"}, nil
			}
		}
		rules := testRules
		rules.MaxTurns = 2
		play(t, rules, []*actor{aya, wants_("kyoko", 1), wants_("natsumi", 3)}, func(on *stage) {
			s = on
			s.say("taro", "aya, hello")
			time.Sleep(time.Minute)
			if got := s.texts(); len(got) < 3 || got[2] != "kyoko: kyoko line 1" {
				t.Errorf("pieces %v: %q", pieces, got)
			}
			if said := s.said(); !slices.Equal(said[1].Addressed, []string{"kyoko"}) || pieces && said[1].Segments != 2 {
				t.Errorf("%+v", said[1])
			}
		})
	}
}

// TestOfferAndTheEnd: whoever waits is told when the daemon stops, and a request that waited
// when it was killed has an end in the journal when it comes back.
func TestOfferAndTheEnd(t *testing.T) {
	rules := testRules
	rules.Patience = 60_000
	play(t, rules, []*actor{{id: "aya"}}, func(s *stage) {
		s.attend("mute", true) // every round waits for its vote
		s.say("taro", "hello")
		waits := s.offer(s.t.Context(), "bot", "first", 0, 4)
		start := time.Now()
		s.room.Drain()
		if got := <-waits; abi.CodeOf(got.err) != abi.CodeUnavailable || !strings.Contains(got.err.Error(), "stopping") || time.Since(start) > 0 {
			t.Errorf("%+v after %v", got, time.Since(start))
		}
		s.end()
		s.start()
		s.attend("mute", true)
		s.say("taro", "go on")
		killed := s.offer(s.t.Context(), "bot", "second", 0, 4)
		s.end() // the room writes nothing of its requests, as where it is killed
		if got := <-killed; got.err == nil {
			t.Errorf("%+v", got)
		}
		s.start()
		synctest.Wait()
		if n := len(s.room.state().Requests); n != 0 {
			t.Errorf("%d requests wait", n)
		}
		given := map[uint64]bool{}
		for _, d := range bodies[entry.Due](s.t, s.entries(), entry.KindDue) {
			given[d.Of] = d.What == entry.DueStale
		}
		for _, e := range s.entries() {
			if e.Kind == entry.KindWish && !given[e.Seq] {
				t.Errorf("wish %d has no end", e.Seq)
			}
		}
	})
}

// A room that is closed ends the requests that wait there, in writing.
func TestArchiveEndsRequests(t *testing.T) {
	play(t, testRules, []*actor{{id: "aya", vote: hang[abi.Vote]}}, func(s *stage) {
		s.say("taro", "hello")
		synctest.Wait()
		got := s.offer(s.t.Context(), "bot", "I am here", 0, 4)
		if err := s.room.Archive(s.t.Context(), "taro"); err != nil {
			t.Fatal(err)
		}
		if o := <-got; o.err == nil || !strings.Contains(o.err.Error(), "closed") {
			t.Errorf("%+v", o)
		}
		ended := map[uint64]bool{}
		for _, e := range s.entries() {
			switch e.Kind {
			case entry.KindWish:
				ended[e.Seq] = false
			case entry.KindDue:
				if d := decode[entry.Due](e); d.What == entry.DueStale {
					ended[d.Of] = true
				}
			}
		}
		if len(ended) == 0 {
			t.Error("nothing was offered")
		}
		for seq, over := range ended {
			if !over {
				t.Errorf("wish %d has no end", seq)
			}
		}
	})
}
