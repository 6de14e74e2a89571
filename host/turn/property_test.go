package turn

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

type fataler interface{ Fatal(args ...any) }

func asJSON(t fataler, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// scene is one round as rapid draws it: who votes what, who is dead.
type scene struct {
	body   entry.Round
	from   Voter
	kinds  map[string]abi.ParticipantKind
	votes  map[string]abi.Vote
	dead   map[string]bool // sends nothing
	failed map[string]bool // and the room was told so
	late   map[string]bool // or was told that it is slow
	in     Input           // without Round
}

var closings = []abi.Closing{"", abi.ClosingNone, abi.ClosingPre, abi.ClosingClosing, abi.ClosingTerminal}

func drawVote(t *rapid.T, who string) abi.Vote {
	return abi.Vote{
		State:      rapid.SampledFrom([]abi.State{abi.Speak, abi.Listen}).Draw(t, who+" state"),
		Importance: float64(rapid.IntRange(0, 20).Draw(t, who+" importance")) / 2,
		Selected:   rapid.Bool().Draw(t, who+" selected"),
		Closing:    rapid.SampledFrom(closings).Draw(t, who+" closing"),
		Reason:     rapid.SampledFrom([]string{"", "because", "なるほど"}).Draw(t, who+" reason"),
	}
}

func drawScene(t *rapid.T) scene {
	n := rapid.IntRange(1, 6).Draw(t, "voters")
	s := scene{
		body:  entry.Round{About: 6, Due: time.Unix(9, 0).UTC(), Silence: rapid.Bool().Draw(t, "silence")},
		kinds: map[string]abi.ParticipantKind{}, votes: map[string]abi.Vote{}, dead: map[string]bool{}, failed: map[string]bool{}, late: map[string]bool{},
		in: Input{
			Seed: rapid.StringN(0, 4, 8).Draw(t, "seed"), Lost: map[string]int{},
			Stage:    rapid.SampledFrom(closings).Draw(t, "stage"),
			MaxTurns: rapid.IntRange(0, 3).Draw(t, "max turns"), Turns: rapid.IntRange(0, 4).Draw(t, "turns"),
		},
	}
	kinds := []abi.ParticipantKind{abi.KindCompanion, abi.KindCompanion, abi.KindAgent, abi.KindHuman}
	s.from = Voter{"sender", rapid.SampledFrom(kinds).Draw(t, "sender is")}
	for i := range n {
		who := fmt.Sprintf("v%d", i)
		s.body.Electorate = append(s.body.Electorate, who)
		s.kinds[who] = rapid.SampledFrom(kinds).Draw(t, who+" is")
		if rapid.IntRange(0, 3).Draw(t, who+" addressed") == 0 {
			s.body.Addressed = append(s.body.Addressed, who)
		}
		s.in.Lost[who] = rapid.IntRange(0, 12).Draw(t, who+" lost")
		if rapid.IntRange(0, 3).Draw(t, who+" dead") == 0 {
			s.dead[who], s.failed[who] = true, rapid.Bool().Draw(t, who+" failed")
			s.late[who] = !s.failed[who] && rapid.Bool().Draw(t, who+" late")
			continue
		}
		s.votes[who] = drawVote(t, who)
	}
	return s
}

func (s scene) open() *Round { return Open(7, s.body, s.from, s.kinds) }

// called says whether a human addressed who.
func (s scene) called(who string) bool {
	return slices.Contains(s.body.Addressed, who) && s.from.Kind == abi.KindHuman
}

// asked says whether who did not vote and is to be asked for a line all the same.
func (s scene) asked(who string) bool {
	return s.dead[who] && !s.failed[who] && s.kinds[who] == abi.KindCompanion && s.called(who)
}

// run plays a scene in the order of its electorate.
func (s scene) run() Ruling {
	r := s.open()
	for _, who := range s.body.Electorate {
		if v, ok := s.votes[who]; ok {
			r.Cast(who, v)
		} else if s.failed[who] {
			r.Fail(who, "crashed")
		} else if s.late[who] {
			r.Late(who, "slow")
		}
	}
	return s.decide(r)
}

func (s scene) decide(r *Round) Ruling {
	in := s.in
	in.Round = r
	return Vote{}.Decide(in)
}

// open rooms are neither capped nor closed.
func (s scene) isOpen() bool {
	return (s.in.MaxTurns == 0 || s.in.Turns < s.in.MaxTurns) && s.in.Stage != abi.ClosingTerminal
}

// TestOneOutcomeInAnyOrder: whatever the order of votes and failures, with
// duplicates, strangers, invalid and late votes between them, a round has one
// outcome, byte for byte.
func TestOneOutcomeInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t)
		want := asJSON(t, s.run())
		type event func(*Round)
		var events []event
		for _, who := range s.body.Electorate {
			if s.failed[who] {
				events = append(events, func(r *Round) { r.Fail(who, "crashed") })
			}
			if s.late[who] {
				events = append(events, func(r *Round) { r.Late(who, "slow") })
			}
			v, ok := s.votes[who]
			if !ok {
				continue
			}
			cast := func(r *Round) { r.Cast(who, v) }
			events = append(events, cast, cast, func(r *Round) { r.Cast(who, abi.Vote{State: "maybe"}) })
			if rapid.Bool().Draw(t, "also failed") {
				give := rapid.SampledFrom([]func(*Round, string, string) bool{(*Round).Fail, (*Round).Late}).Draw(t, "how")
				events = append(events, func(r *Round) { give(r, who, "slow") })
			}
		}
		for i := range rapid.IntRange(0, 3).Draw(t, "strangers") {
			events = append(events, func(r *Round) { r.Cast(fmt.Sprintf("x%d", i), speak(10)); r.Fail("ghost", "dead") })
		}
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))
		rnd.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
		r := s.open()
		for _, e := range events {
			e(r)
		}
		if got := asJSON(t, s.decide(r)); got != want {
			t.Fatalf("\n got %s\nwant %s", got, want)
		}
		r.Decided = true
		for who := range s.votes {
			r.Cast(who, speak(10))
		}
		r.Cast("stranger", speak(10))
		if got := asJSON(t, s.decide(r)); got != want {
			t.Fatalf("after late votes\n got %s\nwant %s", got, want)
		}
	})
}

