package socket_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/force"
	"github.com/companiond/companiond/host/rooms"
)

// faulted reads a diagnostic, whose text has the words.
func (g *arcadeGame) faulted(rule force.Rule, words string) {
	g.s.Helper()
	data := g.gets("companiond/diagnostic")
	if text, _ := data["message"].(string); data["rule"] != string(rule) || !strings.Contains(text, words) {
		g.s.Errorf("diagnosed %v, want %s with %q", data, rule, words)
	}
}

// TestForcesAfterAStop: a force is given up with its reason, one that came before the STOP and one
// that comes after it; a person who speaks again has nobody asked for either.
func TestForcesAfterAStop(t *testing.T) {
	onArcade(t, func(s *arcade) {
		g := s.game("chess", "?diagnostics=1")
		g.starts("pass")
		s.next("pass")
		g.forces(`"pass"`)
		id := g.gets("action")["id"]
		if _, err := s.room.Stop(s.Context(), "mika"); err != nil {
			t.Fatal(err)
		}
		g.faulted(force.ForceGivenUp, "mika said STOP")
		g.result(id, false, "too late")
		g.forces(`"pass"`)
		g.faulted(force.ForceGivenUp, "mika said STOP")
		asked := len(s.askings())
		if _, err := s.room.Say(s.Context(), rooms.Utterance{From: "hana", By: abi.KindHuman, Text: "Go on."}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := len(s.askings()); n != asked || asked != 1 {
			t.Errorf("she was asked %d times, and then %d", asked, n)
		}
		s.next("pass")
		g.forces(`"pass"`)
		if a := g.gets("action"); a["name"] != "pass" {
			t.Errorf("it gets %v", a)
		}
	})
}

// TestWhyAForceWasNotAnswered: the game is told what kept the companion from it.
func TestWhyAForceWasNotAnswered(t *testing.T) {
	onArcade(t, func(s *arcade) {
		g := s.game("chess", "?diagnostics=1")
		g.starts("pass")
		s.room.Leave("nikoni")
		synctest.Wait()
		g.forces(`"pass"`)
		g.faulted(force.ForceSilence, `"nikoni" is not in room`)
	})
}

// TestAGameThatStartedElsewhere: the connection before is superseded, also where it offered
// nothing, and is it no more when it says startup again.
func TestAGameThatStartedElsewhere(t *testing.T) {
	onArcade(t, func(s *arcade) {
		old, g := s.game("chess", "?diagnostics=1"), s.game("chess", "?diagnostics=1")
		old.says("startup", "")
		old.gets("startup")
		g.says("startup", "")
		g.gets("startup")
		old.faults(force.StartupElsewhere)
		old.offers("pass")
		old.faults(force.StartupElsewhere)
		old.forces(`"pass"`)
		old.faults(force.StartupElsewhere)
		other := s.game("go", "?diagnostics=1")
		other.starts("jump") // another game is none of this
		g.offers("pass")
		s.next("pass")
		g.forces(`"pass"`)
		if a := g.gets("action"); a["name"] != "pass" {
			t.Errorf("it gets %v", a)
		}
		old.says("startup", "")
		old.faults(force.StartupAgain)
		old.gets("startup")
		g.faults(force.ForceGone, force.StartupElsewhere)
		old.offers("pass")
		s.next("pass")
		old.forces(`"pass"`)
		if a := old.gets("action"); a["name"] != "pass" {
			t.Errorf("it gets %v", a)
		}
	})
}

// TestDisposableActions: a game takes an action back before it sends the result, as it is told to by
// the protocol's own documents. However often it does, that breaks no rule, and what does is
// still told in the log; so is a companion that plays nothing, which is no fault of the game's.
func TestDisposableActions(t *testing.T) {
	onArcade(t, func(s *arcade) {
		g := s.game("Tic Tac Toe", "?diagnostics=1")
		g.starts()
		g.faults(force.RegisterEmpty)
		turn := func(ok bool) {
			g.offers("pass")
			s.next("pass")
			g.forces(`"pass"`)
			id := g.gets("action")["id"]
			g.says("actions/unregister", `{"action_names":["pass"]}`)
			g.result(id, ok, "it was taken")
			time.Sleep(time.Second) // more than 64 messages a second are read later
		}
		for range 40 {
			turn(true)
		}
		if done := results(s.room); len(done) != 40 || slices.ContainsFunc(done, func(r entry.Done) bool { return !r.OK || r.Action != "pass" }) {
			t.Errorf("results: %+v", done)
		}
		if n := s.log.Count("broke a rule"); n != 1 {
			t.Errorf("%d rules are broken in the log:\n%s", n, &s.log)
		}
		turn(false)
		g.faulted(force.ForceGone, "it was taken")
		if n := len(s.askings()); n != 41 {
			t.Errorf("she was asked %d times", n)
		}
		for range 10 {
			g.offers("pass")
			g.forces(`"pass"`)
			for range force.MaxTries - 1 {
				g.faults(force.ForceSilence)
			}
			g.faults(force.ForceGivenUp)
			g.says("actions/unregister", `{"action_names":["pass"]}`)
		}
		s.send(g.c, "rubbish")
		g.faults(force.MessageRubbish)
		log := s.log.String()
		for _, want := range []string{
			`level=INFO msg="a companion did not do what a game forces" room=main companion=nikoni body=`, `rule=force/unanswered why="asked for once, of 4 times at most: no action was played"`,
			`level=INFO msg="a game broke a rule" room=main companion=nikoni body=`, "rule=message/rubbish",
		} {
			if !strings.Contains(log, want) {
				t.Errorf("the log has no %s", want)
			}
		}
		for line := range strings.Lines(log) {
			companions := strings.Contains(line, "rule=force/unanswered") || strings.Contains(line, "rule=force/given-up")
			if companions == strings.Contains(line, "a game broke a rule") || strings.Contains(line, "rule=message/rubbish") && !strings.Contains(line, "level=INFO") {
				t.Errorf("logged as %s", line)
			}
		}
		if n := strings.Count(log, "level=INFO"); n > 40 {
			t.Errorf("%d lines about one game", n)
		}
	})
}
