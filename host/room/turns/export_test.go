package turns

// MaxRooms is of how many rooms is known at most what goes on there.
const MaxRooms = maxRooms

// Known gives of how many rooms it is known.
func (r *Reader) Known() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.rooms)
}
