package mcp

import (
	"context"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/tools"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/search"
)

// Searcher finds what was said. *search.Keeper implements it.
type Searcher interface {
	Search(ctx context.Context, a search.Ask) (search.Answer, error)
}

// everywhere is the room of whoever searches in all.
const everywhere = "*"

type searchIn struct {
	From   string `json:"from"`
	Room   string `json:"room"`
	Query  string `json:"query"`
	By     string `json:"by"`
	Before uint64 `json:"before"`
	Limit  int    `json:"limit"`
}

type searchOut struct {
	Hits   []searchHit `json:"hits"`
	Next   uint64      `json:"next,omitempty"`
	Behind bool        `json:"behind,omitempty"`
}

type searchHit struct {
	Room    string          `json:"room"`
	Seq     uint64          `json:"seq"`
	Turn    uint64          `json:"turn,omitempty"`
	From    string          `json:"from"`
	Message string          `json:"message"`
	Kind    abi.MessageKind `json:"kind"`
	At      time.Time       `json:"at"`
	Cut     string          `json:"cut,omitempty"`
}

// addSearch offers the tool that finds what was said, where something does.
func (d *Door) addSearch() {
	if d.cfg.Search != nil {
		tool[searchIn]{Tool: tools.SearchHistory(), scope: identity.Read, run: d.search, quick: true}.add(d)
	}
}

func (d *Door) search(ctx context.Context, c call, in searchIn) (any, error) {
	a := search.Ask{Query: in.Query, From: in.By, Before: in.Before, Limit: in.Limit}
	if in.Room == everywhere {
		a.May = func(room string) bool {
			_, err := d.cfg.Rooms.Room(ctx, room)
			return err == nil
		}
	} else {
		talk, _, _, err := d.someone(ctx, c, in.Room, in.From)
		if err != nil {
			return nil, err
		}
		a.Room = talk.Name()
	}
	found, err := d.cfg.Search.Search(ctx, a)
	if err != nil {
		if e := abi.AsError(err); e.Field == "q" {
			return nil, abi.Field("query", e.Code, "%s", e.Reason())
		}
		return nil, err
	}
	out := searchOut{Hits: []searchHit{}, Next: found.Next, Behind: found.Behind}
	for _, h := range found.Hits {
		m := h.Message
		out.Hits = append(out.Hits, searchHit{h.Room, m.Seq, h.Turn, m.From, m.Text, m.Kind, m.At, string(m.Cut)})
	}
	return out, nil
}
