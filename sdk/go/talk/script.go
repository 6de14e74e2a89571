package talk

import "github.com/companiond/companiond/sdk/go/talk/lines"

type (
	act    = lines.Act
	line   = lines.Line
	script = lines.Script

	// Mistake is one thing that is wrong with a script.
	Mistake = lines.Mistake
	// Mistakes are what is wrong with a text of scripts, in the order of its lines.
	Mistakes = lines.Mistakes
)

// What lines do, and the section of those that fit everywhere.
const (
	tell      = lines.Tell
	ask       = lines.Ask
	answer    = lines.Answer
	react     = lines.React
	opening   = lines.Opening
	greet     = lines.Greet
	intro     = lines.Intro
	reintro   = lines.Reintro
	again     = lines.Again
	name      = lines.Name
	namesake  = lines.Namesake
	howAreYou = lines.HowAreYou
	thanks    = lines.Thanks
	praise    = lines.Praise
	rude      = lines.Rude
	wordless  = lines.Wordless
	emoji     = lines.Emoji
	long      = lines.Long
	unknown   = lines.Unknown
	dodge     = lines.Dodge
	pre       = lines.Pre
	closing   = lines.Closing
	farewell  = lines.Farewell
	nod       = lines.Nod
	self      = lines.Self
	recall    = lines.Recall
	knows     = lines.Knows
	forgot    = lines.Forgot
	told      = lines.Told
	vent      = lines.Vent
	distress  = lines.Distress
	grave     = lines.Grave
	anyTopic  = lines.AnyTopic
)
