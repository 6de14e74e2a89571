package backup

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/companiond/companiond/host/journal/swap"
	"github.com/companiond/companiond/host/waittest"
)

// childOf makes this test binary save or restore in a folder until it is killed.
const childOf = "COMPANIOND_TEST_BACKUP"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childOf); dir != "" {
		fmt.Fprintln(os.Stderr, "child:", forEver(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// forEver restores a and b in turn where they are, or else saves.
func forEver(dir string) error {
	h := home{dir: dir}
	for n := 0; ; n++ {
		cfg, err := h.config(h.path("companiond.toml"))
		if err != nil {
			return err
		}
		if _, err := os.Stat(h.path("a.tar.gz")); err != nil {
			_, err = Write(context.Background(), Options{File: h.path("b.tar.gz"), Config: cfg, ConfigFile: h.path("companiond.toml"), Force: true})
			if err != nil {
				return err
			}
			fmt.Println("saved")
			continue
		}
		file := h.path([]string{"a.tar.gz", "b.tar.gz"}[n%2])
		if _, err := (Back{File: file, Load: h.config, ConfigFile: h.path("companiond.toml"), Force: true}).Restore(context.Background()); err != nil {
			return err
		}
		fmt.Println("restored")
	}
}

// rounds is how often something is killed.
func rounds(t *testing.T) int {
	if s := os.Getenv("COMPANIOND_KILL_ROUNDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if testing.Short() {
		return 10
	}
	return 60
}

// killed has the child work for a moment, kills it, and gives how often it was done.
func killed(t *testing.T, dir string) int {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childOf+"="+dir)
	out, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	select {
	case <-ended:
		b, _ := os.ReadFile(out.Name())
		t.Fatalf("the child ended by itself:\n%s", b)
	case <-time.After(20*time.Millisecond + rand.N(300*time.Millisecond)):
	}
	_ = cmd.Process.Kill()
	<-ended
	b, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, c := range b {
		if c == '\n' {
			lines++
		}
	}
	return lines
}

// TestRestoreKilled kills restores: a daemon that starts then finds the one state or the other, of the journal, the characters and the
// configuration alike.
func TestRestoreKilled(t *testing.T) {
	waittest.WithoutRaces(t)
	t.Parallel()
	h := newHome(t)
	for _, side := range []string{"a", "b"} {
		made := newHome(t)
		made.write("companiond.toml", "# "+side+"\n")
		made.write("characters/who.txt", side)
		made.write("characters/"+side+".txt", side)
		made.talk("main", side, side, side)
		if _, err := made.save("x.tar.gz"); err != nil {
			t.Fatal(err)
		}
		h.write(side+".tar.gz", made.read("x.tar.gz"))
	}
	if _, err := h.back(h.path("a.tar.gz")); err != nil {
		t.Fatal(err)
	}
	done, halves, midway := 0, 0, 0
	for round := range rounds(t) {
		done += killed(t, h.dir)
		if swap.Pending(h.path("state")) {
			midway++
		}
		if left, _ := filepath.Glob(h.path("*.new")); len(left) > 0 {
			halves++
		}
		said := h.said("main")
		if len(said) != 3 {
			t.Fatalf("round %d: the journal has %q", round, said)
		}
		side := said[0]
		if h.read("companiond.toml") != "# "+side+"\n" || h.read("characters/who.txt") != side || h.read("characters/"+side+".txt") != side || !slices.Equal(said, []string{side, side, side}) {
			t.Fatalf("round %d: the journal is %q, the configuration %q, the character %q", round, said, h.read("companiond.toml"), h.read("characters/who.txt"))
		}
		for _, pattern := range []string{"*.before-*", "state/*.before-*"} {
			aside, _ := filepath.Glob(h.path(pattern))
			for _, a := range aside {
				if err := os.RemoveAll(a); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	t.Logf("%d restores were done, %d killed while exchanging, %d while unpacking", done, midway, halves)
	if done == 0 {
		t.Error("no restore was ever done")
	}
}

// TestBackupKilled kills backups: the file is always whole, and what was left is taken away by the next one.
func TestBackupKilled(t *testing.T) {
	waittest.WithoutRaces(t)
	t.Parallel()
	h := newHome(t)
	h.write("characters/aya.talk.txt", "x")
	h.talk("main", "one", "two")
	if _, err := h.save("b.tar.gz"); err != nil {
		t.Fatal(err)
	}
	done, halves := 0, 0
	for round := range rounds(t) {
		done += killed(t, h.dir)
		if left, _ := filepath.Glob(h.path("*" + unfinished)); len(left) > 0 {
			halves++
		}
		if _, err := Inspect(t.Context(), h.path("b.tar.gz")); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	t.Logf("%d backups were made, %d killed on the way", done, halves)
	if _, err := h.save("c.tar.gz"); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(h.path("*" + unfinished)); len(left) > 0 || done == 0 {
		t.Errorf("left behind: %q; done %d", left, done)
	}
}
