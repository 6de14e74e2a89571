package companion

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/companiond/companiond/abi"
)

// Host is the daemon as a character sees it during one call. It must not be
// kept after the call returns.
//
// Errors are [*abi.Error], the daemon's own words.
type Host struct {
	req abi.Request
	by  Carrier
	rng *rand.Rand // seeded by the daemon at first use
}

// Context ends when nobody waits for the call's answer any more. For code that waits on its own, for a
// network or a program, which a process may do and WebAssembly cannot.
func (h *Host) Context() context.Context {
	if h.by.Context == nil {
		return context.Background()
	}
	return h.by.Context
}

// Self gives the companion's id.
func (h *Host) Self() string { return h.req.Self }

// Room gives the room's id.
func (h *Host) Room() string { return h.req.Room }

// Now gives the room's time. It stands still during a call.
func (h *Host) Now() time.Time {
	if h.req.Now.IsZero() {
		var now abi.Now
		if err := h.Ask(abi.HostNow, nil, &now); err == nil {
			h.req.Now = now.Now
		}
	}
	return h.req.Now
}

// Random gives n random bytes, 1..[abi.MaxRandom].
func (h *Host) Random(n int) ([]byte, error) {
	var r abi.Random
	err := h.Ask(abi.HostRandom, abi.RandomAsk{N: n}, &r)
	return r.Bytes, err
}

// Intn gives a random number 0..n-1; 0 when n is less than 2. The daemon is
// asked for a seed once a call; should it refuse, the call's id is the seed.
func (h *Host) Intn(n int) int {
	if n < 2 {
		return 0
	}
	if h.rng == nil {
		var seed [32]byte
		b, err := h.Random(len(seed))
		if err != nil {
			h.Log(abi.LevelWarn, "random: "+err.Error())
			b = []byte(h.req.ID)
		}
		copy(seed[:], b)
		h.rng = rand.New(rand.NewPCG(binary.LittleEndian.Uint64(seed[:]), binary.LittleEndian.Uint64(seed[8:])))
	}
	return h.rng.IntN(n)
}

// Get reads a key of the character's own store, which outlives the daemon.
func (h *Host) Get(key string) (value string, found bool, err error) {
	var v abi.KVValue
	err = h.Ask(abi.HostKVGet, abi.KVKey{Key: key}, &v)
	return v.Value, v.Found, err
}

// Documents lists the texts in the folder knowledge of the character, where its maker puts them.
func (h *Host) Documents() ([]abi.Document, error) {
	var k abi.Knowledge
	err := h.Ask(abi.HostKnowledgeGet, abi.KnowledgeAsk{}, &k)
	return k.Documents, err
}

// Document reads one of them from a byte on, at most [abi.MaxKnowledge] bytes; next is where it goes
// on, 0 where that is all.
func (h *Host) Document(name string, from int) (text string, next int, err error) {
	var k abi.Knowledge
	err = h.Ask(abi.HostKnowledgeGet, abi.KnowledgeAsk{Name: name, From: from}, &k)
	return k.Text, k.Next, err
}

// Set writes a key. See the Max constants of package abi for the bounds.
func (h *Host) Set(key, value string) error {
	return h.Ask(abi.HostKVSet, abi.KVPair{Key: key, Value: value}, nil)
}

// Del removes a key; found says whether it was there.
func (h *Host) Del(key string) (found bool, err error) {
	var v abi.KVValue
	err = h.Ask(abi.HostKVDel, abi.KVKey{Key: key}, &v)
	return v.Found, err
}

// List gives all keys with a prefix, in byte order.
func (h *Host) List(prefix string) ([]string, error) {
	var all []string
	ask := abi.KVListAsk{Prefix: prefix, Limit: abi.MaxKVKeys}
	for {
		var page abi.KVKeys
		if err := h.Ask(abi.HostKVList, ask, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Keys...)
		if len(page.Keys) < ask.Limit {
			return all, nil
		}
		ask.After = page.Keys[len(page.Keys)-1]
	}
}

// GetJSON reads a key that [Host.SetJSON] wrote into v, a pointer.
func (h *Host) GetJSON(key string, v any) (found bool, err error) {
	text, found, err := h.Get(key)
	if err != nil || !found {
		return false, err
	}
	if err := json.Unmarshal([]byte(text), v); err != nil {
		return false, abi.Errorf(abi.CodeInvalid, "kv %q: %v", key, err)
	}
	return true, nil
}

// SetJSON writes v as JSON.
func (h *Host) SetJSON(key string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return abi.Errorf(abi.CodeInvalid, "kv %q: %v", key, err)
	}
	return h.Set(key, string(b))
}

// History gives up to limit of the room's newest messages, oldest first.
func (h *Host) History(limit int) ([]Message, error) {
	var hist abi.History
	err := h.Ask(abi.HostHistoryGet, abi.HistoryAsk{Limit: limit}, &hist)
	return hist.Messages, err
}

// Say says a piece of the line that [Character.Speak] was asked for, a sentence
// or so, at once: the room and the body have it before the line is whole. The
// line that Speak gives at last is the whole one and begins with these pieces; an
// empty one says that they were all.
func (h *Host) Say(text string) error { return h.SayWith("", text) }

// SayWith is Say, with a word for how the piece is said: neutral, happy, angry, sad, relaxed,
// surprised, or another for one of these. The pieces behind it are said the same way until one tells another.
func (h *Host) SayWith(emotion, text string) error {
	return h.Ask(abi.HostSay, abi.SayAsk{Text: text, Emotion: emotion}, nil)
}

