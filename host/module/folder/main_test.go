package folder_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
	"github.com/companiond/companiond/host/module/moduletest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// saying is the script of a companion whose vote is v.
func saying(v string) string {
	return fmt.Sprintf(`{"name":"Aya %s","answers":{"vote":%q}}`, v, v)
}

func mustVote(t *testing.T, c *module.Companion, want string) {
	t.Helper()
	if got, err := moduletest.Vote(c); err != nil || got != want {
		t.Errorf("vote gives %q, %v; want %q", got, err, want)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// changes notes what a folder tells.
type changes struct {
	mu   sync.Mutex
	told []string
}

func (c *changes) changed(ch folder.Change) {
	if ch.Kind == folder.Refused {
		return // nobody is another
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, string(ch.Kind)+" "+ch.Companion.ID())
}

func (c *changes) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.told, ", ")
}

// statusOf gives one companion's status, the zero one if there is none.
func statusOf(f *folder.Folder, id string) module.Status {
	for _, s := range f.Status() {
		if s.ID == id {
			return s
		}
	}
	return module.Status{}
}

// checkStatus compares what matters: state, generation, and a part of the
// error, or none.
func checkStatus(t *testing.T, f *folder.Folder, id string, state module.State, generation uint64, errorPart string) {
	t.Helper()
	s := statusOf(f, id)
	if s.State != state || s.Generation != generation || (s.Error == "") != (errorPart == "") || !strings.Contains(s.Error, errorPart) {
		t.Errorf("status of %s is %+v\nwant state %s, generation %d, error with %q", id, s, state, generation, errorPart)
	}
}

// drained checks that every module was closed once and none was called after.
func drained(t *testing.T, e *moduletest.Engine, all []*moduletest.Module) {
	t.Helper()
	if e.Opened() != e.Closed() {
		t.Errorf("%d modules opened, %d closed", e.Opened(), e.Closed())
	}
	for _, m := range all {
		if m.Late() > 0 {
			t.Errorf("a closed module got %d calls", m.Late())
		}
	}
}
