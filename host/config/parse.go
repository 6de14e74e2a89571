package config

import (
	"cmp"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/config/form"
	"github.com/companiond/companiond/host/config/source"
	"github.com/companiond/companiond/host/spell"
)

// maxFile bounds the file: finding a line costs time in proportion to the whole
// of it, for every key.
const maxFile = 256 << 10

// Parse reads the file's bytes and then the variables of env ("NAME=value")
// over it. name stands for the file in problems and is not opened. The problems
// are sorted by line and column, those of the environment first; if one of them
// is an [Error], the Config is the zero value and must not be used.
func Parse(name string, src []byte, env []string) (Config, []Problem) {
	p := newParse(name)
	if root, ok := p.decode(src); ok {
		p.fill(root, env)
	}
	sortProblems(p.problems)
	if Failed(p.problems) {
		return Config{}, p.problems
	}
	return p.config, p.problems
}

// parse is the state of one call of Parse or ReadRoom.
type parse struct {
	file     string       // empty for ReadRoom
	source   *source.File // nil for ReadRoom
	config   Config
	bad      map[string]bool // full keys with an error, or meant by a name with one; left out of the checks that compare keys
	problems []Problem
}

func newParse(file string) *parse {
	return &parse{file: file, bad: make(map[string]bool), config: Config{origins: make(map[string]origin)}}
}

// decode reads the TOML and reports whether it was any at all.
func (p *parse) decode(src []byte) (root map[string]any, ok bool) {
	if len(src) > maxFile {
		p.report(origin{file: p.file}, "", &fault{message: "the file has " + form.SizeText(int64(len(src))) + ", at most " + form.SizeText(maxFile)})
		return nil, false
	}
	file, flaw := source.Read(src)
	if flaw != nil {
		p.report(origin{file: p.file, line: flaw.Line, col: flaw.Col}, "", &fault{message: flaw.Message})
		return nil, false
	}
	p.source = file
	return file.Root, true
}

// fill makes a Config of what the file holds and of the variables over it.
func (p *parse) fill(root map[string]any, env []string) {
	variables := ours(env)
	p.makeTables(root, variables)
	cells := p.config.cells()
	byKey := make(map[string]cell, len(cells))
	for _, c := range cells {
		c.set(c.usual)
		byKey[c.key().String()] = c
	}
	p.read(nil, root, byKey)
	p.readEnv(variables, cells)
	p.cross()
}

// makeTables makes the tables that have names: those of the file, a room where it
// has none, and a model where it has none but a variable sets a key of one.
func (p *parse) makeTables(root map[string]any, variables map[string]string) {
	c := &p.config
	for _, name := range tablesIn(root[sectionRoom]) {
		c.Rooms = append(c.Rooms, Room{Name: name})
	}
	for _, name := range tablesIn(root["companion"]) {
		c.Companions = append(c.Companions, Companion{Name: name})
	}
	for _, name := range tablesIn(root[sectionModule]) {
		c.Module = append(c.Module, Module{Name: name})
	}
	for _, name := range tablesIn(root["handler"]) {
		c.Handlers = append(c.Handlers, Handler{Name: name})
	}
	for _, name := range tablesIn(root[sectionModel]) {
		c.Models = append(c.Models, Model{Name: name})
	}
	for _, name := range tablesIn(root[sectionProject]) {
		c.Projects = append(c.Projects, Project{Name: name})
	}
	for _, name := range tablesIn(root[sectionAgent]) {
		c.Agents = append(c.Agents, Agent{Name: name})
	}
	if len(c.Rooms) == 0 {
		c.Rooms = []Room{{Name: DefaultName}}
	}
	main := dotted{sectionModel, DefaultName}
	for name := range variables {
		key, ok := strings.CutPrefix(strings.ToUpper(name), envName(main.add("")))
		if ok && len(c.Models) == 0 && slices.Contains(sectionOf(main).names(), strings.ToLower(key)) {
			c.Models = []Model{{Name: DefaultName}}
			c.origins[main.String()] = origin{env: envName(main.add("model"))}
		}
	}
}

// tablesIn gives the names of the tables in a table, sorted.
func tablesIn(v any) (names []string) {
	all, _ := v.(map[string]any)
	for name, v := range all {
		if _, isTable := v.(map[string]any); isTable {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// read reads what the file has under a name: the value of a key, or a table with
// all that is in it.
func (p *parse) read(at dotted, v any, cells map[string]cell) {
	if c, ok := cells[at.String()]; ok {
		p.set(c, v, func(item int) origin { return p.place(at, source.Value+item) })
		p.inside(at, v)
		return
	}
	s := sectionOf(at)
	keys, isTable := v.(map[string]any)
	switch {
	case len(at) > 0 && s.name == "", len(at) > 1 && !s.named, len(at) > 2:
		p.unknown(at, v, s)
	case len(at) > 1 && !isTable && slices.Contains(s.names(), at[1]):
		p.report(p.place(at, source.Name), at.String(), &fault{
			message: "belongs to one " + s.name + ", not to all",
			hint:    "write [" + s.name + ".NAME] above it",
		})
	case len(at) > 1 && !isTable && suggest(at[1], "key", s) != "":
		p.unknown(at, v, s)
	case !isTable:
		p.noTable(at, v, s)
	default:
		if len(at) > 1 {
			p.config.origins[at.String()] = p.place(at, source.Name)
			check := abi.CheckName
			if s.name == sectionAgent {
				check = address.CheckName
			}
			if err := check("name", at[1]); err != nil {
				p.bad[at.String()] = s.name == sectionAgent // of which more would be said
				p.report(p.place(at, source.Name), at.String(), &fault{message: form.NameFault(at[1], err)})
			}
		}
		for name, v := range keys {
			p.read(at.add(name), v, cells)
		}
	}
}

// inside notes where the parts of a value stand whose keys others know, as a handler's settings.
func (p *parse) inside(at dotted, v any) {
	keys, _ := v.(map[string]any)
	for name, v := range keys {
		p.config.origins[at.add(name).String()] = p.place(at.add(name), source.Name)
		p.inside(at.add(name), v)
	}
}

// noTable reports what should have been a table.
func (p *parse) noTable(at dotted, v any, s section) {
	write := at.String()
	if s.named && len(at) == 1 {
		write += ".NAME"
	}
	f := &fault{message: "must be a table", hint: "write [" + write + "]"}
	if _, array := v.([]map[string]any); array {
		f = &fault{message: "must not be an array of tables", hint: f.hint + " with single brackets"}
	}
	p.bad[at.String()] = true
	p.report(p.place(at, source.Value), at.String(), f)
}

// set sets a key to a value; at gives the place of the value, 0, or of one of its
// items.
func (p *parse) set(c cell, v any, at func(item int) origin) {
	key := c.key().String()
	v, faults := c.read(v)
	for _, f := range faults {
		p.bad[key] = true
		p.report(at(f.item), key, f)
	}
	if faults == nil {
		c.set(v)
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
	p.report(p.place(at, source.Name), at.String(), &fault{message: "unknown " + what + " " + form.Show(last), hint: form.Meant(near)})
}

// suggest gives the known name that was most likely meant, "" for none: one
// that is spelled alike in the same table, or the same one in another table.
func suggest(name, what string, s section) string {
	here, elsewhere := s.names(), ""
	for _, other := range sections() {
		if s.name == "" {
			here = append(here, other.name)
		}
		for _, k := range other.keys {
			if what == "key" && k.name == name {
				elsewhere = k.full
			}
		}
	}
	if s.name == "" && elsewhere != "" {
		return elsewhere
	}
	return cmp.Or(spell.Near(name, here), elsewhere)
}
