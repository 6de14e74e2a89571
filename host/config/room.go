package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
)

// ReadRoom reads the keys of [room.NAME] from a JSON object instead of a file, with
// the same defaults and the same problems. The Key of a problem is the key alone. If
// one of them is an [Error], the Room is the zero value.
func ReadRoom(name string, object []byte) (Room, []Problem) {
	var values map[string]any
	dec := json.NewDecoder(bytes.NewReader(object))
	dec.UseNumber()
	if err := dec.Decode(&values); err != nil {
		return Room{}, []Problem{{Message: "is no JSON object: " + err.Error(), Severity: Error}}
	}
	p := &parse{keys: settings(), config: Config{origins: map[string]origin{}}, bad: map[string]bool{}}
	t := newTable(sectionRoom, name, p.keys)
	for _, leaf := range slices.Sorted(maps.Keys(values)) {
		key := roomKey(name, leaf)
		s, ok := p.find(sectionRoom, leaf)
		if !ok {
			f := &fault{message: "unknown key " + show(leaf)}
			if near := p.suggest(leaf, sectionRoom, "key"); near != "" {
				f.hint = "did you mean " + show(near) + "?"
			}
			p.report(origin{}, leaf, f)
			continue
		}
		v, faults := s.kind.read(fromJSON(values[leaf]))
		for _, f := range faults {
			p.bad[key] = true
			p.report(origin{}, key, f)
		}
		if len(faults) == 0 {
			store(s.field(nil, t), v)
			p.config.origins[key] = origin{}
		}
	}
	t.room.Name, t.room.Seed = name, cmp.Or(t.room.Seed, name)
	p.checkRoom(t.room)
	for i, problem := range p.problems {
		for _, s := range p.keys {
			if problem.Key == roomKey(name, s.leaf()) {
				p.problems[i].Key = s.leaf()
			}
		}
	}
	sortProblems(p.problems)
	if Failed(p.problems) {
		return Room{}, p.problems
	}
	return t.room, p.problems
}

// fromJSON gives a JSON value as the TOML library would have given it.
func fromJSON(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64() // it is a number, if a large one
		return f
	case []any:
		for i := range v {
			v[i] = fromJSON(v[i])
		}
	}
	return v
}
