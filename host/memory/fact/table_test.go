package fact_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/fact"
)

var start = time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)

// stream is a companion's stream with the table of it.
type stream struct {
	t       testing.TB
	table   *fact.Table
	entries []entry.Entry
	now     time.Time
}

func newStream(t testing.TB, most int) *stream {
	return &stream{t: t, table: fact.NewTable(most), now: start}
}

func (s *stream) write(changes ...fact.Change) (changed []string) {
	s.t.Helper()
	for _, c := range changes {
		body, err := json.Marshal(c.Body)
		if err != nil {
			s.t.Fatal(err)
		}
		e := entry.Entry{Seq: uint64(len(s.entries) + 1), Kind: c.Kind, At: s.now, Body: body}
		s.entries = append(s.entries, e)
		ids, err := s.table.Apply(e)
		if err != nil {
			s.t.Fatal(err)
		}
		changed = append(changed, ids...)
	}
	return changed
}

func (s *stream) add(n fact.New, source, id string) (as string, changed []string) {
	s.t.Helper()
	as, changes, err := s.table.Add(n, source, id, s.now)
	if err != nil {
		s.t.Fatal(err)
	}
	return as, s.write(changes...)
}

// again folds the entries anew.
func (s *stream) again() *fact.Table {
	s.t.Helper()
	table := fact.NewTable(0)
	for _, e := range s.entries {
		if _, err := table.Apply(e); err != nil {
			s.t.Fatal(err)
		}
	}
	return table
}

// cat says what ken's cat is called.
func cat(name string, turn uint64) (n fact.New, source string) {
	source = "猫の名前は" + name + "だよ"
	return fact.New{Slot: "pet.name:cat", Value: name, How: entry.HowRules, Memory: abi.Memory{
		Text: "猫の名前は" + name, Quote: source, About: []string{"ken"}, Room: "main", Turns: []uint64{turn}, SaidBy: "ken",
		SaidAt: start.Add(time.Duration(turn) * time.Minute), Keys: []string{"猫", " 猫 ", ""}, Importance: 4,
	}}, source
}

func (s *stream) cat(name string, turn uint64, id string) (as string, changed []string) {
	s.t.Helper()
	n, source := cat(name, turn)
	return s.add(n, source, id)
}

func TestAddFillsIn(t *testing.T) {
	s := newStream(t, 0)
	s.add(fact.New{How: entry.HowModule, Memory: abi.Memory{Text: " a thing ", Room: "main"}}, "", "a")
	got, ok := s.table.Get("a")
	if !ok || got.Text != "a thing" || got.Kind != abi.MemoryFact || got.Importance != 3 || got.Visibility != abi.VisibleRoom || !got.SaidAt.Equal(start) || !slices.Equal(got.Entries, []uint64{1}) {
		t.Errorf("%+v", got)
	}
	s.cat("タマ", 1, "b")
	if got, _ := s.table.Get("b"); !slices.Equal(got.Keys, []string{"猫"}) {
		t.Errorf("keys %q", got.Keys)
	}
}

func TestAddRefuses(t *testing.T) {
	s := newStream(t, 0)
	for field, change := range map[string]func(*fact.New){
		"memory.quote":      func(n *fact.New) { n.Quote = "猫の名前はミケ" },
		"memory.text":       func(n *fact.New) { n.Text = strings.Repeat("x", abi.MaxMemoryText+1) },
		"memory.kind":       func(n *fact.New) { n.Kind = "dream" },
		"memory.importance": func(n *fact.New) { n.Importance = 6 },
		"memory.visibility": func(n *fact.New) { n.Visibility = "planet" },
		"memory.room":       func(n *fact.New) { n.Room = "" },
		"memory.keys":       func(n *fact.New) { n.Keys = []string{strings.Repeat("x", abi.MaxName+1)} },
		"memory.about":      func(n *fact.New) { n.SaidBy = strings.Repeat("x", abi.MaxName+1) },
		"memory.slot":       func(n *fact.New) { n.Slot = strings.Repeat("x", 300) },
		"memory.value":      func(n *fact.New) { n.Value = strings.Repeat("x", abi.MaxMemoryText+1) },
		"memory.replaces":   func(n *fact.New) { n.Replaces = []string{"nobody"} },
	} {
		n, source := cat("タマ", 1)
		change(&n)
		_, changes, err := s.table.Add(n, source, "a", start)
		var coded *abi.Error
		if !errors.As(err, &coded) || coded.Field != field || len(changes) > 0 {
			t.Errorf("%s: %v, %d changes", field, err, len(changes))
		}
	}
	s.cat("タマ", 1, "a")
	n, source := cat("ソラ", 2)
	if _, _, err := s.table.Add(n, source, "a", start); err == nil {
		t.Error("an id was given twice")
	}
}

