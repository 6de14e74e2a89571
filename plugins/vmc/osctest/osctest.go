// Package osctest reads what package osc writes, for tests: it was written from the specification of Open Sound
// Control, and takes nothing that is not as it says.
//
// It knows no more types than osc, and no bundles in bundles.
package osctest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/companiond/companiond/plugins/vmc/osc"
)

// Read reads a bundle that is to be carried out at once, and holds it to the specification.
func Read(b []byte) (all []osc.Message, err error) {
	if len(b) < 16 || string(b[:8]) != "#bundle\x00" || binary.BigEndian.Uint64(b[8:]) != 1 {
		return nil, fmt.Errorf("no bundle for now: %x", b)
	}
	for b = b[16:]; len(b) > 0; {
		if len(b) < 4 {
			return nil, fmt.Errorf("no size: %x", b)
		}
		size := int(binary.BigEndian.Uint32(b))
		if b = b[4:]; size > len(b) || size%4 != 0 {
			return nil, fmt.Errorf("size %d of %d", size, len(b))
		}
		m, err := message(b[:size])
		if err != nil {
			return nil, err
		}
		all, b = append(all, m), b[size:]
	}
	return all, nil
}

func message(b []byte) (m osc.Message, err error) {
	if m.Address, b, err = padded(b); err != nil {
		return m, err
	}
	tags, b, err := padded(b)
	if err != nil {
		return m, err
	}
	if !strings.HasPrefix(m.Address, "/") || !strings.HasPrefix(tags, ",") {
		return m, fmt.Errorf("address %q, tags %q", m.Address, tags)
	}
	for _, tag := range tags[1:] {
		if tag == 's' {
			var s string
			if s, b, err = padded(b); err != nil {
				return m, err
			}
			m.Args = append(m.Args, s)
			continue
		}
		if len(b) < 4 || tag != 'i' && tag != 'f' {
			return m, fmt.Errorf("tag %q with %x", tag, b)
		}
		n := binary.BigEndian.Uint32(b)
		b = b[4:]
		if tag == 'i' {
			m.Args = append(m.Args, int32(n))
		} else if f := math.Float32frombits(n); f != f {
			return m, fmt.Errorf("not a number: %x", n) // its bits are not kept
		} else {
			m.Args = append(m.Args, f)
		}
	}
	if len(b) > 0 {
		return m, fmt.Errorf("%x is left", b)
	}
	return m, nil
}

// padded reads a text.
func padded(b []byte) (s string, rest []byte, err error) {
	n := bytes.IndexByte(b, 0)
	if n < 0 {
		return "", nil, fmt.Errorf("a text without an end: %x", b)
	}
	end := n/4*4 + 4
	if end > len(b) || len(bytes.Trim(b[n:end], "\x00")) > 0 {
		return "", nil, fmt.Errorf("a text that is not padded: %x", b)
	}
	return string(b[:n]), b[end:], nil
}