// TestNoWishIsLost: while somebody present voted to speak, or was addressed by
// a human, exactly one speaks; the exceptions are the room's cap, its end, and
// farewells when it is closing already. Where nobody could vote it says so.
func TestNoWishIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t)
		r := s.run()
		wish, lively, asked := false, false, false
		for who, v := range s.votes {
			called := s.called(who)
			human := s.kinds[who] == abi.KindHuman
			wish = wish || v.State == abi.Speak
			lively = lively || v.State == abi.Speak && (human || called || v.Closing != abi.ClosingTerminal)
			asked = asked || !human && v.State == abi.Listen && (s.body.Silence || called)
		}
		for who := range s.dead {
			asked = asked || s.asked(who)
		}
		must := s.isOpen() && (lively || asked || wish && s.in.Stage != abi.ClosingClosing)
		if granted := r.Outcome == entry.OutcomeGrant; granted != must {
			t.Fatalf("granted %v, want %v: %s", granted, must, asJSON(t, r))
		}
		if r.Reason == "" {
			t.Fatal("no reason")
		}
		if (r.Speaker != "") != must || (r.Rule != "") != must {
			t.Fatalf("speaker %q, rule %q", r.Speaker, r.Rule)
		}
		if must {
			if s.dead[r.Speaker] && !s.asked(r.Speaker) || r.Speaker != r.Ranking[0].Who {
				t.Fatalf("%s speaks: %s", r.Speaker, order(r))
			}
		}
		if absent := r.Outcome == entry.OutcomeAbsent; absent != (s.isOpen() && !must && len(s.votes) == 0) {
			t.Fatalf("absent %v: %s", absent, asJSON(t, r))
		}
	})
}

