package memory_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/memory"
	"github.com/companiond/companiond/host/module"
)

// caller is a module that asks in a room.
func caller(id, room string) module.Caller {
	return module.Caller{Companion: id, Room: room, Op: abi.OpSpeak}
}

// words says whether any body of a journal has a text.
func (h *house) words(text string) (where []string) {
	h.t.Helper()
	for row, err := range journal.AllStreams(context.Background(), h.journal) {
		if err != nil {
			h.t.Fatal(err)
		}
		for _, e := range h.read(row.Name) {
			if strings.Contains(string(e.Body), text) {
				where = append(where, fmt.Sprintf("%s/%d", row.Name, e.Seq))
			}
		}
		if bad, err := h.journal.Verify(context.Background(), row.Name, 0); err != nil || bad != 0 {
			h.t.Errorf("%s: entry %d: %v", row.Name, bad, err)
		}
	}
	return where
}

// TestDesk: what people see, change and take out.
func TestDesk(t *testing.T) {
	in(t, nil, func(t *testing.T, h *house) {
		ctx := context.Background()
		h.say("main", "taro", "My cat is called Tama.")
		rests()
		mine, err := h.keeper.Write(ctx, "aya", abi.MemoryAdd{Text: "Hana likes rain", About: []string{"hana"}}, "", "taro")
		if err != nil || mine.SaidBy != "taro" || mine.Visibility != abi.VisiblePerson || mine.Kind != abi.MemoryFact || mine.Importance != 3 || mine.Quote != "" {
			t.Fatalf("%+v %v", mine, err)
		}
		text, five, room := "Hana likes the rain", 5, abi.VisiblePerson
		now, err := h.keeper.Edit(ctx, "aya", mine.ID, memory.Changes{Text: &text, Importance: &five, Visibility: &room}, "hana")
		if err != nil || now.Text != text || now.Importance != 5 || now.Visibility != room {
			t.Errorf("%+v %v", now, err)
		}
		got, err := h.keeper.Get(ctx, "aya", mine.ID)
		if err != nil || got.Text != text {
			t.Errorf("%+v %v", got, err)
		}
		h.again("aya")
		if got, err := h.keeper.Get(ctx, "aya", mine.ID); err != nil || got.Text != text {
			t.Errorf("after a restart: %+v %v", got, err)
		}
		gone, err := h.keeper.Erase(ctx, "aya", []string{mine.ID, "nothing"}, "hana")
		if err != nil || len(gone) != 1 || gone[0].Text != text || gone[0].Companion != "aya" {
			t.Errorf("%+v %v", gone, err)
		}
		if where := h.words("rain"); len(where) > 0 {
			t.Errorf("its words are in %q", where)
		}
		_, err = h.keeper.Get(ctx, "aya", mine.ID)
		wantCode(t, err, abi.CodeNotFound, mine.ID)
		_, err = h.keeper.Edit(ctx, "aya", mine.ID, memory.Changes{Text: &text}, "hana")
		wantCode(t, err, abi.CodeNotFound)
		_, err = h.keeper.EraseFact(ctx, mine.ID, "hana")
		wantCode(t, err, abi.CodeNotFound)
		last := h.read(journal.MemoryOf("aya"))
		e, _ := entry.Decode[entry.Erased](last[len(last)-1])
		if !slices.Equal(e.IDs, []string{mine.ID}) || e.By != "hana" || e.Why != entry.GoneForgotten {
			t.Errorf("the stream says %+v", e)
		}
		if p, err := h.keeper.List(ctx, "nobody", memory.Filter{}); err != nil || p.Total != 0 || p.Memories == nil {
			t.Errorf("of nobody: %+v %v", p, err)
		}
	})
}

// TestPages gives everything once, the newest first.
func TestPages(t *testing.T) {
	in(t, nil, func(t *testing.T, h *house) {
		ctx := context.Background()
		for i := range 7 {
			a := abi.MemoryAdd{Text: fmt.Sprintf("Thing number %d is red", i), About: []string{[]string{"hana", "ＨＡＮＡ", "taro"}[i%3]}}
			if _, err := h.keeper.Write(ctx, "aya", a, abi.VisibleAll, "mika"); err != nil {
				t.Fatal(err)
			}
		}
		var texts []string
		for f := (memory.Filter{Limit: 3}); ; {
			p, err := h.keeper.List(ctx, "aya", f)
			if err != nil || p.Total != 7 {
				t.Fatalf("%+v %v", p, err)
			}
			for _, m := range p.Memories {
				texts = append(texts, m.Text)
			}
			if f.After = p.Next; p.Next == "" {
				break
			}
		}
		if len(texts) != 7 || texts[0] != "Thing number 6 is red" || texts[6] != "Thing number 0 is red" {
			t.Errorf("%q", texts)
		}
		for _, tc := range []struct {
			f    memory.Filter
			n    int
			code abi.Code
		}{
			{memory.Filter{Who: "Hana"}, 5, ""}, {memory.Filter{Who: "mika"}, 7, ""}, {memory.Filter{Who: "ken"}, 0, ""},
			{memory.Filter{Text: "number 4"}, 1, ""}, {memory.Filter{Limit: memory.MaxList + 1}, 0, abi.CodeInvalid}, {memory.Filter{Limit: -1}, 0, abi.CodeInvalid},
			{memory.Filter{After: "x"}, 0, abi.CodeNotFound}, {memory.Filter{After: "x", Text: "red"}, 0, abi.CodeInvalid},
		} {
			p, err := h.keeper.List(ctx, "aya", tc.f)
			wantCode(t, err, tc.code)
			if n := len(p.Memories); n != tc.n && (tc.f.Text == "" || n == 0 || !strings.Contains(p.Memories[0].Text, "4")) {
				t.Errorf("%+v gives %d", tc.f, n)
			}
		}
	})
}

