// Package snapshot keeps what stands in the memory of instances that sleep, in few bytes: what differs from a base with which
// all of them began, compressed.
//
// It keeps all of it in memory and nothing on a disk, so that what is erased has no other place. It never looks into what it
// keeps, and it does not know when an instance is to sleep.
package snapshot

import (
	"bytes"
	"compress/flate"
	"fmt"
	"slices"
	"sync"

	"github.com/tetratelabs/wazero/api"
)

// Shelf keeps an image for each key, and with it a value. It is safe for concurrent use.
type Shelf[K comparable, V any] struct {
	most   int64 // bytes of all images
	differ int   // and by how many an instance's memory may differ from the base

	packing sync.Mutex
	press   *flate.Writer // of packing

	mu    sync.Mutex
	base  []byte
	era   uint64
	kept  map[K]Kept[V]
	order []K // oldest first
	bytes int64
}

// Kept is what is kept of an instance: an image of its memory, and its globals.
type Kept[V any] struct {
	With V
	Era  uint64 // as it stood when it was taken off the shelf

	*image
	globals map[string]uint64
}

// New makes a shelf that keeps at most so many bytes of images, the newest, of memories that differ from the base by at most
// differ bytes each.
func New[K comparable, V any](most int64, differ int) *Shelf[K, V] {
	w, _ := flate.NewWriter(nil, flate.BestSpeed) // fails for other levels alone
	return &Shelf[K, V]{most: most, differ: differ, press: w, kept: map[K]Kept[V]{}}
}

// Base says that an instance's memory is as it is in all before they are used. The first one counts.
func (s *Shelf[K, V]) Base(guest api.Module) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.base == nil {
		s.base = bytes.Clone(all(guest))
	}
}

// all is what stands in a guest's memory. It is no copy.
func all(guest api.Module) []byte {
	mem := guest.Memory()
	view, _ := mem.Read(0, mem.Size())
	return view
}

// pageSize is WebAssembly's unit of memory in bytes.
const pageSize = 64 << 10

// Restore has another instance of the same code, which has not run yet, be what the one was that is kept, and erases that. It
// is for once.
func (k *Kept[V]) Restore(guest api.Module) error {
	defer k.erase()
	mem := guest.Memory()
	if more := k.size - int(mem.Size()); more > 0 {
		if _, ok := mem.Grow(uint32(more / pageSize)); !ok {
			return fmt.Errorf("snapshot: there are no %d bytes of memory", k.size)
		}
	}
	for name, value := range k.globals {
		guest.ExportedGlobal(name).(api.MutableGlobal).Set(value)
	}
	return k.restore(all(guest))
}

// Era counts how often all was erased. What stood in a memory in an earlier one is not kept any more.
func (s *Shelf[K, V]) Era() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.era
}

// Put keeps an instance that has run since an era: its memory, and these of its globals. Where there is no more
// room the oldest go. It asks stop again and again whether somebody wants the instance.
//
// # Errors
//
// ErrLarge, ErrStopped and ErrErased; then nothing is kept.
func (s *Shelf[K, V]) Put(k K, with V, guest api.Module, globals []string, era uint64, stop func() bool) error {
	s.packing.Lock()
	defer s.packing.Unlock()
	s.mu.Lock()
	base := s.base
	s.mu.Unlock()
	i, err := take(all(guest), base, s.differ, s.press, stop)
	if err != nil {
		return err
	}
	kept := Kept[V]{With: with, image: i, globals: map[string]uint64{}}
	for _, name := range globals {
		kept.globals[name] = guest.ExportedGlobal(name).Get()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case era != s.era:
		i.erase()
		return ErrErased
	case i.bytes() > s.most:
		i.erase()
		return ErrLarge
	}
	s.drop(k)
	s.kept[k] = kept
	s.order = append(s.order, k)
	s.bytes += i.bytes()
	for s.bytes > s.most {
		s.drop(s.order[0])
	}
	return nil
}

// drop erases an image, if there is one. The caller has the lock.
func (s *Shelf[K, V]) drop(k K) {
	if e, ok := s.take(k); ok {
		e.erase()
	}
}

// take takes an image off the shelf. The caller has the lock.
func (s *Shelf[K, V]) take(k K) (Kept[V], bool) {
	e, ok := s.kept[k]
	if ok {
		delete(s.kept, k)
		at := slices.Index(s.order, k)
		s.order = slices.Delete(s.order, at, at+1)
		s.bytes -= e.bytes()
	}
	return e, ok
}

// Take takes what is kept for a key off the shelf, nil where there is nothing.
func (s *Shelf[K, V]) Take(k K) *Kept[V] {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.take(k)
	if !ok {
		return nil
	}
	e.Era = s.era
	return &e
}

// Size is how many bytes the image of a key takes, 0 where there is none.
func (s *Shelf[K, V]) Size(k K) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.kept[k]; ok {
		return e.bytes()
	}
	return 0
}

// Drop erases the image of a key, if there is one.
func (s *Shelf[K, V]) Drop(k K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(k)
}

// Clear erases all images, and begins another era.
func (s *Shelf[K, V]) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.order) > 0 {
		s.drop(s.order[len(s.order)-1])
	}
	s.era++
}
