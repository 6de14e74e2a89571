// Package blob keeps what modules give the daemon for bodies and pages, such as the sound of a line, by what
// is in it: as much of it as has room, in memory, the newest.
//
// It keeps nothing on a disk and nothing for ever, reaches nobody, and never looks further into a blob than to see that it is
// of its type.
package blob

import (
	"bytes"
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"sync"

	"github.com/companiond/companiond/abi"
)

// MaxKept is how many bytes a daemon keeps in all.
const MaxKept = 64 << 20

// The types of blobs that something here is asked about.
const (
	Audio = "audio/wav"
	JSON  = "application/json"
)

// kinds are the types of blobs, each with how one is known.
var kinds = []struct {
	name string
	is   func([]byte) bool
}{
	{Audio, riff("WAVE")},
	{"image/png", begins("\x89PNG\r\n\x1a\n")},
	{"image/jpeg", begins("\xff\xd8\xff")},
	{"image/webp", riff("WEBP")},
	{JSON, json.Valid},
}

func begins(with string) func([]byte) bool {
	return func(b []byte) bool { return bytes.HasPrefix(b, []byte(with)) }
}

func riff(form string) func([]byte) bool {
	return func(b []byte) bool { return len(b) >= 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == form }
}

// Types lists the types that a blob may have.
func Types() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// URL gives the path of a blob at the web door.
func URL(hash string) string { return "/v1/blobs/" + hash }

// Store keeps blobs. Make one with New; it may be used by many at once.
type Store struct {
	most int

	mu    sync.Mutex
	size  int                      // bytes of all
	order *list.List               // of kept, the last used at the front
	by    map[string]*list.Element // by hash
}

type kept struct {
	hash string
	abi.Blob
}

// New makes a store of so many bytes at most.
func New(most int) *Store {
	return &Store{most: most, order: list.New(), by: map[string]*list.Element{}}
}

// Put keeps a blob, and gives what names it, with its path. Those go whose last use is longest ago, as far as the room
// is needed. The bytes are the store's from then on.
//
// # Errors
//
// CodeInvalid for a type that is none of [Types], or is not the one of the bytes; CodeTooLarge for more than
// [abi.MaxBlob] bytes.
func (s *Store) Put(b abi.Blob) (abi.BlobRef, error) {
	i := slices.Index(Types(), b.Type)
	switch {
	case i < 0:
		return abi.BlobRef{}, abi.Field("type", abi.CodeInvalid, "%.64q is none of %q", b.Type, Types())
	case len(b.Bytes) > min(abi.MaxBlob, s.most):
		return abi.BlobRef{}, abi.Field("bytes", abi.CodeTooLarge, "%d bytes, at most %d (MaxBlob)", len(b.Bytes), min(abi.MaxBlob, s.most))
	case !kinds[i].is(b.Bytes):
		return abi.BlobRef{}, abi.Field("bytes", abi.CodeInvalid, "these %d bytes are no %s", len(b.Bytes), b.Type)
	}
	sum := sha256.Sum256(b.Bytes)
	hash := hex.EncodeToString(sum[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(s.by[hash]) // it is kept already
	s.size += len(b.Bytes)
	s.by[hash] = s.order.PushFront(kept{hash, b})
	for s.size > s.most || len(s.by) > mostBlobs {
		s.drop(s.order.Back())
	}
	return abi.BlobRef{Hash: hash, Type: b.Type, URL: URL(hash)}, nil
}

// mostBlobs is how many there are at most: each takes some memory besides its bytes.
const mostBlobs = 8192

// drop lets go of a blob; nil is none.
func (s *Store) drop(e *list.Element) {
	if e == nil {
		return
	}
	k := s.order.Remove(e).(kept)
	delete(s.by, k.hash)
	s.size -= len(k.Bytes)
}

// Get gives a blob by its hash. Its bytes are not to be changed.
//
// # Errors
//
// CodeNotFound for one that is not kept, or not any more.
func (s *Store) Get(hash string) (abi.Blob, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.by[hash]
	if e == nil {
		return abi.Blob{}, abi.Field("hash", abi.CodeNotFound, "no blob %.64q is kept (any more); the newest are", hash)
	}
	s.order.MoveToFront(e)
	return e.Value.(kept).Blob, nil
}

// Clear lets go of all: one may have said a word that is to be forgotten.
func (s *Store) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size = 0
	s.order.Init()
	clear(s.by)
}
