package perception_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/perception"
	"github.com/companiond/companiond/host/waittest"
)

var nobody = context.Background()

// expect compares the counts that are not zero.
func (h *house) expect(t *testing.T, want map[string]int) {
	t.Helper()
	got := h.Counts("nikoni")
	for what, n := range got {
		if n == 0 {
			delete(got, what)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("counts %v, want %v", got, want)
	}
}

func TestOneByOneInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		h.takes = time.Second
		defer h.run()()
		var want []string
		var last perception.Taken
		for i := range 20 {
			last = h.must(t, text("news", fmt.Sprint(i)))
			want = append(want, fmt.Sprintf("%q", fmt.Sprint(i)))
			if last.State != perception.StateQueued || last.Message != nil {
				t.Errorf("%+v", last)
			}
		}
		synctest.Wait()
		h.expect(t, map[string]int{"taken": 20, "waiting": 20})
		o := <-last.Outcome
		if o.Err != nil || o.Replaced || o.Judged.Seq != 20 || o.Judged.Judgement.State != abi.Listen {
			t.Errorf("%+v", o)
		}
		if _, more := <-last.Outcome; more {
			t.Error("a second outcome")
		}
		if got := h.bodies(); !slices.Equal(got, want) || h.twice || time.Duration(len(got))*time.Second != h.times()[19]+time.Second {
			t.Errorf("%v, at once %v, %v", got, h.twice, h.times())
		}
		h.expect(t, map[string]int{"taken": 20, "judged": 20})
		if p := h.perceived()[0]; p.From != "cam" || p.Title != "news" || p.Format != "text" || p.At.IsZero() || p.Seq != 1 {
			t.Errorf("%+v", p)
		}
	})
}

// Of frames that wait only the newest is judged; those who sent the others are
// told.
func TestNewestFrameWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		h.takes = time.Second
		defer h.run()()
		var taken []perception.Taken
		for i := range 5 {
			taken = append(taken, h.must(t, object("touch", fmt.Sprintf(`{"n":%d}`, i))))
			synctest.Wait()
		}
		h.must(t, text("news", "x"))
		for i, want := range []bool{false, true, true, true, false} {
			if o := <-taken[i].Outcome; o.Replaced != want || o.Err != nil {
				t.Errorf("%d: %+v", i, o)
			}
		}
		time.Sleep(time.Minute)
		if got := h.bodies(); !slices.Equal(got, []string{`{"n":0}`, `{"n":4}`, `"x"`}) {
			t.Errorf("%v", got)
		}
		h.expect(t, map[string]int{"taken": 6, "judged": 3, "replaced": 3})
	})
}

// Within the cool-down of its title a frame waits, and the newest is judged when
// that ends. Other titles are not held up.
func TestCoolDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		defer h.run()()
		states := []string{}
		for i := range 25 { // one in 100 ms, the cool-down is 2 s
			states = append(states, h.must(t, object("vision", fmt.Sprintf(`{"n":%d}`, i))).State)
			if i == 5 {
				h.must(t, text("news", "now"))
			}
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		if got := h.bodies(); !slices.Equal(got, []string{`{"n":0}`, `"now"`, `{"n":19}`, `{"n":24}`}) &&
			!slices.Equal(got, []string{`{"n":0}`, `"now"`, `{"n":20}`, `{"n":24}`}) { // 19 and 20 come as the cool-down ends
			t.Errorf("%v", got)
		}
		if got := h.times(); got[1] != 500*time.Millisecond || got[2] != 2*time.Second || got[3] != 4*time.Second {
			t.Errorf("%v", got)
		}
		if states[0] != perception.StateQueued || states[1] != perception.StateCooling || states[19] != perception.StateCooling {
			t.Errorf("%v", states)
		}
		// When it is over, the next is judged at once.
		h.must(t, object("vision", `{"n":99}`))
		synctest.Wait()
		if got := h.bodies(); got[len(got)-1] != `{"n":99}` {
			t.Errorf("%v", got)
		}
		n := h.Counts("nikoni")
		if n["cooled"] < 22 || n["judged"] != 5 || n["judged"]+n["replaced"] != n["taken"] || n["taken"] != 27 {
			t.Errorf("%v", n)
		}
	})
}

