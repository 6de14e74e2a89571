package folder_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
	"github.com/companiond/companiond/host/module/moduletest"
)

func TestTwoSources(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		write(t, r.path("aya/aya.fake"), saying("in"))
		r.begin()
		r.save("aya.fake", saying("out"))
		r.settle()
		const both = "2 files for one companion aya: aya.fake and aya/aya.fake; keep one (aya/aya.fake counts)"
		checkStatus(t, r.folder, "aya", module.StateReady, 1, both)
		mustVote(t, r.companion("aya"), "in")
		r.save("aya/aya.fake", saying("in2")) // the one that serves may change
		r.settle()
		checkStatus(t, r.folder, "aya", module.StateReady, 2, both)
		mustVote(t, r.companion("aya"), "in2")
		r.pass(time.Minute)
		if got := r.book.Count("2 files for one"); got != 1 {
			t.Errorf("said %d times", got)
		}
		r.remove("aya/aya.fake")
		r.settle()
		checkStatus(t, r.folder, "aya", module.StateReady, 3, "")
		mustVote(t, r.companion("aya"), "out")
		if s := statusOf(r.folder, "aya"); s.File != "aya.fake" {
			t.Errorf("status %+v", s)
		}
		r.checkTold("joined aya, replaced aya, replaced aya")
	})
}

func TestTwoSourcesAtStart(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		write(t, r.path("aya/aya.fake"), saying("in"))
		write(t, r.path("aya.fake"), saying("out"))
		write(t, r.path("kyoko/a.fake"), saying("a"))
		write(t, r.path("kyoko/b.fake"), saying("b"))
		r.begin()
		checkStatus(t, r.folder, "aya", module.StateReady, 1, "(aya.fake counts)")
		mustVote(t, r.companion("aya"), "out")
		checkStatus(t, r.folder, "kyoko", module.StateFailed, 0, "kyoko/a.fake and kyoko/b.fake; keep one")
		r.remove("kyoko/a.fake")
		r.settle()
		checkStatus(t, r.folder, "kyoko", module.StateReady, 1, "")
		mustVote(t, r.companion("kyoko"), "b")
		r.save("kyoko/c.fake", saying("c"))
		r.settle()
		checkStatus(t, r.folder, "kyoko", module.StateReady, 1, "(kyoko/b.fake counts)")
		mustVote(t, r.companion("kyoko"), "b")
	})
}

// An ambiguity that appears during a load leaves nothing half done.
func TestAmbiguityWhileLoading(t *testing.T) {
	var let chan struct{}
	bubble(t, func(r *rig, c *folder.Config) {
		let = make(chan struct{})
		slowly(let, true)(r, c)
	}, func(t *testing.T, r *rig) {
		r.begin()
		r.save("aya/a.fake", saying("slow"))
		r.pass(time.Second)
		checkStatus(t, r.folder, "aya", module.StateLoading, 0, "")
		write(t, r.path("aya/b.fake"), saying("b"))
		write(t, r.path("aya/c.fake"), saying("c"))
		r.remove("aya/a.fake")
		r.settle()
		close(let)
		r.pass(0)
		checkStatus(t, r.folder, "aya", module.StateFailed, 0, "aya/b.fake and aya/c.fake")
		r.remove("aya/b.fake")
		r.settle()
		mustVote(t, r.companion("aya"), "c")
		r.checkTold("joined aya")
	})
}

func TestAnotherEngineTakesOver(t *testing.T) {
	other := &moduletest.Engine{Ext: ".other", Kind: "other"}
	bubble(t, func(r *rig, c *folder.Config) { c.Engines = append(c.Engines, other) }, func(t *testing.T, r *rig) {
		write(t, r.path("aya.fake"), saying("one"))
		r.begin()
		rename(t, r.path("aya.fake"), r.path("aya.other")) // the same bytes
		r.event("aya.fake")
		r.event("aya.other")
		r.settle()
		checkStatus(t, r.folder, "aya", module.StateReady, 2, "")
		if s := statusOf(r.folder, "aya"); s.Engine != "other" || s.File != "aya.other" || r.companion("aya").Engine() != "other" {
			t.Errorf("status %+v", s)
		}
		r.checkTold("joined aya, replaced aya")
	})
	if other.Opened() != 1 || other.Closed() != 1 {
		t.Errorf("other: %d opened, %d closed", other.Opened(), other.Closed())
	}
}

func TestNames(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		write(t, r.path("a b.fake"), saying("x"))
		write(t, r.path("-a/x.fake"), saying("x"))
		write(t, r.path(strings.Repeat("か", 22)+".fake"), saying("x"))
		write(t, r.path("か\u3099.fake"), saying("ga"))
		write(t, r.path("Aya.fake"), saying("x"))
		write(t, r.path("bad\xff.fake"), saying("x"))
		r.begin()
		for id, why := range map[string]string{
			"a b": `may not contain ' '`, "-a": `may not contain '-'`, strings.Repeat("か", 22): "66 bytes, at most 64", "bad\uFFFD": "not UTF-8",
		} {
			checkStatus(t, r.folder, id, module.StateFailed, 0, why)
			if r.book.Count(why) != 1 {
				t.Errorf("the log does not say %s", why)
			}
		}
		mustVote(t, r.companion("が"), "ga")
		mustVote(t, r.companion("Aya"), "x")
		if n := len(r.folder.Companions()); n != 2 {
			t.Errorf("%d companions", n)
		}
		remove(t, r.path("a b.fake"))
		r.pass(time.Minute)
		if s := statusOf(r.folder, "a b"); s.ID != "" {
			t.Errorf("status %+v", s)
		}
	})
}

