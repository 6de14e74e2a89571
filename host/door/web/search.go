package web

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/web/conversations"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/search"
)

// Searcher finds what was said. *search.Keeper implements it.
type Searcher interface {
	Search(ctx context.Context, a search.Ask) (search.Answer, error)
}

var _ Searcher = (*search.Keeper)(nil)

type (
	// Looked is what both searches take. Its name is upper case because huma passes over embedded
	// fields that are not.
	Looked struct {
		Q      string `query:"q" required:"true" maxLength:"512" doc:"Words with spaces between them: all of them stand in the message, also within others. What is in double quotes is one, with its spaces." example:"天気予報"`
		From   string `query:"from" doc:"Only what this one said."`
		Limit  int    `query:"limit" default:"20" minimum:"1" maximum:"100" doc:"At most so many."`
		Before uint64 `query:"before" maximum:"9007199254740991" doc:"next of the page before; in one room any seq."`
	}
	searchIn struct {
		InRoom
		Looked
		After uint64 `query:"after" maximum:"9007199254740991" doc:"Only messages with a greater seq."`
	}
	searchAllIn struct{ Looked }
	searchOut   struct {
		Hits   []searchHit `json:"hits" doc:"Newest first."`
		Next   uint64      `json:"next,omitempty" doc:"There may be more: ask with before for what comes behind these. A page may have fewer than limit, or none."`
		Behind bool        `json:"behind,omitempty" doc:"The index is being made: the newest messages are not found yet."`
	}
	searchHit struct {
		Room    string      `json:"room" doc:"Where it was said."`
		Message abi.Message `json:"message"`
		Turn    uint64      `json:"turn,omitempty" doc:"Its turn's number, which forks and compressions take; of a backchannel that of the turn before. Absent in what was said before turns were numbered."`
	}
)

func registerSearch(api huma.API, d *door) {
	add(api, identity.Read, inRoom(d, d.searchRoom), http.MethodGet, "/v1/rooms/{room}/search", "search-room", "Find what was said in a room, and in its past before it was forked", http.StatusOK)
	add(api, identity.Read, d.searchAll, http.MethodGet, "/v1/search", "search", "Find what was said in all rooms that the caller may read", http.StatusOK)
}

func (d *door) searchRoom(ctx context.Context, talk rooms.Room, in searchIn) (searchOut, error) {
	return d.search(ctx, search.Ask{Room: talk.Name(), After: in.After}, in.Looked)
}

func (d *door) searchAll(ctx context.Context, in *searchAllIn) (searchOut, error) {
	return d.search(ctx, search.Ask{May: func(room string) bool {
		talk, err := d.cfg.Rooms.Room(ctx, room)
		return err == nil && conversations.MayRead(ctx, talk) == nil
	}}, in.Looked)
}

func (d *door) search(ctx context.Context, a search.Ask, in Looked) (searchOut, error) {
	a.Query, a.From, a.Limit, a.Before = in.Q, in.From, in.Limit, in.Before
	found, err := d.cfg.Search.Search(ctx, a)
	if err != nil {
		return searchOut{}, inQuery(err)
	}
	out := searchOut{Hits: []searchHit{}, Next: found.Next, Behind: found.Behind}
	for _, h := range found.Hits {
		out.Hits = append(out.Hits, searchHit{h.Room, h.Message, h.Turn})
	}
	return out, nil
}

// inQuery says which parameter an error is about, where it is about one.
func inQuery(err error) error {
	e := abi.AsError(err)
	if e.Field != "q" && e.Field != "after" {
		return err
	}
	d := guard.DetailsOf(err)
	d.Errors = []guard.Field{{Location: "query." + e.Field, Message: e.Reason()}}
	d.Detail = sentence(d.Errors)
	return d
}
