package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/config/form"
	"github.com/companiond/companiond/host/spell"
)

// The values of format in a schema of settings of which this machine knows what there is. A schema checker knows them not.
const (
	timeZone  = "time-zone" // an offset such as +09:00, or a name of the table of time zones
	companion = "companion" // the id of one
)

// shape is what a schema of settings says of a value, as far as it is looked at here.
type shape struct {
	Format        string
	Properties    map[string]shape
	Items         *shape
	PropertyNames *shape
}

// meaning tells what settings name that is not there: a schema says how a name is written, and no more. It looks at what the schema
// says at its own place, and not at what it refers to.
func meaning(c config.Config, h config.Handler, schema json.RawMessage, residents []string) (problems []config.Problem) {
	var s shape
	var settings any
	if json.Unmarshal(schema, &s) != nil || len(h.Settings) == 0 || json.Unmarshal(h.Settings, &settings) != nil {
		return nil // the schema checker has said why
	}
	at := []string{"handler", h.Name, "settings"}
	s.walk("settings", settings, func(place, format, name string) {
		switch {
		case format == timeZone && !isZone(name):
			problems = append(problems, c.ProblemAt(config.Error, fmt.Sprintf("%s: there is no time zone %s", place, form.Show(name)), `write an offset such as "+09:00", or a name such as "Asia/Tokyo"`, at, at[:2]))
		case format == companion && !slices.Contains(residents, name):
			problems = append(problems, c.ProblemAt(config.Warning, fmt.Sprintf("%s: %s has no file in %s", place, form.Show(name), form.Show(c.Modules.Characters)), form.Meant(spell.Near(name, residents)), at, at[:2]))
		}
	})
	return problems
}

// walk tells of the texts that have a format.
func (s shape) walk(place string, v any, tell func(place, format, name string)) {
	switch v := v.(type) {
	case string:
		tell(place, s.Format, v)
	case []any:
		for i, one := range v {
			if s.Items != nil {
				s.Items.walk(fmt.Sprintf("%s[%d]", place, i), one, tell)
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if s.PropertyNames != nil {
				tell(place+"."+name, s.PropertyNames.Format, name)
			}
			s.Properties[name].walk(place+"."+name, v[name], tell)
		}
	}
}

// isZone says whether a time zone is known. A machine without a table of them knows all: the handler may have its own.
func isZone(name string) bool {
	if _, err := time.Parse("Z07:00", name); err == nil {
		return true
	}
	if _, err := time.LoadLocation("Europe/Berlin"); err != nil {
		return true
	}
	_, err := time.LoadLocation(name)
	return err == nil && name != "Local"
}

// unheard tells of handlers that filter titles which nobody perceives. titles are by the cards of companions; where one of the
// handler's has no card that can be read here, nothing is said.
func unheard(c config.Config, residents []string, titles map[string][]string) (lines []string) {
	for _, h := range c.Handlers {
		var heard []string
		known := false
		for _, id := range residents {
			if !h.For(id) {
				continue
			}
			all, carded := titles[id]
			if known = carded; !known {
				break
			}
			heard = append(heard, all...)
		}
		for _, pattern := range h.On {
			if known && !slices.ContainsFunc(heard, func(title string) bool { ok, _ := path.Match(pattern, title); return ok }) {
				at := []string{"handler", h.Name, "on"}
				hint := form.Meant(spell.Near(pattern, heard))
				if hint == "" && len(heard) > 0 {
					slices.Sort(heard)
					hint = "they perceive " + strings.Join(slices.Compact(heard), ", ")
				}
				lines = append(lines, c.ProblemAt(config.Warning, "no companion of it perceives "+form.Show(pattern), hint, at, at[:2]).String())
			}
		}
	}
	return lines
}
