package subtitle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/obs/subtitle"
)

// screen is a track in a test, and the time there.
type screen struct {
	t   testing.TB
	on  *subtitle.Track
	now time.Time
}

func newScreen(t testing.TB, prefix string) *screen {
	return &screen{t, subtitle.New(prefix, 2*time.Second), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func (s *screen) shows(x ...abi.Shown) { s.of("aya", x...) }

func (s *screen) of(companion string, x ...abi.Shown) {
	s.on.Show(s.now, abi.Showing{Companion: companion, Name: strings.ToUpper(companion), Shown: x})
}

// stands holds that a text is there, and so until just before the time is one later.
func (s *screen) stands(text string, lasting time.Duration) {
	s.t.Helper()
	end := s.now.Add(lasting)
	for ; ; s.now = s.now.Add(100 * time.Millisecond) {
		if got, _ := s.on.At(s.now); got != text {
			s.t.Fatalf("%v before the end of %v: %q, want %q", end.Sub(s.now), lasting, got, text)
		}
		if !s.now.Before(end.Add(-100 * time.Millisecond)) {
			s.now = end
			return
		}
	}
}

func piece(line string, part int, text string, seconds float64) abi.Shown {
	return abi.Shown{Kind: abi.ShowPiece, Line: line, Part: part, Text: text, Seconds: seconds}
}

func whole(line string, parts int) abi.Shown {
	return abi.Shown{Kind: abi.ShowWhole, Line: line, Part: parts}
}

func sound(line string, part int, seconds float64, failed string) abi.Shown {
	return abi.Shown{Kind: abi.ShowSound, Line: line, Part: part, Sound: &abi.Sound{Line: line, Part: part, Seconds: seconds, Failed: failed}}
}

func starts(line string, part int, seconds float64) abi.Shown {
	return abi.Shown{Kind: abi.ShowStarts, Line: line, Part: part, Seconds: seconds}
}

func end(line, how string) abi.Shown {
	return abi.Shown{Kind: abi.ShowEnd, Line: line, End: how}
}

// TestByTheClock: nobody plays. The parts of a line are shown one after the other, as long as each takes; one that is
// made late is shown when it comes. That the line is over leaves the time to read it.
func TestByTheClock(t *testing.T) {
	s := newScreen(t, "")
	s.stands("", time.Second)
	s.shows(piece("g1", 1, "ひとつ、", 2), piece("g1", 2, "ふたつ、", 3))
	s.stands("", subtitle.Moment) // a sound might come
	s.stands("ひとつ、", 2*time.Second)
	s.stands("ふたつ、", 10*time.Second) // the next is still made
	s.shows(piece("g1", 3, "みっつ。", 1), whole("g1", 3), end("g1", "said"))
	s.stands("みっつ。", 3*time.Second) // one, and two of linger
	s.stands("", time.Minute)

	s.shows(piece("g2", 1, "a", 1), whole("g2", 1)) // an end may never come
	s.stands("a", 3*time.Second)
	s.stands("", time.Minute)

	s.shows(piece("g4", 1, "at once", 4), whole("g4", 1), end("g4", "said")) // as a line comes that nobody plays
	s.stands("at once", 6*time.Second)
	s.stands("", time.Minute)

	s.shows(piece("g3", 1, "a", 1)) // nor anything
	s.stands("a", 33*time.Second)
	s.stands("", time.Minute)
}

// TestByTheBody: a body plays. What it begins is shown, when it begins it; the clock does not run ahead of it.
func TestByTheBody(t *testing.T) {
	s := newScreen(t, "")
	s.shows(piece("g1", 1, "one", 1), sound("g1", 1, 1.5, ""))
	s.stands("", 2*time.Second) // a sound is there: somebody may play it
	s.shows(starts("g1", 1, 1.5), piece("g1", 2, "two", 1), whole("g1", 2))
	s.stands("one", 4*time.Second) // the second has no sound yet
	s.shows(sound("g1", 2, 3, ""), starts("g1", 2, 3))
	s.stands("two", 20*time.Second) // it is slow, and tells when it has ended
	s.shows(end("g1", "said"))
	s.stands("two", 2*time.Second)
	s.stands("", 2*time.Second)

	s.shows(piece("g2", 1, "three", 1)) // that it will play this one is likely, also before there is a sound
	s.stands("", 4*time.Second)
	s.shows(starts("g2", 1, 0), piece("g2", 2, "four", 1))
	s.stands("three", time.Second)
	s.shows(starts("g2", 2, 0))
	s.stands("four", time.Second)
	s.shows(end("g2", "cut"))
	s.stands("four", 2*time.Second)
	s.stands("", time.Second)
}

// TestBodyLeaves: a body that played is gone. Its parts are waited for, and then shown by the clock; the next line is
// not waited for any more, until a body is there again.
func TestBodyLeaves(t *testing.T) {
	s := newScreen(t, "")
	s.shows(piece("g1", 1, "one", 1), starts("g1", 1, 1), end("g1", "said"))
	s.stands("one", 2*time.Second)
	s.shows(piece("g2", 1, "two", 1), piece("g2", 2, "three", 1), whole("g2", 2))
	s.stands("", subtitle.Patience)
	s.stands("two", 2*time.Second)
	s.shows(end("g2", "said")) // and nobody said it
	s.stands("three", 3*time.Second)
	s.shows(piece("g3", 1, "four", 1), sound("g3", 1, 1, ""))
	s.stands("four", 500*time.Millisecond)
	s.shows(starts("g3", 1, 1), end("g3", "said"))
	s.stands("four", 2*time.Second)
	s.shows(piece("g4", 1, "five", 1))
	s.stands("", time.Second)
}

// TestSoundFails: a part that will have no sound is not waited for.
func TestSoundFails(t *testing.T) {
	s := newScreen(t, "")
	s.shows(piece("g1", 1, "one", 1), sound("g1", 1, 1, ""))
	s.stands("", time.Second)
	s.shows(sound("g1", 1, 0, "the voice is not there"))
	s.stands("one", time.Second)
}

// TestAllOfIt: a body that says all of a line, and not when it begins which part: the clock does.
func TestAllOfIt(t *testing.T) {
	s := newScreen(t, "")
	s.shows(piece("g1", 1, "one", 1), sound("g1", 1, 1, ""), piece("g1", 2, "two", 2), whole("g1", 2))
	s.stands("", time.Second)
	s.shows(starts("g1", 0, 0))
	s.stands("one", time.Second)
	s.stands("two", 10*time.Second) // until it has ended
	s.shows(end("g1", "said"))
	s.stands("two", 2*time.Second)
	s.stands("", time.Second)
}

// TestStop: nothing stands there any more, at once, and nothing of it comes again.
func TestStop(t *testing.T) {
	for name, stop := range map[string]abi.Shown{"stop": {Kind: abi.ShowStop}, "stopped": end("g1", "stopped")} {
		t.Run(name, func(t *testing.T) {
			s := newScreen(t, "")
			s.shows(piece("g1", 1, "one", 1), piece("g1", 2, "two", 1), starts("g1", 1, 1))
			s.of("kyoko", piece("k1", 1, "her", 10), starts("k1", 1, 10))
			s.stands("her", 500*time.Millisecond)
			s.shows(stop, starts("g1", 2, 1), end("g1", "stopped"))
			s.of("kyoko", end("k1", "stopped"))
			s.stands("", time.Minute)
		})
	}
	s := newScreen(t, "")
	s.shows(piece("g1", 1, "one", 1), sound("g1", 1, 1, ""), end("g1", "failed")) // before anything was shown
	s.stands("", time.Minute)
	s.shows(piece("g2", 1, "one", 9), piece("g2", 2, "two", 9))
	s.stands("", subtitle.Moment)
	s.stands("one", time.Second)
	s.shows(end("g2", "cut")) // the rest is not said
	s.stands("one", 2*time.Second)
	s.stands("", time.Minute)
}

// TestSeveral: the line that began last is shown; when it is over, one that is still said is again.
func TestSeveral(t *testing.T) {
	s := newScreen(t, "{name}: ")
	s.shows(piece("g1", 1, "long", 10), whole("g1", 1))
	s.stands("", subtitle.Moment)
	s.stands("AYA: long", time.Second)
	s.of("kyoko", piece("g1", 1, "short", 1), whole("g1", 1))
	s.stands("AYA: long", subtitle.Moment)
	s.stands("KYOKO: short", 3*time.Second)
	s.stands("AYA: long", 7*time.Second)
	s.stands("", time.Second)
}

// TestNew: a handler that was just loaded shows what it knows, and nothing of what it does not.
func TestNew(t *testing.T) {
	s := newScreen(t, "")
	s.shows(starts("g1", 2, 1), sound("g1", 2, 1, ""), whole("g1", 3), end("g1", "said"), abi.Shown{Kind: abi.ShowAction}, abi.Shown{Kind: "new"})
	s.stands("", time.Second)
	s.shows(piece("g2", 3, "three", 1))
	s.stands("", subtitle.Moment)
	s.stands("three", time.Second)
	s.shows(piece("g2", 1, "late", 1), piece("g2", 3, "again", 1), starts("g2", 1, 1))
	s.stands("three", time.Second)
	s.shows(abi.Shown{Kind: abi.ShowStop})
	s.stands("", time.Second)
	s.of("kyoko", abi.Shown{Kind: abi.ShowWhole, Line: "g3", Text: "ぜんぶで十四文字の一行です。"}) // no estimate: seven letters a second
	s.stands("", subtitle.Moment)
	s.stands("ぜんぶで十四文字の一行です。", 4*time.Second)
	s.stands("", time.Minute)
}

// TestWords: nothing of a text or a name hides or turns what stands beside it, and a text of such signs alone is none.
func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"a\u202eb\x00\x1b[31m\u2067c\u200b": "AYA:\nab[31mc", " 全角\u3000空白\t👩\u200d👧 ": "AYA:\n全角\u3000空白 👩\u200d👧",
		"\u202e \x07": "", "two\nlines": "AYA:\ntwo\nlines", "{name}": "AYA:\n{name}", "bad\xff": "AYA:\nbad",
	} {
		s := newScreen(t, "{name}:\n")
		s.shows(piece("g1", 1, text, 1), starts("g1", 1, 1))
		s.stands(want, time.Second)
	}
}

