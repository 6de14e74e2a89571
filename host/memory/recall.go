package memory

import (
	"context"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
)

// Recall gives what a companion remembers that has to do with a text, of what it may
// tell in the room of the call. Nothing is found where its settings say that it does not remember.
func (k *Keeper) Recall(ctx context.Context, c module.Caller, ask abi.MemoryAsk) (abi.Memories, error) {
	panic("later")
}

// Add has a companion remember what its own module asks for.
func (k *Keeper) Add(ctx context.Context, c module.Caller, a abi.MemoryAdd) (abi.Memory, error) {
	panic("later")
}
