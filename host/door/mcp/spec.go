package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/cards"
	"github.com/companiond/companiond/host/identity"
)

// addSpecs offers the companions' cards as resources and their actions as the
// tool action-play (the AI Companion Protocol).
func (d *Door) addSpecs() {
	d.server.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "spec", Title: "card of a companion", URITemplate: "spec://{companion}", MIMEType: "application/json",
		Description: aboutSpec + " spec://main is that of the usual companion, or of the one whom the URL names behind /mcp/.",
	}, d.readSpec)
	d.CardsChanged()
}

const aboutSpec = "The companion's definition file, as it is: who it is, its actions, its perceptions, and the events that say when it does what."

// cards gives the cards there are now.
func (d *Door) cards() cards.Set { return cards.Of(d.cfg.Cards()) }

// CardsChanged tells whoever listens what has changed in the cards since it was
// called last: the host calls it whenever the folder has changed. It waits for no
// client.
func (d *Door) CardsChanged() {
	d.telling.Lock()
	defer d.telling.Unlock()
	now := d.cards()
	c := now.Since(d.told)
	d.told = now
	if len(c.Gone) > 0 {
		d.server.RemoveResources(c.Gone...)
	}
	for _, row := range c.Listed {
		d.server.AddResource(&sdk.Resource{Name: row.Name, Title: row.Title, URI: row.URI, Description: aboutSpec, MIMEType: "application/json"}, d.readSpec)
	}
	if c.Play {
		d.offerPlay(now.Play())
	}
	for _, uri := range c.Updated {
		// Whoever cannot be told reads again when it comes back.
		_ = d.server.ResourceUpdated(context.Background(), &sdk.ResourceUpdatedNotificationParams{URI: uri})
	}
}

// readSpec answers with the bytes of a companion's file, and remembers who has
// read them where that is asked for.
func (d *Door) readSpec(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	c := d.callOf(r.Session, r.Extra)
	if err := c.caller.May(identity.Read); err != nil {
		return nil, err
	}
	card, ok := d.cards().For(companionOf(r.Extra)).At(r.Params.URI)
	if !ok {
		return nil, sdk.ResourceNotFoundError(r.Params.URI)
	}
	if at := c.in(cards.URI(card.ID), ""); d.cfg.RequireSpec && at.Known() {
		d.readers.Read(at, 1)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: "application/json", Text: string(card.Source)}}}, nil
}

// mustHaveRead refuses who has not read a companion's card, if the house wants it
// read first. The AI Companion Protocol only prompts its model to, with threats.
func (d *Door) mustHaveRead(c call, companion string) error {
	uri := cards.URI(companion)
	at := c.in(uri, "")
	switch {
	case !d.cfg.RequireSpec:
		return nil
	case !at.Known():
		return abi.Errorf(abi.CodeDenied, "spec: who plays actions here must have read %s; without a session or a token nobody knows", uri)
	}
	if _, read := d.readers.Seen(at); !read {
		return abi.Errorf(abi.CodeDenied, "spec: read %s first", uri)
	}
	d.readers.Read(at, 1) // it is heard of, and not forgotten
	return nil
}
