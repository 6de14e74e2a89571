package recall_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/memory/recall"
)

var now = time.Date(2026, 11, 23, 20, 0, 0, 0, time.FixedZone("JST", 9*3600))

type memory struct {
	t     testing.TB
	table *fact.Table
	index *recall.Index
	seq   uint64
}

func newMemory(t testing.TB) *memory {
	table := fact.NewTable(0)
	return &memory{t: t, table: table, index: recall.NewIndex(table)}
}

func (m *memory) apply(kind entry.Kind, body any) {
	m.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		m.t.Fatal(err)
	}
	m.seq++
	changed, err := m.table.Apply(entry.Entry{Seq: m.seq, Kind: kind, Body: raw})
	if err != nil {
		m.t.Fatal(err)
	}
	m.index.Update(changed)
}

// put remembers something of somebody; what is left open is as usual.
func (m *memory) put(id, who, slot, text string, change ...func(*entry.Remembered)) {
	m.t.Helper()
	r := entry.Remembered{Slot: slot, How: entry.HowRules, Memory: abi.Memory{ID: id, Kind: abi.MemoryFact, Text: text, SaidBy: who, About: []string{who}, Room: "main",
		SaidAt: now.Add(-time.Hour), Importance: 3, Visibility: abi.VisibleRoom}}
	for _, c := range change {
		c(&r)
	}
	m.apply(entry.KindRemembered, r)
}

func ids(found []recall.Found) (ids []string) {
	for _, f := range found {
		ids = append(ids, f.ID)
	}
	return ids
}

// family is a memory of two people.
func family(t testing.TB) *memory {
	m := newMemory(t)
	m.put("name", "ken", "name", "名前はケンジ")
	m.put("cat", "ken", "pet.name:cat", "猫の名前はタマ")
	m.put("dog", "ken", "pet.name:dog", "has a dog called Rex")
	m.put("ramen", "ken", "taste:ramen", "ラーメンが好き")
	m.put("her name", "mari", "name", "名前はマリ")
	m.put("her cat", "mari", "pet.name:cat", "猫の名前はソラ")
	m.put("trip", "mari", "plan:trip", "2026-12-05: 来週の土曜に沖縄へ行く", func(r *entry.Remembered) { r.Keys = []string{"2026-12-05", "沖縄"} })
	return m
}

// What people ask for finds what they are told of themselves first.
func TestAsked(t *testing.T) {
	m := family(t)
	for _, c := range []struct{ who, words, want string }{
		{"ken", "わたしの名前おぼえてる?", "name"},
		{"ken", "私の猫の名前は?", "cat"},
		{"mari", "私の猫の名前は?", "her cat"},
		{"mari", "what's my cat called?", "her cat"},
		{"ken", "うちのねこ、なんて名前?", "cat"},
		{"ken", "what is my dog's name?", "dog"},
		{"ken", "俺の犬の名前おぼえてる?", "dog"},
		{"mari", "who am I?", "her name"},
		{"mari", "沖縄楽しみだなあ", "trip"},
		{"mari", "来週の土曜って何かあったっけ", "trip"},
		{"mari", "12月5日ってあいてる?", "trip"},
		{"ken", "I'm hungry, some ramen would be nice", "ramen"},
		{"ken", "お昼にらーめん食べた", "ramen"},
	} {
		got := m.index.Find(recall.Query{Text: c.words, About: []string{c.who}, Room: "main", At: now})
		if len(got) == 0 || got[0].ID != c.want {
			t.Errorf("%s asks %q: %v, want %s first", c.who, c.words, ids(got), c.want)
		}
	}
}

func TestNothingRelated(t *testing.T) {
	m := family(t)
	for _, text := range []string{"いい天気だね", "どうして空は青いの?", "Tell me a joke", "ありがとうございます", "…", "量子力学"} {
		if got := m.index.Find(recall.Query{Text: text, About: []string{"ken"}, Room: "main", At: now}); len(got) != 0 {
			t.Errorf("%q: %v", text, ids(got))
		}
	}
	if got := newMemory(t).index.Find(recall.Query{At: now}); len(got) != 0 {
		t.Errorf("%v of nothing", ids(got))
	}
}

