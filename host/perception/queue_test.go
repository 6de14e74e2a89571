package perception

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
)

// made is an item as the model knows it.
type made struct {
	n        int // when it was offered, counted
	title    string
	frame    bool
	kept     bool
	image    bool
	size     int
	coolDown time.Duration
}

// model is the queue as the page says it is: slow, and with nothing but lists.
type model struct {
	max, maxBytes int
	waits         []made
	running       []made
	hot           map[string]time.Time
}

func (m *model) bytes() (n int) {
	for _, x := range slices.Concat(m.waits, m.running) {
		n += x.size
	}
	return n
}

// put says what becomes of a new item: gone is what it replaces, -1 for nothing.
func (m *model) put(x made) (gone int, ok bool) {
	place := -1
	for i, w := range m.waits {
		if w.title == x.title {
			place = i // the last of them
		}
	}
	if place >= 0 && !(m.waits[place].frame && x.frame) {
		place = -1
	}
	before := slices.Clone(m.waits)
	gone = -1
	if place >= 0 {
		gone = m.waits[place].n
		m.waits[place] = x
	} else {
		m.waits = append(m.waits, x)
	}
	if len(m.waits) > m.max || m.bytes() > m.maxBytes {
		m.waits = before
		return -1, false
	}
	return gone, true
}

// next takes the oldest that is not hot, and those behind it as long as all of them may
// go together.
func (m *model) next(now time.Time, several bool) (batch []made) {
	waits := slices.Clone(m.waits)
	for _, w := range m.waits {
		if now.Before(m.hot[w.title]) {
			continue
		}
		if len(batch) > 0 && !(several && together(batch[0]) && together(w)) {
			break
		}
		batch = append(batch, w)
		waits = slices.DeleteFunc(waits, func(x made) bool { return x == w })
	}
	m.waits = waits
	m.running = append(m.running, batch...)
	for _, w := range batch {
		m.hot[w.title] = now.Add(w.coolDown)
	}
	return batch
}

func together(x made) bool { return x.kept && !x.image }

// trial is a queue and its model, to which the same happens.
type trial struct {
	*rapid.T
	q                       *queue
	m                       *model
	now                     time.Time
	items                   map[*item]made
	last                    map[string]int // what was judged last, by title
	taken, replaced, judged int
}

// TestQueueIsItsModel offers and judges at random. Each title is judged in the
// order in which it came, the newest frame wins, and nothing is lost but frames
// that a newer one replaced, whether one is judged at a time or several are.
func TestQueueIsItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := &queue{max: rapid.IntRange(1, 6).Draw(t, "max"), maxBytes: 8 << 10, ready: map[string]time.Time{}}
		x := &trial{
			T: t, q: q, m: &model{max: q.max, maxBytes: q.maxBytes, hot: map[string]time.Time{}},
			now: time.Unix(1_000_000, 0), items: map[*item]made{}, last: map[string]int{},
		}
		for n := range rapid.IntRange(1, 80).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"put", "put", "put", "next", "next", "done", "wait"}).Draw(t, "step") {
			case "put":
				x.put(n)
			case "next":
				x.next()
			case "done":
				x.done()
			case "wait":
				x.now = x.now.Add(time.Duration(rapid.IntRange(1, 3000).Draw(t, "ms")) * time.Millisecond)
			}
			x.check()
		}
	})
}

func (t *trial) put(n int) {
	it, x := drawItem(t.T, n)
	t.items[it] = x
	var old *item
	var err error
	if x.kept {
		if err = t.q.reserve(it, t.now); err == nil {
			t.q.place(it, t.now)
		}
	} else {
		_, old, err = t.q.put(it, t.now)
	}
	gone, ok := t.m.put(x)
	if ok != (err == nil) {
		t.Fatalf("%+v: taken %v, in the model %v", x, err, ok)
	}
	if err != nil {
		var full *Full
		if abi.CodeOf(err) != abi.CodeExhausted || !errors.As(err, &full) || full.After < time.Second || full.After > time.Minute {
			t.Fatalf("%v", err)
		}
		return
	}
	t.taken++
	if (old != nil) != (gone >= 0) || old != nil && t.items[old].n != gone {
		t.Fatalf("%+v replaced %+v, in the model %d", x, old, gone)
	}
	if old != nil {
		t.replaced++
		if o := t.items[old]; !o.frame || !x.frame || o.title != x.title || o.n > x.n {
			t.Fatalf("%+v gave way to %+v", o, x)
		}
	}
}

func (t *trial) next() {
	several := rapid.Bool().Draw(t.T, "several")
	batch, sleep := t.q.next(t.now, several)
	var got []made
	for _, it := range batch {
		got = append(got, t.items[it])
	}
	if want := t.m.next(t.now, several); !slices.Equal(got, want) {
		t.Fatalf("next are %+v, in the model %+v", got, want)
	}
	if len(batch) == 0 && (sleep > 0) != (len(t.m.waits) > 0) {
		t.Fatalf("sleeps %v while %d wait", sleep, len(t.m.waits))
	}
	for _, x := range got {
		t.judged++
		if x.n < t.last[x.title] {
			t.Fatalf("%s: %d after %d", x.title, x.n, t.last[x.title])
		}
		t.last[x.title] = x.n
	}
}

func (t *trial) done() {
	if len(t.m.running) == 0 {
		return
	}
	x := t.m.running[0]
	t.m.running = t.m.running[1:]
	for it, y := range t.items {
		if x == y {
			t.q.judged(it)
		}
	}
}

