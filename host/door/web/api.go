package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/web/conversations"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/rooms"
)

type door struct{ cfg Config }

// InRoom is the input of every operation in a room. Its name is upper case
// because huma passes over embedded fields that are not.
type InRoom struct {
	Room string `path:"room" doc:"The room's name." example:"main"`
}

func (in InRoom) name() string { return in.Room }

// listing is the input of every listing.
type listing struct {
	InRoom
	Since uint64 `query:"since" maximum:"9007199254740991" doc:"Only what has a greater seq."`
	Limit int    `query:"limit" default:"100" minimum:"1" maximum:"1000" doc:"At most so many."`
}

type body[T any] struct{ Body T }

type (
	sayIn struct {
		InRoom
		Body sayBody
	}
	sayBody struct {
		From   string   `json:"from,omitempty" doc:"Who speaks: a human's name, not that of anybody who lives in the house. With a token it is the token's name, and may be left out." example:"mika"`
		Text   string   `json:"text" doc:"What is said, at most 16 KiB." example:"こんばんは"`
		To     []string `json:"to,omitempty" nullable:"true" doc:"Whom it is said to; nobody in particular when left out."`
		ID     string   `json:"id,omitempty" doc:"Makes it safe to send again: the same id gives the message that was recorded first."`
		Source string   `json:"source,omitempty" doc:"\"chat\" for what was read in a stream's chat: it ends nobody's line unless it calls whoever speaks."`
	}
	sayOut struct {
		Seq uint64 `json:"seq" doc:"The message's place in the room's journal."`
		ID  string `json:"id" doc:"The message's id."`
	}
	messagesOut struct {
		Messages []abi.Message `json:"messages" doc:"Oldest first."`
		Head     uint64        `json:"head" doc:"The seq of the newest entry in the room."`
	}
	entriesOut struct {
		Entries []entry.Entry `json:"entries" doc:"Oldest first; the shape of a body goes by kind, see docs/ENTRIES.md."`
		Head    uint64        `json:"head" doc:"The seq of the newest entry in the room."`
	}
	whyIn struct {
		InRoom
		Seq uint64 `path:"seq" minimum:"1" maximum:"9007199254740991" doc:"A message, a decision or a round."`
	}
	stopIn struct {
		InRoom
		Body *stopBody
	}
	stopBody struct {
		From string `json:"from,omitempty" doc:"Who says stop; guest when left out." example:"mika"`
	}
	muteIn struct {
		InRoom
		Body struct {
			From      string `json:"from,omitempty" doc:"Who mutes it; guest when left out." example:"mika"`
			Companion string `json:"companion" doc:"Its id." example:"aya"`
			Muted     *bool  `json:"muted,omitempty" doc:"false lets it speak again; true when left out."`
		}
	}
	muteOut struct {
		Muted []string `json:"muted" doc:"Those who are not to speak in the room now."`
	}
	stopOut struct {
		Seq uint64 `json:"seq" doc:"The stop's place in the room's journal."`
	}
)

// maxBody bounds a body here: abi.MaxText, every byte of it escaped, and names.
const maxBody = 256 << 10

// guest is who says stop, or sends a perception, without giving a name.
const guest = "guest"

func register(api huma.API, d *door) {
	add(api, identity.Talk, d.say, http.MethodPost, "/v1/rooms/{room}/messages", "say", "Say something in a room", http.StatusCreated)
	add(api, identity.Read, inRoom(d, messages), http.MethodGet, "/v1/rooms/{room}/messages", "list-messages", "Read what was said", http.StatusOK)
	add(api, identity.Read, inRoom(d, entries), http.MethodGet, "/v1/rooms/{room}/entries", "list-entries", "Read everything that happened", http.StatusOK)
	add(api, identity.Read, inRoom(d, why), http.MethodGet, "/v1/rooms/{room}/entries/{seq}/why", "why", "Ask why somebody spoke, or nobody did", http.StatusOK)
	add(api, identity.Talk, d.stop, http.MethodPost, "/v1/rooms/{room}/stop", "stop", "Take the floor from whoever has it", http.StatusOK)
	add(api, identity.Talk, d.mute, http.MethodPost, "/v1/rooms/{room}/mute", "mute", "Have a companion not speak, or speak again", http.StatusOK)
	registerRooms(api, d)
	add(api, identity.Read, d.companions, http.MethodGet, "/v1/companions", "list-companions", "List the companions and how they are", http.StatusOK)
	add(api, identity.Read, d.version, http.MethodGet, "/v1/version", "version", "Ask what is running", http.StatusOK)
	registerSenses(api, d)
}

// add adds an operation whose answer is a body and nothing else.
func add[I, O any](api huma.API, scope identity.Scope, h func(context.Context, *I) (O, error), method, path, id, summary string, status int) {
	addAs(api, scope, func(ctx context.Context, in *I) (*body[O], error) {
		out, err := h(ctx, in)
		return &body[O]{out}, err
	}, operation(api, method, path, id, summary, status))
}

// inRoom is the handler of an operation in a room, which is found for it.
func inRoom[I interface{ name() string }, O any](d *door, h func(context.Context, rooms.Room, I) (O, error)) func(context.Context, *I) (O, error) {
	return func(ctx context.Context, in *I) (out O, err error) {
		talk, err := d.cfg.Rooms.Room(ctx, (*in).name())
		if err != nil {
			return out, err
		}
		if err := conversations.MayRead(ctx, talk); err != nil {
			return out, conversations.Refusal(err)
		}
		return h(ctx, talk, *in)
	}
}

