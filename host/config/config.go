// Package config turns companiond.toml and the COMPANIOND_* environment into a
// [Config], and says everything that is wrong with them at once, each mistake
// with its line and column.
//
// It is pure: bytes and a list of variables go in, a plain struct comes out. It
// never opens a file, never reads the process's environment, never resolves a
// name or a path, and never hands out a Config that has an error in it.
package config

import (
	"time"

	"github.com/companiond/companiond/host/entry"
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

	origins map[string]origin // by full key, and of a room's or a model's header; absent: the default
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
	Patience   time.Duration // how long a round waits for votes
	Floor      time.Duration // how long a speaker has for its line
	Silence    time.Duration // 0 means never break a silence
	Pace       time.Duration // pause between a line and the next round
	MaxTurns   int           // companion turns since a human last spoke; 0 means no cap
	Stale      entry.Stale
	Seed       string // never empty: the room's name unless the file says otherwise

	PoolPricing  string // these are abi.Pool's
	PoolSize     int
	PoolRecovery time.Duration
	PoolPrices   []string // "CHARACTERS:COST"
	PoolReserve  int
	PoolShare    int
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