// The quotation that is kept is how the source has it.
func TestQuoteIsTheSources(t *testing.T) {
	s := newStream(t, 0)
	n, _ := cat("タマ", 1)
	n.Quote = "名前は タマ"
	s.add(n, "猫の名前は　ﾀﾏ!", "a")
	if got, _ := s.table.Get("a"); got.Quote != "名前は　ﾀﾏ" {
		t.Errorf("%q", got.Quote)
	}
}

func TestSaidAgain(t *testing.T) {
	s := newStream(t, 0)
	s.cat("タマ", 1, "a")
	as, _ := s.cat("ﾀﾏ", 5, "b")
	got, _ := s.table.Get("a")
	if as != "a" || s.table.Len() != 1 || !slices.Equal(got.Turns, []uint64{1, 5}) || !got.Confirmed.Equal(start.Add(5*time.Minute)) || !got.SaidAt.Equal(start.Add(time.Minute)) {
		t.Errorf("as %s: %+v", as, got)
	}
	if as, changed := s.cat("タマ", 5, "c"); as != "a" || len(changed) > 0 {
		t.Errorf("the same turn again changed %v", changed)
	}
	for turn := range uint64(40) {
		s.cat("タマ", 10+turn, "d")
	}
	if got, _ := s.table.Get("a"); len(got.Turns) > 16 || got.Turns[0] != 1 {
		t.Errorf("turns %v", got.Turns)
	}
}

// Where only a room may be told, the same said in another one is remembered there, too.
func TestSaidInAnotherRoom(t *testing.T) {
	s := newStream(t, 0)
	s.cat("タマ", 1, "a")
	n, source := cat("タマ", 1)
	n.Room = "other"
	if as, _ := s.add(n, source, "b"); as != "b" {
		t.Errorf("as %s", as)
	}
	n.Room, n.Visibility = "third", abi.VisiblePerson
	if as, _ := s.add(n, source, "c"); as != "c" {
		t.Errorf("as %s", as)
	}
	n.Room = "fourth"
	if as, _ := s.add(n, source, "d"); as != "c" {
		t.Errorf("as %s", as)
	}
}

func TestRecalledIsNotStored(t *testing.T) {
	s := newStream(t, 0)
	s.cat("タマ", 1, "a")
	for _, text := range []string{"猫の名前はタマ", "猫の名前は、ﾀﾏ。", "覚えていること: 猫の名前はタマ"} {
		as, changed := s.add(fact.New{How: entry.HowModule, Memory: abi.Memory{Text: text, Room: "main"}}, "", "b")
		if as != "a" || len(changed) > 0 {
			t.Errorf("%q was stored as %s", text, as)
		}
	}
	if len(s.entries) != 1 {
		t.Errorf("%d entries", len(s.entries))
	}
}

func TestContradictionCloses(t *testing.T) {
	s := newStream(t, 0)
	s.cat("ミケ", 1, "a")
	n, source := cat("ノラ", 1)
	n.SaidBy, n.About = "mari", []string{"mari"}
	s.add(n, source, "m")
	if _, changed := s.cat("タマ", 5, "b"); !slices.Equal(changed, []string{"b", "a"}) {
		t.Errorf("changed %v", changed)
	}
	old, _ := s.table.Get("a")
	if !old.ValidTo.Equal(start.Add(5*time.Minute)) || old.ValidAt(start.Add(5*time.Minute)) || !old.ValidAt(start.Add(4*time.Minute)) {
		t.Errorf("valid to %v", old.ValidTo)
	}
	if hers, _ := s.table.Get("m"); !hers.ValidTo.IsZero() {
		t.Error("what another person said was closed")
	}
	// The old turn is read once more: nothing is stored twice, and nothing is so again.
	if as, changed := s.cat("ミケ", 1, "c"); as != "a" || len(changed) > 0 {
		t.Errorf("as %s: %v", as, changed)
	}
	// An older turn is read late: it was so until then.
	s.cat("クロ", 3, "d")
	late, _ := s.table.Get("d")
	if !late.ValidTo.Equal(start.Add(5 * time.Minute)) {
		t.Errorf("valid to %v", late.ValidTo)
	}
	if tama, _ := s.table.Get("b"); !tama.ValidTo.IsZero() {
		t.Error("what was said first closed what was said later")
	}
	// ミケ after all.
	if as, _ := s.cat("ミケ", 9, "e"); as != "e" {
		t.Errorf("as %s", as)
	}
}

