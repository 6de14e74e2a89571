package playback

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/companiond/companiond/host/entry"
)

// TestHowFarAhead: as long as nearly all of the newest lines took, and a quarter more.
func TestHowFarAhead(t *testing.T) {
	var v Voice
	if v.Ahead() != firstLead {
		t.Errorf("%v before a line was made", v.Ahead())
	}
	v.Lead(time.Hour) // forgotten by then
	for range leads - 1 {
		v.Lead(2 * time.Second)
	}
	if v.Lead(4 * time.Second); v.Ahead() != 2500*time.Millisecond || len(v.Leads) != leads {
		t.Errorf("%v ahead, %d are known", v.Ahead(), len(v.Leads))
	}
	v.Lead(time.Minute)
	if v.Lead(time.Minute); v.Ahead() != longestLead {
		t.Errorf("%v ahead of slow lines", v.Ahead())
	}
}

// TestWhatMayBeWasted: few lines for nothing until one was heard, and few in an hour.
func TestWhatMayBeWasted(t *testing.T) {
	v := Voice{Playing: &Line{ID: "g1", Who: "a"}}
	for n := range wastedTurn {
		if !v.MayWaste(t0, 3) {
			t.Fatalf("not after %d", n)
		}
		v.Waste(t0)
	}
	if v.MayWaste(t0, 3) {
		t.Error("one more before a line was heard")
	}
	v.Ended(entry.Heard{Who: "a", End: entry.EndSaid}, t0)
	if v.Waste(t0); v.Playing != nil || v.MayWaste(t0, 3) || !v.MayWaste(t0.Add(time.Hour), 3) {
		t.Errorf("%+v", v.Wasted)
	}
}

// TestWhoMayInterrupt: a microphone that hears more than a noise cuts a line off, where the
// rules let its human do that.
func TestWhoMayInterrupt(t *testing.T) {
	for who, cut := range map[string]bool{"taro": true, "jiro": false} {
		r := entry.Rules{Interrupt: entry.InterruptNow, Interrupters: []string{"taro"}}
		var v Voice
		v.Connect(entry.Bodies{Joined: []entry.Body{{ID: "x", Who: "a", Plays: true}}}, t0)
		v.Sound("g1", "a", 1, Part{Text: "abcd", Voice: []entry.Beat{{Bytes: 4, MS: 4000}}, Shown: t0}, false)
		v.Listen(entry.Speaking{From: who, On: true}, t0)
		if v.Spoken(r, after(100)); !v.Playing.Cut.IsZero() {
			t.Errorf("%s: cut by a noise", who)
		}
		if v.Spoken(r, after(500)); !v.Playing.Cut.IsZero() != cut || !v.Sounds() || !v.Speaks(who) {
			t.Errorf("%s: %+v", who, v.Playing)
		}
		v.Abandon(after(600), after(600))
		if len(v.Bodies) > 0 || v.Speaks(who) || len(v.Playing.Waits) > 0 || !v.Hush.IsZero() {
			t.Errorf("%s: left behind %+v", who, v)
		}
	}
}

// TestCircles: two of the newest four say what was said.
func TestCircles(t *testing.T) {
	var v Voice
	for i, like := range []bool{true, false, false, false, true, false, true, false, false, false} {
		v.Echo(like)
		if want := i >= 6 && i <= 7; v.Circles() != want {
			t.Errorf("after %d: %v", i, v.Circles())
		}
	}
}

// TestABodyComesWhileALineIsRead: it says the rest, also where the room has read the
// beginning from its snapshot.
func TestABodyComesWhileALineIsRead(t *testing.T) {
	var v Voice
	v.Sound("g1", "a", 1, Part{Text: "abcd", Shown: t0}, true)
	if v.Sounds() {
		t.Fatal("nobody says it")
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	v = Voice{}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	v.Connect(entry.Bodies{Joined: []entry.Body{{ID: "x", Who: "a", Plays: true}, {ID: "y", Who: "b", Plays: true}}}, after(100))
	v.Sound("g1", "a", 2, Part{Text: "efgh", Shown: after(100)}, true)
	if !v.Sounds() || len(v.Playing.Waits) != 1 || v.Playing.Waits["x"] != 1 || v.Playing.Text() != "abcdefgh" {
		t.Errorf("%+v", v.Playing)
	}
}

// TestWhoGoesOnSpeaking: a microphone that says again that it hears somebody is waited for
// on; one that falls silent without a word is not, and does not cut the line that is begun
// then, until it is heard of again.
func TestWhoGoesOnSpeaking(t *testing.T) {
	r := entry.Rules{Interrupt: entry.InterruptNow, Interrupters: []string{"*"}}
	var v Voice
	v.Connect(entry.Bodies{Joined: []entry.Body{{ID: "x", Who: "a", Plays: true}}}, t0)
	on := entry.Speaking{From: "taro", On: true}
	v.Listen(on, t0)
	begun := v.Hush
	if v.News("taro", true, after(1000)) || !v.News("taro", false, after(1000)) || !v.News("taro", true, begun.Add(-time.Second)) {
		t.Error("what is news is not known")
	}
	v.Listen(on, begun.Add(-time.Second))
	if !v.Hush.Equal(begun.Add(longSpeech - time.Second)) {
		t.Errorf("waited for until %v", v.Hush.Sub(t0))
	}
	gone := v.Hush
	v.Sound("g1", "a", 1, Part{Text: "abcd", Voice: []entry.Beat{{Bytes: 4, MS: 40000}}, Shown: gone}, false)
	if v.Spoken(r, gone.Add(time.Second)); !v.Playing.Cut.IsZero() {
		t.Error("cut by a microphone that nobody waits for")
	}
	v.Dues(func(_ time.Time, what entry.DueKind, _ uint64) {
		if what == entry.DueSpoken {
			t.Error("it is still asked about")
		}
	})
	v.Listen(on, gone.Add(2*time.Second))
	if v.Spoken(r, gone.Add(3*time.Second)); v.Playing.Cut.IsZero() {
		t.Error("heard of again, it cuts nothing")
	}
}

// TestABareQuestionFromAChat calls nobody, though it is for whoever spoke just before.
func TestABareQuestionFromAChat(t *testing.T) {
	r := entry.Rules{Interrupt: entry.InterruptNow, Interrupters: []string{"*"}}
	for how, cut := range map[string]bool{"reply": false, "call": true, "topic": true, "to": true} {
		v := Voice{Playing: line(true, "いち。", "に。")}
		v.Interrupt(entry.Said{From: "viewer", By: "human", Addressed: []string{"a"}, How: how, Source: entry.SourceChat}, r, after(500))
		if v.Playing.Cut.IsZero() == cut {
			t.Errorf("%s: cut is %v", how, !cut)
		}
	}
}
