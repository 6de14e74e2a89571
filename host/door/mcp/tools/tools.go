// Package tools says what the tools of the MCP door are called, what they are for, what
// they take and what they answer: all that a client shows its model before the first call.
// The schemas are plain objects, which is all that some models and clients can read.
//
// It never runs a tool, and does not know the MCP SDK.
package tools

import (
	"encoding/json"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/companiond/companiond/host/door/mcp/guide"
	"github.com/companiond/companiond/host/door/mcp/watch"
)

// Tool is a tool as clients are told of it.
type Tool struct {
	Name, Title, About string
	Changes            bool // what is in the room
	In                 any  // its JSON Schema: a *jsonschema.Schema, or as it is written
	Out                *jsonschema.Schema
}

// LongestWait bounds wait_for_turn, in seconds. Clients of MCP give up after 60 s.
const LongestWait = 55.0

// Play is what the tool is called that plays the actions of cards.
const Play = "action-play"

// The arguments that are the same in several tools.
func roomArg() prop {
	return prop{"room?", words("どの部屋か。省略すると main。 Which room; main when absent.")}
}

func readerArg() prop {
	return prop{"from?", words("あなたのid。 Your id, the one you speak under: what you have read is remembered for it. May be left out with a token, and by the only agent of a session; without a session, give it always.")}
}

func speakerArg() prop {
	return prop{"from?", words("Your id. May be left out with a token, which has a name of its own.")}
}

// Consume is chat-relay's tool that says something.
func Consume(t guide.Terms) Tool {
	return Tool{
		Name: "consume", Title: "Consume Resource", Changes: true, About: t.Consume,
		In: shape(
			prop{"amount", amount(t.Amount, 0, t.Most)},
			prop{"message", words("発言。 What to say.")},
			prop{"from", words("発言者のid。 Who says it.")},
			roomArg(),
			prop{"basis_seq?", integer("The seq of the newest entry you have seen; a turn is refused when somebody spoke since. Known by itself when you called history with your from, or in the same session.")},
		),
		Out: shape(
			prop{"success", truth("")},
			prop{"resource", amount("残量。 What is left.", 0, 1<<31)},
			prop{"message", words("")},
		),
	}
}

// Status is chat-relay's tool that tells what is left of the pool.
func Status() Tool {
	return Tool{
		Name: "status", Title: "Check Resource Status",
		About: "現在のリソース残量を返します。 Gives what is left of the room's resource; in a room without one that is always 100, and with from the answer has a note that says so.",
		In:    shape(readerArg(), roomArg()),
		Out: shape(
			prop{"resource", amount("残量。 What is left.", 0, 1<<31)},
			prop{"head?", integer("With from: up to where you have read; absent where you have not.")},
			prop{"note?", words("With from, where the room has no resource: what the number means.")},
		),
	}
}

// History is chat-relay's tool that tells what was said.
func History() Tool {
	return Tool{
		Name: "history", Title: "Check History",
		About: "現在の会話履歴(新しい方から最大100件、古い順)を返します。fromに自分のidを渡してください。 Gives the newest messages, at most 100, oldest first. Give your id as from: what you have read is remembered for it, also without a session, and the answer has seq, kind and at of each message, and head, up to where you have read now.",
		In: shape(
			readerArg(), roomArg(),
			prop{"since?", integer("Only messages with a greater seq, from the oldest on: where more is true, call again with since = head. Not beyond the head of the last answer. The answer has what it has with from.")},
			prop{"limit?", integer("At most so many, 1 to 100.")},
			prop{"budget?", integer("At most so many tokens of a language model, as they are guessed: the newest messages that fit. The newest is always there, its middle left out where it alone is too long. Not together with since.")},
		),
		Out: shape(
			prop{"history", list("", shape(
				prop{"from", words("")}, prop{"message", words("")}, prop{"seq?", integer("")},
				prop{"kind?", choice("", "turn", "backchannel")}, prop{"to?", list("", words(""))}, prop{"at?", words("")}, cut(),
			))},
			prop{"head?", integer("Up to where you have read now: the basis_seq of what you say next, and the since of what follows.")},
			prop{"more?", truth("There are more messages behind these.")},
			prop{"missed_since?", integer("Between this seq and the first of these are messages that you have not been shown: history with since = this has them.")},
		),
	}
}

