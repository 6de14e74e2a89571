// Package differ says which keys of two configurations have other values, by the names that they have in companiond.toml, and
// which of these a daemon takes while it runs.
//
// It is pure, and changes nothing.
package differ

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/companiond/companiond/host/config"
)

// Keys gives the keys whose values differ, sorted: room.main.patience, or room.main alone where one of the two has no such table.
func Keys(a, b config.Config) (keys []string) {
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range va.NumField() {
		f := va.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		if f.Type.Kind() == reflect.Slice {
			keys = append(keys, tables(tableName(f.Name), va.Field(i), vb.Field(i))...)
		} else {
			keys = append(keys, fields(nameOf(f), va.Field(i), vb.Field(i))...)
		}
	}
	slices.Sort(keys)
	return keys
}

// tables compares those with names.
func tables(name string, a, b reflect.Value) (keys []string) {
	named := func(all reflect.Value) map[string]reflect.Value {
		of := map[string]reflect.Value{}
		for i := range all.Len() {
			of[all.Index(i).FieldByName("Name").String()] = all.Index(i)
		}
		return of
	}
	before, after := named(a), named(b)
	for id, was := range before {
		if is, stays := after[id]; stays {
			keys = append(keys, fields(name+"."+id, was, is)...)
		} else {
			keys = append(keys, name+"."+id)
		}
	}
	for id := range after {
		if _, was := before[id]; !was {
			keys = append(keys, name+"."+id)
		}
	}
	return keys
}

func fields(table string, a, b reflect.Value) (keys []string) {
	for i := range a.NumField() {
		if f := a.Type().Field(i); f.IsExported() && !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			keys = append(keys, table+"."+nameOf(f))
		}
	}
	return keys
}

// tableName gives how tables of a field are called: Rooms have [room.NAME].
func tableName(field string) string { return snake(strings.TrimSuffix(field, "s")) }

// nameOf gives how a field's key is called, see [config.Config].
func nameOf(f reflect.StructField) string { return cmp.Or(f.Tag.Get("key"), snake(f.Name)) }

func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// live are the keys that a running daemon takes; spent those of companions; of a room all but those in start.
var (
	live  = []string{"identity.tokens", "log.level"}
	spent = []string{"calls_minute", "calls_day", "cost_day"}
	start = []string{"companion"}
)

// Live says whether a running daemon takes another value of a key: the tokens, the level of the log, models, bounds on what
// these are asked, handlers, what modules may and which of them are programs, and rooms, of which none goes.
func Live(key string, after config.Config) bool {
	table, rest, _ := strings.Cut(key, ".")
	leaf := rest[strings.LastIndexByte(rest, '.')+1:]
	switch table {
	case "model", "handler", "module":
		return rest != ""
	case "companion":
		return leaf != rest && slices.Contains(spent, leaf)
	case "room":
		return slices.ContainsFunc(after.Rooms, func(r config.Room) bool {
			of, mine := strings.CutPrefix(rest, r.Name+".")
			return r.Name == rest || mine && !slices.Contains(start, of) // a new one, or a key of one
		})
	}
	return slices.Contains(live, key)
}
