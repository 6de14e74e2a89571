package guide

import (
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/watch"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

// Listed bounds the lists of an About.
const Listed = 100

// About is what an agent that has nothing but tools wants to know: who it is, where, with
// whom, at which prices, and what to do now.
type About struct {
	You       You          `json:"you"`
	Room      Place        `json:"room"`
	Rooms     []string     `json:"rooms"`
	MoreRooms bool         `json:"more_rooms,omitempty"`
	Reason    watch.Reason `json:"reason,omitempty"` // of wait_for_turn, were it called now; empty where that would fail
	Unseen    int          `json:"unseen"`
	Now       Advice       `json:"now"`
	Grant     *watch.Grant `json:"grant,omitempty"`
	Round     *watch.Round `json:"round,omitempty"`
}

// You is who asks.
type You struct {
	Name   string              `json:"name,omitempty"` // under which it speaks; empty: it gave none
	Kind   abi.ParticipantKind `json:"kind"`
	Guest  bool                `json:"guest"`
	Scopes []identity.Scope    `json:"scopes"`
}

// Place is a room as who talks there wants to know it.
type Place struct {
	Name        string   `json:"name"`
	State       string   `json:"state"`
	Policy      string   `json:"policy"`
	NeedsFloor  bool     `json:"turns_need_floor"`
	Pool        *Pool    `json:"pool,omitempty"`
	Members     []Member `json:"members"`
	MoreMembers bool     `json:"more_members,omitempty"`
	Head        uint64   `json:"head"`
	Floor       string   `json:"floor,omitempty"`
	watch.Stage
	watch.Sound
}

// Member is somebody in a room.
type Member struct {
	ID   string              `json:"id"`
	Name string              `json:"name"`
	Kind abi.ParticipantKind `json:"kind"`
}

// Pool is a pool with its prices.
type Pool struct {
	Level   float64     `json:"level"`
	Size    float64     `json:"size"`
	Refill  float64     `json:"refill_seconds"`
	Pricing abi.Pricing `json:"pricing"`
	Prices  []abi.Price `json:"prices"`
	Reserve float64     `json:"reserve,omitempty"`
	Share   float64     `json:"share,omitempty"`
}

// Tell gives what somebody is told who asks: news is what wait_for_turn would answer it
// now, names the rooms by name.
func Tell(you You, news watch.News, info rooms.Info, names []string) About {
	return About{
		You: you, Room: placeOf(info, news), Rooms: append([]string{}, names[:min(Listed, len(names))]...), MoreRooms: len(names) > Listed,
		Reason: news.Reason, Unseen: len(news.Messages), Now: Advise(you, news, info), Grant: news.Grant, Round: news.Round,
	}
}

func placeOf(info rooms.Info, news watch.News) Place {
	p := Place{
		Name: info.Name, State: info.State, Policy: info.Policy, NeedsFloor: !info.FreeTurns, Members: []Member{},
		MoreMembers: len(info.Members) > Listed, Head: info.Head, Floor: info.Floor, Stage: news.Stage, Sound: news.Sound,
	}
	for _, m := range info.Members[:min(Listed, len(info.Members))] {
		p.Members = append(p.Members, Member{m.ID, m.Name, m.Kind})
	}
	if t := info.Terms; t != nil && info.Pool != nil {
		p.Pool = &Pool{info.Pool.Level, t.Size, seconds(*t), t.Pricing, slices.Clone(t.Prices), t.Reserve, t.Share}
	}
	return p
}
