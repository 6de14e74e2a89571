// Package lane bounds how much is loaded at a time: files wait for their place by their size, small ones never behind large ones.
//
// It loads nothing, knows no files but their sizes, and is not safe for concurrent use.
package lane

const (
	// small bounds the sources, in bytes, that never wait for larger ones.
	small = 1 << 20
	// large bounds those that never wait for what hardly any character is.
	large = 8 << 20
	// least is what a load takes of its lane's bytes at least.
	least = 64 << 10
)

// Lane bounds what is loaded at a time, in bytes of sources: most of the time they wait for
// each other in the engine, which knows what is quick, and hold their files in memory.
type Lane struct{ most, taken int64 }

// Lanes are one for small files, one for large ones and one for all others. Make them with New.
type Lanes [3]Lane

// New makes lanes in which nothing is loaded.
func New() Lanes { return Lanes{{most: 16 << 20}, {most: 48 << 20}, {most: 32 << 20}} }

// Of gives the lane of a source with so many bytes, and what it takes of it.
func (l *Lanes) Of(size int64) (in *Lane, cost int64) {
	switch {
	case size <= small:
		return &l[0], max(size, least)
	case size <= large:
		return &l[1], size
	}
	return &l[2], size
}

// Enter takes the place for a load; false says that there is none. One load there may
// always be.
func (l *Lane) Enter(cost int64) bool {
	if l.taken > 0 && l.taken+cost > l.most {
		return false
	}
	l.taken += cost
	return true
}

// Leave gives the place of a load back.
func (l *Lane) Leave(cost int64) { l.taken -= cost }
