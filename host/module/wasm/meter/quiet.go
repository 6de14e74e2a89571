package meter

// Quiet finds out when something has stopped that is counted.
type Quiet struct{ seen, told int64 }

// Comes says, once, that the count stands as it did the last time.
func (q *Quiet) Comes(n int64) bool {
	now := n == q.seen && n != q.told
	q.seen = n
	if now {
		q.told = n
	}
	return now
}
