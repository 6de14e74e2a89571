package config

import (
	"fmt"
	"slices"

	"github.com/companiond/companiond/host/spell"
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
			f := &fault{message: fmt.Sprintf("%s has no file in %s", show(id), show(c.Modules.Characters)), severity: Warning}
			if near := spell.Near(id, ids); near != "" {
				f.hint = fmt.Sprintf("did you mean %q?", near)
			}
			problems = append(problems, f.problem(c.origins[key], key))
		}
	}
	sortProblems(problems)
	return problems
}
