package force

// Rule names one that a game broke, or that something of a game's came to nothing by. Whoever
// writes a game looks it up by its name.
type Rule string

// Companions says whether it is a companion that did not do what a game wants, or did not manage
// to, and no fault of the game's.
func (r Rule) Companions() bool { return r == ForceSilence || r == ForceFailed || r == ForceGivenUp }

// The rules. Those of messages are the door's to look at; here are their names.
const (
	MessageRubbish Rule = "message/rubbish" // it is no JSON object
	MessageCommand Rule = "message/command" // there is no such command
	MessageField   Rule = "message/field"   // a field is missing, or is something else
	MessageGame    Rule = "message/game"    // the game has no name, or suddenly another
	MessageMany    Rule = "message/many"    // they come too fast, and are read later

	StartupMissing   Rule = "startup/missing"   // the first message was another, and counts as one
	StartupAgain     Rule = "startup/again"     // it came twice on a connection
	StartupElsewhere Rule = "startup/elsewhere" // the game started on another connection, and has its actions there

	ContextEmpty Rule = "context/empty" // it says nothing
	ContextLong  Rule = "context/long"  // it says too much, and is not told
	ContextMany  Rule = "context/many"  // too much waits behind a result, and this is not told

	RegisterEmpty    Rule = "register/empty"       // it offers nothing
	RegisterName     Rule = "register/name"        // it cannot be a name, or is the house's
	RegisterAgain    Rule = "register/again"       // the game has it already, and the first counts
	RegisterConflict Rule = "register/conflict"    // another game has it, or the companion's card
	RegisterFull     Rule = "register/full"        // there are too many
	RegisterSchema   Rule = "register/schema"      // what its parameters have to be cannot be understood
	RegisterWord     Rule = "register/schema-word" // others are said not to understand a word of its schema

	UnregisterUnknown Rule = "unregister/unknown" // the game has no such action, which is no fault

	ForceEmpty    Rule = "force/empty"        // it names no action
	ForceUnknown  Rule = "force/unknown"      // it names none that the game offers
	ForceSome     Rule = "force/some-unknown" // it names some that the game does not offer, and goes on without them
	ForcePriority Rule = "force/priority"     // it is none that there is, and counts as low
	ForceMultiple Rule = "force/multiple"     // there was one already, whose place it takes
	ForceRefused  Rule = "force/refused"      // another game's is more urgent
	ForceGone     Rule = "force/gone"         // all its actions were taken back, and it is dropped
	ForceSilence  Rule = "force/unanswered"   // the companion did none of it
	ForceFailed   Rule = "force/failed"       // what the companion did failed, and it is asked once more
	ForceGivenUp  Rule = "force/given-up"     // it was asked for as often as may be, or a person said STOP

	ResultUnknown Rule = "result/unknown" // no action of this id is out
	ResultLate    Rule = "result/late"    // it came when nobody waited for it any more
	ResultSlow    Rule = "result/slow"    // it took so long that a companion would have gone on
	ResultMissing Rule = "result/missing" // it did not come
	ResultSilent  Rule = "result/silent"  // it failed, and does not say why
)
