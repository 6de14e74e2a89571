package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/companiond/companiond/host/spell"
)

// prefix begins the name of every variable that is ours.
const prefix = "COMPANIOND_"

var shellName = strings.NewReplacer(".", "_", "-", "_", " ", "_")

// envName gives the variable of a key: capitals, and '_' for all that a shell
// does not take in a name.
func envName(key dotted) string {
	return prefix + shellName.Replace(strings.ToUpper(strings.Join(key, "_")))
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

// readEnv applies the variables over the file. Two tables whose names differ only
// in what a variable cannot say share theirs.
//
// A variable that matches no key is a warning only: Kubernetes sets
// COMPANIOND_SERVICE_HOST and its like for a service of our name.
func (p *parse) readEnv(variables map[string]string, cells []cell) {
	targets := make(map[string][]cell)
	var known []string
	for _, c := range cells {
		name := envName(c.key())
		targets[name] = append(targets[name], c)
		known = append(known, strings.TrimPrefix(name, prefix))
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
			p.set(found[0], fromText(found[0].kind, variables[name]), func(int) origin { return at })
		default:
			p.report(at, "", &fault{message: "may mean " + found[0].key().String() + " or " + found[1].key().String(), hint: "set it in the file"})
		}
	}
}

// Place gives one of the paths of the daemon another value where it stands at its default; from says whose that is.
func (c *Config) Place(key, path, from string) {
	paths := map[string]*string{
		"journal.path": &c.Journal.Path, "modules.cache": &c.Modules.Cache, "modules.characters": &c.Modules.Characters, "modules.plugins": &c.Modules.Plugins,
	}
	if !c.Written(key) && c.origins != nil {
		*paths[key], c.origins[key] = path, origin{env: from}
	}
}

// Written says whether a key has a value of its own.
func (c *Config) Written(key string) bool { _, written := c.origins[key]; return written }
