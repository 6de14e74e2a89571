package playback

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/entry"
)

// TestWhatLingers: what ends a line, and what the bodies that finish their sentences say of it then,
// in any order: nobody else begins while one of them may be heard, and nobody waits for longer than
// that, or than ten seconds.
func TestWhatLingers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var v Voice
		bodies := []entry.Body{{ID: "x", Who: "a", Plays: true, Finishes: true}, {ID: "y", Who: "a", Plays: true, Finishes: true}, {ID: "z", Who: "a", Plays: true}, {ID: "other", Who: "b", Plays: true, Finishes: true}}
		v.Connect(entry.Bodies{Joined: bodies}, t0)
		v.Sound("g", "a", 1, Part{Text: "いちに。さんし。", Voice: []entry.Beat{{Bytes: 12, MS: 1000}, {Bytes: 12, MS: 1000}}, Shown: t0}, false)
		v.Playing.Complete(9, "", "")
		heard := map[string]bool{"x": true, "y": true} // may be, of those whom nothing silences
		now := 0
		over := time.Time{}
		for range 8 {
			now += rapid.IntRange(1, 4000).Draw(t, "later")
			word := entry.Played{Line: rapid.SampledFrom([]string{"g", "g", "g", "elsewhere"}).Draw(t, "line"), Who: "a", Body: rapid.SampledFrom([]string{"x", "y", "z", "other"}).Draw(t, "body")}
			switch rapid.SampledFrom([]string{"end", "done", "failed", "leaves", "part"}).Draw(t, "what") {
			case "end":
				if v.Playing != nil {
					v.Ended(entry.Heard{Line: "g", Who: "a", End: rapid.SampledFrom([]entry.End{entry.EndCut, entry.EndStopped, entry.EndFailed, entry.EndSaid}).Draw(t, "how")}, after(now))
					over = after(now)
				}
			case "done":
				word.Done = true
			case "failed":
				word.Failed = "no voice"
			case "leaves":
				v.Connect(entry.Bodies{Left: []entry.Body{{ID: word.Body, Who: "a"}}}, after(now))
				delete(heard, word.Body)
				word.Body = ""
			case "part":
				word.Seconds = 3
			}
			v.Report(word, after(now))
			if word.Line == "g" && (word.Done || word.Failed != "") {
				delete(heard, word.Body)
			}
			if over.IsZero() {
				continue
			}
			waits := v.Lingers().After(after(now))
			if want := len(heard) > 0 && after(now).Before(over.Add(longestLinger)); waits != want {
				t.Fatalf("%v after the end, while %v may be heard: waits is %v, until %v", after(now).Sub(over), heard, waits, v.Lingers().Sub(over))
			}
		}
		v.Sound("h", "b", 1, Part{Text: "x", Shown: after(now)}, true)
		if v.Lingering != nil {
			t.Fatal("it lingers while the next line is heard")
		}
	})
}

// TestASentenceIsGuessed: a body that does not tell is heard until its sentence ends, by its length
// and a third more; between two lines nothing is.
func TestASentenceIsGuessed(t *testing.T) {
	for at, want := range map[int]int{500: 1333, 1000: 2333, 1900: 2333, 2000: 2000} {
		var v Voice
		v.Connect(entry.Bodies{Joined: []entry.Body{{ID: "x", Who: "a", Finishes: true}}}, t0)
		v.Sound("g", "a", 1, Part{Text: "いちに。さんし。", Voice: []entry.Beat{{Bytes: 12, MS: 1000}, {Bytes: 12, MS: 1000}}, Shown: t0}, false)
		v.Playing.Complete(9, "", "")
		v.Ended(entry.Heard{Line: "g", Who: "a", End: entry.EndStopped}, after(at))
		if got := v.Lingers(); got != after(want) && (want != at || !got.IsZero()) {
			t.Errorf("ended after %d ms: until %v", at, got.Sub(t0))
		}
	}
}

