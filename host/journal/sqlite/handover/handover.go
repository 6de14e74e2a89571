// Package handover hands what was committed to those who follow a room, so that many
// who do need not all read it from the database.
//
// It never reads anything by itself: a follower for which something is missing, or too
// much waits, is told to read.
package handover

import (
	"sync"

	"github.com/companiond/companiond/host/entry"
)

// Most is how many entries at most wait for a follower.
const Most = 256

// Desk is where followers are handed what was committed. The zero value has none. Its
// methods, and those of its followers, may be called from many goroutines.
type Desk struct {
	mu    sync.Mutex
	rooms map[string]map[*Follower]struct{}
}

// Follower is somebody who follows a room.
type Follower struct {
	desk  *Desk
	woken chan struct{}

	// desk.mu guards what follows.
	news []entry.Entry // not taken yet, none missing among them
	head uint64        // how far the room is known to be; 0: only the database knows
}

// Join adds a follower to a room, until leave is called.
func (d *Desk) Join(room string) (f *Follower, leave func()) {
	f = &Follower{desk: d, woken: make(chan struct{}, 1)}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rooms == nil {
		d.rooms = map[string]map[*Follower]struct{}{}
	}
	if d.rooms[room] == nil {
		d.rooms[room] = map[*Follower]struct{}{}
	}
	d.rooms[room][f] = struct{}{}
	return f, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.rooms[room], f)
		if len(d.rooms[room]) == 0 {
			delete(d.rooms, room)
		}
	}
}

// Woken gets a value whenever the room may have grown, also while nobody waits on it.
func (f *Follower) Woken() <-chan struct{} { return f.woken }

// Take takes what came behind the entry after; ok is false where that has to be read
// instead.
func (f *Follower) Take(after uint64) (es []entry.Entry, ok bool) {
	f.desk.mu.Lock()
	defer f.desk.mu.Unlock()
	es, f.news = f.news, nil
	for len(es) > 0 && es[0].Seq <= after {
		es = es[1:] // it was read meanwhile
	}
	if len(es) == 0 {
		return nil, f.head != 0 && f.head <= after
	}
	return es, es[0].Seq == after+1
}

// Hand gives a room's followers its newest entries, which added makes where there are
// any followers. Without entries they look again. A follower for which too much waits reads, once it gets there.
func (d *Desk) Hand(room string, added func() []entry.Entry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	followers := d.rooms[room]
	if len(followers) == 0 {
		return
	}
	news := added()
	if len(news) == 0 { // it began with what others have
		for f := range followers {
			f.wake()
		}
		return
	}
	for f := range followers {
		f.head = news[len(news)-1].Seq
		// Between them there may be what nobody was told of: a commit seemed to fail and did not.
		gap := len(f.news) > 0 && f.news[len(f.news)-1].Seq+1 != news[0].Seq
		if gap || len(f.news)+len(news) > Most {
			f.news = nil
		} else {
			f.news = append(f.news, news...)
		}
		f.wake()
	}
}

// Doubt has every follower read, after an outcome nobody knew.
func (d *Desk) Doubt() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, followers := range d.rooms {
		for f := range followers {
			f.head = 0
			f.wake()
		}
	}
}

func (f *Follower) wake() {
	select {
	case f.woken <- struct{}{}:
	default: // it is going to look anyway
	}
}
