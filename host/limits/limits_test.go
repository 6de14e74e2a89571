package limits_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	. "github.com/companiond/companiond/host/limits"
)

var (
	tokyo = time.FixedZone("JST", 9*60*60)
	noon  = time.Date(2026, 11, 23, 12, 0, 0, 0, tokyo)
	model = Key{"model", "main"}
	aya   = Key{"companion", "aya"}
	main_ = Key{"room", "main"}
)

// TestAPartIsKept: what nobody waits for leaves a third of a bound, which is there for what is
// urgent; the refusal says which bound it is, and when the next call may be made.
func TestAPartIsKept(t *testing.T) {
	l := New(map[Key]Bounds{model: {Minute: 9}})
	made, told := 0, 0
	for range 20 {
		if r := l.Take(noon, Idle, model, aya, main_); r == nil {
			made++
		} else if r.First {
			told++
			if want := "model.main.calls_minute: 9 a minute are used up, but for what is kept for answers"; r.Why != want {
				t.Errorf("%q, want %q", r.Why, want)
			}
		}
	}
	if made != 6 || told != 1 {
		t.Errorf("%d calls were made, and %d lines logged", made, told)
	}
	later := noon.Add(10 * time.Second)
	for range 3 {
		if r := l.Take(later, Called, model); r != nil {
			t.Fatal(r.Why)
		}
	}
	r := l.Take(later, Called, model)
	if r == nil || r.Why != "model.main.calls_minute: 9 a minute are used up" || r.After != 51*time.Second {
		t.Fatalf("%+v", r)
	}
	if r := l.Take(later.Add(r.After-time.Millisecond), Called, model); r == nil {
		t.Error("it may be made too early")
	}
	if r := l.Take(later.Add(r.After), Called, model); r != nil {
		t.Errorf("%+v", r)
	}
}

// TestEachBound: the first that is reached says no, and the others do not count that call.
func TestEachBound(t *testing.T) {
	bounds := map[Key]Bounds{model: {Day: 100}, aya: {Minute: 2}, main_: {Cost: 1.5}}
	l := New(bounds)
	for range 5 {
		l.Take(noon, Called, model, aya, main_)
	}
	if d := l.Days(); len(d) != 3 || d[1].Calls != 2 || d[1].Name != "main" || d[1].Date != "2026-11-23" {
		t.Errorf("%+v", d)
	}
	if r := l.Take(noon, Called, model, Key{"companion", "ben"}, main_); r != nil {
		t.Errorf("another companion: %+v", r)
	}
	l.Spend(noon, 0, 1, model, main_)
	if r := l.Take(noon, Idle, model, main_); r == nil || !strings.Contains(r.Why, "room.main.cost_day: 1.5 a day is spent, but for what is kept for answers") {
		t.Errorf("%+v", r)
	}
	l.Spend(noon, 3, 0.5, model, main_)
	if r := l.Take(noon, Called, model, main_); r == nil || r.After != 12*time.Hour {
		t.Errorf("%+v", r)
	}
	for range 94 {
		if r := l.Take(noon, Called, model); r != nil {
			t.Fatal(r)
		}
	}
	if r := l.Take(noon, Called, model); r == nil || r.After != 12*time.Hour || !strings.Contains(r.Why, "model.main.calls_day: 100 a day are used up") {
		t.Errorf("%+v", r)
	}
	if r := l.Take(noon.Add(12*time.Hour), Called, model, main_); r != nil {
		t.Errorf("the next day: %+v", r)
	}
}