// TestForgetSomebody takes out what a person said and what is about the person, wherever it is, while
// talks are gone through.
func TestForgetSomebody(t *testing.T) {
	in(t, threeRooms(abi.VisibleAll), func(t *testing.T, h *house) {
		ctx := context.Background()
		h.again("aya", "kyoko")
		turn := h.say("garden", "taro", "My cat is called Tama.")
		h.say("garden", "hana", "My dog is called Pochi.")
		rests()
		if _, err := h.keeper.Write(ctx, "kyoko", abi.MemoryAdd{Text: "Taro walks a lot", About: []string{"TARO"}}, "", "hana"); err != nil {
			t.Fatal(err)
		}
		gone, err := h.keeper.EraseOf(ctx, "Taro", "taro")
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range []string{"Tama", "walks"} {
			if where := h.words(w); len(where) > 0 {
				t.Errorf("%s is in %q", w, where)
			}
		}
		companions := map[string]int{}
		for _, m := range gone {
			companions[m.Companion]++
		}
		if companions["aya"] == 0 || companions["kyoko"] < 2 || !contains(h.facts("aya"), "Pochi") || !contains(h.facts("kyoko"), "Pochi") {
			t.Errorf("gone %v; left %q and %q", companions, h.facts("aya"), h.facts("kyoko"))
		}
		left, err := h.keeper.EraseFrom(ctx, "garden", []uint64{turn, turn + 1, turn + 2, turn + 3, turn + 4, turn + 5, turn + 6, turn + 7, turn + 8, turn + 9}, "hana")
		if err != nil || len(left) == 0 || len(h.words("Pochi")) > 0 {
			t.Errorf("%+v %v: %q", left, err, h.words("Pochi"))
		}
		h.again("aya", "kyoko")
		if got := append(h.facts("aya"), h.facts("kyoko")...); len(got) > 0 {
			t.Errorf("after a restart: %q", got)
		}
	})
}

// TestForgetWhileRemembering: what was read of a talk before its words were erased is not remembered afterwards.
func TestForgetWhileRemembering(t *testing.T) {
	asked, goOn := make(chan struct{}), make(chan struct{})
	_ = asked
	in(t, func(h *house) {
		asked, goOn = make(chan struct{}, 9), make(chan struct{})
		h.settings["aya"] = memory.Settings{Model: true}
		h.model = func(ask modelRequest) (string, error) {
			asked <- struct{}{}
			<-goOn
			return "", fmt.Errorf("no model today")
		}
	}, func(t *testing.T, h *house) {
		ctx := context.Background()
		seq := h.say("main", "taro", "My cat is called Tama.")
		h.say("main", "hana", "My dog is called Pochi.")
		rests()
		<-asked
		if err := h.journal.Blank(ctx, "main", 0, map[uint64][]byte{seq: nil}); err != nil {
			t.Fatal(err)
		}
		if gone, err := h.keeper.EraseOf(ctx, "taro", "taro"); err != nil || len(gone) > 0 {
			t.Errorf("%+v %v", gone, err)
		}
		close(goOn)
		sleep(time.Second)
		if got := h.facts("aya"); len(got) != 1 || !contains(got, "Pochi") || len(h.words("Tama")) > 0 || h.asked.Load() != 2 {
			t.Errorf("remembers %q, after %d questions; %q", got, h.asked.Load(), h.words("Tama"))
		}
	})
}

