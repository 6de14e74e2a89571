package playback

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/entry"
)

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }

// part is one of two sentences, of 1 and 2 seconds.
func part(text string, shown int) Part {
	half := len(text) / 2
	return Part{Text: text, Voice: []entry.Beat{{Bytes: half, MS: 1000}, {Bytes: len(text) - half, MS: 2000}}, Shown: at(shown)}
}

// A voice may take as long to be made for few words as for many: a body that tells is waited for.
func TestAShortLineHasTime(t *testing.T) {
	l := &Line{ID: "g1", Who: "aya", Waits: map[string]int{"a": 0}}
	l.Add(Part{Text: "Hi.", Voice: []entry.Beat{{Bytes: 3, MS: 400}}, Shown: at(0)})
	l.Add(Part{Text: "So.", Voice: []entry.Beat{{Bytes: 3, MS: 400}}, Shown: at(0)})
	if got := l.Until(); !got.Equal(at(10_000)) {
		t.Errorf("waited for until %v", got)
	}
	l.Played("a", 1, at(9000))
	if got := l.Until(); !got.Equal(at(19_000)) {
		t.Errorf("then until %v", got)
	}
	l.Waits = nil
	if got := l.Until(); !got.Before(at(12_000)) {
		t.Errorf("of one that does not tell until %v", got)
	}
}

// A line of two parts, by the word of a body and without one.
func TestALine(t *testing.T) {
	l := &Line{ID: "g1", Who: "aya", Waits: map[string]int{"a": 0}}
	l.Add(part("abcdefgh", 0))
	l.Add(part("ijklmnop", 100))
	if got := l.Ends(); !got.Equal(at(6000)) || !l.Until().Equal(at(6000+6000+5000)) {
		t.Errorf("ends at %v, waited for until %v", got, l.Until())
	}
	// A voice may take a third longer, and of the second part the body would have told.
	for ms, want := range map[int]string{0: "", 500: "", 1000: "ab", 2000: "abcd", 3000: "abcde", 3500: "abcdef", 9000: "abcdefgh"} {
		if got := l.Heard(at(ms)); got != want {
			t.Errorf("after %d ms %q was heard, want %q", ms, got, want)
		}
	}
	if rate := l.Played("a", 1, at(4500)); rate != 1500 {
		t.Errorf("the body takes %d for 1000", rate)
	}
	if got := l.Ends(); !got.Equal(at(7500)) || l.Heard(at(4600)) != "abcdefgh" || l.Ended() {
		t.Errorf("ends at %v, heard %q", got, l.Heard(at(4600)))
	}
	l.Complete(7, "", "")
	l.Played("b", 2, at(5000)) // nobody waits for it
	if l.Played("a", 2, at(8000)); !l.Ended() || !l.Done || l.Heard(at(0)) != l.Text() {
		t.Errorf("%+v", l)
	}
}

// The slowest body counts; one that leaves does not; without any the estimate does.
func TestBodiesOfALine(t *testing.T) {
	l := &Line{Waits: map[string]int{"a": 0, "b": 0}}
	l.Add(part("abcdefgh", 0))
	l.Complete(7, "", "")
	l.Played("a", 1, at(3000))
	if l.Ended() {
		t.Error("over with one of two")
	}
	if l.Leave("b", at(3100)); !l.Ended() {
		t.Error("not over when the slow one has left")
	}
	l = &Line{Waits: map[string]int{"a": 0}}
	l.Add(part("abcdefgh", 0))
	l.Complete(7, "", "")
	l.Leave("a", at(1000))
	if l.Ended() || !l.Ends().Before(l.Until()) {
		t.Errorf("ends at %v, waited for until %v", l.Ends(), l.Until())
	}
}

