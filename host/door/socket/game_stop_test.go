package socket_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
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
