package socket

import (
	"context"
	"net/http"
	"sync"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/socket/neuro"
	"github.com/companiond/companiond/host/door/socket/query"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
)

// game is the dialect of a game of the Neuro SDK.
type game struct {
	*neuro.Game
	since uint64
}

// openGame finds the companion that a game plays with.
func (f *Feed) openGame(r *http.Request) (view, error) {
	caller, asks, companion := identity.Of(r.Context()), r.URL.Query(), r.PathValue("companion")
	if err := caller.May(identity.Act); err != nil {
		return view{}, err
	}
	if err := abi.CheckName("path.companion", companion); err != nil {
		return view{}, err
	}
	told, err := query.Flag(asks, "diagnostics", false)
	if err != nil {
		return view{}, err
	}
	anew, err := query.Flag(asks, "reregister", true)
	if err != nil {
		return view{}, err
	}
	talk, err := f.roomOf(r.Context(), companion, asks.Get("room"), asks.Has("room"))
	if err != nil {
		return view{}, err
	}
	if err := f.lives(talk, companion); err != nil {
		return view{}, err
	}
	_, head, err := talk.Entries(r.Context(), 0, 1)
	if err != nil {
		return view{}, err
	}
	g := f.games.Game(neuro.Guest{Room: talk, Companion: companion, Caller: caller, Told: told, Once: !anew})
	return view{talk: talk, since: head, limit: neuro.MaxMessage, dialect: &game{g, head}}, nil
}

// enter says in the room that the game is here.
func (g *game) enter() (leave func()) { return sync.OnceFunc(g.Enter()) }

// take implements dialect.
func (g *game) take(ctx context.Context, c *client, message []byte) (*view, error) {
	return nil, c.sendAll(g.Take(ctx, message))
}

// show implements alone.
func (g *game) show(c *client, e entry.Entry) error {
	frames, err := g.Show(e)
	if err != nil {
		return err
	}
	return c.sendAll(frames)
}

// beside implements dialect.
func (g *game) beside(ctx context.Context, c *client) *view {
	g.Run(ctx, g.since, c.send)
	return nil
}
