package config

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
)

// ReadRoom reads the keys of [room.NAME] from a JSON object instead of a file, with
// the same defaults and the same problems. The Key of a problem is the key alone. If
// one of them is an [Error], the Room is the zero value.
func ReadRoom(name string, object []byte) (Room, []Problem) {
	var keys map[string]any
	dec := json.NewDecoder(bytes.NewReader(object))
	dec.UseNumber()
	if err := dec.Decode(&keys); err != nil {
		return Room{}, []Problem{{Message: "is no JSON object: " + err.Error(), Severity: Error}}
	}
	p := newParse("")
	all := sections()
	r := Room{Name: name}
	room := all[slices.IndexFunc(all, func(s section) bool { return s.name == sectionRoom })]
	t := table{section: room, fields: reflect.ValueOf(&r).Elem()}.reset()
	for key := range keys {
		keys[key] = fromJSON(keys[key])
	}
	p.readTable(t, keys)
	r.seed()
	p.checkRoom(nil, r)
	sortProblems(p.problems)
	if Failed(p.problems) {
		return Room{}, p.problems
	}
	return r, p.problems
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