func operation(api huma.API, method, path, id, summary string, status int) huma.Operation {
	return huma.Operation{
		OperationID: id, Method: method, Path: path, Summary: summary, DefaultStatus: status,
		// The guard has read the body already, under a deadline that must not
		// be set again: a slow room would be cut off by it.
		BodyReadTimeout: -1, MaxBodyBytes: maxBody,
		Responses: map[string]*huma.Response{"default": problemResponse(api)},
	}
}

// addAs adds an operation. An empty scope is for the handler to ask about.
func addAs[I, O any](api huma.API, scope identity.Scope, h func(context.Context, *I) (*O, error), op huma.Operation) {
	huma.Register(api, op, func(ctx context.Context, in *I) (*O, error) {
		if scope != "" {
			if err := identity.Of(ctx).May(scope); err != nil {
				return nil, guard.DetailsOf(err)
			}
		}
		out, err := h(ctx, in)
		if err != nil {
			return nil, refusal(err)
		}
		return out, nil
	})
}

func (d *door) say(ctx context.Context, in *sayIn) (out sayOut, err error) {
	b := in.Body
	from, kind, err := identity.Of(ctx).From(b.From, abi.KindHuman)
	if err != nil {
		return out, inBody(err)
	}
	// The room checks them too. Here all mistakes are told at once, and wake no room.
	if err := inBody(abi.CheckName("from", from), abi.CheckText("text", b.Text), checkTo(b.To), checkID(b.ID), rooms.CheckSource(b.Source)); err != nil {
		return out, err
	}
	talk, err := d.cfg.Rooms.Room(ctx, in.Room)
	if err != nil {
		return out, err
	}
	m, err := talk.Say(ctx, rooms.Utterance{ID: b.ID, From: from, By: kind, To: b.To, Text: b.Text, Source: b.Source})
	return sayOut{m.Seq, m.ID}, err
}

func checkTo(to []string) error {
	if len(to) > abi.MaxTo {
		return abi.Field("to", abi.CodeTooLarge, "%d names, at most %d", len(to), abi.MaxTo)
	}
	for i, name := range to {
		if err := abi.CheckName(fmt.Sprintf("to[%d]", i), name); err != nil {
			return err
		}
	}
	return nil
}

func checkID(id string) error {
	if len(id) > abi.MaxName {
		return abi.Field("id", abi.CodeTooLarge, "%d bytes, at most %d", len(id), abi.MaxName)
	}
	return nil
}

func messages(ctx context.Context, talk rooms.Room, in listing) (messagesOut, error) {
	ms, head, err := talk.Messages(ctx, in.Since, in.Limit)
	return messagesOut{list(ms), head}, err
}

func entries(ctx context.Context, talk rooms.Room, in listing) (entriesOut, error) {
	es, head, err := talk.Entries(ctx, in.Since, in.Limit)
	return entriesOut{list(es), head}, err
}

func why(ctx context.Context, talk rooms.Room, in whyIn) (reader.Why, error) {
	w, err := talk.Why(ctx, in.Seq)
	w.Decision.Ranking = list(w.Decision.Ranking)
	return w, err
}

func (d *door) stop(ctx context.Context, in *stopIn) (out stopOut, err error) {
	claimed := ""
	if in.Body != nil {
		claimed = in.Body.From
	}
	from, err := stopper(identity.Of(ctx), claimed)
	if err != nil {
		return out, inBody(err)
	}
	talk, err := d.cfg.Rooms.Room(ctx, in.Room)
	if err != nil {
		return out, err
	}
	out.Seq, err = talk.Stop(ctx, from)
	return out, err
}

func (d *door) mute(ctx context.Context, in *muteIn) (out muteOut, err error) {
	from, err := stopper(identity.Of(ctx), in.Body.From)
	if err != nil {
		return out, inBody(err)
	}
	talk, err := d.cfg.Rooms.Room(ctx, in.Room)
	if err != nil {
		return out, err
	}
	if err := talk.Mute(ctx, from, in.Body.Companion, in.Body.Muted == nil || *in.Body.Muted); err != nil {
		return out, inBody(err)
	}
	out.Muted = list(talk.Info().Muted)
	return out, nil
}

// stopper gives who says stop, or mutes. Only people may: an agent has nothing to take the
// floor from others with. A name that cannot be the caller's is no reason to go on
// talking: then somebody says it.
func stopper(caller identity.Caller, claimed string) (string, error) {
	if claimed == "" && caller.Guest {
		claimed = guest
	}
	from, kind, err := caller.From(claimed, abi.KindHuman)
	switch {
	case caller.Guest:
		return from, nil // "" where it is not the guest's
	case err != nil:
		from, kind = caller.Name, caller.Kind
	}
	if kind != abi.KindHuman {
		return "", abi.Field("from", abi.CodeDenied, "%s is an agent; only people say stop", from)
	}
	return from, nil
}

func (d *door) companions(context.Context, *struct{}) ([]Companion, error) {
	return list(d.cfg.Companions()), nil
}

func (d *door) lives(id string) bool {
	return slices.ContainsFunc(d.cfg.Companions(), func(c Companion) bool { return c.ID == id })
}

func (d *door) version(context.Context, *struct{}) (Version, error) { return d.cfg.Version, nil }

// list makes nil an empty list, so that clients never see null.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
