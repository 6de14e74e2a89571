package folder_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
	"github.com/companiond/companiond/host/module/moduletest"
)

func TestQuietBeforeALoad(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.begin()
		for i := range 20 { // a slow copy
			write(t, r.path("aya.fake"), saying("whole")[:10+i])
			r.event("aya.fake")
			r.pass(200 * time.Millisecond)
		}
		r.save("aya.fake", saying("whole"))
		r.pass(249 * time.Millisecond)
		if n := len(r.engine.Loads()); n != 0 {
			t.Errorf("%d loads before it was quiet", n)
		}
		r.pass(time.Millisecond)
		if n := len(r.engine.Loads()); n != 1 {
			t.Errorf("%d loads when it was quiet", n)
		}
		mustVote(t, r.companion("aya"), "whole")
		checkStatus(t, r.folder, "aya", module.StateReady, 1, "")
		s := statusOf(r.folder, "aya")
		if s.Name != "Aya whole" || s.Engine != "fake" || s.File != "aya.fake" || s.MemoryBytes == 0 || s.LoadedAt.IsZero() {
			t.Errorf("status %+v", s)
		}
		r.checkTold("joined aya")
	})
}

func TestReloadAndNoReload(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		write(t, r.path("aya.fake"), saying("one"))
		r.begin()
		r.save("kyoko/kyoko.fake", saying("k"))
		r.pass(time.Second)
		aya := r.companion("aya")
		var n int
		r.loads(&n)
		r.save("aya.fake", saying("one")) // not a byte changed
		r.event("kyoko/notes.txt")
		r.event("README.md")
		r.event("")
		r.settle()
		r.touch("aya.fake", time.Now().Add(-time.Hour))
		r.pass(time.Minute)
		if got := r.loads(&n); got != "" {
			t.Errorf("loaded %s", got)
		}
		r.save("aya.fake", saying("two"))
		r.settle()
		r.save("kyoko/kyoko.fake", saying("kk"))
		r.settle()
		if c := r.companion("aya"); c != aya || c.Generation() != 2 {
			t.Errorf("generation %d, same %v", c.Generation(), c == aya)
		}
		mustVote(t, aya, "two")
		mustVote(t, r.companion("kyoko"), "kk")
		r.checkTold("joined aya, joined kyoko, replaced aya, replaced kyoko")
		if all := r.folder.Companions(); len(all) != 2 || all[0].ID() != "aya" || all[1].ID() != "kyoko" {
			t.Errorf("companions %v", all)
		}
		if st := r.folder.Status(); len(st) != 2 {
			t.Errorf("status %+v", st)
		}
		if f := r.engine.Loads()[n]; f.ID != "aya" || f.Name != "aya.fake" || f.Generation != 2 {
			t.Errorf("the engine was given %+v", f)
		}
	})
}

func TestABadSaveChangesNothing(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		write(t, r.path("aya.fake"), "{broken")
		r.begin()
		checkStatus(t, r.folder, "aya", module.StateFailed, 0, "aya.fake: not a script")
		if _, ok := r.folder.Companion("aya"); ok || len(r.folder.Companions()) != 0 {
			t.Error("a companion without a generation")
		}
		r.save("aya.fake", "")
		r.settle()
		checkStatus(t, r.folder, "aya", module.StateFailed, 0, "aya.fake: is empty")
		r.save("aya.fake", saying("one"))
		r.settle()
		checkStatus(t, r.folder, "aya", module.StateReady, 1, "")

		var n int
		r.loads(&n)
		for _, bad := range []string{saying("two")[:20], "", "{}"} {
			r.save("aya.fake", bad)
			r.settle()
			checkStatus(t, r.folder, "aya", module.StateReady, 1, "aya.fake: ")
			mustVote(t, r.companion("aya"), "one")
			r.loads(&n)
			r.save("aya.fake", bad) // again, and rescans, and a touch
			r.touch("aya.fake", time.Now().Add(-time.Hour))
			r.pass(time.Minute)
			if got := r.loads(&n); got != "" {
				t.Errorf("refused and loaded again: %s", got)
			}
		}
		r.save("aya.fake", saying("one")) // back to what serves
		r.settle()
		checkStatus(t, r.folder, "aya", module.StateReady, 1, "")
		if got := r.loads(&n); got != "" {
			t.Errorf("loaded what serves: %s", got)
		}
		r.checkTold("joined aya")
		if got := r.book.Count("file refused"); got != 5 {
			t.Errorf("%d refusals in the log", got)
		}
	})
}

