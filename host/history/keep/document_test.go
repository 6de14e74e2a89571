package keep

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
)

// specimens are sentences of each kind, of which a policy names the part that has to stay, in both languages.
var specimens = map[kind][]string{
	money:       {"会費は4,500円です。", "The room is 120 dollars."},
	numbers:     {"参加者は37人です。", "We order 37 chairs for them."},
	dates:       {"本番は6月12日です。", "The show is on June 12 in town."},
	deadlines:   {"原稿の締切は6月12日です。", "The draft is due on June 12."},
	names:       {"司会は田中さんがいい声でつとめます。", `The play is "The Glass Harbour" by somebody.`},
	limits:      {"定員は60人まで。", "At most 60 people fit into the hall."},
	constraints: {"会場で火は使わないことにしましょう。", "Never touch the old boiler."},
	reasons:     {"体育館は雨漏りするので、会場は音楽室に決まった。", "We decided on the library because the hall has no heating."},
	promises:    {"私が会場を予約します。", "I will book the hall by Friday."},
	decisions:   {"会場は音楽室に決まった。", "We decided on the library for the reading."},
	questions:   {"二次会をやるかは未定です。", "It is undecided who brings the lamp."},
}

// TestDocumentOfKinds holds the table of docs/HISTORY.md to what a policy with these words names.
func TestDocumentOfKinds(t *testing.T) {
	raw, err := os.ReadFile("../../../docs/HISTORY.md")
	_, table, ok := strings.Cut(string(raw), "| kind | of the turns |")
	if err != nil || !ok {
		t.Fatal("docs/HISTORY.md has no table of kinds", err)
	}
	code := regexp.MustCompile("`([^`]+)`")
	var rows []kind
	for _, line := range strings.Split(table, "\n")[2:] {
		if !strings.HasPrefix(line, "| `") {
			break
		}
		cells := strings.Split(line, "|")
		k := kind(strings.Trim(cells[1], " `"))
		rows = append(rows, k)
		for language, form := range []string{"%sはすべて残してください。", "Keep all %s."} {
			for _, w := range code.FindAllStringSubmatch(cells[3+language], -1) {
				policy := strings.Replace(form, "%s", w[1], 1)
				if !readPolicy(policy).kinds[k] {
					t.Errorf("%s: not %s", policy, k)
				}
				for _, s := range specimens[k] { // in whichever language
					named, err := Named(t.Context(), []abi.PastTurn{{N: 1, From: "mika", Text: s}}, policy)
					if want := map[bool]int{true: 2, false: 1}[k == reasons && strings.Contains(s, "ので")]; err != nil || len(named) < want {
						t.Errorf("%s: %d of %s", policy, len(named), s)
					}
				}
			}
		}
	}
	if len(rows) != len(kinds) {
		t.Errorf("docs/HISTORY.md has the kinds %q", rows)
	}
	for _, k := range kinds {
		if !strings.Contains(table, "| `"+string(k.kind)+"` |") || len(specimens[k.kind]) != 2 {
			t.Errorf("docs/HISTORY.md does not have %s", k.kind)
		}
	}
}
