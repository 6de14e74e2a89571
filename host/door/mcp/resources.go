package mcp

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/cards"
	"github.com/companiond/companiond/host/door/mcp/guide"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
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
	names := d.names(context.Background(), "")
	for _, part := range []string{historyPart, statusPart} {
		d.server.AddResourceTemplate(&sdk.ResourceTemplate{
			Name: part, Title: part + " of a room", URITemplate: "room://{room}/" + part, Description: about[part], MIMEType: "application/json",
		}, d.read)
		for _, name := range names {
			d.server.AddResource(&sdk.Resource{
				Name: name + " " + part, URI: uriOf(name, part), Description: about[part], MIMEType: "application/json",
			}, d.read)
		}
	}
}

// listed is how many rooms are offered by name; the others are there all the same.
const listed = 100

// names gives the first rooms by name that begin with prefix.
func (d *Door) names(ctx context.Context, prefix string) (names []string) {
	if prefix != "" { // which a list of those behind it leaves out
		if _, err := d.cfg.Rooms.Room(ctx, prefix); err == nil {
			names = append(names, prefix)
		}
	}
	behind, err := d.cfg.Rooms.Names(ctx, prefix, listed)
	if err != nil {
		return []string{d.cfg.Rooms.Usual()}
	}
	return append(names, slices.DeleteFunc(behind, func(name string) bool { return !strings.HasPrefix(name, prefix) })...)
}

// subscribe lets a session know of what happens in a room, and of a card.
func (d *Door) subscribe(ctx context.Context, r *sdk.SubscribeRequest) error {
	talk, err := d.known(ctx, r.Params.URI)
	if err != nil || talk == nil {
		return err
	}
	past, err := talk.History(ctx, abi.HistoryAsk{Limit: 1})
	if err != nil {
		return err
	}
	d.follows.Subscribed(talk.Name(), r.Session, past.Head)
	return nil
}

// known answers an error for a URI that is no resource, and gives the room of one
// that is a room's. Of a card's only the one it is listed under counts, for only that
// is told of.
func (d *Door) known(ctx context.Context, uri string) (rooms.Room, error) {
	if cards.IsURI(uri) {
		if c, ok := d.cards().At(uri); ok && (uri == cards.Main || uri == cards.URI(c.ID)) {
			return nil, nil
		}
		return nil, sdk.ResourceNotFoundError(uri)
	}
	name, _, ok := cutURI(uri)
	if !ok {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	talk, err := d.cfg.Rooms.Room(ctx, name)
	if abi.CodeOf(err) == abi.CodeNotFound {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	return talk, err // one that cannot be looked up now may be there all the same
}

func (d *Door) read(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	talk, err := d.known(ctx, r.Params.URI)
	if err != nil {
		return nil, err
	}
	c := d.callOf(r.Session, r.Extra)
	if err := c.caller.May(identity.Read); err != nil {
		return nil, err
	}
	name, part, _ := cutURI(r.Params.URI)
	d.follows.Use(name)
	var content any = talk.Info()
	if part == historyPart {
		past, err := talk.History(ctx, abi.HistoryAsk{Limit: abi.MaxHistory})
		if err != nil {
			return nil, err
		}
		d.readers.Read(c.in(name, ""), past.Head)
		content = historyResource{Room: name, Head: past.Head, Messages: past.Messages}
	}
	text, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return nil, err
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: "application/json", Text: string(text)}}}, nil
}

// tell tells those who subscribed to a room of what happened there.
func (d *Door) tell(ctx context.Context, name string, batch []entry.Entry) {
	parts := []string{statusPart}
	if slices.ContainsFunc(batch, func(e entry.Entry) bool { _, ok := e.Message(); return ok }) {
		parts = append(parts, historyPart)
	}
	for _, part := range parts {
		// Whoever cannot be told reads again when it comes back.
		_ = d.server.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uriOf(name, part)})
	}
}

// complete offers the rooms' names where a room is to be named, the companions' where a
// companion is, and the languages of the prompt.
func (d *Door) complete(ctx context.Context, r *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	var names []string
	switch r.Params.Argument.Name {
	case "room":
		names = d.names(ctx, r.Params.Argument.Value)
	case "companion":
		names = d.cards().IDs()
	case "language":
		names = guide.Languages()
	}
	values := []string{}
	for _, name := range names {
		if strings.HasPrefix(name, r.Params.Argument.Value) {
			values = append(values, name)
		}
	}
	all := len(values)
	values = values[:min(listed, all)]
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: values, Total: all, HasMore: all > len(values)}}, nil
}