// TestADayIsKept through a restart, and a clock that is set back a little does not make its
// bounds twice.
func TestADayIsKept(t *testing.T) {
	bounds := map[Key]Bounds{model: {Day: 3, Cost: 2}}
	l := New(bounds)
	l.Take(noon, Called, model)
	l.Spend(noon, 1, 0.25, model)
	again := New(bounds)
	again.Restore(append(l.Days(), Day{Table: "model", Name: "gone", Date: "2026-11-23", Calls: 9}, Day{Table: "room", Calls: -1}))
	if d := again.Days(); len(d) != 2 || d[0].Name != "gone" || d[0].Calls != 9 || d[1].Calls != 2 || d[1].Cost != 0.25 {
		t.Errorf("%+v", d)
	}
	if again.Take(noon, Called, model) != nil || again.Take(noon, Called, model) == nil {
		t.Error("not one more")
	}
	midnight := time.Date(2026, 11, 24, 0, 0, 0, 0, tokyo)
	for range 3 {
		if r := again.Take(midnight, Called, model); r != nil {
			t.Fatal(r)
		}
	}
	if r := again.Take(midnight.Add(-time.Second), Called, model); r == nil {
		t.Error("the day is there twice")
	}
	if r := again.Take(midnight.AddDate(0, -1, 0), Called, model); r != nil {
		t.Errorf("a clock that was wrong by a month: %+v", r)
	}
}

// TestABoundOfToday counts what was spent before it was set; what was spent on other days is not kept, and
// neither are more keys without bounds than a few hundred: those that spent least are forgotten.
func TestABoundOfToday(t *testing.T) {
	l := New(map[Key]Bounds{model: {Minute: 100}})
	for range 7 {
		l.Take(noon, Called, model, aya, main_)
	}
	l.Spend(noon, 0, 3, model, aya, main_, Key{"room", ""})
	for n := range 3000 {
		l.Spend(noon, 1, 0.01, Key{"room", fmt.Sprint("talk", n)})
	}
	kept := l.Days()
	if len(kept) > 300 {
		t.Errorf("%d keys are kept", len(kept))
	}
	for key, of := range map[Key]Bounds{model: {Day: 7}, aya: {Cost: 3}, main_: {Day: 7}} {
		again := New(map[Key]Bounds{key: of})
		again.Restore(kept)
		if r := again.Take(noon, Called, key); r == nil {
			t.Errorf("%s: what it spent before it had a bound does not count", key)
		}
		if r := again.Take(noon.Add(24*time.Hour), Called, key); r != nil {
			t.Errorf("%s, the next day: %+v", key, r)
		}
	}
	l.Spend(noon.Add(24*time.Hour), 1, 0, aya)
	if d := l.Days(); len(d) != 2 || !reflect.DeepEqual(d[0], Day{Table: "companion", Name: "aya", Date: "2026-11-24", Calls: 1}) {
		t.Errorf("%d of yesterday: %+v", len(d), d[:min(3, len(d))])
	}
}

// TestHeld: whoever said so is left alone.
func TestHeld(t *testing.T) {
	l := New(nil)
	l.Hold(model, noon.Add(time.Minute), "rate limited")
	if until, why := l.Held(model, noon); !until.Equal(noon.Add(time.Minute)) || why != "rate limited" {
		t.Errorf("%v %q", until, why)
	}
	if until, _ := l.Held(model, noon.Add(time.Minute)); !until.IsZero() {
		t.Errorf("%v", until)
	}
	if len(l.Days()) != 0 {
		t.Error("what has no bounds is kept")
	}
}

// TestThoseWhoCallSomebody have a part that nobody else takes, however many wait for an answer; and whoever
// is refused is told whether anything is left for them.
func TestThoseWhoCallSomebody(t *testing.T) {
	for _, of := range []Bounds{{Minute: 30}, {Day: 30}, {Cost: 30}} {
		l := New(map[Key]Bounds{model: of})
		made := map[Urgency]int{}
		for n := range 90 {
			r := l.Take(noon, Urgency(n%2), model)
			if r == nil {
				l.Spend(noon, 0, 1, model)
				made[Urgency(n%2)]++
			} else if r.Full || !strings.Contains(r.Why, ", but for what is kept for ") {
				t.Fatalf("%+v: %+v", of, r)
			}
		}
		for l.Take(noon, Called, model) == nil {
			l.Spend(noon, 0, 1, model)
			made[Called]++
		}
		if made[Idle]+made[Waits] != 25 || made[Called] != 5 {
			t.Errorf("%+v: %v", of, made)
		}
		if r := l.Take(noon, Waits, model); r == nil || !r.Full || strings.Contains(r.Why, "but for") {
			t.Errorf("%+v: %+v", of, r)
		}
	}
}

