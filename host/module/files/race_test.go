package files_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/waittest"
)

// TestAnEditorBesides: what an editor saves at the very moment of a save here is in the file afterwards, whether it renames
// another file to it or not at all; the save here was refused then, or came before.
func TestAnEditorBesides(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("files cannot be exchanged in one step here")
	}
	s, dir := newStore(t)
	path, refused, saved := filepath.Join(dir, "mio.json"), 0, 0
	put(t, path, good)
	rounds := 400
	if testing.Short() {
		rounds = 150
	}
	for i := range rounds {
		f, err := s.Read("mio.json", false)
		if err != nil {
			t.Fatal(err)
		}
		theirs := fmt.Sprintf(`{"name": "Mio", "story": "the editor's, %d"}`, i)
		put(t, path+".new.tmp", theirs)
		begin, done := make(chan struct{}), make(chan error)
		go func() {
			<-begin
			for range rand.IntN(60_000) { // into the midst of the other's look and its rename
				runtime.Gosched()
			}
			done <- os.Rename(path+".new.tmp", path)
		}()
		close(begin)
		_, err = s.Save(t.Context(), "mio.json", fmt.Sprintf(`{"name": "Mio", "story": "ours, %d"}`, i), f.Hash)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		switch abi.CodeOf(err) {
		case "":
			saved++
		case abi.CodeConflict:
			refused++
		default:
			t.Fatal(err)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != theirs {
			t.Fatalf("round %d: %s %v", i, now, err)
		}
	}
	t.Logf("%d saves came before the editor's, %d were refused", saved, refused)
	if saved == 0 || refused == 0 {
		t.Skip("the two never met on this machine")
	}
}

// longs are two texts that take some writes.
func longs() [2]string {
	return [2]string{`{"name": "Mio", "story": "` + strings.Repeat("a", 200<<10) + `"}`, `{"name": "Mio", "story": "` + strings.Repeat("b", 200<<10) + `"}`}
}

// TestKilledInASave: whenever the daemon is killed, the file is one of the two, whole, and can be saved again.
func TestKilledInASave(t *testing.T) {
	if dir := os.Getenv("FILES_TEST_SAVES"); dir != "" {
		saveForEver(dir)
	}
	waittest.WithoutRaces(t)
	s, dir := newStore(t)
	texts := longs()
	put(t, filepath.Join(dir, "mio.json"), texts[0])
	rounds := 40
	if testing.Short() {
		rounds = 5
	}
	for i := range rounds {
		child := exec.Command(os.Args[0], "-test.run=^TestKilledInASave$")
		child.Env = append(os.Environ(), "FILES_TEST_SAVES="+dir)
		out, err := child.StdoutPipe()
		if err == nil {
			err = child.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		rows := bufio.NewScanner(out)
		for n := rand.IntN(12); n >= 0 && rows.Scan(); n-- { // each is a save that is over
		}
		for range rand.IntN(20_000) {
			runtime.Gosched()
		}
		_ = child.Process.Kill()
		_ = child.Wait()
		for _, name := range []string{"mio.json", "mio.json~"} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if (err != nil && name == "mio.json") || (err == nil && string(text) != texts[0] && string(text) != texts[1]) {
				t.Fatalf("round %d: %s has %d bytes, %v", i, name, len(text), err)
			}
		}
		left, _ := filepath.Glob(filepath.Join(dir, ".companiond-*.tmp"))
		for _, one := range left { // as if an hour had gone by
			if err := os.Chtimes(one, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := s.Save(t.Context(), "mio.json", better, hashOf(t, s, "mio.json")); err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("there are %v", entries)
	}
}

func saveForEver(dir string) {
	s, texts := storeOf(dir), longs()
	for i := 0; ; i++ {
		f, err := s.Read("mio.json", false)
		if err == nil {
			_, err = s.Save(context.Background(), "mio.json", texts[i%2], f.Hash)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(i)
	}
}
