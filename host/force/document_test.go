package force_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestRulesDocument holds the table of docs/WIRES.md to the rules that there are.
func TestRulesDocument(t *testing.T) {
	source, err := os.ReadFile("rule.go")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../docs/WIRES.md")
	if err != nil {
		t.Fatal(err)
	}
	_, below, _ := strings.Cut(string(text), "### Diagnostics")
	var want, got []string
	for _, m := range regexp.MustCompile(`Rule = "([a-z/-]+)"`).FindAllStringSubmatch(string(source), -1) {
		want = append(want, m[1])
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+/[a-z-]+)` \\|").FindAllStringSubmatch(below, -1) {
		got = append(got, m[1])
	}
	if !slices.Equal(got, want) || len(got) < 30 {
		t.Errorf("the table has %q\nthe rules are  %q", got, want)
	}
}
