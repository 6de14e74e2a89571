package process

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/process/wire"
)

// speak is what the registered character does.
var speak func(h *companion.Host, s companion.Scene) companion.Line

func init() {
	companion.Register(companion.Character{Name: "Momo", Speak: func(h *companion.Host, s companion.Scene) companion.Line { return speak(h, s) }})
}

// frame is one of a call.
type frame struct {
	kind wire.Kind
	body string
}

// pipe is a call whose other side is the test.
type pipe struct{ in, out chan frame }

func (p pipe) Send(k wire.Kind, body []byte) error {
	p.out <- frame{k, string(body)}
	return nil
}

func (p pipe) Recv() (wire.Kind, []byte, error) {
	f, ok := <-p.in
	if !ok {
		return 0, nil, io.EOF
	}
	return f.kind, []byte(f.body), nil
}

// begin begins a call of speak, whose error comes when it has ended.
func begin(s *server) (p pipe, ended <-chan error) {
	p = pipe{make(chan frame, 9), make(chan frame, 9)}
	p.in <- frame{wire.Request, `{"v":1,"op":"speak","id":"1","data":{"message":{"text":"hi"}}}`}
	done := make(chan error, 1)
	go func() { done <- s.serve(context.Background(), p) }()
	return p, done
}

func TestAsksAndLogs(t *testing.T) {
	speak = func(h *companion.Host, s companion.Scene) companion.Line {
		h.Log(abi.LevelWarn, "careful")
		mood, _, err := h.Get("mood")
		if err != nil {
			h.Fail(err)
		}
		return companion.Say(s.Message.Text + " " + mood)
	}
	p, ended := begin(newServer())
	for _, want := range []string{`l{"level":4,"text":"careful"}`, `h{"v":1,"op":"kv.get","data":{"key":"mood"}}`, `r{"ok":{"text":"hi sunny"}}`} {
		f := <-p.out
		if got := string(rune(f.kind)) + f.body; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if f.kind == wire.HostCall {
			p.in <- frame{wire.Answer, `{"ok":{"found":true,"value":"sunny"}}`}
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	close(p.in)
}

// One call is answered at a time, and one that is given up ends at once where it waits, and where its code
// heeds the context; also in the middle of an ask.
func TestGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		begun := 0
		speak = func(h *companion.Host, _ companion.Scene) companion.Line {
			begun++
			select {
			case <-let:
			case <-h.Context().Done():
				h.Fail(abi.Errorf(abi.CodeTimeout, "given up"))
			}
			if _, _, err := h.Get("mood"); err != nil {
				h.Fail(err)
			}
			return companion.Say("done")
		}
		s := newServer()
		first, firstEnded := begin(s)
		synctest.Wait()
		second, secondEnded := begin(s)
		synctest.Wait()
		if begun != 1 {
			t.Fatalf("%d calls at a time", begun)
		}
		second.in <- frame{kind: wire.Cancel}
		if f := <-second.out; f.kind != wire.Reply || !strings.Contains(f.body, "nobody waits") {
			t.Errorf("the second: %c%s", f.kind, f.body)
		}
		first.in <- frame{kind: wire.Cancel}
		if f := <-first.out; f.kind != wire.Reply || !strings.Contains(f.body, "given up") {
			t.Errorf("the first: %c%s", f.kind, f.body)
		}
		third, thirdEnded := begin(s)
		close(let)
		if f := <-third.out; f.kind != wire.HostCall {
			t.Errorf("the third: %c%s", f.kind, f.body)
		}
		third.in <- frame{kind: wire.Cancel}
		var reply abi.Reply
		if f := <-third.out; f.kind != wire.Reply || json.Unmarshal([]byte(f.body), &reply) != nil || reply.Error == nil || reply.Error.Code != abi.CodeTimeout {
			t.Errorf("the third: %c%s", f.kind, f.body)
		}
		for i, ended := range []<-chan error{firstEnded, secondEnded, thirdEnded} {
			if err := <-ended; err != nil {
				t.Errorf("call %d: %v", i+1, err)
			}
		}
		for _, p := range []pipe{first, second, third} {
			close(p.in)
		}
	})
}

// A call that begins with something else is none.
func TestNoRequest(t *testing.T) {
	p := pipe{make(chan frame, 1), make(chan frame)}
	p.in <- frame{wire.Answer, "{}"}
	if err := newServer().serve(t.Context(), p); err == nil || !strings.Contains(err.Error(), "unexpected frame") {
		t.Error(err)
	}
	close(p.in)
	if err := newServer().serve(t.Context(), p); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// A run goes on beside other calls, and may ask meanwhile.
func TestRunGoesOnBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.serves = func(request []byte, c companion.Carrier) []byte {
			if op(request) == abi.OpRun {
				<-c.Context.Done()
			}
			return []byte(`{"ok":"` + op(request) + `"}`)
		}
		run := pipe{make(chan frame, 9), make(chan frame, 9)}
		run.in <- frame{wire.Request, `{"v":1,"op":"run","id":"1","data":{}}`}
		ended := make(chan error, 2)
		go func() { ended <- s.serve(context.Background(), run) }()
		synctest.Wait()
		vote := pipe{make(chan frame, 9), make(chan frame, 9)}
		vote.in <- frame{wire.Request, `{"v":1,"op":"vote","id":"2","data":{}}`}
		go func() { ended <- s.serve(context.Background(), vote) }()
		if f := <-vote.out; f.body != `{"ok":"vote"}` {
			t.Errorf("%c%s", f.kind, f.body)
		}
		run.in <- frame{kind: wire.Cancel}
		if f := <-run.out; f.body != `{"ok":"run"}` {
			t.Errorf("%c%s", f.kind, f.body)
		}
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		close(run.in)
		close(vote.in)
	})
}
