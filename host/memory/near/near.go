// Package near finds what a companion remembers by its meaning: by how near the vectors that a
// model made of texts are to each other.
//
// It makes no vectors and keeps none but those of the table. How near is near it does not know of
// any model: that is what lies beyond texts that have to do with nothing.
package near

import (
	"cmp"
	"math"
	"slices"

	"github.com/companiond/companiond/host/memory/fact"
)

// Vector is a direction: signed bytes.
type Vector []byte

// Of makes a vector of the numbers of a model, nil of what has no direction. What is lost of the cosine is
// some thousandths.
func Of(numbers []float32) Vector {
	most := 0.0
	for _, x := range numbers {
		most = max(most, math.Abs(float64(x))) // NaN stays NaN
	}
	if most == 0 || math.IsNaN(most) || math.IsInf(most, 0) {
		return nil
	}
	v := make(Vector, len(numbers))
	for i, x := range numbers {
		v[i] = byte(int8(math.Round(float64(x) / most * math.MaxInt8)))
	}
	return v
}

// dot multiplies vectors of one length.
func (v Vector) dot(to Vector) float64 {
	to = to[:len(v)]
	var a, b, c, d int32 // 127 * 127 * 130,000 is the most
	i := 0
	for ; i+4 <= len(v); i += 4 {
		a += int32(int8(v[i])) * int32(int8(to[i]))
		b += int32(int8(v[i+1])) * int32(int8(to[i+1]))
		c += int32(int8(v[i+2])) * int32(int8(to[i+2]))
		d += int32(int8(v[i+3])) * int32(int8(to[i+3]))
	}
	for ; i < len(v); i++ {
		a += int32(int8(v[i])) * int32(int8(to[i]))
	}
	return float64(a) + float64(b) + float64(c) + float64(d)
}

func (v Vector) length() float64 { return math.Sqrt(v.dot(v)) }

// Cosine is how near two vectors are: 1 the same, 0 nothing in common. Those of different lengths
// have nothing in common.
func Cosine(a, b Vector) float64 {
	l := a.length() * b.length()
	if len(a) != len(b) || l == 0 {
		return 0
	}
	return a.dot(b) / l
}

// Query asks for what is near to a text.
type Query struct {
	Model string
	Vector
	Floor float64 // cosine; what is farther has nothing to do with it
}

// Index has the vectors of a table side by side. It is not safe for concurrent use.
type Index struct {
	table *fact.Table
	all   []item
	place map[string]int
	count map[kind]int
}

type item struct {
	id string
	kind
	vector Vector
	length float64
}

// kind are vectors that can be compared.
type kind struct {
	model string
	dims  int
}

// NewIndex gives an index of a table as it is now.
func NewIndex(t *fact.Table) *Index {
	ix := &Index{table: t, place: map[string]int{}, count: map[kind]int{}}
	for _, f := range t.All() {
		ix.put(f)
	}
	return ix
}

// Update takes in what [fact.Table.Apply] says has changed.
func (ix *Index) Update(changed []string) {
	for _, id := range changed {
		ix.remove(id)
		if f, ok := ix.table.Get(id); ok {
			ix.put(f)
		}
	}
}

func (ix *Index) put(f fact.Fact) {
	v := Vector(f.Vector.Numbers)
	if length := v.length(); length > 0 {
		it := item{f.ID, kind{f.Vector.Model, len(v)}, v, length}
		ix.place[f.ID] = len(ix.all)
		ix.all = append(ix.all, it)
		ix.count[it.kind]++
	}
}

func (ix *Index) remove(id string) {
	i, ok := ix.place[id]
	if !ok {
		return
	}
	if of := ix.all[i].kind; ix.count[of] == 1 {
		delete(ix.count, of)
	} else {
		ix.count[of]--
	}
	last := len(ix.all) - 1
	ix.all[i] = ix.all[last]
	ix.place[ix.all[i].id] = i
	ix.all[last] = item{}
	ix.all = ix.all[:last]
	delete(ix.place, id)
}

// Count is how many facts have vectors of a model that are so long.
func (ix *Index) Count(model string, dims int) int { return ix.count[kind{model, dims}] }

// Any says whether there is any vector of a model.
func (ix *Index) Any(model string) bool {
	for kind, n := range ix.count {
		if kind.model == model && n > 0 {
			return true
		}
	}
	return false
}

// Has says whether a fact has such a vector.
func (ix *Index) Has(id, model string, dims int) bool {
	i, ok := ix.place[id]
	return ok && ix.all[i].kind == kind{model, dims}
}

// Find gives the ids of what is no farther than the floor, the nearest first.
func (ix *Index) Find(q Query) (ids []string) {
	length := q.length()
	if length == 0 {
		return nil
	}
	type hit struct {
		id  string
		cos float64
	}
	var hits []hit
	for i := range ix.all {
		if it := &ix.all[i]; it.dims == len(q.Vector) && it.model == q.Model {
			if cos := q.dot(it.vector) / (length * it.length); cos >= q.Floor {
				hits = append(hits, hit{it.id, cos})
			}
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(b.cos, a.cos), cmp.Compare(a.id, b.id)) })
	for _, h := range hits {
		ids = append(ids, h.id)
	}
	return ids
}
