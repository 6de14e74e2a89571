// Package rooms is what the doors see of rooms: what one can do in a room, what it
// tells of itself, and how rooms are found, opened and closed.
//
// It does nothing: host/room and host/room/registry do.
package rooms

import (
	"context"
	"encoding/json"
	"math"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/room/reader"
)

// ErrStopping says that nothing is begun any more.
var ErrStopping = abi.Errorf(abi.CodeUnavailable, "the daemon is stopping")

// Utterance is something a participant wants to say.
type Utterance struct {
	ID    string // idempotency key; empty: the room makes one. The same ID twice gives the first message
	From  string
	By    abi.ParticipantKind // empty means human
	To    []string
	Text  string
	Kind  abi.MessageKind // empty: what the policy makes of it; of a human's, a turn unless it is a listener's word
	Grant string          // token of the grant it uses
	Basis uint64          // seq of the newest entry the speaker had seen; 0 when not known
	Offer *float64        // what it would pay from the room's pool; nil: the price
	// Member says that From is a member of the conversation that the room is for, by its session there.
	// Without it an agent says nothing in such a room.
	Member bool
	// Source is entry.SourceChat for what was read in a stream's chat, or empty.
	Source string
}

// Info is a room at a glance.
type Info struct {
	Name     string      `json:"name"`
	Head     uint64      `json:"head"`
	Last     uint64      `json:"last"`  // seq of the newest turn
	State    string      `json:"state"` // talking, resting, waiting, stopped, closed, capped, archived, unjudged, unavailable
	Policy   string      `json:"policy"`
	Closing  abi.Closing `json:"closing"`
	Turns    int         `json:"turns"`
	MaxTurns int         `json:"max_turns"`
	Waiting  string      `json:"waiting,omitempty"` // why nobody answers yet
	Heard    string      `json:"heard,omitempty"`   // whose line a body says now
	Floor    string      `json:"floor,omitempty"`   // who holds it
	Grant    *abi.Grant  `json:"grant,omitempty"`   // by what
	Round    *OpenRound  `json:"round,omitempty"`
	Pool     *abi.Budget `json:"pool,omitempty"` // now, in a room with one
	Terms    *abi.Pool   `json:"-"`              // by which it is spent and comes back; nil where Pool is

	// Loading says that its companions are being loaded: they answer when they are
	// there.
	Loading bool `json:"loading,omitempty"`

	FreeTurns bool         `json:"-"` // who pays may say a turn without the floor
	Members   []abi.Member `json:"members"`
	Muted     []string     `json:"muted,omitempty"` // companions that are not to speak
	// Conversation is the life of the conversation that the room is for, nil in others.
	Conversation *conversation.Conversation `json:"conversation,omitempty"`
	Counts       map[string]int             `json:"counts"`          // since the room last woke: what was refused and why
	Error        string                     `json:"error,omitempty"` // why the room cannot take anything now
}

// OpenRound is a round that waits for votes.
type OpenRound struct {
	ID        uint64    `json:"id"`    // seq of its entry
	About     uint64    `json:"about"` // seq of the message
	Due       time.Time `json:"due"`
	Awaits    []string  `json:"awaits"`    // who has not voted yet
	Addressed []string  `json:"addressed"` // by the message
}

