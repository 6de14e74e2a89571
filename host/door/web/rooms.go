package web

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

// Rooms that come and go while the daemon runs.

type (
	roomsIn struct {
		After string `query:"after" doc:"Only rooms whose name comes after this one; next of the page before."`
		Limit int    `query:"limit" default:"100" minimum:"1" maximum:"1000" doc:"At most so many."`
	}
	roomsOut struct {
		Rooms []rooms.Info `json:"rooms" doc:"By name."`
		Next  string       `json:"next,omitempty" doc:"There are more: ask for those after this name."`
	}
	openIn struct{ Body map[string]any }
	roomIn struct{ InRoom }
)

// RoomKey is a setting that a room may be opened with.
type RoomKey struct{ Name, Doc string }

func registerRooms(api huma.API, d *door) {
	add(api, identity.Read, d.rooms, http.MethodGet, "/v1/rooms", "list-rooms", "List the rooms", http.StatusOK)
	add(api, identity.Read, inRoom(d, oneRoom), http.MethodGet, "/v1/rooms/{room}", "get-room", "Look at a room", http.StatusOK)
	open := operation(api, http.MethodPost, "/v1/rooms", "open-room", "Open a room", http.StatusCreated)
	open.Description = "A name and the keys of [room.NAME] in companiond.toml. Needs the scope act; how many rooms one caller may have is door.max_rooms. One of the caller's own that was closed is opened again, with its history."
	addAs(api, identity.Act, d.openRoom, open)
	shut := operation(api, http.MethodDelete, "/v1/rooms/{room}", "close-room", "Close a room", http.StatusNoContent)
	shut.Description = "Nobody talks there any more; its messages can still be read. Needs the scope act for a room that the caller opened, admin for any. A room of the configuration is not closed here."
	addAs(api, identity.Act, d.closeRoom, shut)
}

// describeRooms says what a room may be opened with.
func describeRooms(doc *huma.OpenAPI, keys []RoomKey) {
	s := &huma.Schema{Type: huma.TypeObject, Required: []string{"name"}, AdditionalProperties: false, Properties: map[string]*huma.Schema{
		"name": {Type: huma.TypeString, Description: "Letters and digits of any script, '_', '-' and '.'.", Examples: []any{"living-room"}},
	}}
	for _, k := range keys {
		s.Properties[k.Name] = &huma.Schema{Description: k.Doc}
	}
	doc.Paths["/v1/rooms"].Post.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: s}}}
}

func (d *door) rooms(ctx context.Context, in *roomsIn) (out roomsOut, err error) {
	rooms, err := d.cfg.Rooms.List(ctx, in.After, in.Limit+1)
	out.Rooms = rooms
	if len(rooms) > in.Limit {
		out.Rooms = rooms[:in.Limit]
		out.Next = out.Rooms[in.Limit-1].Name
	}
	for i := range out.Rooms {
		shape(&out.Rooms[i])
	}
	out.Rooms = list(out.Rooms)
	return out, err
}

func oneRoom(_ context.Context, talk rooms.Room, _ roomIn) (rooms.Info, error) {
	info := talk.Info()
	shape(&info)
	return info, nil
}

// shape leaves no null in a room.
func shape(i *rooms.Info) {
	i.Members = list(i.Members)
	if i.Counts == nil {
		i.Counts = map[string]int{}
	}
}

// owner gives whose a room is that a caller opens.
func owner(c identity.Caller) rooms.Owner {
	o := rooms.Owner{Name: c.Name, Admin: c.May(identity.Admin) == nil}
	if c.Guest {
		o.Name = rooms.Guests
	}
	return o
}

func (d *door) openRoom(ctx context.Context, in *openIn) (*body[rooms.Info], error) {
	name, isText := in.Body["name"].(string)
	if _, given := in.Body["name"]; !given {
		return nil, inBody(abi.Field("name", abi.CodeInvalid, "is missing"))
	} else if !isText {
		return nil, inBody(abi.Field("name", abi.CodeInvalid, "must be a text"))
	}
	delete(in.Body, "name")
	settings, err := json.Marshal(in.Body)
	if err != nil {
		return nil, err
	}
	info, err := d.cfg.Rooms.Open(ctx, rooms.Opening{Name: name, By: owner(identity.Of(ctx)), Settings: settings})
	if err != nil {
		key := abi.AsError(err).Field
		if _, given := in.Body[key]; given || key == "name" {
			return nil, inBody(err)
		}
		return nil, err
	}
	shape(&info)
	return &body[rooms.Info]{info}, nil
}

func (d *door) closeRoom(ctx context.Context, in *roomIn) (*struct{}, error) {
	return nil, d.cfg.Rooms.Archive(ctx, in.Room, owner(identity.Of(ctx)))
}
