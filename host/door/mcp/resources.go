package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/cards"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/room"
)

// A room is two resources: room://NAME/history and room://NAME/status.
const (
	historyPart = "history"
	statusPart  = "status"
)

// historyResource is the content of room://NAME/history.
type historyResource struct {
	Room     string        `json:"room"`
	Head     uint64        `json:"head"`
	Messages []abi.Message `json:"messages"`
}

func uriOf(name, part string) string { return "room://" + url.PathEscape(name) + "/" + part }

// cutURI gives the room and the part a URI names.
func cutURI(uri string) (name, part string, ok bool) {
	rest, ok := strings.CutPrefix(uri, "room://")
	if !ok {
		return "", "", false
	}
	escaped, part, ok := strings.Cut(rest, "/")
	name, err := url.PathUnescape(escaped)
	return name, part, ok && err == nil && (part == historyPart || part == statusPart)
}

func (d *Door) addResources() {
	about := map[string]string{
		historyPart: "The newest messages of the room, at most 100, oldest first.",
		statusPart:  "The room at a glance: who is there, who holds the floor, what is left of the pool.",
	}
	for _, part := range []string{historyPart, statusPart} {
		d.server.AddResourceTemplate(&sdk.ResourceTemplate{
			Name: part, Title: part + " of a room", URITemplate: "room://{room}/" + part, Description: about[part], MIMEType: "application/json",
		}, d.read)
		for _, info := range d.cfg.Rooms.Rooms() {
			d.server.AddResource(&sdk.Resource{
				Name: info.Name + " " + part, URI: uriOf(info.Name, part), Description: about[part], MIMEType: "application/json",
			}, d.read)
		}
	}
}

// known answers an error for a URI that is no resource. Of a card's only the one
// it is listed under counts, for only that is told of.
func (d *Door) known(uri string) error {
	if cards.IsURI(uri) {
		if c, ok := d.cards().At(uri); ok && (uri == cards.Main || uri == cards.URI(c.ID)) {
			return nil
		}
		return sdk.ResourceNotFoundError(uri)
	}
	name, _, ok := cutURI(uri)
	if !ok {
		return sdk.ResourceNotFoundError(uri)
	}
	if _, err := d.cfg.Rooms.Room(name); err != nil {
		return sdk.ResourceNotFoundError(uri)
	}
	return nil
}

func (d *Door) read(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	if err := d.known(r.Params.URI); err != nil {
		return nil, err
	}
	caller := d.callerOf(r.Extra)
	if err := caller.May(identity.Read); err != nil {
		return nil, err
	}
	name, part, _ := cutURI(r.Params.URI)
	talk, err := d.cfg.Rooms.Room(name)
	if err != nil {
		return nil, err
	}
	var content any = talk.Info()
	if part == historyPart {
		past, err := talk.History(ctx, abi.HistoryAsk{Limit: abi.MaxHistory})
		if err != nil {
			return nil, err
		}
		d.readers.read(place{r.Session.ID(), name}, past.Head, time.Now())
		content = historyResource{Room: name, Head: past.Head, Messages: past.Messages}
	}
	text, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return nil, err
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: "application/json", Text: string(text)}}}, nil
}

// follow tells those who subscribed to a room of what happens there.
func (d *Door) follow(ctx context.Context, name string) {
	talk, err := d.cfg.Rooms.Room(name)
	if err != nil {
		return
	}
	since := d.begin(ctx, talk)
	for ctx.Err() == nil {
		err := talk.Follow(ctx, since, func(batch []entry.Entry) error {
			d.tell(ctx, name, batch)
			since = batch[len(batch)-1].Seq
			return nil
		})
		if err == nil || errors.Is(err, context.Canceled) {
			continue
		}
		select { // the journal is in trouble: look again later
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// begin gives where to follow a room from, and notes what was said before.
func (d *Door) begin(ctx context.Context, talk room.Talk) uint64 {
	past, err := talk.History(ctx, abi.HistoryAsk{Limit: recentSaid})
	if err != nil {
		return 0
	}
	d.readers.heard(talk.Name(), past.Messages)
	return past.Head
}

func (d *Door) tell(ctx context.Context, name string, batch []entry.Entry) {
	var ms []abi.Message
	for _, e := range batch {
		if m, ok := e.Message(); ok {
			ms = append(ms, m)
		}
	}
	parts := []string{statusPart}
	if len(ms) > 0 {
		d.readers.heard(name, ms)
		parts = append(parts, historyPart)
	}
	for _, part := range parts {
		// Whoever cannot be told reads again when it comes back.
		_ = d.server.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uriOf(name, part)})
	}
}

// complete offers the rooms' names where a room is to be named, and the
// companions' where a companion is.
func (d *Door) complete(_ context.Context, r *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	var names []string
	switch r.Params.Argument.Name {
	case "room":
		for _, info := range d.cfg.Rooms.Rooms() {
			names = append(names, info.Name)
		}
	case "companion":
		names = d.cards().IDs()
	}
	values := []string{}
	for _, name := range names {
		if strings.HasPrefix(name, r.Params.Argument.Value) && len(values) < 100 {
			values = append(values, name)
		}
	}
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: values, Total: len(values)}}, nil
}
