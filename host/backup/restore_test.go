package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/journal/statedir"
)

// TestGoingBack puts an older state back where a newer one is.
func TestGoingBack(t *testing.T) {
	h := newHome(t)
	h.write("companiond.toml", "# old\n")
	h.write("characters/aya.talk.txt", "old")
	h.talk("main", "one")
	h.write("state/erasures", "{\"id\":\"1\"}\n")
	if _, err := h.save("b.tar.gz"); err != nil {
		t.Fatal(err)
	}
	h.talk("other", "two") // and heads is of that
	h.write("state/search.db", "x")
	h.write("state/erasures", "{\"id\":\"1\"}\n{\"id\":\"2\"}\n")

	// While somebody has the directory, and without -force, nothing changes.
	lock := statedir.NewLock(h.path("state"))
	if err := lock.Take(); err != nil {
		t.Fatal(err)
	}
	before := h.files()
	if _, err := h.back(h.path("b.tar.gz"), force); err == nil || !strings.Contains(err.Error(), "stop it first") {
		t.Errorf("while a daemon runs: %v", err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.back(h.path("b.tar.gz")); err == nil || !strings.Contains(err.Error(), "companiond.db; -force") || strings.Contains(err.Error(), "aya") {
		t.Errorf("without -force: %v", err)
	}
	if after := h.files(); !slices.Equal(after, before) {
		t.Errorf("there were %q, and are %q", before, after)
	}

	h.write("characters/aya.talk.txt", "new")
	h.write("characters/kyoko.talk.txt", "new")
	put, err := h.back(h.path("b.tar.gz"), force)
	if err != nil {
		t.Fatal(err)
	}
	if got := h.said("main"); !slices.Equal(got, []string{"one"}) || len(h.said("other")) > 0 {
		t.Errorf("%q", got)
	}
	if h.read("characters/aya.talk.txt") != "old" || h.read("characters/kyoko.talk.txt") != "" || h.read("state/search.db") != "" {
		t.Error("the characters are not as they were, or the index is")
	}
	if got, want := h.read("state/erasures"), "{\"id\":\"1\"}\n{\"id\":\"2\"}\n"; got != want {
		t.Errorf("the ledger has %q, want %q: what was erased since has to be erased again", got, want)
	}
	if len(put.Aside) != 2 || len(put.Same) != 1 {
		t.Errorf("%+v", put)
	}
	for _, aside := range put.Aside {
		if _, err := os.Stat(aside); err != nil {
			t.Error(err)
		}
	}

	j := h.open() // forget names copies in its receipt, and deletes them where an admin says so
	if copies, err := j.Copies(); err != nil || len(copies) != 1 || !strings.Contains(copies[0], "companiond.db.before-") {
		t.Errorf("copies of the journal: %q %v", copies, err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}

	// One part alone.
	h.write("characters/aya.talk.txt", "newer")
	if _, err := h.back(h.path("b.tar.gz"), force, func(b *Back) { b.Only = []string{Characters} }); err != nil || h.read("characters/aya.talk.txt") != "old" {
		t.Errorf("the characters alone: %v", err)
	}
	if _, err := h.back(h.path("b.tar.gz"), func(b *Back) { b.Only = []string{Tokens} }); err == nil || !strings.Contains(err.Error(), "has no tokens") {
		t.Errorf("what is not in it: %v", err)
	}
}

// TestConfigurationSaysWhere puts the journal where the configuration of the backup has it.
func TestConfigurationSaysWhere(t *testing.T) {
	h := newHome(t)
	h.talk("main", "one")
	h.write("companiond.toml", "")
	h.write("elsewhere.toml", "[journal]\npath = \"far/away.db\"\n")
	if _, err := h.save("b.tar.gz", func(o *Options) { o.ConfigFile = h.path("elsewhere.toml") }); err != nil {
		t.Fatal(err)
	}
	other := newHome(t)
	if _, err := other.back(h.path("b.tar.gz")); err != nil {
		t.Fatal(err)
	}
	if got := other.files(); !slices.Equal(got, []string{"companiond.toml", "far/away.db"}) {
		t.Errorf("%q", got)
	}
}

// archive writes one by hand. A file whose name begins with - is a link; its text is where to.
func archive(t *testing.T, path string, v int, files ...[2]string) {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	w := tar.NewWriter(zip)
	m := Manifest{V: v, Made: time.Now(), By: "test"}
	add := func(name, text string) {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(text)), Mode: 0o600}
		if link, is := strings.CutPrefix(name, "-"); is {
			h = &tar.Header{Typeflag: tar.TypeSymlink, Name: link, Linkname: text}
			text = ""
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range files {
		add(f[0], f[1])
		sum := sha256.Sum256([]byte(f[1]))
		m.Files = append(m.Files, File{Name: f[0], Size: int64(len(f[1])), Mode: 0o600, SHA256: hex.EncodeToString(sum[:])})
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	add(manifestFile, string(text))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestHostile refuses archives that would lie elsewhere, and those that are none.
func TestHostile(t *testing.T) {
	for name, c := range map[string]struct {
		v     int
		files [][2]string
		want  string
	}{
		"up":          {1, [][2]string{{"journal.db", "x"}, {"characters/../../evil", "x"}}, "lie elsewhere"},
		"absolute":    {1, [][2]string{{"journal.db", "x"}, {"/etc/evil", "x"}}, "lie elsewhere"},
		"backslash":   {1, [][2]string{{"journal.db", "x"}, {`characters/..\..\evil`, "x"}}, "lie elsewhere"},
		"link":        {1, [][2]string{{"journal.db", "x"}, {"-characters/a", "/etc"}}, "no file"},
		"twice":       {1, [][2]string{{"journal.db", "x"}, {"characters/A", "x"}, {"characters/a", "x"}}, "twice"},
		"unknown":     {1, [][2]string{{"journal.db", "x"}, {"else", "x"}}, "none of a backup"},
		"newer":       {2, [][2]string{{"journal.db", "x"}}, "newer companiond"},
		"no journal":  {1, [][2]string{{"companiond.toml", ""}}, "no journal"},
		"no database": {1, [][2]string{{"journal.db", "no database at all"}}, "nothing was changed"},
	} {
		h := newHome(t)
		archive(t, h.path("b.tar.gz"), c.v, c.files...)
		if _, err := h.back(h.path("b.tar.gz"), force); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if got := h.files(); !slices.Equal(got, []string{"b.tar.gz"}) {
			t.Errorf("%s: there are %q", name, got)
		}
	}
}

// TestCutAndChanged refuses each beginning of an archive, and takes nothing else out of one in which a byte is another.
func TestCutAndChanged(t *testing.T) {
	h := newHome(t)
	h.write("characters/aya.talk.txt", strings.Repeat("hello ", 100))
	h.talk("main", "one")
	if _, err := h.save("b.tar.gz"); err != nil {
		t.Fatal(err)
	}
	whole := []byte(h.read("b.tar.gz"))
	other := newHome(t)
	cut := other.path("cut.tar.gz")
	try := func(b []byte) error {
		if err := os.WriteFile(cut, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := other.back(cut)
		return err
	}
	passed := 0
	for n := 0; n < len(whole); n += max(1, len(whole)/60) {
		if try(whole[:n]) == nil {
			t.Fatalf("%d of %d bytes were restored", n, len(whole))
		}
		b := bytes.Clone(whole)
		b[n] ^= 0x20
		if err := try(b); err == nil {
			passed++ // a bit of gzip's that means nothing
			if other.read("characters/aya.talk.txt") != h.read("characters/aya.talk.txt") || !slices.Equal(other.said("main"), []string{"one"}) {
				t.Errorf("byte %d of %d is another, and something else was restored", n, len(whole))
			}
			for _, part := range []string{"state", "characters"} {
				if err := os.RemoveAll(filepath.Join(other.dir, part)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	t.Logf("%d changes mean nothing", passed)
	if passed > 5 {
		t.Error("hardly a change was noticed")
	}
	if err := try(whole); err != nil {
		t.Error(err)
	}
}
