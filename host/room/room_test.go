package room

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/loop"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/speech"
)

func TestCompanionsTalkUntilTheCap(t *testing.T) {
	play(t, testRules, []*actor{wants_("aya", 5), wants_("kyoko", 5), wants_("natsumi", 5)}, func(s *stage) {
		s.say("taro", "hello")
		time.Sleep(time.Minute)
		got := s.texts()
		if len(got) != 1+testRules.MaxTurns {
			t.Fatalf("%d messages, want %d: %q", len(got), 1+testRules.MaxTurns, got)
		}
		for _, who := range []string{"aya", "kyoko", "natsumi"} {
			if n := len(slices.DeleteFunc(slices.Clone(got), func(l string) bool { return !strings.HasPrefix(l, who) })); n != 2 {
				t.Errorf("%s spoke %d times with equal wishes, want 2", who, n)
			}
		}
		last := s.decisions()[len(s.decisions())-1]
		if last.Outcome != entry.OutcomeCapped {
			t.Errorf("the last outcome is %q, want capped", last.Outcome)
		}
		if i := s.room.Info(); i.State != "capped" {
			t.Errorf("state %q, want capped", i.State)
		}
		s.say("taro", "go on")
		time.Sleep(time.Minute)
		if n := len(s.texts()); n != 2*(1+testRules.MaxTurns) {
			t.Errorf("%d messages after a human spoke again", n)
		}
	})
}

func TestAddressedAnswers(t *testing.T) {
	quiet := wants_("kyoko", 1)
	quiet.names = []string{"きょうこ"}
	play(t, testRules, []*actor{wants_("aya", 10), quiet}, func(s *stage) {
		s.say("taro", "きょうこさん、猫は好き？")
		time.Sleep(time.Second)
		d := s.decisions()[0]
		if d.Speaker != "kyoko" || d.Rule != entry.RuleAddressed {
			t.Errorf("%s spoke by rule %s: %s", d.Speaker, d.Rule, d.Reason)
		}
	})
}

func TestDeadVotersCostThePatienceAndNoMore(t *testing.T) {
	dead := &actor{id: "dead", vote: hang[abi.Vote]}
	broken := &actor{id: "broken", vote: func(context.Context, abi.Scene) (abi.Vote, error) {
		return abi.Vote{}, errors.New("boom")
	}}
	liar := &actor{id: "liar", vote: func(context.Context, abi.Scene) (abi.Vote, error) {
		return abi.Vote{State: abi.Speak, Importance: 99}, nil
	}}
	rules := testRules
	rules.MaxTurns = 1
	play(t, rules, []*actor{dead, broken, liar, wants_("aya", 3)}, func(s *stage) {
		start := time.Now()
		s.say("taro", "hello")
		time.Sleep(time.Second + time.Millisecond)
		synctest.Wait()
		if got := s.texts(); len(got) != 2 {
			t.Fatalf("after %v: %q", time.Since(start), got)
		}
		e := s.entries()
		d := s.decisions()[0]
		at := e[slices.IndexFunc(e, func(e entry.Entry) bool { return e.Kind == entry.KindDecision })].At
		if took := at.Sub(start); took != time.Second {
			t.Errorf("decided after %v, want 1s", took)
		}
		for _, c := range d.Ranking {
			if c.Who != "aya" && c.Standing != "absent" {
				t.Errorf("%s stands as %q", c.Who, c.Standing)
			}
		}
	})
}

func TestFloorPassesOnWhenTheSpeakerFails(t *testing.T) {
	dies := wants_("dies", 9)
	dies.speak = func(context.Context, abi.Scene) (abi.Line, error) { return abi.Line{}, errors.New("trap") }
	hangs := wants_("hangs", 8)
	hangs.speak = hang[abi.Line]
	passes := wants_("passes", 7)
	passes.speak = nil
	rules := testRules
	rules.MaxTurns = 1
	play(t, rules, []*actor{dies, hangs, passes, wants_("aya", 1)}, func(s *stage) {
		s.say("taro", "hello")
		time.Sleep(10 * time.Second)
		var order []string
		for _, d := range s.decisions() {
			order = append(order, d.Speaker)
		}
		if want := []string{"dies", "hangs", "passes", "aya", ""}; !slices.Equal(order, want) {
			t.Errorf("the floor went to %q, want %q", order, want)
		}
	})
}