// TestAMinuteIsKept through restarts, however many: in no 60 seconds are more calls made than may be, and a
// minute later one may be made, also where a clock was set back meanwhile.
func TestAMinuteIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 9).Draw(t, "minute")
		of := map[Key]Bounds{model: {Minute: most}}
		l := New(of)
		now, back := noon, time.Duration(0)
		var made []time.Time
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			now = now.Add(time.Duration(rapid.IntRange(0, 20000).Draw(t, "ms")) * time.Millisecond)
			if rapid.IntRange(0, 3).Draw(t, "restart") == 0 {
				kept, err := json.Marshal(l.Days())
				var days []Day
				if err == nil {
					err = json.Unmarshal(kept, &days)
				}
				if err != nil {
					t.Fatal(err)
				}
				l = New(of)
				l.Restore(days)
				if rapid.IntRange(0, 4).Draw(t, "set") == 0 {
					back += time.Duration(rapid.IntRange(0, 4000).Draw(t, "seconds")) * time.Second
				}
			}
			if l.Take(now.Add(-back), Called, model, aya) == nil {
				made = append(made, now)
			}
			if n := len(made); n > most && now.Sub(made[n-1-most]) < time.Minute {
				t.Fatalf("%d calls in a minute, of %d", most+1, most)
			}
		}
		if r := l.Take(now.Add(61*time.Second-back), Called, model); r != nil {
			t.Fatalf("a minute later: %+v", r)
		}
	})
}

// TestNeverOverTheBound: in no 60 seconds, and on no day, are more calls made than may be, those
// that are not urgent never more than their part; and After is when one may be made, unless others
// come between.
func TestNeverOverTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Bounds{Minute: rapid.IntRange(1, 12).Draw(t, "minute"), Day: rapid.IntRange(0, 60).Draw(t, "day")}
		l := New(map[Key]Bounds{model: b})
		now := noon.Add(11*time.Hour + 50*time.Minute)
		var made, idle []time.Time
		within := func(all []time.Time, from time.Time) (n int) {
			for _, at := range all {
				if at.After(from) {
					n++
				}
			}
			return n
		}
		for range rapid.IntRange(1, 150).Draw(t, "calls") {
			now = now.Add(time.Duration(rapid.IntRange(0, 9000).Draw(t, "ms")) * time.Millisecond)
			urgency := rapid.SampledFrom([]Urgency{Idle, Waits, Called}).Draw(t, "urgency")
			r := l.Take(now, urgency, model)
			if r != nil {
				if r.After <= 0 || r.After > 24*time.Hour {
					t.Fatalf("after %v", r.After)
				}
				if rapid.Bool().Draw(t, "wait") {
					now = now.Add(r.After)
					if next := l.Take(now, urgency, model); next != nil && strings.Contains(next.Why, "minute") {
						t.Fatalf("after %v it is still no: %s", r.After, next.Why)
					} else if next == nil {
						r = nil
					}
				}
			}
			if r != nil {
				continue
			}
			if made = append(made, now); urgency == Idle {
				idle = append(idle, now)
			}
			if n := within(made, now.Add(-time.Minute)); n > b.Minute {
				t.Fatalf("%d calls in a minute, of %d", n, b.Minute)
			}
			if n := within(idle, now.Add(-time.Minute)); n > b.Minute-b.Minute/3 {
				t.Fatalf("%d calls in a minute that nobody waits for, of %d", n, b.Minute)
			}
			y, m, d := now.Date()
			if n := within(made, time.Date(y, m, d, 0, 0, 0, -1, tokyo)); b.Day > 0 && n > b.Day {
				t.Fatalf("%d calls in a day, of %d", n, b.Day)
			}
		}
	})
}

func ExampleLimits() {
	l := New(map[Key]Bounds{{"model", "main"}: {Minute: 3}})
	for i := range 4 {
		if r := l.Take(noon, []Urgency{Idle, Idle, Idle, Called}[i], Key{"model", "main"}); r != nil {
			fmt.Println(r.Why)
		}
	}
	// Output: model.main.calls_minute: 3 a minute are used up, but for what is kept for answers
}
