package playback

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/entry"
)

// page is a body that gets a line sentence by sentence, and tells of each.
func page(id string) entry.Body {
	return entry.Body{ID: id, Who: "a", Plays: true, Finishes: true, Sentences: true}
}

// says has the bodies say a line at t0, each part whole at once.
func says(v *Voice, bodies []entry.Body, parts ...string) *Line {
	v.Connect(entry.Bodies{Joined: bodies}, t0)
	for i, p := range line(true, parts...).Parts {
		v.Sound("g", "a", i+1, p, false)
	}
	v.Playing.Complete(9, "", "")
	return v.Playing
}

// word is a page's word that so many bytes of its line were heard.
func word(body string, bytes int) entry.Played {
	return entry.Played{Line: "g", Who: "a", Body: body, Bytes: bytes}
}

var behind = entry.Rules{Interrupt: entry.InterruptSentence, Interrupters: []string{"*"}}

// TestWhatWasTold: whatever happens to a line that pages get sentence by sentence, in any order: what
// was heard of it are the sentences that one of them told of, no less and no more; it was said to its
// end only where that is all; and whoever speaks over it does not wait longer than ten seconds.
func TestWhatWasTold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var v Voice
		bodies := []entry.Body{page("x"), page("y")}[:rapid.IntRange(1, 2).Draw(t, "bodies")]
		var parts []string
		for range rapid.IntRange(1, 3).Draw(t, "parts") {
			parts = append(parts, strings.Repeat("いちに。", rapid.IntRange(1, 3).Draw(t, "sentences")))
		}
		l := says(&v, bodies, parts...)
		all := strings.Count(l.Text(), "。")
		told := map[string]int{}
		most := func() (n int) {
			for _, k := range told {
				n = max(n, k)
			}
			return n
		}
		now, asked, stops := 0, -1, ""
		end := func() entry.Heard {
			b := v.End(stops, "seed", after(now))
			v.Ended(b, after(now))
			return b
		}
		var b entry.Heard
		for range 200 {
			switch rapid.SampledFrom([]string{"tells", "tells", "tells", "time", "time", "time", "time", "speaks", "speaks", "speaks", "STOP", "leaves"}).Draw(t, "what") {
			case "tells":
				x := rapid.SampledFrom(bodies).Draw(t, "body").ID
				if told[x] == all || !slices.ContainsFunc(v.Bodies, func(b Body) bool { return b.ID == x }) {
					continue
				}
				now += rapid.IntRange(1, 4000).Draw(t, "later")
				told[x]++
				said := entry.Played{Line: "g", Who: "a", Body: x}
				for n, p := 0, 0; p < len(parts); p++ { // the word for the last sentence of a part is that for the part
					if n += strings.Count(parts[p], "。"); n == told[x] {
						said.Part = p + 1
					}
				}
				if said.Part == 0 {
					said.Bytes = len("いちに。") * told[x]
				}
				v.Report(said, after(now))
			case "time":
				now += rapid.IntRange(1, 9000).Draw(t, "later")
			case "speaks":
				rules := behind
				rules.Interrupt = rapid.SampledFrom([]entry.Interrupt{entry.InterruptNow, entry.InterruptSentence}).Draw(t, "how")
				if v.Interrupt(entry.Said{From: "taro", By: "human"}, rules, after(now)); asked < 0 && !l.Cut.IsZero() {
					asked = now
				}
			case "STOP":
				stops = "taro said STOP"
			case "leaves":
				v.Connect(entry.Bodies{Left: []entry.Body{rapid.SampledFrom(bodies).Draw(t, "body")}}, after(now))
			}
			v.Dues(func(at time.Time, what entry.DueKind, of uint64) {
				if what != entry.DueSpoken && !at.After(after(now)) {
					if now = int(at.Sub(t0).Milliseconds()); what == entry.DueCut {
						v.CutOff(of)
					} else {
						v.Expire(of)
					}
				}
			})
			if asked >= 0 && now > asked+10_000 {
				t.Fatalf("it goes on %d ms after somebody spoke over it", now-asked)
			}
			if v.Playing.Ended() || stops != "" {
				b = end()
				break
			}
		}
		if v.Playing != nil {
			t.Skip("it goes on")
		}
		if whole := most() == all; b.End == entry.EndSaid && !whole {
			t.Fatalf("%+v: %d of %d were told", b, most(), all)
		} else if b.End != entry.EndSaid && b.Text != strings.Repeat("いちに。", most()) {
			t.Fatalf("%+v, %d of %d were told", b, most(), all)
		}
	})
}

