package moduletest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
)

// Guest names a file the suite needs from an engine's tests. Every guest but
// the last three describes itself properly, with the op vote, and misbehaves
// only when asked for a vote, so that describe shows whether it has recovered.
type Guest string

// The guests.
const (
	Good          Guest = "good"           // votes: a JSON object with "state"
	Hang          Guest = "hang"           // vote never ends
	Trap          Guest = "trap"           // vote ends the guest
	BadReply      Guest = "bad reply"      // vote answers what is no JSON
	HugeReply     Guest = "huge reply"     // vote answers more than abi.MaxReply bytes
	WrongABI      Guest = "wrong abi"      // describes itself with abi "99"
	HangsAtLoad   Guest = "hangs at load"  // describe never ends
	NotDescribing Guest = "not describing" // is no companion: lacks the export, or describe
)

// patience is for what must end, on however slow a machine.
const patience = 30 * time.Second

// Run holds an engine to what module.Module and module.Engine promise. A guest
// that is missing skips its test, where a kind of file cannot misbehave so.
func Run(t *testing.T, e module.Engine, guests map[Guest][]byte) {
	s := suite{e, guests}
	t.Run("good", s.good)
	t.Run("many callers", s.manyCallers)
	t.Run("gives up waiting", s.givesUp)
	for _, g := range []Guest{Hang, Trap, BadReply, HugeReply} {
		t.Run(string(g), func(t *testing.T) { s.fault(t, g) })
	}
	t.Run("close while calling", s.closeWhileCalling)
	for _, g := range []Guest{WrongABI, HangsAtLoad, NotDescribing} {
		t.Run(string(g), func(t *testing.T) { s.refused(t, s.file(t, g)) })
	}
	t.Run("empty file", func(t *testing.T) { s.refused(t, nil) })
	t.Run("noise", func(t *testing.T) { s.refused(t, []byte("\x00\x01 this is { no companion")) })
}

type suite struct {
	engine module.Engine
	guests map[Guest][]byte
}

func (s suite) file(t *testing.T, g Guest) []byte {
	data, ok := s.guests[g]
	if !ok {
		t.Skipf("no guest %q for engine %s", g, s.engine.Name())
	}
	return data
}

func (s suite) load(t *testing.T, g Guest) module.Module {
	data := s.file(t, g)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	m, err := s.engine.Load(ctx, module.File{ID: "aya", Path: "aya" + s.engine.Suffix(), Data: data, Generation: 1})
	if err != nil {
		t.Fatalf("Load %s: %v", g, err)
	}
	return m
}

func closeNow(t *testing.T, m module.Module) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := m.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// call asks an op and fails the test if it does not end.
func call(t *testing.T, ctx context.Context, m module.Module, op string) (json.RawMessage, error) {
	t.Helper()
	type answer struct {
		data json.RawMessage
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		data, err := m.Call(ctx, abi.Request{V: abi.Version, Op: op, ID: "1", Self: "aya", Now: time.Unix(0, 0).UTC(), Data: json.RawMessage(`{}`)})
		done <- answer{data, err}
	}()
	select {
	case a := <-done:
		return a.data, a.err
	case <-time.After(patience):
		t.Fatalf("Call %s did not end", op)
		return nil, nil
	}
}

// lives checks that the module answers.
func lives(t *testing.T, m module.Module) {
	t.Helper()
	data, err := call(t, t.Context(), m, abi.OpDescribe)
	if err != nil {
		t.Fatalf("describe: %v", err)
	}
	var d abi.Description
	if err := json.Unmarshal(data, &d); err != nil || d.Name != m.Describe().Name {
		t.Errorf("describe gives %s (%v), Describe %+v", data, err, m.Describe())
	}
}

