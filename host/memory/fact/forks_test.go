package fact_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/memory/lineage"
)

// family is what companions are told in rooms that are forks of one another.
type family struct {
	*stream
	forks map[string]lineage.Fork
	n     int
}

func newFamily(t testing.TB, forks map[string]lineage.Fork) *family {
	return &family{stream: newStream(t, 0), forks: forks}
}

// past gives what a room has lived through, of all rooms.
func (f *family) past(room string) *lineage.Past {
	tree := lineage.NewTree()
	for _, r := range append(f.table.Rooms(), room) {
		err := tree.Learn(r, func(room string) (lineage.Fork, bool, error) { return f.forks[room], true, nil })
		if err != nil {
			f.t.Fatal(err)
		}
	}
	return tree.Past(room)
}

// say has ken say something in a room, or a module write it where there is no turn.
func (f *family) say(room string, turn uint64, text string, change ...func(*fact.New)) (as string) {
	f.t.Helper()
	f.n++
	n := fact.New{How: entry.HowRules, Past: f.past(room), Memory: abi.Memory{Text: text, Quote: text, Room: room, Turns: []uint64{turn}, SaidBy: "ken", SaidAt: start.Add(time.Duration(f.n) * time.Minute)}}
	for _, c := range change {
		c(&n)
	}
	as, _ = f.add(n, text, fmt.Sprint("m", f.n))
	return as
}

// told gives the texts of what is so in a room where ken is, sorted.
func (f *family) told(room string) (texts []string) {
	past := f.past(room)
	for _, all := range f.table.All() {
		if got, known := f.table.In(past, all.ID); known && got.ValidTo.IsZero() && got.Visible(past, room, []string{"ken", "mari"}) {
			texts = append(texts, got.Text)
		}
	}
	slices.Sort(texts)
	return texts
}

func (f *family) want(room string, texts ...string) {
	f.t.Helper()
	if got := f.told(room); !slices.Equal(got, texts) {
		f.t.Errorf("in %s is told %q, want %q", room, got, texts)
	}
}

func slot(name, value string) func(*fact.New) {
	return func(n *fact.New) { n.Slot, n.Value = name, value }
}

func scope(v abi.Visibility) func(*fact.New) { return func(n *fact.New) { n.Visibility = v } }

// three are a room, its fork at 50, a fork of that, another at 20, and a room of its own.
var three = map[string]lineage.Fork{"f": {Of: "a", At: 50}, "g": {Of: "f", At: 60}, "h": {Of: "a", At: 20}}

func TestForksAreApart(t *testing.T) {
	for _, v := range []abi.Visibility{abi.VisibleRoom, abi.VisiblePerson, abi.VisibleAll} {
		f := newFamily(t, three)
		f.say("a", 5, "five", scope(v))
		f.say("a", 40, "forty", scope(v))
		f.say("a", 50, "fifty", scope(v))
		f.say("a", 51, "more than fifty", scope(v))
		f.say("f", 55, "fork", scope(v))
		f.say("f", 70, "of the fork", scope(v))
		f.say("g", 65, "grandchild", scope(v))
		f.want("a", "fifty", "five", "forty", "more than fifty")
		f.want("f", "fifty", "five", "fork", "forty", "of the fork")
		f.want("g", "fifty", "five", "fork", "forty", "grandchild")
		f.want("h", "five")
		if v == abi.VisibleRoom {
			f.want("elsewhere")
		} else {
			f.want("elsewhere", "fifty", "five", "fork", "forty", "grandchild", "more than fifty", "of the fork")
		}
		f.say("elsewhere", 1, "there", scope(v))
		if v != abi.VisibleRoom {
			f.want("h", "five", "there")
		}
	}
}

