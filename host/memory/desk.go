package memory

import (
	"context"
	"time"

	"github.com/companiond/companiond/abi"
)

// This file is what people see and change of what a companion remembers. Doors ask who may.

// Filter says which of a companion's memories to list; its zero value: all that are so now.
type Filter struct {
	Who   string // said by, or about somebody; names that look alike are one
	Text  string // that have to do with it, the best first
	Past  bool   // also what is no longer so
	Limit int    // 0 means 50; at most [MaxList]
	After string // id of the last of the page before; not with Text
}

// MaxList is how many memories a page has at most.
const MaxList = 500

// Page is a part of what a companion remembers, the newest first, or with a Text the best.
type Page struct {
	Memories []abi.Memory `json:"memories"`
	Next     string       `json:"next,omitempty"` // for Filter.After; empty: there are no more
	Total    int          `json:"total"`          // all that it remembers, whatever the filter
}

// Changes are what is to be different; what is nil stays as it is.
type Changes struct {
	Text       *string         `json:"text,omitempty"`
	Keys       *[]string       `json:"keys,omitempty"`
	Importance *int            `json:"importance,omitempty"`
	Visibility *abi.Visibility `json:"visibility,omitempty"`
	ValidTo    *time.Time      `json:"valid_to,omitempty"` // the zero time: it is so again
}

// Forgotten is something that a companion remembers no more, as it was.
type Forgotten struct {
	Companion string `json:"companion"`
	abi.Memory
}

// Companions gives the ids of those who remember anything, or have once, sorted.
func (k *Keeper) Companions(ctx context.Context) ([]string, error) { panic("later") }

// List gives a page of what a companion remembers, wherever it was said. For a companion that
// remembers nothing, also one that nobody knows, it is empty.
func (k *Keeper) List(ctx context.Context, companion string, f Filter) (Page, error) { panic("later") }

// Get gives one, abi.CodeNotFound where there is none.
func (k *Keeper) Get(ctx context.Context, companion, id string) (abi.Memory, error) { panic("later") }

// Write has a companion remember what a person wrote at a door, who is by: for all rooms
// unless visibility says otherwise. Turn and Quote are not used.
func (k *Keeper) Write(ctx context.Context, companion string, a abi.MemoryAdd, visibility abi.Visibility, by string) (abi.Memory, error) {
	panic("later")
}

// Edit changes one, and gives it as it is then.
func (k *Keeper) Edit(ctx context.Context, companion, id string, c Changes, by string) (abi.Memory, error) {
	panic("later")
}

// Erase takes some out for ever, by somebody's wish, and gives them as they were: their words
// are gone from the stream when it answers, and the stream says which ids are. Unknown
// ids are passed over.
func (k *Keeper) Erase(ctx context.Context, companion string, ids []string, by string) ([]Forgotten, error) {
	panic("later")
}

// EraseFact is Erase where nobody says whose memory it is: abi.CodeNotFound for an id that is none.
func (k *Keeper) EraseFact(ctx context.Context, id, by string) ([]Forgotten, error) { panic("later") }

// EraseOf takes out of every companion's memory what somebody said and what is about somebody. Names that
// look alike are one. The turns themselves have to be gone before: a talk that is gone through in this
// moment is gone through again.
func (k *Keeper) EraseOf(ctx context.Context, who, by string) ([]Forgotten, error) { panic("later") }

// EraseFrom takes out of every companion's memory what rests on any of these turns of a room.
func (k *Keeper) EraseFrom(ctx context.Context, room string, turns []uint64, by string) ([]Forgotten, error) {
	panic("later")
}
