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
