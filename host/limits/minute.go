package limits

import (
	"cmp"
	"slices"
	"time"
)

// seconds are the calls of a minute by the second, and those of the second that has begun: what
// they sum up to is never less than the calls of any 60 seconds.
const seconds = 61

// minute counts calls that slide out of it.
type minute struct {
	newest int64 // the second, since 1970
	calls  [seconds]int
}

// slide forgets what is older. A clock that is set back takes what was counted along: how long ago
// a call was is never taken for more than it is, and nothing waits until the clock is where it was.
func (m *minute) slide(now time.Time) {
	at := now.Unix()
	if at < m.newest {
		was := *m
		for s := range int64(seconds) {
			m.calls[modulo(at-s)] = was.calls[modulo(was.newest-s)]
		}
		m.newest = at
		return
	}
	for s := max(m.newest+1, at-seconds+1); s <= at; s++ {
		m.calls[modulo(s)] = 0
	}
	m.newest = at
}

// modulo gives where a second is counted, also one before 1970.
func modulo(s int64) int64 { return (s%seconds + seconds) % seconds }

func (m *minute) add(now time.Time, calls int) {
	m.slide(now)
	i := modulo(m.newest)
	m.calls[i] = max(0, m.calls[i]+calls)
}

func (m *minute) sum(now time.Time) (sum int) {
	m.slide(now)
	for _, n := range m.calls {
		sum += n
	}
	return sum
}

// free gives how long until fewer than most calls are in the minute.
func (m *minute) free(now time.Time, most int) time.Duration {
	sum := m.sum(now)
	for s := m.newest - seconds + 1; s <= m.newest; s++ {
		if sum -= m.calls[modulo(s)]; sum < most {
			return time.Unix(s+seconds, 0).Sub(now)
		}
	}
	return seconds * time.Second
}

// kept gives the seconds in which there were calls, the oldest first.
func (m *minute) kept() (all []Second) {
	for s := m.newest - seconds + 1; s <= m.newest; s++ {
		if n := m.calls[modulo(s)]; n > 0 {
			all = append(all, Second{At: s * 1000, Calls: n})
		}
	}
	return all
}

// restore takes what was kept. Where the clock was set back since, the next call finds that.
func (m *minute) restore(all []Second) {
	all = slices.SortedFunc(slices.Values(all), func(a, b Second) int { return cmp.Compare(a.At, b.At) })
	for _, s := range all {
		if s.Calls > 0 {
			m.add(time.UnixMilli(s.At), s.Calls)
		}
	}
}
