package search_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/search"
)

// On a full disk searching says so, and goes on when there is room again.
func TestFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount a file system of its own")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("cannot mount here: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
	ballast := filepath.Join(dir, "ballast")
	fill := func(n int) {
		t.Helper()
		if err := os.WriteFile(ballast, make([]byte, n), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fill(1000 << 10)
	s := &stage{t: t, j: memory.New(), path: filepath.Join(dir, search.File), now: day}
	s.open()
	s.say("main", "mika", "天気がいい")
	refused := func() {
		t.Helper()
		if _, err := s.k.Search(t.Context(), search.Ask{Query: "天気"}); abi.CodeOf(err) != abi.CodeUnavailable || !strings.Contains(err.Error(), "the disk is full") {
			t.Errorf("%v", err)
		}
	}
	refused()
	fill(0)
	if got := s.find(search.Ask{Query: "天気"}); !slices.Equal(got, []string{"main#2"}) {
		t.Error(got)
	}
	fill(1 << 10)
	for free := 900 << 10; free > 0; free -= 4 << 10 { // until no page is left
		if os.WriteFile(ballast, make([]byte, 900<<10-free+512<<10), 0o600) != nil {
			break
		}
	}
	for i := range 2000 {
		s.say("main", "mika", fmt.Sprintf("%c%c%c 天気", 0x4e00+i*7, 0x4e00+i*5, 0x4e00+i*3))
	}
	refused()
	fill(0)
	if got := s.find(search.Ask{Query: "天気", Limit: 100}); len(got) != 2001 {
		t.Errorf("%d found", len(got))
	}
}
