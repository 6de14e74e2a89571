package words

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// rowsOf reads a file of sentences by somebody who had not seen the rules.
func rowsOf(t testing.TB, file string) (rows []string) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(string(b)) {
		if row = strings.Trim(row, "\r\n"); row != "" && !strings.HasPrefix(row, "#") {
			rows = append(rows, row)
		}
	}
	return rows
}

// leastPrecise is how many of the words that are named have to be right, in a hundred: a wrong one is repeated to
// whoever said something else, and none is only missed.
const leastPrecise = 85

// The word that a sentence is about is the right one, or none: in sentences that the rule was made with, and in some
// that it was not.
func TestWords(t *testing.T) {
	for _, file := range []string{"topics.txt", "topics_others.txt"} {
		named, right, about := 0, 0, 0
		for _, row := range rowsOf(t, file) {
			f := strings.Split(row, "\t")
			if len(f) != 3 {
				t.Fatalf("%s: %q", file, row)
			}
			accepted := strings.Split(Normal(f[2]), "|")
			if f[2] != "" {
				about++
			}
			if w := Normal(Word(f[1])); w != "" {
				named++
				if slices.Contains(accepted, w) {
					right++
				}
			}
		}
		t.Logf("%s: %d named, %d of them right; %d have one", file, named, right, about)
		if right*100 < leastPrecise*named {
			t.Errorf("%s: %d of %d words are right", file, right, named)
		}
		if named*2 < about {
			t.Errorf("%s: %d of %d words are named", file, named, about)
		}
	}
}

// Who may be in danger is taken in earnest, and nearly nobody else, in sentences that the tables were not made with.
func TestDistressOfOthers(t *testing.T) {
	missed, alarms := map[Lang]int{}, map[Lang]int{}
	for _, row := range rowsOf(t, "distress_others.txt") {
		kind, text, _ := strings.Cut(row, ": ")
		got := Distressed(text)
		switch {
		case kind == "distress" && !got:
			missed[Language(text)]++
		case kind == "other" && got:
			alarms[Language(text)]++
		}
	}
	t.Logf("missed %v, false alarms %v", missed, alarms)
	if len(missed) > 0 || alarms[Japanese]+alarms[English] > 2 {
		t.Errorf("missed %v, false alarms %v", missed, alarms)
	}
}
