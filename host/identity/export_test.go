package identity

// Names gives who has a token, in the file's order.
func (r *Register) Names() []string {
	var names []string
	for i := range r.Len() {
		names = append(names, r.holders[i].Name)
	}
	return names
}
