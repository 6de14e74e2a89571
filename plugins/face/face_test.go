package face

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func at(ms int) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }

// shows shows things of one companion at a time.
func shows(t *testing.T, f *Face, ms int, all ...abi.Shown) {
	t.Helper()
	if err := f.Show(at(ms), abi.Showing{Companion: "aya", Shown: all}, get); err != nil {
		t.Fatal(err)
	}
}

// get gives a blob whose hash is what is in it.
func get(r abi.BlobRef) (abi.Blob, error) {
	return abi.Blob{Type: "application/json", Bytes: []byte(r.Hash)}, nil
}

func piece(line string, part int, emotion, text string) abi.Shown {
	return abi.Shown{Kind: abi.ShowPiece, Line: line, Part: part, Emotion: emotion, Text: text, Seconds: 1}
}

func sound(line string, part int, seconds float64, mouth ...abi.Viseme) abi.Shown {
	b, _ := json.Marshal(mouth)
	return abi.Shown{Kind: abi.ShowSound, Line: line, Part: part, Sound: &abi.Sound{Seconds: seconds, Mouth: abi.BlobRef{Hash: string(b)}}}
}

func starts(line string, part int) abi.Shown {
	return abi.Shown{Kind: abi.ShowStarts, Line: line, Part: part}
}

func end(line string) abi.Shown { return abi.Shown{Kind: abi.ShowEnd, Line: line, End: "said"} }

func v(ms int, open float64, shape string) abi.Viseme {
	return abi.Viseme{MS: ms, Open: open, Shape: shape}
}

// stands gives a pose in words.
func stands(p Pose) string {
	if !p.Talks {
		return fmt.Sprintf("%s, shut %.2f", p.Emotion, p.Open)
	}
	return fmt.Sprintf("%s, %s %.2f", p.Emotion, p.Shape, p.Open)
}

func TestMouthFollowsTheSound(t *testing.T) {
	f := New(Options{})
	shows(t, f, 0, piece("l1", 1, "happy", "ai"), sound("l1", 1, 0.3, v(100, 0.8, "a"), v(100, 0.4, "i"), v(100, 0, "n")))
	shows(t, f, 1000, starts("l1", 1))
	for _, c := range []struct {
		ms   int
		want string
	}{
		{1000, "happy, a 0.00"}, {1020, "happy, a 0.40"}, {1040, "happy, a 0.80"}, {1099, "happy, a 0.80"},
		{1120, "happy, i 0.60"}, {1150, "happy, i 0.40"}, {1299, "happy, n 0.00"}, {1300, "happy, shut 0.00"}, {9000, "happy, shut 0.00"},
	} {
		if got := stands(f.Pose(at(c.ms))); got != c.want {
			t.Errorf("at %d ms: %s, want %s", c.ms, got, c.want)
		}
	}
}

func TestASoundThatComesLate(t *testing.T) {
	f := New(Options{})
	shows(t, f, 0, piece("l1", 1, "", "ai"), starts("l1", 1))
	if got := stands(f.Pose(at(50))); got != "neutral, shut 0.00" {
		t.Errorf("before the sound: %s", got)
	}
	shows(t, f, 150, sound("l1", 1, 0.3, v(100, 0.8, "a"), v(200, 0.4, "i")))
	if got := stands(f.Pose(at(150))); got != "neutral, i 0.40" {
		t.Errorf("it is where the voice is: %s", got)
	}
}

func TestShutsAtOnce(t *testing.T) {
	for _, last := range []abi.Shown{end("l1"), {Kind: abi.ShowStop}} {
		f := New(Options{Guess: true})
		shows(t, f, 0, piece("l1", 1, "", "a"), sound("l1", 1, 5, v(5000, 1, "a")), starts("l1", 1))
		if p := f.Pose(at(1000)); !p.Talks || p.Open != 1 {
			t.Fatalf("it talks: %+v", p)
		}
		shows(t, f, 1000, last)
		if p := f.Pose(at(1000)); p.Talks || p.Open != 0 {
			t.Errorf("%s: %+v", last.Kind, p)
		}
	}
}

func TestAnotherCompanionsEndIsNotMine(t *testing.T) {
	f := New(Options{})
	shows(t, f, 0, sound("l1", 1, 5, v(5000, 1, "a")), starts("l1", 1))
	for _, x := range []abi.Shown{end("l1"), {Kind: abi.ShowStop}} {
		if err := f.Show(at(1), abi.Showing{Companion: "kyoko", Shown: []abi.Shown{x}}, get); err != nil {
			t.Fatal(err)
		}
	}
	shows(t, f, 2, end("l0"))
	if p := f.Pose(at(100)); !p.Talks {
		t.Errorf("%+v", p)
	}
}

