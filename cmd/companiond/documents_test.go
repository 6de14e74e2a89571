package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/door/web"
)

// readmes are held equal to the code.
var readmes = []string{"../../README.md", "../../README.ja.md"}

func TestDocumentsNameEveryVerb(t *testing.T) {
	var want []string
	for _, v := range verbs() {
		want = append(want, v.name)
	}
	slices.Sort(want)
	for _, file := range readmes {
		got := rows(t, file, "| `companiond ([a-z]+)")
		if !slices.Equal(got, want) {
			t.Errorf("%s has a row for %q, the program has %q", file, got, want)
		}
	}
}

func TestDocumentsNameEveryEndpoint(t *testing.T) {
	doc, _, err := web.OpenAPI(web.Version{})
	if err != nil {
		t.Fatal(err)
	}
	var api struct {
		Paths map[string]map[string]any
	}
	if err := json.Unmarshal(doc, &api); err != nil {
		t.Fatal(err)
	}
	want := []string{"GET /v1/rooms/{room}/feed"} // a WebSocket is none of OpenAPI's business
	for path, ops := range api.Paths {
		for method := range ops {
			want = append(want, fmt.Sprintf("%s %s", strings.ToUpper(method), path))
		}
	}
	slices.Sort(want)
	for _, file := range readmes {
		got := rows(t, file, "| `((?:GET|POST|PUT|DELETE) [^`]+)`")
		if !slices.Equal(got, want) {
			t.Errorf("%s has a row for\n%s\nthe doors have\n%s", file, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func rows(t *testing.T, file, pattern string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^`+strings.Replace(pattern, "|", `\|`, 1)).FindAllStringSubmatch(string(text), -1) {
		got = append(got, m[1])
	}
	slices.Sort(got)
	return got
}
