package main

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"
)

// mark stands before the number of a message in its words.
const mark = "message "

func words(n int) string {
	return mark + strconv.Itoa(n) + " of the bench, as long as a short sentence"
}

// numberOf finds the number of a message in a JSON text, whatever its field is called.
func numberOf(raw []byte) (n int, ok bool) {
	i := bytes.Index(raw, []byte(mark))
	if i < 0 {
		return 0, false
	}
	for _, c := range raw[i+len(mark):] {
		if c < '0' || c > '9' || n > 1<<30 {
			break
		}
		n, ok = 10*n+int(c-'0'), true
	}
	return n, ok
}

// message is one on its way.
type message struct {
	to                   *member
	due, began, answered time.Time
	woke, came           time.Time
}

// meter follows each message to the member it is for.
type meter struct {
	mu    sync.Mutex
	all   []message // by number
	left  int       // that have not come, or whose send_message has no answer
	over  bool      // no more are sent
	done  chan struct{}
	ended error // the first
	gone  chan struct{}
}

func newMeter() *meter { return &meter{done: make(chan struct{}), gone: make(chan struct{})} }

// next gives the next message its number.
func (m *meter) next(to *member, due time.Time) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, message{to: to, due: due})
	m.left += 2
	return len(m.all) - 1
}

// began notes that a message is sent now.
func (m *meter) began(n int) {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all[n].began = now
}

// answered notes that a send_message has its answer.
func (m *meter) answered(n int) {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all[n].answered = now
	m.one()
}

// came notes that a message has come to a member, whose poll returned a little before.
func (m *meter) came(to *member, n int, woke time.Time) {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case n >= len(m.all) || m.all[n].to != to:
		m.fail(fmt.Errorf("message %d came to %s, whom it is not for", n, to.id))
	case !m.all[n].came.IsZero():
		m.fail(fmt.Errorf("message %d came to %s twice", n, to.id))
	default:
		m.all[n].woke, m.all[n].came = woke, now
		m.one()
	}
}

// last says that no more are sent.
func (m *meter) last() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.over = true
	m.left++
	m.one()
}

// one is one less to wait for. The caller holds the mutex.
func (m *meter) one() {
	if m.left--; m.left == 0 && m.over {
		close(m.done)
	}
}

// end notes why it cannot go on.
func (m *meter) end(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail(err)
}

func (m *meter) fail(err error) {
	if m.ended == nil && err != nil {
		m.ended = err
		close(m.gone)
	}
}

func (m *meter) wrong() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ended
}

// missing says what has not come.
func (m *meter) missing() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for n, msg := range m.all {
		if msg.came.IsZero() {
			return fmt.Errorf("%d of %d messages and answers are missing, the first is message %d to %s", m.left, 2*len(m.all), n, msg.to.id)
		}
	}
	return fmt.Errorf("%d answers of send_message are missing", m.left)
}

// sum counts what was sent since a time.
func (m *meter) sum(r *report, from, until time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var woke, text, answer, late []time.Duration
	for _, msg := range m.all {
		if msg.due.Before(from) {
			continue
		}
		// A poll that returned for the message before it may have returned before it was sent.
		woke = append(woke, max(0, msg.woke.Sub(msg.began)))
		text = append(text, msg.came.Sub(msg.began))
		answer = append(answer, msg.answered.Sub(msg.began))
		late = append(late, msg.began.Sub(msg.due))
	}
	r.Messages, r.Seconds = len(text), until.Sub(from).Seconds()
	r.Rate = float64(r.Messages) / r.Seconds
	r.WokeP50, r.WokeP99 = percentiles(woke)
	r.TextP50, r.TextP99 = percentiles(text)
	r.AnswerP50, r.AnswerP99 = percentiles(answer)
	_, r.LateP99 = percentiles(late)
}

// percentiles gives those of 50 and 99, in ms.
func percentiles(all []time.Duration) (p50, p99 float64) {
	if len(all) == 0 {
		return 0, 0
	}
	slices.Sort(all)
	ms := func(d time.Duration) float64 { return float64(d.Round(time.Microsecond)) / float64(time.Millisecond) }
	return ms(all[len(all)/2]), ms(all[len(all)*99/100])
}
