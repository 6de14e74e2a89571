package moduletest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
)

// Guest names a file the suite needs from an engine's tests. Every guest but
// the last four describes itself properly, with the op vote, and misbehaves
// only when asked for a vote, so that describe shows whether it has recovered.
type Guest string

// The guests.
const (
	Good          Guest = "good"           // votes: a JSON object with "state"
	Hang          Guest = "hang"           // vote never ends
	Trap          Guest = "trap"           // vote ends the guest
	Exit          Guest = "exit"           // vote has the guest exit, as if all were well
	Grow          Guest = "grow"           // vote takes memory until there is none
	BadReply      Guest = "bad reply"      // vote answers what is no JSON
	HugeReply     Guest = "huge reply"     // vote answers more than abi.MaxReply bytes
	WrongABI      Guest = "wrong abi"      // describes itself with abi "99"
	HangsAtLoad   Guest = "hangs at load"  // describe never ends
	NotDescribing Guest = "not describing" // is no companion: lacks the export, or describe
	// Scribe compresses and verifies as the echo of ABI.md does; it need not answer anything else.
	Scribe Guest = "scribe"
)

// patience is for what must end, on however slow a machine.
const patience = 30 * time.Second

// Run holds an engine to what module.Module and module.Engine promise. file is
// what a file of the engine's is called, whose name without what is the engine's
// must be "aya". A guest that is missing skips its case, where a kind of file
// cannot misbehave so.
func Run(t *testing.T, e module.Engine, file string, guests map[Guest][]byte) {
	for _, c := range (suite{e, file, guests, patience}).cases() {
		t.Run(c.name, func(t *testing.T) { c.run(t) })
	}
}

type suite struct {
	engine   module.Engine
	name     string
	guests   map[Guest][]byte
	patience time.Duration
}

// A promise is one case of the suite. For each there is a broken engine in the
// tests of this package which it must catch.
type promise struct {
	name string
	run  func(t testing.TB)
}

func (s suite) cases() []promise {
	all := []promise{
		{"match", s.match}, {"good", s.good}, {"many callers", s.manyCallers}, {"gives up waiting", s.givesUp}, {"close while calling", s.closeWhileCalling},
		{"empty file", func(t testing.TB) { s.refused(t, nil) }},
		{"noise", func(t testing.TB) { s.refused(t, []byte("\x00\x01 this is { no companion")) }},
	}
	for _, g := range []Guest{Hang, Trap, Exit, Grow, BadReply, HugeReply} {
		all = append(all, promise{string(g), func(t testing.TB) { s.fault(t, g) }})
	}
	all = append(all, promise{string(Scribe), s.scribe})
	for _, g := range []Guest{WrongABI, HangsAtLoad, NotDescribing} {
		all = append(all, promise{string(g), func(t testing.TB) { s.refused(t, s.file(t, g)) }})
	}
	return all
}

func (s suite) file(t testing.TB, g Guest) []byte {
	data, ok := s.guests[g]
	if !ok {
		t.Skipf("no guest %q for engine %s", g, s.engine.Name())
	}
	return data
}

// source writes a file, for engines that run it in its place.
func (s suite) source(t testing.TB, data []byte) module.Source {
	t.Helper()
	path := filepath.Join(t.TempDir(), s.name)
	if err := os.WriteFile(path, data, 0o700); err != nil {
		t.Fatalf("write a guest: %v", err)
	}
	sum := sha256.Sum256(data)
	return module.Source{ID: "aya", Name: s.name, Path: path, Hash: hex.EncodeToString(sum[:]), Data: data, Generation: 1}
}

func (s suite) load(t testing.TB, g Guest) module.Module {
	t.Helper()
	data := s.file(t, g)
	ctx, cancel := context.WithTimeout(t.Context(), s.patience)
	defer cancel()
	m, err := s.engine.Load(ctx, s.source(t, data))
	if err != nil {
		t.Fatalf("Load %s: %v", g, err)
	}
	return m
}

func (s suite) close(t testing.TB, m module.Module) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), s.patience)
	defer cancel()
	if err := m.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
}

type answer struct {
	data json.RawMessage
	err  error
}

// ask begins to ask an op.
func ask(ctx context.Context, m module.Module, op string) <-chan answer {
	return askWith(ctx, m, op, json.RawMessage(`{}`))
}

func askWith(ctx context.Context, m module.Module, op string, with json.RawMessage) <-chan answer {
	done := make(chan answer, 1)
	go func() {
		data, err := m.Call(ctx, abi.Request{V: abi.Version, Op: op, ID: "1", Self: "aya", Now: time.Unix(0, 0).UTC(), Data: with})
		done <- answer{data, err}
	}()
	return done
}

// end waits for what must end, and fails the test if it does not.
func end[T any](t testing.TB, s suite, what string, done <-chan T) (got T) {
	t.Helper()
	select {
	case got = <-done:
	case <-time.After(s.patience):
		t.Fatalf("%s did not end", what)
	}
	return got
}

func (s suite) call(t testing.TB, ctx context.Context, m module.Module, op string) (json.RawMessage, error) {
	t.Helper()
	a := end(t, s, "Call "+op, ask(ctx, m, op))
	return a.data, a.err
}

// lives checks that the module answers.
func (s suite) lives(t testing.TB, m module.Module) {
	t.Helper()
	data, err := s.call(t, t.Context(), m, abi.OpDescribe)
	if err != nil {
		t.Fatalf("describe: %v", err)
	}
	var d abi.Description
	if err := json.Unmarshal(data, &d); err != nil || d.Name != m.Describe().Name {
		t.Errorf("describe gives %s (%v), Describe %+v", data, err, m.Describe())
	}
}