// What rests on several turns is of those who lived through all of them.
func TestForkOfSeveralTurns(t *testing.T) {
	f := newFamily(t, three)
	f.say("a", 5, "a talk", func(n *fact.New) { n.Kind, n.Quote, n.Turns = abi.MemoryEpisode, "", []uint64{18, 52, 20} })
	f.say("a", 5, "another talk", func(n *fact.New) { n.Kind, n.Quote, n.Turns = abi.MemoryEpisode, "", []uint64{18, 20} })
	// A module's own words rest on no turn, but on when they were written.
	f.say("a", 0, "its own words", func(n *fact.New) { n.Quote, n.Turns, n.Upto = "", nil, 20 })
	f.say("a", 0, "later words", func(n *fact.New) { n.Quote, n.Turns, n.Upto = "", nil, 30 })
	f.say("a", 0, "words of before there were forks", func(n *fact.New) { n.Quote, n.Turns = "", nil })
	f.want("h", "another talk", "its own words")
	f.want("f", "another talk", "its own words", "later words")
	f.want("a", "a talk", "another talk", "its own words", "later words", "words of before there were forks")
}

func TestForkKeepsWhatWasSo(t *testing.T) {
	f := newFamily(t, three)
	f.say("a", 5, "Tama", slot("cat", "Tama"))
	f.say("a", 60, "Mike", slot("cat", "Mike"))
	f.want("f", "Tama")
	f.want("a", "Mike")
	// What the fork closes is so where it was, and the other way round.
	f.say("f", 55, "Kuro", slot("cat", "Kuro"))
	f.want("f", "Kuro")
	f.want("a", "Mike")
	f.want("h", "Tama")
	f.say("a", 61, "Sora", slot("cat", "Sora"))
	f.want("a", "Sora")
	f.want("f", "Kuro")
	f.want("g", "Kuro")
	// What is said in no room of them closes all.
	f.say("elsewhere", 1, "Tora", slot("cat", "Tora"), scope(abi.VisiblePerson))
	for _, room := range []string{"a", "f", "g", "h", "elsewhere"} {
		f.want(room, "Tora")
	}
}

func TestForkCorrects(t *testing.T) {
	f := newFamily(t, three)
	f.say("a", 5, "Tama", slot("cat", "Tama"))
	f.say("a", 60, "not Tama", func(n *fact.New) { n.Corrects = []string{"Tama"} })
	f.want("f", "Tama")
	f.say("f", 60, "no Tama", func(n *fact.New) { n.Corrects = []string{"Tama"} })
	f.want("f", "no Tama")
	f.want("h", "Tama")
	// A module closes only what is known in its room.
	id := f.say("a", 62, "of a alone")
	n := fact.New{Memory: abi.Memory{Text: "instead", Room: "f"}, Upto: 70, Past: f.past("f"), Replaces: []string{id}}
	if _, _, err := f.table.Add(n, "", "x", start); abi.CodeOf(err) != abi.CodeNotFound {
		t.Errorf("it closed what is not known there: %v", err)
	}
	// Nor is it told that the same is known.
	n.Replaces, n.Text = nil, "of a alone"
	if as, _, err := f.table.Add(n, "", "x", start); err != nil || as != "x" {
		t.Errorf("as %s %v", as, err)
	}
}

// What was said again behind where they parted is in the fork as it was, and what is said again there is so there.
func TestForkOfSaidAgain(t *testing.T) {
	f := newFamily(t, three)
	id := f.say("a", 5, "Tama", slot("cat", "Tama"))
	f.say("a", 15, "Tama!", slot("cat", "Tama"))
	f.say("a", 60, "Tama!!", slot("cat", "Tama"))
	if as := f.say("f", 55, "Tama?", slot("cat", "Tama")); as != id || f.table.Len() != 1 {
		t.Fatalf("as %s", as)
	}
	for room, want := range map[string]struct {
		turns []uint64
		at    int
	}{"a": {[]uint64{5, 15, 60}, 3}, "h": {[]uint64{5, 15}, 2}, "f": {[]uint64{5, 15}, 4}} {
		got, known := f.table.In(f.past(room), id)
		if !known || !slices.Equal(got.Turns, want.turns) || !got.Confirmed.Equal(start.Add(time.Duration(want.at)*time.Minute)) {
			t.Errorf("in %s: %v, %v", room, got.Turns, got.Confirmed)
		}
	}
	for i := range 1000 {
		f.say("a", uint64(100+i), "Tama", slot("cat", "Tama"))
	}
	if got, _ := f.table.In(f.past("h"), id); got.Turns[0] != 5 || slices.Max(got.Turns) > 20 {
		t.Errorf("%v", got.Turns)
	}
}

