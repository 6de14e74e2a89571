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
func envName(key string) string {
	return prefix + strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r == ' ' {
			return '_'
		}
		return r
	}, strings.ToUpper(key))
}

// target is what a variable sets.
type target struct {
	setting setting
	table   *table
	key     string
}

// readEnv applies the variables over the file, once [parse.addDefaults] has made
// the tables that they can reach.
//
// A variable that matches no key is a warning only: Kubernetes sets
// COMPANIOND_SERVICE_HOST and its like for a service of our name.
func (p *parse) readEnv(env []string) {
	values := make(map[string]string)
	for _, pair := range env {
		if name, value, ok := strings.Cut(pair, "="); ok && strings.HasPrefix(name, prefix) {
			values[name] = value
		}
	}
	p.addDefaults(values)
	targets := p.targets()
	var known []string
	for _, name := range slices.Sorted(maps.Keys(targets)) {
		known = append(known, strings.TrimPrefix(name, prefix))
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at := origin{env: name}
		switch found := targets[strings.ToUpper(name)]; len(found) {
		case 0:
			f := &fault{message: "matches no key and is ignored", severity: Warning}
			if near := spell.Near(strings.TrimPrefix(name, prefix), known); near != "" {
				f.hint = "did you mean " + prefix + near + "?"
			}
			p.report(at, "", f)
		case 1:
			p.set(found[0], at, values[name])
		default:
			p.report(at, "", &fault{
				message: "may mean " + found[0].key + " or " + found[1].key,
				hint:    "set it in the file",
			})
		}
	}
}

// addDefaults makes the default room where the file has none. A model it makes
// only for a variable that sets one of its keys: there need not be any.
func (p *parse) addDefaults(values map[string]string) {
	if rooms := p.tables[sectionRoom]; len(rooms) == 0 {
		rooms[DefaultName] = newTable(sectionRoom, DefaultName, p.keys)
	}
	models := p.tables[sectionModel]
	if len(models) > 0 {
		return
	}
	variable := func(leaf string) string { return envName(namedKey(sectionModel, DefaultName, leaf)) }
	for name := range values {
		if slices.ContainsFunc(modelSettings(), func(s setting) bool { return variable(s.leaf()) == strings.ToUpper(name) }) {
			models[DefaultName] = newTable(sectionModel, DefaultName, p.keys)
			models[DefaultName].at = origin{env: variable("model")}
			return
		}
	}
}

// set applies one variable.
func (p *parse) set(t target, at origin, value string) {
	v, faults := t.setting.kind.parse(value)
	for _, f := range faults {
		p.bad[t.key] = true
		p.report(at, "", f)
	}
	if len(faults) == 0 {
		store(t.setting.field(&p.config, t.table), v)
		p.config.origins[t.key] = at
	}
}

// targets gives what each variable stands for. Two rooms or two models whose
// names differ only in what a variable cannot say share theirs.
func (p *parse) targets() map[string][]target {
	all := make(map[string][]target)
	add := func(t target, key string) {
		name := envName(key)
		all[name] = append(all[name], t)
	}
	for _, s := range p.keys {
		if !hasNames(s.section()) {
			add(target{s, nil, s.name}, s.name)
			continue
		}
		tables := p.tables[s.section()]
		for _, name := range slices.Sorted(maps.Keys(tables)) {
			add(target{s, tables[name], namedKey(s.section(), name, s.leaf())}, s.section()+"."+name+"."+s.leaf())
		}
	}
	return all
}
