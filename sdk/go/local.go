//go:build !wasip1

package companion

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
)

// Local is a daemon in memory for one character: it takes scenes, gives votes
// and lines, and keeps the character's store and a room's history. It speaks
// the border's JSON both ways, so a character that works here works in Wasm.
// Its fields may be set before the first call.
type Local struct {
	ID      string           // the companion's id; the lower-case name if empty
	RoomID  string           // "main"; if empty, calls are about no room
	Seed    uint64           // of what the random op answers
	Clock   func() time.Time // time.Now if nil
	KV      map[string]string
	History []Message
	Logs    []string // "LEVEL text", as the character wrote them
	Said    []string // pieces of lines, as [Host.Say] had them
	// Played are the actions. They are not held against the card: the daemon
	// refuses those that the card has not or does not allow.
	Played []abi.ActionAsk
	// Started and Ended are the conversations that the character opened and left. Nobody
	// answers, and nothing is refused but what no daemon would take.
	Started []abi.ConversationAsk
	Ended   []abi.ConversationEndAsk
	// Memories are what the companion remembers, oldest first. A search finds those that have a word of
	// its text among their keys or in their own text; the daemon knows more ways.
	Memories []abi.Memory
	// Documents are those of its folder, by name.
	Documents map[string]string
	// Model answers for the language model; without it there is none.
	Model func(abi.ModelAsk) (abi.ModelAnswer, error)
	// Web answers for the web; without it there is none.
	Web func(abi.FetchAsk) (abi.Fetched, error)
	// Handled is what a handler asked for.
	Handled Handled
	// Asked, where it is set, is told of each host op that was answered. It must not call the Local.
	Asked func(op string)

	c   Character
	mu  sync.Mutex // guards the fields in calls from many goroutines
	rng *rand.ChaCha8
	seq int
}

// NewLocal makes a daemon in memory for c.
func NewLocal(c Character) *Local {
	return &Local{ID: strings.ToLower(c.Name), RoomID: "main", KV: map[string]string{}, c: c}
}

// NewLocalHandler makes a daemon in memory for a handler.
func NewLocalHandler(h Handler) *Local {
	return NewLocal(Character{Name: h.Name, handler: &h})
}

// Act asks a handler to carry out an action. It is not held against its schema: the daemon refuses what that
// does not allow.
func (l *Local) Act(a Acting) (did abi.Acted, err error) {
	return did, l.ask(abi.OpAct, a, &did)
}

// Describe asks the character to describe itself.
func (l *Local) Describe() (d abi.Description, err error) {
	return d, l.ask(abi.OpDescribe, nil, &d)
}

// Vote asks for a vote.
func (l *Local) Vote(s Scene) (v Vote, err error) {
	return v, l.ask(abi.OpVote, s, &v)
}

// Speak asks for a line. An empty s.Recent is filled from History.
func (l *Local) Speak(s Scene) (line Line, err error) {
	if s.Recent == nil {
		s.Recent = l.History[max(0, len(l.History)-abi.RecentInAsk):]
	}
	return line, l.ask(abi.OpSpeak, s, &line)
}

// Perceive asks what the character makes of a perception.
func (l *Local) Perceive(p Perceiving) (j Judgement, err error) {
	return j, l.ask(abi.OpPerceive, p, &j)
}

// Result tells the character what became of an action.
func (l *Local) Result(r Result) error {
	return l.ask(abi.OpResult, r, &struct{}{})
}

// Forget tells the character that words were erased.
func (l *Local) Forget(f Forget) error {
	return l.ask(abi.OpEvent, abi.Event{Kind: abi.EventForget, Forget: &f}, &struct{}{})
}

// Compress asks for a shorter text. What no daemon would ask is refused.
func (l *Local) Compress(c Compressing) (text Compressed, err error) {
	if err := c.Check(); err != nil {
		return text, err
	}
	return text, l.ask(abi.OpCompress, c, &text)
}

// Verify asks for a verdict. What no daemon would ask is refused.
func (l *Local) Verify(v Verifying) (verdict Verified, err error) {
	if err := v.Check(); err != nil {
		return verdict, err
	}
	return verdict, l.ask(abi.OpVerify, v, &verdict)
}

// ask sends one op on the way that the daemon's requests go.
func (l *Local) ask(op string, data, v any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.send(Carrier{Ask: l.hostCall, Log: l.log}, op, data, v)
}