// What a person changes at a door is so in all rooms.
func TestForksAndDoors(t *testing.T) {
	f := newFamily(t, three)
	id := f.say("a", 5, "Tama", slot("cat", "Tama"))
	f.say("a", 60, "Mike", slot("cat", "Mike"))
	text, to, still := "Tama the cat", start.Add(time.Hour), time.Time{}
	revise := func(r entry.Revised) {
		r.Of, r.By = id, "hana"
		c, err := f.table.Revise(r)
		if err != nil {
			t.Fatal(err)
		}
		f.write(c)
	}
	revise(entry.Revised{Text: &text})
	f.want("f", "Tama the cat")
	revise(entry.Revised{ValidTo: &to})
	f.want("f")
	f.want("a", "Mike")
	revise(entry.Revised{ValidTo: &still})
	f.want("f", "Tama the cat")
	f.want("a", "Mike", "Tama the cat")
	f.add(fact.New{How: entry.HowDoor, Memory: abi.Memory{Text: "from a door", SaidBy: "hana", Visibility: abi.VisibleAll}, Replaces: []string{id}}, "", "door")
	f.want("h", "from a door")
	f.write(f.table.Erase([]string{"door"}, "hana")...)
	f.want("h")
}

// What was closed stays so where it was when what closed it is erased, and nowhere else; also after a restart.
func TestForksAndErasing(t *testing.T) {
	f := newFamily(t, three)
	f.say("a", 5, "Tama", slot("cat", "Tama"))
	a := f.say("a", 60, "Mike", slot("cat", "Mike"))
	b := f.say("f", 55, "Kuro", slot("cat", "Kuro"))
	check := func() {
		t.Helper()
		f.want("a")
		f.want("f")
		f.want("h", "Tama")
	}
	f.write(f.table.Erase([]string{a, b}, "ken")...)
	check()
	for _, seq := range f.table.Blank() {
		f.entries[seq-1].Blank, f.entries[seq-1].Body = true, nil
	}
	f.table = f.again()
	check()
	f.say("elsewhere", 1, "Tora", slot("cat", "Tora"))
	f.want("h")
}

// said is something that was said in a world.
type said struct {
	id   string
	room string
	turn uint64
	new  fact.New
}

// world has rooms that are forked as it comes, and plainly remembers for each what it lived through.
type world struct {
	*family
	rt      *rapid.T
	rooms   []string
	head    map[string]uint64
	pending map[string][]said
	past    []any // said, or func(table, as)
	late    bool
	changes bool
	scope   abi.Visibility
}

// TestForksAlone: whatever is said, forked, closed, corrected, changed and erased, in each room is told what would be had all that
// it has not lived through never been said.
func TestForksAlone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := &world{family: newFamily(t, map[string]lineage.Fork{}), rt: rt, rooms: []string{"a"}, head: map[string]uint64{}, pending: map[string][]said{}}
		// Late readings and rooms of other families have the same be remembered twice, of which a door
		// changes one, and which close each other: so only one of these.
		switch rapid.SampledFrom([]string{"changes", "late", "others"}).Draw(rt, "with") {
		case "changes":
			w.changes = true
		case "late":
			w.late = true
		case "others":
			w.rooms = []string{"a", "z"}
		}
		w.scope = rapid.SampledFrom([]abi.Visibility{abi.VisibleRoom, abi.VisiblePerson, abi.VisibleAll}).Draw(rt, "scope")
		for i := range rapid.IntRange(1, 40).Draw(rt, "steps") {
			w.now = start.Add(time.Duration(i) * time.Hour)
			w.step(fmt.Sprint("m", i))
		}
		for _, room := range w.rooms {
			w.read(room)
		}
		w.check()
		w.table = w.again()
		w.check()
	})
}

