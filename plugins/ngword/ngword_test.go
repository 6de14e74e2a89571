package main

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
)

// TestMask compares letters as people read them, and masks all of a word.
func TestMask(t *testing.T) {
	for _, c := range []struct {
		words      []string
		text, want string
	}{
		{[]string{"bad"}, "a BaD word", "a ＊＊＊ word"},
		{[]string{"ＢＡＤ"}, "a bad ｂａｄ word", "a ＊＊＊ ＊＊＊ word"},
		{[]string{"ばか"}, "バカとﾊﾞｶとは゛か", "＊＊と＊＊＊とは゛か"},
		{[]string{"バカ"}, "ばかと\u306f\u3099か", "＊＊と＊＊＊"},
		{[]string{"ぱ"}, "ﾊﾟﾊ", "＊＊ﾊ"},
		{[]string{"ヴ"}, "ｳﾞゔ", "＊＊＊"},
		{[]string{"スー"}, "ｽｰパー", "＊＊パー"},
		{[]string{"は"}, "ば", "ば"},
		{[]string{"aba", "bab"}, "ababab", "＊＊＊＊＊＊"},
		{[]string{"*", "＊"}, "a*b＊c", "a＊b＊c"},
		{[]string{"", "a b"}, "a　b", "＊＊＊"},
		{nil, "anything", "anything"},
	} {
		got, has := newWords(c.words).mask(c.text)
		if got != c.want || has != (got != c.text) {
			t.Errorf("%q in %q: %q, %v, want %q", c.words, c.text, got, has, c.want)
		}
	}
}

// letters are those of which words that are alike can be made.
var letters = rapid.SampledFrom([]rune("aAａＡbＢはバﾊﾞﾟぱ\u3099*＊ k\u212a"))

func texts(most int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(letters, 0, most).Draw(t, "letters")) })
}

// TestMasking keeps the number of letters, leaves no forbidden word, does nothing twice, and nothing to what has none.
func TestMasking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWords(rapid.SliceOfN(texts(3), 0, 4).Draw(t, "words"))
		text := texts(20).Draw(t, "text")
		masked, has := w.mask(text)
		if utf8.RuneCountInString(masked) != utf8.RuneCountInString(text) {
			t.Fatalf("%q became %q", text, masked)
		}
		if again, left := w.mask(masked); left || again != masked {
			t.Fatalf("%q became %q and then %q", text, masked, again)
		}
		if !has && masked != text {
			t.Fatalf("%q became %q for no word", text, masked)
		}
		in, out := []rune(text), []rune(masked)
		for i := range in {
			if out[i] != in[i] && out[i] != star {
				t.Fatalf("%q became %q", text, masked)
			}
		}
	})
}

// FuzzMaskJSON: what is masked is JSON of the same shape, or is told to be none.
func FuzzMaskJSON(f *testing.F) {
	for _, s := range []string{`"a bad word"`, `{"bad":["bad",1e400,{"x":"BAD"}],"y":null}`, `[`, ``, `"\ud800bad"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		w := newWords([]string{"bad"})
		masked, has, err := w.maskJSON(json.RawMessage(s))
		if err != nil {
			return
		}
		if !json.Valid(masked) {
			t.Fatalf("%q became %q", s, masked)
		}
		if _, left, err := w.maskJSON(masked); err != nil || left {
			t.Fatalf("%q became %q, which has a word: %v", s, masked, err)
		}
		if was, is := strings.TrimSpace(s), string(masked); has && was[0] != is[0] {
			t.Fatalf("%q became %q", s, masked)
		}
	})
}

// TestHandler answers as its settings say.
func TestHandler(t *testing.T) {
	h := companion.NewLocalHandler(handler())
	for _, c := range []struct {
		settings, line, perception string
	}{
		{`{"words":["bad"]}`, `{"text":"a ＊＊＊ word"}`, `{"body":{"n":1.50,"text":"＊＊＊"}}`},
		{`{"words":["bad"],"mode":"mask","lines":false}`, `{}`, `{"body":{"n":1.50,"text":"＊＊＊"}}`},
		{`{"words":["bad"],"mode":"refuse","perceptions":false}`, `{"refuse":"it has a forbidden word"}`, `{}`},
		{`{"words":["bad"],"mode":"refuse"}`, `{"refuse":"it has a forbidden word"}`, `{"refuse":"it has a forbidden word"}`},
		{`{"words":["worse"],"mode":"refuse"}`, `{}`, `{}`},
		{`{"words":[]}`, `{}`, `{}`},
	} {
		lined, err := h.Line(abi.Lining{Companion: "aya", Text: "a bad word", Settings: json.RawMessage(c.settings)})
		if got, _ := json.Marshal(lined); err != nil || string(got) != c.line {
			t.Errorf("%s: %s, %v", c.settings, got, err)
		}
		p := abi.Percept{Title: "chat", Format: "object", Body: json.RawMessage(`{"text":"BAD","n":1.50}`)}
		sensed, err := h.Sense(abi.Sensing{Companion: "aya", Perception: p, Settings: json.RawMessage(c.settings)})
		if got, _ := json.Marshal(sensed); err != nil || string(got) != c.perception {
			t.Errorf("%s: %s, %v", c.settings, got, err)
		}
	}
	image := abi.Sensing{Companion: "aya", Perception: abi.Percept{Title: "view", Format: "image", Image: []byte("bad")}, Settings: json.RawMessage(`{"words":["bad"],"mode":"refuse"}`)}
	if got, err := h.Sense(image); err != nil || got.Refuse != "" || len(got.Body) > 0 {
		t.Errorf("an image: %+v, %v", got, err)
	}
}