// TestDeadVotersAreListeners: a round with dead voters is decided as if they
// listened, and as if they were not there; only where nobody else voted it says
// that they are absent. One that a human addressed, and a listener in a round of
// the silence breaker, would be asked to speak if it were there; of the dead only a
// companion that a human addressed is, where nobody knows that it is dead.
func TestDeadVotersAreListeners(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t)
		got := s.run()
		gone, listening := s, s
		gone.body.Electorate, listening.votes = nil, map[string]abi.Vote{}
		comparable := !s.body.Silence
		for _, who := range s.body.Electorate {
			if !s.dead[who] {
				gone.body.Electorate = append(gone.body.Electorate, who)
				listening.votes[who] = s.votes[who]
				continue
			}
			listening.votes[who] = listen(0)
			if s.asked(who) {
				t.Skip("asked")
			}
			comparable = comparable && !s.called(who)
		}
		if got.Outcome == entry.OutcomeAbsent && len(s.votes) == 0 {
			got.Outcome = entry.OutcomeSilence
		}
		same := func(what string, want Ruling) {
			if got.Outcome != want.Outcome || got.Speaker != want.Speaker || got.Rule != want.Rule || got.Stage != want.Stage {
				t.Fatalf("%s\n got %s\nwant %s", what, asJSON(t, got), asJSON(t, want))
			}
			if got.Outcome != entry.OutcomeSilence && got.Reason != want.Reason {
				t.Fatalf("%s: reason %q, want %q", what, got.Reason, want.Reason)
			}
		}
		same("without the dead", gone.run())
		if comparable {
			same("with the dead listening", listening.run())
		}
	})
}

// TestRankingIsAPermutation: everybody in the electorate, once, and nobody
// else; the candidates for the floor before those who are none.
func TestRankingIsAPermutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t)
		r := s.run()
		var who []string
		none := false
		for _, c := range r.Ranking {
			who = append(who, c.Who)
			may := mayHaveFloor(c.Standing, s.body.Silence)
			if may && none {
				t.Fatalf("a candidate comes after one who is none: %s", order(r))
			}
			none = none || !may
			if s.dead[c.Who] != (c.Standing == StandingAbsent) && !s.asked(c.Who) {
				t.Fatalf("%s is dead %v and ranked %s", c.Who, s.dead[c.Who], c.Standing)
			}
			if addressed := c.Standing == StandingAddressed || c.Standing == StandingAsked; addressed && !s.called(c.Who) {
				t.Fatalf("%s is %s and nobody said so", c.Who, c.Standing)
			}
		}
		slices.Sort(who)
		if !slices.Equal(who, s.body.Electorate) {
			t.Fatalf("ranking of %q is %s", s.body.Electorate, order(r))
		}
	})
}

// TestMoreImportanceNeverHurts: raising a voter's importance never lowers it.
func TestMoreImportanceNeverHurts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t)
		who := rapid.SampledFrom(s.body.Electorate).Draw(t, "who")
		v, ok := s.votes[who]
		if !ok {
			t.Skip("dead")
		}
		place := func(r Ruling) int {
			return slices.IndexFunc(r.Ranking, func(c entry.Candidate) bool { return c.Who == who })
		}
		before := s.run()
		v.Importance = min(10, v.Importance+float64(rapid.IntRange(0, 20).Draw(t, "raise"))/2)
		s.votes[who] = v
		after := s.run()
		if place(after) > place(before) {
			t.Fatalf("%s fell: %s, then %s", who, asJSON(t, before.Ranking), asJSON(t, after.Ranking))
		}
		if before.Speaker == who && after.Speaker != who {
			t.Fatalf("%s lost the floor by wanting it more", who)
		}
	})
}

// TestClaimsMoveNobody: selected changes notes at most.
func TestClaimsMoveNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t)
		a := s.run()
		for who, v := range s.votes {
			v.Selected = !v.Selected
			s.votes[who] = v
		}
		b := s.run()
		if order(a) != order(b) || a.Speaker != b.Speaker || a.Reason != b.Reason {
			t.Fatalf("\n%s\n%s", asJSON(t, a), asJSON(t, b))
		}
	})
}

// TestClosingNeverSkips: neither a ruling nor a step skips a stage or goes
// back.
func TestClosingNeverSkips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t)
		if d := s.run().Stage.Stage() - s.in.Stage.Stage(); d < 0 || d > 1 {
			t.Fatalf("a ruling moved the stage by %d", d)
		}
		stage := rapid.SampledFrom(closings).Draw(t, "from")
		for _, wish := range rapid.SliceOf(rapid.SampledFrom(append(closings, "junk"))).Draw(t, "wishes") {
			next := Step(stage, wish)
			if d := next.Stage() - stage.Stage(); d < 0 || d > 1 || d == 1 && wish.Stage() < next.Stage() {
				t.Fatalf("%q and the wish %q give %q", stage, wish, next)
			}
			stage = next
		}
	})
}

