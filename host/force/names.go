package force

import "slices"

// Owner is whose a name is: a body, and the game that it is the body of. The same game that
// connects again is another body.
type Owner struct {
	Body string
	Game string
}

// Held is a name that somebody has.
type Held struct {
	Name string
	Owner
}

// Names are those of the actions that games offer to one companion, in the order in which they
// were offered. Whoever offers a name first has it. The zero value is ready.
type Names struct{ all []Held }

// MaxNames is how many actions games may offer to one companion, all together.
const MaxNames = 128

// Take gives a name to whoever offers it, "" where it did, else the rule that speaks against it:
// [RegisterAgain] where it has it already, [RegisterConflict] where another has it,
// [RegisterFull] where there are too many.
func (n *Names) Take(name string, by Owner) Rule {
	switch held, ok := n.Of(name); {
	case ok && held.Body == by.Body:
		return RegisterAgain
	case ok:
		return RegisterConflict
	case len(n.all) >= MaxNames:
		return RegisterFull
	}
	n.all = append(n.all, Held{name, by})
	return ""
}

// Of says whose a name is.
func (n *Names) Of(name string) (Owner, bool) {
	for _, h := range n.all {
		if h.Name == name {
			return h.Owner, true
		}
	}
	return Owner{}, false
}

// Drop takes a name from a body; false says that it did not have it, which is no fault.
func (n *Names) Drop(name, body string) bool {
	before := len(n.all)
	n.all = slices.DeleteFunc(n.all, func(h Held) bool { return h.Name == name && h.Body == body })
	return len(n.all) < before
}

// Leave takes all names from a body.
func (n *Names) Leave(body string) {
	n.all = slices.DeleteFunc(n.all, func(h Held) bool { return h.Body == body })
}

// Anew takes all names from a game that starts, whichever body has them, and answers which
// bodies but this one had some.
func (n *Names) Anew(by Owner) (elsewhere []string) {
	n.all = slices.DeleteFunc(n.all, func(h Held) bool {
		if h.Game == by.Game && h.Body != by.Body && !slices.Contains(elsewhere, h.Body) {
			elsewhere = append(elsewhere, h.Body)
		}
		return h.Game == by.Game || h.Body == by.Body
	})
	return elsewhere
}

// All gives the names, oldest first. The list is not to be changed.
func (n *Names) All() []Held { return n.all }