func TestEnginesThatFail(t *testing.T) {
	fails := map[string]func(context.Context) (module.Module, error){
		"it panicked":            func(context.Context) (module.Module, error) { panic("it panicked") },
		"gave no module":         func(context.Context) (module.Module, error) { return nil, nil },
		"plain words":            func(context.Context) (module.Module, error) { return nil, errors.New("plain words") },
		"did not load within 3s": func(ctx context.Context) (module.Module, error) { <-ctx.Done(); return nil, ctx.Err() },
	}
	setUp := func(r *rig, c *folder.Config) {
		c.LoadTimeout = 3 * time.Second
		r.engine.OnLoad = func(ctx context.Context, f module.Source) (module.Module, error) {
			if fail := fails[string(f.Data)]; fail != nil {
				return fail(ctx)
			}
			return moduletest.LoadScript(ctx, f)
		}
	}
	bubble(t, setUp, func(t *testing.T, r *rig) {
		write(t, r.path("aya.fake"), saying("one"))
		r.begin()
		for _, why := range slices.Sorted(maps.Keys(fails)) { // what took too long is not the last: it would be tried again
			r.save("aya.fake", why)
			r.pass(4 * time.Second)
			checkStatus(t, r.folder, "aya", module.StateReady, 1, "aya.fake: ")
			checkStatus(t, r.folder, "aya", module.StateReady, 1, why)
			mustVote(t, r.companion("aya"), "one")
		}
		var n int
		r.pass(time.Minute)
		r.loads(&n)
		r.pass(time.Hour)
		if got := r.loads(&n); got != "" {
			t.Errorf("rescans load again and again: %s", got)
		}
	})
}

func TestRemovalAndReturn(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		write(t, r.path("aya.fake"), saying("one"))
		write(t, r.path("bad.fake"), "{")
		r.begin()
		aya := r.companion("aya")
		r.remove("aya.fake")
		r.pass(time.Second)
		mustVote(t, aya, "one") // not yet
		r.save("aya.fake", saying("one"))
		r.pass(time.Minute)
		mustVote(t, aya, "one") // it was back in time
		r.checkTold("joined aya")

		r.remove("aya.fake")
		r.remove("bad.fake")
		r.pass(1249 * time.Millisecond)
		mustVote(t, aya, "one")
		r.pass(2 * time.Millisecond)
		if _, err := moduletest.Vote(aya); abi.CodeOf(err) != abi.CodeUnavailable || !strings.Contains(err.Error(), "has left") {
			t.Errorf("vote gives %v", err)
		}
		if st := r.folder.Status(); len(st) != 0 {
			t.Errorf("status %+v", st)
		}
		r.save("aya.fake", saying("one")) // the same bytes are a new life
		r.settle()
		again := r.companion("aya")
		if again == aya || again.Generation() != 2 {
			t.Errorf("generation %d, same %v", again.Generation(), again == aya)
		}
		mustVote(t, again, "one")
		r.checkTold("joined aya, left aya, joined aya")
	})
}

// A file that comes back at the last moment is waited for like any other.
func TestReturnAtTheLastMoment(t *testing.T) {
	for _, told := range []bool{true, false} {
		bubble(t, nil, func(t *testing.T, r *rig) {
			write(t, r.path("aya.fake"), saying("one"))
			r.begin()
			r.remove("aya.fake")
			r.pass(1150 * time.Millisecond)
			write(t, r.path("aya.fake"), saying("two")[:20])
			if told {
				r.event("aya.fake")
			}
			r.pass(200 * time.Millisecond) // it would leave now
			write(t, r.path("aya.fake"), saying("two"))
			if told {
				r.event("aya.fake")
			}
			r.pass(time.Second)
			mustVote(t, r.companion("aya"), "two")
			r.checkTold("joined aya, replaced aya")
			if n := len(r.engine.Loads()); n != 2 {
				t.Errorf("told %v: %d loads", told, n)
			}
		})
	}
}

