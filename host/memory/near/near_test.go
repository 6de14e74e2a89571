package near_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/memory/near"
)

// table folds entries, and keeps an index of what they make.
type table struct {
	t testing.TB
	*fact.Table
	index *near.Index
	seq   uint64
}

func newTable(t testing.TB) *table {
	of := fact.NewTable(0)
	return &table{t: t, Table: of, index: near.NewIndex(of)}
}

func (t *table) apply(kind entry.Kind, body any) {
	t.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.t.Fatal(err)
	}
	t.seq++
	changed, err := t.Apply(entry.Entry{Seq: t.seq, Kind: kind, Body: raw})
	if err != nil {
		t.t.Fatal(err)
	}
	t.index.Update(changed)
}

func (t *table) remember(id string) {
	t.t.Helper()
	t.apply(entry.KindRemembered, entry.Remembered{How: entry.HowDoor, Memory: abi.Memory{ID: id, Kind: abi.MemoryFact, Text: id, Room: "main", Importance: 3}})
}

func (t *table) vector(id, model string, numbers ...float32) {
	t.t.Helper()
	v := near.Of(numbers)
	t.apply(entry.KindVector, entry.Vector{Of: id, Model: model, Dims: len(v), Numbers: v})
}

func TestFind(t *testing.T) {
	m := newTable(t)
	for _, id := range []string{"a", "b", "c", "away", "other", "short", "none"} {
		m.remember(id)
	}
	m.vector("a", "m", 1, 0)
	m.vector("b", "m", 1, 1)
	m.vector("c", "m", 0, 1)
	m.vector("away", "m", -1, 0)
	m.vector("other", "n", 1, 0)
	m.vector("short", "m", 1)
	ask := near.Query{Model: "m", Vector: near.Of([]float32{2, .1}), Floor: .1}
	if got := m.index.Find(ask); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%v", got)
	}
	if ask.Floor = -1; !slices.Equal(m.index.Find(ask), []string{"a", "b", "c", "away"}) {
		t.Errorf("%v", m.index.Find(ask))
	}
	if m.index.Count("m", 2) != 4 || m.index.Count("n", 2) != 1 || m.index.Count("m", 1) != 1 || !m.index.Any("n") || m.index.Any("o") || !m.index.Has("a", "m", 2) || m.index.Has("none", "m", 2) {
		t.Error("counted wrongly")
	}
	text := "another"
	m.apply(entry.KindRevised, entry.Revised{Of: "a", By: "me", Text: &text})
	m.apply(entry.KindErased, entry.Erased{IDs: []string{"other"}, Why: entry.GoneForgotten})
	m.vector("b", "m", -1, -1)
	if ask.Floor = .1; len(m.index.Find(ask)) != 0 || m.index.Any("n") || m.index.Count("m", 2) != 3 {
		t.Errorf("vectors of before are found: %v", m.index.Find(ask))
	}
	if got := m.index.Find(near.Query{Model: "m"}); got != nil {
		t.Errorf("%v", got)
	}
}

func TestOf(t *testing.T) {
	for _, none := range [][]float32{nil, {}, {0, 0}, {1, float32(math.NaN())}, {float32(math.NaN()), 1}, {float32(math.Inf(1)), 1}} {
		if v := near.Of(none); v != nil {
			t.Errorf("%v has the direction %v", none, v)
		}
	}
	if near.Cosine(near.Of([]float32{1, 2}), near.Of([]float32{1})) != 0 || near.Cosine(nil, nil) != 0 {
		t.Error("vectors of other lengths are compared")
	}
}

// TestLittleIsLost: the cosine of what is kept is that of what the model said, but for little.
func TestLittleIsLost(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 800).Draw(rt, "numbers")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		like := r.Float64()
		a, b := make([]float32, n), make([]float32, n)
		var dot, aa, bb float64
		for i := range a {
			x := r.NormFloat64()
			y := like*x + (1-like)*r.NormFloat64()
			a[i], b[i] = float32(x*1e-3), float32(y*1e3)
			dot, aa, bb = dot+float64(a[i])*float64(b[i]), aa+float64(a[i])*float64(a[i]), bb+float64(b[i])*float64(b[i])
		}
		if got, want := near.Cosine(near.Of(a), near.Of(b)), dot/math.Sqrt(aa*bb); math.Abs(got-want) > .01 {
			rt.Fatalf("%v, want %v", got, want)
		}
	})
}

