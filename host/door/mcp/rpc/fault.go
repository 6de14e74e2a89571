package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// The codes of JSON-RPC.
const (
	CodeParse    = -32700 // it is no JSON
	CodeRequest  = -32600 // it is no request, or none that may come now
	CodeMethod   = -32601 // there is no such method
	CodeParams   = -32602 // the method does not take them
	CodeInternal = -32603 // the house is at fault
)

// Fault is a refusal as an error of JSON-RPC.
type Fault struct {
	Status  int    // of HTTP, with which it goes out
	ID      []byte // of the request; nil where there is none, or it is not what is wrong
	Code    int64
	Message string // for people
}

// Error gives the message.
func (f *Fault) Error() string { return f.Message }

// Encode gives the JSON of a fault. The id must be one as it came.
func (f *Fault) Encode() []byte {
	id := f.ID
	if id == nil {
		id = []byte("null")
	}
	var message bytes.Buffer
	enc := json.NewEncoder(&message)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(f.Message); err != nil {
		panic(err) // cannot be: it is a string
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, f.Code, bytes.TrimSpace(message.Bytes()))
}

func bad(code int64, format string, with ...any) *Fault {
	return &Fault{Code: code, Message: fmt.Sprintf(format, with...)}
}

// Misshapen finds what makes a body no message, nor a batch of some; nil where it is one.
func Misshapen(body []byte) *Fault {
	first := bytes.TrimSpace(body)
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(body, new(any)); {
	case len(first) == 0:
		return bad(CodeParse, "body: is empty")
	case errors.As(err, &syntax):
		return bad(CodeParse, "body: is no JSON: %v, at byte %d", syntax, syntax.Offset)
	case err != nil:
		return bad(CodeParse, "body: is no JSON: %v", err)
	case first[0] == '{':
		return noMessage("", body)
	case first[0] != '[':
		return bad(CodeRequest, "body: must be an object")
	}
	var batch []json.RawMessage
	if err := json.Unmarshal(body, &batch); err != nil || len(batch) == 0 {
		return bad(CodeRequest, "body: an empty batch")
	}
	for at, one := range batch {
		if one[0] != '{' {
			return bad(CodeRequest, "body[%d]: must be an object", at)
		}
		if f := noMessage(fmt.Sprintf("body[%d].", at), one); f != nil {
			return f
		}
	}
	return nil
}

// noMessage finds what makes an object no message, nil where it is one.
func noMessage(in string, object []byte) *Fault {
	switch m := Read(object); {
	case string(m.Version) != `"2.0"`:
		return bad(CodeRequest, `%sjsonrpc: must be "2.0"`, in)
	case m.ID != nil && !isID(m.ID) && string(m.ID) != "null":
		return bad(CodeRequest, "%sid: must be a text or a number", in)
	case m.Method != nil && m.Method[0] != '"':
		return bad(CodeRequest, "%smethod: must be a text", in)
	case m.Method == nil && (m.ID == nil || string(m.ID) == "null"):
		return bad(CodeRequest, "%smethod: is missing", in)
	}
	return nil
}