// slowly makes loads of some contents wait for their ctx, or for let.
func slowly(let chan struct{}, stubborn bool) func(*rig, *folder.Config) {
	return func(r *rig, _ *folder.Config) {
		r.engine.OnLoad = func(ctx context.Context, f module.Source) (module.Module, error) {
			if strings.Contains(string(f.Data), "slow") {
				if stubborn {
					<-let
				} else {
					select {
					case <-let:
					case <-ctx.Done():
						return nil, ctx.Err()
					}
				}
			}
			return moduletest.LoadScript(ctx, f)
		}
	}
}

// A load that waits for others in its engine is not late, and shows what it waits for.
func TestWaitingIsNotLate(t *testing.T) {
	bubble(t, func(r *rig, c *folder.Config) {
		r.engine.OnLoad = func(ctx context.Context, f module.Source) (module.Module, error) {
			f.Progress("waiting for b.wasm to be compiled")
			time.Sleep(time.Hour)
			f.Progress("")
			if f.ID == "kyoko" {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return moduletest.LoadScript(ctx, f)
		}
	}, func(t *testing.T, r *rig) {
		r.begin()
		r.save("aya.fake", saying("patient"))
		r.save("kyoko.fake", saying("late"))
		r.pass(time.Minute)
		if st := r.folder.Status(); len(st) != 2 || st[0].Progress != "waiting for b.wasm to be compiled" || st[0].State != module.StateLoading {
			t.Errorf("status %+v", st)
		}
		r.pass(59*time.Minute + 35*time.Second) // and it is not tried again yet
		mustVote(t, r.companion("aya"), "patient")
		checkStatus(t, r.folder, "kyoko", module.StateFailed, 0, "did not load within 30s")
		if st := r.folder.Status(); st[0].Progress != "" || st[1].Progress != "" {
			t.Errorf("status %+v", st)
		}
	})
}

// The start waits for files that wait in their engine only until others serve, and then
// for ten seconds; where there are no others, half a minute. For handlers it waits for two minutes: they may be filters.
func TestReadyBeforeAllIsCompiled(t *testing.T) {
	for _, c := range []struct{ alone, handlers bool }{{}, {alone: true}, {handlers: true}, {alone: true, handlers: true}} {
		alone := c.alone
		var let chan struct{}
		bubble(t, func(r *rig, cfg *folder.Config) {
			cfg.Handlers = c.handlers
			let = make(chan struct{})
			r.engine.OnLoad = func(ctx context.Context, f module.Source) (module.Module, error) {
				if f.ID == "slow" {
					f.Progress("being compiled")
					<-let
				} else {
					time.Sleep(3 * time.Second)
				}
				return moduletest.LoadScript(ctx, f)
			}
		}, func(t *testing.T, r *rig) {
			write(t, r.path("slow.fake"), saying("slow"))
			want := 13 * time.Second
			if alone {
				want = 30 * time.Second
			} else {
				write(t, r.path("aya.fake"), saying("quick"))
			}
			if c.handlers {
				want = 2 * time.Minute
			}
			old := time.Now().Add(-time.Hour)
			r.touch("slow.fake", old)
			begun := time.Now()
			r.begin()
			if took := time.Since(begun); took < want || took > want+time.Second {
				t.Errorf("%+v: ready after %v, want %v", c, took, want)
			}
			close(let)
			r.settle()
			mustVote(t, r.companion("slow"), "slow")
		})
	}
}

// A load that failed for want of something else than a better file is tried again.
func TestUnavailableIsTriedAgain(t *testing.T) {
	bubble(t, func(r *rig, _ *folder.Config) {
		r.engine.OnLoad = func(ctx context.Context, f module.Source) (module.Module, error) {
			if len(r.engine.Loads()) < 3 {
				return nil, abi.Errorf(abi.CodeUnavailable, "the disk is full")
			}
			return moduletest.LoadScript(ctx, f)
		}
	}, func(t *testing.T, r *rig) {
		r.begin()
		r.save("aya.fake", saying("one"))
		r.settle()
		checkStatus(t, r.folder, "aya", module.StateFailed, 0, "the disk is full")
		r.pass(21 * time.Second)
		mustVote(t, r.companion("aya"), "one")
		checkStatus(t, r.folder, "aya", module.StateReady, 1, "")
	})
}

// TestWhatTookTooLongIsTriedAgain: nobody knows whether that was the file's doing. Each time it waits longer, up to ten minutes, and a
// save is tried at once.
func TestWhatTookTooLongIsTriedAgain(t *testing.T) {
	var slow atomic.Bool
	slow.Store(true)
	bubble(t, func(r *rig, _ *folder.Config) {
		r.engine.OnLoad = func(ctx context.Context, f module.Source) (module.Module, error) {
			if slow.Load() && f.ID == "aya" {
				return nil, abi.Errorf(abi.CodeTimeout, "the module did not start in time")
			}
			return moduletest.LoadScript(ctx, f)
		}
	}, func(t *testing.T, r *rig) {
		write(t, r.path("aya.fake"), saying("one"))
		r.touch("aya.fake", time.Now().Add(-time.Hour))
		r.begin()
		loads := 1
		for _, wait := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second} {
			r.pass(wait - 2*time.Second)
			if n := len(r.engine.Loads()); n != loads {
				t.Errorf("%d loads before %v, want %d", n, wait, loads)
			}
			r.pass(2500 * time.Millisecond)
			if loads++; len(r.engine.Loads()) != loads {
				t.Errorf("%d loads after %v, want %d", len(r.engine.Loads()), wait, loads)
			}
		}
		checkStatus(t, r.folder, "aya", module.StateFailed, 0, "did not start in time")
		r.pass(time.Hour)
		if n := len(r.engine.Loads()) - loads; n < 6 || n > 11 {
			t.Errorf("%d loads in an hour", n)
		}
		slow.Store(false)
		r.pass(10*time.Minute + time.Second)
		mustVote(t, r.companion("aya"), "one")
		checkStatus(t, r.folder, "aya", module.StateReady, 1, "")
		slow.Store(true)
		r.save("aya.fake", saying("two"))
		r.settle()
		mustVote(t, r.companion("aya"), "one")
		r.pass(5 * time.Second)
		loads = len(r.engine.Loads())
		r.save("aya.fake", saying("three"))
		r.settle()
		if n := len(r.engine.Loads()); n != loads+1 {
			t.Errorf("%d loads, want %d: a save is tried at once", n, loads+1)
		}
		slow.Store(false)
		r.pass(12 * time.Second)
		mustVote(t, r.companion("aya"), "three")
	})
}