// TestIndexIsTheTables: an index that was kept finds what one finds that is made anew, and no fact that is not there.
func TestIndexIsTheTables(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newTable(t)
		for range rapid.IntRange(1, 60).Draw(rt, "entries") {
			id := fmt.Sprint(rapid.IntRange(0, 9).Draw(rt, "id"))
			switch rapid.IntRange(0, 6).Draw(rt, "kind") {
			case 0:
				m.apply(entry.KindErased, entry.Erased{IDs: []string{id}, Why: entry.GoneForgotten})
			case 1:
				text := rapid.StringN(1, 3, 9).Draw(rt, "text")
				m.apply(entry.KindRevised, entry.Revised{Of: id, Text: &text})
			case 2, 3:
				m.remember(id)
			default:
				m.vector(id, rapid.SampledFrom([]string{"m", "n"}).Draw(rt, "model"), rapid.Float32Range(.1, 1).Draw(rt, "x"), rapid.Float32Range(-1, 1).Draw(rt, "y"))
			}
		}
		anew := near.NewIndex(m.Table)
		for _, model := range []string{"m", "n"} {
			q := near.Query{Model: model, Vector: near.Of([]float32{1, 0}), Floor: .2}
			got := m.index.Find(q)
			if !slices.Equal(got, anew.Find(q)) || m.index.Count(model, 2) != anew.Count(model, 2) || m.index.Any(model) != anew.Any(model) {
				rt.Fatalf("kept: %v, made anew: %v", got, anew.Find(q))
			}
			for _, id := range got {
				if _, ok := m.Get(id); !ok {
					rt.Fatalf("%s is not there", id)
				}
			}
		}
	})
}

// direction is a vector that has as much of topics as is said, and all have the same of one more: with
// many models any two texts are near.
func direction(r *rand.Rand, same, topic float64, topics ...int) near.Vector {
	v := make([]float32, 384)
	for i := range v {
		v[i] = float32(r.NormFloat64() / math.Sqrt(384) * math.Sqrt(1-topic*topic))
	}
	for _, n := range topics {
		v[n] += float32(topic / math.Sqrt(float64(len(topics))))
	}
	for i := range v {
		v[i] *= float32(math.Sqrt(1 - same*same))
	}
	v[383] += float32(same)
	return near.Of(v)
}

// TestFloor: whether a model sees all texts far from each other or near, what has the topic of a
// text is beyond the floor, and of a thousand that have not none is.
func TestFloor(t *testing.T) {
	for _, same := range []float64{0, .3, .6, .85} { // cosines of nothing in common: 0 to .72
		r := rand.New(rand.NewPCG(7, 7))
		var background []near.Vector
		for i := range near.Background() {
			background = append(background, direction(r, same, .7, 100+i))
		}
		text := direction(r, same, .7, 5)
		floor := near.Floor(text, background)
		wrong := 0
		for i := range 1000 {
			if near.Cosine(text, direction(r, same, .7, 10+i%80)) >= floor {
				wrong++
			}
		}
		missed := 0
		for range 100 {
			if near.Cosine(text, direction(r, same, .7, 5)) < floor {
				missed++
			}
		}
		t.Logf("same %.2f: floor %.2f, %d of 1,000 wrong, %d of 100 missed", same, floor, wrong, missed)
		if wrong > 0 || missed > 2 {
			t.Errorf("same %.2f: floor %.2f, %d of 1,000 wrong, %d of 100 missed", same, floor, wrong, missed)
		}
	}
	if !math.IsInf(near.Floor(near.Of([]float32{1}), nil), 1) {
		t.Error("something is near though nothing is known of the model")
	}
}

func BenchmarkFind(b *testing.B) {
	for _, dims := range []int{384, 768, 1536} {
		b.Run(fmt.Sprint(dims), func(b *testing.B) {
			m := newTable(b)
			r := rand.New(rand.NewPCG(1, 2))
			numbers := make([]float32, dims)
			fill := func() []float32 {
				for i := range numbers {
					numbers[i] = float32(r.NormFloat64())
				}
				return numbers
			}
			for i := range fact.MaxFacts {
				m.remember(fmt.Sprint(i))
				m.vector(fmt.Sprint(i), "m", fill()...)
			}
			q := near.Query{Model: "m", Vector: near.Of(fill()), Floor: .2}
			for b.Loop() {
				m.index.Find(q)
			}
		})
	}
}
