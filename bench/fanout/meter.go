package main

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// meter follows each message to all clients.
type meter struct {
	clients int
	next    atomic.Int64
	all     sync.Map // of *message by number, while they are on the way

	mu    sync.Mutex
	ended error // the first
	gone  chan struct{}
	began []time.Time // of the messages that came to all
	late  [][]time.Duration
}

// message is one on its way.
type message struct {
	began   time.Time
	late    []time.Duration // by client
	arrived atomic.Int64
	all     chan struct{}
}

func newMeter(clients int) *meter { return &meter{clients: clients, gone: make(chan struct{})} }

// begin gives a message its number.
func (m *meter) begin() (int64, *message) {
	n := m.next.Add(1)
	msg := &message{began: time.Now(), late: make([]time.Duration, m.clients), all: make(chan struct{})}
	m.all.Store(n, msg)
	return n, msg
}

// came notes that a message has come to a client. One that is nobody's does not count.
func (m *meter) came(client int, n int64) {
	known, ok := m.all.Load(n)
	if !ok {
		return
	}
	msg := known.(*message)
	if msg.late[client] != 0 {
		m.end(fmt.Errorf("message %d came to client %d twice", n, client+1))
		return
	}
	msg.late[client] = time.Since(msg.began)
	if msg.arrived.Add(1) == int64(m.clients) {
		close(msg.all)
	}
}

// done notes that a message has come to all.
func (m *meter) done(n int64, msg *message) {
	m.all.Delete(n)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.began, m.late = append(m.began, msg.began), append(m.late, msg.late)
}

// end notes why it cannot go on.
func (m *meter) end(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended == nil {
		m.ended = err
		close(m.gone)
	}
}

func (m *meter) wrong() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ended
}

// sum counts what was posted since a time.
func (m *meter) sum(from, until time.Time) (r report) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var late []time.Duration
	for i, began := range m.began {
		if !began.Before(from) {
			r.Messages++
			late = append(late, m.late[i]...)
		}
	}
	r.Seconds, r.Deliveries = until.Sub(from).Seconds(), len(late)
	r.Rate = float64(r.Deliveries) / r.Seconds
	if slices.Sort(late); len(late) > 0 {
		r.P50 = float64(late[len(late)/2]) / float64(time.Millisecond)
		r.P99 = float64(late[len(late)*99/100]) / float64(time.Millisecond)
	}
	return r
}
