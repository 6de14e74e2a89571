package sqlite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestKill9 kills a child under load, again and again in the same directories:
// whatever was acknowledged is there. The number of rounds is 200, 20 with
// -short, or COMPANIOND_KILL_ROUNDS.
func TestKill9(t *testing.T) {
	t.Parallel()
	rounds := 200
	if testing.Short() {
		rounds = 20
	}
	if s := os.Getenv("COMPANIOND_KILL_ROUNDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		rounds = n
	}
	// In several directories at once, for a child mostly starts and waits.
	const lanes = 4
	for lane := range lanes {
		t.Run(fmt.Sprint("directory ", lane), func(t *testing.T) {
			t.Parallel()
			killRounds(t, (rounds+lane)/lanes)
		})
	}
}

// killRounds kills so often in one directory.
func killRounds(t *testing.T, rounds int) {
	path := filepath.Join(t.TempDir(), "state", "companion.db")
	known := map[string]uint64{}
	acked, missing, early := 0, 0, 0
	start := time.Now()
	for round := range rounds {
		c := startChild(t, path, "")
		if round%5 == 4 { // while it starts
			early++
		} else {
			c.waitReady(t)
		}
		time.Sleep(5*time.Millisecond + rand.N(35*time.Millisecond))
		c.kill()
		j, err := Open(Config{Path: path})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		n := lost(t, j, c.acks, known)
		if n > 0 {
			t.Errorf("round %d: %d of %d acknowledged entries are lost", round, n, len(c.acks))
		}
		acked, missing = acked+len(c.acks), missing+n
		if round == rounds-1 {
			lost(t, j, nil, map[string]uint64{}) // once more from the beginning
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d rounds (%d killed while starting) in %v: %d acknowledged, %d lost", rounds, early, time.Since(start).Round(time.Millisecond), acked, missing)
	if acked < rounds {
		t.Errorf("only %d entries were acknowledged: the test had no load", acked)
	}
}
