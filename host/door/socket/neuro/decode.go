package neuro

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/force"
)

// The bounds of what a game says, in bytes.
const (
	MaxMessage = 1 << 20 // all of it
	maxText    = 32 << 10
	maxID      = 128
)

// command is what a game says: one of the types below.
type command interface{}

type (
	startup    struct{}
	ready      struct{} // to shut down, which nobody asked it to
	context_   struct{ force.Context }
	register   struct{ actions []offered }
	unregister struct{ names []string }
	forces     struct{ force.Force }
	result     struct {
		id, message string
		ok          bool
	}
)

// offered is an action that a game offers, or why it cannot be one.
type offered struct {
	card.Action
	bad force.Rule
	why string
}

// fault is what is wrong with a message.
type fault struct {
	rule force.Rule
	text string
}

func (f *fault) Error() string { return string(f.rule) + ": " + f.text }

func faultf(rule force.Rule, format string, args ...any) *fault {
	return &fault{rule, fmt.Sprintf(format, args...)}
}

// envelope is what every message of a game is.
type envelope struct {
	Command *string         `json:"command"`
	Game    string          `json:"game"`
	Data    json.RawMessage `json:"data"`
}

// decode makes of a message what its game says. game is how it calls itself, empty where it
// does not. With a fault the command is nil.
func decode(message []byte) (game string, c command, wrong *fault) {
	var e envelope
	err := errors.New("no UTF-8")
	if utf8.Valid(message) {
		err = json.Unmarshal(message, &e)
	}
	switch {
	case mistyped(err) != "":
		return "", nil, faultf(force.MessageField, "%s", mistyped(err))
	case err != nil:
		return "", nil, faultf(force.MessageRubbish, "it is no JSON object: %v", err)
	case e.Command == nil:
		return "", nil, faultf(force.MessageField, "command is missing")
	}
	game = tidy(e.Game)
	switch *e.Command {
	case "startup":
		return game, startup{}, nil
	case "shutdown/ready":
		return game, ready{}, nil
	case "context":
		c, wrong = decodeContext(e.Data)
	case "actions/register":
		c, wrong = decodeRegister(e.Data)
	case "actions/unregister":
		c, wrong = decodeUnregister(e.Data)
	case "actions/force":
		c, wrong = decodeForce(e.Data)
	case "action/result":
		c, wrong = decodeResult(e.Data)
	default:
		wrong = faultf(force.MessageCommand, "%.64q is no command", *e.Command)
	}
	if wrong != nil {
		c = nil
	}
	return game, c, wrong
}

// tidy is how a game is called: letters that can be printed, in one line.
func tidy(game string) string {
	game = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, game))
	if len(game) > abi.MaxName {
		game = strings.ToValidUTF8(game[:abi.MaxName], "")
	}
	return game
}

// mistyped names the field that has a value of another type, "" where an error has another cause.
func mistyped(err error) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) || wrong.Field == "" {
		return ""
	}
	return fmt.Sprintf("%s is a JSON %s, must be %s", wrong.Field, wrong.Value, kinds[wrong.Type.Kind().String()])
}

var kinds = map[string]string{"string": "a string", "bool": "true or false", "slice": "a list", "struct": "an object", "ptr": "a string", "uint8": "a list"}

// fields reads the data of a message.
func fields[T any](data json.RawMessage) (v T, wrong *fault) {
	if len(data) == 0 || bytes.Equal(data, []byte("null")) {
		return v, faultf(force.MessageField, "data is missing")
	}
	if err := json.Unmarshal(data, &v); err != nil {
		if said := mistyped(err); said != "" {
			return v, faultf(force.MessageField, "data.%s", said)
		}
		return v, faultf(force.MessageField, "data is no object")
	}
	return v, nil
}

func decodeContext(data json.RawMessage) (command, *fault) {
	v, wrong := fields[struct {
		Message string `json:"message"`
		Silent  bool   `json:"silent"`
	}](data)
	switch {
	case wrong != nil:
		return nil, wrong
	case strings.TrimSpace(v.Message) == "":
		return nil, faultf(force.ContextEmpty, "data.message is empty")
	case len(v.Message) > maxText:
		return nil, faultf(force.ContextLong, "data.message has %d bytes, at most %d", len(v.Message), maxText)
	}
	return context_{force.Context{Text: v.Message, Silent: v.Silent}}, nil
}

