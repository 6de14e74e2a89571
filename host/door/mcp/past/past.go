// Package past is the tools by which agents use the history of rooms: turns by their numbers, drafts of what some of
// them are told as instead, a person's word on these, and forks. The names of the tools are seed D's.
//
// It decides nothing and drafts nothing: host/compress does. Whoever may talk has drafts verified and forks; what is
// verified is approved by people alone, and no argument says who calls. What others said and wrote stands in fields of its own and never
// in what to do next. It does not know the MCP SDK.
package past

import (
	"context"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/compress"
	"github.com/companiond/companiond/host/door/mcp/waits"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

// Compressing has turns compressed. *compress.Service implements it.
type Compressing interface {
	Propose(ctx context.Context, q compress.Request) (history.Proposal, error)
	Redraft(ctx context.Context, room, id, text, by string) (history.Proposal, error)
	Decide(ctx context.Context, room, id, by string, approve bool, why string) (history.Proposal, error)
	Revert(ctx context.Context, room, id, by, why string) (history.Proposal, error)
}

var _ Compressing = (*compress.Service)(nil)

// Config is what the tools stand on. All of it must be set.
type Config struct {
	Compressing Compressing
	Rooms       rooms.Directory
	// Room finds the room that a caller means, the usual one for an empty name, or says why it may not read it.
	Room func(ctx context.Context, name string) (rooms.Room, error)
	// Stopping ends when the daemon is about to: whoever waits is answered.
	Stopping context.Context
}

// Desk is the tools. Make it with New. Its methods may be called from many goroutines, and what they answer is to be
// encoded as JSON.
type Desk struct {
	Config
	waits *waits.Waits[string]
}

// most is how many calls may wait for a draft, or for a person.
const most = 64

// New makes it; nothing runs.
func New(c Config) *Desk { return &Desk{Config: c, waits: waits.Sized[string](most)} }

// Caller is who calls, and what its client can do.
type Caller struct {
	identity.Caller
	// Tell tells the client how far a call is; nil where it has not asked for that.
	Tell func(words string)
	// Ask has the person at the client answer; nil where it cannot. An error that it gives is the tool's.
	Ask func(ctx context.Context, q Question) (Answer, error)
}

// guest is the name of whoever has none.
const guest = "guest"

// name is under which a caller asks for something.
func (c Caller) name() string {
	if c.Guest {
		return guest
	}
	return c.Name
}

// person refuses whoever is none.
func (c Caller) person(does, where string) error {
	switch {
	case c.Guest:
		return abi.Errorf(abi.CodeDenied, "a person %s, and a guest of this door may be anybody: %s, or connect with a token of a person (companiond token NAME -kind human)", does, where)
	case c.Kind != abi.KindHuman:
		return abi.Errorf(abi.CodeDenied, "a person %s, and the token of %s is none of a person: %s", does, c.Name, where)
	}
	return nil
}

// where says where people do something with a proposal without a tool.
func (d *Desk) where(does, room, id string) string {
	words := "people do that on the page, or by companiond history " + does + " " + id
	if room != d.Rooms.Usual() {
		words += " -room " + room
	}
	return words
}

// found is a proposal in its room.
type found struct {
	talk rooms.Room
	p    history.Proposal
}

// find finds the proposal that a caller means: the only one in this state, where it names none.
func (d *Desk) find(ctx context.Context, room, id string, in history.State, none string) (f found, err error) {
	if f.talk, err = d.Room(ctx, room); err != nil {
		return f, err
	}
	book, err := f.talk.Book(ctx)
	if err != nil {
		return f, err
	}
	if id != "" {
		p := book.Get(id)
		if p == nil {
			return f, abi.Field("proposal", abi.CodeNotFound, "there is no %.64q in %s: leave it out where there is one alone, or take the proposal of create_verified_summary", id, f.talk.Name())
		}
		f.p = *p
		return f, nil
	}
	var all []history.Proposal
	for _, p := range book.Proposals {
		if p.State == in {
			all = append(all, p)
		}
	}
	switch len(all) {
	case 0:
		return f, abi.Field("proposal", abi.CodeNotFound, "%s in %s", none, f.talk.Name())
	case 1:
		f.p = all[0]
		return f, nil
	}
	return f, abi.Field("proposal", abi.CodeInvalid, "is missing, and there are %d: %s", len(all), listed(all))
}
