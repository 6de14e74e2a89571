package loop

// maxIDs is how many ids of the newest lines a room remembers.
const maxIDs = 1024

// newestIDs are those of the newest lines, to tell one apart that is sent twice at
// once, when neither was in the journal as it came.
type newestIDs struct {
	order []string // oldest first
	known map[string]bool
}

func (n *newestIDs) add(id string) {
	if n.known == nil {
		n.known = map[string]bool{}
	}
	n.order, n.known[id] = append(n.order, id), true
	if len(n.order) > maxIDs {
		delete(n.known, n.order[0])
		n.order = n.order[1:]
	}
}