// A cool-down begins when a judgement does, so that a slow one costs no more.
func TestCoolDownRunsWhileItIsJudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		h.takes = 5 * time.Second
		defer h.run()()
		h.must(t, object("vision", `1`))
		synctest.Wait()
		h.must(t, object("vision", `2`))
		time.Sleep(time.Minute)
		if got := h.times(); !slices.Equal(got, []time.Duration{0, 5 * time.Second}) {
			t.Errorf("%v", got)
		}
	})
}

// A person's words do not wait for anything, and are not lost when everything
// else is refused.
func TestInputIsSaidAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 2)
		h.takes = time.Hour
		defer h.run()()
		refused := 0
		for i := range 10 {
			if _, err := h.Offer(nobody, "nikoni", text("news", fmt.Sprint(i)), "cam"); err != nil {
				if abi.CodeOf(err) != abi.CodeExhausted {
					t.Error(err)
				}
				refused++
			}
			synctest.Wait()
			taken, err := h.Offer(nobody, "nikoni", text("input", fmt.Sprintf("line %d", i)), "mika")
			if err != nil || taken.State != perception.StateSaid || taken.Outcome != nil || taken.Message.Seq != uint64(i+1) || taken.Message.Text != fmt.Sprintf("line %d", i) {
				t.Fatalf("%+v %v", taken, err)
			}
		}
		if refused != 7 || len(h.said) != 10 || h.said[0] != "mika: line 0" {
			t.Errorf("%d refused, said %q", refused, h.said)
		}
		h.expect(t, map[string]int{"taken": 3, "waiting": 3, "refused": 7, "said": 10})
	})
}

// Input needs no Run, and the room's objection to it is told.
func TestInputThatIsNotSaid(t *testing.T) {
	h := newHouse(t, 0)
	h.must(t, text("input", "hi"))
	for _, c := range []struct {
		p    card.Percept
		code abi.Code
		want string
	}{
		{text("input", " "), abi.CodeInvalid, "body"},
		{text("input", strings.Repeat("x", abi.MaxText+1)), abi.CodeTooLarge, "body"},
		{card.Percept{Title: "input", Format: "image", Body: []byte(`"` + pixel + `"`)}, abi.CodeInvalid, "format"},
	} {
		_, err := h.Offer(nobody, "nikoni", c.p, "mika")
		if abi.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want+": ") {
			t.Errorf("%.40s: %v", c.p.Body, err)
		}
	}
	h.sayErr = abi.Errorf(abi.CodeDenied, "from: mika is a companion here")
	if _, err := h.Offer(nobody, "nikoni", text("input", "hi"), "mika"); !errors.Is(err, h.sayErr) {
		t.Error(err)
	}
	h.sayErr = nil
	h.must(t, object("input", `{"text":"そこへ行って","x":1}`))
	if want := []string{"cam: hi", `cam: {"text":"そこへ行って","x":1}`}; !slices.Equal(h.said, want) {
		t.Errorf("%q", h.said)
	}
	h.expect(t, map[string]int{"said": 2, "refused": 4})
}

// pixel is a PNG of one pixel, in base64.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="

func TestJudgementFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		down := abi.Errorf(abi.CodeUnavailable, "waits for a model")
		h.judge = func(_ context.Context, p abi.Percept) (abi.Judged, error) {
			return abi.Judged{}, &perception.Ended{Seqs: []uint64{p.Seq}, Cause: down}
		}
		defer h.run()()
		for range 3 {
			if o := <-h.must(t, text("news", "x")).Outcome; !errors.Is(o.Err, down) {
				t.Errorf("%+v", o)
			}
		}
		h.expect(t, map[string]int{"taken": 3, "failed": 3})
	})
}

