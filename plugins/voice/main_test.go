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

// over ends all lines: the program, and its lines with it, lasts for all tests.
func (d *daemon) over(settings json.RawMessage, companions ...string) {
	for _, id := range companions {
		d.call(context.Background(), abi.OpShow, abi.Showing{Companion: id, Settings: settings, Shown: []abi.Shown{{Kind: abi.ShowStop}}})
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
		d.over(settings, "aya")
		if logs := strings.Join(d.logs, "|"); !strings.HasPrefix(logs, c.logged) || (logs == "") != (c.logged == "") || strings.Count(logs, "no voice") > 1 {
			t.Errorf("%s: %q", c.op, logs)
		}
	}
}

// TestToldByTheNextRun: what was ready when a Run had to end, and could not be told, is told by the next, and is not
// made again.
func TestToldByTheNextRun(t *testing.T) {
	for _, op := range []string{abi.HostBlobPut, abi.HostSoundEmit} {
		settings := json.RawMessage(fmt.Sprintf(`{"engine":"openai","address":"http://127.0.0.1:9","dictionary":{"of this test":"next %s"}}`, op))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		d := &daemon{t: t, asked: make(chan abi.Sound, 10), answer: func(asked string) error {
			if asked != op || ctx.Err() != nil {
				return nil
			}
			cancel() // while it is asked
			<-ctx.Done()
			return abi.Errorf(abi.CodeTimeout, "nobody waits for the answer any more")
		}}
		go func() {
			d.call(ctx, abi.OpRun, abi.Running{Companions: []string{"aya"}, Settings: settings})
			close(ended)
		}()
		d.call(t.Context(), abi.OpShow, abi.Showing{Companion: "aya", Settings: settings, Shown: []abi.Shown{{Kind: abi.ShowPiece, Line: "g-next", Part: 1, Text: "（笑）"}}})
		<-ended
		if op == abi.HostSoundEmit {
			<-d.asked // in vain
		}
		second, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { d.call(second, abi.OpRun, abi.Running{Companions: []string{"aya"}, Settings: settings}) })
		if s := <-d.asked; s.Line != "g-next" || s.Part != 1 || s.Failed != "" || s.Blob.Hash == "" {
			t.Errorf("%s: %+v", op, s)
		}
		stop()
		running.Wait()
		d.over(settings, "aya")
		if len(d.asked) != 0 || len(d.logs) != 0 {
			t.Errorf("%s: %d more sounds, %q", op, len(d.asked), d.logs)
		}
	}
}

// TestLineEndsWhileItIsTold: what is behind the part that is being told is dropped.
func TestLineEndsWhileItIsTold(t *testing.T) {
	settings := json.RawMessage(`{"engine":"openai","address":"http://127.0.0.1:9","parallel":2,"dictionary":{"of this test":"over"}}`)
	telling, goOn := make(chan struct{}, 10), make(chan struct{})
	d := &daemon{t: t, asked: make(chan abi.Sound, 10), answer: func(op string) error {
		if op == abi.HostSoundEmit {
			telling <- struct{}{}
			<-goOn
		}
		return nil
	}}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { d.call(ctx, abi.OpRun, abi.Running{Companions: []string{"aya", "kyoko"}, Settings: settings}) })
	show := func(companion string, shown ...abi.Shown) {
		d.call(t.Context(), abi.OpShow, abi.Showing{Companion: companion, Settings: settings, Shown: shown})
	}
	show("aya", abi.Shown{Kind: abi.ShowPiece, Line: "g-over", Part: 1, Text: "🎉"}, abi.Shown{Kind: abi.ShowPiece, Line: "g-over", Part: 2, Text: "🎉"})
	<-telling
	// The one that does not tell has made the second part before it comes to this.
	show("kyoko", abi.Shown{Kind: abi.ShowPiece, Line: "g-on", Part: 1, Text: "🎉"})
	<-telling
	show("aya", abi.Shown{Kind: abi.ShowEnd, Line: "g-over", End: "cut"})
	close(goOn)
	for range 2 {
		if s := <-d.asked; s.Part != 1 {
			t.Errorf("%+v", s)
		}
	}
	show("kyoko", abi.Shown{Kind: abi.ShowPiece, Line: "g-on", Part: 2, Text: "🎉"})
	if s := <-d.asked; s.Line != "g-on" || s.Part != 2 {
		t.Errorf("%+v", s)
	}
	cancel()
	running.Wait()
	d.over(settings, "aya", "kyoko")
	if len(d.asked) != 0 {
		t.Errorf("%+v is told", <-d.asked)
	}
}