func (t *trial) check() {
	q, m := t.q, t.m
	if len(q.waiting) != len(m.waits) || q.bytes != m.bytes() || len(q.waiting) > q.max || q.bytes > q.maxBytes {
		t.Fatalf("%d wait, %d bytes; in the model %d, %d", len(q.waiting), q.bytes, len(m.waits), m.bytes())
	}
	if t.taken != t.judged+t.replaced+len(q.waiting) {
		t.Fatalf("%d taken, but %d judged, %d replaced, %d wait", t.taken, t.judged, t.replaced, len(q.waiting))
	}
}

func drawItem(t *rapid.T, n int) (*item, made) {
	coolDowns := map[string]time.Duration{"vision": 2 * time.Second, "audio": 0, "touch": 500 * time.Millisecond}
	title := rapid.SampledFrom([]string{"vision", "audio", "touch"}).Draw(t, "title")
	format := rapid.SampledFrom([]string{"image", "object", "text"}).Draw(t, "format")
	p := abi.Percept{Title: title, Format: format}
	data := make([]byte, rapid.SampledFrom([]int{1, 100, 3000}).Draw(t, "bytes"))
	if format == "image" {
		p.Image = data
	} else {
		p.Body = json.RawMessage(data)
	}
	it := &item{p: p, coolDown: coolDowns[title], done: make(chan Outcome, 1)}
	if it.frame = rapid.Bool().Draw(t, "frame"); !it.frame {
		it.p.Seq = uint64(n + 1)
	}
	return it, made{n: n, title: title, frame: it.frame, kept: !it.frame, image: format == "image", size: it.size(), coolDown: it.coolDown}
}

func frame(title string, n int) *item {
	return &item{p: abi.Percept{Title: title, Format: "object", Body: json.RawMessage(fmt.Sprint(n))}, frame: true, done: make(chan Outcome, 1)}
}

func TestQueueKeepsThePlace(t *testing.T) {
	q, now := &queue{max: 4, maxBytes: 1 << 20, ready: map[string]time.Time{}}, time.Unix(1_000_000, 0)
	for i, title := range []string{"vision", "audio", "vision", "audio", "vision"} {
		if _, _, err := q.put(frame(title, i), now); err != nil {
			t.Fatal(err)
		}
	}
	// A title that is offered all the time has its turn all the same.
	for _, want := range []string{"vision 4", "audio 3"} {
		it, _ := q.next(now, true)
		if got := it[0].p.Title + " " + string(it[0].p.Body); len(it) != 1 || got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Titles come and go with the cards; one that has cooled down is forgotten.
func TestCoolDownsAreForgotten(t *testing.T) {
	q, now := &queue{max: 4, maxBytes: 1 << 20, ready: map[string]time.Time{}}, time.Unix(1_000_000, 0)
	for i := range 1000 {
		it := frame(fmt.Sprint("title", i), i)
		it.coolDown = time.Second
		if _, _, err := q.put(it, now); err != nil {
			t.Fatal(err)
		}
		if got, _ := q.next(now, false); len(got) != 1 || got[0] != it {
			t.Fatal("not judged")
		}
		q.judged(it)
		now = now.Add(time.Second)
	}
	if len(q.ready) > 1 {
		t.Errorf("%d titles are remembered", len(q.ready))
	}
}

// A place is free when what is judged now was, or when a title has cooled down.
func TestFullSaysHowLong(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	for _, c := range []struct{ took, coolDown, want time.Duration }{
		{0, 0, time.Second}, {7 * time.Second, 0, 7 * time.Second}, {0, 20 * time.Second, 20 * time.Second},
		{7 * time.Second, 20 * time.Second, 20 * time.Second}, {time.Hour, 0, time.Minute}, {1400 * time.Millisecond, 0, time.Second},
	} {
		q := &queue{max: 1, maxBytes: 1 << 20, ready: map[string]time.Time{}}
		offer := func() error {
			it := &item{p: abi.Percept{Title: "x", Format: "text"}, coolDown: c.coolDown, done: make(chan Outcome, 1)}
			_, _, err := q.put(it, now)
			return err
		}
		if err := offer(); err != nil {
			t.Fatal(err)
		}
		it, _ := q.next(now, false)
		q.judged(it[0])
		q.took = c.took
		if err := offer(); err != nil {
			t.Fatal(err)
		}
		var full *Full
		if err := offer(); !errors.As(err, &full) || full.After != c.want {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestSessionsGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		s := New(Config{
			Card:  func(string) (*card.Card, error) { return nil, nil },
			NewID: func() string { n++; return fmt.Sprint(n) },
		})
		open := func() error { _, err := s.Open("aya", "", ""); return err }
		for range maxSessions {
			if err := open(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
		// A session that talks stays; the one that was not used for longest goes.
		if _, err := s.Session("1", ""); err != nil {
			t.Error(err)
		}
		if err := open(); err != nil {
			t.Error(err)
		}
		if _, err := s.Session("2", ""); abi.CodeOf(err) != abi.CodeNotFound {
			t.Errorf("the oldest is still there: %v", err)
		}
		for _, id := range []string{"1", "3", "1025"} {
			if _, err := s.Session(id, ""); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
		// Sessions that are over go all at once.
		time.Sleep(idleSession)
		if err := open(); err != nil || len(s.sessions.all) != 1 {
			t.Errorf("%v, %d sessions", err, len(s.sessions.all))
		}
	})
}
