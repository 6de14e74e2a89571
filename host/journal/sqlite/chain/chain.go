// Package chain reckons the sums that tie a room's entries together: whoever
// changes one has to reckon all that come behind it.
//
// It never reads or writes a file.
package chain

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"

	"github.com/companiond/companiond/host/entry"
)

// Size is the length in bytes of a sum, a digest and a salt.
const Size = 16

// Genesis is the sum before a room's first entry.
func Genesis(room string) []byte {
	s := sha256.Sum256([]byte("companiond room\n" + room))
	return s[:Size]
}

// Salts gives n salts, one behind the other.
func Salts(n int) []byte {
	b := make([]byte, n*Size)
	_, _ = rand.Read(b) // it never fails: crypto/rand ends the program instead
	return b
}

// Digest stands for a body in the chain. Without its salt nobody can try out
// what a body was that is gone.
func Digest(salt, body []byte) []byte {
	h := sha256.New()
	h.Write(salt)
	h.Write(body)
	return h.Sum(make([]byte, 0, sha256.Size))[:Size]
}

// Next gives an entry's sum: it covers all of the entry and, through the sum
// before it, the room's whole past. Of the body it covers the digest, so that it
// can be checked when the body is gone.
func Next(before []byte, e entry.Entry, digest []byte) []byte {
	return sum(before, e, digest, e.Seq, e.Epoch, uint64(e.At.UnixMilli()), uint64(e.V))
}

// Old gives an entry's sum as files of schema 1 have it: over the body itself.
func Old(before []byte, e entry.Entry) []byte {
	return sum(before, e, e.Body, e.Seq, e.Epoch, uint64(e.At.UnixMilli()))
}

func sum(before []byte, e entry.Entry, body []byte, numbers ...uint64) []byte {
	b := make([]byte, 0, 2*Size+64+len(e.Kind)+len(e.ID)+len(body))
	b = append(b, before...)
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	for _, field := range []string{string(e.Kind), e.ID} {
		b = binary.BigEndian.AppendUint64(b, uint64(len(field)))
		b = append(b, field...)
	}
	s := sha256.Sum256(append(b, body...))
	return s[:Size]
}
