// Package glance is a room as it looks from outside: how it is to be, and what it shows
// of itself at a glance, asleep or awake.
//
// It never changes a room: it reads its state and its journal.
package glance

import (
	"context"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/turn"
)

// Asleep gives a room that sleeps at a glance: its state is folded from the
// journal, which stays as it is. cast are the companions that are loaded now, nil where
// that is not known yet. It is good for as long as the room sleeps and cast is loaded.
func Asleep(ctx context.Context, j journal.Journal, set Settings, cast []entry.Joined) (*Board, error) {
	s, _, err := reader.Fold(ctx, j, set.Name)
	if err != nil {
		return nil, journal.Coded(err)
	}
	s.Cast = slices.DeleteFunc(s.Cast, func(m entry.Joined) bool { return m.Kind == abi.KindCompanion })
	for _, c := range cast {
		if set.Lives(c.ID) {
			s.Cast = append(s.Cast, c)
		}
	}
	slices.SortFunc(s.Cast, func(a, b entry.Joined) int { return strings.Compare(a.ID, b.ID) })
	set.Rules.Version = fold.Version
	s.Assume(set.Rules)
	b := new(Board)
	b.Show(set, s, s.Head, s.Members(), cast != nil, nil)
	return b, nil
}

// infoOf gives a room in a state at a glance; known says whether it is known which
// companions are loaded.
func infoOf(set Settings, s *fold.State, members []abi.Member, known bool) rooms.Info {
	i := rooms.Info{
		Name: set.Name, Last: s.Last.Seq, Policy: set.Rules.Policy, Closing: s.Stage,
		Turns: s.Turns, MaxTurns: s.Rules.MaxTurns, Members: members, Muted: s.Muted, State: s.Condition(), Counts: map[string]int{},
		FreeTurns: s.PaysTurns(), Terms: s.Terms(), Waiting: s.WaitsFor(), Loading: !known && len(set.Companions) > 0,
	}
	if c := s.Life.Conversation; c != nil {
		now := c.Clone()
		i.Conversation = &now
	}
	if s.Sounds() {
		i.Heard = s.Playing.Who
	}
	if s.Floor != nil {
		grant := s.Floor.Grant
		i.Floor, i.Grant = s.Floor.Who, &grant
	}
	if s.Round != nil {
		i.Round = openRound(s.Round)
	}
	switch set = set.In(s); {
	case set.Closed:
		i.State = "archived"
	case set.Unknown != "":
		i.State, i.Error = "unjudged", set.Unknown
	}
	return i
}

// openRound shows a round to agents that are to vote in it.
func openRound(round *turn.Round) *rooms.OpenRound {
	o := &rooms.OpenRound{ID: round.ID, About: round.About, Due: round.Due, Awaits: []string{}, Addressed: append([]string{}, round.Addressed...)}
	for _, v := range round.Electorate {
		if round.Awaits(v.ID) {
			o.Awaits = append(o.Awaits, v.ID)
		}
	}
	return o
}