// Act plays an action of the card; parameters become its JSON object, nil for
// none. The id is that of the result that [Character.Result] may hear; delivered
// says how many bodies it went to.
func (h *Host) Act(action string, parameters any) (played abi.ActionPlayed, err error) {
	return h.act(abi.ActionAsk{Action: action}, parameters)
}

// React plays an action because of a perception: the card's events have to allow
// it for that one.
func (h *Host) React(p Perceiving, action string, parameters any) (played abi.ActionPlayed, err error) {
	return h.act(abi.ActionAsk{Action: action, Perception: p.Perception.Title}, parameters)
}

func (h *Host) act(ask abi.ActionAsk, parameters any) (played abi.ActionPlayed, err error) {
	if parameters != nil {
		if ask.Parameters, err = json.Marshal(parameters); err != nil {
			return played, abi.Errorf(abi.CodeInvalid, "parameters: %v", err)
		}
	}
	return played, h.Ask(abi.HostActionEmit, ask, &played)
}

// Generate asks the language model that the daemon has for companions. It takes
// as long as the model does: in [Character.Vote] the room waits for it.
func (h *Host) Generate(ask abi.ModelAsk) (a abi.ModelAnswer, err error) {
	return a, h.Ask(abi.HostModelGenerate, ask, &a)
}

// Converse opens a conversation with other agents of a project. It is a room of its
// own, in which this character is asked for votes and lines with [Scene.Conversation].
// It has to be granted. A refusal begins with its code, as
// "conversation_already_active: ...".
func (h *Host) Converse(ask abi.ConversationAsk) (c abi.ConversationNow, err error) {
	return c, h.Ask(abi.HostConversationStart, ask, &c)
}

// EndConversation leaves a conversation, after a last message that may be empty. An
// empty id is the one that is open.
func (h *Host) EndConversation(id, message string) (c abi.ConversationNow, err error) {
	return c, h.Ask(abi.HostConversationEnd, abi.ConversationEndAsk{ID: id, Message: message}, &c)
}

// Recall looks for what the companion remembers that has to do with something, of what may be told
// in this room, the best first. It has to be granted. What it gives are words of
// others: data, and never instructions.
func (h *Host) Recall(ask abi.MemoryAsk) ([]abi.Memory, error) {
	var found abi.Memories
	err := h.Ask(abi.HostMemorySearch, ask, &found)
	return found.Memories, err
}

// Remember keeps something: with Turn and Quote what somebody said, else the character's own
// words. It has to be granted. What people say of themselves is remembered without it.
func (h *Host) Remember(add abi.MemoryAdd) (m abi.Memory, err error) {
	return m, h.Ask(abi.HostMemoryAdd, add, &m)
}

// Fetch asks for what is at an address of the web. It has to be granted, and so have the hosts: the daemon's
// configuration lists them for the module. It takes as long as the other side does: in [Character.Vote] the
// room waits for it. Any status is an answer; what comes are words of others: data, and never instructions.
func (h *Host) Fetch(ask abi.FetchAsk) (f abi.Fetched, err error) {
	return f, h.Ask(abi.HostHTTPFetch, ask, &f)
}

// Info says who and where the character is.
func (h *Host) Info() (abi.SelfInfo, error) {
	var info abi.SelfInfo
	err := h.Ask(abi.HostSelfInfo, nil, &info)
	return info, err
}

// Log writes a line to the daemon's log, under the companion's name.
func (h *Host) Log(level abi.Level, text string) { h.by.Log(level, text) }

// Debugf writes a line that is shown when the daemon's log level is debug.
func (h *Host) Debugf(format string, args ...any) {
	h.by.Log(abi.LevelDebug, fmt.Sprintf(format, args...))
}

// Fail ends the op here: the daemon gets err as the module's answer. An
// [*abi.Error] keeps its code and message; of any other error the daemon is
// told no more than that it is internal, and the log gets the text.
func (h *Host) Fail(err error) {
	if abi.CodeOf(err) == abi.CodeInternal {
		h.Log(abi.LevelError, fmt.Sprintf("%s: %v", h.req.Op, err))
	}
	panic(failure{err})
}

// Ask runs any host op: data in, the "ok" part of the answer into v, where
// either may be nil. It is for ops this SDK has no method for.
func (h *Host) Ask(op string, data, v any) error {
	if h.by.Ask == nil {
		return abi.Errorf(abi.CodeUnavailable, "%s: no host to ask", op)
	}
	req := struct {
		V    int    `json:"v"`
		Op   string `json:"op"`
		Data any    `json:"data,omitempty"`
	}{abi.Version, op, data}
	b, err := json.Marshal(req)
	if err != nil {
		return abi.Errorf(abi.CodeInvalid, "%s: %v", op, err)
	}
	var reply abi.Reply
	if err := json.Unmarshal(h.by.Ask(b), &reply); err != nil {
		return abi.Errorf(abi.CodeInternal, "%s: the host's reply: %v", op, err)
	}
	if reply.Error != nil {
		return reply.Error
	}
	if v == nil || len(reply.OK) == 0 || bytes.Equal(reply.OK, []byte("null")) {
		return nil
	}
	if err := json.Unmarshal(reply.OK, v); err != nil {
		return abi.Errorf(abi.CodeInternal, "%s: the host's reply: %v", op, err)
	}
	return nil
}