// TestACutEndsWithTheWord: a line that somebody speaks over ends as soon as the page tells that the sentence
// was spoken, sooner or later than estimated, and in no case by the estimate.
func TestACutEndsWithTheWord(t *testing.T) {
	for _, how := range []entry.Interrupt{entry.InterruptSentence, entry.InterruptNow} {
		for _, ms := range []int{700, 1000, 9000} {
			var v Voice
			l := says(&v, []entry.Body{page("x")}, "いち。にい。さん。")
			rules := behind
			rules.Interrupt = how
			v.Interrupt(entry.Said{From: "taro", By: "human"}, rules, after(500))
			if l.Cut.Before(after(10_000)) {
				t.Fatalf("%s: it ends after %v by itself", how, l.Cut.Sub(t0))
			}
			v.Report(word("x", 9), after(ms))
			if l.Cut != after(ms) {
				t.Errorf("%s: told after %d ms, it ends after %v", how, ms, l.Cut.Sub(t0))
			}
			v.CutOff(9)
			if b := v.End("", "", after(ms)); b.End != entry.EndCut || b.Text != "いち。" {
				t.Errorf("%s, told after %d ms: %+v", how, ms, b)
			}
		}
	}
}

// TestThePatienceIsForASentence: each word of a page gives it time for the rest.
func TestThePatienceIsForASentence(t *testing.T) {
	var v Voice
	l := says(&v, []entry.Body{page("x")}, strings.Repeat("いち。", 12)) // 12 s by the estimate, waited for 29 s
	for n := 1; n < 12; n++ {
		v.Report(word("x", 9*n), after(9000*n))
		if until := l.Until(); until.Before(after(9000*n+10_000)) || l.Ends() != after(9000*n+1000*(12-n)) {
			t.Fatalf("after %d sentences it is waited for until %v, and may end after %v", n, until.Sub(t0), l.Ends().Sub(t0))
		}
	}
	v.Report(entry.Played{Line: "g", Who: "a", Body: "x", Part: 1}, after(100_000))
	if b := v.End("", "", after(100_000)); b.End != entry.EndSaid || b.Why != "played" {
		t.Errorf("%+v", b)
	}
	v = Voice{} // all of it counts for how long it takes
	says(&v, []entry.Body{page("x")}, "いち。にい。さん。")
	for n := range 2 {
		v.Report(word("x", 9*(n+1)), after(2000*(n+1)))
	}
	v.Report(entry.Played{Line: "g", Who: "a", Body: "x", Part: 1}, after(4500))
	if rate := v.Bodies[0].Rate; rate != 1250 {
		t.Errorf("it takes %d", rate)
	}
}

// TestASilentPage: where no word comes, what it told of was heard, and nobody begins before it tells that
// the rest is over, or could have been.
func TestASilentPage(t *testing.T) {
	var v Voice
	says(&v, []entry.Body{page("x"), page("y")}, "いち。", "にい。", "さん。")
	for _, x := range []string{"x", "y"} {
		v.Report(entry.Played{Line: "g", Who: "a", Body: x, Part: 1}, after(1000))
	}
	v.Report(entry.Played{Line: "g", Who: "a", Body: "y", Done: true}, after(3000))
	v.Expire(9)
	b := v.End("", "", after(14_000))
	if b.End != entry.EndSaid || b.Why != "played" || len(b.Missed) > 0 { // the other page was heard to the end
		t.Errorf("%+v", b)
	}

	v = Voice{}
	says(&v, []entry.Body{page("x")}, "いち。", "にい。", "さん。")
	v.Report(entry.Played{Line: "g", Who: "a", Body: "x", Part: 1}, after(1000))
	v.Expire(9)
	if b = v.End("", "", after(14_000)); b.End != entry.EndFailed || b.Text != "いち。" || !slices.Equal(b.Missed, []string{"x"}) {
		t.Errorf("%+v", b)
	}
	if v.Ended(b, after(14_000)); v.Lingers() != after(24_000) {
		t.Errorf("somebody may begin after %v", v.Lingers().Sub(t0))
	}
	if v.Report(entry.Played{Line: "g", Who: "a", Body: "x", Done: true}, after(15_000)); v.Lingers() != after(15_000) {
		t.Errorf("it is over, and somebody may begin after %v", v.Lingers().Sub(t0))
	}
}

