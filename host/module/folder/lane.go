package folder

import (
	"cmp"
	"slices"
)

const (
	// smallFile bounds the sources, in bytes, that never wait for larger ones.
	smallFile = 1 << 20
	// largeFile bounds those that never wait for what hardly any character is.
	largeFile = 8 << 20
	// leastCost is what a load takes of its lane's bytes at least.
	leastCost = 64 << 10
	// readers is how many files are read and checked at a time.
	readers = 4
)

// lane bounds what is loaded at a time, in bytes of sources: most of the time they wait for
// each other in the engine, which knows what is quick, and hold their files in memory.
type lane struct{ most, taken int64 }

// newLanes gives one for small files, one for large ones and one for all others.
func newLanes() [3]lane { return [3]lane{{most: 16 << 20}, {most: 48 << 20}, {most: 32 << 20}} }

// place gives the lane of a source, and what it takes of it.
func (l *loader) place(s source) (in *lane, cost int64) {
	cost = s.stats.Size()
	switch {
	case cost <= smallFile:
		return &l.lanes[0], max(cost, leastCost)
	case cost <= largeFile:
		return &l.lanes[1], cost
	}
	return &l.lanes[2], cost
}

// enter takes its place for a load; false says that there is none. One load there may
// always be.
func (l *lane) enter(cost int64) bool {
	if l.taken > 0 && l.taken+cost > l.most {
		return false
	}
	l.taken += cost
	return true
}

// over gives a load's place back.
func (l *loader) over(o outcome) {
	in, cost := l.place(o.src)
	in.taken -= cost
	l.running--
}

// pump starts loads while there is place, in each lane in the order in which they were
// asked for: of files that are saved all the time none keeps another waiting.
func (l *loader) pump() {
	var waiting []*slot
	for _, s := range l.slots {
		if s.want != nil && s.job == nil {
			waiting = append(waiting, s)
		}
	}
	slices.SortFunc(waiting, func(a, b *slot) int { return cmp.Compare(a.asked, b.asked) })
	full := map[*lane]bool{}
	for _, s := range waiting {
		in, cost := l.place(*s.want)
		if full[in] || !in.enter(cost) {
			full[in] = true
			continue
		}
		l.start(s)
	}
}