func TestEverySpeakerFails(t *testing.T) {
	rules := testRules
	rules.Silence = 4000
	dies := wants_("dies", 9)
	dies.speak = func(context.Context, abi.Scene) (abi.Line, error) { return abi.Line{}, errors.New("trap") }
	play(t, rules, []*actor{dies, {id: "listens"}}, func(s *stage) {
		s.say("taro", "hello")
		time.Sleep(time.Minute)
		ds := s.decisions()
		// Three a round: whoever would rather listen is asked before nobody answers.
		if last := ds[len(ds)-1]; last.Outcome != entry.OutcomeAbsent || len(ds) > 18 || s.room.Info().State != "waiting" {
			t.Errorf("%d decisions, the last %s: %s; the room is %s", len(ds), last.Outcome, last.Reason, s.room.Info().State)
		}
		time.Sleep(10 * time.Minute)
		ds = s.decisions()
		if !slices.ContainsFunc(ds, func(d entry.Decision) bool {
			return d.Outcome == entry.OutcomeSilence && strings.Contains(d.Reason, "given up after 11 rounds")
		}) || s.room.Info().State != "resting" {
			t.Errorf("%d decisions, the last: %s; the room is %s", len(ds), ds[len(ds)-1].Reason, s.room.Info().State)
		}
	})
}

func TestHumanWhileALineIsMade(t *testing.T) {
	for _, tc := range []struct {
		name    string
		stale   entry.Stale
		text    string
		refused int
		first   string // who speaks first behind the human's second message
	}{
		{"refuse", entry.StaleRefuse, "wait", 1, "aya"},
		{"reask", entry.StaleReask, "wait", 1, "aya"},
		{"reask, but somebody else is addressed", entry.StaleReask, "kyoko, what do you think?", 1, "kyoko"},
		{"accept", entry.StaleAccept, "wait", 0, "aya"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rules := testRules
			rules.Stale, rules.MaxTurns = tc.stale, 1
			var retried bool
			slow := wants_("aya", 9)
			slow.speak = func(_ context.Context, sc abi.Scene) (abi.Line, error) {
				time.Sleep(2 * time.Second)
				retried = retried || sc.Retry
				return abi.Line{Text: fmt.Sprintf("on %q", sc.Message.Text)}, nil
			}
			play(t, rules, []*actor{slow, wants_("kyoko", 2)}, func(s *stage) {
				s.say("taro", "hello")
				time.Sleep(time.Second)
				s.say("taro", tc.text)
				time.Sleep(20 * time.Second)
				es := s.entries()
				if n := len(bodies[entry.Refused](t, es, entry.KindRefused)); n != tc.refused {
					t.Errorf("%d lines refused, want %d", n, tc.refused)
				}
				if got := s.texts(); !strings.HasPrefix(got[2], tc.first) {
					t.Errorf("%q", got)
				}
				if want := tc.name == "reask"; retried != want {
					t.Errorf("asked again: %v, want %v", retried, want)
				}
			})
		})
	}
}

func TestStopIsObeyedInTheSameTick(t *testing.T) {
	slow := wants_("aya", 9)
	slow.speak = func(ctx context.Context, _ abi.Scene) (abi.Line, error) {
		time.Sleep(time.Second)
		return abi.Line{Text: "too late"}, nil
	}
	play(t, testRules, []*actor{slow, wants_("kyoko", 2)}, func(s *stage) {
		s.say("taro", "hello")
		synctest.Wait()
		if f := s.room.Info().Floor; f != "aya" {
			t.Fatalf("the floor is %q's", f)
		}
		seq, err := s.room.Stop(s.t.Context(), "taro")
		if err != nil {
			t.Fatal(err)
		}
		next := s.entries()[seq] // the entry behind the STOP
		if d := decode[entry.Decision](next); d.Outcome != entry.OutcomeStopped {
			t.Errorf("behind STOP comes %s %s", next.Kind, next.Body)
		}
		time.Sleep(time.Minute)
		if got := s.texts(); len(got) != 1 {
			t.Errorf("said after STOP: %q", got)
		}
		if n := len(bodies[entry.Refused](t, s.entries(), entry.KindRefused)); n != 1 {
			t.Errorf("%d lines refused, want the late one", n)
		}
		s.say("taro", "you may talk again")
		time.Sleep(time.Minute)
		if got := s.texts(); len(got) < 3 {
			t.Errorf("after a human spoke again: %q", got)
		}
	})
}