// A body that says a line as a whole says its parts one behind the other, and each has its emotion.
func TestAWholeLine(t *testing.T) {
	f := New(Options{})
	shows(t, f, 0, piece("l1", 1, "happy", "a"), piece("l1", 2, "sad", "i"), piece("l1", 3, "angry", "u"),
		sound("l1", 1, 0.2, v(100, 1, "a")), sound("l1", 3, 0.1, v(100, 1, "u")), starts("l1", 0))
	for _, c := range []struct {
		ms   int
		want string
	}{
		{50, "happy, a 1.00"}, {150, "happy, shut 0.00"}, // the sound is longer than its timeline
		{250, "sad, shut 0.00"}, {1190, "sad, shut 0.00"}, {1250, "angry, u 1.00"}, {1300, "angry, shut 0.00"},
	} {
		if got := stands(f.Pose(at(c.ms))); got != c.want {
			t.Errorf("at %d ms: %s, want %s", c.ms, got, c.want)
		}
	}
}

func TestEmotions(t *testing.T) {
	f := New(Options{Rest: 2 * time.Second})
	is := func(ms, worn int, want string) {
		t.Helper()
		if p := f.Pose(at(ms)); p.Emotion != want || p.Worn != worn {
			t.Errorf("at %d ms: %s, worn %d; want %s, %d", ms, p.Emotion, p.Worn, want, worn)
		}
	}
	is(0, 0, "neutral")
	shows(t, f, 0, piece("l1", 1, "happy", "a"), piece("l1", 2, "sad", "b"), piece("l1", 3, "sad", "c"))
	is(0, 1, "happy") // before the first word
	shows(t, f, 100, starts("l1", 1))
	is(100, 1, "happy")
	shows(t, f, 200, starts("l1", 2))
	is(200, 2, "sad")
	shows(t, f, 300, starts("l1", 3))
	is(300, 2, "sad") // the same in one line is put on once
	shows(t, f, 1000, end("l1"))
	is(2999, 2, "sad")
	shows(t, f, 2999, piece("l2", 1, "sad", "d"))
	is(5000, 3, "sad") // the next line put it on again, and it is not over
	shows(t, f, 5000, abi.Shown{Kind: abi.ShowStop})
	is(6999, 3, "sad")
	is(7000, 4, "neutral")
	is(9000, 4, "neutral")
}

func TestAnEmotionStays(t *testing.T) {
	f := New(Options{})
	shows(t, f, 0, piece("l1", 1, "happy", "a"), end("l1"))
	if p := f.Pose(at(1_000_000)); p.Emotion != "happy" {
		t.Errorf("%+v", p)
	}
}

// A part that has begun before its words came shows their emotion all the same.
func TestWordsBehindTheirStart(t *testing.T) {
	f := New(Options{})
	shows(t, f, 0, piece("l1", 1, "happy", "a"), starts("l1", 2), piece("l1", 2, "angry", "b"))
	if p := f.Pose(at(0)); p.Emotion != "angry" {
		t.Errorf("%+v", p)
	}
}

func TestGuessOnlyWhereItIsWanted(t *testing.T) {
	for _, guess := range []bool{true, false} {
		f := New(Options{Guess: guess})
		failed := abi.Shown{Kind: abi.ShowSound, Line: "l1", Part: 1, Sound: &abi.Sound{Failed: "no voice"}}
		shows(t, f, 0, piece("l1", 1, "", "あ"), failed, starts("l1", 1))
		if got := stands(f.Pose(at(300))); guess != (got == "neutral, a 0.90") {
			t.Errorf("guess %v: %s", guess, got)
		}
		if p := f.Pose(at(1000)); p.Talks {
			t.Errorf("guess %v: it talks longer than it takes", guess)
		}
	}
}

// Where no body plays, a line is over as soon as it is there: with Guess the mouth says it then, part by part.
func TestNobodyPlays(t *testing.T) {
	f := New(Options{Guess: true, Rest: time.Second})
	shows(t, f, 0, piece("l1", 1, "happy", "あ"), piece("l1", 2, "sad", "お…"), end("l1"))
	for _, c := range []struct {
		ms   int
		want string
	}{
		{300, "happy, a 0.90"}, {999, "happy, a 0.36"}, {1200, "sad, o 0.70"}, {1999, "sad, n 0.00"}, {2000, "sad, shut 0.00"}, {2999, "sad, shut 0.00"}, {3000, "neutral, shut 0.00"},
	} {
		if got := stands(f.Pose(at(c.ms))); got != c.want {
			t.Errorf("at %d ms: %s, want %s", c.ms, got, c.want)
		}
	}
	if len(f.lines) > 0 {
		t.Errorf("%d lines are kept", len(f.lines))
	}
	shows(t, f, 4000, piece("l2", 1, "happy", "あ"), end("l2"), piece("l3", 1, "sad", "お"), end("l3"))
	if got := stands(f.Pose(at(4300))); got != "sad, o 0.70" || len(f.lines) != 1 {
		t.Errorf("the newest is said: %s, %d lines", got, len(f.lines))
	}
	shows(t, f, 4300, abi.Shown{Kind: abi.ShowStop})
	if got := stands(f.Pose(at(4300))); got != "sad, shut 0.00" {
		t.Errorf("when it is stopped: %s", got)
	}
	shows(t, f, 9000, piece("l4", 1, "", "あ"), abi.Shown{Kind: abi.ShowEnd, Line: "l4", End: "cut"})
	if got := stands(f.Pose(at(9300))); got != "neutral, shut 0.00" {
		t.Errorf("one that was cut: %s", got)
	}
	shows(t, f, 10_000, piece("l5", 1, "", "あ"), starts("l5", 1), end("l5"))
	if got := stands(f.Pose(at(10_300))); got != "neutral, shut 0.00" {
		t.Errorf("one that a body played: %s", got)
	}
	still := piece("l6", 1, "", "あい")
	still.Seconds = 0
	shows(t, f, 20_000, still, end("l6"))
	if got, over := f.Pose(at(20_279)), f.Pose(at(20_281)); !got.Talks || over.Talks {
		t.Errorf("one that nobody estimated: %+v, %+v", got, over)
	}
}

