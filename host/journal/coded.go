package journal

import (
	"bytes"
	"errors"

	"github.com/companiond/companiond/abi"
)

// Coded puts trouble of the journal into the words that doors show, nil for none. What is in them
// already stays as it is.
func Coded(err error) error {
	var known *abi.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.Is(err, ErrUnavailable):
		return abi.Wrap(abi.CodeUnavailable, err, "the journal takes no entries now: "+reason(err, ErrUnavailable))
	case errors.Is(err, ErrCorrupt):
		return abi.Wrap(abi.CodeUnavailable, err, "the journal is damaged; reading goes on ("+reason(err, ErrCorrupt)+"); companiond replay says from where on, and only a backup mends it")
	case errors.Is(err, ErrUnknown):
		return abi.Wrap(abi.CodeUnavailable, err, "the journal did not answer; look whether the message is there before you send it again")
	case errors.Is(err, ErrFenced):
		return abi.Wrap(abi.CodeUnavailable, err, "another daemon has taken the room over")
	case errors.Is(err, ErrConflict):
		return abi.Wrap(abi.CodeConflict, err, "the room moved on while this was written; try again")
	}
	return abi.AsError(err)
}

// reason gives what an engine added to one of the journal's errors.
func reason(err, class error) string {
	msg := err.Error()
	if i := bytes.LastIndex([]byte(msg), []byte(class.Error())); i >= 0 {
		msg = msg[i+len(class.Error()):]
	}
	if len(msg) > 2 && msg[:2] == ": " {
		return msg[2:]
	}
	return "no reason given"
}
