package neuro

import (
	"cmp"
	"time"

	"github.com/companiond/companiond/host/force"
)

// introduce notes the game's name. Whatever comes first is its start: those that come back after
// they were cut off do not say so.
func (g *Game) introduce(frames [][]byte, name string, c command) [][]byte {
	_, starts := c.(startup)
	if name == "" {
		frames = g.tell(frames, faultf(force.MessageGame, "game is missing"))
		name = cmp.Or(g.lent.Name(), "a game")
	}
	switch {
	case !g.begun && !starts:
		frames = g.tell(frames, faultf(force.StartupMissing, "the first message is no startup, and counts as one"))
		g.start(name)
	case !g.begun:
		g.start(name)
	case g.lent.Name() != name && !starts:
		frames = g.tell(frames, faultf(force.MessageGame, "it was %q before; connect once a game", g.lent.Name()))
	}
	g.begun = true
	return frames
}

// moved is what a connection is told whose game has started on another one.
const moved = "the game has started on another connection, and is there until it says startup here"

// start clears what the game offers, here and where it was connected before, where it is no more.
func (g *Game) start(name string) {
	g.desk.mu.Lock()
	g.moved = false
	var before []string
	for body, old := range g.desk.games {
		if old != g && !old.moved && old.Caller.Name == g.Caller.Name && old.lent.Name() == name {
			old.moved = true // before it loses its names: see register
			before = append(before, body)
		}
	}
	g.desk.mu.Unlock()
	g.lent.Start(name)
	g.desk.mu.Lock()
	defer g.desk.mu.Unlock()
	now := time.Now()
	for _, body := range before {
		steps := g.desk.machine.Clear(body, moved, now)
		g.desk.hand(append(steps, force.Fault{Body: body, Rule: force.StartupElsewhere, Text: moved}))
	}
	g.desk.hand(g.desk.machine.Clear(g.lent.ID(), "the game has started anew", now))
}

// away says whether the game has started on another connection since.
func (g *Game) away() bool {
	g.desk.mu.Lock()
	defer g.desk.mu.Unlock()
	return g.moved
}
