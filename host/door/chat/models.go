package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/rooms"
)

// model is a companion or a room as OpenAI's clients list it.
type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
	Name    string `json:"name"`
	Kind    string `json:"x_companiond_kind"` // companion or room
}

// roomPrefix is what the model of a room begins with; no name of a companion has a '/'.
const roomPrefix = "room/"

// maxRooms bounds how many rooms are listed.
const maxRooms = 1000

func companionModel(c Companion) model {
	m := model{ID: c.ID, Object: "model", OwnedBy: "companiond", Name: cmp.Or(c.Name, c.ID), Kind: "companion"}
	if !c.Since.IsZero() {
		m.Created = c.Since.Unix()
	}
	return m
}

func roomModel(name string) model {
	return model{ID: roomPrefix + name, Object: "model", OwnedBy: "companiond", Name: name, Kind: "room"}
}

// models lists the companions that live in a room, and the rooms that are open.
func (d *door) models(w http.ResponseWriter, r *http.Request) error {
	list := []model{}
	for _, c := range d.cfg.Companions() {
		if _, err := d.cfg.Rooms.Home(r.Context(), c.ID); err == nil {
			list = append(list, companionModel(c))
		}
	}
	all, err := d.cfg.Rooms.List(r.Context(), "", maxRooms)
	if err != nil {
		return err
	}
	for _, i := range all {
		if i.State != "archived" {
			list = append(list, roomModel(i.Name))
		}
	}
	return writeBody(w, map[string]any{"object": "list", "data": list})
}

func (d *door) model(w http.ResponseWriter, r *http.Request) error {
	to, err := d.target(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return writeBody(w, to.model)
}

func writeBody(w http.ResponseWriter, v any) error {
	body, err := json.Marshal(v)
	if err == nil {
		writeJSON(w, http.StatusOK, body)
	}
	return err
}

// target is whom a client talks to: a companion in its home, or a room.
type target struct {
	model     model
	companion string // empty: whoever answers
	talk      rooms.Room
}

// target finds a model. A room may be asked for by its bare name where no companion has
// that.
func (d *door) target(ctx context.Context, id string) (t target, err error) {
	all := d.cfg.Companions()
	if i := slices.IndexFunc(all, func(c Companion) bool { return c.ID == id }); i >= 0 {
		t.model, t.companion = companionModel(all[i]), id
		t.talk, err = d.cfg.Rooms.Home(ctx, id)
		if abi.CodeOf(err) == abi.CodeNotFound {
			err = unknownModel{abi.Field("model", abi.CodeNotFound, "%s lives in no room; name it in room.NAME.companions", id)}
		}
		return t, err
	}
	name := strings.TrimPrefix(id, roomPrefix)
	t.model = roomModel(name)
	t.talk, err = d.cfg.Rooms.Room(ctx, name)
	if c := abi.CodeOf(err); c == abi.CodeNotFound || c == abi.CodeInvalid {
		err = unknownModel{abi.Field("model", abi.CodeNotFound, "there is no companion and no room %.64q; GET /v1/models lists them", id)}
	}
	return t, err
}
