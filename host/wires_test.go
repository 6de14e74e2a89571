package host_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/waittest"
)

// tableUnder gives the rows of the first table of docs/WIRES.md under a heading, each as the
// code in its cells, or else their words.
func tableUnder(t *testing.T, heading string) (rows [][]string) {
	t.Helper()
	doc, err := os.ReadFile("../docs/WIRES.md")
	if err != nil {
		t.Fatal(err)
	}
	_, below, found := strings.Cut(string(doc), "\n"+heading+"\n")
	if !found {
		t.Fatalf("docs/WIRES.md has no %q", heading)
	}
	code := regexp.MustCompile("^`(.*)`$")
	for line := range strings.Lines(below) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			if rows != nil {
				break
			}
			continue
		}
		var row []string
		for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
			row = append(row, code.ReplaceAllString(strings.TrimSpace(cell), "$1"))
		}
		rows = append(rows, row)
	}
	if len(rows) < 3 {
		t.Fatalf("no table is under %q", heading)
	}
	return rows[2:]
}

// mounted gives the patterns that the doors give to a mux, as far as they are written out. Package ops has an address of its own,
// and holds docs/METRICS.md to it itself.
func mounted(t *testing.T) map[string]bool {
	t.Helper()
	patterns := map[string]bool{}
	err := filepath.WalkDir("door", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "testdata" || d.Name() == "doortest" || d.Name() == "ops") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 2 {
				return true
			}
			of, isMethod := call.Fun.(*ast.SelectorExpr)
			text, isText := call.Args[0].(*ast.BasicLit)
			if isMethod && isText && (of.Sel.Name == "Handle" || of.Sel.Name == "HandleFunc") {
				pattern, _ := strconv.Unquote(text.Value)
				patterns[pattern] = true
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return patterns
}

// TestWiresAreWrittenDown: docs/WIRES.md has every place that a door mounts, and no other;
// what else there is, is in the API's description.
func TestWiresAreWrittenDown(t *testing.T) {
	written := map[string]bool{}
	for _, row := range tableUnder(t, "## Where") {
		written[row[0]] = true
	}
	if code := mounted(t); !maps.Equal(code, written) {
		t.Errorf("the doors mount\n%q\nand docs/WIRES.md has\n%q", slices.Sorted(maps.Keys(code)), slices.Sorted(maps.Keys(written)))
	}
	h := newHome(t)
	h.open("")
	var api struct{ Paths map[string]json.RawMessage }
	h.get("/openapi.json", &api)
	for path := range api.Paths {
		if !strings.HasPrefix(path, "/v1/") {
			t.Errorf("%s is described, and not below /v1/", path)
		}
	}
}

// referenceWire is a row of docs/WIRES.md, with what its places stand for filled in.
type referenceWire struct {
	version, perceives, header, acts, connects, sends, frame string
	session                                                  string // to subscribe to: its id, or the companion's
}

// pageOrigin is that of the reference server's page.
const pageOrigin = "http://localhost:3000"

// TestEveryReferenceWire plays each row of docs/WIRES.md as its client would: it perceives,
// an agent acts, and the body is sent what the row says.
func TestEveryReferenceWire(t *testing.T) {
	h := openNikoni(t, "origins = ["+strconv.Quote(pageOrigin)+"]\n")
	for _, row := range tableUnder(t, "## The AI Companion Protocol") {
		session, refusal := h.initSession("")
		if session == "" {
			t.Fatal(refusal)
		}
		w := referenceWire{session: "nikoni"}
		if slices.ContainsFunc(row, func(cell string) bool { return strings.Contains(cell, "{session}") }) {
			w.session = session
		}
		for i := range row {
			row[i] = strings.NewReplacer("{session}", session, "{companion}", "nikoni").Replace(row[i])
		}
		w.version, w.perceives, w.header, w.acts = row[0], strings.TrimPrefix(row[1], "POST "), row[2], row[3]
		w.connects, w.sends, w.frame = row[4], row[5], row[6]
		h.perceivesBy(w)
		h.embodiesBy(w)
	}
	_, res, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(h.url, "http")+"/", http.Header{"Origin": {"http://localhost:5173"}})
	if err == nil || res == nil || res.StatusCode != http.StatusForbidden {
		t.Fatalf("a page of another site: %v %v", res, err)
	}
	var b [1024]byte
	n, _ := res.Body.Read(b[:]) // as much as gorilla keeps
	if !strings.Contains(string(b[:n]), `write origins = [\"http://localhost:5173\"] under [door]`) {
		t.Errorf("%s", b[:n])
	}
}

