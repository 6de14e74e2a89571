package host_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"

	"github.com/companiond/companiond/host/waittest"
)

// plantedTalk is a talk of 400 turns with 40 facts, of which the policy names half; see the README beside it.
type plantedTalk struct {
	Policy string
	Turns  []abi.PastTurn
	Facts  []struct {
		Fact  string
		Named bool
	}
}

func readPlanted(t *testing.T) (p plantedTalk) {
	t.Helper()
	b, err := os.ReadFile("history/judge/testdata/planted.json")
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// recalled counts the facts that stand in a text letter by letter.
func (p plantedTalk) recalled(text string) (all, named int) {
	for _, f := range p.Facts {
		if strings.Contains(text, f.Fact) {
			if all++; f.Named {
				named++
			}
		}
	}
	return all, named
}

// keeper drafts what the policy names and every other one of the rest, as far as the length goes; its first draft lacks a fact.
func keeper(dropped string) *scribeModel {
	return &scribeModel{verify: judges, compress: func(r request) string {
		task, again := r.lines[len(r.lines)-1], false
		for _, l := range r.lines {
			again = again || l.Feedback != ""
		}
		left := task.Length
		var kept []toldLine
		take := func(l toldLine) {
			if n := utf8.RuneCountInString(l.Text) + 1; n <= left {
				kept, left = append(kept, l), left-n
			}
		}
		for _, l := range r.lines {
			if l.named() && (again || !strings.Contains(l.Text, dropped)) {
				take(l)
			}
		}
		for i, l := range r.lines {
			if l.Keep != "" && !l.named() && i%2 == 0 {
				take(l)
			}
		}
		slices.SortStableFunc(kept, func(a, b toldLine) int { return int(a.Turn) - int(b.Turn) })
		var b strings.Builder
		for _, l := range kept {
			b.WriteString(l.Text + "\n")
		}
		return writes(b.String())
	}}
}

// TestRecall counts what of 40 facts is left of 400 turns that are told in a tenth of their letters: by a model, whose first draft lacks a fact
// that the policy names and is refused for it; by the extractive pair; and by only telling the newest.
func TestRecall(t *testing.T) {
	waittest.WithoutRaces(t)
	p := readPlanted(t)
	dropped := p.Facts[slices.IndexFunc(p.Facts, func(f struct {
		Fact  string
		Named bool
	}) bool {
		return f.Named
	})].Fact
	m := keeper(dropped)
	h := newHome(t)
	h.open("[model.main]\nurl = \"" + m.open(t) + "\"\nmodel = \"tiny\"\nretries = 0\ncontext = 32000\n[room.main]\ncompanions = []\n")
	letters := 0
	for _, turn := range p.Turns {
		h.say("main", turn.From, turn.Text)
		letters += utf8.RuneCountInString(turn.Text)
	}
	table := []string{fmt.Sprintf("%d turns, %d letters, told in %d at most", len(p.Turns), letters, letters/10), "way | letters | facts of 40 | named, of 20"}
	row := func(way, text string) (named int) {
		all, named := p.recalled(text)
		table = append(table, fmt.Sprintf("%s | %d | %d | %d", way, utf8.RuneCountInString(text), all, named))
		return named
	}

	ask := map[string]any{"turns": "1-400", "policy": p.Policy}
	c := h.compressed(ask)
	if c.State != "offered" || len(c.Drafts) != 2 || c.Drafts[0].Verdict != abi.VerdictNo || !strings.Contains(c.Drafts[0].Feedback, dropped) {
		t.Fatalf("a draft without %q: %+v", dropped, c)
	}
	if n := row("a model's first draft, refused", c.Drafts[0].Content); n != 19 {
		t.Errorf("the first draft has %d of what is named", n)
	}
	if n := row("its second, verified", c.Drafts[1].Content); n != 20 {
		t.Errorf("the second draft has %d of what is named", n)
	}
	h.decides(c.ID, "deny")
	ask["compresser"], ask["verifier"] = "extract", "extract"
	if c = h.compressed(ask); c.State != "offered" {
		t.Fatalf("%+v", c)
	}
	if n := row("the extractive pair", c.Drafts[0].Content); n != 20 {
		t.Errorf("the extract has %d of what is named", n)
	}
	var newest []string
	for i, left := len(p.Turns)-1, letters/10; i >= 0; i-- {
		if left -= utf8.RuneCountInString(p.Turns[i].Text); left < 0 {
			break
		}
		newest = append(newest, p.Turns[i].Text)
	}
	row("the newest turns alone", strings.Join(newest, "\n"))
	t.Log("\n" + strings.Join(table, "\n"))
}
