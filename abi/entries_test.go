package abi

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEntriesDocument holds ENTRIES.md to the types: every kind has a row, with
// the fields of its body.
func TestEntriesDocument(t *testing.T) {
	text, err := os.ReadFile("ENTRIES.md")
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[EntryKind]any{
		EntryOwner: Owner{}, EntryRules: Rules{}, EntryCast: Cast{}, EntrySaid: Said{}, EntryVote: Voted{}, EntryFailed: Failed{},
		EntryDue: Due{}, EntryStop: Stop{}, EntryRound: Round{}, EntryDecision: Decision{}, EntryClosing: ClosingMoved{}, EntryRefused: Refused{},
		EntryPerceived: Perceived{}, EntryWish: Wish{}, EntrySegment: Segment{}, EntryAction: Action{}, EntryResult: Done{}, EntryUsage: Usage{},
	}
	inputs, derived, _ := strings.Cut(string(text), "The rest is what the rules made of them")
	for kind, body := range bodies {
		part := derived
		if kind.IsInput() {
			part = inputs
		}
		row := regexp.MustCompile("(?m)^\\| `" + string(kind) + "` \\| `\\{([^`]*)\\}` \\|").FindStringSubmatch(part)
		if row == nil {
			t.Errorf("no row for %s where it belongs", kind)
			continue
		}
		top := regexp.MustCompile(`:\[[^\]]*\]`).ReplaceAllString(row[1], "")
		got := strings.Split(strings.ReplaceAll(top, " or ", ","), ",")
		slices.Sort(got)
		if want := fields(reflect.TypeOf(body)); !slices.Equal(got, want) {
			t.Errorf("%s: the row has %q, the body %q", kind, got, want)
		}
	}
	source, err := os.ReadFile("entry.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^\t(?:Entry|Outcome|Rule|Due)[A-Z]\w+ +(EntryKind|Outcome|Rule|DueKind) += "([a-z]+)"`).FindAllStringSubmatch(string(source), -1) {
		if !strings.Contains(string(text), "`"+m[2]+"`") {
			t.Errorf("ENTRIES.md does not name the %s %q", m[1], m[2])
		}
	}
}

// fields gives the JSON names of a struct, those of embedded structs included.
func fields(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			names = append(names, fields(f.Type)...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
