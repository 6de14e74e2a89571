package folder_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/module"
)

// People cannot tell ids apart that differ in case, width or kana only.
func TestIDsThatReadAlike(t *testing.T) {
	for first, second := range map[string]string{"aya": "Aya", "kyoko": "ｋｙｏｋｏ", "なつみ": "ナツミ", "nikoni": "Nīkoni", "Tarō": "taro"} {
		bubble(t, nil, func(t *testing.T, r *rig) {
			write(t, r.path(first+".fake"), saying("first"))
			r.begin()
			r.save(second+".fake", saying("second"))
			r.save("saki.fake", saying("another"))
			r.pass(time.Minute)
			const why = "reads or looks like "
			checkStatus(t, r.folder, second, module.StateFailed, 0, why+first+", which is loaded; rename the file")
			checkStatus(t, r.folder, first, module.StateReady, 1, "")
			checkStatus(t, r.folder, "saki", module.StateReady, 1, "")
			if _, ok := r.folder.Companion(second); ok || r.book.Count(why) != 1 {
				t.Errorf("loaded: %v, said %d times", ok, r.book.Count(why))
			}
			r.save(first+".fake", saying("first again")) // who was first stays it
			r.pass(time.Second)
			mustVote(t, r.companion(first), "first again")
			r.remove(first + ".fake")
			r.pass(3 * time.Second)
			mustVote(t, r.companion(second), "second")
			checkStatus(t, r.folder, second, module.StateReady, 1, "")
			r.checkTold("joined " + first + ", joined saki, replaced " + first + ", left " + first + ", joined " + second)
		})
	}
}

// A file that is refused holds no name, and neither does one that comes too late.
func TestIDsThatReadAlikeAtTheStart(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		write(t, r.path("AYA.fake"), "{broken")
		write(t, r.path("Aya.fake"), saying("second"))
		write(t, r.path("aya.fake"), saying("third"))
		for _, name := range []string{"AYA.fake", "Aya.fake", "aya.fake"} {
			r.touch(name, time.Now().Add(-time.Hour))
		}
		r.begin()
		r.pass(time.Second)
		mustVote(t, r.companion("Aya"), "second")
		checkStatus(t, r.folder, "aya", module.StateFailed, 0, "reads or looks like Aya, which is loaded")
		r.save("AYA.fake", saying("first"))
		r.settle()
		checkStatus(t, r.folder, "AYA", module.StateFailed, 0, "reads or looks like Aya, which is loaded")
		if all := r.folder.Companions(); len(all) != 1 {
			t.Errorf("%d companions with one name", len(all))
		}
		r.remove("AYA.fake")
		r.remove("aya.fake")
		r.pass(time.Minute)
		mustVote(t, r.companion("Aya"), "second")
		if got := len(r.folder.Status()); got != 1 {
			t.Errorf("%d in the status", got)
		}
		r.checkTold("joined Aya")
	})
}

func TestWhatTheLogSaysOfComingAndGoing(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		write(t, r.path("aya.fake"), saying("one"))
		write(t, r.path("bad.fake"), "{broken")
		r.begin()
		for _, step := range []struct {
			do   func()
			want string // in one line that is new
		}{
			{func() {}, "companion loaded"},
			{func() { r.save("aya.fake", "{broken") }, "file refused"},
			{func() { r.save("aya.fake", saying("one")) }, "companion repaired"},
			{func() { r.save("aya.fake", saying("two")) }, "companion replaced"},
			{func() { r.remove("bad.fake") }, "the refused file is gone"},
			{func() { r.remove("aya.fake") }, "companion left"},
		} {
			before := r.book.String()
			if step.want == "companion loaded" {
				before = ""
			}
			step.do()
			r.pass(3 * time.Second)
			if news := strings.TrimPrefix(r.book.String(), before); strings.Count(news, step.want) != 1 {
				t.Errorf("the log says %q, want a word of %q", news, step.want)
			}
		}
		if n := r.book.Count("companion left"); n != 1 {
			t.Errorf("%d left", n)
		}
	})
}

// Files that look like companions and are none are named in the log, once.
func TestWhatIsPassedOverIsSaid(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		write(t, r.path("aya.FAKE"), saying("one"))
		write(t, r.path("kyoko/main.Fake"), saying("one"))
		write(t, r.path("README"), "x")
		write(t, r.path("notes/README.md"), "x")
		for _, link := range []string{"gone.fake", "saki/gone.fake", "lost", "page.md", ".#lock"} {
			must(t, os.MkdirAll(filepath.Dir(r.path(link)), 0o755))
			must(t, os.Symlink(filepath.Join(r.dir, "nowhere"), r.path(link)))
		}
		r.begin()
		r.event("aya.FAKE")
		r.event("gone.fake")
		r.pass(time.Minute)
		for name, why := range map[string]string{
			"aya.FAKE": "small letters", "kyoko/main.Fake": "small letters",
			"gone.fake": "which is not there", "saki/gone.fake": "which is not there", "lost": "which is not there",
		} {
			n := 0
			for line := range strings.Lines(r.book.String()) {
				if strings.Contains(line, "level=WARN") && strings.Contains(line, "file="+name+" ") && strings.Contains(line, why) {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%s: %d warnings", name, n)
			}
		}
		if n := r.book.Count("level=WARN"); n != 5 {
			t.Errorf("%d warnings", n)
		}
		rename(t, r.path("aya.FAKE"), r.path("aya.fake"))
		r.event("aya.fake")
		r.pass(time.Minute)
		mustVote(t, r.companion("aya"), "one")
		write(t, r.path("aya.FAKE"), "x") // and once more
		r.pass(time.Minute)
		if n := r.book.Count("file=aya.FAKE "); n != 2 {
			t.Errorf("said %d times", n)
		}
	})
}