func TestANewerSaveSupersedes(t *testing.T) {
	for _, stubborn := range []bool{false, true} {
		var let chan struct{}
		bubble(t, func(r *rig, c *folder.Config) {
			let = make(chan struct{})
			slowly(let, stubborn)(r, c)
		}, func(t *testing.T, r *rig) {
			write(t, r.path("aya.fake"), saying("one"))
			r.begin()
			r.save("aya.fake", saying("slow two"))
			r.settle()
			r.event("aya.fake") // nothing new about it
			r.settle()
			if n := len(r.engine.Loads()); n != 2 {
				t.Fatalf("%d loads", n)
			}
			r.save("aya.fake", saying("three"))
			r.settle()
			if stubborn {
				mustVote(t, r.companion("aya"), "one")
				close(let)
				synctest.Wait()
			}
			mustVote(t, r.companion("aya"), "three")
			checkStatus(t, r.folder, "aya", module.StateReady, 2, "")
			r.checkTold("joined aya, replaced aya")
			if n := len(r.engine.Loads()); n != 3 {
				t.Errorf("%d loads", n)
			}
		})
	}
}

// A file that takes long to load delays neither news nor other files.
func TestASlowLoadDelaysNobodyElse(t *testing.T) {
	var let chan struct{}
	bubble(t, func(r *rig, c *folder.Config) {
		let = make(chan struct{})
		c.LoadTimeout = time.Hour
		slowly(let, true)(r, c)
	}, func(t *testing.T, r *rig) {
		write(t, r.path("kyoko.fake"), saying("k"))
		write(t, r.path("saki.fake"), saying("s"))
		r.begin()
		r.save("aya.fake", saying("slow"))
		r.settle()
		checkStatus(t, r.folder, "aya", module.StateLoading, 0, "")
		r.remove("kyoko.fake")
		r.save("saki.fake", saying("s2"))
		r.pass(2 * time.Second)
		if got := r.told.String(); !strings.HasSuffix(got, "replaced saki, left kyoko") {
			t.Errorf("told: %s", got)
		}
		mustVote(t, r.companion("saki"), "s2")
		r.pass(time.Minute)
		checkStatus(t, r.folder, "aya", module.StateLoading, 0, "")
		close(let)
		synctest.Wait()
		mustVote(t, r.companion("aya"), "slow")
		mustVote(t, r.companion("saki"), "s2")
		if n := len(r.engine.Loads()); n != 4 {
			t.Errorf("%d loads", n)
		}
	})
}

