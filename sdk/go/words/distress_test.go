package words

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// sentences reads testdata/distress.txt: sentences by what they are.
func sentences(t testing.TB) map[string][]string {
	t.Helper()
	b, err := os.ReadFile("testdata/distress.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for row := range strings.Lines(string(b)) {
		if kind, text, ok := strings.Cut(strings.TrimSpace(row), ": "); ok && !strings.HasPrefix(row, "#") {
			all[kind] = append(all[kind], strings.ReplaceAll(text, `\n`, "\n"))
		}
	}
	return all
}

// A person who writes of wanting to die is taken for nothing else, and nothing
// else is taken for that.
func TestDistress(t *testing.T) {
	all := sentences(t)
	for kind, want := range map[string]Intent{"distress": Distress, "grave": Grave, "other": ""} {
		count := map[Lang]int{}
		for _, s := range all[kind] {
			count[Language(s)]++
			got := Intents(s)
			if want != "" && (len(got) != 1 || !got[want]) || want == "" && (got[Distress] || got[Grave]) {
				t.Errorf("%s: Intents(%q) = %v", kind, s, got)
			}
			if Distressed(s) != (want == Distress) {
				t.Errorf("%s: Distressed(%q) = %v", kind, s, Distressed(s))
			}
		}
		if least := 10; kind != "grave" && (count[Japanese] < least || count[English] < least) {
			t.Errorf("%s: %v sentences", kind, count)
		}
	}
}

// Distress is above whatever else is in the text, wherever it stands there.
func TestDistressWins(t *testing.T) {
	for _, distress := range []string{"死にたい", "I want to die"} {
		for _, s := range []string{
			"こんにちは！" + distress, "ばーか。" + distress, distress + "。おやすみ", distress + "。ラーメン食べたい？", "ありがとう。" + distress + "！",
			"Hello! " + distress, "shut up. " + distress, distress + ". Good night!", distress + "? lol", "Thank you, " + distress,
			strings.Repeat("昨日ライブに行ったんだけど、", 200) + distress, strings.Repeat("I went to a concert. ", 200) + distress,
			"🐱 " + distress + " 🐱", "「" + distress + "」", "*" + distress + "*", distress + "\nおやすみ", "good night\n" + distress,
		} {
			if got := Intents(s); len(got) != 1 || !got[Distress] {
				t.Errorf("Intents(%.40q) = %v", s, got)
			}
		}
	}
}

// A wish counts where it is the writer's and not somebody else's.
func TestWhoseWish(t *testing.T) {
	for s, want := range map[string]Intent{
		"I committed myself to this": "", "my friend committed suicide": Grave, "I attempted suicide": Distress, "is she suicidal?": Grave, "am suicidal": Distress,
		"they want to die": Grave, "sometimes want to die": Distress, "robots want to die": "",
		"あいつは死んだほうがいい": "", "死んだほうがいい": Distress, "死ねばいいのに": "", "私が死ねばいい": Distress,
	} {
		if got := concern(s); got != want {
			t.Errorf("concern(%q) = %q, want %q", s, got, want)
		}
	}
}

// Nobody quotes a person in distress.
func TestDistressIsNotQuoted(t *testing.T) {
	for _, s := range sentences(t)["distress"] {
		if q := Quote(s); q != "" && Distressed(q) {
			t.Errorf("Quote(%q) = %q", s, q)
		}
	}
}

// Every way to say every row of the tables is found when it stands alone, and no
// word that speaks against one folds to nothing, which would be everywhere.
func TestSigns(t *testing.T) {
	anybody := func(whose, string, string) bool { return true }
	for _, tongue := range []tongue{japanese, english} {
		distress, grave := tongue.signs()
		for _, x := range []signs{distress, grave} {
			for _, list := range x {
				for _, g := range list {
					for _, text := range g.say.samples() {
						if !x.in(stop+" "+text+stop, anybody) && !x.in(stop+text+stop, anybody) {
							t.Errorf("%q is not found", text)
						}
					}
					against := append(append([]string{}, g.prior...), g.near...)
					for _, f := range g.after {
						against = append(against, f.samples()...)
					}
					if slices.Contains(against, "") {
						t.Errorf("%q: one of %q is everywhere", g.say.samples()[0], against)
					}
				}
			}
		}
	}
}

// samples gives texts with each of the form's choices in one of them.
func (f form) samples() (all []string) {
	for i, row := range f {
		for _, choice := range row {
			text := ""
			for j, other := range f {
				if j == i {
					text += choice
				} else {
					text += other[0]
				}
			}
			all = append(all, text)
		}
	}
	return all
}

func BenchmarkIntents(b *testing.B) {
	for name, s := range map[string]string{
		"short": "アヤさん、P2Pで最初の相手はどうやって見つけるんでしょうか？", "english": "Natsumi, what's your favorite food? I want to go there.",
		"longest": strings.Repeat("I went to a concert and i want to go again. 昨日ライブに行ったんだけど、", 160),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Intents(s)
			}
		})
	}
}

func foldEnglish(s string) string  { return writeEnglish(s, false) }
func foldJapanese(s string) string { return writeJapanese(s, "") }

// TestTablesAreFolded holds the tables to the form in which texts are looked
// through: a word that stands there in another one is never found.
func TestTablesAreFolded(t *testing.T) {
	forms := func(rows []phrase, fold func(string) string) (lines []string) {
		for _, r := range rows {
			line := fmt.Sprintf("%q %q %q", newForm(r.say, fold), listOf(r.prior, fold), listOf(r.near, fold))
			for _, a := range r.after {
				line += fmt.Sprintf(" %q", newForm(a, fold))
			}
			lines = append(lines, line)
		}
		return lines
	}
	for _, c := range []struct {
		rows        []phrase
		fold, plain func(string) string
	}{
		{japaneseDistress, foldJapanese, asItIs}, {japaneseGrave, foldJapanese, asItIs},
		{englishDistress, foldEnglish, spaced}, {englishGrave, foldEnglish, spaced},
	} {
		want, got := forms(c.rows, c.fold), forms(c.rows, c.plain)
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("write it as texts are folded:\n got %s\nwant %s", got[i], want[i])
			}
		}
	}
}

// BenchmarkFirstLook is what the first message costs a module.
func BenchmarkFirstLook(b *testing.B) {
	for b.Loop() {
		newSigns(englishDistress, spaced)
		newSigns(englishGrave, spaced)
	}
}
