package config

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/host/entry"
)

// Key is one setting, for manuals and completions.
type Key struct {
	Name    string // "door.listen"; a room's begin with "room.NAME.", and so on for what has names
	Default string // as TOML
	Env     string // the variable that overrides the file
	Doc     string
}

// Keys gives every setting in the order of the file.
func Keys() []Key {
	var keys []Key
	for _, s := range settings() {
		keys = append(keys, Key{Name: s.name, Default: s.defaultLiteral(), Env: envName(s.name), Doc: s.doc})
	}
	return keys
}

// setting is a row of the one table that parsing, variables and documents are
// made of.
type setting struct {
	name  string
	kind  kind
	usual string // the default, as kind.parse reads it
	doc   string
	field func(c *Config, t *table) any // a pointer into t where the section has names, otherwise into c
}

// table is one of a section's tables with names: a room, a companion, a module or a
// model, and the others are not used.
type table struct {
	name      string
	at        origin // where its header stands
	room      Room
	companion Companion
	module    Module
	model     Model
}

func (s setting) section() string { section, _, _ := strings.Cut(s.name, "."); return section }
func (s setting) leaf() string    { return s.name[strings.LastIndexByte(s.name, '.')+1:] }

// reset sets the field to its default.
func (s setting) reset(c *Config, t *table) {
	v, _ := s.kind.parse(s.usual)
	store(s.field(c, t), v)
}

func (s setting) defaultLiteral() string {
	v, _ := s.kind.parse(s.usual)
	return s.kind.literal(v)
}

// section is a table of the file.
type section struct{ name, doc string }

// These sections hold tables with names, as in [room.NAME], instead of keys.
const (
	sectionRoom      = "room"
	sectionCompanion = "companion"
	sectionModule    = "module"
	sectionModel     = "model"
)

func namedSections() []string {
	return []string{sectionRoom, sectionCompanion, sectionModule, sectionModel}
}

func hasNames(section string) bool { return slices.Contains(namedSections(), section) }

// exampleName is the name of a section's table in the document.
func exampleName(section string) string {
	if section == sectionCompanion || section == sectionModule {
		return "nikoni"
	}
	return DefaultName
}

func sections() []section {
	return []section{
		{"door", "Who may connect, and where."},
		{"identity", "Who is who."},
		{"journal", "The record of everything that happened; the only truth."},
		{"modules", "The folder of characters. Saving a file there changes the character while it talks."},
		{"wasm", "What one WebAssembly character may use."},
		{sectionRoom, "A room is a table [room.NAME]; write as many as you like. Without any there is one room " +
			"\"main\" with every companion. A name is letters and digits of any script, '_', '-' and '.'; a name " +
			"outside A-Z, a-z, 0-9, '_' and '-' goes in quotes: [room.\"居間\"]."},
		{sectionCompanion, "What is set for one companion, in a table [companion.ID]; take the # off its header too."},
		{sectionModule, "What is set for one module, in a table [module.ID]; take the # off its header too."},
		{sectionModel, "A language model is a table [model.NAME]; write as many as you like, and take the # off its header too. " +
			"Characters that are a card (NAME.json) think with it, and modules that are granted model.generate may ask it. " +
			"A card's \"model\" says which one it wants; whoever names none gets \"main\", or the only one there is. " +
			"Without any the daemon runs all the same, and says which companions wait for a model."},
		{"log", "What the daemon says of itself."},
	}
}

func sectionNames() []string {
	var names []string
	for _, s := range sections() {
		names = append(names, s.name)
	}
	return names
}

func isSection(name string) bool { return slices.Contains(sectionNames(), name) }

const (
	kib   = 1 << 10
	mib   = 1 << 20
	gib   = 1 << 30
	page  = 64 * kib // of WebAssembly memory
	milli = time.Millisecond
	day   = 24 * time.Hour
)

func settings() []setting {
	return slices.Concat(doorSettings(), moduleSettings(), wasmSettings(), roomSettings(), companionSettings(), grantSettings(), modelSettings(), logSettings())
}

