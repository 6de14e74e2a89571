package config

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/companiond/companiond/host/config/form"
	"github.com/companiond/companiond/host/turn"
)

// document is what [Document] gives.
//
//go:embed companiond.toml
var document string

// Document is companiond.toml with every key at its default, commented out and
// explained. The defaults that it names are those in force, and what it says of a
// key is what manuals and doors say of it.
func Document() string { return document }

// Key is one setting, for manuals and completions.
type Key struct {
	Name    string // "door.listen"; a room's begin with "room.NAME.", and so on for what has names
	Default string // as TOML
	Env     string // the variable that overrides the file
	Doc     string
}

// entries of the document are headers of tables, and keys below what is said of them.
var entries = regexp.MustCompile(`(?m)^#?\[(\w+)(\.\w+)?\]|((?:^# .*\n)+)#(\w+) = (.*)`)

// Keys gives every setting in the order of the document.
func Keys() (all []Key) {
	table := ""
	for _, m := range entries.FindAllStringSubmatch(document, -1) {
		switch {
		case m[2] != "":
			table = m[1] + ".NAME."
		case m[1] != "":
			table = m[1] + "."
		default:
			name, doc := table+m[4], strings.Fields(strings.ReplaceAll("\n"+m[3], "\n#", " "))
			all = append(all, Key{Name: name, Default: strings.TrimSpace(m[5]), Env: envName(strings.Split(name, ".")), Doc: strings.Join(doc, " ")})
		}
	}
	return all
}

// section is a table of the file, or all those tables that have names, as
// [room.NAME] has. Its values are the field of [Config] that is called as it is:
// Door for door, Rooms for room.
type section struct {
	name  string
	named bool // its tables have names
	index int  // of the field
	keys  []setting
}

// setting is a key. It sets the field that is called as it is: MaxTurns for
// max_turns.
type setting struct {
	full, name string // room.NAME.max_turns, max_turns
	kind
	usual any // the default
	index int // of the field
}

// sections is what parsing, variables and documents are made of: the keys of the
// document, each with what its field takes.
var sections = sync.OnceValue(func() (all []section) {
	for _, k := range Keys() {
		name := strings.Split(k.Name, ".")
		if n := len(all); n == 0 || all[n-1].name != name[0] {
			all = append(all, section{name: name[0], named: len(name) > 2})
		}
		s := &all[len(all)-1]
		table := fieldCalled(reflect.TypeFor[Config](), s.name)
		fields := table.Type
		if s.named {
			fields = fields.Elem()
		}
		key := name[len(name)-1]
		field := fieldCalled(fields, key)
		one := setting{full: k.Name, name: key, kind: kindOf(field), index: field.Index[0]}
		var usual map[string]any
		toml.Decode("v = "+k.Default, &usual)
		one.usual, _ = one.read(usual["v"])
		s.index, s.keys = table.Index[0], append(s.keys, one)
	}
	return all
})

// fieldCalled gives the field of a struct that is called as name is in the file, or
// as many of it are; a tag key comes before.
func fieldCalled(in reflect.Type, name string) reflect.StructField {
	for f := range in.Fields() {
		if f.Tag.Get("key") == name {
			return f
		}
	}
	name = strings.ReplaceAll(name, "_", "")
	f, ok := in.FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, name) })
	if !ok {
		f, _ = in.FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, name+"s") })
	}
	return f
}

// names gives the section's keys.
func (s section) names() (all []string) {
	for _, k := range s.keys {
		all = append(all, k.name)
	}
	return all
}

// sectionOf gives the section that a key is or would be in.
func sectionOf(key dotted) section {
	for _, s := range sections() {
		if len(key) > 0 && s.name == key[0] {
			return s
		}
	}
	return section{}
}

// The sections that there is more to say of than the keys say.
const (
	sectionRoom   = "room"
	sectionModule = "module"
	sectionModel  = "model"

	sectionProject = "project"
	sectionAgent   = "agent"
)

// dotted is the full name of a table or a key: room, its own name, patience.
type dotted []string

func (d dotted) add(name string) dotted { return append(slices.Clip(d), name) }

// String writes the name as TOML would.
func (d dotted) String() string { return toml.Key(d).String() }

// cell is a key of a table that there is, and the field that it sets.
type cell struct {
	*setting
	table dotted
	field reflect.Value
}

func (c cell) key() dotted { return c.table.add(c.name) }
func (c cell) set(v any)   { c.field.Set(reflect.ValueOf(v).Convert(c.field.Type())) }

// cells gives every key of every table, in the order of the document.
func (c *Config) cells() (all []cell) {
	for _, s := range sections() {
		values := reflect.ValueOf(c).Elem().Field(s.index)
		add := func(table dotted, fields reflect.Value) {
			for i := range s.keys {
				all = append(all, cell{&s.keys[i], table, fields.Field(s.keys[i].index)})
			}
		}
		if !s.named {
			add(dotted{s.name}, values)
			continue
		}
		for i := range values.Len() {
			one := values.Index(i)
			add(dotted{s.name, one.FieldByName("Name").String()}, one)
		}
	}
	return all
}

// kindOf gives the kind of a field by its type and its tags; see [Config]. A tag
// that is wrong is for the tests to find, which know of each key what it takes.
func kindOf(f reflect.StructField) kind {
	in := f.Tag.Get("in")
	low, high, _ := strings.Cut(in, "..")
	or, hasOr := f.Tag.Lookup("or")
	amount := func(s string) float64 { n, _ := strconv.ParseFloat(s, 64); return n }
	bytes := func(s string) int64 { n, _ := form.ParseSize(s); return n }
	length := func(s string) time.Duration { d, _ := time.ParseDuration(s); return d }
	switch reflect.Zero(f.Type).Interface().(type) {
	case json.RawMessage:
		return table{}
	case bool:
		return truth{}
	case float64:
		if hasOr {
			in += " and is not " + or
		}
		return number{in, amount(low), amount(high), amount(cmp.Or(or, low)), false}
	case time.Duration:
		return span{in, length(low), length(high)}
	case int, int64:
		if strings.HasSuffix(high, "B") {
			return size{in, bytes(low), bytes(high), max(bytes(f.Tag.Get("by")), 1)}
		}
		return number{in, amount(low), amount(high), amount(low), true}
	case []string:
		return list{forms()[f.Tag.Get("is")], f.Tag.Get("is") == "argument"}
	}
	if words, isChoice := f.Tag.Lookup("of"); words == "policies" {
		return choice{turn.Names(), hasOr}
	} else if isChoice {
		return choice{strings.Fields(words), hasOr}
	}
	is := forms()[f.Tag.Get("is")]
	if hasOr {
		return text{form.Or(or, is)}
	}
	return text{is}
}

// forms gives the forms of a text, by name.
func forms() map[string]form.Form {
	return map[string]form.Form{
		"address": form.Address, "loopback": form.Loopback, "host": form.Host, "origin": form.Origin, "url": form.URL,
		"path": form.Path, "program": form.Program, "web": form.Web, "sha256": form.SHA256, "tokens": form.Secret("tokens"), "key": form.Key, "short": form.Short, "policy": form.Policy,
		"companion": form.Name(Everyone), "home": form.Name(""), "agent": form.Agent, "title": form.Title, "argument": form.Argument,
		"pattern": form.Pattern, "price": cleanPrice, "pace": cleanPace, "grant": form.Grant, "without": form.Without,
	}
}
