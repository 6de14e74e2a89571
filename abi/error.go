package abi

import (
	"errors"
	"fmt"
	"strings"
)

// Code classes an error at a border; each door maps it once.
type Code string

// The codes. A module may use all of them; doors show all of them.
const (
	CodeInvalid     Code = "invalid"     // the input breaks a rule; the message names the field
	CodeDenied      Code = "denied"      // the caller may not
	CodeNotFound    Code = "not_found"   // no such room, entry, companion, key
	CodeConflict    Code = "conflict"    // the state has moved on; look again
	CodeStale       Code = "stale"       // the line's basis is older than the room's head
	CodeTooLarge    Code = "too_large"   // over a documented bound
	CodeExhausted   Code = "exhausted"   // a quota or queue is full; later may do
	CodeUnavailable Code = "unavailable" // cannot be done now (disk full, quarantined, draining)
	CodeTimeout     Code = "timeout"     // not done in time
	CodeUnknownOp   Code = "unknown_op"  // the module or host does not know the op
	CodeInternal    Code = "internal"    // a fault of ours or the module's
)

// Error is the one error type that crosses borders. The cause, where there is
// one, is for logs only.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"` // what of the request is at fault; the message begins with it
	Retry   bool   `json:"retry,omitempty"` // the same request may succeed later
	// After is when that is, in milliseconds from now, where it is known.
	After int64 `json:"retry_after_ms,omitempty"`
	cause error
}

// Error gives code and message.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap gives the cause, which is never shown at a door.
func (e *Error) Unwrap() error { return e.cause }

// Errorf makes an Error. A %w verb keeps the cause for logs.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	retry := code == CodeExhausted || code == CodeUnavailable || code == CodeTimeout
	return &Error{Code: code, Message: err.Error(), Retry: retry, cause: errors.Unwrap(err)}
}

// Field makes an Error about one field of what was asked, a path such as "to[1]".
// The message begins with it: "to[1]: must not be empty".
func Field(field string, code Code, format string, args ...any) *Error {
	e := Errorf(code, format, args...)
	e.Field, e.Message = field, field+": "+e.Message
	return e
}

// Reason gives the message without the field.
func (e *Error) Reason() string { return strings.TrimPrefix(e.Message, e.Field+": ") }

// Wrap makes an Error whose message does not show its cause.
func Wrap(code Code, cause error, message string) *Error {
	e := Errorf(code, "%s", message)
	e.cause = cause
	return e
}

// AsError turns any error into an Error: one found in its chain, or
// CodeInternal with a message that gives nothing away.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: CodeInternal, Message: "internal error", cause: err}
}

// CodeOf gives the code of err, "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return AsError(err).Code
}