func (w *world) step(id string) {
	rt := w.rt
	room := rapid.SampledFrom(w.rooms).Draw(rt, "room")
	switch rapid.SampledFrom([]string{"say", "say", "say", "say", "fork", "change"}).Draw(rt, "step") {
	case "say":
		w.head[room]++
		w.speak(id, room)
		if !w.late || rapid.Bool().Draw(rt, "reads") {
			w.read(room)
		}
	case "fork":
		if w.head[room] > 0 && len(w.rooms) < 7 {
			fork, at := fmt.Sprint(room, len(w.rooms)), rapid.Uint64Range(1, w.head[room]).Draw(rt, "at")
			w.forks[fork], w.head[fork] = lineage.Fork{Of: room, At: at}, at
			w.rooms = append(w.rooms, fork)
		}
	case "change":
		// What is so where it was said: of what is not there may be another by now.
		all := slices.DeleteFunc(w.table.All(), func(f fact.Fact) bool {
			here, _ := w.table.In(w.family.past(f.Room), f.ID)
			return !here.ValidTo.IsZero()
		})
		if w.changes && len(all) > 0 {
			w.change(rapid.SampledFrom(all).Draw(rt, "of").ID)
		}
	}
}

// speak has somebody say something, which is read later.
func (w *world) speak(id, room string) {
	rt := w.rt
	n := fact.New{How: entry.HowRules, Slot: rapid.SampledFrom([]string{"cat", "cat", "name", ""}).Draw(rt, "slot"), Value: rapid.SampledFrom([]string{"Tama", "Mike", "Kuro"}).Draw(rt, "value")}
	n.Memory = abi.Memory{Room: room, Turns: []uint64{w.head[room]}, SaidBy: rapid.SampledFrom([]string{"ken", "mari"}).Draw(rt, "who"), SaidAt: w.now, Visibility: w.scope}
	// What was said again counts from when it was first said, and not in other branches: only of others is that compared.
	if w.changes || w.late {
		n.Value = id
	}
	if all := w.table.All(); w.changes && len(all) > 0 && rapid.IntRange(0, 3).Draw(rt, "corrects") == 0 {
		n.Corrects = []string{rapid.SampledFrom(all).Draw(rt, "wrong").Value}
	}
	n.Text = n.Slot + " " + n.Value
	n.Quote = n.Text
	w.pending[room] = append(w.pending[room], said{id, room, w.head[room], n})
}

// read goes through what was said in a room.
func (w *world) read(room string) {
	for _, s := range w.pending[room] {
		w.past = append(w.past, s)
		s.new.Past = w.family.past(room)
		w.add(s.new, s.new.Text, s.id)
	}
	delete(w.pending, room)
}

// change has a person change or erase something at a door.
func (w *world) change(id string) {
	to, text := w.now, "door's "+id
	what := rapid.SampledFrom([]*entry.Revised{{ValidTo: &to}, {Text: &text}, nil}).Draw(w.rt, "what")
	do := func(s *stream, id string) {
		if _, there := s.table.Get(id); !there {
			return
		}
		if what == nil {
			s.write(s.table.Erase([]string{id}, "hana")...)
			return
		}
		r := *what
		r.Of, r.By = id, "hana"
		c, err := s.table.Revise(r)
		if err != nil {
			w.rt.Fatal(err)
		}
		s.write(c)
	}
	w.past = append(w.past, func(s *stream, as map[string]string) {
		if as[id] != "" {
			do(s, as[id])
		}
	})
	do(w.stream, id)
}

// upto gives what of the rooms of its family a room has lived through, and all names of that family, plainly.
func (w *world) upto(room string) (upto map[string]uint64) {
	upto = map[string]uint64{room: math.MaxUint64}
	for at := uint64(math.MaxUint64); w.forks[room].Of != ""; room = w.forks[room].Of {
		at = min(at, w.forks[room].At)
		upto[w.forks[room].Of] = at
	}
	return upto
}

// alone gives what a room remembers to which only that was ever told which it lived through.
func (w *world) alone(room string) *stream {
	s, as, upto := newStream(w.t, 0), map[string]string{}, w.upto(room)
	for _, p := range w.past {
		switch p := p.(type) {
		case said:
			at, ours := upto[p.room]
			if !ours && p.room[0] == room[0] || ours && p.turn > at {
				continue
			}
			if ours {
				p.new.Room = room
			}
			s.now = w.now
			as[p.id], _ = s.add(p.new, p.new.Text, p.id)
		case func(*stream, map[string]string):
			p(s, as)
		}
	}
	return s
}

