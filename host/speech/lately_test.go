package speech_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/speech"
)

func TestBeats(t *testing.T) {
	whole := speech.Estimate("Hello there. How are you?").Milliseconds()
	hello, how := speech.Estimate("Hello there.").Milliseconds(), speech.Estimate("How are you?").Milliseconds()
	got := speech.Beats("Hello there. How are you?")
	want := []entry.Beat{{Bytes: 12, MS: hello}, {MS: whole - hello - how}, {Bytes: 13, MS: how}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	got, want = speech.Beats("海だ。青い。船だ。"), []entry.Beat{{Bytes: 9, MS: 332}, {MS: 470}, {Bytes: 9, MS: 332}, {MS: 470}, {Bytes: 9, MS: 332}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := speech.Beats(""); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}

// Whatever a text is, its beats are all of it, and take as long as it does: a voice that
// is given less is talked over.
func TestBeatsAreTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("海あャaé1 。、!.?…」「\n\u0301한")))).Draw(t, "text")
		sum, ms := 0, int64(0)
		for _, b := range speech.Beats(text) {
			sum, ms = sum+b.Bytes, ms+b.MS
		}
		if sum != len(text) || ms != speech.Estimate(text).Milliseconds() {
			t.Fatalf("beats of %d bytes and %d ms for %q of %d and %s", sum, ms, text, len(text), speech.Estimate(text))
		}
	})
}

func TestLately(t *testing.T) {
	var l speech.Lately
	like := func(text string, want uint64) {
		t.Helper()
		if got := l.Like(text, []string{"Aya", "Ken"}); got != want {
			t.Errorf("%q is like %d, want %d", text, got, want)
		}
	}
	add := func(seq uint64, text string) { l.Add(seq, text, []string{"Aya", "Ken"}) }
	const long = "shall we go and look at the harbour tonight"
	like(long, 0)
	add(1, "Aya, "+long+"?")
	add(2, "Yes.")
	like("Ken, "+long, 1)
	like("yes", 0) // a short line counts from the second time on
	add(3, "yes!")
	like("Yes", 3)
	add(4, long)
	like(long, 4) // the newest
	for seq := range uint64(8) {
		add(5+seq, "")
	}
	like(long, 0) // too long ago
}