func doorSettings() []setting {
	return []setting{
		{"door.listen", text{cleanListen}, "127.0.0.1:3000",
			"Address and port of the front door. Port 0 takes any free one. An address that other machines can reach needs identity.tokens.",
			func(c *Config, _ *table) any { return &c.Door.Listen }},
		{"door.insecure", truth{}, "false",
			"Allow an address that other machines can reach without tokens: whoever reaches the door is a guest there.",
			func(c *Config, _ *table) any { return &c.Door.Insecure }},
		{"door.hosts", list{cleanHost}, "",
			"Names allowed in Host headers besides this machine's own, for use behind a proxy. Without a port.",
			func(c *Config, _ *table) any { return &c.Door.Hosts }},
		{"door.origins", list{cleanOrigin}, "",
			"Web pages allowed to connect besides the daemon's own, each as scheme://host[:port].",
			func(c *Config, _ *table) any { return &c.Door.Origins }},
		{"door.rate", number{0, 1_000_000}, "200",
			"Requests a second that one address on another machine may make; twice as many at once. 0 takes the limit off.",
			func(c *Config, _ *table) any { return &c.Door.Rate }},
		{"door.max_clients", number{1, 65536}, "256",
			"WebSocket clients at once.",
			func(c *Config, _ *table) any { return &c.Door.MaxClients }},
		{"door.max_rooms", number{0, 1_000_000}, "100",
			"Rooms that one caller may have open besides those of this file; guests are one caller. 0 lets only admins open rooms.",
			func(c *Config, _ *table) any { return &c.Door.MaxRooms }},
		{"door.require_spec", truth{}, "false",
			"Refuse an agent's action-play until it has read the card of that companion, spec://ID.",
			func(c *Config, _ *table) any { return &c.Door.RequireSpec }},
		{"identity.tokens", text{cleanTokens}, "",
			"The file of tokens, one line each, which `companiond token` writes: people and agents who connect with one speak under its name, and nobody else can. \"credential:NAME\" is the file NAME that systemd hands over with LoadCredential. Empty means that there are none.",
			func(c *Config, _ *table) any { return &c.Identity.Tokens }},
		{"identity.guests", truth{}, "true",
			"Let whoever connects without a token in as a guest, who may read and talk under any name that nobody has. At an address that other machines can reach guests stay out all the same, unless door.insecure is true. Behind a proxy everybody seems to come from this machine: set it to false there.",
			func(c *Config, _ *table) any { return &c.Identity.Guests }},
		{"journal.path", text{cleanPath}, "state/companiond.db",
			"The journal's file.",
			func(c *Config, _ *table) any { return &c.Journal.Path }},
		{"journal.ballast", size{0, gib, 0}, "16MiB",
			"Space kept free for the day the disk is full. \"0\" keeps none.",
			func(c *Config, _ *table) any { return &c.Journal.Ballast }},
		{"journal.blank_after", span{0, 100 * 365 * day}, "0s",
			"After so long, but not within an hour, the bodies of votes and rounds, and of perceptions that led to nothing, are taken out for good; what was said, decided and done stays. \"0s\" keeps everything.",
			func(c *Config, _ *table) any { return &c.Journal.BlankAfter }},
	}
}

func moduleSettings() []setting {
	return []setting{
		{"modules.characters", text{cleanPath}, "characters",
			"The folder of characters: one file, one character.",
			func(c *Config, _ *table) any { return &c.Modules.Characters }},
		{"modules.cache", text{cleanPath}, "state/cache",
			"Where compiled code is kept; must not lie in the folder of characters.",
			func(c *Config, _ *table) any { return &c.Modules.Cache }},
		{"modules.debounce", span{milli, time.Minute}, "200ms",
			"How long a file must be left alone after a change before it is loaded.",
			func(c *Config, _ *table) any { return &c.Modules.Debounce }},
		{"modules.rescan", span{milli, day}, "10s",
			"How often the folder is read as a whole, in case a change was not announced.",
			func(c *Config, _ *table) any { return &c.Modules.Rescan }},
		{"modules.grace", span{milli, 10 * time.Minute}, "5s",
			"How long a replaced character may finish its last call.",
			func(c *Config, _ *table) any { return &c.Modules.Grace }},
		{"modules.faults", number{1, 1000}, "3",
			"So many faults within fault_window, and a character is put aside for cool_down.",
			func(c *Config, _ *table) any { return &c.Modules.Faults }},
		{"modules.fault_window", span{milli, day}, "60s",
			"How long a fault is remembered.",
			func(c *Config, _ *table) any { return &c.Modules.FaultWindow }},
		{"modules.cool_down", span{milli, day}, "5m",
			"How long a character is put aside.",
			func(c *Config, _ *table) any { return &c.Modules.CoolDown }},
		{"modules.grant", list{cleanGrant}, "say,action.emit",
			"What modules may ask of the daemon besides their own store, the clock and the room's history: \"say\" speaks piece by piece, \"action.emit\" moves the body, \"model.generate\" asks the language model, which may cost money.",
			func(c *Config, _ *table) any { return &c.Modules.Grant }},
	}
}