func (s suite) good(t *testing.T) {
	if !strings.HasPrefix(s.engine.Suffix(), ".") || s.engine.Name() == "" {
		t.Errorf("suffix %q, name %q", s.engine.Suffix(), s.engine.Name())
	}
	m := s.load(t, Good)
	d := m.Describe()
	if d.Name == "" || !strings.HasPrefix(d.ABI, "1") || !slices.Contains(d.Ops, abi.OpVote) {
		t.Errorf("Describe gives %+v", d)
	}
	lives(t, m)
	data, err := call(t, t.Context(), m, abi.OpVote)
	var v struct{ State abi.State }
	if err != nil || json.Unmarshal(data, &v) != nil || v.State == "" {
		t.Errorf("vote gives %s, %v", data, err)
	}
	_, err = call(t, t.Context(), m, "no.such.op")
	var fault *module.Fault
	if errors.As(err, &fault) || abi.CodeOf(err) != abi.CodeUnknownOp {
		t.Errorf("an unknown op gives %v", err)
	}
	lives(t, m)
	if m.Memory() < 0 {
		t.Errorf("memory %d", m.Memory())
	}
	closeNow(t, m)
	if _, err := call(t, t.Context(), m, abi.OpVote); abi.CodeOf(err) != abi.CodeUnavailable {
		t.Errorf("a call after Close gives %v", err)
	}
	m.Memory() // may be asked still
}

func (s suite) manyCallers(t *testing.T) {
	m := s.load(t, Good)
	defer closeNow(t, m)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if _, err := m.Call(t.Context(), abi.Request{V: abi.Version, Op: abi.OpVote, Data: json.RawMessage(`{}`)}); err != nil {
					t.Errorf("vote: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// givesUp: who has no time left is not kept waiting, and does no harm.
func (s suite) givesUp(t *testing.T) {
	m := s.load(t, Good)
	defer closeNow(t, m)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := call(t, ctx, m, abi.OpVote); err == nil {
		t.Error("a call whose ctx has ended gives an answer")
	}
	lives(t, m)
}

// fault: what the guest does wrong in a vote is a Fault of the right kind, and
// the module goes on.
func (s suite) fault(t *testing.T, g Guest) {
	kinds := map[Guest][]module.FaultKind{
		Hang:      {module.FaultTimeout, module.FaultFuel},
		Trap:      {module.FaultTrap},
		BadReply:  {module.FaultReply},
		HugeReply: {module.FaultReply, module.FaultTrap, module.FaultFuel},
	}[g]
	m := s.load(t, g)
	defer closeNow(t, m)
	for range 2 {
		timeout := patience
		if g == Hang {
			timeout = 300 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		data, err := call(t, ctx, m, abi.OpVote)
		cancel()
		var fault *module.Fault
		if !errors.As(err, &fault) || !slices.Contains(kinds, fault.Kind) {
			t.Fatalf("vote gives %.80s, %v; want a fault of %v", data, err, kinds)
		}
		lives(t, m)
	}
}

// closeWhileCalling: Close waits until its ctx ends, then the call ends too.
func (s suite) closeWhileCalling(t *testing.T) {
	m := s.load(t, Hang)
	done := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
		defer cancel()
		_, err := m.Call(ctx, abi.Request{V: abi.Version, Op: abi.OpVote, Data: json.RawMessage(`{}`)})
		done <- err
	}()
	time.Sleep(50 * time.Millisecond) // let the call begin; if it has not, the test shows less and still passes
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- m.Close(ctx) }()
	for range 2 {
		select {
		case err := <-done:
			if err == nil {
				t.Error("the call that hung gives an answer")
			}
		case <-closed: // its error is the engine's to choose
		case <-time.After(patience):
			t.Fatal("Close by force did not end the call")
		}
	}
}

// refused: what cannot be a companion is refused in words, in time.
func (s suite) refused(t *testing.T, data []byte) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	type result struct {
		m   module.Module
		err error
	}
	done := make(chan result, 1)
	go func() {
		m, err := s.engine.Load(ctx, module.File{ID: "aya", Path: "aya" + s.engine.Suffix(), Data: data, Generation: 1})
		done <- result{m, err}
	}()
	select {
	case r := <-done:
		if r.err == nil {
			if r.m != nil {
				closeNow(t, r.m)
			}
			t.Fatal("it loaded")
		}
		var e *abi.Error
		if !errors.As(r.err, &e) || e.Message == "" {
			t.Errorf("the error is no *abi.Error with words: %v", r.err)
		}
	case <-time.After(patience):
		t.Fatal("Load did not end")
	}
}