func TestSilenceIsBrokenOnce(t *testing.T) {
	rules := testRules
	rules.Silence = 4000
	shy := &actor{id: "shy", speak: func(context.Context, abi.Scene) (abi.Line, error) { return abi.Line{Text: "well…"}, nil }}
	play(t, rules, []*actor{shy, {id: "mute"}}, func(s *stage) {
		s.say("taro", "hello")
		time.Sleep(3999 * time.Millisecond)
		if got := s.texts(); len(got) != 1 {
			t.Fatalf("before the silence was long: %q", got)
		}
		time.Sleep(time.Hour)
		got := s.texts()
		if len(got) < 2 || len(got) > 4 || got[1] != "shy: well…" {
			t.Errorf("%q", got)
		}
	})
}

// TestPaceFollowsTheLength: where nobody plays lines, and each comes in one piece, the next
// one is there when the one before was said at the pace of a voice, and not before.
func TestPaceFollowsTheLength(t *testing.T) {
	for _, text := range []string{"うん、いいね。", "昨日の映画は本当に面白かったよ。最後の場面で泣いちゃった。また見たいな。"} {
		rules := testRules
		rules.Pace, rules.Auto = 0, true
		first := true
		said := func(context.Context, abi.Scene) (abi.Line, error) {
			defer func() { first = false }()
			return abi.Line{Text: map[bool]string{true: text, false: "そうだね。"}[first]}, nil
		}
		aya, kyoko := wants_("aya", 5), wants_("kyoko", 5)
		aya.speak, kyoko.speak = said, said
		play(t, rules, []*actor{aya, kyoko}, func(s *stage) {
			s.say("taro", "hello")
			time.Sleep(time.Minute)
			var at []time.Time
			for _, e := range s.entries() {
				if e.Kind == entry.KindSaid {
					at = append(at, e.At)
				}
			}
			if len(at) < 3 {
				t.Fatalf("%q", s.texts())
			}
			var want time.Duration
			for _, b := range speech.Beats(text) {
				want += time.Duration(b.MS) * time.Millisecond
			}
			if pause := at[2].Sub(at[1]); pause < want || pause > want+100*time.Millisecond {
				t.Errorf("%v after %q, which takes %v", pause, text, want)
			}
		})
	}
}

func TestPaceLetsPeopleRead(t *testing.T) {
	rules := testRules
	rules.Pace = 700
	play(t, rules, []*actor{wants_("aya", 5), wants_("kyoko", 5)}, func(s *stage) {
		s.say("taro", "hello")
		time.Sleep(time.Minute)
		var at []time.Time
		for _, e := range s.entries() {
			if e.Kind == entry.KindSaid {
				at = append(at, e.At)
			}
		}
		for i := 2; i < len(at); i++ {
			if gap := at[i].Sub(at[i-1]); gap != 700*time.Millisecond {
				t.Errorf("message %d came %v after the one before", i, gap)
			}
		}
	})
}

func TestRestartGoesOnWhereTheJournalEnds(t *testing.T) {
	for _, tc := range []struct {
		name  string
		vote  func(context.Context, abi.Scene) (abi.Vote, error)
		speak func(context.Context, abi.Scene) (abi.Line, error)
	}{
		{"in a round", hang[abi.Vote], nil},
		{"with the floor held", nil, hang[abi.Line]},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rules := testRules
			rules.MaxTurns, rules.Silence = 2, 4000
			a := wants_("aya", 5)
			vote, speak := a.vote, a.speak
			if tc.vote != nil {
				a.vote = tc.vote
			} else {
				a.speak = tc.speak
			}
			play(t, rules, []*actor{a, {id: "kyoko"}}, func(s *stage) {
				s.say("taro", "hello")
				synctest.Wait()
				s.end()
				a.vote, a.speak = vote, speak
				time.Sleep(time.Hour)
				s.start()
				time.Sleep(time.Minute)
				if got := s.texts(); len(got) < 2 || got[1] != "aya: aya line 1" {
					t.Errorf("%q", got)
				}
			})
		})
	}
}