func TestCorrectsAndReplaces(t *testing.T) {
	s := newStream(t, 0)
	s.cat("ミケ", 1, "a")
	n := fact.New{Memory: abi.Memory{Text: "正しくはタマ", Room: "main", SaidBy: "ken", SaidAt: start.Add(time.Hour)}, Corrects: []string{"ﾐｹ"}}
	s.add(n, "", "b")
	if old, _ := s.table.Get("a"); old.ValidTo.IsZero() {
		t.Error("the wrong name is still so")
	}
	n = fact.New{Memory: abi.Memory{Text: "something else", Room: "main", SaidAt: start.Add(2 * time.Hour)}, Replaces: []string{"b", "a"}}
	s.add(n, "", "c")
	if old, _ := s.table.Get("b"); !old.ValidTo.Equal(start.Add(2 * time.Hour)) {
		t.Errorf("valid to %v", old.ValidTo)
	}
}

func TestTheLeastWorthGoes(t *testing.T) {
	s := newStream(t, 3)
	s.cat("ミケ", 1, "closed")
	s.cat("タマ", 2, "cat")
	s.add(fact.New{Memory: abi.Memory{Text: "a small thing", Room: "main", Importance: 1}}, "", "small")
	s.add(fact.New{Memory: abi.Memory{Text: "one more", Room: "main"}}, "", "d")
	s.add(fact.New{Memory: abi.Memory{Text: "and another", Room: "main"}}, "", "e")
	var ids []string
	for _, f := range s.table.All() {
		ids = append(ids, f.ID)
	}
	if !slices.Equal(ids, []string{"cat", "d", "e"}) {
		t.Errorf("left are %v", ids)
	}
	why := map[entry.Gone]int{}
	for _, e := range s.entries {
		if e.Kind == entry.KindErased {
			gone, _ := entry.Decode[entry.Erased](e)
			why[gone.Why] += len(gone.IDs)
		}
	}
	if why[entry.GoneFull] != 2 {
		t.Errorf("%v", why)
	}
}

func TestRevise(t *testing.T) {
	s := newStream(t, 0)
	s.cat("タマ", 1, "a")
	text, keys, importance, visibility, to := "猫はソラ", []string{"猫", "ソラ", "ソラ"}, 5, abi.VisibleAll, start.Add(time.Hour)
	c, err := s.table.Revise(entry.Revised{Of: "a", By: "ken", Text: &text, Keys: &keys, Importance: &importance, Visibility: &visibility, ValidTo: &to})
	if err != nil {
		t.Fatal(err)
	}
	s.write(c)
	got, _ := s.table.Get("a")
	if got.Text != text || got.Quote != "" || got.Value != "" || len(got.Keys) != 2 || got.Importance != 5 || got.Visibility != abi.VisibleAll || !got.ValidTo.Equal(to) || !slices.Equal(got.Entries, []uint64{1, 2}) {
		t.Errorf("%+v", got)
	}
	empty, seven := "", 7
	for _, r := range []entry.Revised{{Of: "b"}, {Of: "a", Text: &empty}, {Of: "a", Importance: &seven}} {
		if _, err := s.table.Revise(r); err == nil {
			t.Errorf("%+v was taken", r)
		}
	}
}

// left folds the entries anew, of which those that are to be blank are so.
func (s *stream) left() []fact.Fact {
	s.t.Helper()
	was := s.entries
	defer func() { s.entries = was }()
	s.entries = slices.Clone(was)
	for _, seq := range s.table.Blank() {
		s.entries[seq-1].Blank, s.entries[seq-1].Body = true, nil
	}
	return s.again().All()
}

// What was corrected stays so when what corrected it is erased, live and after a restart.
func TestErasedCorrection(t *testing.T) {
	s := newStream(t, 0)
	s.cat("ビスケット", 1, "a")
	s.cat("クッキー", 2, "b")
	s.cat("タマ", 3, "c")
	old, _ := s.table.Get("a")
	if old.ValidTo.IsZero() || old.ClosedBy != "b" {
		t.Fatalf("%+v", old)
	}
	s.write(s.table.Erase([]string{"b", "c"}, "ken")...)
	if got, _ := s.table.Get("a"); !got.ValidTo.Equal(old.ValidTo) {
		t.Errorf("it is so until %v, and was until %v", got.ValidTo, old.ValidTo)
	}
	if left := s.left(); len(left) != 1 || left[0].ID != "a" || !left[0].ValidTo.Equal(old.ValidTo) {
		t.Errorf("after a restart: %+v", left)
	}
}