// TestATellingPageIsTrustedAgain: a page that told nothing of two lines is not waited for; its next word
// changes that, also about the line that is heard.
func TestATellingPageIsTrustedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		word entry.Played
		want bool
	}{
		"a sentence":      {word("x", 9), true},
		"that it has it":  {entry.Played{Line: "g", Who: "a", Body: "x"}, true},
		"of another line": {entry.Played{Line: "before", Who: "a", Body: "x", Done: true}, true},
		"how long":        {entry.Played{Line: "g", Who: "a", Body: "x", Seconds: 2}, false},
		"another's":       {word("z", 9), false},
	} {
		var v Voice
		v.Connect(entry.Bodies{Joined: []entry.Body{page("x")}}, t0)
		for n := range 2 {
			v.Sound(fmt.Sprint(n), "a", 1, Part{Text: "いち。", Voice: []entry.Beat{{Bytes: 9, MS: 1000}}, Shown: t0}, false)
			v.Playing.Complete(9, "", "")
			v.Expire(9)
			v.Ended(v.End("", "", t0), t0)
		}
		l := says(&v, nil, "いち。にい。")
		if len(l.Waits) > 0 || v.HearsOf(word("x", 9)) != true || v.HearsOf(word("z", 9)) {
			t.Fatalf("%s: %+v", name, v)
		}
		v.Report(c.word, after(500))
		if v.Bodies[0].Plays != c.want || (len(l.Waits) > 0 && l.Sentences) != (c.want && c.word.Line == "g") || v.HearsOf(word("x", 9)) == c.want {
			t.Errorf("%s: %+v %+v", name, v.Bodies[0], l)
		}
	}
}

// TestThePageGoes in the middle of a line, or its daemon does: what it did not tell of was not heard, and
// nobody waits for it.
func TestThePageGoes(t *testing.T) {
	for name, goes := range map[string]func(v *Voice){
		"the page":   func(v *Voice) { v.Connect(entry.Bodies{Left: []entry.Body{page("x")}}, after(1500)) },
		"the daemon": func(v *Voice) { v.Abandon(after(1500), time.Time{}) }, // by rules before version 6
	} {
		var v Voice
		l := says(&v, []entry.Body{page("x")}, "いち。にい。さん。")
		v.Report(word("x", 9), after(1200))
		if goes(&v); !l.Ended() {
			t.Errorf("%s: it goes on", name)
		}
		b := v.End("", "", after(1500))
		if b.End != entry.EndFailed || b.Text != "いち。" || b.Why != "its body has gone" || len(b.Missed) > 0 {
			t.Errorf("%s: %+v", name, b)
		}
		if v.Ended(b, after(1500)); v.Lingers().After(after(1500)) {
			t.Errorf("%s: it lingers until %v", name, v.Lingers().Sub(t0))
		}
	}
	var v Voice // it had told of all
	l := says(&v, []entry.Body{page("x")}, "いち。にい。")
	v.Report(word("x", 18), after(2000))
	v.Abandon(after(2100), after(2100))
	if b := v.End("", "", after(2100)); !l.Ended() || b.End != entry.EndSaid {
		t.Errorf("%+v", b)
	}
	// Two have it: the other goes on.
	v = Voice{}
	l = says(&v, []entry.Body{page("x"), page("y")}, "いち。にい。")
	if v.Connect(entry.Bodies{Left: []entry.Body{page("x")}}, after(100)); l.Ended() {
		t.Error("the other page still says it")
	}
}

// TestOneThatDoesNotTellBeside: where another body says the line, too, it goes by the parts and by the length.
func TestOneThatDoesNotTellBeside(t *testing.T) {
	var v Voice
	l := says(&v, []entry.Body{page("x"), {ID: "z", Who: "a"}}, "いち。にい。")
	if l.Sentences {
		t.Error("it goes by the sentences of one")
	}
	v = Voice{}
	if l = says(&v, []entry.Body{page("x"), {ID: "g", Who: "a", Mute: true}, {ID: "o", Who: "b"}}, "いち。"); !l.Sentences {
		t.Error("a game, or another's body, says the line")
	}
}

// TestAPageComesWhileALineIsRead: what it tells of is not counted from the line's beginning, so that it goes
// by the parts.
func TestAPageComesWhileALineIsRead(t *testing.T) {
	var v Voice
	v.Sound("g", "a", 1, Part{Text: "いち。", Voice: []entry.Beat{{Bytes: 9, MS: 1000}}, Shown: t0}, true)
	v.Connect(entry.Bodies{Joined: []entry.Body{page("x")}}, after(100))
	v.Sound("g", "a", 2, Part{Text: "にい。", Voice: []entry.Beat{{Bytes: 9, MS: 1000}}, Shown: after(200)}, true)
	v.Playing.Complete(9, "", "")
	if b := v.End("taro said STOP", "", after(300)); v.Playing.Sentences || b.Text != "いち。" {
		t.Errorf("%+v", b)
	}
}
