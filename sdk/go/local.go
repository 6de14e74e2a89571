//go:build !wasip1

package companion

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
)

// Local is a daemon in memory for one character: it takes scenes, gives votes
// and lines, and keeps the character's store and a room's history. It speaks
// the border's JSON both ways, so a character that works here works in Wasm.
// Its fields may be set before the first call.
type Local struct {
	ID      string           // the companion's id; the lower-case name if empty
	RoomID  string           // "main" if empty
	Seed    uint64           // of what the random op answers
	Clock   func() time.Time // time.Now if nil
	KV      map[string]string
	History []Message
	Logs    []string // "LEVEL text", as the character wrote them

	c   Character
	mu  sync.Mutex // guards the fields in calls from many goroutines
	rng *rand.ChaCha8
	seq int
}

// NewLocal makes a daemon in memory for c.
func NewLocal(c Character) *Local {
	return &Local{ID: strings.ToLower(c.Name), RoomID: "main", KV: map[string]string{}, c: c}
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

// ask sends one op through Serve's path.
func (l *Local) ask(op string, data, v any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq++
	req := abi.Request{
		V: abi.Version, Op: op, ID: fmt.Sprintf("local-%d", l.seq),
		Self: l.ID, Room: l.RoomID, Now: l.now(),
	}
	if data != nil {
		b, err := json.Marshal(data)
		if err != nil {
			return fmt.Errorf("encode %s: %w", op, err)
		}
		req.Data = b
	}
	b, err := json.Marshal(req)
	if err != nil {
		return fmt.Errorf("encode %s: %w", op, err)
	}
	out, _ := serve(&l.c, b, l.hostCall, func(level abi.Level, text string) {
		l.Logs = append(l.Logs, slog.Level(level).String()+" "+text)
	})
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

// hostCall is the HostFunc of a Local.
func (l *Local) hostCall(request []byte) []byte {
	var req abi.Request
	data, err := any(nil), json.Unmarshal(request, &req)
	if err == nil {
		data, err = l.host(req.Op, req.Data)
	}
	var reply abi.Reply
	if err == nil {
		reply.OK, err = json.Marshal(data)
	}
	if err != nil {
		reply = abi.Reply{Error: abi.AsError(err)}
	}
	b, err := json.Marshal(reply)
	if err != nil {
		panic(err) // cannot be: raw JSON just made, or two strings and a bool
	}
	return b
}

// host runs one host op.
func (l *Local) host(op string, data json.RawMessage) (any, error) {
	switch op {
	case abi.HostNow:
		now := l.now()
		return abi.Now{Now: now, UnixMS: now.UnixMilli()}, nil
	case abi.HostRandom:
		return l.random(data)
	case abi.HostHistoryGet:
		return l.history(data)
	case abi.HostSelfInfo:
		return abi.SelfInfo{ID: l.ID, Room: l.RoomID, Engine: "local", Generation: 1}, nil
	}
	if strings.HasPrefix(op, "kv.") {
		return l.kv(op, data)
	}
	return nil, abi.Errorf(abi.CodeUnknownOp, "host op %q is not known here", op)
}

func (l *Local) random(data json.RawMessage) (any, error) {
	var ask abi.RandomAsk
	if err := decode(data, &ask); err != nil {
		return nil, err
	}
	if ask.N < 1 || ask.N > abi.MaxRandom {
		return nil, abi.Errorf(abi.CodeInvalid, "random.n: %d is outside 1..%d", ask.N, abi.MaxRandom)
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

func (l *Local) history(data json.RawMessage) (any, error) {
	var ask abi.HistoryAsk
	if err := decode(data, &ask); err != nil {
		return nil, err
	}
	limit := ask.Limit
	if limit <= 0 {
		limit = 20
	}
	limit = min(limit, abi.MaxHistory)
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

func (l *Local) kv(op string, data json.RawMessage) (any, error) {
	var pair abi.KVPair
	if op == abi.HostKVList {
		var ask abi.KVListAsk
		if err := decode(data, &ask); err != nil {
			return nil, err
		}
		return l.keys(ask), nil
	}
	if err := decode(data, &pair); err != nil {
		return nil, err
	}
	if pair.Key == "" || len(pair.Key) > abi.MaxKVKey {
		return nil, abi.Errorf(abi.CodeInvalid, "%s: a key has 1..%d bytes", op, abi.MaxKVKey)
	}
	old, found := l.KV[pair.Key]
	switch op {
	case abi.HostKVGet:
		return abi.KVValue{Found: found, Value: old}, nil
	case abi.HostKVDel:
		delete(l.KV, pair.Key)
		return abi.KVValue{Found: found, Value: old}, nil
	case abi.HostKVSet:
		return struct{}{}, l.set(pair, found)
	}
	return nil, abi.Errorf(abi.CodeUnknownOp, "host op %q is not known here", op)
}

// set keeps the daemon's bounds, so that a character that outgrows them fails
// in its own tests first.
func (l *Local) set(p abi.KVPair, found bool) error {
	if len(p.Value) > abi.MaxKVValue {
		return abi.Errorf(abi.CodeTooLarge, "kv.set %q: %d bytes, at most %d", p.Key, len(p.Value), abi.MaxKVValue)
	}
	total := len(p.Key) + len(p.Value)
	for k, v := range l.KV {
		if k != p.Key {
			total += len(k) + len(v)
		}
	}
	if (!found && len(l.KV) >= abi.MaxKVKeys) || total > abi.MaxKVTotal {
		return abi.Errorf(abi.CodeExhausted, "kv.set %q: the store is full", p.Key)
	}
	if l.KV == nil {
		l.KV = map[string]string{}
	}
	l.KV[p.Key] = p.Value
	return nil
}

func (l *Local) keys(ask abi.KVListAsk) abi.KVKeys {
	limit := ask.Limit
	if limit <= 0 {
		limit = 100
	}
	keys := []string{}
	for k := range l.KV {
		if strings.HasPrefix(k, ask.Prefix) && k > ask.After {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return abi.KVKeys{Keys: keys[:min(len(keys), limit, abi.MaxKVKeys)]}
}

// decode reads the data of a host op; none is the zero value.
func decode(data json.RawMessage, v any) error {
	if len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, v); err != nil {
		return abi.Errorf(abi.CodeInvalid, "data: %v", err)
	}
	return nil
}

// platformLog writes to the program's default logger.
func platformLog(level abi.Level, text string) {
	slog.Default().Log(context.Background(), slog.Level(level), text)
}
