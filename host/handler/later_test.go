package handler

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/moduletest"
)

// ledger is a room that keeps what came of actions.
type ledger struct {
	room
	mu   sync.Mutex
	told []string
}

func (l *ledger) Done(_ context.Context, who, by string, r abi.Result, _ json.RawMessage) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, fmt.Sprintf("%s %s %v %s", who, r.ID, r.OK, r.Reason))
	return nil
}

func (l *ledger) has(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(l.told, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(l.told, "\n"), strings.Join(want, "\n"))
	}
}

// worker is a tower whose actions go on, for aya, with its run.
type worker struct {
	*tower
	ledger ledger
	acts   actor
	leave  context.CancelFunc
	busy   sync.WaitGroup
	run    module.Caller
}

func newWorker(t *testing.T, act func(w *worker, a abi.Acting) (answer string, err error)) *worker {
	t.Helper()
	w := &worker{}
	w.tower = newTower(Handler{}, "", nil, abi.OpAct, abi.OpRun)
	w.module.OnCall = func(ctx context.Context, req abi.Request) (json.RawMessage, error) {
		if req.Op == abi.OpRun {
			w.run = module.Caller{Companion: req.Self, Call: req.ID, Op: req.Op}
			<-ctx.Done()
			return nil, ctx.Err()
		}
		var a abi.Acting
		if err := json.Unmarshal(req.Data, &a); err != nil {
			return nil, err
		}
		answer, err := act(w, a)
		return json.RawMessage(answer), err
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = w.Run(ctx) }()
	synctest.Wait()
	p, why := w.post(w.cfg.Handlers[0])
	if p == nil {
		t.Fatal(why)
	}
	p.companions = []string{"aya"}
	now := new(atomic.Pointer[post])
	now.Store(p)
	here, leave := context.WithCancel(ctx)
	w.leave = leave
	w.acts = actor{stage: w.Stage, ctx: here, talk: &w.ledger, now: now, log: w.cfg.Log, busy: &w.busy, waiting: make(chan struct{}, mostWaiting), last: closedChan()}
	t.Cleanup(func() { leave(); cancel(); <-ended })
	return w
}

func (w *worker) play(id string) { w.acts.take(entry.Action{ID: id, Who: "aya", Action: "lamp.set"}) }

func (w *worker) tells(id string, ok bool, message string) abi.Code {
	return abi.CodeOf(w.Result(w.run, abi.ResultAsk{ID: id, Companion: "aya", OK: ok, Message: message}))
}

func later(*worker, abi.Acting) (string, error) {
	return `{"later":true,"message":"told to nobody"}`, nil
}

// TestResultsComeLater: work that goes on holds nobody up, and its result is told once, whoever tells it twice.
func TestResultsComeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t, func(w *worker, a abi.Acting) (string, error) {
			switch a.ID {
			case "quick":
				return `{"message":"done"}`, nil
			case "before": // its result comes before the answer, which is told nobody
				if code := w.tells(a.ID, true, "told before"); code != "" {
					t.Error(code)
				}
				return `{"message":"done"}`, nil
			}
			return later(w, a)
		})
		for _, id := range []string{"a", "b", "quick", "before"} {
			w.play(id)
		}
		w.ledger.has(t, "aya quick true done", "aya before true told before")
		time.Sleep(9 * time.Minute)
		for _, c := range []struct {
			id   string
			ok   bool
			says string
			code abi.Code
		}{
			{"b", true, "it is\x00 switched", ""}, {"b", true, "again", abi.CodeNotFound}, {"a", false, "", ""}, {"a", false, "x", abi.CodeNotFound},
			{"quick", true, "x", abi.CodeNotFound}, {"before", true, "x", abi.CodeNotFound}, {"none", true, "x", abi.CodeNotFound},
		} {
			if code := w.tells(c.id, c.ok, c.says); code != c.code {
				t.Errorf("%s: %s, want %s", c.id, code, c.code)
			}
		}
		w.ledger.has(t, "aya quick true done", "aya before true told before", "aya b true it is switched", "aya a false nothing came of it")
		w.play("c")
		synctest.Wait()
		for _, ask := range []abi.ResultAsk{{ID: "c", Companion: "kyoko"}, {ID: "c"}} {
			if err := w.Result(w.run, ask); abi.CodeOf(err) != abi.CodeDenied {
				t.Error(err)
			}
		}
		if err := w.Result(module.Caller{Companion: "aya", Call: w.run.Call}, abi.ResultAsk{ID: "c", Companion: "aya"}); abi.CodeOf(err) != abi.CodeDenied {
			t.Error(err)
		}
		time.Sleep(abi.MaxLaterTime*time.Millisecond + time.Second)
		if code := w.tells("c", true, "too late"); code != abi.CodeNotFound {
			t.Error(code)
		}
		w.ledger.has(t, "aya quick true done", "aya before true told before", "aya b true it is switched", "aya a false nothing came of it", "aya c false it took too long")
		if len(w.out) != 0 {
			t.Error(w.out)
		}
		w.acts.take(entry.Action{ID: "d", Who: "kyoko", Action: "lamp.set"})
		synctest.Wait()
		if code := w.tells("d", true, "for somebody else"); code != abi.CodeNotFound {
			t.Error(code)
		}
		w.leave()
		w.busy.Wait()
	})
}

// TestWhatIsOutEndsWithTheHandler: when it leaves, and when its module is another.
func TestWhatIsOutEndsWithTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t, later)
		w.play("a")
		w.ledger.has(t)
		tower, _ := w.cfg.Module("tower")
		tower.Swap(module.NewGeneration(2, "process", &moduletest.Module{Desc: w.module.Desc, OnCall: w.module.OnCall}))
		w.Changed()
		w.ledger.has(t, "aya a false the handler has left")
		w.play("b") // which the new one carries out
		synctest.Wait()
		w.Changed()
		w.ledger.has(t, "aya a false the handler has left")
		w.leave()
		w.ledger.has(t, "aya a false the handler has left", "aya b false the handler has left")
		w.busy.Wait()
		if code := w.tells("b", true, "late"); code != abi.CodeNotFound {
			t.Error(code)
		}
	})
}

// TestMuchIsOut: of more than its bounds the oldest fail, of the companion's or of all.
func TestMuchIsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t, later)
		var want []string
		play := func(who string, n int, fails string) {
			w.acts.take(entry.Action{ID: fmt.Sprint(who, n), Who: who, Action: "lamp.set"})
			if synctest.Wait(); fails != "" {
				want = append(want, fails)
			}
		}
		for n := range abi.MaxLaterOfOne + 3 {
			fails := ""
			if n >= abi.MaxLaterOfOne {
				fails = fmt.Sprintf("aya aya%d false 32 actions of the companion after it are out with the handler (MaxLaterOfOne)", n-abi.MaxLaterOfOne)
			}
			play("aya", n, fails)
		}
		for n := range abi.MaxLaterOfOne {
			play("kyoko", n, "")
		}
		for n := range 2 {
			play("mei", n, fmt.Sprintf("aya aya%d false 64 actions after it are out with the handler (MaxLater)", n+3))
		}
		w.ledger.has(t, want...)
		if code := w.tells("aya5", true, "done"); code != "" || len(w.out) != abi.MaxLater-1 {
			t.Errorf("%s, %d are out", code, len(w.out))
		}
		w.leave()
		w.busy.Wait()
		if n := len(w.ledger.told); n != 2*abi.MaxLaterOfOne+5 || len(w.out) != 0 {
			t.Errorf("%d results, %d are out", n, len(w.out))
		}
	})
}
