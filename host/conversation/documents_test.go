package conversation

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestDocuments holds the tables of docs/CONVERSATIONS.md to the code.
func TestDocuments(t *testing.T) {
	text, err := os.ReadFile("../../docs/CONVERSATIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, r := range table {
		to := string(r.to)
		if r.few != "" {
			to += ", or " + string(r.few)
		}
		rows = append(rows, cells(string(r.from), string(r.on), string(r.by), to, string(r.reason)))
	}
	for _, f := range Faults {
		rows = append(rows, cells("`"+f.Code+"`", fmt.Sprint(f.Status), f.Text))
	}
	is := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		is[strings.TrimSpace(line)] = true
	}
	for _, row := range rows {
		if !is[row] {
			t.Errorf("not in docs/CONVERSATIONS.md: %s", row)
		}
		delete(is, row)
	}
	section, _, _ := strings.Cut(string(text), "## Tools")
	for line := range strings.Lines(section) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "| ") && is[line] && !strings.HasPrefix(line, "| from") && !strings.HasPrefix(line, "| code") {
			t.Errorf("in docs/CONVERSATIONS.md alone: %s", line)
		}
	}
}

// cells gives a row of a table.
func cells(of ...string) string {
	row := "|"
	for _, c := range of {
		if c != "" {
			row += " " + c
		}
		row += " |"
	}
	return row
}
