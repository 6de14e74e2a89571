package fuel

import (
	"encoding/binary"
	"fmt"
)

// reader takes values off a part of a module. Its first error stays: after it
// every method returns zero values, and no bytes are left, so that a loop over
// them ends.
type reader struct {
	data []byte // from the start of the part
	pos  int
	base int // offset of data in the module, for errors
	err  error

	section int // offset of the section that data is the body of
}

// fail notes the first error, which is at the offset at of the part.
func (r *reader) fail(at int, reason error, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("offset %#x: %s: %w", r.base+at, fmt.Sprintf(format, args...), reason)
	}
	r.pos = len(r.data)
}

func (r *reader) left() int { return len(r.data) - r.pos }

func (r *reader) take(n uint32) []byte {
	if uint64(n) > uint64(r.left()) {
		r.fail(r.pos, ErrMalformed, "%d bytes wanted, %d left; was the file still being written?", n, r.left())
		return nil
	}
	r.pos += int(n)
	return r.data[r.pos-int(n) : r.pos]
}

func (r *reader) byte() byte {
	if r.left() == 0 {
		r.fail(r.pos, ErrMalformed, "unexpected end; was the file still being written?")
		return 0
	}
	r.pos++
	return r.data[r.pos-1]
}

// zero takes a byte that must be zero.
func (r *reader) zero(what string) {
	at := r.pos
	if b := r.byte(); b != 0 {
		r.fail(at, ErrUnsupported, "%s %#x, want 0", what, b)
	}
}

// sub gives a reader of the next n bytes and steps over them.
func (r *reader) sub(n uint32) *reader {
	at := r.pos
	return &reader{data: r.take(n), base: r.base + at, err: r.err}
}

// close gives the first error; bytes that are left are one.
func (r *reader) close() error {
	if r.err == nil && r.left() > 0 {
		r.fail(r.pos, ErrMalformed, "%d bytes after the end", r.left())
	}
	return r.err
}

// u32 takes an unsigned LEB128 number. Like the standard it allows leading
// zeros up to five bytes, which linkers write, and no more.
func (r *reader) u32() uint32 {
	at := r.pos
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		if shift == 28 && b > 0x0f {
			break
		}
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	r.fail(at, ErrMalformed, "number over 32 bits")
	return 0
}

// signed takes a signed LEB128 number of the given width.
func (r *reader) signed(bits int) int64 {
	at := r.pos
	var v int64
	for shift := 0; shift < bits; shift += 7 {
		b := r.byte()
		v |= int64(b&0x7f) << shift
		if spare := bits - shift; spare < 7 {
			// The last byte: the bits beyond the sign bit must repeat it.
			high := byte(0x7f) &^ (1<<(spare-1) - 1)
			if b >= 0x80 || (b&high != 0 && b&high != high) {
				break
			}
		}
		if b < 0x80 {
			if shift+7 < 64 && b&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	r.fail(at, ErrMalformed, "number over %d bits", bits)
	return 0
}

// count takes the length of a vector. Each element takes a byte at least, so a
// count over the bytes left is refused before anything is done for it.
func (r *reader) count() uint32 {
	at := r.pos
	n := r.u32()
	if uint64(n) > uint64(r.left()) {
		r.fail(at, ErrMalformed, "vector of %d elements in %d bytes", n, r.left())
		return 0
	}
	return n
}

// index takes an index that must be below limit.
func (r *reader) index(what string, limit uint32) uint32 {
	at := r.pos
	i := r.u32()
	if r.err == nil && i >= limit {
		r.fail(at, ErrMalformed, "%s index %d of %d", what, i, limit)
		return 0
	}
	return i
}

// name takes a vector of bytes.
func (r *reader) name() []byte { return r.take(r.u32()) }

func appendU32(b []byte, v uint32) []byte { return binary.AppendUvarint(b, uint64(v)) }

func appendS32(b []byte, v int32) []byte {
	for {
		low := byte(v & 0x7f)
		v >>= 7
		if (v == 0 && low&0x40 == 0) || (v == -1 && low&0x40 != 0) {
			return append(b, low)
		}
		b = append(b, low|0x80)
	}
}

// appendBytes appends v with its length before it.
func appendBytes(b, v []byte) []byte {
	return append(appendU32(b, uint32(len(v))), v...)
}
