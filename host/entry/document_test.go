package entry

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
	text, err := os.ReadFile("../../docs/ENTRIES.md")
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[Kind]any{
		KindOwner: Owner{}, KindOpened: Opened{}, KindArchived: Archived{}, KindRules: Rules{}, KindCast: Cast{}, KindSaid: Said{}, KindVote: Voted{}, KindFailed: Failed{},
		KindDue: Due{}, KindStop: Stop{}, KindRound: Round{}, KindDecision: Decision{}, KindClosing: ClosingMoved{}, KindRefused: Refused{},
		KindPerceived: Perceived{}, KindJudged: Judged{}, KindWish: Wish{}, KindSegment: Segment{}, KindAction: Action{}, KindResult: Done{}, KindUsage: Usage{}, KindWords: Words{}, KindLifecycle: Lifecycle{},
		KindRemembered: Remembered{}, KindRevised: Revised{}, KindErased: Erased{}, KindRead: Read{}, KindVector: Vector{}, KindForgotten: Forgotten{}, KindForked: Forked{},
		KindTalks: Talks{}, KindOffered: Offered{}, KindHandled: Handled{}, KindSound: Sound{},
	}
	inputs, derived, _ := strings.Cut(string(text), "The rest is what the rules made of them")
	derived, memory, _ := strings.Cut(derived, "What a companion remembers has a stream of its own")
	for kind, body := range bodies {
		part := derived
		switch kind {
		case KindRemembered, KindRevised, KindErased, KindRead, KindVector, KindTalks:
			part = memory
		default:
			if kind.IsInput() {
				part = inputs
			}
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
	for _, m := range regexp.MustCompile(`(?m)^\t(?:Kind|Outcome|Rule|Due)[A-Z]\w+ +(Kind|Outcome|Rule|DueKind) += "([a-z]+)"`).FindAllStringSubmatch(string(source), -1) {
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
