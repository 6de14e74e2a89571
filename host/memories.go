package host

import (
	"time"

	"github.com/companiond/companiond/host/context/kept"
	"github.com/companiond/companiond/host/context/told"
	"github.com/companiond/companiond/host/door/web/memories"
)

// memoriesDoor is what the HTTP door has of memories, of erasing, and of what models were told.
func (h *Host) memoriesDoor() *memories.Config {
	shelf := told.Shelf{Journal: h.journal, Words: kept.New(h.journal, ""), Zone: time.Local}
	return &memories.Config{Memories: h.memory, Forgetting: memories.Orders{Service: h.forgets}, Prompts: shelf.About}
}
