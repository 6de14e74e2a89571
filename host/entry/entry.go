// Package entry defines the journal's entries: what happened in a room, one thing
// each, with the typed body of every kind.
//
// It never decides, stores or sends anything: host/room/rules makes entries and folds
// them, host/journal keeps them, the doors show them as they are. docs/ENTRIES.md
// is the same in prose, for whoever reads them at a door.
package entry

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/companiond/companiond/abi"
)

// Entry is one thing that happened in a room, as the journal keeps it and the
// doors show it. Within a room Seq counts 1, 2, 3, ... without a gap.
type Entry struct {
	Seq   uint64          `json:"seq"`
	Epoch uint64          `json:"epoch"` // which owner of the room wrote it
	At    time.Time       `json:"at"`    // UTC, whole milliseconds
	Kind  Kind            `json:"kind"`
	ID    string          `json:"id"`              // unique in the room; a message's id is the message's
	V     int             `json:"v"`               // which version of this package gave the body its shape
	Body  json.RawMessage `json:"body"`            // shape by Kind, see the types below
	Blank bool            `json:"blank,omitempty"` // what the body said was taken out; Body is null, or what was left

	made any // the body of an entry that was made here, and not read; nobody changes it
}

// WithBody gives the entry a body.
func (e Entry) WithBody(body any) (Entry, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return e, fmt.Errorf("encode %s: %w", e.Kind, err)
	}
	e.Body, e.made = raw, body
	return e, nil
}

// Decode gives the body of an entry. The contents of its slices and maps are not to
// be changed.
func Decode[T any](e Entry) (body T, err error) {
	if made, ok := e.made.(T); ok {
		return made, nil
	}
	return body, json.Unmarshal(e.Body, &body)
}

// Version is the newest of the shapes in this package. 1 is what commit 66dce41 wrote:
// there a message has no addressees of its own (see [Said.Addressed]). With 3 a wish
// may be an agent's (see [Wish.Waits]).
const Version = 3

// Kind names the shape of an entry's body.
type Kind string

// Inputs are facts from outside the rules; the rest are what the rules made of
// them, and replaying the inputs must give the rest again byte for byte.
const (
	KindOwner    Kind = "owner"    // input, Owner: a daemon took the room over
	KindOpened   Kind = "opened"   // input, Opened: the room was opened at a door
	KindArchived Kind = "archived" // input, Archived: the room was closed at a door

	KindRules  Kind = "rules"  // input, Rules: the room's settings from here on
	KindCast   Kind = "cast"   // input, Cast: companions and agents came, changed or left
	KindSaid   Kind = "said"   // input, Said: a message
	KindVote   Kind = "vote"   // input, Voted
	KindFailed Kind = "failed" // input, Failed: a vote or a line that will not come
	KindDue    Kind = "due"    // input, Due: a stored time came
	KindStop   Kind = "stop"   // input, Stop: a human's STOP
	KindMuted  Kind = "muted"  // input, Muted: a companion is not to speak, or may again

	KindPerceived Kind = "perceived" // input, Perceived: a companion perceives something
	KindJudged    Kind = "judged"    // input, Judged: a companion has judged what it perceived
	KindWish      Kind = "wish"      // input, Wish: somebody wants to speak
	KindSegment   Kind = "segment"   // input, Segment: a part of the line that is being spoken
	KindAction    Kind = "action"    // input, Action: a companion does something
	KindResult    Kind = "result"    // input, Done: what became of an action
	KindOffered   Kind = "offered"   // input, Offered: a game offers actions, or takes some back
	KindHandled   Kind = "handled"   // input, Handled: handlers were asked about words, or about a perception
	KindUsage     Kind = "usage"     // input, Usage: what a language model was asked for

	KindWords Kind = "words" // input, Words: of prompts, in a stream that is no room

	KindBody     Kind = "body"     // input, Bodies: bodies of companions came, tell when they have played, or left
	KindPlayed   Kind = "played"   // input, Played: a body's word about a line
	KindSound    Kind = "sound"    // input, Sound: a part of a line has a sound, or will have none
	KindSpeaking Kind = "speaking" // input, Speaking: a human has begun to speak, or has ended

	KindForgotten Kind = "forgotten" // input, Forgotten: words were erased on somebody's word

	KindForked  Kind = "forked"  // input, Forked: the room begins here, with the past of another
	KindHistory Kind = "history" // input, history.Input: something happened to what the past is told as

	KindConversation Kind = "conversation" // input, conversation.Input: something happened to the conversation that the room is for

	KindRound    Kind = "round"    // Round: votes are asked for
	KindDecision Kind = "decision" // Decision: how a round, or a grant that came to nothing, went on
	KindClosing  Kind = "closing"  // ClosingMoved
	KindRefused  Kind = "refused"  // Refused: a line that was not accepted, kept with its reason
	KindHeard    Kind = "heard"    // Heard: a line that a body played is over

	KindLifecycle Kind = "lifecycle" // Lifecycle: the state of the conversation is another

	// What a companion remembers, in a stream of its own and never in a room's; see memory.go.
	KindRemembered Kind = "remembered" // input, Remembered: something to remember
	KindRevised    Kind = "revised"    // input, Revised: what is remembered was changed, or said again
	KindErased     Kind = "erased"     // input, Erased: it is remembered no more
	KindRead       Kind = "read"       // input, Read: a room's talk was gone through for what is worth remembering
	KindVector     Kind = "vector"     // input, Vector: what a model made of the text of what is remembered
)