// SearchHistory is the tool that finds what was said.
func SearchHistory() Tool {
	return Tool{
		Name: "search_history", Title: "Search History",
		About: "過去の発言を言葉で探し、新しい順に返します。日本語は2文字の語も見つかります。 Finds what was said by words that stand in it, newest first, however long ago it was. It does not change what you have read.",
		In: shape(
			speakerArg(), prop{"room?", words("どの部屋か。省略すると main、* はすべての部屋。 Which room; main when absent, * for all that you may read.")},
			prop{"query", words("探す言葉。空白で区切るとすべてを含む発言。 Words with spaces between them: all of them stand in the message. What is in double quotes is one, with its spaces.")},
			prop{"by?", words("Only what this one said.")},
			prop{"before?", integer("Only what was said before: next of the last answer; in one room any seq.")},
			prop{"limit?", integer("At most so many, 1 to 100: 20 when absent.")},
		),
		Out: shape(
			prop{"hits", list("", shape(
				prop{"room", words("")}, prop{"seq", integer("")},
				prop{"turn?", integer("Its turn's number, as read_session_turns and fork_session take it; of a backchannel that of the turn before.")},
				prop{"from", words("")}, prop{"message", words("")},
				prop{"kind", choice("", "turn", "backchannel")}, prop{"at", words("")}, cut(),
			))},
			prop{"next?", integer("There may be more: call again with before = next.")},
			prop{"behind?", truth("The index is being made: the newest messages are not found yet.")},
		),
	}
}

// WaitForTurn is the tool that waits until there is something to do.
func WaitForTurn() Tool {
	return Tool{
		Name: "wait_for_turn", Title: "Wait For Turn",
		About: "Waits until there is something for you to do, and says what: granted (you hold the floor: call say with the grant), " +
			"asked (a round waits for your vote: call vote), addressed or unseen (something was said that you have not seen), points (you had too few for a line and there are enough now), or timeout: then call it again. " +
			"Everything is told once, to the name in from, whether you have a session or not. What you were told to do and have not done is told again when a wait is over.",
		In: shape(
			speakerArg(), roomArg(),
			prop{"basis_seq?", integer("The head of the last answer you have seen; absent: what was shown to your from. Leave it out, and nothing is told twice.")},
			prop{"timeout_seconds?", amount("How long to wait: 25 when absent.", 0, LongestWait)},
		),
		Out: shape(append(slices.Concat(sounds(), stages()),
			prop{"reason", reasons("")},
			prop{"room", words("")},
			prop{"head", integer("The basis_seq of what you say next.")},
			prop{"grant?", grant()},
			prop{"round?", round()},
			prop{"messages", list("What you have not seen, oldest first.", shape(
				prop{"from", words("")}, prop{"message", words("")}, prop{"seq", integer("")},
				prop{"kind", choice("", "turn", "backchannel")}, prop{"to?", list("", words(""))}, prop{"at", words("")}, cut(),
			))},
			prop{"missed_since?", integer("Between this seq and the first of messages are more that you have not been shown: history with since = this has them.")},
			prop{"resource?", amount("What is left of the room's pool.", 0, 1<<31)},
			prop{"turn_price?", amount("What a usual turn costs: the amount of consume. Absent: turns are not paid for, they are voted on.", 0, 1<<31)},
		)...),
	}
}

// Vote is the tool that votes in a round.
func Vote() Tool {
	return Tool{
		Name: "vote", Title: "Vote", Changes: true,
		About: "Says whether you want to speak next. The highest importance among those who were addressed, or else among all, gets the floor; wait_for_turn tells whether it is you.",
		In: shape(
			speakerArg(), roomArg(),
			prop{"about?", integer("The seq of the message your vote is about; absent: the newest.")},
			prop{"state", choice("", "speak", "listen")},
			prop{"importance?", amount("How much you want to speak: 0 would not mind, 10 must.", 0, 10)},
			prop{"selected?", truth("A hint that you were meant; the daemon finds out by itself.")},
			prop{"closing?", choice("Whether you wish to bring the talk to an end.", "none", "pre-closing", "closing", "terminal")},
			prop{"reason?", words("For people who ask why.")},
		),
		Out: shape(prop{"counted", truth("")}, prop{"about", integer("")}),
	}
}

// Say is the tool that says a turn with a grant.
func Say(t guide.Terms) Tool {
	return Tool{
		Name: "say", Title: "Say", Changes: true, About: t.Say,
		In: shape(
			speakerArg(), roomArg(),
			prop{"message", words("What to say.")},
			prop{"grant?", words("The token of your grant.")},
			prop{"kind?", choice("turn when absent and a grant is given.", "turn", "backchannel")},
			prop{"to?", list("Ids of those you mean.", words(""))},
			prop{"basis_seq?", integer("The seq of the newest entry you have seen; absent: that of the grant, or what was shown to your from.")},
		),
		Out: shape(prop{"seq", integer("")}, prop{"id", words("")}, prop{"kind", choice("", "turn", "backchannel")}, prop{"resource?", amount("What is left of the room's pool.", 0, 1<<31)}),
	}
}

