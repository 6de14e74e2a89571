package memory

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/journal"
)

// KV is the stores of characters in memory. The zero value is ready.
type KV struct {
	mu sync.Mutex
	of map[string]map[string]string
}

var _ journal.KV = (*KV)(nil)

// KVGet implements journal.KV.
func (k *KV) KVGet(_ context.Context, companion, key string) (value string, ok bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	value, ok = k.of[companion][key]
	return value, ok, nil
}

// KVSet implements journal.KV.
func (k *KV) KVSet(_ context.Context, companion, key, value string) error {
	if err := journal.CheckPair(companion, key, value); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	keys, bytes := 1, len(key)+len(value)
	for other, v := range k.of[companion] {
		if other != key {
			keys, bytes = keys+1, bytes+len(other)+len(v)
		}
	}
	if err := abi.CheckKV(keys, bytes); err != nil {
		return err
	}
	if k.of == nil {
		k.of = map[string]map[string]string{}
	}
	if k.of[companion] == nil {
		k.of[companion] = map[string]string{}
	}
	k.of[companion][key] = value
	return nil
}

// KVDel implements journal.KV.
func (k *KV) KVDel(_ context.Context, companion, key string) (old string, ok bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	old, ok = k.of[companion][key]
	delete(k.of[companion], key)
	return old, ok, nil
}

// KVList implements journal.KV.
func (k *KV) KVList(_ context.Context, companion, prefix, after string, limit int) (keys []string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(k.of[companion])) {
		if strings.HasPrefix(key, prefix) && key > after && len(keys) < limit {
			keys = append(keys, key)
		}
	}
	return keys, nil
}
