// Package handlers has the verbs about handlers: they list them, and have one do something.
//
// It asks the daemon, which says who may and what the parameters have to be, and never speaks to a handler itself.
package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/companiond/companiond/cmd/companiond/paint"
	"github.com/companiond/companiond/host/door/web/handlers"
)

// Desk is what the verbs have to do with the outside.
type Desk struct {
	Paint paint.Painter
	// Call asks the daemon for JSON.
	Call func(ctx context.Context, method, path string, in, out any) error
	// Parse reads flags, and leaves up to most arguments.
	Parse func(fs *flag.FlagSet, args []string, most int) (rest []string, err error)
	// Usage makes the error of whoever typed something that the verb does not take.
	Usage func(format string, args ...any) error
}

// Handlers lists the handlers and what they can do.
func (d Desk) Handlers(ctx context.Context, fs *flag.FlagSet, args []string) error {
	raw := fs.Bool("json", false, "print JSON, as the daemon has it")
	if _, err := d.Parse(fs, args, 0); err != nil {
		return err
	}
	all, err := d.list(ctx)
	if err != nil {
		return err
	}
	if *raw {
		enc := json.NewEncoder(d.Paint.Out)
		enc.SetIndent("", "  ")
		return enc.Encode(all)
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(d.Paint.Out, "there are no handlers; a table [handler.NAME] in companiond.toml makes one")
		return err
	}
	for _, h := range all {
		if err := d.Paint.Handler(h); err != nil {
			return err
		}
	}
	return nil
}

// Act has a handler do something.
func (d Desk) Act(ctx context.Context, fs *flag.FlagSet, args []string) error {
	rest, err := d.Parse(fs, args, len(args))
	if err != nil {
		return err
	}
	words := slices.IndexFunc(rest, func(word string) bool { return strings.Contains(word, "=") })
	if words < 0 {
		words = len(rest)
	}
	var all []handlers.Handler
	if words > 0 {
		if all, err = d.list(ctx); err != nil {
			return err
		}
		if err := d.missed(all, rest[:words]); err != nil {
			return err
		}
	}
	if words < 1 || words > 2 {
		return d.Usage("companiond act [HANDLER] ACTION [NAME=VALUE ...], such as companiond act chat.mute viewer=troll minutes=10; companiond handlers lists what there is")
	}
	action, name := rest[words-1], ""
	if words == 2 {
		name = rest[0]
	} else if name, err = d.whose(all, action); err != nil {
		return err
	}
	in, err := d.parameters(schemaOf(all, name, action), rest[words:])
	if err != nil {
		return err
	}
	var out struct{ Message string }
	if err := d.Call(ctx, http.MethodPost, "/v1/handlers/"+url.PathEscape(name)+"/actions/"+url.PathEscape(action), in, &out); err != nil {
		return explain(err)
	}
	return d.Paint.Did(out.Message)
}

// missed says which word before the first NAME=VALUE should be one, and what to type.
func (d Desk) missed(all []handlers.Handler, words []string) error {
	for i, word := range words[:min(len(words), 2)] {
		if i+1 == len(words) {
			break
		}
		for _, h := range all {
			at := slices.IndexFunc(h.Actions, func(a handlers.Action) bool { return a.Name == word })
			if at >= 0 && (i == 0 || h.Name == words[0]) && !slices.ContainsFunc(all, func(h handlers.Handler) bool { return h.Name == word }) {
				typed := append(append([]string{"companiond act"}, words[:i+1]...), paint.Parameters(h.Actions[at].Schema)...)
				return d.Usage("%q is no NAME=VALUE; type: %s", words[i+1], strings.Join(typed, " "))
			}
		}
	}
	return nil
}

func (d Desk) list(ctx context.Context) ([]handlers.Handler, error) {
	var out struct{ Handlers []handlers.Handler }
	err := d.Call(ctx, http.MethodGet, "/v1/handlers", nil, &out)
	return out.Handlers, explain(err)
}

// whose finds the one handler that has an action.
func (d Desk) whose(all []handlers.Handler, action string) (string, error) {
	var names, lost []string
	for _, h := range all {
		if slices.ContainsFunc(h.Actions, func(a handlers.Action) bool { return a.Name == action }) {
			names = append(names, h.Name)
		}
		if h.Error != "" {
			lost = append(lost, h.Name)
		}
	}
	switch {
	case len(names) == 1:
		return names[0], nil
	case len(names) > 1:
		return "", d.Usage("%s have %s; say which: companiond act %s %s", strings.Join(names, " and "), action, names[0], action)
	case len(lost) > 0:
		return "", fmt.Errorf("no handler has %q, and %s can do nothing now; companiond handlers says why, and lists what there is", action, strings.Join(lost, ", "))
	}
	return "", fmt.Errorf("no handler has %q; companiond handlers lists what there is", action)
}

// property is what a schema says of a parameter, as far as it matters to what is typed.
type property struct{ Type any }

// schemaOf gives what a handler says of an action's parameters, nothing where it is not there: the daemon says that.
func schemaOf(all []handlers.Handler, name, action string) map[string]property {
	var s struct{ Properties map[string]property }
	for _, h := range all {
		for _, a := range h.Actions {
			if h.Name == name && a.Name == action {
				_ = json.Unmarshal(a.Schema, &s) // then it names none
			}
		}
	}
	return s.Properties
}

// parameters makes an object of what was typed.
func (d Desk) parameters(schema map[string]property, typed []string) (map[string]json.RawMessage, error) {
	in := map[string]json.RawMessage{}
	for _, word := range typed {
		name, text, ok := strings.Cut(word, "=")
		if !ok || name == "" {
			return nil, d.Usage("%q is no NAME=VALUE; put what has spaces into quotes: viewer=\"a b\"", word)
		}
		if in[name] != nil {
			return nil, d.Usage("%s is there twice", name)
		}
		value, err := value(schema[name].Type, text)
		if err != nil {
			return nil, d.Usage("%s: %v", name, err)
		}
		in[name] = value
	}
	return in, nil
}

// value reads what was typed as what the schema wants: a text where it says so or says nothing that the text could be.
func value(want any, text string) (json.RawMessage, error) {
	kinds, _ := want.([]any)
	if one, ok := want.(string); ok {
		kinds = []any{one}
	}
	asText, err := json.Marshal(text)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(kinds, any("string")) || len(kinds) > 1 {
		var v any
		if json.Unmarshal([]byte(text), &v) == nil && (len(kinds) == 0 || slices.Contains(kinds, any(kindOf(v))) || slices.Contains(kinds, any("integer")) && kindOf(v) == "number") {
			return json.RawMessage(text), nil
		}
	}
	if len(kinds) > 0 && !slices.Contains(kinds, any("string")) {
		return nil, fmt.Errorf("%q is not what it must be, %s", text, strings.Trim(fmt.Sprint(kinds), "[]"))
	}
	return asText, nil
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

// explain says what to type where the daemon refuses something about handlers.
func explain(err error) error {
	if err == nil {
		return nil
	}
	words := err.Error()
	switch {
	case strings.Contains(words, `there is nothing at "/v1/`):
		return errors.New("the daemon knows nothing of what handlers can do; is it an older one?")
	case strings.Contains(words, "is none of a person"):
		return fmt.Errorf("%w; put a person's into the environment as COMPANIOND_TOKEN (companiond token NAME -kind human makes one)", err)
	case strings.Contains(words, "parameters."):
		return errors.New(strings.ReplaceAll(words, "parameters.", ""))
	}
	return err
}