func (w *world) check() {
	for _, room := range w.rooms {
		got, want := map[string]bool{}, map[string]bool{}
		past := w.family.past(room)
		for _, all := range w.table.All() {
			if f, known := w.table.In(past, all.ID); known && f.ValidTo.IsZero() && f.Visible(past, room, []string{"ken", "mari"}) {
				got[f.SaidBy+": "+f.Text] = true
			}
		}
		for _, f := range w.alone(room).table.All() {
			if f.ValidTo.IsZero() && f.Visible(nil, room, []string{"ken", "mari"}) {
				want[f.SaidBy+": "+f.Text] = true
			}
		}
		if !maps.Equal(got, want) {
			var log strings.Builder
			for _, p := range w.past {
				if p, ok := p.(said); ok {
					fmt.Fprintf(&log, "\n%s %s/%d %s at %v corrects %v", p.id, p.room, p.turn, p.new.SaidBy+": "+p.new.Text, p.new.SaidAt.Sub(start), p.new.Corrects)
				} else {
					fmt.Fprintf(&log, "\na change")
				}
			}
			for _, e := range w.entries {
				fmt.Fprintf(&log, "\n%s %s", e.Kind, e.Body)
			}
			w.rt.Fatalf("in %s is told %v, alone %v; forks %v%s", room, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)), w.forks, log.String())
		}
	}
}

// What is erased had come in the place of something, and something else in its place: that stays closed, also for
// a fork that knows nothing of what was erased; and what closes it next does.
func TestForksAndErasedBetween(t *testing.T) {
	f := newFamily(t, three)
	f.say("a", 5, "Tama", slot("cat", "Tama"), scope(abi.VisiblePerson))
	between := f.say("a", 60, "Mike", slot("cat", "Mike"), scope(abi.VisiblePerson))
	f.say("elsewhere", 1, "Tora", slot("cat", "Tora"), scope(abi.VisiblePerson))
	f.want("f", "Tora")
	f.write(f.table.Erase([]string{between}, "ken")...)
	f.want("f", "Tora")
	for _, seq := range f.table.Blank() {
		f.entries[seq-1].Blank, f.entries[seq-1].Body = true, nil
	}
	f.table = f.again()
	f.want("f", "Tora")
	f.want("a", "Tora")

	f = newFamily(t, three)
	f.say("a", 5, "Tama", slot("cat", "Tama"), scope(abi.VisiblePerson))
	f.write(f.table.Erase([]string{f.say("a", 60, "Mike", slot("cat", "Mike"))}, "ken")...)
	f.want("f", "Tama")
	f.say("elsewhere", 1, "Tora", slot("cat", "Tora"), scope(abi.VisiblePerson))
	f.want("f", "Tora")
}

// What somebody wrote by hand has left its slot: erased is what had come in its place elsewhere, and what came in the
// place of that does not close it.
func TestForksAndErasedBehindAnEdit(t *testing.T) {
	f := newFamily(t, map[string]lineage.Fork{"f": {Of: "a", At: 1}, "g": {Of: "a", At: 1}})
	edited := f.say("f", 2, "Tama", slot("cat", "Tama"))
	between := f.say("g", 2, "Mike", slot("cat", "Mike"))
	text := "Tama, by hand"
	c, err := f.table.Revise(entry.Revised{Of: edited, By: "mari", Text: &text})
	if err != nil {
		t.Fatal(err)
	}
	f.write(c)
	f.say("f", 3, "Kuro", slot("cat", "Kuro"))
	f.want("f", "Kuro", "Tama, by hand")
	f.write(f.table.Erase([]string{between}, "ken")...)
	f.want("f", "Kuro", "Tama, by hand")
	f.table = f.again()
	f.want("f", "Kuro", "Tama, by hand")
}

// What is read late was said before what came in its place in one of them, and is what is so in the others.
func TestForksReadLate(t *testing.T) {
	f := newFamily(t, three)
	f.say("a", 5, "Tama", slot("cat", "Tama"), scope(abi.VisiblePerson))
	f.n++
	f.say("f", 60, "Kuro", slot("cat", "Kuro"), scope(abi.VisiblePerson))
	f.say("elsewhere", 1, "Tora", slot("cat", "Tora"), scope(abi.VisiblePerson), func(n *fact.New) { n.SaidAt = start.Add(2 * time.Minute) })
	f.want("f", "Kuro")
	f.want("a", "Tora")
	f.want("h", "Tora")
	f.want("elsewhere", "Kuro")
}
