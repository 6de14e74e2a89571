package room

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/presence"
	"github.com/companiond/companiond/host/rooms"
)

// poolRules are testRules with a policy that has a pool.
func poolRules(policy string) entry.Rules {
	r := testRules
	r.Policy = policy
	return r
}

// consume is a line of an agent.
func (s *stage) consume(from, text string) (abi.Message, abi.Budget, error) {
	return s.room.Consume(s.t.Context(), rooms.Utterance{From: from, By: abi.KindAgent, Text: text})
}

func (s *stage) attend(who string, votes bool) {
	s.t.Helper()
	if err := s.room.Attend(s.t.Context(), who, votes); err != nil {
		s.t.Fatalf("attend %s: %v", who, err)
	}
	synctest.Wait()
}

// agents gives the agents that Info shows, by name.
func (s *stage) agents() []string {
	var ids []string
	for _, m := range s.room.Info().Members {
		if m.Kind == abi.KindAgent {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// electorates gives who was asked in each round.
func (s *stage) electorates() [][]string {
	var all [][]string
	for _, r := range bodies[entry.Round](s.t, s.entries(), entry.KindRound) {
		all = append(all, r.Electorate)
	}
	return all
}

func longText(n int) string { return strings.Repeat("あ", n) }

// TestAgentsComeWhenTheyTalk: whoever talks is in the cast before its line is,
// and takes part in no round.
func TestAgentsComeWhenTheyTalk(t *testing.T) {
	for _, policy := range []string{"pool", "vote+pool", "vote"} {
		t.Run(policy, func(t *testing.T) {
			play(t, poolRules(policy), []*actor{{id: "aya"}, {id: "kyoko"}}, func(s *stage) {
				_, _, err := s.consume("bot", "なるほど")
				if denied := policy == "vote"; (abi.CodeOf(err) == abi.CodeDenied) != denied {
					t.Errorf("err = %v", err)
				}
				if got := s.agents(); !slices.Equal(got, []string{"bot"}) {
					t.Errorf("agents %v", got)
				}
				es := s.entries()
				last := es[len(es)-1]
				came := es[slices.IndexFunc(es, func(e entry.Entry) bool {
					return e.Kind == entry.KindCast && strings.Contains(string(e.Body), `"bot"`)
				})]
				if j := decode[entry.Cast](came).Joined; len(j) != 1 || j[0].Kind != abi.KindAgent || !j[0].NoVote || came.Seq >= last.Seq {
					t.Errorf("came with %s, talked in entry %d", came.Body, last.Seq)
				}
				s.say("taro", "bot, are you there?")
				time.Sleep(time.Minute)
				for _, who := range s.electorates() {
					if slices.Contains(who, "bot") {
						t.Errorf("an agent that does not vote was asked: %v", who)
					}
				}
			})
		})
	}
}

// TestAnAgentVotesAndSpeaks is the way of an agent that plays by votes, in
// every policy: it is asked, wins, and says its line with the grant.
func TestAnAgentVotesAndSpeaks(t *testing.T) {
	for _, policy := range []string{"vote", "pool", "vote+pool"} {
		t.Run(policy, func(t *testing.T) {
			rules := poolRules(policy)
			rules.MaxTurns = 1
			play(t, rules, []*actor{wants_("aya", 5)}, func(s *stage) {
				s.attend("bot", true)
				m := s.say("taro", "hello")
				synctest.Wait()
				i := s.room.Info()
				if i.Round == nil || i.Round.About != m.Seq || !slices.Equal(i.Round.Awaits, []string{"bot"}) || i.Grant != nil || len(i.Round.Addressed) != 0 {
					t.Fatalf("round %+v, grant %+v", i.Round, i.Grant)
				}
				if got := s.electorates()[0]; !slices.Equal(got, []string{"aya", "bot"}) {
					t.Errorf("asked: %v", got)
				}
				if err := s.room.Vote(s.t.Context(), "bot", m.Seq, abi.Vote{State: abi.Speak, Importance: 9}); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				i = s.room.Info()
				if i.Round != nil || i.Floor != "bot" || i.Grant == nil || i.Grant.Basis != m.Seq {
					t.Fatalf("floor %q, grant %+v, round %+v", i.Floor, i.Grant, i.Round)
				}
				line := rooms.Utterance{From: "other", By: abi.KindAgent, Text: "はい、います", Kind: abi.KindTurn, Grant: i.Grant.Token, Basis: i.Grant.Basis}
				if _, _, err := s.room.Consume(s.t.Context(), line); abi.CodeOf(err) != abi.CodeDenied {
					t.Errorf("another agent speaks with the grant: %v", err)
				}
				if f := s.room.Info().Floor; f != "bot" {
					t.Errorf("another agent named the grant, and the floor is %q's", f)
				}
				line.From = "bot"
				if _, _, err := s.room.Consume(s.t.Context(), line); err != nil {
					t.Errorf("who has the floor speaks: %v", err)
				}
				time.Sleep(time.Minute)
				if got := s.texts(); !slices.Contains(got, "bot: はい、います") {
					t.Errorf("%q", got)
				}
			})
		})
	}
}

// TestAgentsLeave: an agent that is not heard of is let go, a voter after 90 s, for every
// round waits for its vote, a talker after 10 min. Whatever it does, it is heard.
func TestAgentsLeave(t *testing.T) {
	for _, tc := range []struct {
		name  string
		votes bool
		away  time.Duration
		hear  func(s *stage) // halfway
	}{
		{"talker", false, presence.TalkerAway, nil},
		{"voter", true, presence.VoterAway, nil},
		{"voter that attends again", true, presence.VoterAway, func(s *stage) { s.attend("bot", true) }},
		{"voter that nods", true, presence.VoterAway, func(s *stage) { _, _, _ = s.consume("bot", "うん") }},
		{"voter that is only refused", true, presence.VoterAway, func(s *stage) { _, _, _ = s.consume("bot", longText(500)) }},
		{"talker that nods", false, presence.TalkerAway, func(s *stage) { _, _, _ = s.consume("bot", "うん") }},
		{"voter that votes", true, presence.VoterAway, func(s *stage) {
			m := s.say("taro", "hello")
			if err := s.room.Vote(s.t.Context(), "bot", m.Seq, abi.Vote{State: abi.Listen}); err != nil {
				s.t.Error(err)
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			play(t, poolRules("vote+pool"), []*actor{{id: "aya"}}, func(s *stage) {
				s.attend("bot", tc.votes)
				time.Sleep(tc.away / 2)
				if tc.hear != nil {
					tc.hear(s)
					time.Sleep(tc.away / 2)
				}
				time.Sleep(tc.away/2 - time.Millisecond)
				synctest.Wait()
				if got := s.agents(); len(got) != 1 {
					t.Errorf("gone too early")
				}
				time.Sleep(time.Millisecond)
				synctest.Wait()
				if got := s.agents(); len(got) != 0 {
					t.Errorf("still here: %v", got)
				}
				casts := bodies[entry.Cast](t, s.entries(), entry.KindCast)
				if left := casts[len(casts)-1].Left; len(left) != 1 || left[0].ID != "bot" || left[0].Reason != "was not heard of for a while" {
					t.Errorf("left: %+v", left)
				}
			})
		})
	}
}

// TestARoundEndsWhenItsVoterLeaves: nobody waits for who is gone, and the floor
// of who is gone passes on.
func TestARoundEndsWhenItsVoterLeaves(t *testing.T) {
	rules := poolRules("vote")
	rules.Patience, rules.Floor, rules.MaxTurns = 200_000, 200_000, 1
	play(t, rules, []*actor{wants_("aya", 5)}, func(s *stage) {
		s.attend("bot", true)
		m := s.say("taro", "hello")
		time.Sleep(presence.VoterAway)
		synctest.Wait()
		if got := s.texts(); len(got) != 2 || got[1] != "aya: aya line 1" {
			t.Errorf("the round waits for who is gone: %q", got)
		}
		s.attend("bot", true)
		m = s.say("taro", "again")
		if err := s.room.Vote(s.t.Context(), "bot", m.Seq, abi.Vote{State: abi.Speak, Importance: 9}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if f := s.room.Info().Floor; f != "bot" {
			t.Fatalf("the floor is %q's", f)
		}
		time.Sleep(presence.VoterAway)
		synctest.Wait()
		if got := s.texts(); len(got) != 4 || got[3] != "aya: aya line 2" {
			t.Errorf("the floor stays with who is gone: %q", got)
		}
	})
}

// TestAVoterGoesOnVoting, also when it only talks from then on.
func TestAVoterGoesOnVoting(t *testing.T) {
	play(t, poolRules("vote+pool"), []*actor{{id: "aya"}}, func(s *stage) {
		if _, _, err := s.consume("bot", "うん"); err != nil {
			t.Fatal(err)
		}
		s.attend("bot", true)
		s.attend("bot", false)
		_, _, _ = s.consume("bot", "うん")
		s.say("taro", "hello")
		time.Sleep(time.Minute)
		if got := s.electorates()[0]; !slices.Equal(got, []string{"aya", "bot"}) {
			t.Errorf("asked: %v", got)
		}
	})
}

// TestALonelyTurnWaitsForAVoter: a turn that nobody was there to answer is
// asked about once somebody is, whichever way it came.
func TestALonelyTurnWaitsForAVoter(t *testing.T) {
	for _, talked := range []bool{false, true} {
		rules := poolRules("vote+pool")
		play(t, rules, []*actor{wants_("aya", 5)}, func(s *stage) {
			s.say("taro", "hello")
			time.Sleep(10 * time.Second)
			rounds := len(s.electorates())
			if talked {
				_, _, _ = s.consume("bot", "うん")
			}
			n := len(s.decisions())
			s.attend("bot", true)
			time.Sleep(10 * time.Second)
			got := s.electorates()
			if len(got) != rounds+1 || !slices.Equal(got[len(got)-1], []string{"bot"}) {
				t.Errorf("talked before: %v; rounds %v", talked, got)
			}
			if talked && n != 2 {
				t.Errorf("%d decisions before a voter came, want aya's floor and the silence behind it", n)
			}
		})
	}
}

// TestAgentsComeBackAfterARestart: the cast is said anew, and an agent that is
// heard of is in it again.
func TestAgentsComeBackAfterARestart(t *testing.T) {
	play(t, poolRules("pool"), []*actor{{id: "aya"}}, func(s *stage) {
		s.attend("bot", true)
		s.end()
		s.start()
		if got := s.agents(); len(got) != 0 {
			t.Errorf("nobody has heard of %v since", got)
		}
		if _, _, err := s.consume("bot", "うん"); err != nil {
			t.Error(err)
		}
		if got := s.agents(); !slices.Equal(got, []string{"bot"}) {
			t.Errorf("agents %v", got)
		}
		s.attend("bot", true)
		s.say("taro", "hello")
		synctest.Wait()
		if got := s.electorates(); len(got) != 1 || !slices.Contains(got[0], "bot") {
			t.Errorf("asked: %v", got)
		}
		time.Sleep(10 * time.Second)
	})
}

// TestARoomHoldsSoManyAgents: the talker that was not heard of for longest
// gives way to a guest, a voter never does.
func TestARoomHoldsSoManyAgents(t *testing.T) {
	play(t, poolRules("vote+pool"), []*actor{{id: "aya"}}, func(s *stage) {
		name := func(i int) string { return fmt.Sprintf("bot%02d", i) }
		s.attend("voter", true)
		for i := range presence.MaxAgents - 1 {
			s.attend(name(i), false)
			time.Sleep(time.Millisecond)
		}
		s.attend(name(0), false) // now the second is the oldest
		s.attend("new", false)
		got := s.agents()
		if len(got) != presence.MaxAgents || slices.Contains(got, name(1)) || !slices.Contains(got, name(0)) || !slices.Contains(got, "voter") || !slices.Contains(got, "new") {
			t.Errorf("%d agents: %v", len(got), got)
		}
		for i := range presence.MaxAgents - 1 {
			s.attend(fmt.Sprintf("v%02d", i), true)
		}
		err := s.room.Attend(s.t.Context(), "more", false)
		if _, _, err2 := s.consume("more", "うん"); abi.CodeOf(err) != abi.CodeExhausted || abi.CodeOf(err2) != abi.CodeExhausted {
			t.Errorf("one more: %v, %v", err, err2)
		}
		if got := s.agents(); len(got) != presence.MaxAgents || slices.Contains(got, "more") {
			t.Errorf("%d agents: %v", len(got), got)
		}
		if err := s.room.Attend(s.t.Context(), "v00", true); err != nil {
			t.Errorf("one who is here: %v", err)
		}
	})
}

// TestOneGuestLocksNoHolderOut: a guest that waits for its turn under as many names as a room
// takes had it for itself. The holder of a token takes the place of one of them, whose vote is
// not awaited any more, and no guest takes the holder's.
func TestOneGuestLocksNoHolderOut(t *testing.T) {
	play(t, poolRules("vote+pool"), []*actor{{id: "aya"}}, func(s *stage) {
		s.end()
		s.house = holds{"mika"}
		s.start()
		name := func(i int) string { return fmt.Sprintf("q%02dx", i) }
		again := func() { // the guest asks again under each name, also under one that made room
			for i := range presence.MaxAgents {
				err := s.room.Attend(s.t.Context(), name(i), true)
				if here := slices.Contains(s.agents(), name(i)); here != (err == nil) || err != nil && abi.CodeOf(err) != abi.CodeExhausted {
					t.Errorf("%s, which is here: %v: %v", name(i), here, err)
				}
			}
			synctest.Wait()
		}
		again()
		time.Sleep(5 * time.Second)
		again()
		s.say("taro", "hello")
		synctest.Wait()
		if i := s.room.Info(); i.Round == nil || !slices.Contains(i.Round.Awaits, name(0)) {
			t.Fatalf("%s is not asked: %+v", name(0), i.Round)
		}
		s.attend("mika", true)
		casts := bodies[entry.Cast](t, s.entries(), entry.KindCast)
		if left := casts[len(casts)-1].Left; !slices.Equal(left, []entry.Left{{ID: name(0), Reason: "made room for mika"}}) {
			t.Errorf("left: %+v", left)
		}
		if i := s.room.Info(); i.Round != nil && slices.Contains(i.Round.Awaits, name(0)) {
			t.Errorf("its vote is awaited still: %v", i.Round.Awaits)
		}
		again()
		if got := s.agents(); len(got) != presence.MaxAgents || !slices.Contains(got, "mika") || slices.Contains(got, name(0)) {
			t.Errorf("%d agents: %v", len(got), got)
		}
		time.Sleep(10 * time.Second)
	})
}

// holds is a house in which these have tokens, and nobody lives.
type holds []string

func (holds) Loading() []string                   { return nil }
func (holds) Residents() []string                 { return nil }
func (holds) Resident(string) (string, bool)      { return "", false }
func (h holds) Holder(name string) (string, bool) { return name, slices.Contains(h, name) }

// TestNamesOfAgents: nobody takes the name of one above it, nor one that reads or
// looks like it: an agent neither a companion's nor a human's nor another agent's, a
// human no companion's. A human that takes an agent's name has it: the agent goes.
func TestNamesOfAgents(t *testing.T) {
	a := wants_("aya", 5)
	a.names = []string{"あや"}
	play(t, poolRules("vote+pool"), []*actor{a}, func(s *stage) {
		s.room.settings.Companions = []string{"aya"}
		s.load(wants_("kyoko", 5)) // of another room
		s.attend("botちゃん", true)
		s.attend("rival", false)
		s.say("taro", "hello")
		ctx := context.Background()
		denied := func(who string, human bool) {
			if err := s.room.Attend(ctx, who, false); abi.CodeOf(err) != abi.CodeDenied {
				t.Errorf("%s attends: %v", who, err)
			}
			if _, _, err := s.consume(who, "うん"); abi.CodeOf(err) != abi.CodeDenied {
				t.Errorf("%s talks: %v", who, err)
			}
			if !human {
				return
			}
			if _, err := s.room.Say(ctx, rooms.Utterance{From: who, Text: "hello"}); abi.CodeOf(err) != abi.CodeDenied {
				t.Errorf("a human talks as %s: %v", who, err)
			}
		}
		for _, who := range []string{"aya", "AYA", "ａｙａ", "ауа", "アヤ", "ｱﾔ", "あや", "kyoko", "Kyoko"} {
			denied(who, true)
		}
		for _, who := range []string{"BOTちゃん", "botチャン", "ｂｏｔちゃん", "Rival", "taro", "Taro", "tаro"} {
			denied(who, false)
		}
		for _, who := range []string{"rival", "botちゃん"} {
			if _, _, err := s.consume(who, "うん"); err != nil {
				t.Errorf("%s itself: %v", who, err)
			}
		}
		for _, who := range []string{"", "a b", "x/y"} {
			if err := s.room.Attend(ctx, who, false); abi.CodeOf(err) != abi.CodeInvalid {
				t.Errorf("%q attends: %v", who, err)
			}
		}
		if got := s.agents(); !slices.Equal(got, []string{"botちゃん", "rival"}) {
			t.Errorf("agents %v", got)
		}
		s.say("Rival", "it is me, a human")
		if got := s.agents(); !slices.Equal(got, []string{"botちゃん"}) {
			t.Errorf("agents %v, after a human has come whose name is like one's", got)
		}
		denied("rival", false)
		casts := bodies[entry.Cast](t, s.entries(), entry.KindCast)
		if left := casts[len(casts)-1].Left; len(left) != 1 || left[0].Reason != "a human has this name" {
			t.Errorf("left %+v", left)
		}
	})
}

// TestHumansAreForgotten: an agent may take the name of a human who was not heard of
// for a day.
func TestHumansAreForgotten(t *testing.T) {
	play(t, poolRules("vote+pool"), []*actor{{id: "aya"}}, func(s *stage) {
		s.say("taro", "hello")
		time.Sleep(presence.HumanAway - time.Minute)
		s.cast()
		if err := s.room.Attend(s.t.Context(), "taro", false); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("after 23 hours: %v", err)
		}
		time.Sleep(2 * time.Minute)
		s.cast()
		if err := s.room.Attend(s.t.Context(), "taro", false); err != nil {
			t.Errorf("after a day: %v", err)
		}
	})
}

// TestModuleNamesAreSettled: a display name or an alias that is somebody else's or
// nobody's to have is not given, and mutes nobody; in another room it may be.
func TestModuleNamesAreSettled(t *testing.T) {
	play(t, testRules, []*actor{wants_("aya", 5)}, func(s *stage) {
		s.say("taro", "hello")
		synctest.Wait() // nobody asks aya now
		s.mu.Lock()
		s.actors["aya"].names = []string{"あや", "taro", "user", "companiond"}
		s.mu.Unlock()
		s.load(&actor{id: "ben", names: []string{"aya", "あや", "ベン"}})
		want := map[string][]string{"aya": {"あや"}, "ben": {"ベン"}}
		for _, c := range s.room.state().Cast {
			if !slices.Equal(c.Aliases, want[c.ID]) {
				t.Errorf("%s is called %q, want %q", c.ID, c.Aliases, want[c.ID])
			}
		}
		s.say("taro", "I am still here")
		if err := s.room.Attend(s.t.Context(), "taro", false); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("an agent attends as taro: %v", err)
		}
	})
}

// TestOldLookAlikeTakesNoName: somebody who was let in under a name that looks like a
// companion's, before such names were one, does not take the companion's own away.
func TestOldLookAlikeTakesNoName(t *testing.T) {
	play(t, testRules, []*actor{{id: "ben"}}, func(s *stage) {
		s.say("аya", "hello") // the first letter is Cyrillic
		s.end()
		s.house = residents{"aya", "ben"}
		s.actors["aya"] = &actor{id: "aya", names: []string{"Aya", "あや"}}
		s.start()
		for _, c := range s.room.state().Cast {
			if c.ID == "aya" && (c.Name != "aya" || len(c.Aliases) != 2) {
				t.Errorf("aya is called %q, %q", c.Name, c.Aliases)
			}
		}
		if _, err := s.room.Say(s.t.Context(), rooms.Utterance{From: "аya", Text: "hello again"}); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("the look-alike goes on: %v", err)
		}
	})
}

// TestStopWhateverTheName: STOP is obeyed from anybody, also under a name that is a
// companion's or an agent's, or no name at all.
func TestStopWhateverTheName(t *testing.T) {
	for name, want := range map[string]string{"taro": "taro", "aya": somebody, "kyoko": somebody, "a b": somebody, "": somebody, "you": "you", "bot": "bot"} {
		play(t, testRules, []*actor{wants_("aya", 5), wants_("kyoko", 4)}, func(s *stage) {
			s.attend("bot", true)
			s.say("taro", "hello")
			synctest.Wait()
			if _, err := s.room.Stop(s.t.Context(), name); err != nil {
				t.Fatalf("%q: %v", name, err)
			}
			if got := s.room.state().Stopped; got != want {
				t.Errorf("%q: stopped by %q, want %q", name, got, want)
			}
		})
	}
}

// TestACompanionTakesItsNameBack: an agent came first under a name that a
// companion is then loaded under.
func TestACompanionTakesItsNameBack(t *testing.T) {
	play(t, poolRules("vote+pool"), []*actor{{id: "aya"}}, func(s *stage) {
		s.attend("kyoko", true)
		s.load(wants_("kyoko", 5))
		if got := s.agents(); len(got) != 0 {
			t.Errorf("agents %v", got)
		}
		if _, _, err := s.consume("kyoko", "うん"); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("talks as a companion: %v", err)
		}
		s.say("taro", "hello")
		time.Sleep(time.Minute)
		if got := s.texts(); len(got) < 2 || got[1] != "kyoko: kyoko line 1" {
			t.Errorf("%q", got)
		}
	})
}

// TestWhoIsAnsweredIsCounted: when an agent hears that it is here, or that its
// vote counts, the journal has it and whoever looks sees it.
func TestWhoIsAnsweredIsCounted(t *testing.T) {
	play(t, poolRules("vote"), nil, func(s *stage) {
		for _, who := range []string{"bot", "slow"} {
			if err := s.room.Attend(s.t.Context(), who, true); err != nil || !slices.Contains(s.agents(), who) {
				t.Fatalf("err %v; here are %v", err, s.agents())
			}
		}
		m := s.say("taro", "hello")
		synctest.Wait()
		if err := s.room.Vote(s.t.Context(), "bot", m.Seq, abi.Vote{State: abi.Listen}); err != nil {
			t.Fatal(err)
		}
		if r := s.room.Info().Round; r == nil || !slices.Equal(r.Awaits, []string{"slow"}) {
			t.Errorf("the round shown is %+v", r)
		}
		if votes := bodies[entry.Voted](t, s.entries(), entry.KindVote); len(votes) != 1 || votes[0].Voter != "bot" {
			t.Errorf("votes in the journal: %+v", votes)
		}
	})
}