// Without a text: the most important and the newest.
func TestNewest(t *testing.T) {
	m := newMemory(t)
	at := func(hours, importance int) func(*entry.Remembered) {
		return func(r *entry.Remembered) {
			r.SaidAt, r.Importance = now.Add(-time.Duration(hours)*time.Hour), importance
		}
	}
	m.put("old", "ken", "", "old", at(5000, 3))
	m.put("new", "ken", "", "new", at(1, 3))
	m.put("old and grave", "ken", "", "old and grave", at(5000, 5))
	m.put("hers", "mari", "", "hers", at(0, 5))
	if got := ids(m.index.Find(recall.Query{Room: "main", At: now, About: []string{"ken"}})); !slices.Equal(got, []string{"new", "old and grave", "old"}) {
		t.Errorf("%v", got)
	}
	if got := ids(m.index.Find(recall.Query{Room: "main", At: now, Limit: 1})); !slices.Equal(got, []string{"hers"}) {
		t.Errorf("%v", got)
	}
	got := m.index.Find(recall.Query{Room: "main", At: now, About: []string{"mari"}})
	if want := 1 + 1.0; math.Abs(got[0].Score-want) > 1e-9 {
		t.Errorf("score %v, want %v", got[0].Score, want)
	}
	// What was said again is new.
	m.apply(entry.KindRevised, entry.Revised{Of: "old", Again: &entry.Again{Room: "main", Turn: 9, At: now}})
	if got := ids(m.index.Find(recall.Query{Room: "main", At: now, About: []string{"ken"}})); got[0] != "old" {
		t.Errorf("%v", got)
	}
}

func TestPast(t *testing.T) {
	m := family(t)
	m.put("new cat", "ken", "pet.name:cat", "猫の名前はクロ", func(r *entry.Remembered) { r.Closes = []string{"cat"}; r.SaidAt = now })
	q := recall.Query{Text: "私の猫の名前は?", About: []string{"ken"}, Room: "main", At: now}
	if got := ids(m.index.Find(q)); got[0] != "new cat" || slices.Contains(got, "cat") {
		t.Errorf("%v", got)
	}
	q.Past = true
	if got := ids(m.index.Find(q)); !slices.Contains(got, "cat") {
		t.Errorf("%v", got)
	}
	m.apply(entry.KindErased, entry.Erased{IDs: []string{"new cat"}, Why: entry.GoneForgotten})
	if got := ids(m.index.Find(q)); slices.Contains(got, "new cat") {
		t.Errorf("%v", got)
	}
}

// A word that many facts have says little: one that few have comes first.
func TestCommonWords(t *testing.T) {
	m := newMemory(t)
	for i := range 60 {
		m.put(fmt.Sprintf("m%02d", i), "ken", "", fmt.Sprintf("配信の話%d", i))
	}
	m.put("rare", "ken", "", "配信で編集を手伝った", func(r *entry.Remembered) { r.SaidAt = now.Add(-2000 * time.Hour) })
	got := m.index.Find(recall.Query{Text: "配信の編集", Room: "main", At: now})
	if len(got) != 1 || got[0].ID != "rare" {
		t.Errorf("%v", ids(got))
	}
}

func TestLimit(t *testing.T) {
	m := newMemory(t)
	for i := range 200 {
		m.put(fmt.Sprintf("m%03d", i), "ken", "", "thing")
	}
	for limit, want := range map[int]int{0: 8, 3: 3, 1000: abi.MaxMemories, -1: 8} {
		if got := len(m.index.Find(recall.Query{Room: "main", At: now, Limit: limit})); got != want {
			t.Errorf("limit %d: %d", limit, got)
		}
	}
}

// Ranks are joined: what both ways find comes first, and what only vectors find comes too,
// but nothing that may not be told.
func TestNear(t *testing.T) {
	m := family(t)
	m.put("secret", "ken", "", "a secret", func(r *entry.Remembered) { r.Room = "other" })
	got := m.index.Find(recall.Query{Text: "沖縄", Room: "main", At: now, Near: []string{"secret", "ramen", "trip", "nothing"}})
	if !slices.Equal(ids(got), []string{"trip", "ramen"}) {
		t.Fatalf("%v", ids(got))
	}
	if want := 1.0/61 + 1.0/62; math.Abs(got[0].Score-want) > 1e-12 {
		t.Errorf("score %v, want %v", got[0].Score, want)
	}
}

