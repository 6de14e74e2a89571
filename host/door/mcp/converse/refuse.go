package converse

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/door/guard"
)

// Refusal is why a tool did not do what it was asked for.
type Refusal struct {
	Code    string `json:"code"`   // of docs/CONVERSATIONS.md, or of package abi
	Status  int    `json:"status"` // of HTTP
	Message string `json:"message"`
	Detail  string `json:"detail,omitempty"`
	Retry   bool   `json:"retry,omitempty"` // the same call may succeed later
}

// Refuse gives what a client may know of an error.
func Refuse(err error) Refusal {
	var fault *conversation.Fault
	if errors.As(err, &fault) {
		return Refusal{Code: fault.Code, Status: fault.Status, Message: fault.Text, Detail: fault.Detail}
	}
	d := guard.DetailsOf(err)
	if d.Code == abi.CodeInvalid {
		return Refuse(conversation.Refuse(conversation.Invalid, d.Detail))
	}
	return Refusal{Code: string(d.Code), Status: d.Status, Message: d.Detail, Retry: d.Retry}
}

// invalid refuses an argument, by its name.
func invalid(format string, args ...any) error {
	return conversation.Refuse(conversation.Invalid, fmt.Sprintf(format, args...))
}

// short shows what somebody gave for a name.
func short(name string) string {
	if abi.CheckName("name", name) == nil {
		return name
	}
	return strconv.QuoteToASCII(fmt.Sprintf("%.64s", name))
}

// checkText refuses a text that is too long.
func checkText(name, text string) error {
	if n := utf8.RuneCountInString(text); n > conversation.MaxText {
		return invalid("%s: has %d characters, at most %d", name, n, conversation.MaxText)
	}
	return nil
}