// ActionPlay is the AI Companion Protocol's tool, for the actions of the cards that there are.
func ActionPlay(in json.RawMessage) Tool {
	return Tool{
		Name: Play, Title: "Play Action", Changes: true, In: in,
		About: "コンパニオンの行動を実行します。先に spec://main を読んでください。 Plays an action of a companion's card: its body shows it. Read spec://main first: its events say what to do when.",
		Out: shape(
			prop{"id", words("Of the action; what became of it is told by it.")},
			prop{"delivered", integer("How many bodies were connected.")},
			prop{"wish?", integer("Of the action speak: the entry of the wish. Its line is said, and shown by the body, when the floor is free.")},
			prop{"warning?", words("The card's events do not allow it for this perception.")},
			prop{"note?", words("")},
		),
	}
}

// About is the tool that tells an agent what it can find out in no other way.
func About() Tool {
	return Tool{
		Name: "about", Title: "About",
		About: "自分が誰か、どの部屋があり誰がいるか、発言の値段、今すべきことを返します。 Tells who you are, which rooms there are, who is here, how turns are taken and what they cost, " +
			"and what would be right to do now. It changes nothing.",
		In: shape(
			speakerArg(), roomArg(),
		),
		Out: shape(
			prop{"you", shape(
				prop{"name?", words("Under which you speak; absent: you gave none.")}, prop{"kind", words("agent or human.")},
				prop{"guest", truth("You came without a token.")}, prop{"scopes", list("What you may do.", words(""))},
			)},
			prop{"room", shape(append(slices.Concat(sounds(), stages()),
				prop{"name", words("")}, prop{"state", words("")}, prop{"policy", words("")},
				prop{"turns_need_floor", truth("Turns are voted on, and said with a grant. Else they are paid for.")},
				prop{"pool?", shape(
					prop{"level", amount("What is left.", 0, 1<<31)}, prop{"size", amount("What a full pool has.", 0, 1<<31)},
					prop{"refill_seconds", amount("After which a spend comes back.", 0, 1<<31)},
					prop{"pricing", choice("strict: the price is that of the length. free: it is what you offer.", "strict", "free")},
					prop{"prices", list("Shortest first; the first is a backchannel's.", shape(prop{"chars", integer("Of up to so many characters.")}, prop{"cost", amount("", 0, 1<<31)}))},
					prop{"reserve?", amount("The last points, kept for who is addressed.", 0, 1<<31)},
					prop{"share?", amount("The most that one may have spent at a time.", 0, 1<<31)},
				)},
				prop{"members", list("", shape(prop{"id", words("")}, prop{"name", words("")}, prop{"kind", words("companion, human or agent.")}))}, prop{"more_members?", truth("")},
				prop{"head", integer("The seq of the newest entry.")},
				prop{"floor?", words("Who holds it.")},
			)...)},
			prop{"rooms", list("All rooms by name, at most 100.", words(""))}, prop{"more_rooms?", truth("")},
			prop{"reason?", reasons("What wait_for_turn would answer now; absent: the room is in trouble.")},
			prop{"unseen", integer("Messages that you have not seen.")},
			prop{"now", shape(prop{"call?", words("The tool to call.")}, prop{"why", words("")})},
			prop{"grant?", grant()},
			prop{"round?", round()},
		),
	}
}

// cut says what the mark of a message means.
func cut() prop {
	return prop{"cut?", choice("People heard no more of it than this: somebody spoke over it, it was stopped, or it broke off.", "cut", "stopped", "failed")}
}

// sounds are the properties of a watch.Sound.
func sounds() []prop {
	return []prop{
		{"heard?", words("Whose line a body says now; nobody else begins before it has ended.")},
		{"waiting?", words("Why nobody answers yet.")},
	}
}

// stages are the properties of a watch.Stage.
func stages() []prop {
	return []prop{
		{"closing", choice("How far the talk has come to its end.", "none", "pre-closing", "closing", "terminal")},
		{"turns", integer("Turns taken since a person spoke.")},
		{"max_turns", integer("As many may be taken; 0: no cap.")},
	}
}

func reasons(about string) *jsonschema.Schema {
	return choice(about, watch.Granted, watch.Asked, watch.Addressed, watch.Unseen, watch.Points, watch.Timeout)
}

func grant() *jsonschema.Schema {
	return shape(prop{"token", words("")}, prop{"basis_seq", integer("")}, prop{"expires", words("")})
}

func round() *jsonschema.Schema {
	return shape(
		prop{"about", integer("The seq of the message.")},
		prop{"due", words("Votes are counted then at the latest.")},
		prop{"addressed", truth("You are meant.")},
	)
}
