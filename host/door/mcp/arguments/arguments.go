// Package arguments reads what a tool of MCP is called with. A mistake is told in
// words that name the argument and that a model can act on, none of a Go program's.
//
// It never calls a tool, does not know which there are, and knows no MCP SDK.
package arguments

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"

	"github.com/companiond/companiond/abi"
)

// Decode reads the arguments of a call, an object or nothing at all. An argument
// that In does not have is refused, and so is one of another kind.
//
// # Errors
//
// CodeInvalid, in words that begin with the name of the argument.
func Decode[In any](raw json.RawMessage) (In, error) {
	var in In
	if len(bytes.TrimSpace(raw)) == 0 {
		return in, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return in, told(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return in, abi.Errorf(abi.CodeInvalid, "arguments: more than one value")
	}
	return in, nil
}

// Name gives an error about a field of the room's the name of the argument that it came
// in: a tool's message is a text there, and what a vote has stands in it.
func Name(err error) error {
	e := abi.AsError(err)
	if e == nil {
		return nil
	}
	field := strings.TrimPrefix(e.Field, "vote.")
	if field == "text" {
		field = "message"
	}
	if field == e.Field {
		return err
	}
	return abi.Field(field, e.Code, "%s", e.Reason())
}

// told says in words what the decoder found.
func told(err error) error {
	var wrong *json.UnmarshalTypeError
	var broken *json.SyntaxError
	unknown, isUnknown := strings.CutPrefix(err.Error(), "json: unknown field ")
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return abi.Field(wrong.Field, abi.CodeInvalid, "must be %s, not %s", kindOf(wrong.Type), wrong.Value)
	case errors.As(err, &wrong):
		return abi.Field("arguments", abi.CodeInvalid, "must be an object such as {}, not %s", wrong.Value)
	case isUnknown:
		return abi.Field(strings.Trim(unknown, `"`), abi.CodeInvalid, "there is no such argument")
	case errors.As(err, &broken):
		return abi.Field("arguments", abi.CodeInvalid, "are no JSON: %s", broken)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return abi.Field("arguments", abi.CodeInvalid, "are no JSON: they end too early")
	}
	return abi.Field("arguments", abi.CodeInvalid, "cannot be read") // the words are those of a Go program
}

// kindOf is a kind of value in words.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number of 0 or more"
	case reflect.String:
		return "a text"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Bool:
		return "true or false"
	}
	return "an object"
}
