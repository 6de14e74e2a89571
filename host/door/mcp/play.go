package mcp

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/tools"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

const playTool = tools.Play

// playIn has the names that the AI Companion Protocol's tool has, and two of our own.
type playIn struct {
	Action     string          `json:"actionName"`
	Parameters json.RawMessage `json:"parameters"`
	Companion  string          `json:"companion"`
	Perception string          `json:"perception"`
}

type playOut struct {
	abi.ActionPlayed
	Note string `json:"note,omitempty"`
}

// offerPlay adds the tool action-play, or replaces it; without a schema there is
// nothing to play, and it is taken away.
func (d *Door) offerPlay(schema json.RawMessage) {
	if schema == nil {
		d.server.RemoveTools(playTool)
		return
	}
	tool[playIn]{Tool: tools.ActionPlay(schema), scope: identity.Act, run: d.play}.add(d)
}

// play lets a companion do something. What her card says of it, the room checks.
func (d *Door) play(ctx context.Context, c call, in playIn) (any, error) {
	if in.Action == "" {
		return nil, abi.Field("actionName", abi.CodeInvalid, "is missing")
	}
	card, ok := d.cards().For(c.companion).Find(in.Companion)
	switch {
	case !ok && in.Companion == "" && c.companion != "":
		return nil, abi.Field("companion", abi.CodeNotFound, "%s, whom the URL names, has no card", c.companion)
	case !ok && in.Companion == "":
		return nil, abi.Field("companion", abi.CodeNotFound, "none has a card and lives in a room; name one")
	case !ok:
		return nil, abi.Field("companion", abi.CodeNotFound, "there is no %q with a card", in.Companion)
	}
	if err := d.mustHaveRead(c, card.ID); err != nil {
		return nil, err
	}
	home, err := d.cfg.Rooms.Home(ctx, card.ID)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(bytes.TrimSpace(in.Parameters), []byte("null")) {
		in.Parameters = nil
	}
	by := c.caller.Name
	if by == "" {
		by = string(abi.KindAgent)
	}
	played, err := home.Act(ctx, card.ID, rooms.Player{Agent: by}, abi.ActionAsk{Action: in.Action, Parameters: in.Parameters, Perception: in.Perception})
	if err != nil {
		return nil, err
	}
	out := playOut{ActionPlayed: played}
	switch {
	case played.Wish > 0:
		out.Note = "the line waits for the floor; the message that is said has this wish, and a STOP or 20 seconds end it"
	case played.Delivered == 0:
		out.Note = "no body is connected: nobody has shown it"
	}
	return out, nil
}
