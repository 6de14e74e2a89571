package glance

import (
	"cmp"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/room/fold"
)

// Settings is how a room is to be.
type Settings struct {
	Name       string
	Companions []string // ids, or "*" for every companion
	Rules      entry.Rules
	// Standing is what the configuration says of compressing what was said.
	Standing history.Standing
	// Open is written down where the room was never opened, Reopen where it was
	// archived. Nil: nothing is.
	Open, Reopen *entry.Opened
	// Unknown says why the settings cannot be read, "" where they can. Then nothing
	// of them is written down, and the room takes nothing new.
	Unknown string
	Closed  bool // at a door
	// Terms are those of the conversation that the room is for, nil in other rooms.
	Terms *conversation.Terms
}

// In adds what the state of the room says: that it was archived, or cannot be judged by
// these rules.
func (s Settings) In(st *fold.State) Settings {
	s.Closed = s.Closed || st.Archived != ""
	s.Unknown = cmp.Or(s.Unknown, st.Unjudged())
	return s
}

// Refuses says why the room takes nothing new, whatever its journal holds; nil where
// that may tell another reason.
func (s Settings) Refuses() error {
	switch {
	case s.Closed:
		return abi.Field("room", abi.CodeDenied, "%s was closed; its messages can still be read", s.Name)
	case s.Unknown != "":
		return abi.Field("room", abi.CodeUnavailable, "%s takes nothing new: %s", s.Name, s.Unknown)
	}
	return nil
}

// Lives says whether a companion lives in the room.
func (s Settings) Lives(id string) bool {
	return slices.Contains(s.Companions, "*") || slices.Contains(s.Companions, id)
}