// A change of which a name or the words were taken out has the rest.
func TestBlankChange(t *testing.T) {
	s := newStream(t, 0)
	s.cat("タマ", 1, "a")
	until := start.Add(time.Hour)
	s.write(fact.Change{Kind: entry.KindRevised, Body: entry.Revised{Of: "a", By: "forgotten-1", Text: new(string), ValidTo: &until}})
	s.entries[1].Blank = true
	if got := s.again().All(); len(got) != 1 || !got[0].ValidTo.Equal(until) || got[0].Text != "猫の名前はタマ" {
		t.Errorf("%+v", got)
	}
}

func TestErase(t *testing.T) {
	s := newStream(t, 0)
	s.cat("タマ", 1, "a")
	s.cat("タマ", 2, "x")
	text := "猫はソラ"
	c, _ := s.table.Revise(entry.Revised{Of: "a", By: "ken", Text: &text})
	s.write(c)
	s.add(fact.New{Memory: abi.Memory{Text: "another", Room: "main"}}, "", "b")
	gone := s.table.Erase([]string{"a", "nothing", "a"}, "ken")
	if len(gone) != 1 {
		t.Fatalf("%+v", gone)
	}
	if c = gone[0]; c.Kind != entry.KindErased {
		t.Error(c.Kind)
	}
	if raw, _ := json.Marshal(c.Body); strings.Contains(string(raw), "猫") || !strings.Contains(string(raw), `"ids":["a"]`) {
		t.Errorf("%s", raw)
	}
	s.write(c)
	if _, ok := s.table.Get("a"); ok || len(s.table.Of(nil, "ken")) > 0 || s.table.Len() != 1 {
		t.Error("it is still there")
	}
	if got := s.table.Blank(); !slices.Equal(got, []uint64{1, 3}) {
		t.Fatalf("to blank: %v", got)
	}
	if _, _, err := s.table.Add(fact.New{Memory: abi.Memory{Text: "another one", Room: "main"}}, "", "a", start); err == nil {
		t.Error("the id of what was erased was given again")
	}
	// One was blanked when the daemon was killed.
	s.entries[0].Blank, s.entries[0].Body = true, json.RawMessage("null")
	if got := s.again().Blank(); !slices.Equal(got, []uint64{3}) {
		t.Fatalf("to blank: %v", got)
	}
	s.entries[2].Blank, s.entries[2].Body = true, json.RawMessage("null")
	if again := s.again(); len(again.Blank()) != 0 || again.Len() != 1 {
		t.Errorf("to blank: %v", again.Blank())
	}
	if len(s.table.Erase([]string{"a"}, "ken")) > 0 {
		t.Error("it was erased twice")
	}
	// A change that was written beside the erasure has words, too.
	s.write(fact.Change{Kind: entry.KindRevised, Body: entry.Revised{Of: "a", By: "ken", Text: &text}})
	if got := s.again().Blank(); !slices.Equal(got, []uint64{6}) {
		t.Errorf("to blank: %v", got)
	}
}

func TestWhose(t *testing.T) {
	s := newStream(t, 0)
	s.cat("タマ", 4, "a")
	s.add(fact.New{Memory: abi.Memory{Text: "they met", Kind: abi.MemoryEpisode, Room: "main", About: []string{"mari", "ken"}, Turns: []uint64{3, 4}}}, "", "b")
	if len(s.table.Of(nil, "ken")) != 2 || len(s.table.Of(nil, "mari")) != 1 || len(s.table.Of(nil, "nobody")) != 0 {
		t.Error("whose is it?")
	}
	if len(s.table.From("main", []uint64{4})) != 2 || len(s.table.From("main", []uint64{3})) != 1 || len(s.table.From("other", []uint64{4})) != 0 {
		t.Error("from where is it?")
	}
	s.write(fact.Change{Kind: entry.KindRead, Body: entry.Read{Room: "main", Upto: 9}}, fact.Change{Kind: entry.KindRead, Body: entry.Read{Room: "main", Upto: 7}})
	if s.table.Read("main") != 9 || s.table.Read("other") != 0 {
		t.Errorf("read up to %d", s.table.Read("main"))
	}
}

