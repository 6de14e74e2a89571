package host

import (
	"slices"

	"context"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/room/registry"
	"github.com/companiond/companiond/host/rooms"
)

// members are the rooms as doors have them: the holder of an agent's token finds of
// conversations those alone that it is in. People look into all of them, and so may a guest,
// whom only this machine has.
type members struct{ *registry.Registry }

var _ rooms.Directory = members{}

// Room finds a room, unless it is that of a conversation between others.
func (m members) Room(ctx context.Context, name string) (rooms.Room, error) {
	talk, err := m.Registry.Room(ctx, name)
	if c := identity.Of(ctx); err != nil || !strings.HasPrefix(name, conversation.Prefix) || c.Guest || c.Kind != abi.KindAgent {
		return talk, err
	}
	if now := talk.Info().Conversation; now == nil || now.Member(identity.Of(ctx).Name) == nil {
		return nil, abi.Field("room", abi.CodeDenied, "%s is a conversation of others", name)
	}
	return talk, nil
}

// named says whether an AI of a project has a name, or one that looks like it.
func (h *Host) named(name string) bool {
	if h.projects == nil {
		return false
	}
	if _, taken := h.projects.ais.Find(name); taken {
		return true
	}
	for id := range h.projects.unlisted { // a companion is called what its file says by now
		if a, ok := h.agent(id); ok && address.Same(a.Name, name) {
			return true
		}
	}
	return false
}

// isOurs says whether an id is that of a companion of the house, loaded or not, or of the holder of
// a token.
func (h *Host) isOurs(id string) bool {
	holder, taken := h.tokens.Taken(id)
	return taken && holder == id || slices.Contains(h.house.Residents(), id)
}