func TestLeavingWhileLoading(t *testing.T) {
	var let chan struct{}
	bubble(t, func(r *rig, c *folder.Config) {
		let = make(chan struct{})
		slowly(let, true)(r, c)
	}, func(t *testing.T, r *rig) {
		r.begin()
		r.save("aya.fake", saying("slow"))
		r.settle()
		r.remove("aya.fake")
		r.pass(2 * time.Second)
		if st := r.folder.Status(); len(st) != 0 {
			t.Errorf("status %+v", st)
		}
		r.save("aya.fake", saying("quick"))
		r.settle()
		close(let)
		synctest.Wait()
		mustVote(t, r.companion("aya"), "quick")
		r.checkTold("joined aya")
	})
}

func TestReadyWaitsForAll(t *testing.T) {
	var let chan struct{}
	bubble(t, func(r *rig, c *folder.Config) {
		let = make(chan struct{})
		c.LoadTimeout = time.Hour
		slowly(let, true)(r, c)
	}, func(t *testing.T, r *rig) {
		ids := strings.Split("abcdefghjklmnopq", "")
		for _, id := range ids {
			write(t, r.path(id+".fake"), saying("slow"))
		}
		write(t, r.path("z.fake"), "{")
		go func() {
			time.Sleep(time.Minute)
			select {
			case <-r.folder.Ready():
				t.Error("ready before everything is loaded")
			default:
			}
			if st := r.folder.Status(); len(st) != len(ids)+1 || slices.ContainsFunc(st, func(s module.Status) bool { return s.State != module.StateLoading && s.ID != "z" }) {
				t.Errorf("status %+v", st)
			}
			close(let)
		}()
		r.begin()
		if got := len(r.folder.Companions()); got != len(ids) {
			t.Errorf("%d companions when ready", got)
		}
		if got := strings.Count(r.told.String(), "joined"); got != len(ids) {
			t.Errorf("told when ready: %s", &r.told)
		}
		checkStatus(t, r.folder, "z", module.StateFailed, 0, "not a script")
	})
}

func TestAFileBeingWrittenAtStart(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		write(t, r.path("aya.fake"), saying("one")[:20])
		r.touch("aya.fake", time.Now().Add(-100*time.Millisecond))
		go func() {
			time.Sleep(100 * time.Millisecond)
			r.save("aya.fake", saying("one"))
		}()
		r.begin()
		mustVote(t, r.companion("aya"), "one")
		if n := len(r.engine.Loads()); n != 1 {
			t.Errorf("%d loads", n)
		}
	})
}

func TestReadyDoesNotWaitForAnEndlessWriter(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		write(t, r.path("aya.fake"), saying("one"))
		r.touch("aya.fake", time.Now())
		go func() {
			for range 100 {
				r.save("aya.fake", saying("one"))
				time.Sleep(100 * time.Millisecond)
			}
		}()
		r.begin()
		r.pass(time.Minute)
		mustVote(t, r.companion("aya"), "one")
	})
}

