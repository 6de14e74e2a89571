package memory

import (
	"cmp"
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
	mu    sync.Mutex
	forks map[string]branch       // by room
	left  map[string]journal.Fork // where those began
	of    branch                  // of all other rooms
}

// branch is a store: of each key, by companion, what was written, as far as a fork may still show it, newest last.
type branch map[string]map[string][]write

// write is a value that was written in a room behind an entry, or that it was deleted there.
type write struct {
	value string
	gone  bool
	room  string
	at    uint64
}

var (
	_ journal.KV     = (*KV)(nil)
	_ journal.Stores = (*KV)(nil)
	_ journal.Stores = (*Journal)(nil)
)

// forked gives a new room a store of its own: of the room that is forked, and at the newest entry that both have. It copies what it shows, for a past that is thinned out is for who keeps more.
func (k *KV) forked(name, of string, at uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.left[of].Of != "" && k.left[of].At >= at {
		of = k.left[of].Of
	}
	own := branch{}
	for companion, keys := range k.in(of) {
		own[companion] = map[string][]write{}
		for key, ws := range keys {
			for _, w := range slices.Backward(ws) {
				if w.room == of && w.at >= at {
					continue
				}
				if !w.gone {
					own[companion][key] = []write{{value: w.value}}
				}
				break
			}
		}
	}
	if k.forks == nil {
		k.forks, k.left = map[string]branch{}, map[string]journal.Fork{}
	}
	k.forks[name], k.left[name] = own, journal.Fork{Of: of, At: at}
}

// in gives the store of a room.
func (k *KV) in(name string) branch {
	if b, ok := k.forks[name]; ok {
		return b
	}
	if k.of == nil {
		k.of = branch{}
	}
	return k.of
}

// get gives what a store shows.
func (b branch) get(companion, key string) (value string, ok bool) {
	ws := b[companion][key]
	if len(ws) == 0 {
		return "", false
	}
	w := ws[len(ws)-1]
	return w.value, !w.gone
}

// put adds what was written. A fork can only not see what was written in one room.
func (b branch) put(companion, key string, w write) {
	if b[companion] == nil {
		b[companion] = map[string][]write{}
	}
	ws := b[companion][key]
	if n := len(ws); n > 0 && ws[n-1].room == w.room && ws[n-1].at == w.at {
		ws = ws[:n-1]
	} else if n > 0 && ws[n-1].room != w.room {
		ws = ws[n-1:]
	}
	if w.room == "" {
		ws = nil
	}
	b[companion][key] = append(ws, w)
}

// set is put within the bounds.
func (b branch) set(companion, key string, w write) error {
	keys, bytes := 1, len(key)+len(w.value)
	for other := range b[companion] {
		if v, ok := b.get(companion, other); ok && other != key {
			keys, bytes = keys+1, bytes+len(other)+len(v)
		}
	}
	if err := abi.CheckKV(keys, bytes); err != nil {
		return err
	}
	b.put(companion, key, w)
	return nil
}

// kvIn is the stores of characters in a room.
type kvIn struct {
	*KV
	where
}

// where is a room. on runs what concerns it, and says how a write there is marked.
type where struct {
	name string
	on   func(ctx context.Context, what string, f func(mark write) error) error
}

// KVIn implements journal.Stores. It knows of no entries: all is written in no room.
func (k *KV) KVIn(name string) journal.KV {
	return kvIn{k, where{name, func(_ context.Context, _ string, f func(write) error) error { return f(write{}) }}}
}

// KVIn implements journal.Stores.
func (j *Journal) KVIn(name string) journal.KV {
	return kvIn{&j.kv, where{name, func(ctx context.Context, what string, f func(write) error) error {
		return j.on(ctx, what, name, func(r *room) error { return f(write{room: r.Name, at: r.Head.Seq}) })
	}}}
}

// KVForget implements journal.Stores.
func (k *KV) KVForget(_ context.Context, name, companion, key string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.in(name)
	if ws := b[companion][key]; len(ws) > 0 {
		b[companion][key] = []write{ws[len(ws)-1]}
	}
	return nil
}

// KVForget implements journal.Stores.
func (j *Journal) KVForget(ctx context.Context, name, companion, key string) error {
	return j.on(ctx, "erase key", name, func(*room) error { return j.kv.KVForget(ctx, name, companion, key) })
}

// KVGet, KVSet, KVDel and KVList implement journal.KV, of what all rooms share that are no forks.
func (k *KV) KVGet(ctx context.Context, companion, key string) (value string, ok bool, err error) {
	return k.KVIn("").KVGet(ctx, companion, key)
}

func (k *KV) KVSet(ctx context.Context, companion, key, value string) error {
	return k.KVIn("").KVSet(ctx, companion, key, value)
}

func (k *KV) KVDel(ctx context.Context, companion, key string) (old string, ok bool, err error) {
	return k.KVIn("").KVDel(ctx, companion, key)
}

func (k *KV) KVList(ctx context.Context, companion, prefix, after string, limit int) ([]string, error) {
	return k.KVIn("").KVList(ctx, companion, prefix, after, limit)
}

// with runs f with the store of the room.
func (k kvIn) with(ctx context.Context, what string, f func(b branch, mark write) error) error {
	return k.on(ctx, what, func(mark write) error {
		k.mu.Lock()
		defer k.mu.Unlock()
		return f(k.in(k.name), mark)
	})
}

// KVGet implements journal.KV.
func (k kvIn) KVGet(ctx context.Context, companion, key string) (value string, ok bool, err error) {
	err = k.with(ctx, "get key", func(b branch, _ write) error {
		value, ok = b.get(companion, key)
		return nil
	})
	return value, ok, err
}

// KVSet implements journal.KV.
func (k kvIn) KVSet(ctx context.Context, companion, key, value string) error {
	if err := journal.CheckPair(companion, key, value); err != nil {
		return err
	}
	var refused error // goes out as it is
	err := k.with(ctx, "set key", func(b branch, mark write) error {
		mark.value = value
		refused = b.set(companion, key, mark)
		return nil
	})
	return cmp.Or(err, refused)
}

// KVDel implements journal.KV.
func (k kvIn) KVDel(ctx context.Context, companion, key string) (old string, ok bool, err error) {
	err = k.with(ctx, "delete key", func(b branch, mark write) error {
		if old, ok = b.get(companion, key); len(b[companion][key]) > 0 {
			mark.gone = true
			b.put(companion, key, mark)
		}
		return nil
	})
	return old, ok, err
}

// KVList implements journal.KV.
func (k kvIn) KVList(ctx context.Context, companion, prefix, after string, limit int) (keys []string, err error) {
	err = k.with(ctx, "list keys", func(b branch, _ write) error {
		for _, key := range slices.Sorted(maps.Keys(b[companion])) {
			if _, ok := b.get(companion, key); ok && strings.HasPrefix(key, prefix) && key > after && len(keys) < limit {
				keys = append(keys, key)
			}
		}
		return nil
	})
	return keys, err
}