// A judge that never answers holds up its own companion, and not for ever.
func TestAJudgeThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		h.judge = func(ctx context.Context, p abi.Percept) (abi.Judged, error) {
			if p.Title == "touch" {
				<-ctx.Done()
				return abi.Judged{}, abi.Wrap(abi.CodeTimeout, ctx.Err(), "did not judge in time")
			}
			return abi.Judged{}, nil
		}
		defer h.run()()
		start := time.Now()
		stuck, next := h.must(t, object("touch", "{}")), h.must(t, text("news", "x"))
		synctest.Wait()
		if other, err := h.Offer(nobody, "momo", text("news", "y"), "cam"); err != nil || (<-other.Outcome).Err != nil {
			t.Errorf("%v", err)
		}
		if time.Since(start) > 0 {
			t.Error("the other companion waited")
		}
		if o := <-stuck.Outcome; abi.CodeOf(o.Err) != abi.CodeTimeout {
			t.Errorf("%+v", o)
		}
		if o := <-next.Outcome; o.Err != nil || o.Judged.Seq != 1 {
			t.Errorf("%+v", o)
		}
	})
}

// When the senses stop, whoever waits is told, and nothing goes on.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		h.takes = time.Hour
		early := h.must(t, text("news", "before it runs"))
		stop := h.run()
		more := []perception.Taken{early, h.must(t, text("news", "x")), h.must(t, object("vision", "1")), h.must(t, object("vision", "2"))}
		synctest.Wait()
		if got := h.bodies(); len(got) != 1 || got[0] != `"before it runs"` {
			t.Errorf("%v", got)
		}
		stop()
		for i, taken := range more {
			if o := <-taken.Outcome; abi.CodeOf(o.Err) != abi.CodeUnavailable && !o.Replaced {
				t.Errorf("%d: %+v", i, o)
			}
		}
		if _, err := h.Offer(nobody, "nikoni", text("news", "x"), "cam"); abi.CodeOf(err) != abi.CodeUnavailable {
			t.Errorf("after the stop: %v", err)
		}
		h.expect(t, map[string]int{"taken": 4, "failed": 1, "replaced": 1, "waiting": 2}) // the texts wait for the next start
	})
}

// Nobody has to wait for an outcome, and a worker is there only while something
// waits.
func TestNothingIsLeftRunning(t *testing.T) {
	h := newHouse(t, 0)
	stop := h.run()
	time.Sleep(10 * time.Millisecond)
	before := runtime.NumGoroutine()
	for i := range 50 {
		h.must(t, text("news", fmt.Sprint(i)))
	}
	waittest.Until(t, "all is judged", func() bool { return h.Counts("nikoni")["waiting"] == 0 })
	waittest.Until(t, fmt.Sprintf("there are %d goroutines again", before), func() bool { return runtime.NumGoroutine() <= before })
	stop()
}

func TestSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		id, err := h.Open("nikoni", "mika", "")
		if err != nil {
			t.Fatal(err)
		}
		if other, err := h.Open("nikoni", "mika", ""); err != nil || other == id {
			t.Errorf("%q %v", other, err)
		}
		if _, err := h.Open("nobody", "mika", ""); abi.CodeOf(err) != abi.CodeNotFound {
			t.Errorf("%v", err)
		}
		if _, err := h.Session("s99", "mika"); abi.CodeOf(err) != abi.CodeNotFound {
			t.Errorf("%v", err)
		}
		// Use keeps it open; a day without ends it.
		for range 5 {
			time.Sleep(23 * time.Hour)
			if companion, err := h.Session(id, "mika"); err != nil || companion != "nikoni" {
				t.Fatalf("%q %v", companion, err)
			}
		}
		time.Sleep(24 * time.Hour)
		if _, err := h.Session(id, "mika"); abi.CodeOf(err) != abi.CodeNotFound {
			t.Errorf("%v", err)
		}
	})
}