// Whatever comes in which order: what was heard is a beginning of the line and grows,
// nobody waits for less than the estimate or for ever, and all times are whole
// milliseconds, or a room would wait for one that never comes.
func TestAnyLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &Line{Waits: map[string]int{}, Rate: int64(rapid.IntRange(500, 2000).Draw(t, "rate")), Silent: rapid.Bool().Draw(t, "silent")}
		for _, b := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3, rapid.ID).Draw(t, "bodies") {
			l.Waits[b] = 0
		}
		now, shown := 0, 0
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			now += rapid.IntRange(0, 3000).Draw(t, "wait")
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				text := rapid.StringN(1, 12, -1).Draw(t, "text")
				l.Add(Part{Text: text, Voice: []entry.Beat{{Bytes: len(text), MS: int64(rapid.IntRange(0, 5000).Draw(t, "ms"))}}, Shown: at(now)})
				shown++
			case 1:
				l.Played(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "body"), rapid.IntRange(0, 5).Draw(t, "part"), at(now))
			case 2:
				l.Leave(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "leaves"), at(now))
			case 3:
				l.Complete(7, "", "")
			}
			if shown == 0 {
				continue
			}
			for _, x := range []time.Time{l.Ends(), l.Until()} {
				if x.Nanosecond()%1e6 != 0 {
					t.Fatalf("%v is no whole millisecond", x)
				}
			}
			if l.Until().Before(l.Ends()) || l.Until().Sub(l.Ends()) > 2*time.Minute {
				t.Fatalf("ends at %v, waited for until %v", l.Ends(), l.Until())
			}
			before, after := l.Heard(at(now)), l.Heard(at(now+500))
			if !strings.HasPrefix(l.Text(), after) || !strings.HasPrefix(after, before) {
				t.Fatalf("%q, then %q of %q", before, after, l.Text())
			}
		}
	})
}

// A body knows how long a part takes once it has made its sound.
func TestTakes(t *testing.T) {
	l := &Line{Rate: 2000, Waits: map[string]int{"a": 0}}
	l.Add(Part{Text: "abcd", Voice: []entry.Beat{{Bytes: 2, MS: 1000}, {Bytes: 2, MS: 3000}}, Shown: began})
	l.Add(Part{Text: "efgh", Voice: []entry.Beat{{Bytes: 4, MS: 1000}}, Shown: began})
	for _, c := range []struct {
		part int
		d    time.Duration
		ends time.Duration
	}{{0, 0, 10}, {3, 5, 10}, {1, 4, 6}, {2, 3, 7}, {0, 14, 14}} {
		if l.Takes(c.part, c.d*time.Second); !l.Ends().Equal(began.Add(c.ends * time.Second)) {
			t.Errorf("part %d takes %v: ends at %v", c.part, c.d, l.Ends())
		}
	}
	if v := l.Parts[0].Voice; v[1].MS != 3*v[0].MS {
		t.Errorf("%+v", v)
	}
}

// TestHeardByWord: the word of a body that so much was heard counts, up to a letter, where less would be guessed; and only
// of one that is waited for.
func TestHeardByWord(t *testing.T) {
	for body, want := range map[string]string{"x": "いち。に", "other": ""} {
		var v Voice
		v.Connect(entry.Bodies{Joined: []entry.Body{{ID: "x", Who: "a", Plays: true}}}, t0)
		v.Sound("g", "a", 1, Part{Text: "いち。にい。", Voice: []entry.Beat{{Bytes: 18, MS: 2000}}, Shown: t0}, false)
		v.Report(entry.Played{Line: "g", Who: "a", Body: body, Bytes: 13}, after(10))
		v.Report(entry.Played{Line: "g", Who: "a", Body: body, Bytes: 1}, after(20))
		if got := v.Playing.Heard(after(30)); got != want {
			t.Errorf("%s: heard %q, want %q", body, got, want)
		}
		v.Playing.Complete(9, "", "")
		if b := v.End("taro said STOP", "", after(30)); b.Text != want {
			t.Errorf("%s: %+v", body, b)
		}
	}
}
