package tokens_test

import (
	"math"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/model/tokens"
	"github.com/companiond/companiond/host/model/tokens/tokenstest"
)

func guess(text string) int { return new(tokens.Meter).Tokens(tokens.Of(text)) }

// What vocabularies make of some texts, in words: a guess may be off, not far off.
func TestOf(t *testing.T) {
	for text, want := range map[string][2]int{
		"": {0, 0}, " ": {0, 0}, "a": {1, 1}, "hello world!": {3, 3}, "The quick brown fox": {4, 4}, "HTTPServer": {2, 2}, "roomID": {2, 2},
		"incomprehensibilities": {2, 5}, "こんにちは": {2, 6}, "hi 世界": {3, 5}, "🎉": {1, 4}, "👨‍👩‍👧": {4, 11}, "2026-11-23T16:31:06Z": {11, 18},
		"\n": {1, 1}, "\n\n\n\n": {1, 2}, "                ": {1, 3}, "\tx": {2, 3}, `{"seq":12,"text":"ok"}`: {8, 12},
		"Привет": {2, 6}, "안녕하세요": {3, 7}, "สวัสดี": {3, 7}, "café": {1, 3}, "été": {1, 3}, "\x00\x01": {2, 2}, "\xff\xfe": {2, 6},
		"、。": {1, 4}, "----------------": {1, 5},
	} {
		if got := guess(text); got < want[0] || got > want[1] {
			t.Errorf("%q: %d, want %d to %d", text, got, want[0], want[1])
		}
	}
}

// Which part a letter is of.
func TestParts(t *testing.T) {
	for text, cjk := range map[string]bool{"a": false, "Z": false, "7": false, "é": false, "!": false, "\n": false, "\t": false,
		"あ": true, "ア": true, "ｱ": true, "漢": true, "𠮷": true, "。": true, "한": true, "я": true, "ก": true, "…": true, "🎉": true} {
		if s := tokens.Of(text); (s.CJK > 0) != cjk || (s.Rest > 0) == cjk {
			t.Errorf("%q: %+v", text, s)
		}
	}
}

// texts draws texts of all classes, ends of lines and half letters.
func texts() *rapid.Generator[string] {
	parts := []string{"a", "Bc", "worm", " ", "  ", "\t", "\n", "\r\n", "7", "2026", ",", "},{", "é", "あ", "カ", "漢字", "。", "한", "я", "🎉", "👨‍👩‍👧", "🇯🇵", "か\u3099", "👍🏽", "\x80", "\xe3\x81", "\x00", "…"}
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 60).Draw(t, "parts"), "")
	})
}

// A text costs no more than its parts, and not less than each of them by more than a word.
func TestOfGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts().Draw(t, "a"), texts().Draw(t, "b")
		one, two, both := tokens.Of(a), tokens.Of(b), tokens.Of(a+b)
		if whole := one.Plus(two); both.CJK > whole.CJK+3 || both.Rest > whole.Rest+2 {
			t.Fatalf("%+v of %q, %+v of its parts", both, a+b, whole)
		}
		if both.CJK < one.CJK-3 || both.Rest < one.Rest-2 || both.Rest < two.Rest-2 {
			t.Fatalf("%+v of %q, %+v and %+v of its parts", both, a+b, one, two)
		}
		if n := guess(a); n < 0 || n > 4*len(a)+1 {
			t.Fatalf("%d for %d bytes", n, len(a))
		}
	})
}

// A meter comes to the ratios of a model, whatever the calls are like, and stays between its bounds.
func TestMeterLearns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cjk, rest := rapid.Float64Range(.5, 2).Draw(t, "cjk"), rapid.Float64Range(.8, 1.25).Draw(t, "rest")
		m := new(tokens.Meter)
		real := func(s tokens.Size) int { return int(math.Ceil(cjk*s.CJK + rest*s.Rest)) }
		for i := range 60 {
			s := tokens.Size{CJK: rapid.Float64Range(0, 3000).Draw(t, "c"), Rest: rapid.Float64Range(200, 3000).Draw(t, "r")}
			switch i % 3 { // calls of either part alone make the ratios plain
			case 1:
				s.CJK = 0
			case 2:
				s.Rest, s.CJK = 0, max(s.CJK, 300)
			}
			m.Learn(s, real(s))
		}
		s := tokens.Size{CJK: 1000, Rest: 1000}
		if got, want := m.Tokens(s), real(s); math.Abs(float64(got-want)) > .03*float64(want) {
			t.Fatalf("%d, want %d", got, want)
		}
	})
}

// What no request can have come to changes nothing, and nothing makes a guess that is out of bounds.
func TestNonsenseIsNotLearned(t *testing.T) {
	m := new(tokens.Meter)
	s := tokens.Size{CJK: 500, Rest: 500}
	nan, inf := math.NaN(), math.Inf(1)
	for range 20 {
		m.Learn(s, 0)
		m.Learn(s, -7)
		m.Learn(s, 399) // the endpoint left out what it had in its cache
		m.Learn(tokens.Size{}, 100)
		for _, bad := range []tokens.Size{{CJK: nan, Rest: 1}, {CJK: 1, Rest: nan}, {CJK: inf, Rest: 1}, {CJK: -1, Rest: 5}, {CJK: 5, Rest: -1}} {
			m.Learn(bad, 100)
		}
	}
	if m.Tokens(s) != 1000 || m.Reserve() != .2 {
		t.Errorf("%d, reserve %v", m.Tokens(s), m.Reserve())
	}
	for range 50 {
		m.Learn(s, math.MaxInt)
	}
	if got := m.Tokens(s); got < 2400 || got > 2500 {
		t.Errorf("after much too much: %d", got)
	}
	for range 50 {
		m.Learn(tokens.Size{CJK: 1000}, 400)
		m.Learn(tokens.Size{Rest: 1000}, 400)
	}
	if got := m.Tokens(s); got < 400 || got > 405 {
		t.Errorf("after little: %d", got)
	}
	if m.Reserve() != .15 {
		t.Errorf("reserve %v", m.Reserve())
	}
}

