// Package abi holds the words that cross the border between the daemon and its
// modules: the envelope, and what every op takes and answers.
//
// It uses the standard library only and builds for wasip1, so that a character
// compiled to WebAssembly and the daemon share one definition. It never decides
// anything: host/turn decides who speaks, host/entry what is stored.
//
// ABI.md, beside this file, is the contract in prose for people who write a
// module in another language.
package abi

import (
	"encoding/json"
	"time"
)

// Version is the major version of the border. It is part of the namespace, so
// a module for another version fails to link instead of misunderstanding.
const Version = 1

// Namespace is the import module a guest links against, and Export the function
// it must export: companion_v1_call(n i32) -> i32.
const (
	Namespace = "companion_v1"
	Export    = "companion_v1_call"
)

// Ops the host may ask of a module. Only OpDescribe is required; for an op that
// a module does not list in its [Description] the host acts as if the module
// had answered with the op's zero value (a vote to listen, for example).
const (
	OpDescribe = "describe" // no data -> Description
	OpVote     = "vote"     // Scene -> Vote
	OpSpeak    = "speak"    // Scene with Grant -> Line
	OpPerceive = "perceive" // Perceiving -> Judgement
	OpResult   = "result"   // Result -> {}
	OpEvent    = "event"    // Event -> {}
	OpCompress = "compress" // Compressing -> Compressed
	OpVerify   = "verify"   // Verifying -> Verified
	OpAct      = "act"      // Acting -> Acted; of a handler, as those below

	OpShow  = "show"  // Showing -> {}
	OpSense = "sense" // Sensing -> Sensed
	OpLine  = "line"  // Lining -> Lined
	OpTimer = "timer" // Timer -> {}
	OpRun   = "run"   // Running -> {}; of programs, beside their other calls and for as long as the handler acts
)

// Ops a module may ask of the host with host_call. Those behind the first blank
// line have to be granted by name; the others always are.
const (
	HostNow        = "now"         // no data -> Now
	HostRandom     = "random"      // RandomAsk -> Random
	HostKVGet      = "kv.get"      // KVKey -> KVValue
	HostKVSet      = "kv.set"      // KVPair -> {}
	HostKVDel      = "kv.del"      // KVKey -> KVValue of what was removed
	HostKVList     = "kv.list"     // KVListAsk -> KVKeys
	HostHistoryGet = "history.get" // HistoryAsk -> History
	HostSelfInfo   = "self.info"   // no data -> SelfInfo

	HostKnowledgeGet = "knowledge.get" // KnowledgeAsk -> Knowledge

	HostSay           = "say"            // SayAsk -> {}; only while OpSpeak is answered
	HostActionEmit    = "action.emit"    // ActionAsk -> ActionPlayed; needs a card
	HostModelGenerate = "model.generate" // ModelAsk -> ModelAnswer

	HostConversationStart = "conversation.start" // ConversationAsk -> ConversationNow
	HostConversationEnd   = "conversation.end"   // ConversationEndAsk -> ConversationNow

	HostMemorySearch = "memory.search" // MemoryAsk -> Memories
	HostMemoryAdd    = "memory.add"    // MemoryAdd -> Memory

	HostHTTPFetch = "http.fetch" // FetchAsk -> Fetched; hosts are granted by name

	HostPerceptionEmit    = "perception.emit"    // PerceptionAsk -> Emitted; of handlers, as those below
	HostPerceptionRetract = "perception.retract" // RetractAsk -> Retracted
	HostSoundEmit         = "sound.emit"         // Sound -> {}
	HostBlobPut           = "blob.put"           // Blob -> BlobRef
	HostBlobGet           = "blob.get"           // BlobRef -> Blob
	HostTimerSet          = "timer.set"          // TimerAsk -> {}
	HostActionResult      = "action.result"      // ResultAsk -> {}
)

// AlwaysGranted lists the host ops that no module has to be granted.
func AlwaysGranted() []string {
	return []string{
		HostNow, HostRandom, HostKVGet, HostKVSet, HostKVDel, HostKVList,
		HostHistoryGet, HostSelfInfo, HostKnowledgeGet,
	}
}

