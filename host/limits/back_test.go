package limits_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	. "github.com/companiond/companiond/host/limits"
)

// TestAClockThatWasAhead: one call while it was nine hours ahead, and what comes when it is right
// again has its bounds as ever, for as long as it goes on.
func TestAClockThatWasAhead(t *testing.T) {
	l := New(map[Key]Bounds{model: {Minute: 6, Day: 100}})
	if r := l.Take(noon.Add(9*time.Hour), Called, model); r != nil {
		t.Fatal(r)
	}
	told := 0
	for n := range 30 {
		now := noon.Add(time.Duration(n) * 2 * time.Minute)
		for i := range 7 {
			if r := l.Take(now, Called, model); (r != nil) != (i == 6 || n == 0 && i == 5) && !strings.Contains(r.Why, "calls_day") {
				t.Fatalf("minute %d, call %d: %+v", n, i, r)
			} else if r != nil && r.First {
				told++
			}
		}
	}
	if told < 10 {
		t.Errorf("%d lines were logged", told)
	}
}

// TestADayThatWasAhead: the bound of a day that a clock was wrong by ends with the day that it is, and is
// there once.
func TestADayThatWasAhead(t *testing.T) {
	l := New(map[Key]Bounds{model: {Day: 3}})
	ahead := noon.Add(15 * time.Hour)
	for range 2 {
		l.Take(ahead, Called, model)
	}
	if l.Take(noon, Called, model) != nil || l.Take(noon, Called, model) == nil {
		t.Error("not one more")
	}
	if r := l.Take(noon.Add(12*time.Hour), Called, model); r != nil {
		t.Errorf("the next day: %+v", r)
	}
}

// TestTimeGoesBack: whatever a clock is set back by, and however often, in no real minute are more calls
// made than may be, and a minute after the last one may be made.
func TestTimeGoesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 9).Draw(t, "minute")
		l := New(map[Key]Bounds{model: {Minute: most}})
		now, back := noon, time.Duration(0)
		var made []time.Time
		for range rapid.IntRange(1, 100).Draw(t, "calls") {
			now = now.Add(time.Duration(rapid.IntRange(0, 20000).Draw(t, "ms")) * time.Millisecond)
			if rapid.IntRange(0, 4).Draw(t, "set") == 0 {
				back += time.Duration(rapid.IntRange(0, 4000).Draw(t, "seconds")) * time.Second
			}
			if l.Take(now.Add(-back), Called, model) == nil {
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

// TestMoneyInWords: as it is written in a configuration.
func TestMoneyInWords(t *testing.T) {
	l := New(map[Key]Bounds{model: {Cost: 0.00001}})
	l.Spend(noon, 1, 1, model)
	if r := l.Take(noon, Called, model); r == nil || r.Why != "model.main.cost_day: 0.00001 a day is spent" {
		t.Errorf("%+v", r)
	}
}
