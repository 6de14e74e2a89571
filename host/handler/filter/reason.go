package filter

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/module"
)

// reason gives why a handler failed, in words that may be shown.
func reason(err error) string {
	var fault *module.Fault
	switch {
	case errors.As(err, &fault) && fault.Kind == module.FaultTimeout, errors.Is(err, context.DeadlineExceeded):
		return "it did not answer within " + Patience.String()
	case errors.As(err, &fault) && fault.Kind == module.FaultFuel:
		return "it computed for longer than a filter may"
	case errors.As(err, &fault):
		return "it broke down: " + string(fault.Kind)
	}
	return module.Reason(err)
}

// short keeps a reason to one line, to its bound, and to what shows: no sign that moves or hides what stands beside it.
func short(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, s)
	if len(s) > entry.MaxReason {
		s = strings.ToValidUTF8(s[:entry.MaxReason-len("…")], "") + "…"
	}
	return s
}
