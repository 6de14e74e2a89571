package words

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// expression writes a form as a regular expression.
func (f form) expression() *regexp.Regexp {
	all := "^"
	for _, row := range f {
		var choices []string
		for _, w := range row {
			choices = append(choices, regexp.QuoteMeta(w))
		}
		all += "(?:" + strings.Join(choices, "|") + ")"
	}
	return regexp.MustCompile(all)
}

// rows are the tables of what people in distress write, with how each is read.
func rows() (all []struct {
	phrase
	fold func(string) string
}) {
	for _, table := range []struct {
		rows []phrase
		fold func(string) string
	}{{japaneseDistress, asItIs}, {japaneseGrave, asItIs}, {englishDistress, spaced}, {englishGrave, spaced}} {
		for _, row := range table.rows {
			all = append(all, struct {
				phrase
				fold func(string) string
			}{row, table.fold})
		}
	}
	return all
}

func anybody(whose, string, string) bool { return true }

// A form matches what the same choices as a regular expression match.
func TestFormsMatch(t *testing.T) {
	all := rows()
	rapid.Check(t, func(t *rapid.T) {
		row := rapid.SampledFrom(all).Draw(t, "row")
		f := newForm(row.say, row.fold)
		text := ""
		for i, choices := range f {
			if rapid.IntRange(0, 9).Draw(t, "stray") == 0 {
				other := rapid.SampledFrom(all).Draw(t, "other")
				choices = newForm(other.say, other.fold)[0]
			}
			text += rapid.SampledFrom(choices).Draw(t, "choice "+string(rune('a'+i)))
		}
		text += rapid.SampledFrom([]string{"", " ", stop, "x", "ない"}).Draw(t, "tail")
		if got, want := f.match(text, func(string) bool { return true }), f.expression().MatchString(text); got != want {
			t.Errorf("%q matches %q: %v", row.say, text, got)
		}
	})
}

// Looking signs up by their first letter loses none of them, and finds none inside a
// Latin word.
func TestSignsAreFoundByTheirFirstLetter(t *testing.T) {
	distress, _ := english.signs()
	graveToo, grave := japanese.signs()
	all := rows()
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SampledFrom([]signs{distress, graveToo, grave}).Draw(t, "signs")
		text := stop + " " + rapid.SampledFrom([]string{"", "x"}).Draw(t, "before")
		for range rapid.IntRange(0, 4).Draw(t, "parts") {
			row := rapid.SampledFrom(all).Draw(t, "row")
			samples := newForm(row.say, row.fold).samples()
			text += rapid.SampledFrom(samples).Draw(t, "sample") + rapid.SampledFrom([]string{"", stop + " ", "x", "ない"}).Draw(t, "between")
		}
		text += stop
		want := false
		for i := range text {
			if i > 0 && isWordByte(text[i]) && isWordByte(text[i-1]) || !utf8.RuneStart(text[i]) {
				continue
			}
			for _, list := range x {
				for _, g := range list {
					want = want || g.at(text, i, anybody)
				}
			}
		}
		if got := x.in(text, anybody); got != want {
			t.Errorf("in %q: %v, want %v", text, got, want)
		}
	})
}

// Words that speak against a phrase do: right behind it, right before it, or anywhere in
// its clause, and not from the next clause.
func TestWhatSpeaksAgainstASign(t *testing.T) {
	for _, row := range rows() {
		x := newSigns([]phrase{row.phrase}, row.fold)
		for _, sample := range newForm(row.say, row.fold).samples() {
			if !x.in(stop+" "+sample+stop, anybody) && !x.in(stop+sample+stop, anybody) || strings.Contains(sample, stop) {
				continue // a phrase that looks at what is around it
			}
			for _, after := range row.after {
				for _, w := range newForm(after, row.fold).samples() {
					if !strings.Contains(w, stop) && x.in(stop+" "+sample+w+stop, anybody) {
						t.Errorf("%q is found before %q", sample, w)
					}
					if !x.in(stop+" "+sample+stop+" "+w+stop, anybody) {
						t.Errorf("%q is not found where %q is the next clause", sample, w)
					}
				}
			}
			for _, w := range listOf(row.near, row.fold) {
				if x.in(stop+" "+w+sample+stop, anybody) || x.in(stop+" "+sample+w+stop, anybody) {
					t.Errorf("%q is found beside %q", sample, w)
				}
				if !x.in(stop+" "+w+stop+" "+sample+stop+" "+w+stop, anybody) {
					t.Errorf("%q is not found where %q is in another clause", sample, w)
				}
			}
			for _, w := range listOf(row.prior, row.fold) {
				if x.in(stop+" "+w+sample+stop, anybody) {
					t.Errorf("%q is found behind %q", sample, w)
				}
			}
		}
	}
}

// A word in full is in full: writing it out again changes nothing.
func TestWordsInFull(t *testing.T) {
	for short, full := range inFull {
		if again := foldEnglish(full); again != full+" " {
			t.Errorf("%s is %q, and that %q", short, full, again)
		}
		if force[short] {
			t.Errorf("%s is dropped and written out", short)
		}
	}
	for word := range force {
		if squeeze(word) != word && !force[squeeze(word)] {
			t.Errorf("%s is written %s when it is looked up", word, squeeze(word))
		}
	}
}

// However a wish is drawn out, halved or spaced, it is the wish.
func TestWaysToWrite(t *testing.T) {
	for want, ways := range map[string][]string{
		"しにたい":  {"ｼﾆﾀｲ", "シニタイ", "しにたーい", "しにたぃ", "し に た い", "しに\u200bたい"},
		"死にてえ":  {"死にてぇ", "死にてー", "死にてえ"},
		"じさつした": {"ｼﾞｻﾂした", "じさつしーた"},
	} {
		for _, way := range ways {
			if got := foldJapanese(way); got != want {
				t.Errorf("%q is %q, want %q", way, got, want)
			}
		}
	}
	for want, ways := range map[string][]string{
		"i want to die ":        {"I want to die", "i wanna dieeee", "I just really WANT TO  die", "Ｉ want to die", "i want 2 die", "i want to d1e", "i want\u200b to die"},
		"i can not go on ":      {"I can't go on", "I can’t go on", "i cannot go on", "I CANT go on"},
		"i am going to do it ":  {"I'm gonna do it", "imma do it", "Im literally going to do it"},
		"i do not 。 want 。 it ": {"I don't, want. it", "I don't\nwant\nit"},
	} {
		for _, way := range ways {
			if got := writeEnglish(way, true); got != want {
				t.Errorf("%q is %q, want %q", way, got, want)
			}
		}
	}
}
