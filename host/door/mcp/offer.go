package mcp

import (
	"context"

	"github.com/companiond/companiond/host/door/mcp/tools"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

// addTools offers chat-relay's tools, those that it lacks (an agent waits for its turn, votes
// as a companion of the house does, and speaks with the grant it won), and about.
func (d *Door) addTools() {
	tool[statusIn]{Tool: tools.Status(), scope: identity.Read, run: d.status, quick: true}.add(d)
	tool[historyIn]{Tool: tools.History(), scope: identity.Read, run: d.history, quick: true}.add(d)
	tool[waitIn]{Tool: tools.WaitForTurn(), scope: identity.Talk, run: d.waitForTurn}.add(d)
	tool[voteIn]{Tool: tools.Vote(), scope: identity.Talk, run: d.vote, quick: true}.add(d)
	tool[aboutIn]{Tool: tools.About(), scope: identity.Read, run: d.about}.add(d)
	ctx := context.Background()
	if talk, err := d.cfg.Rooms.Room(ctx, d.cfg.Rooms.Usual()); err == nil {
		d.prices.Note(talk.Info())
	}
	infos, _ := d.cfg.Rooms.List(ctx, "", listed) // one that cannot be listed counts when it is used
	for _, info := range infos {
		d.prices.Note(info)
	}
	d.offerTerms()
}

// RoomOpened says that a room was opened, or one anew that was archived: the tools say
// what talking costs there. It waits for no client.
func (d *Door) RoomOpened(ctx context.Context, name string) {
	d.prices.Forget(name)
	if talk, err := d.cfg.Rooms.Room(ctx, name); err == nil {
		d.priced(talk.Info())
	}
}

// priced takes in what a room says of itself.
func (d *Door) priced(info rooms.Info) {
	if d.prices.Note(info) {
		d.offerTerms()
	}
}

// offerTerms offers the tools that speak, where they say something new.
func (d *Door) offerTerms() {
	d.telling.Lock()
	defer d.telling.Unlock()
	now := d.prices.Terms()
	if now == d.terms {
		return
	}
	d.terms = now
	tool[consumeIn]{Tool: tools.Consume(now), scope: identity.Talk, run: d.consume, quick: true}.add(d)
	tool[sayIn]{Tool: tools.Say(now), scope: identity.Talk, run: d.say, quick: true}.add(d)
}