// match: the engine takes its files and no others, and has a name for doors.
func (s suite) match(t testing.TB) {
	if name, ok := s.engine.Match(s.name); !ok || name != "aya" || s.engine.Name() == "" {
		t.Errorf("engine %q takes %s as %q, %v", s.engine.Name(), s.name, name, ok)
	}
	if name, ok := s.engine.Match("README"); ok {
		t.Errorf("it takes README as %q", name)
	}
}

func (s suite) good(t testing.TB) {
	m := s.load(t, Good)
	d := m.Describe()
	if d.Name == "" || !strings.HasPrefix(d.ABI, "1") || !slices.Contains(d.Ops, abi.OpVote) {
		t.Errorf("Describe gives %+v", d)
	}
	s.lives(t, m)
	data, err := s.call(t, t.Context(), m, abi.OpVote)
	var v struct{ State abi.State }
	if err != nil || json.Unmarshal(data, &v) != nil || v.State == "" {
		t.Errorf("vote gives %s, %v", data, err)
	}
	_, err = s.call(t, t.Context(), m, "no.such.op")
	var fault *module.Fault
	if errors.As(err, &fault) || abi.CodeOf(err) != abi.CodeUnknownOp {
		t.Errorf("an unknown op gives %v", err)
	}
	s.lives(t, m)
	before := m.Memory()
	s.close(t, m)
	if after := m.Memory(); before < 0 || after < 0 { // it may be asked still
		t.Errorf("memory %d, and %d after Close", before, after)
	}
	s.closed(t, m)
}

// closed checks that a module which was closed answers nothing more.
func (s suite) closed(t testing.TB, m module.Module) {
	t.Helper()
	if _, err := s.call(t, t.Context(), m, abi.OpVote); abi.CodeOf(err) != abi.CodeUnavailable {
		t.Errorf("a call after Close gives %v", err)
	}
}

func (s suite) manyCallers(t testing.TB) {
	m := s.load(t, Good)
	defer s.close(t, m)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if a := <-ask(t.Context(), m, abi.OpVote); a.err != nil {
					t.Errorf("vote: %v", a.err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// givesUp: a caller without time left is not kept waiting, and does no harm.
func (s suite) givesUp(t testing.TB) {
	m := s.load(t, Good)
	defer s.close(t, m)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.call(t, ctx, m, abi.OpVote); err == nil {
		t.Errorf("a call whose ctx has ended gives an answer")
	}
	s.lives(t, m)
}

// fault: a wrong that the guest does in a vote is a Fault of the right kind, and
// the module goes on.
func (s suite) fault(t testing.TB, g Guest) {
	kinds := map[Guest][]module.FaultKind{
		Hang:      {module.FaultTimeout, module.FaultFuel},
		Trap:      {module.FaultTrap},
		Exit:      {module.FaultTrap},
		Grow:      {module.FaultTrap, module.FaultFuel},
		BadReply:  {module.FaultReply},
		HugeReply: {module.FaultReply, module.FaultTrap, module.FaultFuel},
	}[g]
	m := s.load(t, g)
	defer s.close(t, m)
	for range 2 {
		timeout := s.patience
		if g == Hang {
			timeout = 300 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		data, err := s.call(t, ctx, m, abi.OpVote)
		cancel()
		var fault *module.Fault
		if !errors.As(err, &fault) || !slices.Contains(kinds, fault.Kind) {
			t.Fatalf("vote gives %.80s, %v; want a fault of %v", data, err, kinds)
		}
		s.lives(t, m)
	}
}

// closeWhileCalling: Close waits for a call until its ctx ends, then the call ends
// too. It is tried again until Close was seen to wait, for only then was there a
// call that ran.
func (s suite) closeWhileCalling(t testing.TB) {
	late := time.Now().Add(s.patience)
	for !s.closeWaits(t) {
		if time.Now().After(late) {
			t.Fatalf("Close never waited for a call")
		}
	}
}

// closeWaits closes a module that hangs in a call. It answers false if the call had
// not begun.
func (s suite) closeWaits(t testing.TB) bool {
	m := s.load(t, Hang)
	ctx, cancel := context.WithTimeout(context.Background(), 2*s.patience)
	defer cancel()
	called := ask(ctx, m, abi.OpVote)
	time.Sleep(50 * time.Millisecond) // most often it has begun by then
	ctx, force := context.WithCancel(context.Background())
	defer force()
	closed := make(chan error, 1)
	go func() { closed <- m.Close(ctx) }()
	select {
	case <-closed:
		a := end(t, s, "a call after Close", called)
		if fault := new(module.Fault); errors.As(a.err, &fault) || abi.CodeOf(a.err) != abi.CodeUnavailable {
			t.Fatalf("Close did not wait for a call, which gives %.80s, %v", a.data, a.err)
		}
		return false
	case <-time.After(50 * time.Millisecond):
	}
	force()
	if a := end(t, s, "a call that Close has to end by force", called); a.err == nil {
		t.Errorf("the call that hung gives %.80s", a.data)
	}
	end(t, s, "Close by force", closed) // its error is the engine's to choose
	s.closed(t, m)
	return true
}

// refused: a file that cannot be a companion is refused in words, in time.
func (s suite) refused(t testing.TB, data []byte) {
	ctx, cancel := context.WithTimeout(t.Context(), s.patience/15)
	defer cancel()
	type result struct {
		m   module.Module
		err error
	}
	done := make(chan result, 1)
	src := s.source(t, data)
	go func() {
		m, err := s.engine.Load(ctx, src)
		done <- result{m, err}
	}()
	r := end(t, s, "Load", done)
	if r.err == nil {
		s.close(t, r.m)
		t.Fatalf("it loaded")
	}
	var e *abi.Error
	if !errors.As(r.err, &e) || e.Message == "" {
		t.Errorf("the error is no *abi.Error with words: %v", r.err)
	}
}
