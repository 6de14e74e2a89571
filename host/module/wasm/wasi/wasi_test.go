package wasi

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
)

// clockSub is a subscription to a clock.
func clockSub(data byte, clock uint32, timeout uint64, flags byte) []byte {
	sub := make([]byte, 48)
	sub[0] = data
	binary.LittleEndian.PutUint32(sub[16:], clock)
	binary.LittleEndian.PutUint64(sub[24:], timeout)
	sub[40] = flags
	return sub
}

func fdSub(data, kind byte, fd uint32) []byte {
	sub := make([]byte, 48)
	sub[0], sub[8] = data, kind
	binary.LittleEndian.PutUint32(sub[16:], fd)
	return sub
}

func TestPoll(t *testing.T) {
	p := &Process{Born: time.Now().Add(-time.Hour)}
	now, _ := p.clock(1)
	for name, c := range map[string]struct {
		subs   [][]byte
		events string // user data of each, and its errno
		wait   int64  // at most
	}{
		"one clock":       {[][]byte{clockSub('a', 1, 500, 0)}, "a0", 500},
		"earlier clock":   {[][]byte{clockSub('a', 1, 500, 0), clockSub('b', 1, 300, 0), clockSub('c', 0, 900, 0)}, "b0", 300},
		"same time":       {[][]byte{clockSub('a', 1, 500, 0), clockSub('b', 0, 500, 0)}, "a0b0", 500},
		"absolute, past":  {[][]byte{clockSub('a', 1, 5, 1)}, "a0", 0},
		"absolute":        {[][]byte{clockSub('a', 1, uint64(now)+1e12, 1)}, "a0", 1e12},
		"no such clock":   {[][]byte{clockSub('a', 9, 5, 1)}, "a0", 0},
		"for ever":        {[][]byte{clockSub('a', 1, math.MaxUint64, 0)}, "a0", math.MaxInt64},
		"descriptor":      {[][]byte{clockSub('a', 1, 500, 0), fdSub('b', 2, 1)}, "b0", 0},
		"bad descriptor":  {[][]byte{fdSub('b', 1, 7)}, "b8", 0},
		"strange kind":    {[][]byte{fdSub('b', 9, 1)}, "b8", 0},
		"two descriptors": {[][]byte{fdSub('a', 1, 0), fdSub('b', 2, 3)}, "a0b8", 0},
	} {
		var subs []byte
		for _, s := range c.subs {
			subs = append(subs, s...)
		}
		events, wait := pollReady(subs, p.pollWait)
		var got strings.Builder
		for ; len(events) > 0; events = events[32:] {
			got.WriteByte(events[0])
			got.WriteString(strconv.Itoa(int(events[8])))
		}
		if got.String() != c.events || wait > c.wait || wait < c.wait/2 {
			t.Errorf("%s: events %s after %d, want %s after %d", name, got.String(), wait, c.events, c.wait)
		}
	}
}
