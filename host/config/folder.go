package config

import (
	"fmt"
	"slices"
)

// CheckFolder compares the configuration with the folder of characters: with
// the ids there are files for, or with why it cannot be read. All it finds is
// worth a warning only, for files may come later.
func (c Config) CheckFolder(ids []string, unreadable string) []Problem {
	if unreadable != "" { // then no id is there, and to say so of each adds nothing
		const key = "modules.characters"
		f := &fault{message: show(c.Modules.Characters) + " " + unreadable, hint: "companiond new character NAME makes it", severity: Warning}
		return []Problem{f.problem(c.origins[key], key)}
	}
	var problems []Problem
	for _, room := range c.Rooms {
		key := roomKey(room.Name, "companions")
		for _, id := range room.Companions {
			if id == Everyone || slices.Contains(ids, id) {
				continue
			}
			problems = append(problems, c.noFile(id, ids, key))
		}
	}
	for _, m := range c.PerModule {
		if !slices.Contains(ids, m.Name) {
			problems = append(problems, c.noFile(m.Name, ids, namedKey(sectionModule, m.Name, "grant")))
		}
	}
	sortProblems(problems)
	return problems
}

// noFile warns of an id that a key names and nobody has a file of.
func (c Config) noFile(id string, ids []string, key string) Problem {
	f := &fault{message: fmt.Sprintf("%s has no file in %s", show(id), show(c.Modules.Characters)), severity: Warning}
	if near := nearest(id, ids); near != "" {
		f.hint = fmt.Sprintf("did you mean %q?", near)
	}
	return f.problem(c.origins[key], key)
}
