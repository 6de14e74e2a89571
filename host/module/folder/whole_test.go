package folder_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
	"github.com/companiond/companiond/host/module/moduletest"
)

// scripts is an engine that takes .js files, and whole folders with a main.js, of
// which it names the module after what is in them.
func scripts() *moduletest.Engine {
	return &moduletest.Engine{Ext: ".js", Entry: "main.js", Kind: "js", OnLoad: func(_ context.Context, s module.Source) (module.Module, error) {
		text := string(s.Data)
		for _, name := range slices.Sorted(maps.Keys(s.Siblings)) {
			text += name + "=" + string(s.Siblings[name]) + " "
		}
		return moduletest.Answering(strings.TrimSpace(text)), nil
	}}
}

func TestAFolderIsTakenWhole(t *testing.T) {
	js := scripts()
	bubble(t, func(r *rig, c *folder.Config) {
		c.Engines = append(c.Engines, js)
		c.MaxFile = 20
	}, func(t *testing.T, r *rig) {
		for name, text := range map[string]string{"main.js": "m1", "lib.js": "l1", ".draft.js": "x", "lib.js~": "x", "deep/x.js": "x"} {
			write(t, r.path("aya/"+name), text)
		}
		r.begin()
		check := func(generation uint64, name, trouble string) {
			t.Helper()
			r.settle()
			checkStatus(t, r.folder, "aya", module.StateReady, generation, trouble)
			if c := r.companion("aya"); c.Describe().Name != name || c.Engine() != "js" {
				t.Errorf("generation %d is %q by %s, want %q", generation, c.Describe().Name, c.Engine(), name)
			}
		}
		check(1, "lib.js=l1 main.js=m1", "")
		first := js.Loads()[0]
		if first.ID != "aya" || first.Name != "aya" || first.Path != r.path("aya") || first.Data != nil || len(first.Hash) != 64 {
			t.Errorf("source %+v", first)
		}
		r.save("aya/lib.js", "l2")
		check(2, "lib.js=l2 main.js=m1", "")
		r.save("aya/lib.js", "l2") // no byte is another
		check(2, "lib.js=l2 main.js=m1", "")
		r.save("aya/lib.js", "")
		check(2, "lib.js=l2 main.js=m1", "aya: lib.js: is empty: not yet written?")
		r.save("aya/lib.js", strings.Repeat("x", 19)) // the folder is bounded, not each file
		check(2, "lib.js=l2 main.js=m1", "aya: 21 bytes in 2 files, at most 20 (wasm.max_file)")
		r.save("aya/lib.js", "l3")
		check(3, "lib.js=l3 main.js=m1", "")
		rename(t, r.path("aya/lib.js"), r.path("aya/lob.js")) // neither time nor inode changes, and nobody tells
		r.pass(10 * time.Second)
		check(4, "lob.js=l3 main.js=m1", "")
		r.remove("aya/lob.js")
		check(5, "main.js=m1", "")
		rename(t, r.path("aya/main.js"), r.path("aya/other.js")) // now it is a folder with one file
		r.event("aya")
		check(6, "m1", "")
		if s := statusOf(r.folder, "aya"); s.File != "aya/other.js" {
			t.Errorf("status %+v", s)
		}
		seen := map[string]bool{}
		for _, s := range js.Loads() {
			if seen[s.Hash] {
				t.Errorf("two contents have the hash %s", s.Hash)
			}
			seen[s.Hash] = true
		}
		r.remove("aya")
		r.pass(2 * time.Second)
		if _, ok := r.folder.Companion("aya"); ok {
			t.Error("it is still there though its folder is gone")
		}
	})
}

// A file's hash is what sha256sum says of it, for engines whose configuration pins one.
func TestSourceOfAFile(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		text := saying("one")
		write(t, r.path("aya/x.fake"), text)
		r.begin()
		s := r.engine.Loads()[0]
		sum := sha256.Sum256([]byte(text))
		if s.ID != "aya" || s.Name != "aya/x.fake" || s.Path != r.path("aya/x.fake") || s.Hash != hex.EncodeToString(sum[:]) || string(s.Data) != text || s.Siblings != nil {
			t.Errorf("source %+v", s)
		}
	})
}

// Of engines that take the same file, the one that was given first loads it.
func TestTheFirstEngineLoads(t *testing.T) {
	other := &moduletest.Engine{Kind: "other"}
	bubble(t, func(r *rig, c *folder.Config) { c.Engines = append(c.Engines, other) }, func(t *testing.T, r *rig) {
		write(t, r.path("aya.fake"), saying("one"))
		r.begin()
		if c := r.companion("aya"); c.Engine() != "fake" || len(other.Loads()) != 0 {
			t.Errorf("loaded by %s", c.Engine())
		}
	})
}

// listed is an engine whose files are named one by one, and have no ending.
type listed struct {
	*moduletest.Engine
	names []string
}

func (l listed) Match(file string) (string, bool) { return file, slices.Contains(l.names, file) }

func TestFilesWithoutAnEnding(t *testing.T) {
	programs := listed{&moduletest.Engine{Kind: "process"}, []string{"aya", "ken"}}
	bubble(t, func(r *rig, c *folder.Config) { c.Engines = append(c.Engines, programs) }, func(t *testing.T, r *rig) {
		write(t, r.path("aya"), saying("alone"))
		write(t, r.path("Ken"), "another letter is another file")
		write(t, r.path("ken/ken"), saying("in a folder"))
		r.begin()
		mustVote(t, r.companion("aya"), "alone")
		mustVote(t, r.companion("ken"), "in a folder")
		if n := len(r.folder.Status()); n != 2 || r.book.Count("Ken") != 0 {
			t.Errorf("%d companions; the log says\n%s", n, &r.book)
		}
		if s := statusOf(r.folder, "ken"); s.File != "ken/ken" || s.Engine != "process" {
			t.Errorf("status %+v", s)
		}
	})
}