// Version is that of the kind's newest shape.
func (k Kind) Version() int {
	if k == KindWish {
		return Version
	}
	return 2
}

// IsInput says whether entries of this kind are facts the rules start from.
func (k Kind) IsInput() bool {
	switch k {
	case KindRound, KindDecision, KindClosing, KindRefused, KindHeard, KindLifecycle:
		return false
	}
	return true
}

// Owner is the body of KindOwner.
type Owner struct {
	Owner string `json:"owner"`
}

// Opened is the body of KindOpened.
type Opened struct {
	By       string          `json:"by"`       // whose room it is
	Settings json.RawMessage `json:"settings"` // as they were asked for, the keys of [room.NAME]
}

// Archived is the body of KindArchived. Nobody talks in the room any more, unless
// it is opened again.
type Archived struct {
	By string `json:"by"`
}

// Lifecycle is the body of KindLifecycle. The states and reasons are those of
// host/conversation.
type Lifecycle struct {
	From    string `json:"from,omitempty"` // empty for one that was just asked for
	To      string `json:"to"`
	EndedBy string `json:"ended_by,omitempty"`
	Reason  string `json:"reason,omitempty"` // why it is over
}

// Cast is the body of KindCast. All that happens at one moment is one entry, so
// that a round opened by it asks everybody who came. A KindOwner empties the
// cast: each daemon says anew who is here.
type Cast struct {
	Joined []Joined `json:"joined,omitempty"`
	Left   []Left   `json:"left,omitempty"`
	// Loading says that companions are still being loaded: nobody is asked for a
	// vote before they are here.
	Loading bool `json:"loading,omitempty"`
	// Awaits are those that live here and are still being loaded, though others are
	// here: a human who addresses one of them waits for it.
	Awaits []string `json:"awaits,omitempty"`
	// Addressed is whom the newest turn addresses, now that these are here, where
	// that changed; nil: it did not.
	Addressed *[]string `json:"addressed,omitempty"`
}

// Joined is somebody who came. One whose ID is here already was changed (a
// companion was reloaded).
type Joined struct {
	ID         string              `json:"id"`
	Name       string              `json:"name,omitempty"`
	Aliases    []string            `json:"aliases,omitempty"`
	Kind       abi.ParticipantKind `json:"kind"`
	Engine     string              `json:"engine,omitempty"`
	Generation uint64              `json:"generation,omitempty"`
	NoVote     bool                `json:"no_vote,omitempty"` // an agent that talks but takes no part in rounds
}

// Left is somebody who left.
type Left struct {
	ID     string `json:"id"`
	Reason string `json:"reason,omitempty"`
}