// Room is what a door may do in a room. *room.Room implements it, and what the registry
// gives for one that sleeps.
//
// Errors are *abi.Error.
type Room interface {
	Name() string
	Info() Info
	// Say records a message and answers once it is durable.
	Say(ctx context.Context, u Utterance) (abi.Message, error)
	// Consume is Say, and gives the room's pool right afterwards: also where
	// the line was refused, and empty in a room without a pool.
	Consume(ctx context.Context, u Utterance) (abi.Message, abi.Budget, error)
	// Offer is Consume for a line that waits, with an importance, until it may be said.
	Offer(ctx context.Context, u Utterance, importance float64) (abi.Message, abi.Budget, error)
	// Attend says that an agent is here; with votes it takes part in rounds.
	// An agent that is not heard of for a while is taken to have left. A guest also leaves for
	// the holder of a token, where the room is full.
	Attend(ctx context.Context, who string, votes bool) error
	// Vote counts the vote of an agent about the message with seq about.
	Vote(ctx context.Context, who string, about uint64, v abi.Vote) error
	// Budget gives the room's pool now; ok is false in a room without one.
	Budget() (b abi.Budget, ok bool)
	// Stop takes the floor from whoever has it, in the same tick; the room
	// rests until a human speaks again. It answers the seq of the entry. No name is
	// a reason to refuse it.
	Stop(ctx context.Context, from string) (uint64, error)
	// Mute has a companion not speak here, or lets it speak again.
	Mute(ctx context.Context, from, who string, on bool) error
	// Keep writes down what a companion is to judge, also after a restart; kept is
	// called with it once it is written down, in the order of the journal.
	Keep(ctx context.Context, who string, p abi.Percept, kept func(abi.Percept)) error
	// Kept gives what of that it has not judged yet, oldest first.
	Kept(ctx context.Context, who string) ([]abi.Percept, error)
	// Retract writes down that nobody is to judge some of that any more.
	Retract(ctx context.Context, who string, seqs []uint64) error
	// Perceive lets a companion perceive something, or some of what was kept, oldest
	// first, and answers when it has judged it.
	Perceive(ctx context.Context, who string, all ...abi.Percept) (abi.Judged, error)
	// Act lets a companion do something that its card allows.
	Act(ctx context.Context, who string, by Player, a abi.ActionAsk) (abi.ActionPlayed, error)
	// Done tells what became of an action, and what a body answers to a query: an object or a text.
	Done(ctx context.Context, who, by string, d abi.Result, answer json.RawMessage) error
	// Embody says that a body of a companion is connected, until leave is called. It is given an
	// id, by which one that plays tells when it has played a line.
	Embody(b entry.Body) (id string, leave func())
	// Plug says that a game is connected that offers actions to a companion, until leave is called.
	// owner is whoever connected it.
	Plug(who, owner string) (g *action.Game, leave func())
	// Handled writes down what handlers did about what a companion was to perceive.
	Handled(ctx context.Context, h entry.Handled) error
	// Note writes down what a game tells a companion, which does not judge it.
	Note(ctx context.Context, who string, p abi.Percept) error
	// Played takes a body's word about a line.
	Played(ctx context.Context, p entry.Played) error
	// Sound tells how a part of a line sounds that is heard now; by is who made that.
	Sound(ctx context.Context, who, by string, s abi.Sound) error
	// Converse has something happen to the conversation that the room is for, and answers how
	// it is then, once that is durable. What the table of host/conversation has no row for is
	// a *conversation.Fault, found by errors.As, and changes nothing.
	Converse(ctx context.Context, in conversation.Input) (conversation.Conversation, error)
	// Speaking says that a human speaks into a microphone, or has ended.
	Speaking(ctx context.Context, from string, on bool) error
	// Entries gives up to limit entries with Seq > since and the room's head.
	Entries(ctx context.Context, since uint64, limit int) ([]entry.Entry, uint64, error)
	// Messages is Entries for messages only.
	Messages(ctx context.Context, since uint64, limit int) ([]abi.Message, uint64, error)
	// History gives the newest messages, oldest first.
	History(ctx context.Context, ask abi.HistoryAsk) (abi.History, error)
	// Told is History as minds are told it: turns that were compressed are one message.
	Told(ctx context.Context, ask abi.HistoryAsk) (abi.History, error)
	// Happens has something happen to what the past is told as, and answers how its proposal stands then,
	// once that is durable. What cannot be is CodeNotFound or CodeConflict.
	Happens(ctx context.Context, in history.Input) (history.Proposal, error)
	// Book gives what became of the room's history so far, Past some turns, as they are told now or
	// as they were said, and Draft the words of a draft by its entry.
	Book(ctx context.Context) (history.Book, error)
	Turns(ctx context.Context) (uint64, error) // how many there are
	Past(ctx context.Context, turns history.Range, original bool) (reader.Past, error)
	Draft(ctx context.Context, seq uint64) (history.Draft, error)
	// Why explains the decision behind an entry: a message, a decision or a round.
	Why(ctx context.Context, seq uint64) (reader.Why, error)
	// Follow calls fn with entries with Seq > since, in order, none missing,
	// none twice, until ctx ends or fn answers an error, which it returns.
	Follow(ctx context.Context, since uint64, fn func([]entry.Entry) error) error
}

// Directory finds rooms for doors. *registry.Registry implements it.
//
// Errors are *abi.Error.
type Directory interface {
	// Room answers abi.CodeNotFound for a room that does not exist. It does not wake
	// one that sleeps; anything done there does.
	Room(ctx context.Context, name string) (Room, error)
	// List gives up to limit rooms behind after, by name in byte order.
	List(ctx context.Context, after string, limit int) ([]Info, error)
	// Names gives the names alone.
	Names(ctx context.Context, after string, limit int) ([]string, error)
	// Usual is the room of whoever names none.
	Usual() string
	// Open opens a room, or one anew that was archived, and answers when it is known
	// for good: CodeInvalid names the setting, CodeConflict where there is a room of
	// this name or of one that a reader cannot tell from it, CodeExhausted where the
	// caller has as many as it may have.
	Open(ctx context.Context, o Opening) (Info, error)
	// Fork makes a room of the past of another up to a turn, and answers when it is known for good. The
	// errors are those of Open; CodeNotFound where there is no such room, or turn.
	Fork(ctx context.Context, f Forking) (Branch, error)
	// Branches gives the family of a room: the room that all of them were forked of, and all its forks and theirs,
	// each behind the one that it was forked of.
	Branches(ctx context.Context, name string) ([]Branch, error)
	// Archive closes a room that was opened so; all that was said there stays.
	Archive(ctx context.Context, name string, by Owner) error
	// Home is the room of a companion, whether it is there yet or not. It answers
	// abi.CodeNotFound for one that lives in none.
	Home(ctx context.Context, companion string) (Room, error)
}

