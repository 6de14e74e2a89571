package paint

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/context/told"
	"github.com/companiond/companiond/host/door/web/memories"
	"github.com/companiond/companiond/host/entry"
)

// Whatever is remembered or was told, a terminal acts on none of it, and no line of it begins
// as one of ours.
func TestMemoriesAreHarmless(t *testing.T) {
	const evil = "x\nm2  all is well\x1b[1A\u202e\r"
	m := abi.Memory{ID: evil, Kind: evil, Text: evil, Quote: evil, About: []string{evil}, Keys: []string{evil}, Room: evil, SaidBy: evil, EditedBy: evil, SaidAt: opened, Turns: []uint64{1}}
	order := memories.Order{State: "done", As: evil, Why: evil, Stores: []memories.Count{{Store: evil, Count: 1}}, Left: []string{evil}}
	prompt := told.Prompt{Usage: entry.Usage{Who: evil, Op: evil, Model: evil, Error: evil}, Parts: []told.Part{{Name: evil, Text: evil}}, Left: []string{evil}, Why: evil}
	for name, show := range map[string]func(Painter) error{
		"memory": func(p Painter) error { return p.Memory(m) },
		"order":  func(p Painter) error { return p.Order(order) },
		"prompt": func(p Painter) error {
			return p.Prompts([]told.Prompt{prompt, {Usage: prompt.Usage, Why: evil}})
		},
	} {
		var out bytes.Buffer
		if err := show(Painter{Out: &out}); err != nil {
			t.Error(err)
		}
		for _, r := range out.String() {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
				t.Errorf("%s: %U in %q", name, r, &out)
			}
		}
		if strings.Contains(out.String(), "\nm2  all is well") || !strings.Contains(out.String(), `\u001b`) {
			t.Errorf("%s: shown as\n%s", name, &out)
		}
	}
}

func TestOrdersStand(t *testing.T) {
	for state, want := range map[string]string{"would": "would go: nothing\n", "running": "going: nothing\n", "done": "gone: nothing\n", "failed": "not all gone yet: nothing\nit is tried again: the disk is full\n"} {
		var out bytes.Buffer
		o := memories.Order{State: state}
		if state == "failed" {
			o.Why = "the disk is full"
		}
		if err := (Painter{Out: &out}).Order(o); err != nil || out.String() != want {
			t.Errorf("%s: %v %q", state, err, &out)
		}
	}
}

// What goes of other people's stands beside what goes.
func TestOrderOfOthers(t *testing.T) {
	var out bytes.Buffer
	o := memories.Order{State: "would", Talks: 1, Stores: []memories.Count{{Store: "entries", Count: 12, Others: 3}, {Store: "memories", Count: 4, Others: 2}, {Store: "keys", Count: 1}}}
	if err := (Painter{Out: &out}).Order(o); err != nil || out.String() != "would go: 12 entries (3 of other people), 4 memories (2 of other people), 1 keys\nof talks with others, not made anew: 1 memories\n" {
		t.Errorf("%v: %s", err, &out)
	}
}

// TestOrderOfNobody: a name that nobody has is said to be none.
func TestOrderOfNobody(t *testing.T) {
	var out bytes.Buffer
	o := memories.Order{State: "would", Nobody: true, Called: []string{"ゆき", "ユキ"}, Stores: []memories.Count{{Store: "entries"}}}
	if err := (Painter{Out: &out}).Order(o); err != nil || !strings.Contains(out.String(), "\nas it is written: ゆき, ユキ\n") || !strings.Contains(out.String(), "is called so; look at how the name is written") {
		t.Errorf("%v: %s", err, &out)
	}
}

// A line whose words were erased says so, and so does the entry that tells of it.
func TestErasedIsSaid(t *testing.T) {
	for want, e := range map[string]entry.Entry{
		"#3    forgotten-1:  (erased)\n":                {Seq: 3, Kind: entry.KindSaid, Blank: true, Body: []byte(`{"from":"forgotten-1","text":"","erased":"o1","kind":"turn"}`)},
		"words of somebody were erased, in 7 entries\n": {Seq: 4, Kind: entry.KindForgotten, Body: []byte(`{"order":"o1","by":"admin","count":7}`)},
	} {
		var out bytes.Buffer
		if err := (Painter{Out: &out}).Entry(e); err != nil || !strings.HasSuffix(out.String(), want) {
			t.Errorf("%v: %q, want %q", err, &out, want)
		}
	}
}

// What somebody wrote over what was said is not shown as what was said.
func TestEditedMemory(t *testing.T) {
	for want, m := range map[string]abi.Memory{
		"m1  Tama is a dog\n    ken wrote this over what mika said in main #62\n": {ID: "m1", Text: "Tama is a dog", SaidBy: "mika", EditedBy: "ken", Room: "main", Turns: []uint64{62}},
		"m1  Tama is a dog\n    ken wrote this over what was there\n":             {ID: "m1", Text: "Tama is a dog", EditedBy: "ken"},
	} {
		var out bytes.Buffer
		if err := (Painter{Out: &out}).Memory(m); err != nil || !strings.HasPrefix(out.String(), want) {
			t.Errorf("%v %s", err, &out)
		}
	}
}

// A call for the votes of several says whose.
func TestVotesOfSeveral(t *testing.T) {
	var out bytes.Buffer
	u := entry.Usage{Who: "aya", With: []string{"ben", "eri"}, Op: abi.OpVote, Model: "m", Calls: 1}
	if err := (Painter{Out: &out}).Prompts([]told.Prompt{{Usage: u, Exact: true}}); err != nil || !strings.Contains(out.String(), "  one call for the votes of aya, ben, eri\n") {
		t.Errorf("%v\n%s", err, &out)
	}
}
