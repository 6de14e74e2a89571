package knowledge_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/knowledge"
	"github.com/companiond/companiond/host/logtest"
)

// shelf makes a folder of characters with a document of aya's, and a secret beside it.
func shelf(t testing.TB, name, text string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	write(t, filepath.Join(dir, "aya", knowledge.Folder, name), text)
	write(t, filepath.Join(dir, "secret.txt"), "the key")
	write(t, filepath.Join(dir, "aya", "main.txt"), "no document")
	return dir
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDocuments(t *testing.T) {
	dir := shelf(t, "menu.md", "紅茶は 400 円")
	at := filepath.Join(dir, "aya", knowledge.Folder)
	write(t, filepath.Join(at, "b.txt"), "")
	write(t, filepath.Join(at, "photo.png"), "x")
	write(t, filepath.Join(at, ".hidden.md"), "x")
	write(t, filepath.Join(at, "sub", "deep.md"), "x")
	s := knowledge.New(dir, nil)
	k, err := s.Get("aya", abi.KnowledgeAsk{})
	if err != nil || len(k.Documents) != 2 || k.Documents[0] != (abi.Document{Name: "b.txt"}) || k.Documents[1] != (abi.Document{Name: "menu.md", Size: 17}) {
		t.Errorf("%+v %v", k, err)
	}
	if k, err := s.Get("aya", abi.KnowledgeAsk{Name: "menu.md"}); err != nil || k.Text != "紅茶は 400 円" || k.Next != 0 {
		t.Errorf("%+v %v", k, err)
	}
	write(t, filepath.Join(at, "menu.md"), "麦茶だけ") // it is read as it is by then
	if k, err := s.Get("aya", abi.KnowledgeAsk{Name: "menu.md"}); err != nil || k.Text != "麦茶だけ" {
		t.Errorf("%+v %v", k, err)
	}
	if k, err := s.Get("kyoko", abi.KnowledgeAsk{}); err != nil || len(k.Documents) != 0 {
		t.Errorf("of one without a folder: %+v %v", k, err)
	}
}

// TestNothingElseIsRead tries the ways out of the folder, and what is no document.
func TestNothingElseIsRead(t *testing.T) {
	dir := shelf(t, "menu.md", "tea")
	at := filepath.Join(dir, "aya", knowledge.Folder)
	for link, to := range map[string]string{"out.md": "../../secret.txt", "abs.txt": filepath.Join(dir, "secret.txt")} {
		if err := os.Symlink(to, filepath.Join(at, link)); err != nil {
			t.Fatal(err)
		}
	}
	pipe(t, filepath.Join(at, "pipe.txt"))
	write(t, filepath.Join(at, "sjis.txt"), "\x82\xa0")
	write(t, filepath.Join(at, "large.txt"), strings.Repeat("x", 1<<20+1))
	s := knowledge.New(dir, nil)
	for name, code := range map[string]abi.Code{
		"out.md": abi.CodeUnavailable, "abs.txt": abi.CodeUnavailable, "../main.txt": abi.CodeNotFound, "../../secret.txt": abi.CodeNotFound, "/etc/hostname.txt": abi.CodeNotFound,
		"pipe.txt": abi.CodeNotFound, ".": abi.CodeNotFound, "menu.MD": abi.CodeNotFound, "none.md": abi.CodeNotFound, "a\x00.md": abi.CodeUnavailable,
		"sjis.txt": abi.CodeInvalid, "large.txt": abi.CodeTooLarge,
	} {
		if k, err := s.Get("aya", abi.KnowledgeAsk{Name: name}); abi.CodeOf(err) != code || k.Text != "" {
			t.Errorf("%q: %+v %v", name, k, err)
		}
	}
	write(t, filepath.Join(dir, "far", "x.md"), "far")
	for link, to := range map[string]string{"rin": t.TempDir(), "mio/" + knowledge.Folder: t.TempDir(), "ken/" + knowledge.Folder: "/etc"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, link)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
		companion, _, _ := strings.Cut(link, "/")
		if k, err := s.Get(companion, abi.KnowledgeAsk{}); len(k.Documents) > 0 || companion != "rin" && abi.CodeOf(err) != abi.CodeUnavailable {
			t.Errorf("%s leads out: %+v %v", link, k, err)
		}
	}
	for _, companion := range []string{"..", "../aya", "", "aya/.."} {
		if _, err := s.Get(companion, abi.KnowledgeAsk{}); err == nil {
			t.Errorf("%q has a folder", companion)
		}
	}
	for _, a := range []abi.KnowledgeAsk{{Name: "menu.md", From: -1}, {Name: "menu.md", From: 4}, {Name: "menu.md", Limit: -1}, {Limit: abi.MaxKnowledge + 1}} {
		if _, err := s.Get("aya", a); abi.CodeOf(err) != abi.CodeInvalid {
			t.Errorf("%+v: %v", a, err)
		}
	}
	if k, err := s.Get("aya", abi.KnowledgeAsk{}); err != nil || len(k.Documents) != 1 || k.Documents[0].Name != "menu.md" {
		t.Errorf("listed: %+v %v", k, err)
	}
}