func TestJournalThatTakesNothing(t *testing.T) {
	play(t, testRules, []*actor{wants_("aya", 5), wants_("kyoko", 4)}, func(s *stage) {
		s.journal.break_(fmt.Errorf("%w: disk full", journal.ErrUnavailable), false)
		_, err := s.room.Say(s.t.Context(), rooms.Utterance{From: "taro", Text: "lost?"})
		if abi.CodeOf(err) != abi.CodeUnavailable || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("err = %v", err)
		}
		if i := s.room.Info(); i.State != "unavailable" || i.Error == "" {
			t.Errorf("info %+v", i)
		}
		if _, _, err := s.room.Messages(s.t.Context(), 0, 10); err != nil {
			t.Errorf("reads go on: %v", err)
		}
		s.journal.break_(nil, false)
		time.Sleep(2 * time.Second)
		s.say("taro", "hello")
		time.Sleep(time.Minute)
		if got := s.texts(); len(got) != 1+testRules.MaxTurns || got[0] != "taro: hello" {
			t.Errorf("%q", got)
		}
	})
}

func TestUnknownOutcomeIsLookedUp(t *testing.T) {
	play(t, testRules, []*actor{}, func(s *stage) {
		s.journal.break_(journal.ErrUnknown, true)
		m, err := s.room.Say(s.t.Context(), rooms.Utterance{From: "taro", Text: "stored"})
		if err != nil || m.Text != "stored" {
			t.Errorf("%+v, %v", m, err)
		}
		s.journal.break_(nil, false)
		time.Sleep(2 * time.Second)
		s.journal.break_(journal.ErrUnknown, true)
		if seq, err := s.room.Stop(s.t.Context(), "taro"); err != nil || seq == 0 {
			t.Errorf("a STOP that is in the journal: %d, %v", seq, err)
		}
		s.journal.break_(nil, false)
		time.Sleep(2 * time.Second)
		s.journal.break_(journal.ErrUnknown, false)
		if _, err := s.room.Say(s.t.Context(), rooms.Utterance{From: "taro", Text: "not stored"}); err == nil {
			t.Error("acknowledged what is not in the journal")
		}
		s.journal.break_(nil, false)
		time.Sleep(2 * time.Second)
		s.journal.break_(journal.ErrUnknown, false)
		if _, err := s.room.Stop(s.t.Context(), "taro"); err == nil {
			t.Error("acknowledged a STOP that is not in the journal")
		}
		s.journal.break_(nil, false)
		time.Sleep(2 * time.Second)
		if got := s.texts(); !slices.Equal(got, []string{"taro: stored"}) {
			t.Errorf("%q", got)
		}
	})
}

func TestFencedRoomEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, testRules)
		if _, err := s.journal.Acquire(s.t.Context(), "main", "another", time.Now()); err != nil {
			t.Fatal(err)
		}
		_, err := s.room.Say(s.t.Context(), rooms.Utterance{From: "taro", Text: "hello"})
		if abi.CodeOf(err) != abi.CodeUnavailable {
			t.Errorf("err = %v", err)
		}
		if err := <-s.ended; !errors.Is(err, journal.ErrFenced) {
			t.Errorf("it ends with %v", err)
		}
	})
}

