package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/context/told"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/web/memories"
	"github.com/companiond/companiond/host/rooms"
)

// settings is huma as this door wants it: no $schema in bodies, no page that
// loads scripts from elsewhere, unknown fields and parameters refused, and
// problems in our shape. /openapi.* is served by [Register], since huma renders
// it on the first request without a lock.
func settings(v Version) huma.Config {
	c := huma.DefaultConfig("companiond", v.Version)
	c.Info.Description = "AI characters that talk with each other and with people, in turn. Live entries come over the WebSocket at /v1/rooms/{room}/feed."
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.CreateHooks = nil
	c.RejectUnknownQueryParameters = true
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	c.Transformers = []huma.Transformer{inOurShape}
	return c
}

func schemaName(t reflect.Type, hint string) string {
	switch t {
	case reflect.TypeFor[guard.Details]():
		return "Problem"
	case reflect.TypeFor[guard.Field]():
		return "ProblemField"
	case reflect.TypeFor[rooms.Info]():
		return "Room"
	case reflect.TypeFor[conversation.Member](), reflect.TypeFor[conversation.Terms](), reflect.TypeFor[conversation.Ending](), reflect.TypeFor[conversations.View]():
		return "Conversation" + t.Name()
	case reflect.TypeFor[told.Part](), reflect.TypeFor[memories.Count](), reflect.TypeFor[memories.Order]():
		return map[string]string{"Part": "PromptPart", "Count": "ForgetOrderCount", "Order": "ForgetOrder"}[t.Name()]
	}
	return strings.TrimSuffix(huma.DefaultSchemaNamer(t, hint), "Out")
}

func problemResponse(api huma.API) *huma.Response {
	schema := api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[guard.Details](), true, "")
	return &huma.Response{Description: "Why it was refused", Content: map[string]*huma.MediaType{"application/problem+json": {Schema: schema}}}
}

// document renders the description; it must not change afterwards.
func document(api huma.API) (asJSON, asYAML []byte, err error) {
	if asJSON, err = json.MarshalIndent(api.OpenAPI(), "", "  "); err != nil {
		return nil, nil, fmt.Errorf("describe the API: %w", err)
	}
	if asYAML, err = api.OpenAPI().YAML(); err != nil {
		return nil, nil, fmt.Errorf("describe the API: %w", err)
	}
	return append(asJSON, '\n'), asYAML, nil
}

// tidy makes the description say what is true: lists are never null here,
// answers may get more fields within v1, and huma's own shape of errors is not
// used.
func tidy(doc *huma.OpenAPI) {
	all := doc.Components.Schemas.Map()
	delete(all, "ErrorModel")
	delete(all, "ErrorDetail")
	for name, s := range all {
		if closed, ok := s.AdditionalProperties.(bool); ok && !closed && !strings.HasSuffix(name, "Body") {
			s.AdditionalProperties = nil
		}
		for field, p := range s.Properties {
			if p.Type == huma.TypeArray && (name != "SayBody" || field != "to") {
				p.Nullable = false
			}
		}
	}
	for _, path := range doc.Paths {
		for _, op := range []*huma.Operation{path.Get, path.Post, path.Patch, path.Delete} {
			if op == nil {
				continue
			}
			for _, r := range op.Responses {
				if j := r.Content["application/json"]; j != nil && j.Schema != nil && j.Schema.Type == huma.TypeArray {
					j.Schema.Nullable = false
				}
			}
		}
	}
}

// strict wraps huma's context so that statuses follow the house's table.
func strict(ctx huma.Context, next func(huma.Context)) {
	ctx.SetHeader("Cache-Control", "no-store")
	next(strictContext{ctx})
}

// humaContext is huma.Context by another name, for embedding: huma.Context has
// a method Context.
type humaContext = huma.Context

type strictContext struct{ humaContext }

// SetStatus answers what breaks a rule with 400 whether huma found it or a
// room did; huma's 422 would make two statuses of one code.
func (c strictContext) SetStatus(status int) {
	if status == http.StatusUnprocessableEntity {
		status = http.StatusBadRequest
	}
	c.humaContext.SetStatus(status)
}

