package conversations

import (
	"cmp"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/door/guard"
)

// located is an error about one place of a request.
type located struct {
	where string
	why   error
}

func (l located) Error() string { return l.why.Error() }

// Unwrap gives the error that the other doors know.
func (l located) Unwrap() error { return l.why }

// at says where in a request an error is, nil of none.
func at(where string, err error) error {
	if err == nil {
		return nil
	}
	return located{where, err}
}

// ofTarget and ofID say where a fault is of a request that names an agent or a conversation. What
// the faults are about besides is told by the checks before.
func ofTarget(err error) error {
	return byCode(err, "body.agent_id", conversation.WithSelf, conversation.WithHuman, conversation.AgentNotFound, conversation.NotInProject, conversation.AlreadyActive)
}

func ofID(where string, err error) error {
	return byCode(err, where, conversation.NotFound, conversation.NotParticipant, conversation.NoneActive, conversation.NotOpen, conversation.NotYourTurn)
}

func byCode(err error, where string, codes ...string) error {
	if f := (*conversation.Fault)(nil); errors.As(err, &f) && slices.Contains(codes, f.Code) {
		return at(where, err)
	}
	return err
}

// details gives an error as a client may see it: a fault of a conversation under its own
// code and status, all others as the rest of the door has them.
func details(err error) *guard.Details {
	d := guard.DetailsOf(err)
	if f := (*conversation.Fault)(nil); errors.As(err, &f) {
		detail := strings.TrimPrefix(f.Error(), f.Code+": ")
		if f.Code == conversation.Invalid {
			detail = cmp.Or(f.Detail, detail) // which names what is wrong
		}
		d = &guard.Details{Type: "about:blank", Title: http.StatusText(f.Status), Status: f.Status, Detail: detail, Code: abi.Code(f.Code)}
	}
	var l located
	if !errors.As(err, &l) || d.Status >= http.StatusInternalServerError || len(d.Errors) > 0 {
		return d
	}
	told, message := *d, d.Detail
	if e := (*abi.Error)(nil); errors.As(err, &e) && d.Code == e.Code {
		message = e.Reason()
	}
	name := l.where[strings.LastIndex(l.where, ".")+1:]
	message = strings.TrimPrefix(strings.TrimPrefix(message, name+": "), name+"_id: ") // the tools of agents have longer ones
	told.Errors = []guard.Field{{Location: l.where, Message: message}}
	told.Detail = strings.TrimPrefix(l.where, "body.") + ": " + message
	return &told
}

// Refusal gives an error as this API answers it, with what goes into the header.
func Refusal(err error) error {
	d := details(err)
	if after := guard.RetryAfter(err); after != "" {
		return huma.ErrorWithHeaders(d, http.Header{"Retry-After": {after}})
	}
	return d
}

// describeFaults adds the codes of conversations to those that a problem may have.
func describeFaults(api huma.API) {
	schemas := api.OpenAPI().Components.Schemas
	problem := schemas.SchemaFromRef(schemas.Schema(reflect.TypeFor[guard.Details](), true, "").Ref)
	for _, f := range conversation.Faults {
		problem.Properties["code"].Enum = append(problem.Properties["code"].Enum, f.Code)
	}
}

// checkText finds what is wrong with a text of a conversation.
func checkText(where, text string, needed bool) error {
	if n := utf8.RuneCountInString(text); n > conversation.MaxText {
		return at(where, abi.Errorf(abi.CodeInvalid, "%d characters, at most %d", n, conversation.MaxText))
	}
	if text == "" && !needed {
		return nil
	}
	return at(where, abi.CheckText("text", text))
}

// checkID finds what is wrong with the id of a message.
func checkID(id string) error {
	if id == "" {
		return nil
	}
	return at("body.id", abi.CheckName("id", id))
}
