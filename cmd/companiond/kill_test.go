package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/host/waittest"
)

// TestKilledDaemonKeepsWhatItAcknowledged kills the daemon with SIGKILL again
// and again while people talk, and looks for every acknowledged message. (What
// a kill proves nothing about, the disk's own cache, is tested with the plug
// pulled in host/journal/sqlite.)
func TestKilledDaemonKeepsWhatItAcknowledged(t *testing.T) {
	waittest.WithoutRaces(t)
	rounds := 200
	if n, err := strconv.Atoi(os.Getenv("COMPANIOND_KILL_ROUNDS")); err == nil {
		rounds = n
	} else if testing.Short() {
		rounds = 10
	}
	dir := t.TempDir()
	acked := map[uint64]string{}
	head := uint64(0)
	for round := range rounds {
		d := start(t, dir, "[journal]\nballast = \"0\"\n")
		head = checkAcked(t, d, head, acked)
		talkAndKill(d, round, acked)
		if t.Failed() {
			return
		}
	}
	d := start(t, dir, "[journal]\nballast = \"0\"\n")
	checkAcked(t, d, head, acked)
	checkAcked(t, d, 0, acked) // what one kill left, none behind it took away
	checkReplay(t, d)
	t.Logf("%d kills, %d acknowledged messages, all there", rounds, len(acked))
	if len(acked) < rounds {
		t.Errorf("only %d messages in %d rounds: the load was no load", len(acked), rounds)
	}
}

// talkAndKill lets four people talk and kills the daemon in mid-sentence.
func talkAndKill(d *daemon, round int, acked map[uint64]string) {
	var mu sync.Mutex
	var people sync.WaitGroup
	for p := range 4 {
		people.Go(func() {
			for n := 0; ; n++ {
				text := fmt.Sprintf("round %d person %d message %d", round, p, n)
				seq, err := d.say(fmt.Sprintf("p%d", p), text)
				if err != nil {
					return
				}
				mu.Lock()
				acked[seq] = text
				mu.Unlock()
			}
		})
	}
	time.Sleep(time.Duration(5+rand.IntN(30)) * time.Millisecond)
	d.kill()
	people.Wait()
}

// checkAcked reads the journal behind an entry: every acknowledged message is at its
// place, and seq has no gap and no duplicate. It gives the last entry's seq.
func checkAcked(t *testing.T, d *daemon, since uint64, acked map[uint64]string) (head uint64) {
	t.Helper()
	head = since
	texts := map[uint64]string{}
	for _, e := range d.entries(since) {
		if head++; e.Seq != head {
			t.Fatalf("entry %d of the journal has seq %d", head, e.Seq)
		}
		if m, ok := e.Message(); ok {
			texts[e.Seq] = m.Text
		}
	}
	for seq, text := range acked {
		if seq > since && texts[seq] != text {
			t.Errorf("acknowledged as %d: %q, the journal has %q", seq, text, texts[seq])
		}
	}
	return head
}
