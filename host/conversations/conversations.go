// Package conversations is the conversations of agents as their doors have them: it opens
// one for those of a project, finds out what each of them is to do next, and hands out what
// was said until it is acknowledged.
//
// It decides nothing of a conversation's life: the table of host/conversation does, in the
// conversation's room, whose journal alone says how it stands. What is kept here is a view
// of that, made anew when the daemon starts. It knows no passkeys or sessions
// (host/sessions), and no wire.
package conversations

import (
	"context"
	"log/slog"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// Bounds.
const (
	MaxWait    = 45 * time.Second // of one Next
	MaxContext = 20               // read messages in a Waiting
	MaxNew     = 10               // unread ones
)

// Agent is one of those who may take part.
type Agent struct {
	ID, Name string
	Human    bool
	Hosted   bool // a companion that lives here
}

// Project is agents that may have conversations with each other.
type Project struct {
	Name   string
	Agents []string
}

// Config is what conversations stand on.
type Config struct {
	Rooms    rooms.Directory
	Halls    rooms.Halls
	Projects []Project
	Agent    func(id string) (Agent, bool)
	Here     func(m Member) bool // it has a session
	Pending  time.Duration       // until one expires that nobody answers, unless it is asked for otherwise
	Idle     time.Duration       // until one ends in which nobody says anything, unless ...
	NewID    func() string
	Invite   func(Invitation) // somebody who is not here was invited; nil: nobody is told
	Log      *slog.Logger
}

// Member is an agent in a project.
type Member struct{ Project, Agent string }

// Invitation is for somebody who has no session.
type Invitation struct {
	Member
	Conversation, From, Purpose string
}

// Conversations are all of a daemon. Make them with New, and call Load before anything else.
type Conversations struct{}

// New makes them; nothing is read yet.
func New(c Config) *Conversations { panic("not yet") }

// Load reads which conversations there are, and brings the index of rooms together with what
// the rooms' journals say: what a kill left half done is done.
func (c *Conversations) Load(ctx context.Context) error { panic("not yet") }

// Wrote takes what is in the journal of a conversation's room by now. It is called by the
// room's loop and does not wait.
func (c *Conversations) Wrote(room string, now conversation.Conversation, entries []entry.Entry) {
	panic("not yet")
}

// Ask is a conversation that somebody wants. The zero values are the usual ones.
type Ask struct {
	Targets       []string // one, or more for a group
	Purpose       string
	Text          string // the first message; empty: none
	MessageID     string // of that, idempotency key; empty: one is made
	MaxTurns      int
	InTurn        bool
	Pending, Idle time.Duration
}

// View is a conversation as it is shown: to its members, to humans, on the page.
type View struct {
	ID string `json:"conversation_id"`
	conversation.Conversation
}

// Start opens a conversation.
//
// # Errors
//
// A *conversation.Fault: WithSelf, AgentNotFound, WithHuman (of an AI; a human starts a chat with
// an AI in the same way), NotInProject, AlreadyActive (Detail is the id of the one that is
// open), Invalid.
func (c *Conversations) Start(ctx context.Context, m Member, a Ask) (View, error) { panic("not yet") }

// Join answers a request; it is what a member does that authenticates with the conversation's
// id. One that has joined, or opened it, may do so again.
func (c *Conversations) Join(ctx context.Context, m Member, id string) (View, error) {
	panic("not yet")
}

// Decline refuses a request.
func (c *Conversations) Decline(ctx context.Context, m Member, id, why string) (View, error) {
	panic("not yet")
}

// End ends one, or leaves a group. Without an id it is the one that is open, NoneActive where
// there is none, and Invalid, naming them, where there are several. A final message that is not empty is said first.
func (c *Conversations) End(ctx context.Context, m Member, id, final string) (View, error) {
	panic("not yet")
}

// Stop ends one for all on the word of a human of the project, who need not be a member.
func (c *Conversations) Stop(ctx context.Context, human, id string) (View, error) { panic("not yet") }

// Gone says that the last session of a member has ended or expired.
func (c *Conversations) Gone(ctx context.Context, m Member) { panic("not yet") }

// Words are a message to be said.
type Words struct {
	Conversation string // empty: the open one with Target, or with whoever wrote last
	Target       string // empty: whoever is in the conversation
	Text         string
	MessageID    string // idempotency key; empty: one is made
	AutoStart    bool   // where none with Target is open, open one
}

// Said is what became of words.
type Said struct {
	View    View
	Message abi.Message
	Started bool // the conversation was opened for them
}

// Say says something in an open conversation. Between a human and an AI one is opened where
// none is, as with AutoStart.
//
// # Errors
//
// Required where an AI writes to an AI outside any; NotFound, NotParticipant, NotOpen,
// NotYourTurn, Invalid (a text of more than 4,000 characters, or of none).
func (c *Conversations) Say(ctx context.Context, m Member, w Words) (Said, error) { panic("not yet") }

// Doing is what a member is to do next.
type Doing string

// What there is to do: the actions of seed E.
const (
	DoRequest Doing = "conversation_request"
	DoEnded   Doing = "conversation_ended"
	DoExpired Doing = "conversation_expired" // for whoever opened it
	DoExit    Doing = "exit"                 // a human has ended the chat
	DoRead    Doing = "get_pending_messages"
	DoWait    Doing = "wait_for_messages"
)

// Action is the answer to Next.
type Action struct {
	Do     Doing
	View   View   // of what it is about; of DoWait one that has become active since, or none
	Others []View // with DoRequest: the requests besides
	Ending conversation.Ending
	Target string // with DoExpired: whoever did not come
	Unread int    // with DoRead: messages in all
	// Cursor acknowledges that this was received: with it an ending is not told again.
	Cursor string
}

// Seen is what one session has been shown, so that it is not shown the same request for ever. The zero value
// is that of a new session. It is not to be used by two calls at once.
type Seen struct{}

// Next gives what a member is to do, at once or as soon as there is something within the
// wait, else DoWait. The order is: endings, requests, messages. An ending stays
// untold until its cursor is acknowledged.
func (c *Conversations) Next(ctx context.Context, m Member, s *Seen, wait time.Duration) (Action, error) {
	panic("not yet")
}

// Line is a message with the conversation it belongs to.
type Line struct {
	Conversation string
	abi.Message
}

// Waiting is what a member has not read.
type Waiting struct {
	Context []Line // read, or its own; the newest 20 of the conversations of New
	New     []Line // unread, at most 10, oldest first
	Total   int    // unread in all
	// Cursor acknowledges New.
	Cursor string
}

// Waiting gives what a member has not read. It comes again until its cursor is acknowledged.
func (c *Conversations) Waiting(ctx context.Context, m Member) (Waiting, error) { panic("not yet") }

// Acknowledge takes the cursor of a Waiting or an Action. One that is old, or was acknowledged, is no
// error; one that was never given is Invalid.
func (c *Conversations) Acknowledge(ctx context.Context, m Member, cursor string) error {
	panic("not yet")
}

// Earlier is the conversation before this one of the same members of a project.
type Earlier struct {
	ID      string               `json:"conversation_id"`
	Purpose string               `json:"purpose,omitempty"`
	Ended   time.Time            `json:"ended_at"`
	Ending  *conversation.Ending `json:"ending,omitempty"`
	Turns   int                  `json:"turns"`
	Last    []abi.Message        `json:"last_messages"` // at most 4
}

// Earlier gives it, nil for none.
func (c *Conversations) Earlier(ctx context.Context, id string) (*Earlier, error) { panic("not yet") }

// Get gives one by its id; NotFound.
func (c *Conversations) Get(ctx context.Context, id string) (View, error) { panic("not yet") }

// History gives messages of one with Seq > since. A member of the conversation may read it, and a
// human of the project: that is the door's to ask, see [Conversations.Project].
func (c *Conversations) History(ctx context.Context, id string, since uint64, limit int) (msgs []abi.Message, head uint64, err error) {
	panic("not yet")
}

// Filter is which conversations a list is to have. Empty fields are any.
type Filter struct {
	Project, Agent string
	State          conversation.State
	Before         string // id: only older ones
	Limit          int
}

// List gives conversations, newest first.
func (c *Conversations) List(ctx context.Context, f Filter) ([]View, error) { panic("not yet") }

// Project gives a project; ok is false for one that is not configured.
func (c *Conversations) Project(name string) (p Project, ok bool) { panic("not yet") }

// ProjectOf gives the project of an agent that is in one alone, and else Invalid, naming
// them.
func (c *Conversations) ProjectOf(agent string) (string, error) { panic("not yet") }

// Notice is a change of a conversation's life, or somebody invited who is not here.
type Notice struct {
	View
	Absent []string `json:"absent,omitempty"` // invited, and without a session
}

// Follow calls fn with every change of state from now on of the conversations of a project,
// "" for all, until ctx ends or fn answers an error. A follower that is too slow is dropped with an error.
func (c *Conversations) Follow(ctx context.Context, project string, fn func(Notice) error) error {
	panic("not yet")
}
