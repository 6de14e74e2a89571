// Package stream reads what endpoints of language models stream: server-sent events, text without the
// thoughts that some models write into it, and tool calls out of their parts. It is kinder than the
// protocols are, because the servers are not exact.
//
// It decodes and nothing else: it opens no connection, knows no clock, and holds no API's shapes.
package stream

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Event is one server-sent event.
type Event struct {
	Name string // "" when it has none
	Data []byte
	Torn bool // the stream ended within it
}

// Events reads server-sent events (WHATWG HTML 9.2.6) more kindly than the standard: an event also
// ends where the next data line begins, if what it has is whole, for some servers leave out the
// empty line; one that the stream's end cuts is given as torn; and an answer that is a plain JSON
// value, from a server that does not stream, is one event.
type Events struct {
	in      *bufio.Reader
	begun   bool
	skipLF  bool
	pending Event
	hasData bool
	line    []byte
}

// NewEvents reads r, which should bound itself: an event is held in memory.
func NewEvents(r io.Reader) *Events { return &Events{in: bufio.NewReader(r)} }

// Next gives the next event that has data. Its error is io.EOF at the end, or the reader's.
func (e *Events) Next() (Event, error) {
	if !e.begun {
		e.begun = true
		if whole, ok, err := e.plain(); ok || err != nil {
			return whole, err
		}
	}
	for {
		line, err := e.readLine()
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return Event{}, err
		case err != nil && len(line) == 0:
			if ev, ok := e.take(); ok {
				ev.Torn = true
				return ev, nil
			}
			return Event{}, err
		}
		if len(line) == 0 {
			if ev, ok := e.take(); ok {
				return ev, nil
			}
			continue
		}
		if isData(line) && e.hasData && complete(e.pending.Data) {
			ev, _ := e.take()
			e.field(line)
			return ev, nil
		}
		e.field(line)
	}
}

// plain reads an answer that begins like a JSON value.
func (e *Events) plain() (Event, bool, error) {
	for {
		b, err := e.in.ReadByte()
		if err != nil {
			return Event{}, false, err
		}
		switch b {
		case ' ', '\t', '\r', '\n', 0xEF, 0xBB, 0xBF: // the last three are a byte order mark
			continue
		}
		if err := e.in.UnreadByte(); err != nil {
			return Event{}, false, err
		}
		if b != '{' && b != '[' {
			return Event{}, false, nil
		}
		data, err := io.ReadAll(e.in)
		return Event{Data: data}, err == nil, err
	}
}

// readLine reads up to \n, \r or \r\n without waiting for what follows a \r. What it gives is
// valid until it is called again.
func (e *Events) readLine() ([]byte, error) {
	e.line = e.line[:0]
	for {
		b, err := e.in.ReadByte()
		if err != nil {
			return e.line, err
		}
		skip := e.skipLF && b == '\n'
		e.skipLF = b == '\r'
		switch {
		case skip:
		case b == '\n' || b == '\r':
			return e.line, nil
		default:
			e.line = append(e.line, b)
		}
	}
}

// field takes a line into the pending Event.
func (e *Events) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		e.pending.Name = string(value)
	case "data":
		if e.hasData {
			e.pending.Data = append(e.pending.Data, '\n')
		}
		e.pending.Data = append(e.pending.Data, value...)
		e.hasData = true
	}
}

func (e *Events) take() (Event, bool) {
	ev, ok := e.pending, e.hasData
	e.pending, e.hasData = Event{}, false
	return ev, ok
}

func isData(line []byte) bool {
	return bytes.HasPrefix(line, []byte("data:")) || string(line) == "data"
}

// Done is how OpenAI's API ends a stream.
const Done = "[DONE]"

func complete(data []byte) bool {
	return string(bytes.TrimSpace(data)) == Done || json.Valid(data)
}
