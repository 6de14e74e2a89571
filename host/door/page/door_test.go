package page_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/door/page"
)

// get gives the page as the door serves it.
func get(t *testing.T, cfg page.Config) *httptest.ResponseRecorder {
	t.Helper()
	mux := http.NewServeMux()
	if err := page.Register(mux, cfg); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	return w
}

// inner is what stands in the one element of that name in the page.
func inner(t *testing.T, element string) string {
	t.Helper()
	_, rest, found := strings.Cut(get(t, page.Config{Projects: true}).Body.String(), "<"+element+">")
	text, _, ended := strings.Cut(rest, "</"+element+">")
	if !found || !ended {
		t.Fatalf("the page has no %s", element)
	}
	return text
}

// run has Node run the page's script in as much of a browser as testdata/dom.js is, and more behind it.
func run(t *testing.T, more string) string { return runIn(t, "", more) }

// runIn is run with more before the script, and in another language where one is named.
func runIn(t *testing.T, before, more string, lang ...string) string {
	t.Helper()
	for _, l := range lang {
		before += "location.search = '?lang=" + l + "';"
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node")
	}
	dom, err := os.ReadFile("testdata/dom.js")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "page.js")
	if err := os.WriteFile(file, []byte(string(dom)+before+inner(t, "script")+more), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(node, file).CombinedOutput()
	if err != nil {
		t.Errorf("%v", err)
	}
	return string(out)
}
