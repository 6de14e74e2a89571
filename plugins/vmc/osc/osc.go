// Package osc writes Open Sound Control 1.0: messages, and bundles of them that are carried out at once.
//
// It sends nothing and reads nothing, and knows the types that the VMC protocol has: texts, whole numbers and floats.
package osc

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// Message is an address, such as /VMC/Ext/Blend/Val, and its arguments: each a string, an int32 or a float32.
type Message struct {
	Address string
	Args    []any
}

// Append appends the message to b, a multiple of four bytes. An address that does not begin with a slash, a text with
// a zero byte in it, and an argument of another type are errors, and b is as it was.
func (m Message) Append(b []byte) ([]byte, error) {
	if !strings.HasPrefix(m.Address, "/") {
		return b, fmt.Errorf("osc: the address %q does not begin with /", m.Address)
	}
	out, err := text(b, m.Address)
	if err != nil {
		return b, err
	}
	tags := ","
	for _, a := range m.Args {
		switch a.(type) {
		case string:
			tags += "s"
		case int32:
			tags += "i"
		case float32:
			tags += "f"
		default:
			return b, fmt.Errorf("osc: %s: there is no type for a %T", m.Address, a)
		}
	}
	if out, err = text(out, tags); err != nil {
		return b, err
	}
	for _, a := range m.Args {
		switch a := a.(type) {
		case string:
			if out, err = text(out, a); err != nil {
				return b, err
			}
		case int32:
			out = binary.BigEndian.AppendUint32(out, uint32(a))
		case float32:
			out = binary.BigEndian.AppendUint32(out, math.Float32bits(a))
		}
	}
	return out, nil
}

// text appends a text: its bytes, a zero, and more of them up to a multiple of four.
func text(b []byte, s string) ([]byte, error) {
	if strings.ContainsRune(s, 0) {
		return b, fmt.Errorf("osc: the text %q has a zero byte", s)
	}
	b = append(b, s...)
	return append(b, make([]byte, 4-len(s)%4)...), nil
}

// at once, of all times that a bundle can have.
const immediately = 1

// Bundle writes messages that are to be carried out together, at once.
func Bundle(messages ...Message) ([]byte, error) {
	b := append([]byte("#bundle\x00"), 0, 0, 0, 0, 0, 0, 0, immediately)
	for _, m := range messages {
		at := len(b)
		var err error
		if b, err = m.Append(append(b, 0, 0, 0, 0)); err != nil {
			return nil, err
		}
		binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	}
	return b, nil
}
