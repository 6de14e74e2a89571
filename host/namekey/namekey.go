// Package namekey keeps a random key of the house, by which ids are made of names that do not tell the name to whoever has the
// ids alone. It makes no id itself.
package namekey

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/companiond/companiond/host/journal"
)

// Where the key of names is kept. No companion is called like that.
const (
	owner = journal.House + "house"
	name  = "names"
)

// Key is the key. It is made when it is asked for first, and stays. Its zero value is ready.
type Key struct {
	mu  sync.Mutex
	key []byte
}

// Of gives the key that is kept in a store, of 32 bytes.
//
// # Errors
//
// Of the store.
func (n *Key) Of(ctx context.Context, store journal.KV) ([]byte, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.key != nil {
		return n.key, nil
	}
	kept, ok, err := store.KVGet(ctx, owner, name)
	if err != nil {
		return nil, fmt.Errorf("read the key of names: %w", err)
	}
	key, err := hex.DecodeString(kept)
	if !ok || err != nil || len(key) != 32 {
		key = make([]byte, 32)
		_, _ = rand.Read(key) // never fails
		if err := store.KVSet(ctx, owner, name, hex.EncodeToString(key)); err != nil {
			return nil, fmt.Errorf("keep the key of names: %w", err)
		}
	}
	n.key = key
	return key, nil
}
