package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/host/compress"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/mcp"
	"github.com/companiond/companiond/host/door/mcp/cards"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/search"
)

// inBoth is a document in both languages, which are held equal to the code.
func inBoth(name string) []string { return []string{"../../docs/" + name, "../../docs/ja/" + name} }

func TestDocumentsNameEveryVerb(t *testing.T) {
	var want []string
	for _, v := range verbs() {
		want = append(want, v.name)
	}
	slices.Sort(want)
	for _, file := range inBoth("VERBS.md") {
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
	// WebSockets are none of OpenAPI's business, and paths that the AI Companion Protocol or OpenAI call
	// their own are not described there.
	want := []string{"GET /overlay/{room}", "GET /overlay/{room}/{companion}", "GET /overlay/style.css", "GET /v1/models", "POST /v1/chat/completions", "GET /v1/actions", "GET /aituberkit/{companion}/ws", "GET /firehose/{room}", "GET /ollmv/{companion}/client-ws", "GET /neuro/{companion}", "GET /v1/rooms/{room}/feed", "POST /init", "POST /perception", "POST /perception/{companion}"}
	for path, ops := range api.Paths {
		for method := range ops {
			want = append(want, fmt.Sprintf("%s %s", strings.ToUpper(method), path))
		}
	}
	slices.Sort(want)
	for _, file := range inBoth("DOORS.md") {
		got := rows(t, file, "| `((?:GET|POST|PUT|PATCH|DELETE) [^`]+)`")
		if !slices.Equal(got, want) {
			t.Errorf("%s has a row for\n%s\nthe doors have\n%s", file, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// An agent is offered over MCP what the documents say.
func TestDocumentsNameEveryTool(t *testing.T) {
	aya := func() []cards.Card {
		return []cards.Card{{ID: "aya", Name: "Aya", Source: json.RawMessage(`{"name":"Aya"}`), Actions: []cards.Action{{Name: "move", Schema: json.RawMessage(`{"type":"object"}`)}}}}
	}
	door := mcp.New(mcp.Config{Rooms: doortest.NewHouse(t, "main"), Cards: aya, Search: search.New(search.Config{}), Compressing: new(compress.Service), Stopping: t.Context()})
	mux := http.NewServeMux()
	door.Register(mux)
	server := httptest.NewServer(mux)
	defer server.Close()
	defer func() {
		if err := door.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: server.URL + "/mcp"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	resources, err := client.ListResourceTemplates(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	prompts, err := client.ListPrompts(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	var want, named []string
	for _, tool := range tools.Tools {
		want = append(want, tool.Name)
	}
	slices.Sort(want)
	for _, r := range resources.ResourceTemplates {
		named = append(named, r.URITemplate)
	}
	for _, p := range prompts.Prompts {
		named = append(named, p.Name)
	}
	if len(want) == 0 || len(named) == 0 {
		t.Fatalf("the door offers %q and %q", want, named)
	}
	for _, file := range inBoth("MCP.md") {
		if got := rows(t, file, "| `([a-z_-]+)` \\|"); !slices.Equal(got, want) {
			t.Errorf("%s has a row for %q, the door has %q", file, got, want)
		}
		for _, name := range named {
			if !strings.Contains(read(t, file), "`"+name+"`") {
				t.Errorf("%s does not name %s", file, name)
			}
		}
	}
}

// The table of flaws in RATIONALE.md names tests that are there, and comments say the
// reason instead of a number that means nothing to a stranger.
func TestDocumentsTellOfEveryFlaw(t *testing.T) {
	const file = "../../RATIONALE.md"
	tests := map[string]bool{}
	isTest, isFlaw := regexp.MustCompile(`(?m)^func (Test\w+)\(`), regexp.MustCompile(`// .*\bflaws? [A-Z][0-9]`)
	for _, dir := range []string{"../../abi", "../../characters", "../../cmd", "../../host", "../../sdk"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.Name() == "node_modules":
				return filepath.SkipDir
			case filepath.Ext(path) != ".go":
				return nil
			}
			text := read(t, path)
			for _, m := range isTest.FindAllStringSubmatch(text, -1) {
				tests[m[1]] = true
			}
			for _, m := range isFlaw.FindAllString(text, -1) {
				t.Errorf("%s: say the reason: %s", path, m)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(rows(t, file, "| ([A-Z][0-9]+) \\|")) < 28 {
		t.Errorf("%s does not tell of every flaw", file)
	}
	for _, line := range regexp.MustCompile("(?m)^.*`Test.*$").FindAllString(read(t, file), -1) {
		for _, m := range regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(line, -1) {
			if !tests[m[1]] {
				t.Errorf("there is no %s: %s", m[1], line)
			}
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func rows(t *testing.T, file, pattern string) []string {
	t.Helper()
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^`+strings.Replace(pattern, "|", `\|`, 1)).FindAllStringSubmatch(read(t, file), -1) {
		got = append(got, m[1])
	}
	slices.Sort(got)
	return got
}