// TestErasedHalfway: a crash after it was written down what is erased, and before the words were taken out.
func TestErasedHalfway(t *testing.T) {
	in(t, nil, func(t *testing.T, h *house) {
		h.say("main", "taro", "My cat is called Tama.")
		rests()
		id := h.remembers("aya")[0].ID
		for _, m := range h.remembers("aya") {
			if m.Kind == abi.MemoryFact {
				id = m.ID
			}
		}
		j := h.journal
		h.journal = noBlank{j}
		h.again("aya")
		_, err := h.keeper.Erase(context.Background(), "aya", []string{id}, "taro")
		wantCode(t, err, abi.CodeUnavailable)
		if where := h.words("called Tama"); len(where) == 0 {
			t.Fatal("the words are gone")
		}
		h.journal = j
		h.again("aya")
		if got := h.facts("aya"); len(got) != 0 || len(h.words("called Tama")) > 0 {
			t.Errorf("remembers %q; %q", got, h.words("called Tama"))
		}
	})
}

// noBlank is a journal that takes no bodies out.
type noBlank struct{ journal.Journal }

func (noBlank) Blank(context.Context, string, uint64, map[uint64][]byte) error {
	return journal.ErrUnavailable
}

// TestModulesAdd: what a module has a companion remember, and what it may not.
func TestModulesAdd(t *testing.T) {
	in(t, nil, func(t *testing.T, h *house) {
		ctx := context.Background()
		seq := h.say("main", "taro", "Let us meet at the old bridge, at seven.")
		m, err := h.keeper.Add(ctx, caller("aya", "main"), abi.MemoryAdd{Text: "taro wants to meet at the old bridge", Quote: "meet at the old bridge", Turn: seq, About: []string{"taro"}})
		if err != nil || m.SaidBy != "taro" || m.Room != "main" || !slices.Equal(m.Turns, []uint64{seq}) || m.Visibility != abi.VisibleRoom || m.SaidAt.IsZero() {
			t.Errorf("%+v %v", m, err)
		}
		own, err := h.keeper.Add(ctx, caller("aya", "main"), abi.MemoryAdd{Text: "I like bridges", Importance: 1})
		if err != nil || own.SaidBy != "" || own.Quote != "" || own.Importance != 1 {
			t.Errorf("%+v %v", own, err)
		}
		if got := h.recall("aya", "main", "Where is the bridge?"); len(got) != 2 || !strings.HasPrefix(got[0], "taro wants") {
			t.Errorf("recalls %q", got)
		}
		for name, tc := range map[string]struct {
			a    abi.MemoryAdd
			room string
			code abi.Code
		}{
			"nothing":               {abi.MemoryAdd{}, "main", abi.CodeInvalid},
			"another quotation":     {abi.MemoryAdd{Text: "x", Quote: "at the new bridge", Turn: seq}, "main", abi.CodeInvalid},
			"a turn of nobody":      {abi.MemoryAdd{Text: "x", Quote: "x", Turn: 9999}, "main", abi.CodeNotFound},
			"an entry that is none": {abi.MemoryAdd{Text: "x", Quote: "x", Turn: 1}, "main", abi.CodeNotFound},
			"a quotation alone":     {abi.MemoryAdd{Text: "x", Quote: "bridge"}, "main", abi.CodeInvalid},
			"a turn alone":          {abi.MemoryAdd{Text: "x", Turn: seq}, "main", abi.CodeInvalid},
			"no room":               {abi.MemoryAdd{Text: "x"}, "", abi.CodeInvalid},
			"replaces nothing":      {abi.MemoryAdd{Text: "x", Replaces: []string{"?"}}, "main", abi.CodeNotFound},
			"a long text":           {abi.MemoryAdd{Text: strings.Repeat("x", abi.MaxMemoryText+1)}, "main", abi.CodeTooLarge},
			"important":             {abi.MemoryAdd{Text: "x", Importance: 6}, "main", abi.CodeInvalid},
			"a kind of its own":     {abi.MemoryAdd{Text: "x", Kind: "dream"}, "main", abi.CodeInvalid},
		} {
			if _, err := h.keeper.Add(ctx, caller("aya", tc.room), tc.a); abi.CodeOf(err) != tc.code {
				t.Errorf("%s: %v", name, err)
			}
		}
		_, err = h.keeper.Recall(ctx, caller("aya", "main"), abi.MemoryAsk{Limit: abi.MaxMemories + 1})
		wantCode(t, err, abi.CodeInvalid)
		h.settings["aya"] = memory.Settings{Off: true}
		_, err = h.keeper.Add(ctx, caller("aya", "main"), abi.MemoryAdd{Text: "x"})
		wantCode(t, err, abi.CodeDenied, "[companion.aya]")
		if got := h.recall("aya", "main", "Where is the bridge?"); len(got) > 0 {
			t.Errorf("recalls %q though it is not to", got)
		}
	})
}

