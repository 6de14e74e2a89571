// Package handlers is the handlers of the house over HTTP: which there are and what each can do, and an action that a person
// has one of them carry out. docs/handlers.md has the rest.
//
// Rights are here: whoever may read sees them, and only people have them act, whatever the token of an agent is for. The
// package carries out nothing itself, and never tells a handler's settings.
package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/handler"
	"github.com/companiond/companiond/host/identity"
)

// Stage has the handlers. *handler.Stage implements it.
type Stage interface {
	List() []handler.Listed
	Act(ctx context.Context, by, handler, action string, parameters json.RawMessage) (message string, err error)
}

var _ Stage = (*handler.Stage)(nil)

// Operation makes an operation of the API as its other ones are, in problems and bounds.
type Operation func(method, path, id, summary string, status int) huma.Operation

// Handler is a handler as the door shows it.
type Handler struct {
	Name       string   `json:"name" doc:"Its name in the configuration." example:"chat"`
	Module     string   `json:"module" doc:"The module that it is." example:"chat"`
	Error      string   `json:"error" doc:"Why it can do nothing now; empty when all is well."`
	Companions []string `json:"companions" doc:"The companions that it acts for, of those that are loaded."`
	Actions    []Action `json:"actions" doc:"What it can be asked for; nothing of one that only looks, or says."`
}

// Action is something that a handler can do.
type Action struct {
	Name        string          `json:"name" doc:"Its name." example:"chat.mute"`
	Description string          `json:"description" doc:"What it does."`
	Schema      json.RawMessage `json:"schema,omitempty" doc:"The JSON Schema of its parameters, an object; absent where it has none."`
}

// parameters are an object, whose schema the handler has.
type parameters []byte

// UnmarshalJSON keeps them as they came.
func (p *parameters) UnmarshalJSON(raw []byte) error {
	*p = bytes.Clone(raw)
	return nil
}

// Schema says that they are an object.
func (parameters) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: "The action's parameters, by its schema."}
}

type (
	body[T any] struct{ Body T }
	handlersOut struct {
		Handlers []Handler `json:"handlers" doc:"In the order of the configuration."`
	}
	actIn struct {
		Handler string `path:"handler" doc:"The handler's name." example:"chat"`
		Action  string `path:"action" doc:"The action's name." example:"chat.mute"`
		Body    *parameters
	}
	actedOut struct {
		Message string `json:"message" doc:"What the handler says of it."`
	}
)

type door struct{ stage Stage }

// Register adds the operations to an API.
func Register(api huma.API, op Operation, stage Stage) {
	d := &door{stage}
	list := op(http.MethodGet, "/v1/handlers", "list-handlers", "List the handlers and what they can do", http.StatusOK)
	add(api, identity.Read, d.list, list)
	act := op(http.MethodPost, "/v1/handlers/{handler}/actions/{action}", "act", "Have a handler do something", http.StatusOK)
	act.Description = "For people: a token of an agent cannot. The answer comes when the handler has done it, within half a minute."
	add(api, identity.Act, d.act, act)
}

// add adds an operation whose answer is a body and nothing else.
func add[I, O any](api huma.API, scope identity.Scope, h func(context.Context, *I) (O, error), op huma.Operation) {
	huma.Register(api, op, func(ctx context.Context, in *I) (*body[O], error) {
		err := identity.Of(ctx).May(scope)
		var out O
		if err == nil {
			out, err = h(ctx, in)
		}
		if err != nil {
			return nil, refusal(err)
		}
		return &body[O]{out}, nil
	})
}

func (d *door) list(context.Context, *struct{}) (handlersOut, error) {
	out := handlersOut{[]Handler{}}
	for _, l := range d.stage.List() {
		h := Handler{Name: l.Name, Module: l.Module, Error: l.Why, Companions: append([]string{}, l.Companions...), Actions: []Action{}}
		for _, a := range l.Actions {
			h.Actions = append(h.Actions, Action{a.Title, a.Description, a.Schema})
		}
		out.Handlers = append(out.Handlers, h)
	}
	return out, nil
}

func (d *door) act(ctx context.Context, in *actIn) (out actedOut, err error) {
	by, err := identity.Of(ctx).Person("has a handler do something")
	if err != nil {
		return out, err
	}
	var with json.RawMessage
	if in.Body != nil {
		with = json.RawMessage(*in.Body)
	}
	out.Message, err = d.stage.Act(ctx, by, in.Handler, in.Action, with)
	return out, err
}

// refusal gives an error as this API answers it, with the place in the request that it is about. What is wrong with us has
// no place.
func refusal(err error) error {
	d := *guard.DetailsOf(err)
	var e *abi.Error
	if d.Status >= http.StatusInternalServerError || len(d.Errors) > 0 || !errors.As(err, &e) {
		return &d
	}
	switch first, rest, deeper := strings.Cut(e.Field, "."); {
	case first == "parameters" && deeper:
		d.Errors = []guard.Field{{Location: "body." + rest, Message: e.Reason()}}
	case first == "parameters":
		d.Errors = []guard.Field{{Location: "body", Message: e.Reason()}}
	case e.Field == "handler" || e.Field == "action":
		d.Errors = []guard.Field{{Location: "path." + e.Field, Message: e.Reason()}}
	}
	return &d
}
