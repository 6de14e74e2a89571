package js

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/sdk/go/words"
)

var update = flag.Bool("update", false, "write the topics of companion.js anew")

// table is the part of companion.js that has the topics.
var table = regexp.MustCompile(`(?s)const shared = \{\n(.*?)\};\n`)

// TestTopics: the topics that the helpers know are those of package words, word for word. -update writes them anew.
func TestTopics(t *testing.T) {
	var want strings.Builder
	for _, topic := range words.Topics() {
		list, err := json.Marshal(topic.Words)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&want, "  %s: %s,\n", topic.ID, strings.ReplaceAll(string(list), `","`, `", "`))
	}
	at := table.FindStringSubmatchIndex(Helpers)
	if at == nil {
		t.Fatal("companion.js has no table of topics")
	}
	if *update {
		if err := os.WriteFile("companion.js", []byte(Helpers[:at[2]]+want.String()+Helpers[at[3]:]), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got := Helpers[at[2]:at[3]]; got != want.String() {
		t.Errorf("companion.js has other topics than package words: go test ./sdk/js -update\n%s\nwant\n%s", got, want.String())
	}
}

// TestTypesOfHelpers: editors know of each helper, with as many parameters, and of no other.
func TestTypesOfHelpers(t *testing.T) {
	code := signatures(Helpers, `(?m)^export function (\w+)\((.*)\) \{$`)
	types := signatures(string(Types), `(?m)^  function (\w+)\((.*)\): .*;$`)
	if len(code) == 0 || !maps.Equal(code, types) {
		t.Errorf("companion.js has %v, and companion.d.ts %v", slices.Sorted(maps.Keys(code)), slices.Sorted(maps.Keys(types)))
	}
}

var nested = regexp.MustCompile(`\{[^{}]*\}|<[^<>]*>`)

// signatures gives the functions of a file and how many parameters each has.
func signatures(text, pattern string) map[string]int {
	all := map[string]int{}
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		all[m[1]] = 1 + strings.Count(nested.ReplaceAllString(m[2], ""), ",")
	}
	return all
}