// TestSoManyAddsAMinute for each companion; the window moves.
func TestSoManyAddsAMinute(t *testing.T) {
	in(t, nil, func(t *testing.T, h *house) {
		add := func(who string, i int) error {
			_, err := h.keeper.Add(context.Background(), caller(who, "main"), abi.MemoryAdd{Text: fmt.Sprintf("thing %d is %s", i, strings.Repeat("very ", i))})
			return err
		}
		for i := range abi.MaxMemoryAdds {
			if err := add("aya", i); err != nil {
				t.Fatal(err)
			}
			sleep(time.Second)
		}
		err := add("aya", 99)
		wantCode(t, err, abi.CodeExhausted, "30 a minute")
		if e := abi.AsError(err); e.After != (30 * time.Second).Milliseconds() {
			t.Errorf("%+v", e)
		}
		if err := add("kyoko", 1); err != nil {
			t.Error(err)
		}
		sleep(30 * time.Second)
		if err := add("aya", 98); err != nil {
			t.Error(err)
		}
		wantCode(t, add("aya", 97), abi.CodeExhausted)
	})
}

// TestBodies: what is in a stream reads back as it was written, and has no field that nobody knows.
func TestBodies(t *testing.T) {
	in(t, nil, func(t *testing.T, h *house) {
		h.say("main", "taro", "My cat is called Tama.")
		rests()
		kinds := map[entry.Kind]int{}
		for _, name := range []string{journal.Memory, journal.MemoryOf("aya")} {
			for _, e := range h.read(name) {
				if kinds[e.Kind]++; !json.Valid(e.Body) || e.At.IsZero() || e.V == 0 && e.Kind != entry.KindOwner {
					t.Errorf("%s: %+v", name, e)
				}
			}
		}
		if kinds[entry.KindRemembered] == 0 || kinds[entry.KindRead] != 1 || kinds[entry.KindTalks] != 2 || kinds[entry.KindOwner] != 2 {
			t.Errorf("%v", kinds)
		}
	})
}

// TestEdited: another text is whose who wrote it, and is forgotten with that one as well.
func TestEdited(t *testing.T) {
	in(t, nil, func(t *testing.T, h *house) {
		ctx := context.Background()
		h.say("main", "mika", "My cat is called Tama.")
		rests()
		id := h.remembers("aya")[0].ID
		same, four := "has a cat called Tama", 4
		if m, err := h.keeper.Edit(ctx, "aya", id, memory.Changes{Text: &same, Importance: &four}, "ken"); err != nil || m.EditedBy != "" || m.Quote == "" {
			t.Errorf("the same text: %+v %v", m, err)
		}
		text := "Tama is a dog"
		m, err := h.keeper.Edit(ctx, "aya", id, memory.Changes{Text: &text}, "ken")
		if err != nil || m.EditedBy != "ken" || m.Quote != "" || m.SaidBy != "mika" {
			t.Errorf("%+v %v", m, err)
		}
		h.again("aya")
		if m, err = h.keeper.Get(ctx, "aya", id); err != nil || m.EditedBy != "ken" {
			t.Errorf("after a restart: %+v %v", m, err)
		}
		got, err := h.keeper.Recall(ctx, caller("aya", "main"), abi.MemoryAsk{Text: "Is Tama a dog?", About: []string{"mika"}})
		if err != nil || len(got.Memories) == 0 || got.Memories[0].EditedBy != "ken" {
			t.Errorf("%+v %v", got, err)
		}
		if gone, err := h.keeper.EraseOf(ctx, "ken", "mika"); err != nil || len(gone) != 1 {
			t.Errorf("forgotten with ken: %+v %v", gone, err)
		}
	})
}

// TestWrittenAtADoor: what nobody said in a room is told where those are whom it is about, and everywhere only
// where that was written.
func TestWrittenAtADoor(t *testing.T) {
	in(t, threeRooms(""), func(t *testing.T, h *house) {
		ctx := context.Background()
		for _, w := range []struct {
			text  string
			about []string
			v     abi.Visibility
		}{{"Mika's umbrella is yellow", []string{"mika"}, ""}, {"The boss keeps an umbrella in the car", nil, ""}, {"The umbrella stand is full", nil, abi.VisibleAll}} {
			if _, err := h.keeper.Write(ctx, "aya", abi.MemoryAdd{Text: w.text, About: w.about}, w.v, "boss"); err != nil {
				t.Fatal(err)
			}
		}
		h.say("main", "mika", "Hello.")
		h.say("kitchen", "boss", "Hello.")
		h.say("garden", "taro", "Hello.")
		for room, want := range map[string]string{"main": "yellow full", "kitchen": "car full", "garden": "full"} {
			got := h.recall("aya", room, "Where is the umbrella?")
			for _, word := range []string{"yellow", "car", "full"} {
				if contains(got, word) != slices.Contains(strings.Fields(want), word) {
					t.Errorf("in %s: %q, want %s", room, got, want)
				}
			}
		}
	})
}