// Unwrap is how humago finds its own context.
func (c strictContext) Unwrap() huma.Context { return c.humaContext }

// inOurShape turns huma's own refusals into ours, and tells the access log why.
func inOurShape(ctx huma.Context, _ string, v any) (any, error) {
	_, w := humago.Unwrap(ctx)
	switch t := v.(type) {
	case *guard.Details:
		guard.Note(w, t)
	case *huma.ErrorModel:
		d := translate(t)
		guard.Note(w, d)
		return d, nil
	}
	return v, nil
}

func translate(m *huma.ErrorModel) *guard.Details {
	code, detail := abi.CodeInvalid, m.Detail
	switch m.Status {
	case http.StatusUnprocessableEntity, http.StatusBadRequest:
		m.Status = http.StatusBadRequest
	case http.StatusUnsupportedMediaType:
		detail = "body: send it with Content-Type: application/json"
	case http.StatusRequestEntityTooLarge:
		code = abi.CodeTooLarge
	case http.StatusRequestTimeout:
		code = abi.CodeTimeout
	default:
		if m.Status >= http.StatusInternalServerError {
			code, detail = abi.CodeInternal, "internal error"
		}
	}
	d := &guard.Details{Type: "about:blank", Title: http.StatusText(m.Status), Status: m.Status, Detail: detail, Code: code}
	if m.Status != http.StatusBadRequest {
		return d
	}
	for _, e := range m.Errors {
		d.Errors = append(d.Errors, field(e))
	}
	if len(d.Errors) > 0 {
		d.Detail = sentence(d.Errors)
	}
	return d
}

// field gives one of huma's findings without the value, which the client knows
// and may be long. Where a property is missing the location is the property's.
func field(e *huma.ErrorDetail) guard.Field {
	f := guard.Field{Location: e.Location, Message: e.Message}
	if rest, ok := strings.CutPrefix(e.Message, "expected required property "); ok {
		if name, ok := strings.CutSuffix(rest, " to be present"); ok {
			f.Location, f.Message = e.Location+"."+name, "is missing"
		}
	}
	if e.Message == "unexpected property" {
		f.Message = "is not a known field"
	}
	if rest, ok := strings.CutPrefix(e.Message, "expected number "); ok { // as people write it: 1000000 and not 1e+06
		if op, bound, ok := strings.Cut(rest, " "); ok {
			if n, err := strconv.ParseFloat(bound, 64); err == nil {
				f.Message = "expected number " + op + " " + strconv.FormatFloat(n, 'f', -1, 64)
			}
		}
	}
	if rest, ok := strings.CutPrefix(e.Message, "json: cannot unmarshal "); ok { // the rest are the words of a Go program
		value, into, _ := strings.Cut(rest, " into Go ")
		f.Message = value + " is outside what can be read here"
		if named, ok := strings.CutPrefix(into, "struct field "); ok {
			_, name, _ := strings.Cut(named, ".")
			name, _, _ = strings.Cut(name, " ")
			f.Location += "." + name
		}
	}
	return f
}

func sentence(all []guard.Field) string {
	var parts []string
	for _, f := range all {
		parts = append(parts, strings.TrimPrefix(f.Location, "body.")+": "+f.Message)
	}
	return strings.Join(parts, "; ")
}

// inBody makes one refusal of what the house's own rules find wrong with a body, nil
// of nothing. A finding that names no field is about the body as a whole.
func inBody(found ...error) error {
	found = slices.DeleteFunc(found, func(err error) bool { return err == nil })
	if len(found) == 0 {
		return nil
	}
	d := guard.DetailsOf(found[0])
	for _, err := range found {
		e := abi.AsError(err)
		d.Errors = append(d.Errors, guard.Field{Location: strings.TrimSuffix("body."+e.Field, "."), Message: e.Reason()})
	}
	d.Detail = sentence(d.Errors)
	return d
}