// Said is the body of KindSaid; with the entry's Seq, ID and At it makes a Message.
type Said struct {
	From string              `json:"from"`
	By   abi.ParticipantKind `json:"by"` // what From was when it was said
	To   []string            `json:"to,omitempty"`
	// Addressed is whom a turn addresses, of those who were there, by name or by To;
	// sorted. It was found out when the turn was said and is never found out again.
	// Entries of version 1 have none.
	Addressed []string `json:"addressed,omitempty"`
	// How says how those were found: "to", "at" (an @name), "call", "topic" (of a question
	// or request) or "reply" (a bare question to whoever spoke just before); "unknown": there are
	// none, but a name is called, while not all are loaded.
	How  string          `json:"how,omitempty"`
	Text string          `json:"text"`
	Kind abi.MessageKind `json:"kind"`
	// Turn is the number of the turn, from 1; of a backchannel that of the turn before it. Entries of older
	// versions have none.
	Turn    uint64      `json:"turn,omitempty"`
	Basis   uint64      `json:"basis,omitempty"`
	Grant   string      `json:"grant,omitempty"`   // token of the grant it used
	Closing abi.Closing `json:"closing,omitempty"` // the speaker's wish to end
	Cost    float64     `json:"cost,omitempty"`    // what a policy with a budget took for it
	// Segments is how many KindSegment with the same grant make up the text; 0:
	// it was said in one piece.
	Segments int `json:"segments,omitempty"`
	// Voice is how long the text takes to say, sentence by sentence, of one that was
	// said in one piece. Like all that may be told better later, it is found out once.
	Voice []Beat `json:"voice,omitempty"`
	// Played says that bodies say it: an entry of KindHeard, with the id of [HeardID],
	// tells how that ended.
	Played bool `json:"played,omitempty"`
	// Broken is why the line breaks off, "" for one that was said to its end.
	Broken string `json:"broken,omitempty"`
	// Ends is how a line that breaks off ends, where it did not fail: EndStopped or EndCut.
	Ends End `json:"ends,omitempty"`
	// Like is the seq of an earlier line that says much the same, 0 for none.
	Like   uint64 `json:"like,omitempty"`
	Source string `json:"source,omitempty"` // SourceChat, or empty
	// Wish is the seq of the KindWish that the line came with.
	Wish uint64 `json:"wish,omitempty"`
	// Parameters are those of the action "speak" that the line is, Text among them as its
	// message, where it has more than that.
	Parameters json.RawMessage `json:"parameters,omitempty"`
	// Warning is why it has no Parameters though some came with it.
	Warning string `json:"warning,omitempty"`
	// Emotion is how it is said, one of host/emotion's words, where Parameters do not tell.
	Emotion string `json:"emotion,omitempty"`
}

// Number gives the number of a turn behind so many turns, or of the one that a backchannel belongs to, and whether it is
// a turn.
func (s Said) Number(turns uint64) (n uint64, turn bool) {
	switch {
	case s.Kind == abi.KindBackchannel:
		return max(1, turns), false
	case s.Turn > 0:
		return s.Turn, true
	}
	return turns + 1, true
}

// SourceChat is where those write of whom there are many: no line would ever end there
// if each ended it.
const SourceChat = "chat"

// Beat is a sentence of what is said, or the rest between two, of no bytes, and how long a
// voice takes for it.
type Beat struct {
	Bytes int   `json:"bytes"`
	MS    int64 `json:"ms"`
}

// Voted is the body of KindVote.
type Voted struct {
	Round uint64 `json:"round"` // seq of the KindRound
	Voter string `json:"voter"`
	abi.Vote
}

// Failed is the body of KindFailed.
type Failed struct {
	Round uint64   `json:"round,omitempty"` // a vote will not come
	Grant string   `json:"grant,omitempty"` // a line will not come
	Who   string   `json:"who"`
	Code  abi.Code `json:"code,omitempty"`
	Error string   `json:"error,omitempty"`
	Pass  bool     `json:"pass,omitempty"` // no failure: the speaker passed the floor on
	// Perception is the seq of the entry that could not be judged.
	Perception uint64 `json:"perception,omitempty"`
	// Until is when it may be asked again, where whoever refused has said so.
	Until time.Time `json:"until,omitzero"`
}

// Due is the body of KindDue.
type Due struct {
	What DueKind `json:"what"`
	Of   uint64  `json:"of"` // seq of the entry that set the time
}

// DueKind names a stored time.
type DueKind string

// The times a room stores.
const (
	DueRound   DueKind = "round"   // patience with voters is over
	DueGrant   DueKind = "grant"   // the floor was held too long
	DueSilence DueKind = "silence" // nobody spoke for too long
	DuePace    DueKind = "pace"    // time for people to read is over, the next round opens
	DueWish    DueKind = "wish"    // no stored time: an agent wants to speak while the room rests, so a round opens; until version 2
	DueHeard   DueKind = "heard"   // a line takes no longer than this to be heard
	DueCut     DueKind = "cut"     // a sentence ends that somebody speaks over
	DueSpoken  DueKind = "spoken"  // a human speaks for so long that it is no noise
	DueAbsent  DueKind = "absent"  // nobody could vote, and is asked again
	DueStale   DueKind = "stale"   // a wish waited too long for the floor and is given up
	DueAnswer  DueKind = "answer"  // never written down as such: a KindResult says that nobody answered a query
	DueLapse   DueKind = "lapse"   // never written down as such: a KindConversation says that the time of a conversation is over
)