func TestASoundReplacesTheGuess(t *testing.T) {
	f := New(Options{Guess: true})
	shows(t, f, 0, piece("l1", 1, "", "あ"), starts("l1", 1))
	if got := stands(f.Pose(at(100))); got != "neutral, a 0.90" {
		t.Fatal(got)
	}
	shows(t, f, 100, sound("l1", 1, 1, v(1000, 0.5, "o")))
	if got := stands(f.Pose(at(100))); got != "neutral, o 0.50" {
		t.Error(got)
	}
}

func TestTimelinesThatAreWrong(t *testing.T) {
	f := New(Options{})
	bad := sound("l1", 1, 1)
	bad.Sound.Mouth.Hash = `{"ms":1}`
	err := f.Show(at(0), abi.Showing{Companion: "aya", Shown: []abi.Shown{bad, sound("l1", 2, 1, v(500, 1, "a")), starts("l1", 2)}}, get)
	if err == nil || !strings.Contains(err.Error(), "the mouth of line l1 part 1: ") {
		t.Errorf("%v", err)
	}
	if p := f.Pose(at(100)); !p.Talks {
		t.Error("what came behind it was lost")
	}
	gone := func(abi.BlobRef) (abi.Blob, error) { return abi.Blob{}, errors.New("it is gone") }
	if err := f.Show(at(0), abi.Showing{Companion: "aya", Shown: []abi.Shown{sound("l2", 1, 1, v(1, 1, "a"))}}, gone); err == nil || !strings.Contains(err.Error(), "it is gone") {
		t.Errorf("%v", err)
	}
}

func TestLinesAreBounded(t *testing.T) {
	f := New(Options{})
	for i := range 10 * mostLines {
		shows(t, f, i, piece(fmt.Sprint("l", i), 1, "", "a"))
	}
	if len(f.lines) != mostLines || len(f.order) != mostLines {
		t.Errorf("%d lines, %d in order", len(f.lines), len(f.order))
	}
	shows(t, f, 0, abi.Shown{Kind: abi.ShowStop})
	if len(f.lines)+len(f.order) != 0 {
		t.Errorf("%d lines, %d in order", len(f.lines), len(f.order))
	}
}

// Whatever is shown, in whatever order, a mouth is open between 0 and 1, and one that does not talk is shut.
func TestWhateverIsShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := New(Options{Guess: rapid.Bool().Draw(t, "guess"), Rest: time.Duration(rapid.IntRange(0, 3).Draw(t, "rest")) * time.Second})
		now, worn := 0, 0
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now += rapid.IntRange(0, 700).Draw(t, "later")
			line, n := rapid.SampledFrom([]string{"l1", "l2"}).Draw(t, "line"), rapid.IntRange(0, 3).Draw(t, "part")
			var x abi.Shown
			switch kind := rapid.SampledFrom([]string{"piece", "whole", "sound", "starts", "end", "action", "stop", "new"}).Draw(t, "kind"); kind {
			case "piece":
				x = piece(line, n, rapid.SampledFrom([]string{"", "happy", "sad"}).Draw(t, "emotion"), rapid.StringN(0, 8, -1).Draw(t, "text"))
			case "sound":
				x = sound(line, n, rapid.Float64Range(-1, 2).Draw(t, "seconds"), v(rapid.IntRange(0, 500).Draw(t, "ms"), rapid.Float64Range(-1, 2).Draw(t, "open"), "a"))
			default:
				x = abi.Shown{Kind: kind, Line: line, Part: n}
			}
			if err := f.Show(at(now), abi.Showing{Companion: rapid.SampledFrom([]string{"aya", "kyoko"}).Draw(t, "who"), Shown: []abi.Shown{x}}, get); err != nil {
				t.Fatal(err)
			}
			p := f.Pose(at(now))
			if p.Open < 0 || p.Open > 1 || !p.Talks && (p.Open != 0 || p.Shape != "") || p.Emotion == "" || p.Worn < worn {
				t.Fatalf("%+v", p)
			}
			if p.Talks && (x.Kind == abi.ShowStop && f.saying.of.companion == "") {
				t.Fatalf("it talks when it was stopped: %+v", p)
			}
			worn = p.Worn
		}
	})
}
