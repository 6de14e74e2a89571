// Package hostops answers what modules ask of the daemon with host_call: a companion's own keys,
// the room it was asked in, the clock, random bytes, and what was granted to it by name.
//
// It never looks whether an op was granted, which host/module's Grants do before, and reaches
// nothing but what it was given.
package hostops

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/blob"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/memory"
	"github.com/companiond/companiond/host/module"
)

// Ops answers them. What a field is not set for must not be asked for, but for Talks, Memory, Handlers, Knowledge, Fetch, Blobs and Sound.
type Ops struct {
	Stores  journal.Stores // of keys, as they are in the room of a call
	History func(ctx context.Context, room string, ask abi.HistoryAsk) (abi.History, error)
	// Segment takes a piece of the line that a companion was asked for in a call.
	Segment func(ctx context.Context, room, who, call string, a abi.SayAsk) error
	Act     func(ctx context.Context, c module.Caller, a abi.ActionAsk) (abi.ActionPlayed, error)
	// Generate asks the model of the companion that calls.
	Generate func(ctx context.Context, c module.Caller, a abi.ModelAsk) (abi.ModelAnswer, error)
	// Knowledge gives documents of a companion's; nil where none are kept.
	Knowledge func(companion string, a abi.KnowledgeAsk) (abi.Knowledge, error)
	// Fetch asks the web for a companion; nil where there is none.
	Fetch  func(ctx context.Context, companion string, a abi.FetchAsk) (abi.Fetched, error)
	Talks  Talks  // nil where no project is configured
	Memory Memory // nil where nothing is remembered
	// Handlers answers what handlers alone ask; nil where there are none.
	Handlers Handlers
	Blobs    *blob.Store
	// Sound tells a room how a part of a companion's line sounds; nil where nobody takes them. Whether the
	// caller may, it has to find out itself.
	Sound func(ctx context.Context, c module.Caller, s abi.Sound) error

	starts starts
}

// Handlers are those of a house, for the host ops that handlers alone may ask. *handler.Stage implements it.
type Handlers interface {
	Emit(ctx context.Context, c module.Caller, a abi.PerceptionAsk) (abi.Emitted, error)
	Retract(ctx context.Context, c module.Caller, a abi.RetractAsk) (abi.Retracted, error)
	SetTimer(c module.Caller, a abi.TimerAsk) error
	Result(c module.Caller, a abi.ResultAsk) error
	Play(ctx context.Context, c module.Caller, a abi.ActionAsk) (abi.ActionPlayed, error)
}

// Memory is what companions remember, as far as their modules ask for it. *memory.Keeper
// implements it.
type Memory interface {
	Recall(ctx context.Context, c module.Caller, a abi.MemoryAsk) (abi.Memories, error)
	Add(ctx context.Context, c module.Caller, a abi.MemoryAdd) (abi.Memory, error)
}

var _ Memory = (*memory.Keeper)(nil)

var _ module.HostCalls = (*Ops)(nil)

// HostCall runs one op.
func (o *Ops) HostCall(ctx context.Context, c module.Caller, op string, data json.RawMessage) (json.RawMessage, error) {
	switch op {
	case abi.HostNow:
		now := time.Now().UTC().Truncate(time.Millisecond)
		return json.Marshal(abi.Now{Now: now, UnixMS: now.UnixMilli()})
	case abi.HostSelfInfo:
		return json.Marshal(abi.SelfInfo{ID: c.Companion, Room: c.Room, Engine: c.Engine, Generation: c.Generation})
	case abi.HostRandom:
		return module.Answer(data, random)
	case abi.HostKVGet, abi.HostKVSet, abi.HostKVDel, abi.HostKVList:
		return o.keys(ctx, c, op, data)
	case abi.HostHistoryGet:
		if c.Room == "" {
			return nil, abi.Errorf(abi.CodeInvalid, "history.get: this call is about no room")
		}
		return module.Answer(data, func(a abi.HistoryAsk) (abi.History, error) { return o.History(ctx, c.Room, a) })
	case abi.HostKnowledgeGet:
		if o.Knowledge == nil {
			return nil, abi.Errorf(abi.CodeUnavailable, "%s: no documents are kept here", op)
		}
		return module.Answer(data, func(a abi.KnowledgeAsk) (abi.Knowledge, error) { return o.Knowledge(c.Companion, a) })
	case abi.HostHTTPFetch:
		if o.Fetch == nil {
			return nil, abi.Errorf(abi.CodeUnavailable, "%s: there is no web here", op)
		}
		return module.Answer(data, func(a abi.FetchAsk) (abi.Fetched, error) { return o.Fetch(ctx, c.Companion, a) })
	case abi.HostSay:
		if c.Op != abi.OpSpeak {
			return nil, abi.Errorf(abi.CodeDenied, "say: is for the line that %s was asked for", abi.OpSpeak)
		}
		return module.Answer(data, func(a abi.SayAsk) (struct{}, error) {
			return struct{}{}, o.Segment(ctx, c.Room, c.Companion, c.Call, a)
		})
	case abi.HostActionEmit:
		return module.Answer(data, func(a abi.ActionAsk) (abi.ActionPlayed, error) { return o.play(ctx, c, a) })
	case abi.HostConversationStart:
		return module.Answer(data, func(a abi.ConversationAsk) (abi.ConversationNow, error) { return o.startTalk(ctx, c, a) })
	case abi.HostConversationEnd:
		return module.Answer(data, func(a abi.ConversationEndAsk) (abi.ConversationNow, error) { return o.endTalk(ctx, c, a) })
	case abi.HostMemorySearch, abi.HostMemoryAdd:
		return o.memory(ctx, c, op, data)
	case abi.HostPerceptionEmit, abi.HostPerceptionRetract, abi.HostTimerSet, abi.HostActionResult:
		return o.handling(ctx, c, op, data)
	case abi.HostBlobPut, abi.HostBlobGet, abi.HostSoundEmit:
		return o.sounds(ctx, c, op, data)
	case abi.HostModelGenerate:
		return module.Answer(data, func(a abi.ModelAsk) (abi.ModelAnswer, error) { return o.Generate(ctx, c, a) })
	}
	return nil, abi.Errorf(abi.CodeUnknownOp, "host_call: there is no op %q", op)
}

