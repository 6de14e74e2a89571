// Package config turns companiond.toml and the COMPANIOND_* environment into a
// [Config], and says everything that is wrong with them at once, each mistake
// with its line and column.
//
// It is pure: bytes and a list of variables go in, a plain struct comes out. It
// never opens a file, never reads the process's environment, never resolves a
// name or a path, and never hands out a Config that has an error in it.
package config

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/companiond/companiond/host/config/form"
	"github.com/companiond/companiond/host/entry"
)

// Config is what the daemon runs with. [Parse] fills every field, from the file,
// the environment or the defaults; paths are relative to the working directory.
//
// A key is called as its field is, max_turns for MaxTurns, or as its tag key. The field's tags say
// what the key takes: in is a range, and by the unit of a size; of are the words
// there are; or is one value more; is names the form of a text, or of each text of
// a list. What a key means and its default stand in companiond.toml.
type Config struct {
	Door       Door
	Identity   Identity
	Journal    Journal
	Modules    Modules
	Wasm       Wasm
	Memory     Memory
	Rooms      []Room      // sorted by name, never empty
	Companions []Companion // sorted by name, often empty
	Module     []Module    // sorted by name, often empty
	Handlers   []Handler   // sorted by name, often empty
	Models     []Model     // sorted by name, often empty
	// Conversations, and those who have them; both lists are sorted by name and often empty.
	Conversations Conversations
	Projects      []Project
	Agents        []Agent
	Log           Log

	origins map[string]origin // by full key, and of a room's or a model's header; absent: the default
}

// Door is the table [door]: who may connect, and where.
type Door struct {
	Listen      string   `is:"address"` // host:port; port 0 means any free one
	Insecure    bool     // Listen may be reachable from other machines
	Hosts       []string `is:"host"`       // names allowed in Host headers besides the loopback's, lower case
	Origins     []string `is:"origin"`     // browser origins allowed besides the daemon's own, as a browser writes them
	MaxClients  int      `in:"1..65536"`   // WebSocket clients at once
	MaxRooms    int      `in:"0..1000000"` // rooms of one caller, besides those of the file
	RequireSpec bool     // agents have to read a card before they play its actions
	OverlayCSS  string   `is:"path" or:""`     // path of the sheet behind the overlay's own; empty means none
	Firehose    string   `is:"address" or:""`  // host:port, of the Firehose alone; empty means none
	Ops         string   `is:"loopback" or:""` // host:port of whoever watches over the daemon; empty means nowhere
	Rate        int      `in:"0..1000000"`     // requests a second of one remote address; 0 means no limit
}

// GuestsAllowed says whether whoever comes without a token is let in.
func (c Config) GuestsAllowed() bool {
	return c.Identity.Guests && (c.Door.Loopback() || c.Door.Insecure)
}

// Identity is the table [identity]: who is who.
type Identity struct {
	Tokens string `is:"tokens"` // path of the file, or Credential and a name; empty means none
	Guests bool
}

// Credential begins a value of Identity.Tokens or Model.Key that names one of
// systemd's credentials instead of a path.
const Credential = form.Credential

// Journal is the table [journal].
type Journal struct {
	Path       string        `is:"path"`
	Ballast    int64         `in:"0..1GiB"`     // bytes; 0 means none
	BlankAfter time.Duration `in:"0s..876000h"` // 0 means never
}

// Companion is one table [companion.NAME].
type Companion struct {
	Name        string  // its id
	Home        string  `is:"home"`                      // a room; empty: the usual one
	Memory      string  `of:"off room person all" or:""` // in place of Memory.Scope; empty: that
	MemoryBy    string  `of:"auto rules model" or:""`    // in place of Memory.By; empty: that
	CallsMinute int     `in:"0..1000000"`                // calls of models; 0 means any number
	CallsDay    int     `in:"0..1000000000"`             // by the calendar of the daemon's clock
	CostDay     float64 `in:"0..1000000"`                // in the currency of the prices
}

// Memory is the table [memory]: how companions remember.
type Memory struct {
	Scope string `of:"off room person all"` // MemoryOff, or where what is new may be told: an abi.Visibility
	By    string `of:"auto rules model"`    // MemoryAuto, MemoryRules or MemoryModel
}

// MemoryOff is a scope: nothing is remembered.
const MemoryOff = "off"

// The ways to find what is worth remembering.
const (
	MemoryAuto  = "auto"  // by the model of a companion that thinks with one, else by rules
	MemoryRules = "rules" // by rules
	MemoryModel = "model" // by its model, or the usual one, also of a module that may not ask it
)