func TestSayChecks(t *testing.T) {
	a := wants_("aya", 5)
	a.names = []string{"あや"}
	play(t, testRules, []*actor{a}, func(s *stage) {
		for _, tc := range []struct {
			u    rooms.Utterance
			code abi.Code
			name string
		}{
			{rooms.Utterance{Text: "x"}, abi.CodeInvalid, "from"},
			{rooms.Utterance{From: "a b", Text: "x"}, abi.CodeInvalid, "from"},
			{rooms.Utterance{From: "taro", Text: "  "}, abi.CodeInvalid, "text"},
			{rooms.Utterance{From: "taro", Text: strings.Repeat("x", abi.MaxText+1)}, abi.CodeTooLarge, "text"},
			{rooms.Utterance{From: "taro", Text: "x", To: []string{""}}, abi.CodeInvalid, "to"},
			{rooms.Utterance{From: "taro", Text: "x", ID: "vote/1"}, abi.CodeInvalid, "id"},
			{rooms.Utterance{From: "taro", Text: "x", Kind: "song"}, abi.CodeInvalid, "kind"},
			{rooms.Utterance{From: "aya", Text: "x"}, abi.CodeDenied, "from"},
			{rooms.Utterance{From: "AYA", Text: "x"}, abi.CodeDenied, "from"},
			{rooms.Utterance{From: "アヤ", Text: "x"}, abi.CodeDenied, "from"},
		} {
			_, err := s.room.Say(s.t.Context(), tc.u)
			if abi.CodeOf(err) != tc.code || !strings.Contains(err.Error(), tc.name+":") {
				t.Errorf("%+v: %v, want %s about %s", tc.u, err, tc.code, tc.name)
			}
		}
		if got := s.texts(); len(got) != 0 {
			t.Errorf("recorded: %q", got)
		}
	})
}

func TestSameIDIsOneMessage(t *testing.T) {
	play(t, testRules, nil, func(s *stage) {
		first, err := s.room.Say(s.t.Context(), rooms.Utterance{ID: "x1", From: "taro", Text: "once"})
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.room.Say(s.t.Context(), rooms.Utterance{ID: "x1", From: "taro", Text: "once"})
		if err != nil || again.Seq != first.Seq {
			t.Errorf("%+v, %v", again, err)
		}
		if _, err := s.room.Say(s.t.Context(), rooms.Utterance{ID: "x1", From: "taro", Text: "twice"}); abi.CodeOf(err) != abi.CodeConflict {
			t.Errorf("err = %v", err)
		}
	})
}

func TestSameIDAfterItWasNotKept(t *testing.T) {
	play(t, testRules, nil, func(s *stage) {
		u := rooms.Utterance{ID: "x1", From: "taro", Text: "at last"}
		s.journal.break_(journal.ErrUnavailable, false)
		if _, err := s.room.Say(s.t.Context(), u); abi.CodeOf(err) != abi.CodeUnavailable {
			t.Errorf("err = %v", err)
		}
		s.journal.break_(nil, false)
		time.Sleep(2 * time.Second)
		if m, err := s.room.Say(s.t.Context(), u); err != nil || m.Text != "at last" {
			t.Errorf("sent again: %+v, %v", m, err)
		}
	})
}

// TestNobodyTalksAsACompanionOfAnotherRoom holds names of the whole house.
func TestNobodyTalksAsACompanionOfAnotherRoom(t *testing.T) {
	play(t, testRules, []*actor{wants_("aya", 5)}, func(s *stage) {
		s.room.settings.Companions = []string{"kyoko"}
		s.cast()
		if _, err := s.room.Say(s.t.Context(), rooms.Utterance{From: "Aya", Text: "it is me"}); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("say: %v", err)
		}
		if err := s.room.Attend(s.t.Context(), "aya", false); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("attend: %v", err)
		}
	})
}

func TestCompanionLeavesAndComesBack(t *testing.T) {
	gone := &actor{id: "gone", vote: hang[abi.Vote]}
	play(t, testRules, []*actor{gone, wants_("aya", 5)}, func(s *stage) {
		s.say("taro", "hello")
		time.Sleep(100 * time.Millisecond)
		s.unload("gone")
		if got := s.texts(); len(got) != 2 {
			t.Errorf("the round waits for who left: %q", got)
		}
		s.load(wants_("gone", 9))
		time.Sleep(time.Second)
		if got := s.texts(); len(got) < 3 || !strings.HasPrefix(got[2], "gone") {
			t.Errorf("%q", got)
		}
	})
}