// TestUnreadable: a file that no model could read is not offered, and the log says once which one it is
// and what to do, until it is another.
func TestUnreadable(t *testing.T) {
	dir := shelf(t, "menu.md", "tea")
	at := filepath.Join(dir, "aya", knowledge.Folder)
	sjis := filepath.Join(at, "sjis.txt")
	write(t, sjis, "\x82\xa0")
	write(t, filepath.Join(at, "large.txt"), strings.Repeat("x", 1<<20+1))
	var log logtest.Log
	s := knowledge.New(dir, log.Logger())
	listed := func(want ...string) {
		t.Helper()
		k, err := s.Get("aya", abi.KnowledgeAsk{})
		var got []string
		for _, d := range k.Documents {
			got = append(got, d.Name)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("listed: %q %v, want %q", got, err, want)
		}
	}
	told := func(word string, want int) {
		t.Helper()
		if lines := log.Warnings(word); len(lines) != want {
			t.Errorf("the log has %d lines with %q, want %d:\n%s", len(lines), word, want, log.String())
		}
	}
	for range 3 {
		listed("menu.md")
	}
	told("file="+sjis, 1)
	told("save it as UTF-8", 1)
	told("make several documents of it", 1)
	write(t, sjis, "\x82\xa0\x82\xa2")
	listed("menu.md")
	told("file="+sjis, 2)
	write(t, sjis, "あ")
	listed("menu.md", "sjis.txt")
	told("file="+sjis, 2)
	// The same size again, and saved later.
	write(t, sjis, "\x82\xa0\x82")
	if err := os.Chtimes(sjis, time.Time{}, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	listed("menu.md")
	told("file="+sjis, 3)
	if err := os.RemoveAll(at); err != nil {
		t.Fatal(err)
	}
	listed()
	write(t, sjis, "あ")
	listed("sjis.txt")
	told("", 4)
}

// TestListedAtOnce: of lists that are asked for at the same time one tells the log.
func TestListedAtOnce(t *testing.T) {
	dir := shelf(t, "sjis.txt", strings.Repeat("\x82\xa0", 1<<18))
	var log logtest.Log
	s := knowledge.New(dir, log.Logger())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if k, err := s.Get("aya", abi.KnowledgeAsk{}); err != nil || len(k.Documents) != 0 {
				t.Errorf("%+v %v", k, err)
			}
		})
	}
	all.Wait()
	if lines := log.Warnings("sjis.txt"); len(lines) != 1 {
		t.Errorf("told %d times", len(lines))
	}
}

// TestParts: a document that is read part by part is whole, and each part is in whole letters.
func TestParts(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("aé茶🍵\n")), 0, 60, -1).Draw(r, "text")
		limit := rapid.IntRange(1, 9).Draw(r, "limit")
		s := knowledge.New(shelf(t, "d.md", text), nil)
		var got strings.Builder
		for from, parts := 0, 0; ; parts++ {
			k, err := s.Get("aya", abi.KnowledgeAsk{Name: "d.md", From: from, Limit: limit})
			if err != nil || strings.ToValidUTF8(k.Text, "") != k.Text || parts > len(text) {
				r.Fatalf("from %d: %+v %v", from, k, err)
			}
			got.WriteString(k.Text)
			if from = k.Next; from == 0 {
				break
			}
		}
		if got.String() != text {
			r.Fatalf("%q", got.String())
		}
	})
}
