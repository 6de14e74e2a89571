package history

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocumentOfVerbs holds docs/HISTORY.md to the verbs, the fields of what lies over turns, and the exit codes.
func TestDocumentOfVerbs(t *testing.T) {
	raw, err := os.ReadFile("../../../docs/HISTORY.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	column := func(head, pattern string) (got []string) {
		_, below, found := strings.Cut(text, "\n| "+head+" |")
		if !found {
			t.Fatalf("docs/HISTORY.md has no table of %s", head)
		}
		below, _, _ = strings.Cut(below, "\n\n")
		for _, m := range regexp.MustCompile(`(?m)^\| `+pattern).FindAllStringSubmatch(below, -1) {
			got = append(got, m[1])
		}
		return got
	}
	var want []string
	for _, s := range subs() {
		want = append(want, s.name)
	}
	if got := column("verb", "`companiond history ([a-z]+)`"); !slices.Equal(got, want) {
		t.Errorf("docs/HISTORY.md has the verbs %q, the program %q", got, want)
	}
	want = nil
	for f := range reflect.TypeFor[overlay]().Fields() {
		want = append(want, f.Tag.Get("json"))
	}
	if got := column("field", "`([a-z_]+)`"); !slices.Equal(got, want) {
		t.Errorf("docs/HISTORY.md has the fields %q, an export %q", got, want)
	}
	for _, code := range []int{ExitRefused, ExitLeft} {
		if !strings.Contains(text, fmt.Sprintf(" %d where", code)) {
			t.Errorf("docs/HISTORY.md does not say when the exit code is %d", code)
		}
	}
}
