//go:build !wasip1

package companion

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/companiond/companiond/abi"
)

// Handled is what a handler asked a Local for. While [Local.Run] runs, it is looked at with [Local.Look].
type Handled struct {
	Emitted   []abi.PerceptionAsk
	Retracted []abi.RetractAsk
	Sounds    []abi.Sound
	Timers    []abi.TimerAsk
	Results   []abi.ResultAsk
	Blobs     map[string]abi.Blob // by hash
	// Refuse, where it is set, is asked before each host op of handlers; what it gives is the answer, unless that is nil.
	Refuse func(op string, data json.RawMessage) error
}

// Show tells a handler what a room shows.
func (l *Local) Show(s abi.Showing) error { return l.ask(abi.OpShow, s, &struct{}{}) }

// Sense asks a handler about a perception.
func (l *Local) Sense(s abi.Sensing) (a abi.Sensed, err error) { return a, l.ask(abi.OpSense, s, &a) }

// Line asks a handler about words.
func (l *Local) Line(s abi.Lining) (a abi.Lined, err error) { return a, l.ask(abi.OpLine, s, &a) }

// Timer tells a handler that a timer is due.
func (l *Local) Timer(t abi.Timer) error { return l.ask(abi.OpTimer, t, &struct{}{}) }

// Run has a handler run until ctx ends, or it does. Other calls go on beside it.
func (l *Local) Run(ctx context.Context, r abi.Running) error {
	request, err := json.Marshal(struct {
		abi.Request
		Data any `json:"data"`
	}{abi.Request{V: abi.Version, Op: abi.OpRun, ID: "local-run", Self: l.ID, Now: l.now()}, r})
	if err != nil {
		return err
	}
	out, _ := serve(&l.c, request, Carrier{
		Ask: func(request []byte) []byte {
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.hostCall(request)
		},
		Log:     func(level abi.Level, text string) { l.Look(func() { l.log(level, text) }) },
		Context: ctx,
	})
	var reply abi.Reply
	if err := json.Unmarshal(out, &reply); err != nil {
		return err
	}
	if reply.Error != nil {
		return reply.Error
	}
	return nil
}

// Look runs do while nothing else happens, so that the fields can be read.
func (l *Local) Look(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	do()
}

// handled runs a host op of handlers.
func (l *Local) handled(op string, data json.RawMessage) (any, error) {
	if l.Handled.Refuse != nil {
		if err := l.Handled.Refuse(op, data); err != nil {
			return nil, err
		}
	}
	switch op {
	case abi.HostPerceptionEmit:
		return asked(data, func(p abi.PerceptionAsk) (abi.Emitted, error) {
			l.Handled.Emitted = append(l.Handled.Emitted, p)
			return abi.Emitted{Seq: uint64(len(l.Handled.Emitted))}, nil
		})
	case abi.HostPerceptionRetract:
		return asked(data, func(r abi.RetractAsk) (abi.Retracted, error) {
			l.Handled.Retracted = append(l.Handled.Retracted, r)
			return abi.Retracted{}, nil
		})
	case abi.HostSoundEmit:
		return asked(data, func(s abi.Sound) (struct{}, error) {
			l.Handled.Sounds = append(l.Handled.Sounds, s)
			return struct{}{}, nil
		})
	case abi.HostTimerSet:
		return asked(data, func(t abi.TimerAsk) (struct{}, error) {
			l.Handled.Timers = append(l.Handled.Timers, t)
			return struct{}{}, nil
		})
	case abi.HostActionResult:
		return asked(data, func(r abi.ResultAsk) (struct{}, error) {
			l.Handled.Results = append(l.Handled.Results, r)
			return struct{}{}, nil
		})
	case abi.HostBlobPut:
		return asked(data, func(b abi.Blob) (abi.BlobRef, error) {
			if len(b.Bytes) > abi.MaxBlob {
				return abi.BlobRef{}, abi.Field("bytes", abi.CodeTooLarge, "%d bytes, at most %d (MaxBlob)", len(b.Bytes), abi.MaxBlob)
			}
			if l.Handled.Blobs == nil {
				l.Handled.Blobs = map[string]abi.Blob{}
			}
			sum := sha256.Sum256(b.Bytes)
			hash := hex.EncodeToString(sum[:])
			l.Handled.Blobs[hash] = b
			return abi.BlobRef{Hash: hash, Type: b.Type, URL: "/v1/blobs/" + hash}, nil
		})
	case abi.HostBlobGet:
		return asked(data, func(r abi.BlobRef) (abi.Blob, error) {
			b, ok := l.Handled.Blobs[r.Hash]
			if !ok {
				return b, abi.Errorf(abi.CodeNotFound, "hash: there is no blob %.64q (any more)", r.Hash)
			}
			return b, nil
		})
	}
	return nil, abi.Errorf(abi.CodeUnknownOp, "host_call: there is no op %q", op)
}
