// Package config turns companiond.toml and the COMPANIOND_* environment into a
// [Config], and says everything that is wrong with them at once, each mistake
// with its line and column.
//
// It is pure: bytes and a list of variables go in, a plain struct comes out. It
// never opens a file, never reads the process's environment, never resolves a
// name or a path, and never hands out a Config that has an error in it.
package config

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/spell"
)

// Config is what the daemon runs with. [Parse] fills every field, from the file,
// the environment or the defaults; paths are relative to the working directory.
type Config struct {
	Door       Door
	Identity   Identity
	Journal    Journal
	Modules    Modules
	Wasm       Wasm
	Rooms      []Room      // sorted by name, never empty
	Companions []Companion // sorted by name, often empty
	Models     []Model     // sorted by name, often empty
	Log        Log

	origins map[string]origin // by full key; absent: the default
}

// Door is the table [door]: who may connect, and where.
type Door struct {
	Listen      string   // host:port; port 0 means any free one
	Insecure    bool     // Listen may be reachable from other machines
	Hosts       []string // names allowed in Host headers besides the loopback's, lower case
	Origins     []string // browser origins allowed besides the daemon's own, as a browser writes them
	MaxClients  int      // WebSocket clients at once
	MaxRooms    int      // rooms of one caller, besides those of the file
	RequireSpec bool     // agents have to read a card before they play its actions
	Rate        int      // requests a second of one remote address; 0 means no limit
}

// Loopback says whether only this machine can reach the door.
func (d Door) Loopback() bool { return isLoopback(d.Listen) }

// GuestsAllowed says whether whoever comes without a token is let in.
func (c Config) GuestsAllowed() bool {
	return c.Identity.Guests && (c.Door.Loopback() || c.Door.Insecure)
}

// Identity is the table [identity]: who is who.
type Identity struct {
	Tokens string // path of the file, or Credential and a name; empty means none
	Guests bool
}

// Credential begins a value of Identity.Tokens or Model.Key that names one of
// systemd's credentials instead of a path.
const Credential = "credential:"

// Journal is the table [journal].
type Journal struct {
	Path       string
	Ballast    int64         // bytes; 0 means none
	BlankAfter time.Duration // 0 means never
}

// Companion is one table [companion.NAME].
type Companion struct {
	Name string // its id
	Home string // a room; empty: the usual one
}

// Modules is the table [modules]: the folder of characters and how it is watched.
type Modules struct {
	Characters  string
	Cache       string
	Debounce    time.Duration
	Rescan      time.Duration
	Grace       time.Duration
	Faults      int
	FaultWindow time.Duration
	CoolDown    time.Duration
	Grant       []string // host ops that modules may use besides those always granted
}

// Wasm is the table [wasm]: what one WebAssembly character may use.
type Wasm struct {
	Memory  int64 // bytes, whole 64 KiB pages
	MaxFile int64 // bytes
	Fuel    int64 // units a call; 0 means that only the deadline counts
	Guard   string
	LogRate int64 // bytes a second
}

// Values of Wasm.Guard.
const (
	GuardFuel    = "fuel"
	GuardContext = "context"
)

// Room is one table [room.NAME].
type Room struct {
	Name       string
	Companions []string // ids; Everyone means all of them
	Policy     string
	Pool       Pool
	Patience   time.Duration // how long a round waits for votes
	Floor      time.Duration // how long a speaker has for its line
	Silence    time.Duration // 0 means never break a silence
	Pace       time.Duration // pause between a line and the next round
	MaxTurns   int           // companion turns since a human last spoke; 0 means no cap
	Stale      entry.Stale
	Seed       string // never empty: the room's name unless the file says otherwise
}

// Everyone, in Room.Companions, stands for every companion in the folder.
const Everyone = "*"

// DefaultName is the room there is when the file names none, and the model for
// whoever names none.
const DefaultName = "main"

// Log is the table [log].
type Log struct {
	Level  string // debug, info, warn or error
	Format string // auto, text or json
}

// maxFile bounds the file: finding a line costs time in proportion to the whole
// of it, for every key.
const maxFile = 256 << 10

// Parse reads the file's bytes and then the variables of env ("NAME=value")
// over it. name stands for the file in problems and is not opened. The problems
// are sorted by line and column, those of the environment first; if one of them
// is an [Error], the Config is the zero value and must not be used.
func Parse(name string, src []byte, env []string) (Config, []Problem) {
	p := &parse{
		file:   name,
		keys:   settings(),
		config: Config{origins: make(map[string]origin)},
		tables: map[string]map[string]*table{sectionRoom: {}, sectionCompanion: {}, sectionModel: {}},
		bad:    make(map[string]bool),
	}
	for _, s := range p.keys {
		if !hasNames(s.section()) {
			s.reset(&p.config, nil)
		}
	}
	if p.readFile(src) {
		p.readEnv(env)
		p.finish()
		p.cross()
	}
	sortProblems(p.problems)
	if Failed(p.problems) {
		return Config{}, p.problems
	}
	return p.config, p.problems
}

// parse is the state of one call of Parse.
type parse struct {
	file     string
	text     string // the file without a byte order mark
	keys     []setting
	config   Config
	tables   map[string]map[string]*table // by section and name
	bad      map[string]bool              // full keys with an error, or meant by a name with one; left out of the checks that compare keys
	problems []Problem
}

// origin is where a value came from.
type origin struct {
	file      string
	line, col int
	env       string // the variable's name; then the rest is zero
}