// play has a companion play an action: the one that asks, or one of a handler's.
func (o *Ops) play(ctx context.Context, c module.Caller, a abi.ActionAsk) (abi.ActionPlayed, error) {
	switch {
	case !abi.OfHandlers(c.Op) && (a.Companion == "" || a.Companion == c.Companion):
		return o.Act(ctx, c, a)
	case o.Handlers == nil:
		return abi.ActionPlayed{}, abi.Errorf(abi.CodeUnavailable, "%s: there are no handlers here", abi.HostActionEmit)
	}
	return o.Handlers.Play(ctx, c, a)
}

// handling runs an op of handlers.
func (o *Ops) handling(ctx context.Context, c module.Caller, op string, data json.RawMessage) (json.RawMessage, error) {
	switch {
	case o.Handlers == nil:
		return nil, abi.Errorf(abi.CodeUnavailable, "%s: there are no handlers here", op)
	case op == abi.HostPerceptionEmit:
		return module.Answer(data, func(a abi.PerceptionAsk) (abi.Emitted, error) { return o.Handlers.Emit(ctx, c, a) })
	case op == abi.HostPerceptionRetract:
		return module.Answer(data, func(a abi.RetractAsk) (abi.Retracted, error) { return o.Handlers.Retract(ctx, c, a) })
	case op == abi.HostActionResult:
		return module.Answer(data, func(a abi.ResultAsk) (struct{}, error) { return struct{}{}, o.Handlers.Result(c, a) })
	}
	return module.Answer(data, func(a abi.TimerAsk) (struct{}, error) { return struct{}{}, o.Handlers.SetTimer(c, a) })
}

// memory runs an op on what the companion remembers.
func (o *Ops) memory(ctx context.Context, c module.Caller, op string, data json.RawMessage) (json.RawMessage, error) {
	if o.Memory == nil {
		return nil, abi.Errorf(abi.CodeUnavailable, "%s: nothing is remembered here", op)
	}
	if op == abi.HostMemoryAdd {
		return module.Answer(data, func(a abi.MemoryAdd) (abi.Memory, error) { return o.Memory.Add(ctx, c, a) })
	}
	return module.Answer(data, func(a abi.MemoryAsk) (abi.Memories, error) {
		if err := a.Check(); err != nil {
			return abi.Memories{}, err
		}
		return o.Memory.Recall(ctx, c, a)
	})
}

// keys runs an op on the companion's own keys, as they are in the room of the call.
func (o *Ops) keys(ctx context.Context, c module.Caller, op string, data json.RawMessage) (json.RawMessage, error) {
	kv := o.Stores.KVIn(c.Room)
	switch op {
	case abi.HostKVGet:
		return module.Answer(data, func(k abi.KVKey) (abi.KVValue, error) {
			v, ok, err := kv.KVGet(ctx, c.Companion, k.Key)
			return abi.KVValue{Found: ok, Value: v}, err
		})
	case abi.HostKVSet:
		return module.Answer(data, func(p abi.KVPair) (struct{}, error) {
			err := kv.KVSet(ctx, c.Companion, p.Key, p.Value)
			if err == nil {
				err = o.forget(ctx, c, p.Key)
			}
			return struct{}{}, err
		})
	case abi.HostKVDel:
		return module.Answer(data, func(k abi.KVKey) (abi.KVValue, error) {
			v, ok, err := kv.KVDel(ctx, c.Companion, k.Key)
			if err == nil {
				err = o.forget(ctx, c, k.Key)
			}
			return abi.KVValue{Found: ok, Value: v}, err
		})
	}
	return module.Answer(data, func(a abi.KVListAsk) (abi.KVKeys, error) { return listed(ctx, kv, c.Companion, a) })
}

// forget takes out of the store's past what a module changes because it is told that words are erased.
func (o *Ops) forget(ctx context.Context, c module.Caller, key string) error {
	if c.Op != abi.OpEvent {
		return nil
	}
	return o.Stores.KVForget(ctx, c.Room, c.Companion, key)
}

func listed(ctx context.Context, kv journal.KV, companion string, a abi.KVListAsk) (abi.KVKeys, error) {
	limit, err := abi.Limit(a.Limit, 100, abi.MaxKVKeys)
	if err != nil {
		return abi.KVKeys{}, err
	}
	keys, err := kv.KVList(ctx, companion, a.Prefix, a.After, limit)
	if keys == nil {
		keys = []string{}
	}
	return abi.KVKeys{Keys: keys}, err
}

func random(a abi.RandomAsk) (abi.Random, error) {
	if err := a.Check(); err != nil {
		return abi.Random{}, err
	}
	b := make([]byte, a.N)
	_, err := rand.Read(b)
	return abi.Random{Bytes: b}, err
}
