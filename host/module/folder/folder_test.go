package folder_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
	"github.com/companiond/companiond/host/module/moduletest"
	"github.com/companiond/companiond/host/waittest"
)

// live is a folder with the system's own events and time.
type live struct {
	dir    string
	engine *moduletest.Engine
	folder *folder.Folder
	told   changes
	book   logtest.Log
}

// watching runs a folder until the test ends.
func watching(t *testing.T, cfg func(*folder.Config)) *live {
	l := &live{dir: t.TempDir(), engine: &moduletest.Engine{}}
	c := folder.Config{Dir: l.dir, Engines: []module.Engine{l.engine}, Debounce: 50 * time.Millisecond, Rescan: time.Hour, Log: l.book.Logger(), Changed: l.told.changed}
	cfg(&c)
	l.dir = c.Dir
	f, err := folder.New(c)
	if err != nil {
		t.Fatal(err)
	}
	l.folder = f
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- f.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-over; err != nil {
			t.Error(err)
		}
		drained(t, l.engine, nil)
		if t.Failed() {
			t.Logf("the log says:\n%s", &l.book)
		}
	})
	<-f.Ready()
	return l
}

func (l *live) path(name string) string { return filepath.Join(l.dir, name) }

// says waits until the companion votes v at generation n.
func (l *live) says(t *testing.T, id, v string, n uint64) {
	t.Helper()
	waittest.Until(t, fmt.Sprintf("%s votes %s at generation %d", id, v, n), func() bool {
		c, ok := l.folder.Companion(id)
		if !ok || c.Generation() != n {
			return false
		}
		got, err := moduletest.Vote(c)
		return err == nil && got == v
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The ways makers' tools save a file, from facts measured on each of them.
var savers = []struct {
	name string
	save func(t *testing.T, path, content string)
	none bool // no new generation
}{
	{"truncate and write", write, false},
	{"slow copy in chunks", func(t *testing.T, path, content string) {
		f, err := os.Create(path)
		must(t, err)
		for len(content) > 0 {
			n := min(8, len(content))
			_, err := io.WriteString(f, content[:n])
			must(t, err)
			content = content[n:]
			time.Sleep(5 * time.Millisecond)
		}
		must(t, f.Close())
	}, false},
	{"vim", func(t *testing.T, path, content string) {
		probe := filepath.Join(filepath.Dir(path), "4913")
		write(t, probe, "")
		remove(t, probe)
		rename(t, path, path+"~")
		write(t, path, content)
		must(t, os.Chmod(path, 0o600))
		remove(t, path+"~")
	}, false},
	{"install", func(t *testing.T, path, content string) {
		remove(t, path)
		write(t, path, content)
		must(t, os.Chmod(path, 0o755))
	}, false},
	{"remove, a while, create", func(t *testing.T, path, content string) {
		remove(t, path)
		time.Sleep(1200 * time.Millisecond) // longer than the quiet, shorter than gone
		write(t, path, content)
	}, false},
	{"temporary file and rename", func(t *testing.T, path, content string) {
		write(t, path+".tmp", content)
		rename(t, path+".tmp", path)
	}, false},
	{"go build", func(t *testing.T, path, content string) {
		write(t, path+"-go-tmp-umask", "")
		remove(t, path+"-go-tmp-umask")
		tmp := filepath.Join(t.TempDir(), "a.out")
		write(t, tmp, content)
		rename(t, tmp, path)
	}, false},
	{"hidden file and rename", func(t *testing.T, path, content string) {
		tmp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".swp")
		write(t, tmp, content)
		rename(t, tmp, path)
	}, false},
	{"another link", func(t *testing.T, path, content string) {
		target := filepath.Join(t.TempDir(), "aya.v2")
		write(t, target, content)
		link := path + ".tmp"
		must(t, os.Symlink(target, link))
		rename(t, link, path)
	}, false},
	{"touch", func(t *testing.T, path, _ string) { must(t, os.Chtimes(path, time.Now(), time.Now())) }, true},
	{"chmod", func(t *testing.T, path, _ string) { must(t, os.Chmod(path, 0o600)) }, true},
	{"the same again", func(t *testing.T, path, _ string) { write(t, path, saying("one")) }, true},
}

func TestEditors(t *testing.T) {
	const quiet = time.Second
	files := map[string]string{} // by id
	l := watching(t, func(c *folder.Config) {
		c.Debounce, c.Gone = quiet, time.Minute
		for i := range savers {
			for _, form := range []string{"file%[1]d.fake", "folder%[1]d/folder%[1]d.fake"} {
				name := fmt.Sprintf(form, i)
				id := strings.TrimSuffix(filepath.Base(name), ".fake")
				files[id] = name
				write(t, filepath.Join(c.Dir, name), saying("one"))
			}
		}
	})
	for i, s := range savers {
		for _, id := range []string{fmt.Sprint("file", i), fmt.Sprint("folder", i)} {
			s.save(t, l.path(files[id]), saying("two"))
		}
	}
	for i, s := range savers {
		if !s.none {
			l.says(t, fmt.Sprint("file", i), "two", 2)
			l.says(t, fmt.Sprint("folder", i), "two", 2)
		}
	}
	time.Sleep(2 * quiet) // for a load too many
	loads := map[string][]string{}
	for _, f := range l.engine.Loads() {
		loads[f.ID] = append(loads[f.ID], string(f.Data))
	}
	for i, s := range savers {
		for _, id := range []string{fmt.Sprint("file", i), fmt.Sprint("folder", i)} {
			want := []string{saying("one"), saying("two")}
			if s.none {
				want = want[:1]
			}
			if !slices.Equal(loads[id], want) {
				t.Errorf("%s: %s loaded %q", s.name, id, loads[id])
			}
			checkStatus(t, l.folder, id, module.StateReady, uint64(len(want)), "")
		}
	}
}

func TestComingAndGoing(t *testing.T) {
	t.Parallel()
	l := watching(t, func(c *folder.Config) { c.Gone = 100 * time.Millisecond })
	write(t, l.path("aya.fake"), saying("one"))
	l.says(t, "aya", "one", 1)
	remove(t, l.path("aya.fake"))
	waittest.Until(t, "aya left", func() bool { return l.told.String() == "joined aya, left aya" })
	write(t, l.path("aya/deep/notes"), "x")
	write(t, l.path("aya/aya.fake"), saying("two"))
	l.says(t, "aya", "two", 2)
	rename(t, l.path("aya"), l.path("kyoko"))
	waittest.Until(t, "aya left as kyoko", func() bool {
		return strings.HasPrefix(l.told.String(), "joined aya, left aya, joined aya") && strings.Count(l.told.String(), "left") == 2
	})
	l.says(t, "kyoko", "two", 1)
	write(t, l.path("kyoko/aya.fake"), saying("three")) // the folder's watch moved with it
	l.says(t, "kyoko", "three", 2)
	remove(t, l.path("kyoko"))
	waittest.Until(t, "kyoko left", func() bool { return strings.HasSuffix(l.told.String(), "left kyoko") })
	write(t, l.path("kyoko/kyoko.fake"), saying("four"))
	l.says(t, "kyoko", "four", 3)
	if b, err := os.ReadFile(l.path("kyoko/kyoko.fake")); err != nil || string(b) != saying("four") {
		t.Error(err)
	}
}

func TestTheFolderItself(t *testing.T) {
	t.Parallel()
	l := watching(t, func(c *folder.Config) {
		c.Dir, c.Gone = filepath.Join(c.Dir, "not", "yet"), 100*time.Millisecond
	})
	write(t, l.path("aya.fake"), saying("one"))
	write(t, l.path("kyoko/kyoko.fake"), saying("one"))
	l.says(t, "aya", "one", 1)
	l.says(t, "kyoko", "one", 1)
	rename(t, l.dir, l.dir+".away")
	waittest.Until(t, "it is missed", func() bool { return strings.Contains(statusOf(l.folder, "aya").Error, "cannot be read") })
	l.says(t, "aya", "one", 1)
	write(t, l.path("aya.fake"), saying("two"))
	l.says(t, "aya", "two", 2)
	waittest.Until(t, "kyoko left", func() bool { return strings.Contains(l.told.String(), "left kyoko") })
	write(t, l.path("aya.fake"), saying("three"))
	l.says(t, "aya", "three", 3)
}

func TestRunTwice(t *testing.T) {
	f, err := folder.New(folder.Config{Dir: t.TempDir(), Engines: []module.Engine{&moduletest.Engine{}}})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, f.Run(ctx))
	if err := f.Run(ctx); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("a second Run gives %v", err)
	}
}