// perceivesBy says something to the companion over a wire.
func (h *home) perceivesBy(w referenceWire) {
	h.t.Helper()
	header := []string{"Origin", pageOrigin}
	if name, value, ok := strings.Cut(w.header, ": "); ok {
		header = append(header, name, value)
	}
	before := len(h.messages("main"))
	status, answer := h.ask("POST", w.perceives, `{"jsonrpc":"2.0","method":"perception.send","params":{"title":"input","format":"text","body":"こんにちは"}}`, header...)
	if said := h.messages("main"); status != 200 || !strings.Contains(answer, `"result":{"text":"`) || len(said) != before+1 || !slices.Equal(said[before].To, []string{"nikoni"}) {
		h.t.Errorf("%s: %s: %d %s", w.version, w.perceives, status, answer)
	}
}

// embodiesBy connects a body over a wire, lets an agent of that wire act until the body is
// there, and compares what it is sent.
func (h *home) embodiesBy(w referenceWire) {
	h.t.Helper()
	conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(h.url, "http")+w.connects, http.Header{"Origin": {pageOrigin}})
	if err != nil {
		h.t.Fatalf("%s: %v", w.version, err)
	}
	if w.sends != "" {
		call := fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{"sessionId":%q}}`, w.sends, w.session)
		if err := conn.WriteMessage(websocket.TextMessage, []byte(call)); err != nil {
			h.t.Fatal(err)
		}
	}
	agent := doortest.NewByHand(h.t.(*testing.T), h.url+w.acts)
	acts := func(action string, bodies int) func() bool {
		return func() bool {
			_, played := agent.Post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"action-play","arguments":{"actionName":"` + action + `","parameters":{"x":1,"y":0,"z":2}}}}`)
			return strings.Contains(played, fmt.Sprintf(`"delivered":%d`, bodies))
		}
	}
	h.until("a body is there", acts("move", 1))
	// It may be shown one more that was played while it came.
	var moved []string
	for _, a := range ofKind[entry.Action](h, "main", entry.KindAction) {
		moved = append(moved, a.ID)
	}
	got := h.acted(conn)
	if strings.HasPrefix(w.frame, `{"action"`) {
		id, _, found := strings.Cut(strings.TrimPrefix(got, strings.TrimSuffix(w.frame, "}")+`,"id":"`), `","seq":`)
		if !found || !slices.Contains(moved, id) {
			h.t.Errorf("%s: frame\n got %s\nwant %s and id and seq", w.version, got, w.frame)
		}
	} else if got != w.frame {
		h.t.Errorf("%s: frame\n got %s\nwant %s", w.version, got, w.frame)
	}
	_ = conn.Close()
	h.until("it has left", acts("look", 0))
}

// acted gives the first frame that is no notice of chat-relay's: a client that subscribes
// may have been sent some before.
func (h *home) acted(conn *websocket.Conn) string {
	h.t.Helper()
	for {
		_ = conn.SetReadDeadline(time.Now().Add(waittest.Long))
		_, frame, err := conn.ReadMessage()
		if err != nil {
			h.t.Fatal(err)
		}
		if !strings.Contains(string(frame), `"newMessage"`) {
			return string(frame)
		}
	}
}