func TestTheFolderIsAwayAndComesBack(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		remove(t, r.dir)
		r.begin()
		r.pass(time.Hour)
		if got := r.book.Count("waiting for the folder"); got != 1 {
			t.Errorf("said %d times that it waits", got)
		}
		write(t, r.path("aya.fake"), saying("one"))
		write(t, r.path("kyoko.fake"), saying("one"))
		r.pass(2 * time.Second)
		aya := r.companion("aya")
		mustVote(t, aya, "one")
		checkStatus(t, r.folder, "kyoko", module.StateReady, 1, "")

		away := r.dir + ".away"
		rename(t, r.dir, away)
		r.event("aya.fake")
		r.event("")
		r.pass(time.Hour)
		mustVote(t, aya, "one")
		checkStatus(t, r.folder, "aya", module.StateReady, 1, "the folder cannot be read: open: no such file")

		remove(t, away+"/kyoko.fake")
		rename(t, away, r.dir)
		write(t, r.path("saki.fake"), saying("s"))
		r.pass(3 * time.Second)
		checkStatus(t, r.folder, "aya", module.StateReady, 1, "")
		mustVote(t, aya, "one")
		mustVote(t, r.companion("saki"), "s")
		got, both := strings.CutSuffix(r.told.String(), ", joined saki, left kyoko")
		if !both || got != "joined aya, joined kyoko" && got != "joined kyoko, joined aya" { // these came together
			t.Errorf("told: %s", &r.told)
		}
	})
}

func TestRescansAlone(t *testing.T) {
	for name, blind := range map[string]func(*rig){
		"nobody tells":     func(*rig) {},
		"no watcher":       func(r *rig) { r.eyes = nil },
		"no more watches":  func(r *rig) { r.eyes.OnWatch = func(string) error { return errors.New("no space left on device") } },
		"only the folder ": func(r *rig) { r.eyes.OnWatch = onlyRoot(r) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				blind(r)
				r.begin()
				write(t, r.path("aya/aya.fake"), saying("one"))
				r.pass(10250 * time.Millisecond)
				mustVote(t, r.companion("aya"), "one")
				write(t, r.path("aya/aya.fake"), saying("two"))
				r.pass(10250 * time.Millisecond)
				mustVote(t, r.companion("aya"), "two")
				remove(t, r.path("aya"))
				r.pass(12 * time.Second)
				r.checkTold("joined aya, replaced aya, left aya")
				if want := r.eyes != nil && r.eyes.OnWatch != nil; (r.book.Count("found by rescans only") == 1) != want {
					t.Errorf("the log says:\n%s", &r.book)
				}
			})
		})
	}
}

func onlyRoot(r *rig) func(string) error {
	return func(folder string) error {
		if folder == r.dir {
			return nil
		}
		return errors.New("no space left on device")
	}
}

// Without events the wait for quiet is a wait for stats that stay.
func TestASlowCopyThatOnlyRescansSee(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.begin()
		whole := saying("whole")
		for i := range 60 { // over several rescans
			write(t, r.path("aya.fake"), strings.Repeat(" ", i+1))
			r.pass(240 * time.Millisecond)
		}
		write(t, r.path("aya.fake"), whole)
		r.pass(20 * time.Second)
		var n int
		if got := r.loads(&n); got != whole {
			t.Errorf("loaded %q", got)
		}
	})
}

// Time stamps are grainy: a stat is trusted only if it was old when the file
// was read.
func TestAStatThatStaysThoughTheFileChanged(t *testing.T) {
	for age, want := range map[time.Duration]string{time.Second: "two", time.Hour: "one"} {
		bubble(t, nil, func(t *testing.T, r *rig) {
			stamp := time.Now().Add(-age)
			for i, v := range []string{"one", "two"} {
				write(t, r.path("aya.fake"), saying(v))
				r.touch("aya.fake", stamp)
				if i == 0 {
					r.begin()
				}
			}
			r.pass(time.Minute)
			mustVote(t, r.companion("aya"), want)
		})
	}
}

// A folder that is copied bit by bit is watched before it is full.
func TestAFolderBeingFilled(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		watched := map[string]bool{}
		r.eyes.OnWatch = func(folder string) error { watched[folder] = true; return nil }
		r.begin()
		if err := os.Mkdir(r.path("aya"), 0o755); err != nil {
			t.Fatal(err)
		}
		r.event("aya")
		r.pass(200 * time.Millisecond)
		write(t, r.path("aya/aya.fake"), saying("whole")[:20]) // nobody watches yet
		r.pass(100 * time.Millisecond)
		if !watched[r.dir] || !watched[r.path("aya")] {
			t.Errorf("watched: %v", watched)
		}
		r.save("aya/aya.fake", saying("whole"))
		r.settle()
		var n int
		if got := r.loads(&n); got != saying("whole") {
			t.Errorf("loaded %q", got)
		}
	})
}

func TestATooLargeFileIsNotRead(t *testing.T) {
	bubble(t, func(r *rig, c *folder.Config) { c.MaxFile = 100 }, func(t *testing.T, r *rig) {
		write(t, r.path("aya.fake"), strings.Repeat("x", 101))
		r.begin()
		checkStatus(t, r.folder, "aya", module.StateFailed, 0, "aya.fake: 101 bytes, at most 100 (wasm.max_file)")
		var n int
		if got := r.loads(&n); got != "" {
			t.Errorf("loaded %q", got)
		}
	})
}

func TestAClosedCompanionIsReplaced(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		write(t, r.path("aya.fake"), saying("one"))
		r.begin()
		c := r.companion("aya")
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		r.save("aya.fake", saying("two"))
		r.settle()
		mustVote(t, r.companion("aya"), "two")
		if _, err := c.Call(context.Background(), abi.Request{}); err == nil {
			t.Error("the closed one answers")
		}
	})
}
