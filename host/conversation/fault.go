package conversation

import "slices"

// Fault is why something is refused: one row of the table of errors.
type Fault struct {
	Code   string // seed E's, where it has one
	Status int    // of HTTP
	Text   string
	Detail string // what it is about, empty where the text says all
}

func (f *Fault) Error() string {
	if f.Detail == "" {
		return f.Code + ": " + f.Text
	}
	return f.Code + ": " + f.Text + " (" + f.Detail + ")"
}

// The codes of faults. The first eight are seed E's.
const (
	WithSelf       = "cannot_conversation_with_self"
	WithHuman      = "cannot_start_conversation_with_human"
	AgentNotFound  = "agent_not_found"
	NotInProject   = "target_agent_not_in_project"
	AlreadyActive  = "conversation_already_active"
	NotFound       = "conversation_not_found"
	NoneActive     = "no_active_conversation"
	NotParticipant = "not_conversation_participant"

	Required    = "conversation_required_for_ai_to_ai"
	NotOpen     = "conversation_not_open"
	NotYourTurn = "not_your_turn"
	Invalid     = "invalid_argument"
	NoSession   = "invalid_session"
	BadPasskey  = "authentication_failed"
)

// Refuse gives the fault of a code, about something; "" where the text says all.
func Refuse(code, detail string) *Fault {
	f := Faults[slices.IndexFunc(Faults, func(f Fault) bool { return f.Code == code })]
	f.Detail = detail
	return &f
}

// Faults are all of them, in the order of the documents.
var Faults = []Fault{
	{Code: WithSelf, Status: 400, Text: "an agent cannot have a conversation with itself"},
	{Code: WithHuman, Status: 400, Text: "a conversation is between AIs; a human is written to with send_message"},
	{Code: AgentNotFound, Status: 404, Text: "there is no such agent"},
	{Code: NotInProject, Status: 403, Text: "that agent is not in your project"},
	{Code: AlreadyActive, Status: 409, Text: "these agents have a conversation that is open"},
	{Code: NotFound, Status: 404, Text: "there is no such conversation"},
	{Code: NoneActive, Status: 400, Text: "you have no conversation that is open"},
	{Code: NotParticipant, Status: 403, Text: "you are not in that conversation"},
	{Code: Required, Status: 400, Text: "an AI writes to an AI in a conversation only: start_conversation opens one"},
	{Code: NotOpen, Status: 409, Text: "that cannot be done in this conversation now"},
	{Code: NotYourTurn, Status: 409, Text: "in this conversation one speaks after the other"},
	{Code: Invalid, Status: 400, Text: "an argument is wrong"},
	{Code: NoSession, Status: 401, Text: "that session has ended or never was: call authenticate for another"},
	{Code: BadPasskey, Status: 401, Text: "that is not the passkey of this agent"},
}