func TestMessageBeforeAnybodyIsLoaded(t *testing.T) {
	play(t, testRules, nil, func(s *stage) {
		s.say("taro", "hello")
		time.Sleep(time.Minute)
		s.mu.Lock()
		s.actors["aya"], s.actors["kyoko"] = wants_("aya", 5), wants_("kyoko", 9)
		s.mu.Unlock()
		s.cast()
		if d := s.decisions(); len(d) == 0 || d[0].Speaker != "kyoko" {
			t.Errorf("the first round did not ask everybody: %+v", d)
		}
	})
}

// TestScenesOfManyAreBounded: in a room of hundreds a scene shows so many members,
// among them the companion itself and the speaker.
func TestScenesOfManyAreBounded(t *testing.T) {
	var mu sync.Mutex
	asked, wrong := 0, ""
	look := func(id string) func(context.Context, abi.Scene) (abi.Vote, error) {
		return func(_ context.Context, s abi.Scene) (abi.Vote, error) {
			mu.Lock()
			defer mu.Unlock()
			asked++
			named := func(who string) bool {
				return slices.ContainsFunc(s.Members, func(m abi.Member) bool { return m.ID == who })
			}
			if len(s.Members) > abi.MaxMembers || !named(id) || !named("zoe") {
				wrong = fmt.Sprintf("%s is shown %d members, itself %v, the speaker %v", id, len(s.Members), named(id), named("zoe"))
			}
			return abi.Vote{State: abi.Listen}, nil
		}
	}
	var many []*actor
	for i := range 2 * abi.MaxMembers {
		a := &actor{id: fmt.Sprintf("a%03d", i)}
		a.vote = look(a.id)
		many = append(many, a)
	}
	play(t, testRules, many, func(s *stage) {
		s.say("zoe", "hello, all of you")
		synctest.Wait()
	})
	if wrong != "" || asked != len(many) {
		t.Errorf("%d were asked; %s", asked, wrong)
	}
}

func TestOneCompanionAlone(t *testing.T) {
	rules := testRules
	rules.Silence = 4000
	play(t, rules, []*actor{wants_("aya", 5)}, func(s *stage) {
		s.say("taro", "hello")
		time.Sleep(time.Minute)
		ds := s.decisions()
		if got := s.texts(); len(got) != 2 || len(ds) != 2 || ds[1].Outcome != entry.OutcomeSilence {
			t.Errorf("%q, %+v", got, ds)
		}
		if i := s.room.Info(); i.State != "resting" {
			t.Errorf("state %q", i.State)
		}
	})
}

func TestTalkMovesTowardsItsEnd(t *testing.T) {
	bye := func(id string) *actor {
		a := wants_(id, 5)
		a.vote = func(context.Context, abi.Scene) (abi.Vote, error) {
			return abi.Vote{State: abi.Speak, Importance: 5, Closing: abi.ClosingTerminal}, nil
		}
		return a
	}
	play(t, testRules, []*actor{bye("aya"), bye("kyoko")}, func(s *stage) {
		s.say("taro", "hello")
		time.Sleep(time.Minute)
		moves := bodies[entry.ClosingMoved](t, s.entries(), entry.KindClosing)
		if len(moves) != 3 || moves[2].To != abi.ClosingTerminal {
			t.Errorf("closing moved %+v", moves)
		}
		for _, e := range s.entries() {
			if e.Kind == entry.KindClosing {
				if w, err := s.room.Why(t.Context(), e.Seq); err != nil || !strings.Contains(w.Text, decode[entry.ClosingMoved](e).By+" wished to end it") {
					t.Errorf("why %d: %q, %v", e.Seq, w.Text, err)
				}
			}
		}
		if i := s.room.Info(); i.State != "closed" {
			t.Errorf("state %q", i.State)
		}
	})
}

