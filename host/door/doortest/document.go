package doortest

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Table gives the rows of the table of a document whose head begins so, a text for each cell.
func Table(t testing.TB, document, head string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	_, below, found := strings.Cut(string(text), "\n| "+head)
	if !found {
		t.Fatalf("%s has no table of %s", document, head)
	}
	for i, line := range strings.Split(below, "\n") {
		if i > 1 && !strings.HasPrefix(line, "|") {
			break
		}
		if i < 2 { // the rest of the head, and the rule below it
			continue
		}
		row := strings.Split(strings.Trim(line, "|"), "|")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		rows = append(rows, row)
	}
	return rows
}

// Code gives what stands as code in a cell.
func Code(cell string) (all []string) {
	for _, w := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
		all = append(all, w[1])
	}
	return all
}
