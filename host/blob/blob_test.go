package blob

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
)

// wav makes a sound of so many bytes that no other number makes.
func wav(n, size int) abi.Blob {
	b := append([]byte("RIFF....WAVE"), make([]byte, max(0, size-12))...)
	binary.LittleEndian.PutUint32(b[4:], uint32(n))
	return abi.Blob{Type: Audio, Bytes: b}
}

// TestOnlyWhatItIs: a blob has one of the types, and begins as one of that; it is named by the hash of its bytes.
func TestOnlyWhatItIs(t *testing.T) {
	good := map[string]string{
		Audio: "RIFF\x24\x00\x00\x00WAVEfmt ", "image/png": "\x89PNG\r\n\x1a\n...", "image/jpeg": "\xff\xd8\xff\xe0...",
		"image/webp": "RIFF\x00\x00\x00\x00WEBPVP8 ", JSON: `[{"ms":40,"open":0.5}]`,
	}
	if got := Types(); len(got) != len(good) {
		t.Fatalf("%q", got)
	}
	s := New(MaxKept)
	for name, text := range good {
		ref, err := s.Put(abi.Blob{Type: name, Bytes: []byte(text)})
		sum := sha256.Sum256([]byte(text))
		if hash := hex.EncodeToString(sum[:]); err != nil || ref != (abi.BlobRef{Hash: hash, Type: name, URL: "/v1/blobs/" + hash}) {
			t.Errorf("%s: %+v, %v", name, ref, err)
		}
		if b, err := s.Get(ref.Hash); err != nil || b.Type != name || string(b.Bytes) != text {
			t.Errorf("%s: %+v, %v", name, b, err)
		}
		for other, is := range good {
			if _, err := s.Put(abi.Blob{Type: name, Bytes: []byte(is)}); other != name && (abi.CodeOf(err) != abi.CodeInvalid || abi.AsError(err).Field != "bytes") {
				t.Errorf("%s as %s: %v", other, name, err)
			}
		}
	}
	for _, c := range []struct {
		blob  abi.Blob
		code  abi.Code
		field string
	}{
		{abi.Blob{Type: "text/html", Bytes: []byte("<html>")}, abi.CodeInvalid, "type"},
		{abi.Blob{Type: "", Bytes: []byte("{}")}, abi.CodeInvalid, "type"},
		{abi.Blob{Type: "image/svg+xml", Bytes: []byte("<svg/>")}, abi.CodeInvalid, "type"},
		{abi.Blob{Type: JSON}, abi.CodeInvalid, "bytes"},
		{abi.Blob{Type: Audio, Bytes: []byte("RIFF")}, abi.CodeInvalid, "bytes"},
		{wav(1, abi.MaxBlob+1), abi.CodeTooLarge, "bytes"},
	} {
		if _, err := s.Put(c.blob); abi.CodeOf(err) != c.code || abi.AsError(err).Field != c.field {
			t.Errorf("%s of %d bytes: %v", c.blob.Type, len(c.blob.Bytes), err)
		}
	}
	if _, err := s.Put(wav(1, abi.MaxBlob)); err != nil {
		t.Error(err)
	}
}

// TestTheNewestAreKept: whatever is put, read and cleared, the store is a list of what was used last that has at most its
// bytes, and gives just these.
func TestTheNewestAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 400
		s := New(most)
		var model []abi.Blob // the last used first
		hash := func(b abi.Blob) string { sum := sha256.Sum256(b.Bytes); return hex.EncodeToString(sum[:]) }
		at := func(b abi.Blob) int {
			return slices.IndexFunc(model, func(m abi.Blob) bool { return bytes.Equal(m.Bytes, b.Bytes) })
		}
		front := func(b abi.Blob) {
			if i := at(b); i >= 0 {
				model = slices.Delete(model, i, i+1)
			}
			model = slices.Insert(model, 0, b)
			for size := 0; ; size = 0 {
				for _, m := range model {
					size += len(m.Bytes)
				}
				if size <= most {
					return
				}
				model = model[:len(model)-1]
			}
		}
		some := rapid.Custom(func(t *rapid.T) abi.Blob {
			n := rapid.IntRange(0, 9).Draw(t, "n")
			return wav(n, 12+n*17)
		})
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				b := some.Draw(t, "blob")
				if ref, err := s.Put(b); err != nil || ref.Hash != hash(b) {
					t.Fatal(ref, err)
				}
				front(b)
			},
			"get": func(t *rapid.T) {
				b := some.Draw(t, "blob")
				got, err := s.Get(hash(b))
				if at(b) < 0 {
					if abi.CodeOf(err) != abi.CodeNotFound {
						t.Fatal(err)
					}
					return
				}
				if err != nil || !bytes.Equal(got.Bytes, b.Bytes) {
					t.Fatal(err)
				}
				front(b)
			},
			"clear": func(*rapid.T) {
				s.Clear()
				model = nil
			},
			"": func(t *rapid.T) {
				size := 0
				for _, m := range model {
					size += len(m.Bytes)
				}
				if s.size != size || s.order.Len() != len(model) || len(s.by) != len(model) {
					t.Fatalf("%d bytes in %d blobs, want %d in %d", s.size, s.order.Len(), size, len(model))
				}
			},
		})
	})
}

// TestPutAgain: bytes that are put again are kept once.
func TestPutAgain(t *testing.T) {
	s := New(MaxKept)
	for range 3 {
		if _, err := s.Put(wav(1, 100)); err != nil {
			t.Fatal(err)
		}
	}
	if s.size != 100 || s.order.Len() != 1 {
		t.Errorf("%d bytes in %d blobs", s.size, s.order.Len())
	}
}

// TestManyAtOnce: the store may be used by many.
func TestManyAtOnce(t *testing.T) {
	s := New(1000)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 200 {
				ref, err := s.Put(wav(i*1000+n, 90))
				if err != nil {
					t.Error(err)
				}
				_, _ = s.Get(ref.Hash) // it may be gone
				if n%50 == 49 {
					s.Clear()
				}
			}
		})
	}
	all.Wait()
	if s.size > 1000 {
		t.Errorf("%d bytes", s.size)
	}
}

// TestSmallBlobs: so many that have next to no bytes are bounded, too.
func TestSmallBlobs(t *testing.T) {
	s := New(MaxKept)
	var first abi.BlobRef
	for n := range mostBlobs + 1 {
		ref, err := s.Put(abi.Blob{Type: "application/json", Bytes: fmt.Append(nil, n)})
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			first = ref
		}
	}
	if len(s.by) != mostBlobs || s.order.Len() != mostBlobs {
		t.Errorf("%d blobs", len(s.by))
	}
	if _, err := s.Get(first.Hash); abi.CodeOf(err) != abi.CodeNotFound {
		t.Error(err)
	}
}
