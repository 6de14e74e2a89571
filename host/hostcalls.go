package host

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/models"
	"github.com/companiond/companiond/host/module"
)

// hostCalls answers what modules ask of the daemon with host_call.
type hostCalls struct {
	kv      journal.KV
	history func(ctx context.Context, room string, ask abi.HistoryAsk) (abi.History, error)
	segment func(ctx context.Context, room, who, call, text string) error
	act     func(ctx context.Context, c module.Caller, a abi.ActionAsk) (abi.ActionPlayed, error)
	models  *models.Models
	talks   talks // nil where no project is configured
	starts  starts
}

var _ module.HostCalls = (*hostCalls)(nil)

// HostCall runs one op. Everything a companion may reach is reached from here:
// its own keys, the room it was asked in, the clock and random bytes.
func (h *hostCalls) HostCall(ctx context.Context, c module.Caller, op string, data json.RawMessage) (json.RawMessage, error) {
	switch op {
	case abi.HostNow:
		now := time.Now().UTC().Truncate(time.Millisecond)
		return json.Marshal(abi.Now{Now: now, UnixMS: now.UnixMilli()})
	case abi.HostSelfInfo:
		return json.Marshal(abi.SelfInfo{ID: c.Companion, Room: c.Room, Engine: c.Engine, Generation: c.Generation})
	case abi.HostRandom:
		return module.Answer(data, random)
	case abi.HostKVGet:
		return module.Answer(data, func(k abi.KVKey) (abi.KVValue, error) {
			v, ok, err := h.kv.KVGet(ctx, c.Companion, k.Key)
			return abi.KVValue{Found: ok, Value: v}, err
		})
	case abi.HostKVSet:
		return module.Answer(data, func(p abi.KVPair) (struct{}, error) {
			return struct{}{}, h.kv.KVSet(ctx, c.Companion, p.Key, p.Value)
		})
	case abi.HostKVDel:
		return module.Answer(data, func(k abi.KVKey) (abi.KVValue, error) {
			v, ok, err := h.kv.KVDel(ctx, c.Companion, k.Key)
			return abi.KVValue{Found: ok, Value: v}, err
		})
	case abi.HostKVList:
		return module.Answer(data, func(a abi.KVListAsk) (abi.KVKeys, error) { return h.list(ctx, c.Companion, a) })
	case abi.HostHistoryGet:
		if c.Room == "" {
			return nil, abi.Errorf(abi.CodeInvalid, "history.get: this call is about no room")
		}
		return module.Answer(data, func(a abi.HistoryAsk) (abi.History, error) { return h.history(ctx, c.Room, a) })
	case abi.HostSay:
		if c.Op != abi.OpSpeak {
			return nil, abi.Errorf(abi.CodeDenied, "say: is for the line that %s was asked for", abi.OpSpeak)
		}
		return module.Answer(data, func(a abi.SayAsk) (struct{}, error) {
			return struct{}{}, h.segment(ctx, c.Room, c.Companion, c.Call, a.Text)
		})
	case abi.HostActionEmit:
		return module.Answer(data, func(a abi.ActionAsk) (abi.ActionPlayed, error) { return h.act(ctx, c, a) })
	case abi.HostConversationStart:
		return module.Answer(data, func(a abi.ConversationAsk) (abi.ConversationNow, error) { return h.startTalk(ctx, c, a) })
	case abi.HostConversationEnd:
		return module.Answer(data, func(a abi.ConversationEndAsk) (abi.ConversationNow, error) { return h.endTalk(ctx, c, a) })
	case abi.HostModelGenerate:
		return module.Answer(data, func(a abi.ModelAsk) (abi.ModelAnswer, error) { return h.models.Ask(ctx, c, a) })
	}
	return nil, abi.Errorf(abi.CodeUnknownOp, "host_call: there is no op %q", op)
}

func (h *hostCalls) list(ctx context.Context, companion string, a abi.KVListAsk) (abi.KVKeys, error) {
	limit, err := abi.Limit(a.Limit, 100, abi.MaxKVKeys)
	if err != nil {
		return abi.KVKeys{}, err
	}
	keys, err := h.kv.KVList(ctx, companion, a.Prefix, a.After, limit)
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
