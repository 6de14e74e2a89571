package folder

import (
	"cmp"
	"slices"

	"github.com/companiond/companiond/host/module/folder/lane"
)

// readers is how many files are read and checked at a time.
const readers = 4

// over gives a load's place back.
func (l *loader) over(o outcome) {
	in, cost := l.lanes.Of(o.src.stats.Size())
	in.Leave(cost)
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
	full := map[*lane.Lane]bool{}
	for _, s := range waiting {
		in, cost := l.lanes.Of(s.want.stats.Size())
		if full[in] || !in.Enter(cost) {
			full[in] = true
			continue
		}
		l.start(s)
	}
}