// Stop is the body of KindStop.
type Stop struct {
	From string `json:"from"`
}

// Wish is the body of KindWish: a request to speak, of an agent or a companion. It ends
// with what is said, with a KindRefused that names it, with a DueStale, a KindStop or
// a KindArchived.
type Wish struct {
	Who string `json:"who"`
	// By is what Who is; empty: a companion.
	By         abi.ParticipantKind `json:"by,omitempty"`
	Waits      Wait                `json:"waits,omitempty"`
	Perception uint64              `json:"perception"` // seq of the KindPerceived; 0: it is about none
	// Answers is the seq of a human's turn that the line answers: it was asked for, and
	// came when the floor had passed on.
	Answers    uint64    `json:"answers,omitempty"`
	Importance float64   `json:"importance"` // 0..10
	Reason     string    `json:"reason,omitempty"`
	Text       string    `json:"text,omitempty"` // the line at hand; empty: it is made when the floor is there
	To         []string  `json:"to,omitempty"`
	Basis      uint64    `json:"basis,omitempty"` // seq of the newest entry that the line takes into account
	Offer      *float64  `json:"offer,omitempty"` // what it would pay from a pool
	Due        time.Time `json:"due"`             // given up then
	// Closing is the wish to end the talk that comes with it.
	Closing abi.Closing `json:"closing,omitempty"`
	// Parameters are those of the action "speak" that the line came with, Text among
	// them as its message.
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// Wait says what a request to speak waits for.
type Wait string

// The times that can be waited for.
const (
	// WaitFloor is granted without a round, because nobody else perceived anything: as
	// soon as nobody has the floor and no human waits for an answer.
	WaitFloor Wait = ""
	// WaitRound takes part in rounds as a vote to speak, and opens one where the room
	// rests. It is over when somebody else takes a turn.
	WaitRound Wait = "round"
	// WaitTurn is paid for and needs no floor: it is said as soon as no round is open
	// and nobody else has the floor.
	WaitTurn Wait = "turn"
)

// Segment is the body of KindSegment. When its line breaks off, what was shown
// is the message.
type Segment struct {
	Grant string `json:"grant"`
	Who   string `json:"who"`
	N     int    `json:"n"` // from 1
	Text  string `json:"text"`
	Voice []Beat `json:"voice,omitempty"` // see [Said.Voice]
	// Emotion is how it is said, one of host/emotion's words; empty: not known.
	Emotion string `json:"emotion,omitempty"`
}

// Round is the body of KindRound.
type Round struct {
	About uint64 `json:"about"` // seq of the message
	// Upto is the seq of the newest turn, where that is not the message: somebody
	// spoke over a human, who is still to be answered.
	Upto       uint64    `json:"upto,omitempty"`
	Electorate []string  `json:"electorate"`
	Addressed  []string  `json:"addressed,omitempty"`
	Due        time.Time `json:"due"`
	Silence    bool      `json:"silence,omitempty"` // opened by the silence breaker: somebody will be asked to speak
}

// Outcome says how a round, or a grant that came to nothing, ended.
type Outcome string

// The outcomes.
const (
	OutcomeGrant      Outcome = "grant"      // Speaker holds the floor
	OutcomeSilence    Outcome = "silence"    // nobody wants to speak
	OutcomeClosed     Outcome = "closed"     // the talk has ended
	OutcomeCapped     Outcome = "capped"     // companions spoke as often as they may without a human
	OutcomeStopped    Outcome = "stopped"    // a human said STOP
	OutcomeSuperseded Outcome = "superseded" // something newer was said; a new round asks again
	OutcomeAbsent     Outcome = "absent"     // nobody could vote, or of those who would speak nobody could; a new round asks again at Until, or as soon as one of them can
	OutcomeWaits      Outcome = "waits"      // the pool cannot pay for a turn; a new round asks again at Until
)

// Rule names what put the winner before the next in the ranking.
type Rule string

// The rules, strongest first.
const (
	RuleHuman      Rule = "human"
	RuleAddressed  Rule = "addressed"
	RuleSpeak      Rule = "speak" // the only one, or the only kind, that wants to speak
	RuleImportance Rule = "importance"
	RuleWaited     Rule = "waited" // the rounds it lost outweigh a higher importance
	RuleDebt       Rule = "debt"
	RuleHash       Rule = "hash"
	RuleAsked      Rule = "asked"     // a human addressed somebody who would rather listen or is late, and nobody else wants to speak
	RuleSilence    Rule = "silence"   // the silence breaker
	RuleNext       Rule = "next"      // the one before in the ranking failed or passed
	RulePerceived  Rule = "perceived" // it perceived something, and nobody else had the floor
)

// Decision is the body of KindDecision.
type Decision struct {
	Round   uint64      `json:"round"`
	Outcome Outcome     `json:"outcome"`
	Speaker string      `json:"speaker,omitempty"` // who holds the floor, or with OutcomeWaits is to have it
	Grant   *abi.Grant  `json:"grant,omitempty"`
	Rule    Rule        `json:"rule,omitempty"`
	Reason  string      `json:"reason"`
	Ranking []Candidate `json:"ranking"`        // best first; everybody in the electorate
	Until   time.Time   `json:"until,omitzero"` // with OutcomeWaits and OutcomeAbsent
	Wish    uint64      `json:"wish,omitempty"` // seq of the KindWish that was granted, or could not be
}

// Candidate is one voter's place in a ranking and what put it there.
type Candidate struct {
	Who        string      `json:"who"`
	Standing   string      `json:"standing"` // human, addressed, speak, asked, listen, absent, terminal, out
	Importance float64     `json:"importance"`
	Called     string      `json:"called,omitempty"` // the companion or agent whose call counts as more importance
	Debt       int         `json:"debt"`             // rounds lost: see turn.Input.Lost; before rules version 3, rounds it wanted to speak and did not
	Need       float64     `json:"need,omitempty"`   // what importance and the rounds lost come to, to 0.01; 0 also where rules before version 3 decided
	Late       bool        `json:"late,omitempty"`   // its vote did not come in time
	Hash       string      `json:"hash"`
	Closing    abi.Closing `json:"closing,omitempty"`
	Note       string      `json:"note,omitempty"` // the voter's reason, or why it is absent or out
}

// ClosingMoved is the body of KindClosing.
type ClosingMoved struct {
	From abi.Closing `json:"from"`
	To   abi.Closing `json:"to"`
	By   string      `json:"by"` // who moved it
	// Like is the seq of the earlier line that By's, the entry before this one, says much
	// the same as, where the talk is ended because its lines are alike; 0: By wished to end it.
	Like uint64 `json:"like,omitempty"`
}

// Why says in words what moved the talk, by the entry of this seq.
func (c ClosingMoved) Why(seq uint64) string {
	if c.Like == 0 {
		return c.By + " wished to end it"
	}
	return fmt.Sprintf("the lines go round in circles: %d says much the same as %d", seq-1, c.Like)
}

// Refused is the body of KindRefused: a line that came too late, without the
// floor, or that the pool could not pay for. The words are kept, so that nothing a companion said is lost.
type Refused struct {
	Who   string              `json:"who"`
	By    abi.ParticipantKind `json:"by"`
	Kind  abi.MessageKind     `json:"kind"`
	Code  abi.Code            `json:"code"`
	Why   string              `json:"why"`
	Grant string              `json:"grant,omitempty"`
	Basis uint64              `json:"basis,omitempty"`
	Text  string              `json:"text,omitempty"`
	Again bool                `json:"again,omitempty"` // the speaker keeps the floor and is asked once more
	Offer *float64            `json:"offer,omitempty"` // what it would have paid from the pool
	Until time.Time           `json:"until,omitzero"`  // when the pool could pay for it, if nobody else spends
	Wish  uint64              `json:"wish,omitempty"`  // seq of the KindWish that ends with it
}

// Message gives the message of a KindSaid, ok false for any other entry or
// a body that does not decode.
func (e Entry) Message() (m abi.Message, ok bool) {
	if e.Kind != KindSaid {
		return abi.Message{}, false
	}
	s, err := Decode[Said](e)
	if err != nil {
		return abi.Message{}, false
	}
	if s.To == nil {
		s.To = []string{}
	}
	m = abi.Message{Seq: e.Seq, ID: e.ID, From: s.From, To: s.To, Text: s.Text, Kind: s.Kind, At: e.At, Addressed: s.Addressed}
	if s.Text == "" && ErasedBy(e) != "" {
		m.Cut = CutErased
	}
	return m, true
}
