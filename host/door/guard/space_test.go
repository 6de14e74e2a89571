package guard_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/guard"
)

// busy is a door that keeps requests until it is told to answer one.
type busy struct {
	http.Handler
	answer chan struct{}

	mu    sync.Mutex
	bytes int // of the bodies it keeps
	most  int
}

// space is a guard where bodies above 10 bytes are large and share 100; the largest
// has 40.
func space(t *testing.T) *busy {
	t.Helper()
	d := &busy{answer: make(chan struct{})}
	g, err := guard.New(guard.Config{MaxBody: 40, LargeBody: 10, LargeBodies: 100}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	d.Handler = g.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all, err := guard.ReadBody(r.Body, 40)
		if err != nil {
			t.Error(err)
		}
		if r.URL.Path == "/now" {
			_, _ = w.Write(all)
			return
		}
		d.keep(len(all))
		if r.URL.Path == "/early" {
			guard.BodyDone(r.Context())
		}
		<-d.answer
		d.keep(-len(all))
	}))
	return d
}

// keep counts bytes that it keeps from now on, and gives how many those are.
func (d *busy) keep(bytes int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bytes += bytes
	d.most = max(d.most, d.bytes)
	return d.bytes
}

// send sends a body of a size, in chunks when it is negative.
func (d *busy) send(path string, size int) *httptest.ResponseRecorder {
	r := request("POST", path, strings.Repeat("x", max(size, -size)), "Host", "localhost")
	if size < 0 {
		r.ContentLength = -1
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w
}

// 40 images at once cost 3.7 GB. As many of them come in as there is space for, the
// others are told when to come again, and the words of people come through.
func TestLargeBodiesShareSpace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := space(t)
		var refused, taken int
		var mu sync.Mutex
		var all sync.WaitGroup
		start := time.Now()
		for range 40 {
			all.Go(func() {
				w := d.send("/", 30)
				mu.Lock()
				defer mu.Unlock()
				if w.Code == 200 {
					taken++
					return
				}
				refused++
				if g := details(t, w); w.Code != 429 || g.Code != abi.CodeExhausted || !g.Retry || w.Header().Get("Retry-After") != "2" || w.Header().Get("Connection") != "close" {
					t.Errorf("%+v %v", g, w.Header())
				}
				if took := time.Since(start); took != 2*time.Second {
					t.Errorf("refused after %v", took)
				}
			})
		}
		synctest.Wait()
		for _, size := range []int{10, -10, 1} {
			if w := d.send("/now", size); w.Code != 200 || w.Body.Len() != max(size, -size) || time.Since(start) != 0 {
				t.Errorf("%d bytes: %d after %v", size, w.Code, time.Since(start))
			}
		}
		time.Sleep(3 * time.Second)
		if w := d.send("/now", -11); w.Code != 429 { // in chunks: it may be as large as any
			t.Errorf("in chunks: %d", w.Code)
		}
		close(d.answer)
		all.Wait()
		if taken != 3 || refused != 37 || d.most != 90 {
			t.Errorf("%d taken, %d refused, %d bytes at once", taken, refused, d.most)
		}
		for _, size := range []int{40, -40} {
			if w := d.send("/now", size); w.Code != 200 || w.Body.Len() != 40 {
				t.Errorf("afterwards: %d", w.Code)
			}
		}
	})
}

// Clients that wait are served in the order of coming, as soon as there is space; one
// that went away or lost patience is not in the way.
func TestSpaceIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := space(t)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { d.send("/", 30) })
		}
		synctest.Wait()
		ctx, leave := context.WithCancel(t.Context())
		all.Go(func() {
			w := httptest.NewRecorder()
			d.ServeHTTP(w, request("POST", "/", strings.Repeat("x", 39), "Host", "localhost").WithContext(ctx))
			if w.Code != 429 {
				t.Errorf("who went away: %d", w.Code)
			}
		})
		synctest.Wait()
		start := time.Now()
		var larger, smaller time.Duration
		all.Go(func() {
			if w := d.send("/now", 38); w.Code != 200 {
				t.Errorf("the larger: %d", w.Code)
			}
			larger = time.Since(start)
		})
		synctest.Wait()
		all.Go(func() {
			time.Sleep(time.Nanosecond)
			d.send("/now", 11) // not the 10 that are free, or it would pass the larger
			smaller = time.Since(start)
		})
		time.Sleep(time.Second)
		leave()
		synctest.Wait()
		d.answer <- struct{}{}
		synctest.Wait()
		if larger != time.Second || smaller != time.Second {
			t.Errorf("after %v and %v", larger, smaller)
		}
		close(d.answer)
		all.Wait()
	})
}