// GrantedOnly lists the host ops that a companion has to be granted by name.
func GrantedOnly() []string {
	return []string{HostSay, HostActionEmit, HostModelGenerate, HostConversationStart, HostConversationEnd, HostMemorySearch, HostMemoryAdd, HostHTTPFetch,
		HostPerceptionEmit, HostPerceptionRetract, HostSoundEmit, HostBlobPut, HostBlobGet, HostTimerSet, HostActionResult,
	}
}

// Request is the envelope the host sends, and the one a guest sends with
// host_call (there only Op and Data are read).
type Request struct {
	V    int             `json:"v"`
	Op   string          `json:"op"`
	ID   string          `json:"id,omitempty"`   // names the call in logs; unique while the daemon runs
	Self string          `json:"self,omitempty"` // the companion's id
	Room string          `json:"room,omitempty"`
	Now  time.Time       `json:"now,omitzero"` // the room's clock, UTC
	Data json.RawMessage `json:"data,omitempty"`
}

// Reply is the envelope that answers a Request: exactly one field is set.
type Reply struct {
	OK    json.RawMessage `json:"ok,omitempty"`
	Error *Error          `json:"error,omitempty"`
}

// ModuleKind says what a module is.
type ModuleKind string

// The kinds of modules. A character lives in rooms; a handler stands behind what
// is perceived, played or said, and lives in none. What a handler is asked is what its Ops say; the kinds
// behind Handler tell people what it is for.
const (
	Character         ModuleKind = "character"
	Handler           ModuleKind = "handler"
	PerceptionHandler ModuleKind = "perception-handler"
	ActionHandler     ModuleKind = "action-handler"
	LineHandler       ModuleKind = "line-handler"
)

// Description is what a module says of itself when it is loaded.
type Description struct {
	ABI     string     `json:"abi"`               // "1" or "1.minor"
	Name    string     `json:"name"`              // the name people call it by, e.g. "Aya"
	Aliases []string   `json:"aliases,omitempty"` // other names it answers to, e.g. "あや", "アヤ"
	Version string     `json:"version,omitempty"` // the maker's own version
	Kind    ModuleKind `json:"kind,omitempty"`    // what the module is; "" is a character
	Ops     []string   `json:"ops"`               // ops it answers
	Needs   []string   `json:"needs,omitempty"`   // host ops beyond those always granted
	// Card is the companion's definition, as the AI Companion Protocol has it: what it may do and perceive.
	Card json.RawMessage `json:"card,omitempty"`
	// Several says that it reads Perceiving.More: what waits is judged in one call.
	Several bool `json:"several,omitempty"`
	// Actions are what an action handler can do for companions. Their Game is not read.
	Actions []Offer `json:"actions,omitempty"`
	// Settings is the JSON Schema of a handler's settings, of an object; none: it has none.
	Settings json.RawMessage `json:"settings,omitempty"`
}

// Scene is the data of OpVote and OpSpeak: what the companion needs to judge
// the moment. More of the past is to be had with HostHistoryGet.
type Scene struct {
	Message   Message   `json:"message"`             // what was said last
	Addressed bool      `json:"addressed,omitempty"` // the host found this companion addressed by Message
	Members   []Member  `json:"members,omitempty"`   // everybody in the room, this companion included; of more than MaxMembers some
	Turns     int       `json:"turns"`               // companion turns since a human last spoke
	MaxTurns  int       `json:"max_turns,omitempty"` // the room's cap on Turns; 0 means none
	Closing   Closing   `json:"closing,omitempty"`   // where the talk is in its way to an end
	Recent    []Message `json:"recent,omitempty"`    // OpSpeak only: the newest messages, oldest first, Message last
	Grant     *Grant    `json:"grant,omitempty"`     // OpSpeak only
	Waiting   []Message `json:"waiting,omitempty"`   // OpSpeak only: what other humans wait for this companion to answer, oldest first; the line counts as the answer to all
	Retry     bool      `json:"retry,omitempty"`     // OpSpeak only: the previous line was stale; say what fits now
	Budget    *Budget   `json:"budget,omitempty"`    // what there is to spend on talk, in a room with a pool
	// Conversation is the conversation between agents that it is of; nil in a room that is none.
	Conversation *Conversing `json:"conversation,omitempty"`
	Offers       []Offer     `json:"offers,omitempty"` // what games offer, to be played with HostActionEmit
	Told         []Percept   `json:"told,omitempty"`   // the newest that games told, oldest first
}

