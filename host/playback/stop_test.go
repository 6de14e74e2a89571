package playback

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/entry"
)

var t0 = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func after(ms int) time.Time { return t0.Add(time.Duration(ms) * time.Millisecond) }

// line has a part for each of texts, whose sentences take a second each.
func line(tells bool, parts ...string) *Line {
	l := &Line{ID: "g", Who: "a", Waits: map[string]int{}}
	if tells {
		l.Waits["x"] = 0
	}
	for _, text := range parts {
		p := Part{Text: text, Shown: t0}
		for _, s := range strings.SplitAfter(strings.TrimSuffix(text, "。"), "。") {
			p.Voice = append(p.Voice, entry.Beat{Bytes: len(s), MS: 1000})
		}
		p.Voice[len(p.Voice)-1].Bytes += len("。")
		l.Add(p)
	}
	return l
}

func TestStop(t *testing.T) {
	for name, c := range map[string]struct {
		l       *Line
		whole   bool
		at      int
		stops   bool
		cut     int
		upTo    int
		heard   string // at the cut
		playing bool   // the body tells of the first part before
	}{
		"the last of a part, told":           {line(true, "いち。", "に。", "さん。"), true, 500, true, 2333, 1, "いち。", false},
		"behind a part that was told":        {line(true, "いち。", "に。", "さん。"), true, 1500, true, 3433, 2, "いち。に。", true},
		"the last of all":                    {line(true, "いち。", "に。"), true, 1500, false, 0, 0, "", true},
		"the last so far":                    {line(true, "いち。"), false, 500, true, 2333, 1, "いち。", false},
		"longer than estimated":              {line(true, "いち。", "に。"), true, 1700, true, 3033, 1, "いち。", false},
		"within a part":                      {line(true, "いち。に。さん。"), true, 500, true, 1333, 0, "いち。", false},
		"nobody tells":                       {line(false, "いち。", "に。", "さん。"), true, 1500, true, 2666, 0, "いち。に。", false},
		"nobody tells, the last":             {line(false, "いち。", "に。"), true, 1500, false, 0, 0, "", false},
		"between two parts, more is to come": {line(false, "いち。"), false, 2000, true, 2000, 0, "いち。", false},
	} {
		if c.whole {
			c.l.Complete(9, "", "")
		}
		if c.playing {
			c.l.Played("x", 1, after(1100))
		}
		if c.l.Stop(after(c.at)) != c.stops {
			t.Errorf("%s: stops is %v", name, !c.stops)
		}
		if !c.stops {
			continue
		}
		c.l.Off = true
		if c.l.Cut != after(c.cut) || c.l.UpTo != c.upTo || c.l.Heard(c.l.Cut) != c.heard {
			t.Errorf("%s: cut after %v, or when %d were played; heard %q", name, c.l.Cut.Sub(t0), c.l.UpTo, c.l.Heard(c.l.Cut))
		}
	}
}

// What ends with a part ends when the body says that it was played.
func TestStopWhenItWasPlayed(t *testing.T) {
	l := line(true, "いち。", "に。", "さん。")
	l.Complete(9, "", "")
	l.Stop(after(500))
	if l.Played("x", 1, after(1200)); l.Cut != after(1200) {
		t.Errorf("cut after %v", l.Cut.Sub(t0))
	}
}

// Whatever a voice does that takes at most a third longer than estimated, nothing counts
// as heard that was not.
func TestHeardWasHeard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tells := rapid.Bool().Draw(t, "tells")
		var parts []string
		for range rapid.IntRange(1, 4).Draw(t, "parts") {
			parts = append(parts, strings.Repeat("いちに。", rapid.IntRange(1, 3).Draw(t, "sentences")))
		}
		l := line(tells, parts...)
		slow := rapid.IntRange(700, 1333).Draw(t, "slow")
		at := rapid.IntRange(0, 12000).Draw(t, "at")
		part, letters := 0, 0 // played whole, and letters heard until at: each sentence has three
		for from, i := 0, 0; i < len(parts); i++ {
			sentences := strings.Count(parts[i], "。")
			if end := from + sentences*slow; end <= at {
				from, part = end, i+1
				letters += 3 * sentences
				if tells {
					l.Played("x", part, after(end))
				}
			} else {
				letters += 3 * (at - from) / slow
				break
			}
		}
		got := strings.Count(strings.ReplaceAll(l.Heard(after(at)), "。", ""), "") - 1
		if got > letters {
			t.Fatalf("%d letters count as heard, of %d: %q", got, letters, l.Heard(after(at)))
		}
		if done := strings.Join(parts[:part], ""); tells && !strings.HasPrefix(l.Heard(after(at)), done) {
			t.Fatalf("%q lacks what was played", l.Heard(after(at)))
		}
	})
}