func TestVisible(t *testing.T) {
	f := func(v abi.Visibility, room, by string, about ...string) fact.Fact {
		return fact.Fact{Memory: abi.Memory{Visibility: v, Room: room, SaidBy: by, About: about}}
	}
	for _, c := range []struct {
		f    fact.Fact
		room string
		here []string
		want bool
	}{
		{f(abi.VisibleRoom, "a", "ken"), "a", nil, true},
		{f(abi.VisibleRoom, "a", "ken"), "b", []string{"ken"}, false},
		{f("", "a", "ken"), "b", []string{"ken"}, false},
		{f("", "", "ken"), "", []string{"ken"}, false},
		{f("unknown", "a", "ken"), "b", []string{"ken"}, false},
		{f(abi.VisiblePerson, "a", "ken"), "b", []string{"ken"}, true},
		{f(abi.VisiblePerson, "a", "ken", "mari"), "b", []string{"mari"}, false},
		{f(abi.VisiblePerson, "a", "", "mari"), "b", []string{"mari"}, true},
		{f(abi.VisibleAll, "a", "ken"), "b", nil, true},
	} {
		if got := c.f.Visible(nil, c.room, c.here); got != c.want {
			t.Errorf("%+v in %s with %v: %v", c.f.Memory, c.room, c.here, got)
		}
	}
}

func TestApplyPassesOver(t *testing.T) {
	table := fact.NewTable(0)
	for _, e := range []entry.Entry{
		{Seq: 1, Kind: entry.KindSaid, Body: json.RawMessage(`{"text":"x"}`)},
		{Seq: 2, Kind: entry.KindRemembered, Blank: true, Body: json.RawMessage(`null`)},
		{Seq: 3, Kind: entry.KindRevised, Body: json.RawMessage(`{"of":"nobody","text":"x"}`)},
		{Seq: 4, Kind: entry.KindErased, Body: json.RawMessage(`{"ids":["nobody"],"why":"forgotten"}`)},
	} {
		if changed, err := table.Apply(e); len(changed) > 0 || err != nil {
			t.Errorf("%d: %v, %v", e.Seq, changed, err)
		}
	}
	if got := table.Blank(); !slices.Equal(got, []uint64{3}) { // words of what is gone
		t.Errorf("to blank: %v", got)
	}
	if _, err := table.Apply(entry.Entry{Seq: 5, Kind: entry.KindRemembered, Body: json.RawMessage(`[]`)}); err == nil || !strings.Contains(err.Error(), "seq 5") {
		t.Errorf("%v", err)
	}
}

// filled gives a stream of many facts of several people.
func filled(t testing.TB, n int) *stream {
	s := newStream(t, 0)
	for i := range n {
		who := fmt.Sprintf("user%d", i%50)
		text := fmt.Sprintf("%s が好きなものの %d 番目は品物%dで、去年の夏に友達からもらった", who, i, i*7)
		body := entry.Remembered{How: entry.HowRules, Slot: fmt.Sprintf("favourite:thing%d", i), Value: fmt.Sprint(i), Memory: abi.Memory{ID: fmt.Sprintf("m%d", i), Kind: abi.MemoryFact, Text: text, Quote: text,
			About: []string{who}, Keys: []string{"品物", fmt.Sprintf("品物%d", i*7), "好き"}, Room: "main", Turns: []uint64{uint64(i + 1)}, SaidBy: who, SaidAt: start.Add(time.Duration(i) * time.Minute), Importance: 3, Visibility: abi.VisibleRoom}}
		s.write(fact.Change{Kind: entry.KindRemembered, Body: body})
	}
	return s
}

func TestTenThousand(t *testing.T) {
	s := filled(t, fact.MaxFacts)
	least := time.Duration(1 << 62)
	for range 3 {
		from := time.Now()
		if n := s.again().Len(); n != fact.MaxFacts {
			t.Fatalf("%d facts", n)
		}
		least = min(least, time.Since(from))
	}
	t.Logf("10,000 facts are folded in %v", least)
	s.add(fact.New{Memory: abi.Memory{Text: "one more", Room: "main"}}, "", "more")
	if s.table.Len() != fact.MaxFacts {
		t.Errorf("%d facts", s.table.Len())
	}
}

func BenchmarkFold(b *testing.B) {
	s := filled(b, fact.MaxFacts)
	for b.Loop() {
		s.again()
	}
}

// same says whether two tables hold the same.
func same(a, b *fact.Table) bool {
	return reflect.DeepEqual(a.All(), b.All()) && slices.Equal(a.Blank(), b.Blank())
}
