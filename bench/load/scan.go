package main

import (
	"bytes"
	"iter"
	"strings"
)

// The two servers share the machine with this program, so it reads of an answer
// only what it needs: decoding a long history would cost more than serving it.

// member gives the value of an object's member as it is written, or nil. It
// trusts that what it skips is JSON.
func member(object []byte, name string) []byte {
	i := space(object, 0)
	if i >= len(object) || object[i] != '{' {
		return nil
	}
	for i++; ; i++ {
		i = space(object, i)
		key := skip(object, i)
		if key < 0 || object[i] != '"' {
			return nil
		}
		found := string(object[i+1:key-1]) == name
		i = space(object, key)
		if i >= len(object) || object[i] != ':' {
			return nil
		}
		i = space(object, i+1)
		end := skip(object, i)
		if end < 0 {
			return nil
		}
		if found {
			return object[i:end]
		}
		if i = space(object, end); i >= len(object) || object[i] != ',' {
			return nil
		}
	}
}

// skip gives the index after the value at i, or -1.
func skip(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		for i++; i < len(b); i++ {
			at := bytes.IndexByte(b[i:], '"')
			if at < 0 {
				return -1
			}
			i += at
			if !escaped(b, i) {
				return i + 1
			}
		}
		return -1
	case '{', '[':
		for depth := 0; i < len(b); i++ {
			switch b[i] {
			case '"':
				if i = skip(b, i) - 1; i < 0 {
					return -1
				}
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return -1
	}
	start := i
	for i < len(b) && strings.IndexByte(",}] \t\r\n", b[i]) < 0 {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

// escaped says whether an odd number of backslashes stands before i.
func escaped(b []byte, i int) bool {
	n := 0
	for i-n-1 >= 0 && b[i-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// events gives the data of each event of a stream.
func events(stream []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var data []byte
		for line := range bytes.Lines(stream) {
			line = bytes.TrimRight(line, "\r\n")
			if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				if data != nil {
					data = append(data, '\n')
				}
				data = append(data, bytes.TrimPrefix(rest, []byte(" "))...)
				continue
			}
			if len(line) == 0 && len(data) > 0 {
				if !yield(data) {
					return
				}
				data = nil
			}
		}
		if len(data) > 0 {
			yield(data)
		}
	}
}
