package backup

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/journaltest"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/journal/statedir"
)

// TestThereAndBack takes all that is truth to another machine.
func TestThereAndBack(t *testing.T) {
	h := newHome(t)
	h.write("companiond.toml", "[identity]\ntokens = \"state/tokens\"\n[model.main]\nmodel = \"m\"\nkey = \"state/key\"\n")
	h.write("characters/aya.talk.txt", "name: Aya\n")
	h.write("characters/mio/main.ts", "export {}\n")
	h.write("characters/.git/config", "x")
	h.write("state/plugins/lamp", "#!")
	h.write("state/tokens", "secret")
	h.write("state/key", "secret")
	h.write("state/erasures", "{\"v\":1}\n")
	if runtime.GOOS != "windows" {
		if err := os.Chmod(h.path("state/plugins/lamp"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("aya.talk.txt", h.path("characters/kyoko.talk.txt")); err != nil {
			t.Fatal(err)
		}
	}
	h.talk("居間", "hello", "こんにちは")
	made, err := h.save("b.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	left := strings.Join(made.LeftOut, "\n")
	if made.Rooms != 1 || made.Entries != 3 || !strings.Contains(left, "identity.tokens") || !strings.Contains(left, "model.main.key") || !strings.Contains(left, "kyoko") && runtime.GOOS != "windows" {
		t.Errorf("%+v", made)
	}
	if b := []byte(h.read("b.tar.gz")); bytes.Contains(b, []byte("secret")) || len(b) == 0 {
		t.Error("the archive has secrets, or nothing")
	}

	other := newHome(t)
	put, err := other.back(h.path("b.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"characters/aya.talk.txt", "characters/mio/main.ts", "companiond.toml", "state/companiond.db", "state/erasures", "state/plugins/lamp"}
	if got := other.files(); !slices.Equal(got, want) {
		t.Errorf("there are %q, want %q", got, want)
	}
	if got := other.said("居間"); !slices.Equal(got, []string{"hello", "こんにちは"}) || put.Entries != 3 || len(put.Aside) > 0 {
		t.Errorf("%q %+v", got, put)
	}
	if info, err := os.Stat(other.path("state/plugins/lamp")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o755 {
		t.Errorf("a program came back as %v %v", info, err)
	}

	// With the tokens, where somebody wants them.
	if _, err := h.save("t.tar.gz", func(o *Options) { o.Tokens = h.path("state/tokens") }); err != nil {
		t.Fatal(err)
	}
	third := newHome(t)
	if _, err := third.back(h.path("t.tar.gz")); err != nil || third.read("state/tokens") != "secret" {
		t.Errorf("tokens: %v", err)
	}
}

// TestRefusals holds what a backup is not written over, and where not.
func TestRefusals(t *testing.T) {
	h := newHome(t)
	if _, err := h.save("b.tar.gz"); err == nil || !strings.Contains(err.Error(), "no journal at") || !strings.Contains(err.Error(), "-config") {
		t.Errorf("without a journal: %v", err)
	}
	h.talk("main", "hello")
	h.write("characters/aya.talk.txt", "")
	h.write("companiond.toml", "")
	h.write("there", "x")
	for name, want := range map[string]string{
		"characters/b.tar.gz": "modules.characters", "state/plugins/b": "", ".": "is a folder", "there": "-force", "nowhere/b": "make it first",
	} {
		if name == "state/plugins/b" {
			continue // there is none
		}
		if _, err := h.save(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	for _, own := range []string{"companiond.toml", "state/companiond.db"} {
		if _, err := h.save(own, func(o *Options) { o.Force = true }); err == nil || !strings.Contains(err.Error(), "what is to be saved") {
			t.Errorf("%s: %v", own, err)
		}
	}
	if _, err := h.save("there", func(o *Options) { o.Force = true }); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(h.path("*" + unfinished)); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	var out bytes.Buffer
	if _, err := h.save("", func(o *Options) { o.File, o.Out = "", &out }); err != nil || out.Len() == 0 {
		t.Errorf("standard output: %d bytes, %v", out.Len(), err)
	}
}

// TestUnderLoad takes backups while eight talk: all that was acknowledged before one began is in it.
func TestUnderLoad(t *testing.T) {
	h := newHome(t)
	j := h.open()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var mu sync.Mutex
	acked := map[string]int{}
	var all sync.WaitGroup
	for n := range 8 {
		room := fmt.Sprint("room", n)
		head, err := j.Acquire(t.Context(), room, "test", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				var err error
				if head, err = say(t.Context(), j, head, room, fmt.Sprint(i), fmt.Sprint("text ", i)); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				acked[room] = i + 1
				mu.Unlock()
			}
		})
	}
	for round := range 5 {
		mu.Lock()
		want := map[string]int{}
		for room, n := range acked {
			want[room] = n
		}
		mu.Unlock()
		name := fmt.Sprintf("b%d.tar.gz", round)
		made, err := h.save(name)
		if err != nil {
			t.Fatal(err)
		}
		other := newHome(t)
		if _, err := other.back(h.path(name)); err != nil {
			t.Fatal(err)
		}
		total := 0
		for room, n := range want {
			total += n
			if got := other.said(room); len(got) < n {
				t.Errorf("round %d: %s has %d of %d that were acknowledged", round, room, len(got), n)
			}
		}
		t.Logf("round %d: %d acknowledged before, %d entries in the backup", round, total, made.Entries)
	}
	stop()
	all.Wait()
	if acked["room0"] == 0 {
		t.Error("nobody talked")
	}
}

// TestErasedIsGone looks for a word in the copy that was erased before.
func TestErasedIsGone(t *testing.T) {
	h := newHome(t)
	j := h.open()
	head, err := j.Acquire(t.Context(), "main", "test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	const word = "Narutosuizokukan"
	for i := range 50 {
		if head, err = say(t.Context(), j, head, "main", fmt.Sprint(i), strings.Repeat(word, 20)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.save("before.tar.gz"); err != nil {
		t.Fatal(err)
	}
	bodies := map[uint64][]byte{}
	for seq := range head.Seq {
		bodies[seq+1] = nil
	}
	if err := j.Erase(t.Context(), "main", bodies); err != nil { // it is in the log still, for nothing was purged
		t.Fatal(err)
	}
	if _, err := h.save("after.tar.gz"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"before.tar.gz": true, "after.tar.gz": false} {
		other := newHome(t)
		if _, err := other.back(h.path(name)); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(other.read("state/companiond.db"), word); got != want {
			t.Errorf("%s has the word: %v, want %v", name, got, want)
		}
	}
}

// TestDamagedIsNone refuses a journal that does not fit its chain: a backup that is there can be put back.
func TestDamagedIsNone(t *testing.T) {
	h := newHome(t)
	h.talk("main", "good morning", "good night")
	db := h.path("state/companiond.db")
	b := []byte(h.read("state/companiond.db"))
	if !bytes.Contains(b, []byte("good night")) {
		t.Skip("the text lies in the log")
	}
	if err := os.WriteFile(db, bytes.Replace(b, []byte("good night"), []byte("good day!!"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := h.save("b.tar.gz"); err == nil || !strings.Contains(err.Error(), "does not fit its hash") {
		t.Errorf("%v", err)
	}
	if got := h.files(); slices.Contains(got, "b.tar.gz") {
		t.Errorf("%q", got)
	}
}

// TestGolden takes the journals of older versions there and back.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("../testdata/golden/*/*.db.gz")
	if err != nil || len(files) < 6 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		h := newHome(t)
		h.write("state/companiond.db", string(journaltest.Unzip(t, file)))
		old, err := sqlite.OpenReadOnly(h.path("state/companiond.db"))
		if err != nil {
			t.Fatal(err)
		}
		want := content(t, old)
		if _, err := h.save("b.tar.gz"); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		other := newHome(t)
		if _, err := other.back(h.path("b.tar.gz")); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if got := content(t, other.open()); len(got) == 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d entries came back otherwise than they were", file, len(want))
		}
	}
}

// content gives all entries of a journal, and closes it.
func content(t *testing.T, j *sqlite.Journal) (all []string) {
	t.Helper()
	defer j.Close()
	for r, err := range journal.AllRooms(t.Context(), j) {
		if err != nil {
			t.Fatal(err)
		}
		es, err := j.Read(t.Context(), r.Name, 0, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range es {
			all = append(all, fmt.Sprint(r.Name, e.Seq, e.Kind, e.ID, e.V, e.At, string(e.Body), e.Blank))
		}
	}
	return all
}

// TestHalfDone takes away what a backup left that was killed, and not one that is at work.
func TestHalfDone(t *testing.T) {
	h := newHome(t)
	h.talk("main", "hello")
	h.write("killed.tar.gz.unfinished/journal.db", "x")
	h.write("killed.tar.gz.unfinished/lock", "")
	h.write("other.unfinished/mine", "x")
	h.write("busy.tar.gz.unfinished/journal.db", "x")
	lock := statedir.NewLock(h.path("busy.tar.gz.unfinished"))
	if err := lock.Take(); err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if _, err := h.save("busy.tar.gz"); err == nil || !strings.Contains(err.Error(), "another companiond backup") {
		t.Errorf("at work: %v", err)
	}
	if _, err := h.save("b.tar.gz"); err != nil {
		t.Fatal(err)
	}
	want := []string{"b.tar.gz", "busy.tar.gz.unfinished/journal.db", "other.unfinished/mine", "state/companiond.db"}
	if got := h.files(); !slices.Equal(got, want) {
		t.Errorf("there are %q, want %q", got, want)
	}
}