func decodeRegister(data json.RawMessage) (command, *fault) {
	v, wrong := fields[struct {
		Actions []json.RawMessage `json:"actions"`
	}](data)
	switch {
	case wrong != nil:
		return nil, wrong
	case len(v.Actions) == 0:
		return nil, faultf(force.RegisterEmpty, "data.actions is empty")
	}
	if n := len(v.Actions); n > force.MaxNames {
		return nil, faultf(force.RegisterFull, "data.actions has %d actions, at most %d", n, force.MaxNames)
	}
	var c register
	for i, raw := range v.Actions {
		c.actions = append(c.actions, decodeAction(i, raw))
	}
	return c, nil
}

// decodeAction reads one of the actions that a game registers.
func decodeAction(i int, raw json.RawMessage) (o offered) {
	var v struct {
		Name        *string         `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"schema"`
	}
	err := json.Unmarshal(raw, &v)
	switch {
	case mistyped(err) != "":
		o.bad, o.why = force.MessageField, fmt.Sprintf("data.actions[%d].%s", i, mistyped(err))
	case err != nil || v.Name == nil:
		o.bad, o.why = force.MessageField, fmt.Sprintf("data.actions[%d].name is missing", i)
	default:
		o.Action, err = card.NewAction(*v.Name, v.Description, v.Schema)
		if e := abi.AsError(err); err != nil {
			o.bad, o.why = force.RegisterSchema, fmt.Sprintf("data.actions[%d] %.64q: %s", i, *v.Name, e.Message)
			if e.Field == "name" {
				o.bad = force.RegisterName
			}
		}
	}
	return o
}

func decodeUnregister(data json.RawMessage) (command, *fault) {
	v, wrong := fields[struct {
		Names []string `json:"action_names"`
	}](data)
	if wrong == nil && len(v.Names) == 0 {
		wrong = faultf(force.MessageField, "data.action_names is empty")
	}
	if wrong == nil && len(v.Names) > force.MaxNames {
		v.Names = v.Names[:force.MaxNames] // nobody has more
	}
	return unregister{v.Names}, wrong
}

func decodeForce(data json.RawMessage) (command, *fault) {
	v, wrong := fields[struct {
		State     string   `json:"state"`
		Query     string   `json:"query"`
		Ephemeral bool     `json:"ephemeral_context"`
		Priority  string   `json:"priority"`
		Names     []string `json:"action_names"`
	}](data)
	switch {
	case wrong != nil:
		return nil, wrong
	case strings.TrimSpace(v.Query) == "":
		return nil, faultf(force.MessageField, "data.query is empty; say what the companion is to do")
	case len(v.Query)+len(v.State) > maxText:
		return nil, faultf(force.ContextLong, "data.state and data.query have %d bytes, at most %d", len(v.State)+len(v.Query), maxText)
	case len(v.Names) > force.MaxNames:
		return nil, faultf(force.MessageField, "data.action_names has %d names, at most %d", len(v.Names), force.MaxNames)
	}
	return forces{force.Force{State: v.State, Query: v.Query, Ephemeral: v.Ephemeral, Priority: force.Priority(v.Priority), Actions: v.Names}}, nil
}

func decodeResult(data json.RawMessage) (command, *fault) {
	v, wrong := fields[struct {
		ID      string `json:"id"`
		Success *bool  `json:"success"`
		Message string `json:"message"`
	}](data)
	switch {
	case wrong != nil:
		return nil, wrong
	case v.ID == "" || len(v.ID) > maxID:
		return nil, faultf(force.MessageField, "data.id has %d bytes, must have 1 to %d; it is that of the action", len(v.ID), maxID)
	case v.Success == nil:
		return nil, faultf(force.MessageField, "data.success is missing; it is true or false")
	case len(v.Message) > maxText:
		return nil, faultf(force.ContextLong, "data.message has %d bytes, at most %d", len(v.Message), maxText)
	}
	return result{v.ID, v.Message, *v.Success}, nil
}