// TestTheDaemonGoes while a page is heard: its sentence is over by its length for the one that comes next,
// who hears no word of it. By rules before version 6 nothing was heard any more.
func TestTheDaemonGoes(t *testing.T) {
	for name, c := range map[string]struct {
		before func(v *Voice) // what happens within 1500 ms, when the daemon goes
		want   int            // until when nobody begins
		heard  string
	}{
		"in the first sentence":          {func(*Voice) {}, 4000, ""},
		"in the second":                  {func(v *Voice) { v.Report(word("x", 9), after(1200)) }, 5200, "いち。"},
		"in one that is very long":       {func(v *Voice) { v.Playing.Parts[0].Voice[0].MS = 40_000 }, 11_500, ""},
		"behind the last":                {func(v *Voice) { v.Report(word("x", 18), after(1400)) }, 0, ""},
		"of a page that has no voice":    {func(v *Voice) { v.Report(entry.Played{Line: "g", Who: "a", Body: "x", Failed: "none"}, after(900)) }, 0, ""},
		"of one that had gone":           {func(v *Voice) { v.Connect(entry.Bodies{Left: []entry.Body{page("x")}}, after(900)) }, 0, ""},
		"in a sentence that was stopped": {func(v *Voice) { v.Ended(v.End("stopped", "", after(1000)), after(1000)) }, 4000, ""},
		"in one of a line that was ended": {func(v *Voice) {
			v.Ended(v.End("stopped", "", after(1000)), after(1000))
			v.Lingering.Ends = time.Time{}
		}, 11_000, ""},
	} {
		for _, finish := range []bool{true, false} {
			var v Voice
			l := says(&v, []entry.Body{page("x")}, "いち。にい。")
			for i := range l.Parts[0].Voice {
				l.Parts[0].Voice[i].MS = 3000
			}
			c.before(&v)
			now := time.Time{}
			if finish {
				now = after(2500)
			}
			v.Abandon(after(1500), now)
			if v.Playing != nil {
				if b := v.End("", "", after(1500)); b.Text != c.heard {
					t.Errorf("%s: %q was heard", name, b.Text)
				} else {
					v.Ended(b, after(1500))
				}
			}
			want := time.Time{}
			if c.want > 0 && finish {
				want = after(c.want)
			}
			if got := v.Lingers(); got != want && (finish || got.After(after(1500))) {
				t.Errorf("%s: nobody begins until %v (%v), want %v", name, got.Sub(t0), finish, want.Sub(t0))
			}
			comes(t, name, v, finish && c.want > 0, want)
		}
	}
}

// comes has bodies come behind a restart: the word of a page of that speaker is waited for, for ten seconds at
// most, and ends the wait; without it the length counts again.
func comes(t *testing.T, name string, v Voice, waits bool, guess time.Time) {
	v.Connect(entry.Bodies{Joined: []entry.Body{{ID: "plain", Who: "a", Finishes: true}, {ID: "z", Who: "b", Plays: true, Finishes: true, Sentences: true}}}, after(1600))
	if got := v.Lingers(); waits && got != guess {
		t.Errorf("%s: others come, until %v", name, got.Sub(t0))
	}
	v.Connect(entry.Bodies{Joined: []entry.Body{page("again")}}, after(1700))
	if got := v.Before("again"); (got == "g") != waits || v.Before("plain") != "" || v.Before("z") != "" {
		t.Errorf("%s: its word is about %q", name, got)
	}
	if !waits {
		return
	}
	if got := v.Lingers(); got.Before(guess) || got.After(after(12_500)) {
		t.Errorf("%s: its page is back, until %v", name, got.Sub(t0))
	}
	twice, g := v, *v.Lingering
	twice.Lingering = &g
	twice.Abandon(after(1800), after(1900))
	if got := twice.Lingers(); got != guess {
		t.Errorf("%s: a second daemon waits until %v", name, got.Sub(t0))
	}
	v.Report(entry.Played{Line: "g", Who: "a", Body: "again", Done: true}, after(1900))
	if got := v.Lingers(); got != after(1900) {
		t.Errorf("%s: it is over, until %v", name, got.Sub(t0))
	}
}