// TestWhoeverSayTheSameComeToAnEnd: three that never wish to end say one sentence again and
// again. The room ends their talk, long before the cap; others have theirs up to the cap.
func TestWhoeverSayTheSameComeToAnEnd(t *testing.T) {
	rules := testRules
	rules.MaxTurns = 24
	parrot := func(id string) *actor {
		a := wants_(id, 5)
		a.speak = func(context.Context, abi.Scene) (abi.Line, error) {
			return abi.Line{Text: "それではまた明日お会いしましょう！"}, nil
		}
		return a
	}
	play(t, rules, []*actor{parrot("aya"), parrot("kyoko"), parrot("natsumi")}, func(s *stage) {
		s.say("taro", "hello")
		time.Sleep(time.Minute)
		moves := bodies[entry.ClosingMoved](t, s.entries(), entry.KindClosing)
		if n := len(s.texts()) - 1; n > 5 || len(moves) != 3 || moves[2].To != abi.ClosingTerminal || s.room.Info().State != "closed" {
			t.Errorf("%d lines, state %q, closing moved %+v", n, s.room.Info().State, moves)
		}
		s.whyItGoesInCircles()
	})
	rules.MaxTurns = len(chatter)
	n := 0
	speaks := func(context.Context, abi.Scene) (abi.Line, error) {
		n++
		return abi.Line{Text: chatter[n%len(chatter)]}, nil
	}
	aya, kyoko := wants_("aya", 5), wants_("kyoko", 5)
	aya.speak, kyoko.speak = speaks, speaks
	play(t, rules, []*actor{aya, kyoko}, func(s *stage) {
		s.say("taro", "hello")
		time.Sleep(time.Minute)
		if moves := bodies[entry.ClosingMoved](t, s.entries(), entry.KindClosing); len(moves) != 0 || s.room.Info().State != "capped" {
			t.Errorf("%q, state %q: closing moved %+v", s.texts(), s.room.Info().State, moves)
		}
	})
}

// whyItGoesInCircles looks whether each move towards the end of a talk, and its end, are
// explained by the lines that are alike.
func (s *stage) whyItGoesInCircles() {
	s.t.Helper()
	last, ends := "", 0
	for _, e := range s.entries() {
		w, err := s.room.Why(s.t.Context(), e.Seq)
		switch e.Kind {
		case entry.KindClosing:
			b, said := decode[entry.ClosingMoved](e), decode[entry.Said](s.entries()[e.Seq-2])
			if b.Like == 0 || b.Like != said.Like || said.From != b.By {
				s.t.Errorf("closing %+v behind %+v", b, said)
			}
			last = fmt.Sprintf("the lines go round in circles: %d says much the same as %d", e.Seq-1, said.Like)
			if err != nil || !strings.Contains(w.Text, last) || w.Message == nil || w.Message.Seq != e.Seq-1 || w.Decision.Speaker != b.By {
				s.t.Errorf("why %d: %q, %v", e.Seq, w.Text, err)
			}
		case entry.KindDecision:
			if w.Decision.Outcome == entry.OutcomeClosed {
				ends++
				if !strings.Contains(w.Text, last) {
					s.t.Errorf("why %d: %q", e.Seq, w.Text)
				}
			} else if strings.Contains(w.Text, "circles") {
				s.t.Errorf("why %d: %q", e.Seq, w.Text)
			}
		}
	}
	if ends == 0 {
		s.t.Error("the talk is not closed")
	}
}

func TestSnapshotAndJournalGiveOneState(t *testing.T) {
	long := testRules
	long.MaxTurns = 200
	actors := []*actor{wants_("aya", 5), wants_("kyoko", 5), wants_("natsumi", 5)}
	for _, a := range actors { // lines that are not alike
		n := 0
		a.speak = func(context.Context, abi.Scene) (abi.Line, error) {
			n++
			return abi.Line{Text: fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, a.id, n)))}, nil
		}
	}
	play(t, long, actors, func(s *stage) {
		s.say("taro", "hello")
		time.Sleep(time.Minute)
		seq, blob, _ := s.journal.GetSnapshot(s.t.Context(), "main")
		if seq < loop.SnapshotEvery {
			t.Fatalf("no snapshot after %d entries", len(s.entries()))
		}
		fromSnap, err := fold.Decode(blob)
		if err != nil {
			t.Fatal(err)
		}
		whole := fold.New()
		for _, e := range s.entries() {
			if err := whole.Apply(e); err != nil {
				t.Fatal(err)
			}
			if e.Seq > seq {
				if err := fromSnap.Apply(e); err != nil {
					t.Fatal(err)
				}
			}
		}
		a, b := asJSON(t, whole), asJSON(t, fromSnap)
		if a != b {
			t.Errorf("states differ:\n%s\n%s", a, b)
		}
	})
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
