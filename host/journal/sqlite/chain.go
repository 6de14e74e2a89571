package sqlite

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"

	"github.com/companiond/companiond/host/entry"
)

// sumSize is the length in bytes of a sum, a digest and a salt.
const sumSize = 16

// genesis is the sum before a room's first entry.
func genesis(room string) []byte {
	s := sha256.Sum256([]byte("companiond room\n" + room))
	return s[:sumSize]
}

// salts gives n salts, one behind the other.
func salts(n int) []byte {
	b := make([]byte, n*sumSize)
	if _, err := rand.Read(b); err != nil {
		panic(err) // never: crypto/rand ends the program instead
	}
	return b
}

// digest stands for a body in the chain. Without its salt nobody can try out
// what a body was that is gone.
func digest(salt, body []byte) []byte {
	h := sha256.New()
	h.Write(salt)
	h.Write(body)
	return h.Sum(make([]byte, 0, sha256.Size))[:sumSize]
}

// chain gives an entry's sum: it covers all of the entry and, through the sum
// before it, the room's whole past. Of the body it covers the digest, so that it
// can be checked when the body is gone.
func chain(before []byte, e entry.Entry, digest []byte) []byte {
	b := make([]byte, 0, 2*sumSize+64+len(e.Kind)+len(e.ID))
	b = append(b, before...)
	for _, n := range []uint64{e.Seq, e.Epoch, uint64(e.At.UnixMilli()), uint64(e.V)} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	for _, field := range []string{string(e.Kind), e.ID} {
		b = binary.BigEndian.AppendUint64(b, uint64(len(field)))
		b = append(b, field...)
	}
	s := sha256.Sum256(append(b, digest...))
	return s[:sumSize]
}
