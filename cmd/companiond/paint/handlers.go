package paint

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/companiond/companiond/host/door/web/handlers"
)

// Handler shows a handler, and what to type to have it do something.
func (p Painter) Handler(h handlers.Handler) error {
	about := "for nobody now"
	if len(h.Companions) > 0 {
		about = "for " + strings.Join(h.Companions, ", ")
	}
	if h.Error != "" {
		about = "can do nothing now: " + h.Error
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", p.name(h.Name), p.dim(plain(about, 0)))
	for _, a := range h.Actions {
		fmt.Fprintf(&b, "  %s\n", plain(strings.Join(append([]string{a.Name}, Parameters(a.Schema)...), " "), 2))
		if a.Description != "" {
			fmt.Fprintf(&b, "      %s\n", plain(a.Description, 6))
		}
	}
	_, err := fmt.Fprint(p.Out, b.String())
	return err
}

// Did shows what a handler says of what it did.
func (p Painter) Did(message string) error {
	if message == "" {
		message = "done"
	}
	_, err := fmt.Fprintln(p.Out, plain(message, 0))
	return err
}

// Parameters gives those of an action as they are typed, those that it needs first.
func Parameters(schema json.RawMessage) (all []string) {
	var s struct {
		Properties map[string]struct {
			Type any
			Enum []any
		}
		Required []string
	}
	_ = json.Unmarshal(schema, &s) // then it names none
	var may []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		value := ""
		for _, one := range s.Properties[name].Enum {
			value += fmt.Sprint("|", one)
		}
		if value == "" {
			value = "|" + strings.ToUpper(strings.ReplaceAll(strings.Trim(fmt.Sprint(s.Properties[name].Type), "[]"), " ", "|"))
		}
		if value == "|<NIL>" {
			value = "|VALUE"
		}
		if typed := name + "=" + value[1:]; slices.Contains(s.Required, name) {
			all = append(all, typed)
		} else {
			may = append(may, "["+typed+"]")
		}
	}
	return append(all, may...)
}
