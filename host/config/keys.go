package config

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
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
	for _, s := range sections() {
		for _, k := range s.keys {
			name := s.path("NAME").add(k.name)
			keys = append(keys, Key{Name: name.String(), Default: literal(k.kind, k.usually()), Env: envName(name), Doc: k.doc})
		}
	}
	return keys
}

// section is a table of the file, or all those tables that have names, as
// [room.NAME] has. Its values are the field of [Config] that is called as it is:
// Door for door, Rooms for room.
type section struct {
	name    string
	example string // a name for a table in the document; empty where the section is one table
	doc     string
	keys    []setting
}

// setting is a key: a row of the tables that parsing, variables and documents are
// made of. It sets the field that is called as it is: MaxTurns for max_turns.
type setting struct {
	name string
	kind
	usual string // the default, as a variable would have it
	doc   string
}

// usually gives the default.
func (k setting) usually() any {
	v, _ := k.read(fromText(k.kind, k.usual))
	return v
}

func sections() []section {
	return []section{
		{"door", "", "Who may connect, and where.", doorKeys()},
		{"identity", "", "Who is who.", identityKeys()},
		{"journal", "", "The record of everything that happened; the only truth.", journalKeys()},
		{"modules", "", "The folder of characters. Saving a file there changes the character while it talks.", moduleKeys()},
		{"wasm", "", "What one WebAssembly character may use.", wasmKeys()},
		{sectionRoom, DefaultName, "A room is a table [room.NAME]; write as many as you like. Without any there is one room " +
			"\"main\" with every companion. A name is letters and digits of any script, '_', '-' and '.'; a name " +
			"outside A-Z, a-z, 0-9, '_' and '-' goes in quotes: [room.\"居間\"].", append(roomKeys(), poolKeys()...)},
		{"companion", "nikoni", "What is set for one companion, in a table [companion.ID]; take the # off its header too.", companionKeys()},
		{sectionModel, DefaultName, "A language model is a table [model.NAME]; write as many as you like, and take the # off its header too. " +
			"Characters that are a card (NAME.json) think with it, and modules that are granted model.generate may ask it. " +
			"A card's \"model\" says which one it wants; whoever names none gets \"main\", or the only one there is. " +
			"Without any the daemon runs all the same, and says which companions wait for a model.", modelKeys()},
		{"log", "", "What the daemon says of itself.", logKeys()},
	}
}

// The sections that there is something more to say of than the table of keys says.
const (
	sectionRoom  = "room"
	sectionModel = "model"
)

const (
	kib   = 1 << 10
	mib   = 1 << 20
	gib   = 1 << 30
	page  = 64 * kib // of WebAssembly memory
	milli = time.Millisecond
	day   = 24 * time.Hour
)

func doorKeys() []setting {
	return []setting{
		{"listen", text{cleanListen}, "127.0.0.1:3000",
			"Address and port of the front door. Port 0 takes any free one. An address that other machines can reach needs identity.tokens."},
		{"insecure", truth{}, "false",
			"Allow an address that other machines can reach without tokens: whoever reaches the door is a guest there."},
		{"hosts", list{cleanHost}, "",
			"Names allowed in Host headers besides this machine's own, for use behind a proxy. Without a port."},
		{"origins", list{cleanOrigin}, "",
			"Web pages allowed to connect besides the daemon's own, each as scheme://host[:port]."},
		{"rate", number{0, 1_000_000}, "200",
			"Requests a second that one address on another machine may make; twice as many at once. 0 takes the limit off."},
		{"max_clients", number{1, 65536}, "256",
			"WebSocket clients at once."},
		{"max_rooms", number{0, 1_000_000}, "100",
			"Rooms that one caller may have open besides those of this file; guests are one caller. 0 lets only admins open rooms."},
		{"require_spec", truth{}, "false",
			"Refuse an agent's action-play until it has read the card of that companion, spec://ID."},
	}
}

func identityKeys() []setting {
	return []setting{
		{"tokens", text{cleanSecret("tokens")}, "",
			"The file of tokens, one line each, which `companiond token` writes: people and agents who connect with one speak under its name, and nobody else can. \"credential:NAME\" is the file NAME that systemd hands over with LoadCredential. Empty means that there are none."},
		{"guests", truth{}, "true",
			"Let whoever connects without a token in as a guest, who may read and talk under any name that nobody has. At an address that other machines can reach guests stay out all the same, unless door.insecure is true. Behind a proxy everybody seems to come from this machine: set it to false there."},
	}
}

func journalKeys() []setting {
	return []setting{
		{"path", text{cleanPath}, "state/companiond.db",
			"The journal's file."},
		{"ballast", size{0, gib, 0}, "16MiB",
			"Space kept free for the day the disk is full. \"0\" keeps none."},
		{"blank_after", span{0, 100 * 365 * day}, "0s",
			"After so long, but not within an hour, the bodies of votes and rounds, and of perceptions that led to nothing, are taken out for good; what was said, decided and done stays. \"0s\" keeps everything."},
	}
}

