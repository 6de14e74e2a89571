package turn

import (
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

func box(id uint64) *Round {
	return Open(id, entry.Round{About: 1, Electorate: []string{"a", "b"}}, Voter{ID: "taro", Kind: abi.KindHuman}, nil)
}

func ballotOf(round uint64, who string, state abi.State) entry.Voted {
	return entry.Voted{Round: round, Voter: who, Vote: abi.Vote{State: state}}
}

// TestSupersededRounds: their votes stand until the voter answers anew, whenever they come.
func TestSupersededRounds(t *testing.T) {
	var s Series
	s.Begin(box(2), noon)
	s.Vote(ballotOf(2, "a", abi.Speak), false)
	s.Supersede()
	if s.Round != nil || !s.Takes(2) && s.Held == nil {
		t.Fatalf("%+v", s)
	}
	s.Begin(box(3), noon.Add(time.Second))
	s.Vote(ballotOf(2, "b", abi.Speak), false) // it was on its way
	if a, b := s.Round.Ballots["a"], s.Round.Ballots["b"]; !a.Carried || !b.Carried || !s.Takes(2) || s.Takes(1) || !s.Since.Equal(noon) {
		t.Errorf("%+v", s.Round.Ballots)
	}
}

// TestLateVotes: a round that came to nothing is asked again for whoever wants to speak, or
// for any vote where nobody could give one.
func TestLateVotes(t *testing.T) {
	for _, c := range []struct {
		state        abi.State
		absent, want bool
	}{{abi.Speak, false, true}, {abi.Listen, false, false}, {abi.Listen, true, true}} {
		var s Series
		s.Begin(box(2), noon)
		s.KeepLate()
		if s.Round != nil || !s.Takes(2) {
			t.Fatalf("%+v", s)
		}
		if got := s.Vote(ballotOf(2, "a", c.state), c.absent); got != c.want || s.Keeps != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	var s Series
	s.Begin(box(2), noon)
	s.Vote(ballotOf(2, "a", abi.Listen), false)
	s.NoVote(entry.Failed{Round: 2, Who: "b", Error: "broke down"})
	if s.KeepLate(); s.Takes(2) {
		t.Error("everybody had answered")
	}
}

// TestPastVotes: who voted too late for a round that was decided has its wish in the next; who
// did not wish has not, nor has anybody a second vote.
func TestPastVotes(t *testing.T) {
	var s Series
	s.Begin(box(2), noon)
	s.Vote(ballotOf(2, "a", abi.Listen), false)
	s.KeepPast()
	s.Round = nil
	s.Vote(ballotOf(2, "a", abi.Speak), false)
	s.Vote(ballotOf(2, "b", abi.Speak), false)
	s.Begin(box(5), noon)
	if _, ok := s.Round.Ballots["a"]; ok || !s.Round.Ballots["b"].Carried {
		t.Errorf("%+v", s.Round.Ballots)
	}
}
