package marks

import (
	"slices"
	"strings"
)

// Hard gives the marks that a draft must have: no days that are counted from another, and of names only the sure ones. It changes the slice.
func Hard(all []Mark) []Mark {
	return slices.DeleteFunc(all, func(m Mark) bool { return m.Weak || m.Relative() || m.Kind == Name && !m.Sure })
}

// Strong gives those that are no weak ones. It changes the slice.
func Strong(all []Mark) []Mark {
	return slices.DeleteFunc(all, func(m Mark) bool { return m.Weak })
}

// Starts says where in a sentence its clauses begin.
func Starts(sentence string, clauses []string) []int {
	at, all := 0, make([]int, len(clauses))
	for i, c := range clauses {
		all[i] = at + strings.Index(sentence[at:], c)
		at = all[i] + len(c)
	}
	return all
}