// A small one behind a large one that loses patience is served then.
func TestSpaceBehindTheImpatient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := space(t)
		var all sync.WaitGroup
		for _, size := range []int{40, 40} { // 20 are free
			all.Go(func() { d.send("/", size) })
		}
		synctest.Wait()
		all.Go(func() { d.send("/now", 40) })
		time.Sleep(time.Second)
		start := time.Now()
		if w := d.send("/now", 20); w.Code != 200 || time.Since(start) != time.Second {
			t.Errorf("%d after %v", w.Code, time.Since(start))
		}
		close(d.answer)
		all.Wait()
	})
}

// A door that keeps nothing of the body and goes on to wait is in nobody's way, and
// its share is given back once.
func TestBodyDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := space(t)
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if w := d.send("/early", 40); w.Code != 200 {
					t.Errorf("%d", w.Code)
				}
			})
		}
		time.Sleep(time.Minute)
		close(d.answer)
		all.Wait()
		d.answer = make(chan struct{})
		for range 4 {
			all.Go(func() { d.send("/", 40) })
		}
		time.Sleep(time.Minute)
		if kept := d.keep(0); kept != 80 {
			t.Errorf("%d bytes at once", kept)
		}
		close(d.answer)
		all.Wait()
	})
	guard.BodyDone(t.Context()) // of a request without a large body: nothing
}

// A body that breaks off, or makes the door panic, leaves its space to others.
func TestSpaceIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := guard.New(guard.Config{MaxBody: 40, LargeBody: 10, LargeBodies: 40}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		h := g.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("in the door") }))
		for _, size := range []int64{40, -1} {
			for range 3 {
				r := request("POST", "/", strings.Repeat("x", 40), "Host", "localhost")
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				if w.Code != 500 {
					t.Errorf("%d %s", w.Code, w.Body)
				}
				r = request("POST", "/", "x", "Host", "localhost")
				r.Body = io.NopCloser(io.MultiReader(strings.NewReader(strings.Repeat("x", 20)), iotest.ErrReader(errors.New("gone"))))
				r.ContentLength = size
				w = httptest.NewRecorder()
				h.ServeHTTP(w, r)
				if w.Code != 400 {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			}
		}
	})
}

// The largest body that is allowed comes in whatever the space is.
func TestSpaceIsEnoughForOne(t *testing.T) {
	for _, most := range []int{20, 50} { // elsewhere, and below /big
		h, _ := newGuard(t, guard.Config{MaxBody: 70 - int64(most), MaxBodyAt: map[string]int64{"/big": int64(most)}, LargeBody: 5, LargeBodies: 1}, http.HandlerFunc(echo))
		for path, size := range map[string]int{"/": 70 - most, "/big": most} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, request("POST", path, strings.Repeat("x", size), "Host", "localhost"))
			if w.Code != 200 || w.Body.Len() != size {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
		}
	}
}

// Of a chunked body that is too large no more is read than shows that.
func TestNoMoreIsRead(t *testing.T) {
	h, _ := newGuard(t, guard.Config{MaxBody: 40, LargeBody: 10}, http.HandlerFunc(echo))
	long := strings.NewReader(strings.Repeat("x", 100))
	r := request("POST", "/", "x", "Host", "localhost")
	r.Body, r.ContentLength = io.NopCloser(long), -1
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 413 || long.Len() != 59 {
		t.Errorf("%d, %d bytes not read", w.Code, long.Len())
	}
}

func TestReadBody(t *testing.T) {
	if all, err := guard.ReadBody(strings.NewReader("12345"), 5); string(all) != "12345" || err != nil {
		t.Errorf("%q %v", all, err)
	}
	if _, err := guard.ReadBody(strings.NewReader("123456"), 5); abi.CodeOf(err) != abi.CodeTooLarge {
		t.Error(err)
	}
	if _, err := guard.ReadBody(iotest.ErrReader(errors.New("gone")), 5); abi.CodeOf(err) != abi.CodeInvalid {
		t.Error(err)
	}
	if all, err := guard.ReadBody(nil, 5); len(all) != 0 || err != nil {
		t.Errorf("%q %v", all, err)
	}
	h, _ := newGuard(t, guard.Config{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := guard.ReadBody(r.Body, 4); abi.CodeOf(err) != abi.CodeTooLarge {
			t.Error(err)
		}
	}))
	h.ServeHTTP(httptest.NewRecorder(), request("POST", "/", "12345", "Host", "localhost"))
	h, _ = newGuard(t, guard.Config{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var one [1]byte
		_, _ = r.Body.Read(one[:])
		if all, err := guard.ReadBody(r.Body, 4); string(all) != "2345" || err != nil {
			t.Errorf("%q %v", all, err)
		}
		if n, err := r.Body.Read(one[:]); n != 0 || err != io.EOF {
			t.Errorf("%d %v", n, err)
		}
	}))
	h.ServeHTTP(httptest.NewRecorder(), request("POST", "/", "12345", "Host", "localhost"))
}