func TestSaveEndsAQuarantine(t *testing.T) {
	bubble(t, func(r *rig, c *folder.Config) {
		r.engine.OnLoad = func(ctx context.Context, f module.Source) (module.Module, error) {
			m := moduletest.Answering("x")
			m.OnCall = func(context.Context, abi.Request) (json.RawMessage, error) {
				return nil, &module.Fault{Kind: module.FaultFuel, Cause: errors.New("used more than 10 units")}
			}
			return m, nil
		}
	}, func(t *testing.T, r *rig) {
		write(t, r.path("aya.fake"), "x")
		r.begin()
		c := r.companion("aya")
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, _ = c.Call(ctx, abi.Request{})
			cancel()
		}
		checkStatus(t, r.folder, "aya", module.StateQuarantined, 1, "quarantined: 3 faults in 60s, last: module fault: fuel")
		r.event("aya.fake") // no save
		r.pass(time.Minute)
		checkStatus(t, r.folder, "aya", module.StateQuarantined, 1, "quarantined")
		r.save("aya.fake", "x") // a save, of the same bytes
		r.touch("aya.fake", time.Now().Add(time.Hour))
		r.settle()
		checkStatus(t, r.folder, "aya", module.StateReady, 2, "")
		r.checkTold("joined aya, replaced aya")
	})
}

func TestASlowReceiverSlowsNothing(t *testing.T) {
	var let chan struct{}
	bubble(t, func(r *rig, c *folder.Config) {
		let = make(chan struct{})
		c.Changed = func(ch folder.Change) {
			r.told.changed(ch)
			if ch.Kind == folder.Replaced {
				<-let
			}
		}
	}, func(t *testing.T, r *rig) {
		write(t, r.path("aya.fake"), saying("0"))
		r.begin()
		for _, v := range []string{"1", "2", "3"} {
			r.save("aya.fake", saying(v))
			r.settle()
			mustVote(t, r.companion("aya"), v)
		}
		r.checkTold("joined aya, replaced aya")
		r.remove("aya.fake")
		r.pass(2 * time.Second)
		close(let)
		synctest.Wait()
		r.checkTold("joined aya, replaced aya, replaced aya, replaced aya, left aya")
	})
}

func TestNewFolderChecksItsConfig(t *testing.T) {
	js := &moduletest.Engine{Ext: ".js"}
	for want, cfg := range map[string]folder.Config{
		"Dir is empty": {Engines: []module.Engine{js}},
		"no engines":   {Dir: "x"},
	} {
		if _, err := folder.New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	dir := t.TempDir() + "/none"
	if _, err := folder.New(folder.Config{Dir: dir, Engines: []module.Engine{js}}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("NewFolder made the folder")
	}
}

// TestStaleRefusal: what is wrong with a save is told until a newer one is being loaded, which is told then, and not as if it were wrong
// with that; the same bytes are as wrong as they were.
func TestStaleRefusal(t *testing.T) {
	var let chan struct{}
	bubble(t, func(r *rig, c *folder.Config) {
		let = make(chan struct{})
		slowly(let, false)(r, c)
	}, func(t *testing.T, r *rig) {
		write(t, r.path("aya.fake"), saying("one"))
		r.begin()
		r.pass(time.Second)
		for _, bad := range []string{"{broken", "{broken slow"} {
			r.save("aya.fake", bad)
			r.settle()
			if st := statusOf(r.folder, "aya"); bad == "{broken" && (st.Error == "" || st.Progress != "") || bad != "{broken" && (st.Error != "" || st.Progress != "being loaded") {
				t.Errorf("%s: %+v", bad, st)
			}
		}
		let <- struct{}{}
		r.settle()
		checkStatus(t, r.folder, "aya", module.StateReady, 1, "aya.fake: ")
		r.save("aya.fake", saying("slow"))
		r.settle()
		checkStatus(t, r.folder, "aya", module.StateReady, 1, "")
		r.save("aya.fake", "{broken slow")
		r.settle()
		checkStatus(t, r.folder, "aya", module.StateReady, 1, "aya.fake: ")
		mustVote(t, r.companion("aya"), "one")
	})
}
