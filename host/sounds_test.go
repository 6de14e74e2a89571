package host

import (
	"log/slog"
	"testing"

	"github.com/companiond/companiond/abi"
)

// TestErasedWordsAreNotHeard: when words are erased in a room, in whichever, no sound is kept that may say them.
func TestErasedWordsAreNotHeard(t *testing.T) {
	h := New(Options{Log: slog.New(slog.DiscardHandler)})
	for _, room := range []string{"main", ""} {
		ref, err := h.blobs.Put(abi.Blob{Type: "audio/wav", Bytes: []byte("RIFF....WAVE")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.blobs.Get(ref.Hash); err != nil {
			t.Fatal(err)
		}
		h.forgotten(room)
		if _, err := h.blobs.Get(ref.Hash); abi.CodeOf(err) != abi.CodeNotFound {
			t.Errorf("room %q: %v", room, err)
		}
	}
}