// caller asks as often as it can; each call must be answered, and by no
// generation older than the one that was current when it began.
type caller struct {
	calls, failed, stale atomic.Int64
}

func (k *caller) run(t *testing.T, l *live, stop <-chan struct{}) {
	c, _ := l.folder.Companion("aya")
	for {
		select {
		case <-stop:
			return
		default:
		}
		oldest := c.Generation()
		s, err := moduletest.Vote(c)
		k.calls.Add(1)
		var answered uint64
		if _, scan := fmt.Sscanf(s, "%d", &answered); err != nil || scan != nil {
			k.failed.Add(1)
			t.Logf("a call failed: %q, %v", s, err)
		} else if answered < oldest {
			k.stale.Add(1)
		}
		runtime.Gosched()
	}
}

func TestReloadsUnderLoad(t *testing.T) {
	t.Parallel()
	const reloads, callers = 200, 8
	var mu sync.Mutex
	var mods []*moduletest.Module
	l := watching(t, func(c *folder.Config) {
		c.Debounce = 2 * time.Millisecond
		c.Engines[0].(*moduletest.Engine).OnLoad = func(_ context.Context, f module.Source) (module.Module, error) {
			m := moduletest.Answering(fmt.Sprint(f.Generation))
			answer := m.OnCall
			m.OnCall = func(ctx context.Context, r abi.Request) (json.RawMessage, error) {
				time.Sleep(100 * time.Microsecond) // so that swaps find calls running
				return answer(ctx, r)
			}
			mu.Lock()
			defer mu.Unlock()
			mods = append(mods, m)
			return m, nil
		}
		write(t, filepath.Join(c.Dir, "aya.fake"), "0")
	})
	var k caller
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range callers {
		wg.Go(func() { k.run(t, l, stop) })
	}
	aya, _ := l.folder.Companion("aya")
	for i := 1; i <= reloads; i++ {
		write(t, l.path("aya.tmp"), fmt.Sprint(i))
		rename(t, l.path("aya.tmp"), l.path("aya.fake"))
		waittest.Until(t, fmt.Sprintf("reload %d", i), func() bool { return aya.Generation() == uint64(i+1) })
	}
	close(stop)
	wg.Wait()
	if k.failed.Load() != 0 || k.stale.Load() != 0 {
		t.Errorf("%d calls: %d failed, %d stale", k.calls.Load(), k.failed.Load(), k.stale.Load())
	}
	waittest.Until(t, "all but one generation closed", func() bool { return l.engine.Closed() == reloads })
	mu.Lock()
	drained(t, &moduletest.Engine{}, mods)
	mu.Unlock()
	if l.engine.Opened() != reloads+1 {
		t.Errorf("%d opened", l.engine.Opened())
	}
	t.Logf("%d reloads under %d callers: %d calls", reloads, callers, k.calls.Load())
}

// A writer that never rests is outlasted, and never caught halfway.
func TestAWriterThatNeverRests(t *testing.T) {
	t.Parallel()
	l := watching(t, func(c *folder.Config) {
		c.Debounce, c.Rescan = time.Millisecond, 5*time.Millisecond
		c.Engines[0].(*moduletest.Engine).OnLoad = func(_ context.Context, f module.Source) (module.Module, error) {
			return moduletest.Answering(string(f.Data[:1])), nil
		}
	})
	version := func(i int) string { return strings.Repeat(fmt.Sprint(i%10), 10_000+i%10) }
	for i := range 300 {
		if i%3 == 0 {
			remove(t, l.path("aya.fake"))
		}
		write(t, l.path("aya.tmp"), version(i))
		rename(t, l.path("aya.tmp"), l.path("aya.fake"))
	}
	waittest.Until(t, "the last version", func() bool {
		c, ok := l.folder.Companion("aya")
		return ok && c.Describe().Name == "9"
	})
	for _, f := range l.engine.Loads() {
		if i := int(f.Data[0] - '0'); string(f.Data) != version(i) {
			t.Fatalf("loaded %d bytes that were never a version", len(f.Data))
		}
	}
	t.Logf("%d loads", len(l.engine.Loads()))
}