// A short request is mostly the marks of a template, which say little of the next long one.
func TestShortRequestsTeachLittle(t *testing.T) {
	m := new(tokens.Meter)
	for range 10 {
		m.Learn(tokens.Of("hello"), 20)
	}
	if got := m.Tokens(tokens.Size{CJK: 500, Rest: 500}); got < 1000 || got > 1050 {
		t.Errorf("%d", got)
	}
}

func TestMeterIsSafeForConcurrentUse(t *testing.T) {
	m := new(tokens.Meter)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				m.Learn(tokens.Size{CJK: 100, Rest: 100}, 220)
				m.Tokens(tokens.Size{CJK: 1})
				m.Reserve()
			}
		})
	}
	wg.Wait()
	if got := m.Tokens(tokens.Size{CJK: 100, Rest: 100}); got < 218 || got > 221 {
		t.Error(got)
	}
}

// What is cut keeps to its budget, uses it up, and consists of whole letters of the beginning and the end.
func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkCut(t, strings.ToValidUTF8(texts().Draw(t, "text"), "?"), rapid.IntRange(-1, 60).Draw(t, "most"))
	})
	talk := tokenstest.NewTalk(3)
	for _, kind := range tokenstest.Kinds() {
		text := talk.Text(kind, 15_000)
		head, tail := checkCut(t, text, 1500)
		if n := guess(head) + guess(tail); n < 1480 || guess(head)-guess(tail) > 20 || guess(tail)-guess(head) > 20 {
			t.Errorf("%s: of 1500 are used %d, %d and %d", kind, n, guess(head), guess(tail))
		}
	}
}

func checkCut(t interface{ Fatalf(string, ...any) }, text string, most int) (head, tail string) {
	m := new(tokens.Meter)
	head, tail = tokens.Cut(text, most, m)
	switch {
	case len(head)+len(tail) > len(text), !strings.HasPrefix(text, head), !strings.HasSuffix(text, tail):
		t.Fatalf("%q and %q are not the ends of %q", head, tail, text)
	case guess(text) <= most && (head != text || tail != ""):
		t.Fatalf("%q fits and was cut", text)
	case guess(head)+guess(tail) > max(most, 0):
		t.Fatalf("%q and %q: %d and %d of %d", head, tail, guess(head), guess(tail), most)
	case utf8.ValidString(text) && !utf8.ValidString(head+"…"+tail):
		t.Fatalf("half letters: %q and %q", head, tail)
	}
	return head, tail
}

// Letters that are shown as one are not cut apart.
func TestCutKeepsLettersWhole(t *testing.T) {
	for _, letter := range []string{"👨‍👩‍👧", "🇯🇵", "か\u3099", "👍🏽", "❤\ufe0f", "e\u0301", "\r\n", "漢"} {
		text := strings.Repeat(letter, 400)
		for most := 5; most < 60; most++ {
			head, tail := tokens.Cut(text, most, new(tokens.Meter))
			if strings.Trim(strings.ReplaceAll(head, letter, ""), " ")+strings.ReplaceAll(tail, letter, "") != "" {
				t.Errorf("%q, %d: %q and %q", letter, most, head, tail)
			}
		}
	}
	marks := strings.Repeat("\u0301", 5000) // no writing: it is cut all the same
	if head, tail := tokens.Cut(marks, 100, new(tokens.Meter)); head == "" || tail == "" {
		t.Errorf("%d and %d bytes", len(head), len(tail))
	}
}

func FuzzCut(f *testing.F) {
	f.Add("こんにちは、世界。", 4)
	f.Add("👨‍👩‍👧👨‍👩‍👧 ok", 7)
	f.Add("\xe3\x81\x81\x81", 1)
	f.Fuzz(func(t *testing.T, text string, most int) { checkCut(t, text, most) })
}

// The same seed makes the same talk, of the length that was asked for.
func TestTalk(t *testing.T) {
	for _, kind := range tokenstest.Kinds() {
		a, b, c := tokenstest.NewTalk(1).Text(kind, 700), tokenstest.NewTalk(1).Text(kind, 700), tokenstest.NewTalk(2).Text(kind, 700)
		if a != b || a == c || utf8.RuneCountInString(a) != 700 || strings.ContainsAny(strings.ReplaceAll(a, ">", ""), "<") {
			t.Errorf("%s: %q", kind, a)
		}
	}
}

func BenchmarkOf(b *testing.B) {
	talk := tokenstest.NewTalk(1)
	for _, kind := range tokenstest.Kinds() {
		text := talk.Text(kind, 10_000)
		for len(text) > 10<<10 {
			text = text[:10<<10]
		}
		b.Run(string(kind), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				tokens.Of(text)
			}
		})
	}
}

func BenchmarkCut(b *testing.B) {
	text, m := tokenstest.NewTalk(1).Text(tokenstest.Japanese, 15_000), new(tokens.Meter)
	for b.Loop() {
		tokens.Cut(text, 1500, m)
	}
}