// TestLaws: whatever is asked, nothing is told where it may not be told, nothing that is no
// longer so is told as if it were, and nothing that was erased; no more than asked for; and an index that
// was kept finds the same as one that is made anew.
func TestLaws(t *testing.T) {
	words := rapid.SampledFrom([]string{"猫の名前", "沖縄", "cat", "ラーメンが好き", "私の猫", "誕生日", "exam tomorrow", "タマ", ""})
	rapid.Check(t, func(rt *rapid.T) {
		m := newMemory(t)
		for i := range rapid.IntRange(1, 25).Draw(rt, "facts") {
			id := fmt.Sprint(i)
			m.put(id, rapid.SampledFrom([]string{"ken", "mari"}).Draw(rt, "who"), rapid.SampledFrom([]string{"", "name", "pet.name:cat"}).Draw(rt, "slot"), words.Draw(rt, "text")+" "+id, func(r *entry.Remembered) {
				r.Room = rapid.SampledFrom([]string{"main", "other"}).Draw(rt, "room")
				r.Visibility = rapid.SampledFrom([]abi.Visibility{"", abi.VisibleRoom, abi.VisiblePerson, abi.VisibleAll}).Draw(rt, "visibility")
				if i > 0 && rapid.Bool().Draw(rt, "closes") {
					r.Closes = []string{fmt.Sprint(rapid.IntRange(0, i-1).Draw(rt, "closed"))}
				}
			})
			if rapid.IntRange(0, 5).Draw(rt, "erases") == 0 {
				m.apply(entry.KindErased, entry.Erased{IDs: []string{fmt.Sprint(rapid.IntRange(0, i).Draw(rt, "erased"))}, Why: entry.GoneForgotten})
			}
		}
		q := recall.Query{Text: words.Draw(rt, "asked"), Room: rapid.SampledFrom([]string{"main", "other", ""}).Draw(rt, "in"), At: now,
			Present: rapid.SampledFrom([][]string{nil, {"ken"}, {"mari", "ken"}}).Draw(rt, "present"), About: rapid.SampledFrom([][]string{nil, {"ken"}}).Draw(rt, "about"), Limit: rapid.IntRange(0, 60).Draw(rt, "limit")}
		if rapid.Bool().Draw(rt, "vectors") {
			q.Near = []string{"3", "1", "0", "7"}
		}
		got := m.index.Find(q)
		if limit := min(max(q.Limit, 8*b(q.Limit == 0)), abi.MaxMemories); len(got) > limit {
			rt.Fatalf("%d found, the limit is %d", len(got), limit)
		}
		for _, f := range got {
			now, ok := m.table.Get(f.ID)
			switch {
			case !ok:
				rt.Fatalf("%s was erased", f.ID)
			case !now.ValidTo.IsZero():
				rt.Fatalf("%s is no longer so", f.ID)
			case now.Visibility == abi.VisibleAll:
			case now.Visibility == abi.VisiblePerson && slices.Contains(q.Present, now.SaidBy):
			case now.Visibility != abi.VisiblePerson && now.Room == q.Room:
			default:
				rt.Fatalf("%s of room %s (%s, said by %s) is told in %q with %v", f.ID, now.Room, now.Visibility, now.SaidBy, q.Room, q.Present)
			}
		}
		if anew := recall.NewIndex(m.table).Find(q); !slices.Equal(ids(got), ids(anew)) {
			rt.Fatalf("kept: %v, made anew: %v", ids(got), ids(anew))
		}
	})
}

func b(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func FuzzFind(f *testing.F) {
	m := family(f)
	f.Add("猫の名前は? what's my cat's name 来週の土曜")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > abi.MaxText {
			return
		}
		for _, got := range m.index.Find(recall.Query{Text: text, About: []string{"ken"}, Room: "elsewhere", At: now}) {
			t.Fatalf("%q is told elsewhere", got.Text)
		}
	})
}

func BenchmarkFind(b *testing.B) {
	m := newMemory(b)
	for i := range fact.MaxFacts {
		m.put(fmt.Sprintf("m%d", i), fmt.Sprintf("user%d", i%50), "", fmt.Sprintf("好きなものの%d番目は品物%dで、沖縄で買った", i, i*7))
	}
	for b.Loop() {
		m.index.Find(recall.Query{Text: "去年の沖縄で買った品物77、覚えてる?", About: []string{"user1"}, Room: "main", At: now})
	}
}

// Words that rules put together are told where they fit very well, and always to whoever looks after the house.
func TestEpisodesByRules(t *testing.T) {
	table := fact.NewTable(0)
	body, _ := json.Marshal(entry.Remembered{How: entry.HowRules, Memory: abi.Memory{ID: "e", Kind: abi.MemoryEpisode, Text: "2026-11-23: talked with mika about cat, Kyoto", About: []string{"mika"}, Keys: []string{"cat", "kyoto"}, Room: "main", Importance: 2}})
	if _, err := table.Apply(entry.Entry{Seq: 1, Kind: entry.KindRemembered, Body: body}); err != nil {
		t.Fatal(err)
	}
	ix := recall.NewIndex(table)
	for _, c := range []struct {
		q    recall.Query
		want int
	}{
		{recall.Query{Text: "Did I tell you of my cat in Kyoto?"}, 1}, {recall.Query{Text: "I like my cat"}, 0}, {recall.Query{}, 0}, {recall.Query{Text: "purring", Near: []string{"e"}}, 0},
		{recall.Query{Text: "I like my cat", Everywhere: true}, 1}, {recall.Query{Everywhere: true}, 1},
	} {
		c.q.Room = "main"
		if got := ix.Find(c.q); len(got) != c.want {
			t.Errorf("%+v: %+v", c.q, got)
		}
	}
}