// Convening is a conversation that somebody asks for.
type Convening struct {
	Name  string // the conversation's id, and its room's name
	Key   string // what no two that are open have in common
	Terms conversation.Terms
}

// Convened is one that was asked for.
type Convened struct {
	Convening
	Over bool // its key is free
	// Settled is there where it is over and everybody was told: nothing becomes of it any more.
	Settled *Settled
}

// Settled is how a conversation is left for good.
type Settled struct {
	State  conversation.State `json:"state"`
	Opened time.Time          `json:"opened"`
}

// Halls are the rooms of conversations. *registry.Registry implements it.
type Halls interface {
	// Convene opens a room for a conversation, and answers when its start is in the room's
	// journal. Of any number that come with the same key one is opened; the others are
	// [conversation.AlreadyActive]. One of which a crash left no more than the key is begun
	// when its room next wakes.
	Convene(ctx context.Context, c Convening) (conversation.Conversation, error)
	// Dissolve frees the key of a conversation that is over. Its room stays to be read.
	Dissolve(ctx context.Context, name string) error
	// Settle notes how one is left of which everybody was told, so that nobody need read its
	// journal to know that nothing is to be done.
	Settle(ctx context.Context, name string, s Settled) error
	// Convened gives up to limit of them with a name behind after, by name.
	Convened(ctx context.Context, after string, limit int) ([]Convened, error)
}

// Owner is whose a room is that was opened at a door.
type Owner struct {
	Name  string // of the caller
	Admin bool   // may open and close any
}

// Guests own the rooms that callers without a token open. It is no name.
const Guests = "(guests)"

// Called is who made or closed a room, as it is shown: callers without a token have one word there and wherever else it is said
// who did something.
func Called(owner string) string {
	if owner == Guests {
		return "guest"
	}
	return owner
}

// Opening is a room that somebody wants to open.
type Opening struct {
	Name     string
	By       Owner
	Settings []byte // the keys of [room.NAME], as JSON
}

// Forking is a fork that somebody wants to make.
type Forking struct {
	Of   string // the room
	Turn uint64 // the newest turn that both are to have; 0: the newest there is
	Name string // of the fork; empty: one that is free
	By   Owner
}

// Branch is a room of a family. All but Name and Turns is zero for the one that was forked of no other.
type Branch struct {
	Name   string `json:"name"`
	Of     string `json:"of,omitempty"`
	At     uint64 `json:"at,omitempty"`   // seq of the newest entry that both have
	Turn   uint64 `json:"turn,omitempty"` // the newest turn that both have
	Turns  uint64 `json:"turns"`          // that it has in all
	By     string `json:"by,omitempty"`   // who made it
	Closed bool   `json:"closed,omitempty"`
}

// Player is who plays an action: an agent or a handler for the companion, or the companion in
// a call of its own.
type Player struct {
	Agent    string
	Card     bool   // it plays actions of the card alone, and none that a game or a handler offers
	Call, Op string // id and op of the request that the companion is answering
}

// Check normalises an utterance and reports the first field that is wrong.
func (u *Utterance) Check() error {
	if u.By == "" {
		u.By = abi.KindHuman
	}
	if err := abi.CheckName("from", u.From); err != nil {
		return err
	}
	if u.ID != "" {
		if err := abi.CheckName("id", u.ID); err != nil {
			return err
		}
	}
	if err := abi.CheckText("text", u.Text); err != nil {
		return err
	}
	if len(u.To) > abi.MaxTo {
		return abi.Field("to", abi.CodeTooLarge, "%d addressees, at most %d", len(u.To), abi.MaxTo)
	}
	for _, to := range u.To {
		if err := abi.CheckName("to", to); err != nil {
			return err
		}
	}
	if u.Offer != nil && !(*u.Offer >= 0 && *u.Offer <= math.MaxInt32) {
		return abi.Field("amount", abi.CodeInvalid, "%v is outside 0..%d", *u.Offer, math.MaxInt32)
	}
	if u.Kind != "" && u.Kind != abi.KindTurn && u.Kind != abi.KindBackchannel {
		return abi.Field("kind", abi.CodeInvalid, "%q is neither %q nor %q", u.Kind, abi.KindTurn, abi.KindBackchannel)
	}
	return CheckSource(u.Source)
}

// CheckSource reports a source of a message that is none.
func CheckSource(source string) error {
	if source != "" && source != entry.SourceChat {
		return abi.Field("source", abi.CodeInvalid, "%.64q is unknown; it is %q, or left out", source, entry.SourceChat)
	}
	return nil
}
