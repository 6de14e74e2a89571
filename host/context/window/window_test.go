package window_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/context/window"
	"github.com/companiond/companiond/host/model/tokens"
)

// room is a history, and counts what is read of it.
type room struct {
	all  []abi.Message
	read int
}

func (r *room) say(from, text string) {
	r.all = append(r.all, abi.Message{Seq: uint64(2*len(r.all) + 2), From: from, Text: text, Kind: abi.KindTurn})
}

func (r *room) get(_ context.Context, a abi.HistoryAsk) (abi.History, error) {
	end := len(r.all)
	if a.Before > 0 {
		end = slices.IndexFunc(r.all, func(m abi.Message) bool { return m.Seq >= a.Before })
	}
	start := max(0, end-a.Limit)
	r.read += end - start
	h := abi.History{Messages: slices.Clone(r.all[start:end])}
	if n := len(r.all); n > 0 {
		h.Head = r.all[n-1].Seq
	}
	return h, nil
}

func terms(budget int) window.Terms {
	return window.Terms{Budget: budget, Meter: new(tokens.Meter), Overhead: 10, Human: func(id string) bool { return id == "taro" }}
}

func size(told window.Told, t window.Terms) int {
	var s tokens.Size
	for _, m := range told.Messages {
		s = s.Plus(tokens.Of(m.Text)).Plus(tokens.Of(m.From)).Plus(tokens.Size{Rest: float64(t.Overhead)})
	}
	return t.Meter.Tokens(s)
}

// TestWindow: whatever is said, heard or erased, a window keeps to its budget, is a run of the
// newest, has the newest message and the newest turn of a person, and says whether there is more.
func TestWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, w := &room{}, new(window.Window)
		terms := terms(rapid.IntRange(120, 3000).Draw(t, "budget"))
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			for range rapid.IntRange(0, 20).Draw(t, "lines") {
				n := rapid.SampledFrom([]int{1, 5, 20, 60, 400, 2000}).Draw(t, "letters")
				r.say(rapid.SampledFrom([]string{"taro", "aya", "kyoko", "momo"}).Draw(t, "from"), strings.Repeat("あ", n))
			}
			if n := len(r.all); n > 0 && rapid.IntRange(0, 5).Draw(t, "heard") == 0 { // people heard less of it
				r.all[n-1].Text, r.all[n-1].Cut = "あ", "cut"
			}
			told, err := w.Tell(context.Background(), r.get, terms)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.all) == 0 {
				continue
			}
			if got := size(told, terms); got > terms.Budget+terms.Budget/20 {
				t.Fatalf("%d tokens in a window of %d: %+v", got, terms.Budget, told)
			}
			run := told.Messages
			if told.Pinned != 0 {
				if run[0].Seq != told.Pinned || run[0].From != "taro" {
					t.Fatalf("pinned is %d, and the first is %+v", told.Pinned, run[0])
				}
				run = run[1:]
			}
			at := len(r.all) - len(run)
			for i, m := range run {
				have := r.all[at+i]
				if _, short := told.Shortened[m.Seq]; m.Seq != have.Seq || !short && m.Text != have.Text {
					t.Fatalf("message %d of the window is %d, want %d", i, m.Seq, have.Seq)
				}
			}
			if at == 0 && told.Left || at > 1 && !told.Left {
				t.Fatalf("%d messages before the window, and left is %v", at, told.Left)
			}
			if told.Head != r.all[len(r.all)-1].Seq {
				t.Fatalf("head %d", told.Head)
			}
			newest := -1
			for i, m := range r.all[max(0, len(r.all)-80):] {
				if m.From == "taro" {
					newest = max(0, len(r.all)-80) + i
				}
			}
			if newest >= 0 && !slices.ContainsFunc(told.Messages, func(m abi.Message) bool { return m.Seq == r.all[newest].Seq }) {
				t.Fatalf("the newest turn of a person, %d, is not told", r.all[newest].Seq)
			}
		}
	})
}

// TestItIsCutSeldom: of a talk of a thousand ordinary lines nearly all that was told is told
// again; a window that slides would begin anew each time.
func TestItIsCutSeldom(t *testing.T) {
	r, w, terms := &room{}, new(window.Window), terms(2000)
	cuts, first := 0, uint64(0)
	for i := range 1000 {
		r.say([]string{"taro", "aya", "kyoko"}[i%3], fmt.Sprintf("%d番目の、ふつうの長さの発言です。", i))
		told, err := w.Tell(t.Context(), r.get, terms)
		if err != nil {
			t.Fatal(err)
		}
		if told.Messages[0].Seq != first {
			cuts, first = cuts+1, told.Messages[0].Seq
		}
	}
	if cuts > 60 {
		t.Errorf("cut %d times in 1000 lines", cuts)
	}
	if most := 1000 * abi.MaxHistory; r.read > most {
		t.Errorf("%d messages were read, at most %d", r.read, most)
	}
}