func (l *Local) log(level abi.Level, text string) {
	l.Logs = append(l.Logs, slog.Level(level).String()+" "+text)
}

// send is ask by a carrier.
func (l *Local) send(by Carrier, op string, data, v any) error {
	l.seq++
	b, err := json.Marshal(struct {
		abi.Request
		Data any `json:"data,omitempty"`
	}{abi.Request{V: abi.Version, Op: op, ID: fmt.Sprintf("local-%d", l.seq), Self: l.ID, Room: l.RoomID, Now: l.now()}, data})
	if err != nil {
		return fmt.Errorf("encode %s: %w", op, err)
	}
	out, _ := serve(&l.c, b, by)
	var reply abi.Reply
	if err := json.Unmarshal(out, &reply); err != nil {
		return fmt.Errorf("decode the reply to %s: %w", op, err)
	}
	if reply.Error != nil {
		return reply.Error
	}
	return json.Unmarshal(reply.OK, v)
}

func (l *Local) now() time.Time {
	if l.Clock == nil {
		return time.Now().UTC()
	}
	return l.Clock()
}

// hostCall is the Carrier's of a Local.
func (l *Local) hostCall(request []byte) []byte {
	var req abi.Request
	data, err := any(nil), json.Unmarshal(request, &req)
	if err == nil {
		data, err = l.host(req.Op, req.Data)
	}
	reply, _ := encodeReply(data, err)
	if l.Asked != nil {
		l.Asked(req.Op)
	}
	return reply
}

// host runs one host op. It takes and refuses the same as the
// daemon, in the same words: host/hostops/local_test.go runs both side by side.
func (l *Local) host(op string, data json.RawMessage) (any, error) {
	switch op {
	case abi.HostNow:
		now := l.now().UTC().Truncate(time.Millisecond)
		return abi.Now{Now: now, UnixMS: now.UnixMilli()}, nil
	case abi.HostRandom:
		return asked(data, l.random)
	case abi.HostHistoryGet:
		return asked(data, l.history)
	case abi.HostKnowledgeGet:
		return asked(data, l.document)
	case abi.HostSelfInfo:
		return abi.SelfInfo{ID: l.ID, Room: l.RoomID, Engine: "local", Generation: 1}, nil
	case abi.HostKVGet, abi.HostKVDel:
		return asked(data, func(k abi.KVKey) (abi.KVValue, error) {
			v, found := l.KV[k.Key]
			if op == abi.HostKVDel {
				delete(l.KV, k.Key)
			}
			return abi.KVValue{Found: found, Value: v}, nil
		})
	case abi.HostKVSet:
		return asked(data, l.set)
	case abi.HostKVList:
		return asked(data, l.keys)
	case abi.HostSay:
		return asked(data, l.say)
	case abi.HostActionEmit:
		return asked(data, func(a abi.ActionAsk) (abi.ActionPlayed, error) {
			l.Played = append(l.Played, a)
			return abi.ActionPlayed{ID: fmt.Sprintf("act-%d", len(l.Played)), Delivered: 1}, nil
		})
	case abi.HostConversationStart:
		return asked(data, l.converse)
	case abi.HostConversationEnd:
		return asked(data, func(a abi.ConversationEndAsk) (abi.ConversationNow, error) {
			l.Ended = append(l.Ended, a)
			return abi.ConversationNow{ID: a.ID, Status: "terminating"}, nil
		})
	case abi.HostMemorySearch:
		return asked(data, l.recall)
	case abi.HostMemoryAdd:
		return asked(data, l.remember)
	case abi.HostHTTPFetch:
		return asked(data, l.fetch)
	case abi.HostModelGenerate:
		if l.Model == nil {
			return nil, abi.Errorf(abi.CodeUnavailable, "waits for a model: set Local.Model")
		}
		return asked(data, l.Model)
	}
	return l.handled(op, data)
}

func (l *Local) fetch(ask abi.FetchAsk) (abi.Fetched, error) {
	if err := ask.Check(); err != nil {
		return abi.Fetched{}, err
	}
	if l.Web == nil {
		return abi.Fetched{}, abi.Errorf(abi.CodeUnavailable, "http.fetch: there is no web: set Local.Web")
	}
	return l.Web(ask)
}