// A rest between two sentences is a beat of no bytes: nothing is heard in it, and whoever
// speaks then does not have the next sentence said.
func TestStopInARest(t *testing.T) {
	l := &Line{ID: "g1", Told: at(0), Of: 9}
	l.Add(Part{Text: "abcd.efgh.", Voice: []entry.Beat{{Bytes: 5, MS: 1000}, {MS: 2000}, {Bytes: 5, MS: 1000}}, Shown: at(0)})
	if got := l.Heard(at(3500)); got != "abcd." { // of 4000 that a voice may need for what is estimated at 3000
		t.Errorf("heard %q in the rest", got)
	}
	if !l.Stop(at(2000)) || l.Words != 5 {
		t.Errorf("it ends at %s with %d bytes", l.Cut, l.Words)
	}
}

// A sentence that takes long, by its length or by what a body says, ends all the same soon
// after somebody spoke over it, also the last one.
func TestStopDoesNotWaitForEver(t *testing.T) {
	for name, parts := range map[string][]string{"the only one": {"いち。"}, "more behind it": {"いち。に。", "さん。"}, "estimated": {"いち。", "に。"}} {
		for _, tells := range []bool{true, false} {
			l := line(tells, parts...)
			l.Complete(9, "", "")
			l.Takes(1, 590*time.Second)
			if !l.Stop(after(500)) || l.Cut.After(after(500).Add(sentence)) {
				t.Errorf("%s, tells %v: cut at %v", name, tells, l.Cut.Sub(t0))
			}
			if l.Off = true; l.Heard(l.Cut) == l.Text() {
				t.Errorf("%s, tells %v: all of it counts as heard", name, tells)
			}
		}
	}
}

// Where a body says how long a part takes, less of it is in doubt.
func TestHeardOfWhatIsExact(t *testing.T) {
	for exact, want := range map[bool]string{false: "いち。に。さん", true: "いち。に。さん。"} {
		l := line(true, "いち。に。さん。よん。ご。ろく。")
		l.Complete(9, "", "")
		if exact {
			l.Takes(1, 6*time.Second)
		}
		if !l.Stop(after(3500)) {
			t.Fatal("it goes on")
		}
		l.Off = true
		if got := l.Heard(l.Cut); !strings.HasPrefix(got, want) {
			t.Errorf("exact %v: %q", exact, got)
		}
	}
}

// TestABodyThatFailsBeforeTheEnd: why it could not play a line is not forgotten when the rest of
// the line comes.
func TestABodyThatFailsBeforeTheEnd(t *testing.T) {
	var v Voice
	v.Connect(entry.Bodies{Joined: []entry.Body{{ID: "x", Who: "a", Plays: true}}}, t0)
	v.Sound("g", "a", 1, Part{Text: "いち。", Voice: []entry.Beat{{Bytes: 9, MS: 1000}}, Shown: t0}, false)
	v.Report(entry.Played{Who: "a", Body: "x", Line: "g", Failed: "no voice"}, after(100))
	v.Sound("g", "a", 2, Part{Text: "に。", Voice: []entry.Beat{{Bytes: 6, MS: 1000}}, Shown: after(200)}, false)
	for _, broken := range []string{"", "the model broke off"} {
		v.Playing.Complete(9, broken, "")
		if b := v.End("", "", after(300)); b.End != entry.EndFailed || b.Why != "no voice" || len(b.Missed) > 0 || b.Text != "" {
			t.Errorf("%+v", b)
		}
	}
}

// TestHowABrokenLineEnds: as it was broken off, also where all that came of it was played.
func TestHowABrokenLineEnds(t *testing.T) {
	for ends, want := range map[entry.End]entry.End{"": entry.EndFailed, entry.EndStopped: entry.EndStopped, entry.EndCut: entry.EndCut} {
		v := Voice{Playing: line(true, "いち。")}
		v.Playing.Played("x", 1, after(1000))
		v.Playing.Complete(9, "why", ends)
		if b := v.End("", "", after(1100)); b.End != want || b.Why != "why" || b.Text != "いち。" {
			t.Errorf("%q: %+v", ends, b)
		}
	}
}
