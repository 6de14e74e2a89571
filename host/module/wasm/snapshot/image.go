package snapshot

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
)

// page is what is compared and kept as a whole.
const page = 4 << 10

// The errors of what cannot be kept.
var (
	ErrLarge   = errors.New("there is too much in its memory to be kept")
	ErrStopped = errors.New("it was not kept: somebody asks for it")
	ErrErased  = errors.New("what stands in its memory is to be forgotten")
)

// image is what stood in a memory, as what differs from a base.
type image struct {
	size   int      // of the memory
	pages  []uint32 // those that differ
	packed []byte   // they, one after the other, with the base taken out, compressed
	base   []byte
}

// take makes an image of what differs in at most so many bytes. stop is asked again and again whether to give it up.
func take(mem, base []byte, most int, w *flate.Writer, stop func() bool) (*image, error) {
	i := &image{size: len(mem), base: base}
	for at := 0; at < len(mem); at += page {
		if at%(256*page) == 0 && stop() {
			return nil, ErrStopped
		}
		if bytes.Equal(part(mem, at), i.part(at)) {
			continue
		}
		if i.pages = append(i.pages, uint32(at/page)); len(i.pages)*page > most {
			return nil, ErrLarge
		}
	}
	var out bytes.Buffer
	w.Reset(&out)
	var differs [page]byte
	for n, p := range i.pages {
		if n%16 == 0 && stop() {
			return nil, ErrStopped
		}
		at := int(p) * page
		was := i.part(at)
		for k, b := range part(mem, at) {
			differs[k] = b ^ was[k]
		}
		if _, err := w.Write(differs[:]); err != nil {
			return nil, fmt.Errorf("snapshot: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	i.packed = bytes.Clone(out.Bytes()) // which has no room to spare
	clear(out.Bytes())
	return i, nil
}

// part is the page of a memory that begins there.
func part(mem []byte, at int) []byte { return mem[at : at+page] }

// none is a page with nothing.
var none = make([]byte, page)

// part is the page of the base; behind its end there is nothing.
func (i *image) part(at int) []byte {
	if at+page > len(i.base) {
		return none
	}
	return part(i.base, at)
}

// restore writes it to a memory of its size. Pages that have it already are not touched.
func (i *image) restore(mem []byte) error {
	if len(mem) != i.size {
		return fmt.Errorf("snapshot: of %d bytes for a memory of %d", i.size, len(mem))
	}
	r := flate.NewReader(bytes.NewReader(i.packed))
	defer r.Close()
	var is [page]byte
	next := 0
	for at := 0; at < len(mem); at += page {
		was := i.part(at)
		if next < len(i.pages) && int(i.pages[next])*page == at {
			next++
			if _, err := io.ReadFull(r, is[:]); err != nil {
				return fmt.Errorf("snapshot: %w", err)
			}
			for k := range is {
				is[k] ^= was[k]
			}
			was = is[:]
		}
		if !bytes.Equal(part(mem, at), was) {
			copy(part(mem, at), was)
		}
	}
	clear(is[:])
	return nil
}

// overhead is what an image takes beside its bytes, with what is kept with it: about as much.
const overhead = 2 << 10

func (i *image) bytes() int64 { return int64(len(i.packed)) + 4*int64(len(i.pages)) + overhead }

// erase leaves nothing of the words that may stand in it.
func (i *image) erase() { clear(i.packed) }