// TestShorten: what stays is the beginning and the end, and the mark says how much is missing.
func TestShorten(t *testing.T) {
	meter := new(tokens.Meter)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 3000, -1).Draw(t, "text")
		most := rapid.IntRange(0, 800).Draw(t, "most")
		short, left := window.Shorten(text, most, meter)
		if again := window.Shortened(text, left); again != short {
			t.Fatalf("shortened again it is %q", again)
		}
		if left[0]+left[1] == len(text) {
			if short != text {
				t.Fatalf("all is kept, and it is %q", short)
			}
			return
		}
		if meter.Tokens(tokens.Of(short)) >= meter.Tokens(tokens.Of(text)) {
			t.Fatalf("%q is no shorter than %q", short, text)
		}
		missing := utf8.RuneCountInString(text[left[0] : len(text)-left[1]])
		head, tail := text[:left[0]], text[len(text)-left[1]:]
		if short != head+fmt.Sprintf(" … [%d letters left out] … ", missing)+tail || !utf8.ValidString(head) || !utf8.ValidString(tail) {
			t.Fatalf("%q", short)
		}
		if got := meter.Tokens(tokens.Of(head).Plus(tokens.Of(tail))); got > most {
			t.Fatalf("%d tokens, at most %d", got, most)
		}
	})
}

// TestNewest: as many as fit, and the newest in any case.
func TestNewest(t *testing.T) {
	meter := new(tokens.Meter)
	var all []abi.Message
	for i := range 50 {
		all = append(all, abi.Message{Seq: uint64(i + 1), From: "taro", Text: strings.Repeat("あ", 40)})
	}
	got := window.Newest(all, 200, 10, meter)
	if len(got) < 2 || len(got) > 7 || got[len(got)-1].Seq != 50 {
		t.Errorf("%d messages", len(got))
	}
	all[49].Text = strings.Repeat("あ", 5000)
	got = window.Newest(all, 200, 10, meter)
	if len(got) != 1 || !strings.Contains(got[0].Text, "letters left out]") || meter.Tokens(tokens.Of(got[0].Text)) > 200 || len(all[49].Text) != 15000 {
		t.Errorf("%d messages, %d tokens", len(got), meter.Tokens(tokens.Of(got[0].Text)))
	}
	if got := window.Newest(nil, 200, 10, meter); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// TestARoomThatCannotBeRead says so, and what is known stays.
func TestARoomThatCannotBeRead(t *testing.T) {
	r, w := &room{}, new(window.Window)
	r.say("taro", "やあ")
	away := func(context.Context, abi.HistoryAsk) (abi.History, error) {
		return abi.History{}, abi.Errorf(abi.CodeUnavailable, "the journal is away")
	}
	if _, err := w.Tell(t.Context(), away, terms(200)); abi.CodeOf(err) != abi.CodeUnavailable {
		t.Error(err)
	}
	if told, err := w.Tell(t.Context(), r.get, terms(200)); err != nil || len(told.Messages) != 1 {
		t.Errorf("%+v, %v", told, err)
	}
}

// TestAPromptBehindWhatWasCompressed: a window that was cut within turns that are told as one text since then
// has that text, and all that was said behind it; reverted, it has what there is room for.
func TestAPromptBehindWhatWasCompressed(t *testing.T) {
	r, w := &room{}, new(window.Window)
	for range 60 {
		r.say("aya", strings.Repeat("あ", 20))
	}
	terms := terms(1000)
	var over *abi.Message // of the first 50
	told := func() window.Told {
		t.Helper()
		all, err := w.Tell(t.Context(), func(ctx context.Context, a abi.HistoryAsk) (abi.History, error) {
			if over == nil {
				return r.get(ctx, a)
			}
			short := &room{all: append([]abi.Message{*over}, r.all[50:]...)}
			h, err := short.get(ctx, a)
			h.Laid = over.Seq
			return h, err
		}, terms)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if before := told(); len(before.Messages) >= 50 || before.Messages[0].Seq <= r.all[0].Seq || before.Messages[0].Seq >= r.all[49].Seq {
		t.Fatalf("the window is not cut within what is compressed: %d messages", len(before.Messages))
	}
	over = &abi.Message{Seq: r.all[0].Seq, Text: "fifty turns", Kind: abi.KindCompressed, Turns: &[2]uint64{1, 50}}
	r.say("taro", "and now?")
	now := told().Messages
	if len(now) != 12 || now[0].Text != "fifty turns" || now[11].Text != "and now?" {
		t.Errorf("%d messages are told, from %+v", len(now), now[0])
	}
	over = nil
	if back := told().Messages; len(back) < 13 || back[0].Kind == abi.KindCompressed || back[len(back)-1].Text != "and now?" {
		t.Errorf("reverted, %d messages are told, from %+v", len(back), back[0])
	}
}
