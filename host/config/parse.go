package config

import (
	"cmp"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/spell"
)

// maxFile bounds the file.
const maxFile = 256 << 10

// Parse reads the file's bytes and then the variables of env ("NAME=value")
// over it. name stands for the file in problems and is not opened. The problems
// are sorted by line and column, those of the environment first; if one of them
// is an [Error], the Config is the zero value and must not be used.
func Parse(name string, src []byte, env []string) (Config, []Problem) {
	p := newParse(name)
	variables := ours(env)
	if root, ok := p.decode(src); ok {
		p.readFile(root, variables)
		p.readEnv(variables)
		for i := range p.config.Rooms {
			p.config.Rooms[i].seed()
		}
		p.cross()
	}
	sortProblems(p.problems)
	if Failed(p.problems) {
		return Config{}, p.problems
	}
	return p.config, p.problems
}

// seed fills what depends on the room's name.
func (r *Room) seed() { r.Seed = cmp.Or(r.Seed, r.Name) }

// parse is the state of one call of Parse.
type parse struct {
	file     string
	text     string           // the file without a byte order mark
	places   map[string]place // by full key
	config   Config
	bad      map[string]bool // full keys with an error, or meant by a name with one; left out of the checks that compare keys
	problems []Problem
}

func newParse(file string) *parse {
	return &parse{file: file, bad: make(map[string]bool), config: Config{origins: make(map[string]origin)}}
}

// dotted is the full name of a table or a key: room, its own name, patience. The
// table of [ReadRoom] has none.
type dotted []string

func (d dotted) add(name string) dotted { return append(slices.Clip(d), name) }

// String writes the name as TOML would.
func (d dotted) String() string { return toml.Key(d).String() }

// path gives the name of the section's table called name, where it has names.
func (s section) path(name string) dotted {
	if s.example == "" {
		return dotted{s.name}
	}
	return dotted{s.name, name}
}

// table is one table: what its keys set.
type table struct {
	section section
	path    dotted
	fields  reflect.Value
}

// field gives the field that a key sets.
func (t table) field(k setting) reflect.Value { return called(t.fields, k.name) }

func (t table) set(k setting, v any) {
	f := t.field(k)
	f.Set(reflect.ValueOf(v).Convert(f.Type()))
}

// reset sets every key to its default.
func (t table) reset() table {
	for _, k := range t.section.keys {
		t.set(k, k.usually())
	}
	return t
}

// called gives the field of a struct for a name in the file.
func called(v reflect.Value, name string) reflect.Value {
	name = strings.ReplaceAll(name, "_", "")
	return v.FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, name) })
}

// values gives the field of a section: a struct, or a list of them.
func (c *Config) values(s section) reflect.Value {
	if s.example != "" {
		return called(reflect.ValueOf(c).Elem(), s.name+"s")
	}
	return called(reflect.ValueOf(c).Elem(), s.name)
}

// tables gives every table there is, in the order of the document.
func (c *Config) tables() (all []table) {
	for _, s := range sections() {
		values := c.values(s)
		if s.example == "" {
			all = append(all, table{s, s.path(""), values})
			continue
		}
		for i := range values.Len() {
			one := values.Index(i)
			all = append(all, table{s, s.path(one.FieldByName("Name").String()), one})
		}
	}
	return all
}

// decode reads the TOML, finds the places of its keys, and reports whether it was
// TOML at all.
func (p *parse) decode(src []byte) (root map[string]any, ok bool) {
	if len(src) > maxFile {
		p.report(origin{file: p.file}, "", &fault{message: "the file has " + sizeText(int64(len(src))) + ", at most " + sizeText(maxFile)})
		return nil, false
	}
	p.text = strings.TrimPrefix(string(src), "\ufeff")
	md, err := toml.Decode(p.text, &root)
	if err != nil {
		bad := toml.ParseError{Message: err.Error()}
		errors.As(err, &bad)
		rest := p.text[min(max(bad.Position.Start, 0), len(p.text)):]
		at := len(p.text) - len(strings.TrimLeft(rest, " \t"))
		p.report(p.origin(at), "", &fault{message: strings.TrimSuffix(bad.Message, ".")})
		return nil, false
	}
	p.places = places(p.text, md.Keys())
	return root, true
}