func moduleKeys() []setting {
	return []setting{
		{"characters", text{cleanPath}, "characters",
			"The folder of characters: one file, one character."},
		{"cache", text{cleanPath}, "state/cache",
			"Where compiled code is kept; must not lie in the folder of characters."},
		{"debounce", span{milli, time.Minute}, "200ms",
			"How long a file must be left alone after a change before it is loaded."},
		{"rescan", span{milli, day}, "10s",
			"How often the folder is read as a whole, in case a change was not announced."},
		{"grace", span{milli, 10 * time.Minute}, "5s",
			"How long a replaced character may finish its last call."},
		{"faults", number{1, 1000}, "3",
			"So many faults within fault_window, and a character is put aside for cool_down."},
		{"fault_window", span{milli, day}, "60s",
			"How long a fault is remembered."},
		{"cool_down", span{milli, day}, "5m",
			"How long a character is put aside."},
		{"grant", list{cleanGrant}, "say,action.emit",
			"What modules may ask of the daemon besides their own store, the clock and the room's history: \"say\" speaks piece by piece, \"action.emit\" moves the body, \"model.generate\" asks the language model, which may cost money."},
	}
}

func wasmKeys() []setting {
	return []setting{
		{"memory", size{mib, 4 * gib, page}, "64MiB",
			"Memory of one character; a multiple of 64KiB."},
		{"max_file", size{kib, gib, 0}, "32MiB",
			"The largest file that is loaded."},
		{"fuel", number{0, math.MaxInt64}, "0",
			"Units of work in one call, where guard is \"fuel\"; 0 means that only the deadline ends a call."},
		{"guard", choice{of: []string{GuardFuel, GuardContext}}, GuardFuel,
			"What stops a character that hangs. \"fuel\" counts its work. \"context\" is the engine's own guard: several times slower, and it misses deep recursion."},
		{"log_rate", size{kib, gib, 0}, "64KiB",
			"Log of one character in a second."},
	}
}

func roomKeys() []setting {
	stale := []string{string(entry.StaleReask), string(entry.StaleRefuse), string(entry.StaleAccept)}
	return []setting{
		{"companions", list{cleanName(Everyone)}, Everyone,
			"Who lives here: ids of companions, or \"*\" for everyone in the folder."},
		{"policy", choice{of: []string{"vote", "pool", "vote+pool"}}, "vote",
			"The rule that decides who speaks. \"vote\": whoever wants it most and was addressed. \"pool\": whoever can pay from a budget that all share. \"vote+pool\": votes decide, and the budget lets short replies in beside."},
		{"patience", span{milli, time.Minute}, "1s",
			"How long a round waits for votes."},
		{"floor", span{milli, 10 * time.Minute}, "10s",
			"How long a speaker has for its line before the next one is asked."},
		{"max_turns", number{0, 1_000_000}, "24",
			"How often companions may speak after a human last spoke. 0 takes the cap off: they may then talk, and cost, for ever."},
		{"silence", span{0, day}, "4s",
			"Quiet after which somebody is asked to speak. \"0s\" never asks."},
		{"stale", choice{of: stale}, string(entry.StaleReask),
			"What becomes of a line that was written before the newest message: \"reask\" asks the speaker once more, \"refuse\" drops it, \"accept\" keeps it."},
		{"pace", span{0, time.Minute}, "700ms",
			"Pause between a line and the next round, so that people can read along. \"0s\" means none."},
		{"seed", text{cleanShort}, "",
			"Any text; settles ties, and always the same way. Empty means the room's name."},
	}
}

func poolKeys() []setting {
	usual := abi.DefaultPool()
	var prices []string
	for _, p := range usual.Prices {
		prices = append(prices, fmt.Sprintf("%d:%v", p.Chars, p.Cost))
	}
	return []setting{
		{"pool_pricing", choice{of: []string{string(abi.PricingStrict), string(abi.PricingFree)}}, string(usual.Pricing),
			"With policy \"pool\" or \"vote+pool\": \"strict\" takes a message's price by its length, \"free\" takes what the speaker offers, whatever it says for it."},
		{"pool_prices", list{cleanPrice}, strings.Join(prices, ","),
			"Prices as CHARACTERS:COST, shortest first. The first is a backchannel's, the last the longest message that strict pricing takes. Japanese needs fewer characters than English: for English talk try \"20:5\", \"120:60\", \"280:80\"."},
		{"pool_size", number{1, math.MaxInt32}, fmt.Sprint(usual.Size),
			"Points in a full pool."},
		{"pool_recovery", span{milli, day}, (time.Duration(usual.Recovery) * milli).String(),
			"How long until points that were spent come back."},
		{"pool_reserve", number{0, math.MaxInt32}, fmt.Sprint(usual.Reserve),
			"The last points of the pool, kept for participants who were addressed."},
		{"pool_share", number{0, math.MaxInt32}, fmt.Sprint(usual.Share),
			"Most points that one participant may have spent at a time. 0 means all of them."},
	}
}

func companionKeys() []setting {
	return []setting{
		{"home", text{cleanName("")}, "",
			"The room in which it perceives and acts when nobody names one. Empty means \"main\" if it lives there, or the first room by name of this file in which it does."},
	}
}

func logKeys() []setting {
	return []setting{
		{"level", choice{of: []string{"debug", "info", "warn", "error"}}, "info",
			"The least that is said: debug, info, warn or error."},
		{"format", choice{of: []string{"auto", "text", "json"}}, "auto",
			"\"text\", \"json\", or \"auto\": text on a terminal and json elsewhere."},
	}
}