// Member is a participant as the others see it.
type Member struct {
	ID   string          `json:"id"`
	Name string          `json:"name,omitempty"`
	Kind ParticipantKind `json:"kind"`
}

// Line is what a companion says when it holds the floor. An empty Text passes
// the floor on; Pass may then say why.
type Line struct {
	Text    string   `json:"text"`
	To      []string `json:"to,omitempty"`
	Closing Closing  `json:"closing,omitempty"` // overrides the closing of the vote
	Pass    string   `json:"pass,omitempty"`
	// Emotion is how it is said, in a word, where Parameters do not tell.
	Emotion string `json:"emotion,omitempty"`
	// Parameters are all of the action "speak" where the card's has more than a
	// message; the message is Text.
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// Bounds of what crosses the border; longer is refused with CodeTooLarge.
const (
	MaxText      = 16 << 10 // bytes of one message's text
	MaxTo        = 32       // addressees of one message
	MaxName      = 64       // bytes of an id or a name
	MaxRequest   = 4 << 20  // bytes of one request to a module
	MaxReply     = 1 << 20  // bytes of one reply from a module, and of what it asks with host_call
	MaxAnswer    = 16 << 20 // bytes of the reply to a host_call
	MaxKVKey     = 256      // bytes
	MaxKVValue   = 64 << 10 // bytes
	MaxKVKeys    = 1000     // keys a character
	MaxKVTotal   = 1 << 20  // bytes of keys and values a character
	MaxHistory   = 100      // messages a history.get
	MaxKnowledge = 32 << 10 // bytes of a document a knowledge.get
	MaxRandom    = 256      // bytes a random
	RecentInAsk  = 16       // messages in Scene.Recent
	MaxMembers   = 256      // members in Scene.Members
	MaxMore      = 31       // perceptions in Perceiving.More
	MaxStarts    = 6        // conversation.start of a companion in a minute
)

type (
	// Now answers HostNow.
	Now struct {
		Now    time.Time `json:"now"`
		UnixMS int64     `json:"unix_ms"`
	}
	// RandomAsk asks for N random bytes, 1..MaxRandom.
	RandomAsk struct {
		N int `json:"n"`
	}
	// Random answers HostRandom; Bytes travels as base64.
	Random struct {
		Bytes []byte `json:"bytes"`
	}
	// KVKey names one key of the character's own store.
	KVKey struct {
		Key string `json:"key"`
	}
	// KVPair is one key and its value.
	KVPair struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	}
	// KVValue answers HostKVGet and HostKVDel.
	KVValue struct {
		Found bool   `json:"found"`
		Value string `json:"value,omitempty"`
	}
	// KVListAsk asks for keys with a prefix, in byte order, after After.
	KVListAsk struct {
		Prefix string `json:"prefix,omitempty"`
		After  string `json:"after,omitempty"`
		Limit  int    `json:"limit,omitempty"` // 0 means 100; at most 1000
	}
	// KVKeys answers HostKVList.
	KVKeys struct {
		Keys []string `json:"keys"`
	}
	// HistoryAsk asks for messages of the room with Seq < Before (0: the newest).
	HistoryAsk struct {
		Before uint64 `json:"before,omitempty"`
		Limit  int    `json:"limit,omitempty"` // 0 means 20, or with a Budget MaxHistory; at most MaxHistory
		// Budget is how many tokens of a language model they may come to, guessed by their
		// letters; 0 means no bound. The newest is always there, cut in its middle where it
		// alone is too long.
		Budget int `json:"budget,omitempty"`
	}
	// History answers HostHistoryGet, oldest first.
	History struct {
		Messages []Message `json:"messages"`
		Head     uint64    `json:"head"` // seq of the newest entry in the room
		// Laid is the seq of the newest entry by which some turns are told otherwise; 0: none are.
		Laid uint64 `json:"laid,omitempty"`
	}
	// SelfInfo answers HostSelfInfo.
	SelfInfo struct {
		ID         string `json:"id"`
		Room       string `json:"room,omitempty"`
		Engine     string `json:"engine"`
		Generation uint64 `json:"generation"`
	}
)
