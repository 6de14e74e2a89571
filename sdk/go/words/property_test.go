package words

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// text draws what people write: words that this package looks for, marks and anything.
func text() *rapid.Generator[string] {
	var known []string
	for _, in := range intentWords {
		known = append(known, in.words...)
	}
	for _, tp := range topics {
		known = append(known, tp.Words...)
	}
	part := rapid.OneOf(
		rapid.SampledFrom(known),
		rapid.SampledFrom([]string{"。", "？", "!", " ", "\n", "s", "って", "について", "私は", "です", "I'm ", "my name is ", "「", "」", "ー", "ﾞ", "タロウ", "Taro", "死にたい", "自殺", "I want to die", "の", "ABC", "ﾈｺ", "ＧＡＭＥ"}),
		rapid.StringN(0, 6, -1))
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "") })
}

// Case, width and kind of kana change nothing about a text.
func TestFoldedAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := text().Draw(t, "text")
		n := Normal(s)
		if Normal(n) != n || strings.Contains(n, "  ") || strings.TrimSpace(n) != n {
			t.Fatalf("Normal(%q) = %q", s, n)
		}
		wide := strings.Map(func(r rune) rune {
			switch {
			case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
				return unicode.ToUpper(r) - '!' + '！'
			case r >= 'ぁ' && r <= 'ゖ':
				return r - 'ぁ' + 'ァ'
			}
			return r
		}, s)
		if Normal(wide) != n {
			t.Errorf("Normal(%q) = %q, want %q", wide, Normal(wide), n)
		}
		if got, want := TopicsOf(wide), TopicsOf(s); !slices.Equal(got, want) {
			t.Errorf("TopicsOf(%q) = %q, and of %q %q", wide, got, s, want)
		}
	})
}

// A lexicon finds in one pass exactly what Has finds word by word.
func TestLexiconFindsWhatHasFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Normal(text().Draw(t, "text"))
		found := map[string]bool{}
		all := lexicon{}
		for i, in := range intentWords {
			for _, w := range in.words {
				all.add(w, i)
			}
		}
		all.scan(s, func(place int, x term) {
			if !strings.HasPrefix(s[place:], x.word) {
				t.Errorf("%q is not at %d of %q", x.word, place, s)
			}
			found[x.word] = true
		})
		for _, in := range intentWords {
			for _, w := range in.words {
				if Has(s, w) != found[w] {
					t.Errorf("Has(%q, %q) = %v", s, w, !found[w])
				}
			}
		}
	})
}

// Similarity is a measure: of a text with itself 1, both ways alike, and never outside.
func TestSimilarityIsAMeasure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := text().Draw(t, "a"), text().Draw(t, "b")
		x := Similarity(a, b)
		if x < 0 || x > 1 || x != Similarity(b, a) || Similarity(a, a) != 1 || Similarity(a, Normal(a)) != 1 {
			t.Errorf("Similarity(%q, %q) = %v, %v; with itself %v", a, b, x, Similarity(b, a), Similarity(a, a))
		}
	})
}

// Clip gives a beginning that is a text, and all of what is short.
func TestClip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Repeat(text().Draw(t, "text"), rapid.IntRange(1, 100).Draw(t, "times"))
		got := Clip(s)
		if !strings.HasPrefix(s, got) || Clip(got) != got || len(got) > 1200 || len(s) <= 1200 && got != s || len(s) > 1200 && len(got) < 1200-utf8.UTFMax {
			t.Errorf("Clip of %d bytes gives %d", len(s), len(got))
		}
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("Clip(%q) = %q", s, got)
		}
	})
}

// A quotation, a word or a name stands in the text that it is taken from, and is fit
// to be said again: it asks nothing, quotes nothing and is nobody's distress.
func TestWhatIsTakenFromAText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := text().Draw(t, "text")
		if q := Quote(s); q != "" && (!strings.Contains(s, q) || strings.ContainsAny(q, "?？「」\"{}") || len(Intents(q)) > 0 || Language(s) == Japanese && utf8.RuneCountInString(q) < minQuote) {
			t.Errorf("Quote(%q) = %q", s, q)
		}
		if w := Word(s); w != "" && (!strings.Contains(s, w) || utf8.RuneCountInString(w) > 20 || stopWords[Normal(w)]) {
			t.Errorf("Word(%q) = %q", s, w)
		}
		for kind, f := range map[string]func(string) (string, bool){"Introduced": Introduced, "BareName": BareName} {
			name, ok := f(s)
			if ok != (name != "") || !strings.Contains(strings.ReplaceAll(s, "’", "'"), name) || utf8.RuneCountInString(name) > maxPersonName || strings.ContainsAny(name, "\n?？。!{}") {
				t.Errorf("%s(%q) = %q, %v", kind, s, name, ok)
			}
		}
	})
}

// Distress and grave talk are alone; a long text is one whatever else it is; marks
// alone are wordless or emoji, and never both.
func TestIntentsGoTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := text().Draw(t, "text")
		in := Intents(s)
		letters := strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
		switch {
		case Distressed(s) != in[Distress]:
			t.Errorf("%q: %v, distressed %v", s, in, Distressed(s))
		case in[Distress] || in[Grave]:
			if len(in) != 1 {
				t.Errorf("%q: %v", s, in)
			}
		case in[Emoji] && in[Wordless] || (in[Emoji] || in[Wordless]) == letters:
			t.Errorf("%q: %v", s, in)
		case in[Long] != (utf8.RuneCountInString(s) > LongText):
			t.Errorf("%q: %v", s, in)
		}
		if hello := Hello(s, English); (hello != "") != in[Greet] || (hello == "") != (Hello(s, Japanese) == "") {
			t.Errorf("%q: %v is answered by %q", s, in, hello)
		}
	})
}

// Topics of a text are there once each, those with more words first, and a list finds
// no others than its own.
func TestTopicsAreRanked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Normal(text().Draw(t, "text"))
		count := func(id string) (n int) {
			i := slices.IndexFunc(topics, func(tp Topic) bool { return tp.ID == id })
			own := slices.Clone(topics[i].Words)
			slices.Sort(own)
			for _, w := range slices.Compact(own) {
				if Has(s, w) {
					n++
				}
			}
			return n
		}
		ids := NewFinder(topics).In(s)
		for i, id := range ids {
			if count(id) == 0 || slices.Contains(ids[:i], id) || i > 0 && count(ids[i-1]) < count(id) {
				t.Errorf("topics of %q are %q", s, ids)
			}
		}
		for _, tp := range topics {
			if count(tp.ID) > 0 != slices.Contains(ids, tp.ID) {
				t.Errorf("topics of %q are %q, and %s", s, ids, tp.ID)
			}
		}
	})
}
