package fanout

// Forget lets go of what is at hand of a room, of all with "", because words were taken out of its
// entries: whoever is behind reads on from the journal.
func (h *Hub) Forget(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for n, r := range h.rooms {
		if n == name || name == "" {
			r.forget()
		}
	}
}

func (r *room) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recent, r.bytes, r.from = nil, 0, r.head
}
