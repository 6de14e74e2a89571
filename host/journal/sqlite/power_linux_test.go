package sqlite

import (
	"math/rand/v2"
	"testing"
	"time"
)

// cutPower runs a child on a disk of its own and cuts the disk's power: the
// entries acknowledged before are counted, and those of them that are lost.
func cutPower(t *testing.T, synchronous string) (acked, missing int, opened bool) {
	d := newDisk(t, 128)
	c := startChild(t, d.path(), synchronous)
	defer c.kill()
	c.waitReady(t)
	time.Sleep(300*time.Millisecond + rand.N(500*time.Millisecond))
	c.mu.Lock() // what comes after the cut does not count
	acks := c.acks
	d.cut()
	c.mu.Unlock()
	c.kill()
	d.umount()
	d.mount()
	j, err := Open(Config{Path: d.path()})
	if err != nil {
		t.Logf("open after the cut: %v", err)
		return len(acks), 0, false
	}
	defer d.umount()
	defer j.Close()
	return len(acks), lost(t, j, acks, map[string]uint64{}), true
}

// TestPowerCut loses nothing that was acknowledged, in 8 rounds (2 with -short).
func TestPowerCut(t *testing.T) {
	rounds := 8
	if testing.Short() {
		rounds = 2
	}
	total := 0
	for range rounds {
		acked, missing, opened := cutPower(t, "FULL")
		if !opened || missing > 0 {
			t.Errorf("%d of %d acknowledged entries are lost, opened: %v", missing, acked, opened)
		}
		total += acked
	}
	t.Logf("%d rounds: %d acknowledged", rounds, total)
	if total < 100*rounds {
		t.Errorf("only %d entries were acknowledged: the test had no load", total)
	}
}

// TestPowerCutIsReal shows that the test above can fail: without a sync at
// each commit a cut loses entries, or the file of heads gives the loss away.
func TestPowerCutIsReal(t *testing.T) {
	total, gone := 0, 0
	for range 6 {
		acked, missing, opened := cutPower(t, "NORMAL")
		total, gone = total+acked, gone+missing
		if missing > 0 || !opened {
			t.Logf("with synchronous=NORMAL %d of %d were lost, opened: %v", gone, total, opened)
			return
		}
	}
	t.Errorf("with synchronous=NORMAL none of %d were lost: the cut cuts nothing", total)
}
