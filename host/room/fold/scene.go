package fold

import (
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/room/cast"
)

// Scene is what a companion is told to vote or to speak: what it is about, who is
// there, and how far the talk is. members are all of [State.Members].
func (s *State) Scene(who string, members []abi.Member, now time.Time) abi.Scene {
	var addressed []string
	if s.Round != nil {
		addressed = s.Round.Addressed
	} else if s.Floor != nil {
		addressed = s.Floor.Addressed
	}
	subject, by, _ := s.Subject()
	if !slices.ContainsFunc(members, func(m abi.Member) bool { return m.ID == subject.From }) && by == abi.KindHuman {
		members = append(slices.Clip(members), abi.Member{ID: subject.From, Kind: by}) // so many spoke since that it is forgotten
	}
	scene := abi.Scene{
		Message: subject, Addressed: slices.Contains(addressed, who), Members: cast.Shown(members, who, subject.From),
		Turns: s.Turns, MaxTurns: s.Rules.MaxTurns, Closing: s.Stage,
	}
	scene.Offers, scene.Told = s.OffersTo(who), s.ToldTo(who, 0)
	if f := s.Floor; f != nil && f.Who == who {
		for _, u := range s.Unanswered {
			if u.For(who, f.Basis) && u.Seq != subject.Seq {
				scene.Waiting = append(scene.Waiting, u.Message)
			}
		}
	}
	if b, ok := s.Budget(now); ok && (s.Floor == nil || s.PaysTurns()) {
		scene.Budget = &b
	}
	return scene
}

// Perceiving is what a companion is told to judge a perception.
func (s *State) Perceiving(who string, p abi.Percept, members []abi.Member, recent []abi.Message) abi.Perceiving {
	return abi.Perceiving{
		Perception: p, Message: s.Last, Members: cast.Shown(members, who, s.Last.From), Recent: recent,
		Turns: s.Turns, MaxTurns: s.Rules.MaxTurns, Closing: s.Stage,
		Offers: s.OffersTo(who), Told: s.ToldTo(who, p.Seq),
	}
}
