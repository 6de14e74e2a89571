//go:build unix

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/waittest"
)

// TestReloadsUnderLoad has a daemon read its configuration anew a hundred times, by verb and by signal in turn, each time with
// other values, while four people talk: each line that was acknowledged is in the journal at its place, none was refused, and
// the last values are in force.
func TestReloadsUnderLoad(t *testing.T) {
	waittest.WithoutRaces(t)
	reloads := 100
	if testing.Short() {
		reloads = 10
	}
	dir := t.TempDir()
	base := "[journal]\nballast = \"0\"\npath = '" + filepath.Join(dir, "companiond.db") + "'\n[modules]\ncharacters = '" + filepath.Join(dir, "characters") + "'\n"
	d := start(t, dir, base)
	acked := map[uint64]string{}
	var mu sync.Mutex
	var people sync.WaitGroup
	var over atomic.Bool
	for p := range 4 {
		people.Go(func() {
			for n := 0; !over.Load(); n++ {
				text := fmt.Sprintf("person %d message %d", p, n)
				seq, err := d.say(fmt.Sprintf("p%d", p), text)
				if err != nil {
					t.Errorf("refused: %v", err)
					return
				}
				mu.Lock()
				acked[seq] = text
				mu.Unlock()
			}
		})
	}
	var seen uint64
	var last int64
	inForce := func() int64 { // the newest patience in the journal
		for _, e := range d.entries(seen) {
			if seen = e.Seq; e.Kind == entry.KindRules {
				r, err := entry.Decode[entry.Rules](e)
				if err != nil {
					t.Fatal(err)
				}
				last = r.Patience
			}
		}
		return last
	}
	began := time.Now()
	for n := range reloads {
		patience := int64(2000 + n)
		d.configure(fmt.Sprintf("%s[room.main]\npatience = \"%dms\"\n[room.side%d]\n", base, patience, n%3))
		if n%2 == 0 {
			if out, code := d.ask("reload"); code != 0 || !strings.Contains(out, "room.main.patience") {
				t.Errorf("reload %d: %d %s", n, code, out)
			}
			continue
		}
		if err := d.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		waittest.Until(t, "the signal is obeyed", func() bool { return inForce() == patience })
	}
	took := time.Since(began)
	over.Store(true)
	people.Wait()
	waittest.Until(t, "the last value is in force", func() bool { return inForce() == int64(2000+reloads-1) })
	checkAcked(t, d, 0, acked)
	checkReplay(t, d)
	t.Logf("%d reloads in %v, %d acknowledged messages, all there", reloads, took, len(acked))
	if len(acked) < reloads {
		t.Errorf("only %d messages: the load was no load", len(acked))
	}
	d.stop()
}
