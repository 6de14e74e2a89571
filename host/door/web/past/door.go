// Package past is the history of rooms over HTTP: turns by their numbers, as they were said and as they are
// told; proposals to tell some of them in fewer words, which a person approves, denies and reverts; forks.
// docs/HISTORY.md has all of it.
//
// Rights are here: whoever may read and talk may ask for a draft and fork, but only people approve, deny and
// revert, whatever the token of an agent is for. The package drafts and decides nothing itself.
package past

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/compress"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

// Compressing has turns compressed. *compress.Service implements it.
type Compressing interface {
	Propose(ctx context.Context, q compress.Request) (history.Proposal, error)
	Redraft(ctx context.Context, room, id, text, by string) (history.Proposal, error)
	TakeExtract(ctx context.Context, room, id, by string) (history.Proposal, error)
	Decide(ctx context.Context, room, id, by string, approve bool, why string) (history.Proposal, error)
	Revert(ctx context.Context, room, id, by, why string) (history.Proposal, error)
}

var _ Compressing = (*compress.Service)(nil)

// Config is what the door stands before. All of it must be set where something is asked.
type Config struct {
	Rooms       rooms.Directory
	Compressing Compressing
	// MayRead says why the caller may not read a room.
	MayRead func(ctx context.Context, talk rooms.Room) error
	// Owner gives whose a room is that the caller makes.
	Owner func(identity.Caller) rooms.Owner
}

// Operation makes an operation of the API as its other ones are, in problems and bounds.
type Operation func(method, path, id, summary string, status int) huma.Operation

type door struct{ cfg Config }

type body[T any] struct{ Body T }

// Register adds the operations to an API.
func Register(api huma.API, op Operation, cfg Config) {
	d := &door{cfg}
	const room, all, one = "/v1/rooms/{room}", "/v1/rooms/{room}/compressions", "/v1/rooms/{room}/compressions/{proposal}"
	add(api, identity.Read, d.turns, op(http.MethodGet, room+"/turns", "read-turns", "Read turns by their numbers", http.StatusOK),
		"As they are told to characters: turns that were compressed are one text. With original as they were said.")
	add(api, identity.Read, d.list, op(http.MethodGet, all, "list-compressions", "List what was asked to be compressed", http.StatusOK), "The newest first, those that are told so now among them.")
	add(api, identity.Talk, d.propose, op(http.MethodPost, all, "compress", "Ask for turns to be told in fewer words", http.StatusCreated),
		"A draft is made and verified, up to three times, and then waits for a person. With text that is verified alone. The answer comes before the draft, and before the verdict; look at the compression for how it stands.")
	add(api, identity.Read, d.one, op(http.MethodGet, one, "get-compression", "Look at one, with its drafts and the turns themselves", http.StatusOK), "")
	add(api, identity.Talk, d.redraft, op(http.MethodPost, one+"/drafts", "draft-compression", "Send a further draft of your own", http.StatusCreated),
		"Where a verifier refused the one before, three in all, of whoever asked for it with text. The answer comes before the verdict.")
	for name, does := range map[string]string{"approve": "Have turns told so from now on", "deny": "Leave turns as they are", "revert": "Have turns told as they were again"} {
		add(api, identity.Talk, d.decide(history.Kind(name)), op(http.MethodPost, one+"/"+name, name+"-compression", does, http.StatusOK), "For people: a token of an agent cannot.")
	}
	add(api, identity.Talk, d.extract, op(http.MethodPost, one+"/extract", "extract-compression", "Take a draft of the turns' own sentences", http.StatusOK),
		"Where all drafts were refused: one made without a model, which is verified and waits for a person like any other.")
	add(api, identity.Talk, d.fork, op(http.MethodPost, room+"/forks", "fork", "Make a room of the past of this one", http.StatusCreated),
		"Up to a turn. This room stays as it is.")
	add(api, identity.Read, d.branches, op(http.MethodGet, room+"/branches", "list-branches", "List the family of a room", http.StatusOK),
		"The room that all of them were forked of, and all its forks and theirs.")
	add(api, identity.Read, d.diff, op(http.MethodGet, room+"/diff", "diff-branches", "Compare two rooms of a family", http.StatusOK),
		"The turns of each behind the newest that both have.")
}

// add adds an operation whose answer is a body and nothing else. Each wants read besides its scope: what it answers has
// turns in it, or a way to them.
func add[I, O any](api huma.API, scope identity.Scope, h func(context.Context, *I) (O, error), op huma.Operation, doc string) {
	op.Description = doc
	where := places(reflect.TypeFor[I]())
	huma.Register(api, op, func(ctx context.Context, in *I) (*body[O], error) {
		err := identity.Of(ctx).May(identity.Read)
		if err == nil {
			err = identity.Of(ctx).May(scope)
		}
		var out O
		if err == nil {
			out, err = h(ctx, in)
		}
		if err != nil {
			return nil, refusal(err, where)
		}
		return &body[O]{out}, nil
	})
}

// places says where in a request the fields stand that errors name, by what huma reads there.
func places(in reflect.Type) map[string]string {
	all := map[string]string{}
	if in.Kind() == reflect.Pointer {
		in = in.Elem()
	}
	for f := range in.Fields() {
		if f.Name == "Body" {
			for name := range places(f.Type) {
				all[name] = "body." + name
			}
			continue
		}
		for _, tag := range []string{"path", "query", "json"} {
			if name, _, _ := strings.Cut(f.Tag.Get(tag), ","); name != "" {
				all[name] = tag + "." + name
			}
		}
	}
	return all
}

// refusal gives an error as this API answers it, with the place in the request that it is about. What is wrong with us has
// no place.
func refusal(err error, where map[string]string) error {
	d := *guard.DetailsOf(err)
	var e *abi.Error
	if d.Status < http.StatusInternalServerError && len(d.Errors) == 0 && errors.As(err, &e) && where[e.Field] != "" {
		d.Errors = []guard.Field{{Location: where[e.Field], Message: e.Reason()}}
	}
	return &d
}

// caller gives the name of whoever calls.
func caller(ctx context.Context) string {
	if c := identity.Of(ctx); !c.Guest {
		return c.Name
	}
	return identity.SomeGuest
}

// room finds a room that the caller may read.
func (d *door) room(ctx context.Context, name string) (rooms.Room, error) {
	talk, err := d.cfg.Rooms.Room(ctx, name)
	if err == nil {
		err = d.cfg.MayRead(ctx, talk)
	}
	return talk, err
}