// TestLaws: whatever is shown, in whatever order, a text on the screen is a part that was shown and not stopped; a part
// that a body begins is there at once; the screen is empty in the end; and it asks to be asked again
// whenever something changes.
func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		on := subtitle.New("", time.Second)
		now := time.Unix(1_000_000, 0)
		known := map[string]bool{"": true}
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 4000).Draw(t, "ms")) * time.Millisecond)
			line, n := rapid.SampledFrom([]string{"g1", "g2"}).Draw(t, "line"), rapid.IntRange(0, 4).Draw(t, "part")
			x := abi.Shown{
				Kind: rapid.SampledFrom([]string{abi.ShowPiece, abi.ShowPiece, abi.ShowPiece, abi.ShowWhole, abi.ShowSound, abi.ShowStarts, abi.ShowEnd, abi.ShowStop}).Draw(t, "kind"),
				Line: line, Part: n, Seconds: rapid.Float64().Draw(t, "seconds"), End: rapid.SampledFrom([]string{"said", "cut", "stopped", "failed"}).Draw(t, "end"),
			}
			switch x.Kind {
			case abi.ShowPiece:
				x.Text = fmt.Sprintf("%s-%d-%d", line, n, i)
				known[x.Text] = true
			case abi.ShowSound:
				x.Sound = &abi.Sound{Part: n, Seconds: x.Seconds}
			case abi.ShowStop:
				clear(known)
				known[""] = true
			}
			on.Show(now, abi.Showing{Companion: "aya", Shown: []abi.Shown{x}})
			text, again := on.At(now)
			if !known[text] {
				t.Fatalf("%q stands there after %+v", text, x)
			}
			if x.Kind == abi.ShowStop && (text != "" || !again.IsZero()) {
				t.Fatalf("%q after a STOP, again at %v", text, again)
			}
		}
		for steps := 0; ; steps++ {
			text, again := on.At(now)
			if again.IsZero() {
				if text != "" {
					t.Fatalf("%q stands there for ever", text)
				}
				return
			}
			if !again.After(now) || steps > 1000 {
				t.Fatalf("asked at %v, again at %v, %d times", now, again, steps)
			}
			if before, _ := on.At(again.Add(-1)); before != text {
				t.Fatalf("%q became %q before it was to be asked again", text, before)
			}
			now = again
		}
	})
}