// MemoryOf gives how a companion remembers.
func (c Config) MemoryOf(companion string) Memory {
	for _, one := range c.Companions {
		if one.Name == companion {
			return Memory{cmp.Or(one.Memory, c.Memory.Scope), cmp.Or(one.MemoryBy, c.Memory.By)}
		}
	}
	return c.Memory
}

// Module is one table [module.NAME].
type Module struct {
	Name     string   // a companion's id
	Grant    []string `is:"grant"`         // in place of Modules.Grant
	Hosts    []string `is:"web"`           // that it may ask with http.fetch: host or host:port
	Program  string   `is:"program" or:""` // a file in Modules.Plugins; empty: it is none
	Checksum string   `is:"sha256" or:""`  // SHA-256 of that file, in small hex; empty: any
}

// GrantOf gives the host ops that a module may use besides those always granted.
func (c Config) GrantOf(module string) []string { return c.ModuleOf(module).Grant }

// HostsOf gives what a module may ask with http.fetch.
func (c Config) HostsOf(module string) []string { return c.ModuleOf(module).Hosts }

// ModuleOf gives a module's table, or what holds for one without.
func (c Config) ModuleOf(name string) Module {
	if i := slices.IndexFunc(c.Module, func(m Module) bool { return m.Name == name }); i >= 0 {
		return c.Module[i]
	}
	return Module{Grant: c.Modules.Grant}
}

// Handler is one table [handler.NAME]: a module that acts for companions.
type Handler struct {
	Name       string
	Module     string          `is:"home"`      // its id
	Companions []string        `is:"companion"` // ids; Everyone means all of them
	Settings   json.RawMessage // an object, by the module's own schema
	Secrets    json.RawMessage `is:"secrets"`   // an object: names of settings with the path of a file, or Credential and a name
	On         []string        `is:"pattern"`   // titles of perceptions that it filters, as path.Match has them; none: all
	Order      int             `in:"0..1000"`   // filters are asked from the least on, then by name
	Fail       string          `of:"skip stop"` // what it means where it fails as a filter
}

// For says whether it acts for a companion.
func (h Handler) For(companion string) bool {
	return slices.Contains(h.Companions, Everyone) || slices.Contains(h.Companions, companion)
}

// Modules is the table [modules]: the folder of characters and how it is watched.
type Modules struct {
	Characters    string        `is:"path"`
	Cache         string        `is:"path"`
	Plugins       string        `is:"path"`
	ProgramMemory int64         `in:"0..1024GiB"` // bytes of one program in Plugins; 0 means no bound
	Debounce      time.Duration `in:"1ms..1m"`
	Rescan        time.Duration `in:"1ms..24h"`
	Grace         time.Duration `in:"1ms..10m"`
	Faults        int           `in:"1..1000"`
	FaultWindow   time.Duration `in:"1ms..24h"`
	CoolDown      time.Duration `in:"1ms..24h"`
	Grant         []string      `is:"grant"` // host ops that modules may use besides those always granted, see GrantOf
}

// Wasm is the table [wasm]: what one WebAssembly character may use.
type Wasm struct {
	Memory      int64  `in:"1MiB..4GiB" by:"64KiB"`  // bytes, whole 64 KiB pages
	MemoryTotal int64  `in:"0..1024GiB"`             // bytes; 0 means half of what the machine has
	CacheSize   int64  `in:"1MiB..1024GiB"`          // bytes
	MaxFile     int64  `in:"1KiB..1GiB"`             // bytes
	Fuel        int64  `in:"0..9223372036854775807"` // units a call; 0 means the default of the engine
	Guard       string `of:"fuel context"`
	LogRate     int64  `in:"1KiB..1GiB"` // bytes a second
}