func wasmSettings() []setting {
	return []setting{
		{"wasm.memory", size{mib, 4 * gib, page}, "64MiB",
			"Memory of one character; a multiple of 64KiB.",
			func(c *Config, _ *table) any { return &c.Wasm.Memory }},
		{"wasm.max_file", size{kib, gib, 0}, "32MiB",
			"The largest file that is loaded.",
			func(c *Config, _ *table) any { return &c.Wasm.MaxFile }},
		{"wasm.fuel", number{0, math.MaxInt64}, "0",
			"Units of work in one call, where guard is \"fuel\"; 0 means that only the deadline ends a call.",
			func(c *Config, _ *table) any { return &c.Wasm.Fuel }},
		{"wasm.guard", choice{[]string{GuardFuel, GuardContext}}, GuardFuel,
			"What stops a character that hangs. \"fuel\" counts its work. \"context\" is the engine's own guard: several times slower, and it misses deep recursion.",
			func(c *Config, _ *table) any { return &c.Wasm.Guard }},
		{"wasm.log_rate", size{kib, gib, 0}, "64KiB",
			"Log of one character in a second.",
			func(c *Config, _ *table) any { return &c.Wasm.LogRate }},
	}
}

func roomSettings() []setting {
	stale := []string{string(entry.StaleReask), string(entry.StaleRefuse), string(entry.StaleAccept)}
	return append([]setting{
		{"room.NAME.companions", list{cleanCompanion}, Everyone,
			"Who lives here: ids of companions, or \"*\" for everyone in the folder.",
			func(_ *Config, t *table) any { return &t.room.Companions }},
		{"room.NAME.policy", choice{[]string{"vote", "pool", "vote+pool"}}, "vote",
			"The rule that decides who speaks. \"vote\": whoever wants it most and was addressed. \"pool\": whoever can pay from a budget that all share. \"vote+pool\": votes decide, and the budget lets short replies in beside.",
			func(_ *Config, t *table) any { return &t.room.Policy }},
		{"room.NAME.patience", span{milli, time.Minute}, "1s",
			"How long a round waits for votes.",
			func(_ *Config, t *table) any { return &t.room.Patience }},
		{"room.NAME.floor", span{milli, 10 * time.Minute}, "10s",
			"How long a speaker has for its line before the next one is asked.",
			func(_ *Config, t *table) any { return &t.room.Floor }},
		{"room.NAME.max_turns", number{0, 1_000_000}, "24",
			"How often companions may speak after a human last spoke. 0 takes the cap off: they may then talk, and cost, for ever.",
			func(_ *Config, t *table) any { return &t.room.MaxTurns }},
		{"room.NAME.silence", span{0, day}, "4s",
			"Quiet after which somebody is asked to speak. \"0s\" never asks.",
			func(_ *Config, t *table) any { return &t.room.Silence }},
		{"room.NAME.stale", choice{stale}, string(entry.StaleReask),
			"What becomes of a line that was written before the newest message: \"reask\" asks the speaker once more, \"refuse\" drops it, \"accept\" keeps it.",
			func(_ *Config, t *table) any { return &t.room.Stale }},
		{"room.NAME.pace", span{0, time.Minute}, "700ms",
			"Pause between a line and the next round, so that people can read along. \"0s\" means none.",
			func(_ *Config, t *table) any { return &t.room.Pace }},
		{"room.NAME.seed", text{cleanShort}, "",
			"Any text; settles ties, and always the same way. Empty means the room's name.",
			func(_ *Config, t *table) any { return &t.room.Seed }},
	}, poolSettings()...)
}

func companionSettings() []setting {
	return []setting{
		{"companion.NAME.home", text{cleanHome}, "",
			"The room in which it perceives and acts when nobody names one. Empty means \"main\" if it lives there, or the first room by name of this file in which it does.",
			func(_ *Config, t *table) any { return &t.companion.Home }},
	}
}

func grantSettings() []setting {
	return []setting{
		{"module.NAME.grant", list{cleanGrant}, "say,action.emit",
			"What this one may ask of the daemon, in place of what modules.grant says for all.",
			func(_ *Config, t *table) any { return &t.module.Grant }},
	}
}

func logSettings() []setting {
	return []setting{
		{"log.level", choice{[]string{"debug", "info", "warn", "error"}}, "info",
			"The least that is said: debug, info, warn or error.",
			func(c *Config, _ *table) any { return &c.Log.Level }},
		{"log.format", choice{[]string{"auto", "text", "json"}}, "auto",
			"\"text\", \"json\", or \"auto\": text on a terminal and json elsewhere.",
			func(c *Config, _ *table) any { return &c.Log.Format }},
	}
}