// readFile reads the TOML and reports whether it was TOML at all.
func (p *parse) readFile(src []byte) bool {
	if len(src) > maxFile {
		p.report(origin{file: p.file}, "", &fault{message: "the file has " + sizeText(int64(len(src))) + ", at most " + sizeText(maxFile)})
		return false
	}
	p.text = strings.TrimPrefix(string(src), "\ufeff")
	root, err := readTree(p.text)
	if err != nil {
		p.reportAt(skipBlank(p.text, max(err.at, 0)), "", &fault{message: err.message})
		return false
	}
	for name, n := range root.table {
		switch {
		case hasNames(name):
			p.readNamed(n, name)
		case isSection(name):
			p.readTable(n, name, nil)
		default:
			p.unknown(n, "")
		}
	}
	return true
}

// readNamed reads every table under a section that holds tables with names.
func (p *parse) readNamed(n *node, section string) {
	if !p.isTable(n, "["+section+".NAME]") {
		return
	}
	for name, child := range n.table {
		if _, isKey := p.find(section, name); isKey && child.table == nil {
			p.reportAt(child.name, child.key(), &fault{
				message: "belongs to one " + section + ", not to all",
				hint:    "write [" + section + "." + exampleName(section) + "] above it",
			})
			continue
		}
		if !p.isTable(child, "["+child.key()+"]") {
			continue
		}
		t := newTable(section, name, p.keys)
		t.at = p.origin(child.name)
		if err := abi.CheckName("name", name); err != nil {
			p.reportAt(child.name, child.key(), &fault{message: nameFault(name, err)})
		}
		p.tables[section][name] = t
		p.readTable(child, section, t)
	}
}

// readTable reads the keys of one table; t is set for one with a name.
func (p *parse) readTable(n *node, section string, t *table) {
	if !p.isTable(n, "["+n.key()+"]") {
		return
	}
	for name, child := range n.table {
		s, ok := p.find(section, name)
		if !ok {
			p.unknown(child, section)
			continue
		}
		v, faults := s.kind.read(child.value)
		for _, f := range faults {
			p.bad[child.key()] = true
			p.reportAt(child.item(p.text, f.item), child.key(), f)
		}
		if len(faults) == 0 {
			store(s.field(&p.config, t), v)
			p.config.origins[child.key()] = p.origin(child.at)
		}
	}
}

// isTable reports whether n is a table, and complains when it is not.
func (p *parse) isTable(n *node, write string) bool {
	if n.table != nil {
		return true
	}
	f := &fault{message: "must be a table", hint: "write " + write}
	if _, array := n.value.([]map[string]any); array {
		f.message = "must not be an array of tables"
		f.hint = "write " + write + " with single brackets"
	}
	p.bad[n.key()] = true
	p.reportAt(n.at, n.key(), f)
	return false
}

// unknown reports a key or table that is none of section's ("": of the file's).
func (p *parse) unknown(n *node, section string) {
	what, last := "key", n.path[len(n.path)-1]
	if n.isTable() {
		what = "table"
	}
	f := &fault{message: "unknown " + what + " " + show(last)}
	if near := p.suggest(last, section, what); near != "" {
		f.hint = "did you mean " + show(near) + "?"
		p.bad[toml.Key(append(slices.Clone(n.path[:len(n.path)-1]), near)).String()] = true
	}
	p.reportAt(n.name, n.key(), f)
}

// suggest gives the known name that was most likely meant, "" for none: one
// that is spelled alike in the same table, or the same one in another table.
func (p *parse) suggest(name, section, what string) string {
	var here []string
	if section == "" {
		here = sectionNames()
	}
	elsewhere := ""
	for _, s := range p.keys {
		if s.section() == section {
			here = append(here, s.leaf())
		}
		if what == "key" && s.leaf() == name {
			elsewhere = s.name
		}
	}
	if section == "" && elsewhere != "" {
		return elsewhere
	}
	if near := spell.Near(name, here); near != "" {
		return near
	}
	return elsewhere
}

// find gives the setting of that name in a section.
func (p *parse) find(section, leaf string) (setting, bool) {
	for _, s := range p.keys {
		if s.section() == section && s.leaf() == leaf {
			return s, true
		}
	}
	return setting{}, false
}

// finish puts the named tables in order and fills what depends on their names.
func (p *parse) finish() {
	for _, name := range slices.Sorted(maps.Keys(p.tables[sectionRoom])) {
		room := p.tables[sectionRoom][name].room
		room.Name = name
		room.Seed = cmp.Or(room.Seed, name)
		p.config.Rooms = append(p.config.Rooms, room)
	}
	for _, name := range slices.Sorted(maps.Keys(p.tables[sectionCompanion])) {
		companion := p.tables[sectionCompanion][name].companion
		companion.Name = name
		p.config.Companions = append(p.config.Companions, companion)
	}
	for _, name := range slices.Sorted(maps.Keys(p.tables[sectionModel])) {
		model := p.tables[sectionModel][name].model
		model.Name = name
		p.config.Models = append(p.config.Models, model)
	}
}

// newTable gives a named table with every key at its default.
func newTable(section, name string, keys []setting) *table {
	t := &table{name: name}
	for _, s := range keys {
		if s.section() == section {
			s.reset(nil, t)
		}
	}
	return t
}

func roomKey(room, leaf string) string { return namedKey(sectionRoom, room, leaf) }

// namedKey gives the full name of a key in a table with a name, as TOML would
// write it.
func namedKey(section, name, leaf string) string { return toml.Key{section, name, leaf}.String() }