// readFile makes the tables of the file and those that are there without being
// written, and reads their keys.
func (p *parse) readFile(root map[string]any, variables map[string]string) {
	known := make(map[string]bool)
	for _, s := range sections() {
		known[s.name] = true
		if s.example != "" {
			p.readNamed(s, root[s.name], variables)
			continue
		}
		t := table{s, s.path(""), p.config.values(s)}.reset()
		if keys, ok := p.keys(t.path, root[s.name], s.name); ok {
			p.readTable(t, keys)
		}
	}
	for name, v := range root {
		if !known[name] {
			p.unknown(dotted{name}, v, section{})
		}
	}
}

// readNamed reads every table of a section that holds tables with names.
func (p *parse) readNamed(s section, v any, variables map[string]string) {
	all, _ := p.keys(dotted{s.name}, v, s.name+".NAME")
	tables := make(map[string]map[string]any)
	for name, v := range all {
		at := s.path(name)
		_, isTable := v.(map[string]any)
		if _, isKey := s.find(name); isKey && !isTable {
			p.report(p.name(at), at.String(), &fault{
				message: "belongs to one " + s.name + ", not to all",
				hint:    "write [" + s.path(s.example).String() + "] above it",
			})
			continue
		}
		keys, ok := p.keys(at, v, at.String())
		if !ok {
			continue
		}
		if err := abi.CheckName("name", name); err != nil {
			p.report(p.name(at), at.String(), &fault{message: nameFault(name, err)})
		}
		tables[name] = keys
		p.config.origins[at.String()] = p.name(at)
	}
	if len(tables) == 0 {
		p.offer(s, tables, variables)
	}
	list := p.config.values(s)
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		list.Set(reflect.Append(list, reflect.Zero(list.Type().Elem())))
		one := list.Index(list.Len() - 1)
		one.FieldByName("Name").SetString(name)
		p.readTable(table{s, s.path(name), one}.reset(), tables[name])
	}
}

// keys gives the keys of a table, and complains of what is something else.
func (p *parse) keys(at dotted, v any, write string) (keys map[string]any, ok bool) {
	f := &fault{message: "must be a table", hint: "write [" + write + "]"}
	switch v := v.(type) {
	case nil: // not written
		return nil, true
	case map[string]any:
		return v, true
	case []map[string]any:
		f = &fault{message: "must not be an array of tables", hint: f.hint + " with single brackets"}
	}
	p.bad[at.String()] = true
	p.report(p.value(at, 0), at.String(), f)
	return nil, false
}

// readTable reads the keys of one table.
func (p *parse) readTable(t table, keys map[string]any) {
	for name, v := range keys {
		at := t.path.add(name)
		if k, ok := t.section.find(name); ok {
			p.set(t, k, v, func(item int) origin { return p.value(at, item) })
		} else {
			p.unknown(at, v, t.section)
		}
	}
}

// set sets a key to a value; at gives the place of the value, 0, or of one of its
// items.
func (p *parse) set(t table, k setting, v any, at func(item int) origin) {
	key := t.path.add(k.name).String()
	v, faults := k.read(v)
	for _, f := range faults {
		p.bad[key] = true
		p.report(at(f.item), key, f)
	}
	if len(faults) == 0 {
		t.set(k, v)
		p.config.origins[key] = at(0)
	}
}

// unknown reports a key or table that is none of a section's; the zero section is
// the file.
func (p *parse) unknown(at dotted, v any, s section) {
	what, parent, last := "key", at[:len(at)-1], at[len(at)-1]
	switch v.(type) {
	case map[string]any, []map[string]any:
		what = "table"
	}
	near := suggest(last, what, s)
	if near != "" {
		p.bad[parent.add(near).String()] = true
	}
	p.report(p.name(at), at.String(), &fault{message: "unknown " + what + " " + show(last), hint: meant(near)})
}

// suggest gives the known name that was most likely meant, "" for none: one
// that is spelled alike in the same table, or the same one in another table.
func suggest(name, what string, s section) string {
	var here []string
	elsewhere := ""
	for _, other := range sections() {
		if s.name == "" {
			here = append(here, other.name)
		}
		for _, k := range other.keys {
			if other.name == s.name {
				here = append(here, k.name)
			}
			if what == "key" && k.name == name {
				elsewhere = other.path("NAME").add(name).String()
			}
		}
	}
	if s.name == "" && elsewhere != "" {
		return elsewhere
	}
	return cmp.Or(spell.Near(name, here), elsewhere)
}

// find gives the key of that name.
func (s section) find(name string) (setting, bool) {
	if i := slices.IndexFunc(s.keys, func(k setting) bool { return k.name == name }); i >= 0 {
		return s.keys[i], true
	}
	return setting{}, false
}
