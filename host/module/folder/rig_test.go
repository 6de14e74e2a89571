package folder_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
	"github.com/companiond/companiond/host/module/moduletest"
)

// rig is a folder in a bubble: files are real, events and time are the test's.
type rig struct {
	t      *testing.T
	dir    string
	engine *moduletest.Engine
	eyes   *folder.Eyes
	folder *folder.Folder
	told   changes
	book   logtest.Log
	cancel context.CancelFunc
	over   chan struct{}

	mu   sync.Mutex
	mods []*moduletest.Module
}

// bubble runs a test in a bubble. cfg changes the config before the folder is
// made; the folder runs after begin. At the end it is stopped, and every module
// must have been closed.
func bubble(t *testing.T, cfg func(*rig, *folder.Config), test func(t *testing.T, r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, dir: t.TempDir(), engine: &moduletest.Engine{}, over: make(chan struct{})}
		r.eyes = &folder.Eyes{Events: make(chan fsnotify.Event)}
		c := folder.Config{Dir: r.dir, Engines: []module.Engine{r.engine}, Log: r.book.Logger(), Changed: r.told.changed}
		if cfg != nil {
			cfg(r, &c)
		}
		load := r.engine.OnLoad
		if load == nil {
			load = moduletest.LoadScript
		}
		r.engine.OnLoad = func(ctx context.Context, f module.Source) (module.Module, error) {
			m, err := load(ctx, f)
			if fake, ok := m.(*moduletest.Module); ok && err == nil {
				r.mu.Lock()
				r.mods = append(r.mods, fake)
				r.mu.Unlock()
			}
			return m, err
		}
		var err error
		if r.folder, err = folder.New(c); err != nil {
			t.Fatal(err)
		}
		test(t, r)
		if r.cancel != nil {
			r.cancel()
			<-r.over
			synctest.Wait()
			drained(t, r.engine, r.mods)
		}
		if t.Failed() {
			t.Logf("the log says:\n%s", &r.book)
		}
	})
}

func (r *rig) path(name string) string { return filepath.Join(r.dir, name) }

// begin runs the folder until the first scan is over.
func (r *rig) begin() {
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	go func() {
		defer close(r.over)
		r.folder.RunWith(ctx, r.eyes)
	}()
	<-r.folder.Ready()
	synctest.Wait()
}

// event is what the system would tell about a name, or about the folder itself.
func (r *rig) event(name string) {
	r.eyes.Events <- fsnotify.Event{Name: r.path(name), Op: fsnotify.Write}
}

func (r *rig) save(name, content string) {
	r.t.Helper()
	write(r.t, r.path(name), content)
	r.event(name)
}

func (r *rig) remove(name string) {
	r.t.Helper()
	remove(r.t, r.path(name))
	r.event(name)
}

// pass lets time pass.
func (r *rig) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// settle lets the wait for quiet pass, but less than a file must be gone.
func (r *rig) settle() { r.pass(300 * time.Millisecond) }

// loads gives the contents that the engine was given since the last time.
func (r *rig) loads(since *int) string {
	all := r.engine.Loads()
	var got []string
	for _, f := range all[*since:] {
		got = append(got, string(f.Data))
	}
	*since = len(all)
	return strings.Join(got, " ")
}

// touch sets a file's time.
func (r *rig) touch(name string, at time.Time) {
	r.t.Helper()
	if err := os.Chtimes(r.path(name), at, at); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) companion(id string) *module.Companion {
	r.t.Helper()
	c, ok := r.folder.Companion(id)
	if !ok {
		r.t.Fatalf("no companion %s: %+v", id, r.folder.Status())
	}
	return c
}

func (r *rig) checkTold(want string) {
	r.t.Helper()
	if got := r.told.String(); got != want {
		r.t.Errorf("told: %s\nwant: %s", got, want)
	}
}