// TestTheFloorGoesDownToTheLast: handed down, the floor comes to every
// candidate once, in the order of the ranking, and ends.
func TestTheFloorGoesDownToTheLast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawScene(t).run()
		var tried []string
		for range len(r.Ranking) + 1 {
			c, ok := Next(r, tried)
			if !ok {
				break
			}
			if slices.Contains(tried, c.Who) || c.Standing == StandingAbsent || c.Standing == StandingOut {
				t.Fatalf("after %q comes %s (%s)", tried, c.Who, c.Standing)
			}
			tried = append(tried, c.Who)
		}
		if _, ok := Next(r, tried); ok {
			t.Fatal("there is always one more")
		}
		if r.Outcome == entry.OutcomeGrant && tried[0] != r.Speaker {
			t.Fatalf("first %s, but %s speaks", tried[0], r.Speaker)
		}
	})
}

// TestTheDrawIsFair: with equal votes and no debt each of three wins about a
// third of the rounds, and another seed draws otherwise.
func TestTheDrawIsFair(t *testing.T) {
	const rounds = 3000
	for _, seed := range []string{"", "seed", "別の種"} {
		wins, same := map[string]int{}, 0
		for id := range uint64(rounds) {
			r := newRig("aya", "kyoko", "nat").cast("aya", speak(5)).cast("kyoko", speak(5)).cast("nat", speak(5))
			r.in.Round.ID, r.in.Seed = id, seed
			w := r.decide().Speaker
			wins[w]++
			r.in.Seed += "x"
			if r.decide().Speaker == w {
				same++
			}
		}
		for who, n := range wins {
			if n < rounds*28/100 || n > rounds*38/100 {
				t.Errorf("seed %q: %s wins %d of %d", seed, who, n, rounds)
			}
		}
		if len(wins) != 3 || same > rounds/2 {
			t.Errorf("seed %q: %d winners, %d draws like another seed's", seed, len(wins), same)
		}
	}
}

// FuzzDecide: any ballots, also those no Cast would take, give one ruling, no
// panic, and a ranking that holds everybody.
func FuzzDecide(f *testing.F) {
	f.Add("seed", uint64(12), "speak", 5.0, "terminal", "listen", 3.0, "", "b", "closing", 3, 6, true)
	f.Add("", uint64(0), "", -1.0, "x", "speak", 1e300, "none", "", "terminal", -3, -6, false)
	f.Fuzz(func(t *testing.T, seed string, id uint64, s1 string, i1 float64, c1, s2 string, i2 float64, c2, addressed, stage string, turns, maxTurns int, silence bool) {
		r := openRound(id, "a", "b", "c", "a")
		r.Addressed, r.Silence = []string{addressed, "c"}, silence
		r.Ballots["a"] = Ballot{Vote: abi.Vote{State: abi.State(s1), Importance: i1, Closing: abi.Closing(c1), Reason: seed}}
		r.Ballots["b"] = Ballot{Vote: abi.Vote{State: abi.State(s2), Importance: i2, Closing: abi.Closing(c2)}, Carried: true, Failed: s1}
		in := Input{Round: r, Seed: seed, Stage: abi.Closing(stage), Turns: turns, MaxTurns: maxTurns, Lost: map[string]int{"a": turns}}
		d := Vote{}.Decide(in)
		if len(d.Ranking) != 3 || d.Reason == "" || (d.Outcome == entry.OutcomeGrant) != (d.Speaker != "") {
			t.Fatalf("%+v", d)
		}
		if again := (Vote{}).Decide(in); fmt.Sprintf("%v", again) != fmt.Sprintf("%v", d) {
			t.Fatalf("\n%+v\n%+v", d, again)
		}
		Explain(entry.Decision{Round: id, Outcome: d.Outcome, Speaker: d.Speaker, Rule: d.Rule, Reason: d.Reason, Ranking: d.Ranking})
	})
}
