// Package rpc takes messages of JSON-RPC apart without decoding them, and says what is
// wrong with one.
//
// It looks for little and in one pass, for doors that have to know what a message is
// before they give it to somebody who decodes all of it. It knows no methods, and no
// transport but that a fault has a status of HTTP.
package rpc

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Message is a message as it came, in pieces that point into its body. A piece is nil
// where the message has none.
type Message struct {
	Version, ID, Method, Params []byte
	// More says that it has other members, or one of them twice.
	More bool
}

// Read takes a message apart. What is no JSON object, or one that nobody writes, has no
// pieces.
func Read(body []byte) (m Message) {
	if !json.Valid(body) {
		return m
	}
	var of [4][]byte
	rest := Pick(body, of[:], "jsonrpc", "id", "method", "params")
	if rest < 0 {
		return m
	}
	return Message{of[0], of[1], of[2], of[3], rest > 0}
}

// CallID gives the id of a call; nil for what is none.
func (m Message) CallID() []byte {
	if m.Method == nil || m.ID == nil || !isID(m.ID) {
		return nil
	}
	return m.ID
}

func isID(raw []byte) bool {
	return raw[0] == '"' || raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9'
}

// maxDepth is how deep what is picked may be nested.
const maxDepth = 64

// Pick gives the values of an object's members by their names. The object must be valid JSON.
// Rest is how many members there are beside, each counted as one more that is there twice;
// -1 when it is no object, is nested too deep, or has a name with an escape in it.
func Pick(object []byte, values [][]byte, names ...string) (rest int) {
	i := space(object, 0)
	if i >= len(object) || object[i] != '{' {
		return -1
	}
	for i = space(object, i+1); i < len(object) && object[i] != '}'; {
		end := pastText(object, i)
		name := object[i+1 : end-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			return -1
		}
		i = space(object, space(object, end)+1) // the colon
		if end = pastValue(object, i); end < 0 {
			return -1
		}
		if n := index(names, name); n < 0 || values[n] != nil {
			rest++
		} else {
			values[n] = object[i:end:end]
		}
		if i = space(object, end); object[i] == ',' {
			i = space(object, i+1)
		}
	}
	return rest
}

func index(names []string, name []byte) int {
	for n := range names {
		if names[n] == string(name) {
			return n
		}
	}
	return -1
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// pastText gives where a text ends that begins at i.
func pastText(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// pastValue gives where a value ends that begins at i, -1 when it is nested too deep.
func pastValue(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = pastText(b, i)
		case '{', '[':
			if depth++; depth > maxDepth {
				return -1
			}
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\n', '\t', '\r': // within a value only
			i++
			continue
		default:
			for i++; i < len(b) && !strings.ContainsRune(",:]} \n\t\r", rune(b[i])); i++ {
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// PlainText gives a JSON text that is written as it is: of ASCII, and without
// characters that have to be escaped.
func PlainText(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	inner := raw[1 : len(raw)-1]
	for _, c := range inner {
		if c < ' ' || c > '~' || c == '\\' {
			return "", false
		}
	}
	return string(inner), true
}

// UsualID says whether an id is given back by everybody as it came: a whole number
// that is exact in every language, or a plain text.
func UsualID(raw []byte) bool {
	if _, ok := PlainText(raw); ok {
		return true
	}
	digits := raw
	if len(digits) > 1 && digits[0] == '-' && digits[1] != '0' {
		digits = digits[1:]
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(digits) > 0 && len(digits) <= 15
}
