package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/companiond/companiond/host/spell"
)

// prefix begins the name of every variable that is ours.
const prefix = "COMPANIOND_"

// envName gives the variable of a key: capitals, and '_' for all that a shell
// does not take in a name.
func envName(key dotted) string {
	return prefix + strings.NewReplacer(".", "_", "-", "_", " ", "_").Replace(strings.ToUpper(strings.Join(key, "_")))
}

// ours gives those of the variables that are ours, by name.
func ours(env []string) map[string]string {
	variables := make(map[string]string)
	for _, pair := range env {
		if name, value, ok := strings.Cut(pair, "="); ok && strings.HasPrefix(name, prefix) {
			variables[name] = value
		}
	}
	return variables
}

// offer makes the table main of a section that has none in the file: that of a
// room always, that of a model only for a variable that sets one of its keys.
func (p *parse) offer(s section, tables map[string]map[string]any, variables map[string]string) {
	at := s.path(DefaultName)
	switch s.name {
	case sectionRoom:
		tables[DefaultName] = nil
	case sectionModel:
		for name := range variables {
			if slices.ContainsFunc(s.keys, func(k setting) bool { return envName(at.add(k.name)) == strings.ToUpper(name) }) {
				tables[DefaultName] = nil
				p.config.origins[at.String()] = origin{env: envName(at.add("model"))}
			}
		}
	}
}

// readEnv applies the variables over the file. Two tables whose names differ only
// in what a variable cannot say share theirs.
//
// A variable that matches no key is a warning only: Kubernetes sets
// COMPANIOND_SERVICE_HOST and its like for a service of our name.
func (p *parse) readEnv(variables map[string]string) {
	type target struct {
		table table
		key   setting
	}
	targets := make(map[string][]target)
	var known []string
	for _, t := range p.config.tables() {
		for _, k := range t.section.keys {
			name := envName(t.path.add(k.name))
			targets[name] = append(targets[name], target{t, k})
			known = append(known, strings.TrimPrefix(name, prefix))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		at := origin{env: name}
		switch found := targets[strings.ToUpper(name)]; len(found) {
		case 0:
			f := &fault{message: "matches no key and is ignored", severity: Warning}
			if near := spell.Near(strings.TrimPrefix(name, prefix), known); near != "" {
				f.hint = "did you mean " + prefix + near + "?"
			}
			p.report(at, "", f)
		case 1:
			t, k := found[0].table, found[0].key
			p.set(t, k, fromText(k.kind, variables[name]), func(int) origin { return at })
		default:
			a, b := found[0].table.path.add(found[0].key.name), found[1].table.path.add(found[1].key.name)
			p.report(at, "", &fault{message: "may mean " + a.String() + " or " + b.String(), hint: "set it in the file"})
		}
	}
}