// Room is one table [room.NAME].
type Room struct {
	Name       string
	Companions []string      `is:"companion"`  // ids; Everyone means all of them
	Companion  string        `is:"home"`       // whom a client gets that names nobody, see card.Usual; empty says nothing
	Policy     string        `of:"policies"`   // turn.Names
	Patience   time.Duration `in:"1ms..1m"`    // how long a round waits for votes
	Floor      time.Duration `in:"1ms..10m"`   // how long a speaker has for its line
	Silence    time.Duration `in:"0s..24h"`    // 0 means never break a silence
	Pace       string        `is:"pace"`       // pause between a line and the next round, see [Room.Pause]
	MaxTurns   int           `in:"0..1000000"` // companion turns since a human last spoke; 0 means no cap
	Perceived  int           `in:"0..1000"`    // turns a minute that what companions perceive may lead to; 0 means any number
	Stale      entry.Stale   `of:"reask refuse accept"`
	Interrupt  string        `of:"sentence now never"` // how a human who speaks over a line ends it
	// Interrupters are the humans who end a line with whatever they say; Everyone means
	// all of them but those in a chat.
	Interrupters []string `is:"companion"`
	Ahead        int      `in:"0..1000"`       // lines an hour that may be made ahead for nothing; 0 means that none is made ahead
	Seed         string   `is:"short"`         // never empty: the room's name unless the file says otherwise
	CallsMinute  int      `in:"0..1000000"`    // calls of models; 0 means any number
	CallsDay     int      `in:"0..1000000000"` // by the calendar of the daemon's clock
	CostDay      float64  `in:"0..1000000"`    // in the currency of the prices

	Compress       string  `of:"ask auto off"` // a mode of history.Standing; with CompressAuto there is a CompressPolicy
	CompressPolicy string  `is:"policy"`
	CompressAt     float64 `in:"0.3..0.95"` // of the tokens that a mind may be told of the history
	CompressBy     string  `is:"home"`      // a companion's id, model or extract; empty: the usual one
	CompressVerify string  `is:"home"`      // the same

	PoolPricing  string        `of:"strict free"` // these are abi.Pool's
	PoolSize     int           `in:"1..2147483647"`
	PoolRecovery time.Duration `in:"1ms..24h"`
	PoolPrices   []string      `is:"price"` // "CHARACTERS:COST"
	PoolReserve  int           `in:"0..2147483647"`
	PoolShare    int           `in:"0..2147483647"`
}

// Model is one table [model.NAME]: a language model and how it is asked.
type Model struct {
	Name          string
	API           string        `of:"openai anthropic"`                    // openai or anthropic
	URL           string        `is:"url"`                                 // the API's base, without a '/' at the end; empty means the vendor's own
	Model         string        `is:"short"`                               // its name there, never empty
	Embeddings    string        `is:"short"`                               // the name there of the model that makes embeddings; empty means none
	Key           string        `is:"key"`                                 // path of a file, or Credential and a name; empty means none
	Structured    string        `of:"auto json_schema json_object prompt"` // auto, json_schema, json_object or prompt
	Timeout       time.Duration `in:"100ms..1h"`                           // of a call with all its retries
	FirstByte     time.Duration `in:"100ms..1h"`                           // until the answer begins
	Retries       int           `in:"0..10"`                               // 0 means never
	Parallel      int           `in:"1..256"`                              // calls at once
	VoteWithLine  bool          // it is asked for a vote and the line behind it in one
	VotesTogether bool          // one call votes for all of its characters in a room
	Context       int           `in:"1000..2000000"`              // tokens that a prompt may come to, 2000 or more: what is less is taken for that
	MaxTokens     int           `in:"16..100000"`                 // of an answer
	Temperature   float64       `in:"0..2" or:"-1"`               // 0..2; -1 means the model's own
	Effort        string        `of:"none low medium high" or:""` // none, low, medium or high; empty means the model's own
	Without       []string      `is:"without"`                    // what it cannot do, or its endpoint refuses
	PriceIn       float64       `in:"0..1000000"`                 // of a million tokens, as the other two
	PriceOut      float64       `in:"0..1000000"`
	PriceCached   float64       `in:"0..1000000"`    // 0 means PriceIn
	CallsMinute   int           `in:"0..1000000"`    // calls of models; 0 means any number
	CallsDay      int           `in:"0..1000000000"` // by the calendar of the daemon's clock
	CostDay       float64       `in:"0..1000000"`    // in the currency of the prices
}

// Everyone, in Room.Companions, stands for every companion in the folder.
const Everyone = "*"

// DefaultName is the room there is when the file names none, and the model for
// whoever names none.
const DefaultName = "main"

// Log is the table [log].
type Log struct {
	Level  string `of:"debug info warn error"` // debug, info, warn or error
	Format string `of:"auto text json"`        // auto, text or json
}

// Print writes the configuration in force as TOML, each value with its origin:
// the file and line, the environment's variable, or the default.
func (c Config) Print(w io.Writer) error {
	b := bufio.NewWriter(w)
	columns := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	last := ""
	for _, cell := range c.cells() {
		if table := cell.table.String(); table != last {
			columns.Flush()
			if last != "" {
				b.WriteString("\n")
			}
			fmt.Fprintf(b, "[%s]\n", table)
			last = table
		}
		fmt.Fprintf(columns, "%s = %s\t# %s\n", cell.name, literal(cell.kind, cell.field.Interface()), c.origins[cell.key().String()])
	}
	columns.Flush()
	return b.Flush()
}

// String says where a value came from.
func (o origin) String() string {
	switch {
	case o.env != "":
		return Environment + " " + o.env
	case o.line > 0:
		return fmt.Sprintf("%s:%d", o.file, o.line)
	}
	return "default"
}