func (l *Local) random(ask abi.RandomAsk) (abi.Random, error) {
	if err := ask.Check(); err != nil {
		return abi.Random{}, err
	}
	if l.rng == nil {
		var seed [32]byte
		copy(seed[:], fmt.Sprintf("%d/%s", l.Seed, l.ID))
		l.rng = rand.NewChaCha8(seed)
	}
	b := make([]byte, ask.N)
	l.rng.Read(b)
	return abi.Random{Bytes: b}, nil
}

func (l *Local) history(ask abi.HistoryAsk) (abi.History, error) {
	if l.RoomID == "" {
		return abi.History{}, abi.Errorf(abi.CodeInvalid, "history.get: this call is about no room")
	}
	limit, err := abi.Limit(ask.Limit, 20, abi.MaxHistory)
	if err != nil {
		return abi.History{}, err
	}
	h := abi.History{Messages: []Message{}}
	for _, m := range l.History {
		if ask.Before == 0 || m.Seq < ask.Before {
			h.Messages = append(h.Messages, m)
		}
		h.Head = max(h.Head, m.Seq)
	}
	h.Messages = h.Messages[max(0, len(h.Messages)-limit):]
	return h, nil
}

func (l *Local) document(ask abi.KnowledgeAsk) (k abi.Knowledge, err error) {
	if ask.Name != "" {
		text, ok := l.Documents[ask.Name]
		if !ok {
			return k, abi.Field("name", abi.CodeNotFound, "there is no document %.64q; ask without a name for those that are there", ask.Name)
		}
		if !utf8.ValidString(text) {
			return k, abi.Field("name", abi.CodeInvalid, "%.64q is no text in UTF-8 but in another encoding, such as Shift_JIS; save it as UTF-8", ask.Name)
		}
		return ask.Part(text)
	}
	if _, err := abi.Limit(ask.Limit, abi.MaxKnowledge, abi.MaxKnowledge); err != nil {
		return k, err
	}
	for _, name := range slices.Sorted(maps.Keys(l.Documents)) {
		if text := l.Documents[name]; utf8.ValidString(text) { // the daemon lists no other
			k.Documents = append(k.Documents, abi.Document{Name: name, Size: int64(len(text))})
		}
	}
	return k, nil
}

func (l *Local) say(ask abi.SayAsk) (struct{}, error) {
	if err := abi.CheckText("text", ask.Text); err != nil {
		return struct{}{}, err
	}
	l.Said = append(l.Said, ask.Text)
	return struct{}{}, nil
}

func (l *Local) converse(a abi.ConversationAsk) (abi.ConversationNow, error) {
	if err := a.Check(); err != nil {
		return abi.ConversationNow{}, err
	}
	l.Started = append(l.Started, a)
	return abi.ConversationNow{ID: fmt.Sprintf("conv_%032x", len(l.Started)), Status: abi.ConversationPending}, nil
}

// set keeps the daemon's bounds, so that a character that outgrows them fails
// in its own tests first.
func (l *Local) set(p abi.KVPair) (struct{}, error) {
	if err := p.Check(); err != nil {
		return struct{}{}, err
	}
	keys, total := 1, len(p.Key)+len(p.Value)
	for k, v := range l.KV {
		if k != p.Key {
			keys, total = keys+1, total+len(k)+len(v)
		}
	}
	if err := abi.CheckKV(keys, total); err != nil {
		return struct{}{}, err
	}
	if l.KV == nil {
		l.KV = map[string]string{}
	}
	l.KV[p.Key] = p.Value
	return struct{}{}, nil
}

func (l *Local) keys(ask abi.KVListAsk) (abi.KVKeys, error) {
	limit, err := abi.Limit(ask.Limit, 100, abi.MaxKVKeys)
	if err != nil {
		return abi.KVKeys{}, err
	}
	keys := []string{}
	for k := range l.KV {
		if strings.HasPrefix(k, ask.Prefix) && k > ask.After {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return abi.KVKeys{Keys: keys[:min(len(keys), limit)]}, nil
}

// asked decodes the data of a host op, where none is the zero value, and runs
// the op.
func asked[Ask, Answer any](data json.RawMessage, run func(Ask) (Answer, error)) (any, error) {
	var ask Ask
	if len(data) > 0 {
		if err := json.Unmarshal(data, &ask); err != nil {
			return nil, abi.Errorf(abi.CodeInvalid, "data: %v", err)
		}
	}
	return run(ask)
}
