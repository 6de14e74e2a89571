package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
)

// daemon is one that answers host ops as a test wants.
type daemon struct {
	t      *testing.T
	answer func(op string) error
	asked  chan abi.Sound // what sound.emit was asked
	mu     sync.Mutex
	logs   []string
}

func (d *daemon) carrier(ctx context.Context) companion.Carrier {
	return companion.Carrier{
		Context: ctx,
		Ask: func(request []byte) []byte {
			var r abi.Request
			var s abi.Sound
			if err := json.Unmarshal(request, &r); err != nil {
				d.t.Error(err)
			}
			reply := abi.Reply{OK: json.RawMessage(`{"hash":"h"}`)}
			if err := d.answer(r.Op); err != nil {
				reply = abi.Reply{Error: abi.AsError(err)}
			}
			if r.Op == abi.HostSoundEmit {
				if err := json.Unmarshal(r.Data, &s); err != nil {
					d.t.Error(err)
				}
				d.asked <- s
			}
			b, err := json.Marshal(reply)
			if err != nil {
				d.t.Error(err)
			}
			return b
		},
		Log: func(level abi.Level, text string) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.logs = append(d.logs, fmt.Sprint(level, " ", text))
		},
	}
}

func (d *daemon) call(ctx context.Context, op string, data any) abi.Reply {
	b, err := json.Marshal(struct {
		abi.Request
		Data any `json:"data,omitempty"`
	}{abi.Request{V: abi.Version, Op: op}, data})
	if err != nil {
		d.t.Fatal(err)
	}
	out, _ := companion.Serve(b, d.carrier(ctx))
	var reply abi.Reply
	if err := json.Unmarshal(out, &reply); err != nil {
		d.t.Error(err)
	}
	return reply
}

// TestServed: the program is the handler.
func TestServed(t *testing.T) {
	d := &daemon{t: t, answer: func(string) error { return nil }}
	reply := d.call(t.Context(), abi.OpDescribe, nil)
	if said, err := abi.ReadDescription(reply.OK); err != nil || said.Name != "Voice" || said.Kind != abi.Handler {
		t.Errorf("%+v, %v", said, err)
	}
}

// TestDaemonRefuses: one that keeps no more blobs, one where a grant is missing, and one in which the line is over: no
// part stays behind, and the log has it where somebody can do something.
func TestDaemonRefuses(t *testing.T) {
	for _, c := range []struct {
		op             string
		err            error
		failed, logged string
	}{
		{abi.HostBlobPut, abi.Errorf(abi.CodeExhausted, "there are too many"), "its sound cannot be kept: there are too many", "4 no voice: its sound cannot be kept: there are too many"},
		{abi.HostSoundEmit, abi.Errorf(abi.CodeDenied, "sound.emit is not granted"), "", "4 no voice: sound.emit is not granted"},
		{abi.HostSoundEmit, abi.Errorf(abi.CodeNotFound, "there is no such line"), "", "-4 the sound of part"},
		{"", nil, "", ""},
	} {
		d := &daemon{t: t, asked: make(chan abi.Sound, 10), answer: func(op string) error {
			if op == c.op {
				return c.err
			}
			return nil
		}}
		settings := json.RawMessage(fmt.Sprintf(`{"engine":"openai","address":"http://127.0.0.1:9","dictionary":{"of this test":%q}}`, c.logged))
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { d.call(ctx, abi.OpRun, abi.Running{Companions: []string{"aya"}, Settings: settings}) })
		d.call(t.Context(), abi.OpShow, abi.Showing{Companion: "aya", Settings: settings, Shown: []abi.Shown{
			{Kind: abi.ShowPiece, Line: "g-1", Part: 1, Text: "（笑）"}, {Kind: abi.ShowPiece, Line: "g-1", Part: 2, Text: "🎉"},
		}})
		for part := 1; part <= 2; part++ {
			if s := <-d.asked; s.Part != part || s.Failed != c.failed || (s.Blob.Hash == "") != (c.failed != "") {
				t.Errorf("%s: %+v", c.op, s)
			}
		}
		cancel()
		running.Wait()
		if logs := strings.Join(d.logs, "|"); !strings.HasPrefix(logs, c.logged) || (logs == "") != (c.logged == "") || strings.Count(logs, "no voice") > 1 {
			t.Errorf("%s: %q", c.op, logs)
		}
	}
}
