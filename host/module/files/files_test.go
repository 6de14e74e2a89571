package files_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/files"
	"github.com/companiond/companiond/host/module/prompt"
	"github.com/companiond/companiond/host/module/script"
	"github.com/companiond/companiond/sdk/scaffold"
)

const good, better = `{"name": "Mio"}`, `{"name": "Mio", "language": "ja"}`

// newStore is a store of a new folder, outside of which there is a file, too.
func newStore(t *testing.T) (s *files.Store, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "characters")
	put(t, filepath.Join(dir, "..", "outside.json"), good)
	return storeOf(dir), dir
}

func storeOf(dir string) *files.Store {
	return files.New(files.Config{Dir: dir, Engines: []module.Engine{prompt.New(prompt.Config{}), &script.Engine{}}, Taken: func() []string { return []string{"lamp"} }})
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o664); err != nil {
		t.Fatal(err)
	}
}

// on gives all that is on the disk below a folder.
func on(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all = append(all, name+"="+string(text))
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

// TestLife: a file is made, read, changed, deleted and brought back, and each time what it was is beside it.
func TestLife(t *testing.T) {
	s, dir := newStore(t)
	if all, readOnly, err := s.List(); err != nil || readOnly != nil || len(all) != 0 {
		t.Fatalf("%v %v %v", all, readOnly, err) // the folder is not there yet
	}
	hash, err := s.Save(t.Context(), "mio.json", good, "")
	if err != nil || on(t, dir) != "mio.json="+good {
		t.Fatalf("%v: %s", err, on(t, dir))
	}
	f, err := s.Read("mio.json", false)
	if err != nil || f.Text != good || f.Hash != hash || f.ID != "mio" || f.Kind != files.Card {
		t.Fatalf("%+v %v", f, err)
	}
	if _, err := s.Read("mio.json", true); abi.CodeOf(err) != abi.CodeNotFound {
		t.Fatal(err)
	}
	next, err := s.Save(t.Context(), "mio.json", better, hash)
	if err != nil || on(t, dir) != "mio.json="+better+" mio.json~="+good {
		t.Fatalf("%v: %s", err, on(t, dir))
	}
	if was, err := s.Read("mio.json", true); err != nil || was.Text != good || was.Name != "mio.json" {
		t.Fatalf("%+v %v", was, err)
	}
	if same, err := s.Save(t.Context(), "mio.json", better, next); err != nil || same != next || on(t, dir) != "mio.json="+better+" mio.json~="+good {
		t.Fatalf("a save that changes nothing: %v: %s", err, on(t, dir))
	}
	if err := s.Delete("mio.json", next); err != nil || on(t, dir) != "mio.json~="+better {
		t.Fatalf("%v: %s", err, on(t, dir))
	}
	all, _, err := s.List()
	if err != nil || len(all) != 1 || !all[0].Deleted || !all[0].Before || all[0].Name != "mio.json" {
		t.Fatalf("%+v %v", all, err)
	}
	if _, err := s.Save(t.Context(), "mio.json", better, ""); err != nil || on(t, dir) != "mio.json="+better+" mio.json~="+better {
		t.Fatalf("%v: %s", err, on(t, dir))
	}
}

// TestConflicts: nothing takes the place of what its editor had not seen.
func TestConflicts(t *testing.T) {
	s, dir := newStore(t)
	hash, err := s.Save(t.Context(), "mio.json", good, "")
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "mio.json"), `{"name": "Mia"}`)
	before := on(t, dir)
	for what, do := range map[string]func() error{
		"save":        func() error { _, err := s.Save(t.Context(), "mio.json", better, hash); return err },
		"save anew":   func() error { _, err := s.Save(t.Context(), "mio.json", better, ""); return err },
		"delete":      func() error { return s.Delete("mio.json", hash) },
		"save a gone": func() error { _, err := s.Save(t.Context(), "gone.json", better, hash); return err },
	} {
		if err := do(); abi.CodeOf(err) != abi.CodeConflict || on(t, dir) != before {
			t.Errorf("%s: %v: %s", what, err, on(t, dir))
		}
	}
}

// TestNames: only files of characters, directly in the folder, under names that can be told apart.
func TestNames(t *testing.T) {
	s, dir := newStore(t)
	put(t, filepath.Join(dir, "mio.json"), good)
	if err := os.MkdirAll(filepath.Join(dir, "natsumi"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "aya.wasm"), []byte("\x00asm"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := on(t, filepath.Dir(dir))
	for _, name := range []string{
		"", ".", "..", ".json", "../outside.json", "..\\outside.json", "/etc/x.json", "sub/x.json", "natsumi/main.ts", "x.json\x00", "C:x.json", "x.json:s",
		"x.wasm", "x.json~", "x.JSON", "x.d.ts", ".x.json", "con.json", "CON.talk.txt", "lpt1.js", "a b.json", "x\u202e.json", "companiond.toml", ".companiond-1.tmp",
		"mío/../../outside.json", strings.Repeat("x", 70) + ".json",
	} {
		_, err := s.Save(t.Context(), name, good, "")
		_, readErr := s.Read(name, false)
		if abi.CodeOf(err) != abi.CodeInvalid || abi.CodeOf(readErr) != abi.CodeInvalid || abi.CodeOf(s.Delete(name, "x")) != abi.CodeInvalid {
			t.Errorf("%q: %v, %v", name, err, readErr)
		}
	}
	for name, code := range map[string]abi.Code{
		"mio.talk.txt": abi.CodeInvalid, "Mio.json": abi.CodeConflict, "MIO.talk.txt": abi.CodeInvalid, "mіo.json": abi.CodeInvalid, // the latter with a Cyrillic letter
		"lamp.json": abi.CodeInvalid, "natsumi.json": abi.CodeInvalid, "aya.json": abi.CodeInvalid,
	} {
		text := good
		if strings.HasSuffix(name, ".txt") {
			text = "name: X\n[*]\ngreet: hi\n"
		}
		if _, err := s.Save(t.Context(), name, text, ""); abi.CodeOf(err) != code {
			t.Errorf("%q: %v", name, err)
		}
	}
	if after := on(t, filepath.Dir(dir)); after != before {
		t.Errorf("%s\nwas\n%s", after, before)
	}
}

// TestLinks: what a link leads to is neither read nor changed, and neither is it by one that the folder's other files are.
func TestLinks(t *testing.T) {
	s, dir := newStore(t)
	put(t, filepath.Join(dir, "mio.json"), good)
	outside := filepath.Join(dir, "..", "outside.json")
	for name, to := range map[string]string{"out.json": outside, "in.json": "mio.json", "nowhere.json": "gone", "mio.json~": outside} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip("no links here: ", err)
		}
	}
	hash := hashOf(t, s, "mio.json")
	for _, name := range []string{"out.json", "in.json", "nowhere.json"} {
		if f, err := s.Read(name, false); abi.CodeOf(err) != abi.CodeInvalid || f.Text != "" {
			t.Errorf("%s: %+v %v", name, f, err)
		}
		for _, expected := range []string{"", hash} {
			if _, err := s.Save(t.Context(), name, better, expected); err == nil {
				t.Errorf("%s was saved", name)
			}
		}
		if err := s.Delete(name, hash); err == nil {
			t.Errorf("%s was deleted", name)
		}
	}
	if all, _, _ := s.List(); len(all) != 1 || all[0].Before {
		t.Errorf("%+v", all)
	}
	if _, err := s.Read("mio.json", true); abi.CodeOf(err) != abi.CodeInvalid {
		t.Error(err)
	}
	if _, err := s.Save(t.Context(), "mio.json", better, hash); err != nil {
		t.Error(err)
	}
	if text, _ := os.ReadFile(outside); string(text) != good {
		t.Errorf("outside is %s", text)
	}
	if info, err := os.Lstat(filepath.Join(dir, "mio.json~")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("%v %v", info, err)
	}
}

func hashOf(t *testing.T, s *files.Store, name string) string {
	t.Helper()
	f, err := s.Read(name, false)
	if err != nil {
		t.Fatal(err)
	}
	return f.Hash
}

// TestMistakes: what is wrong with a text is told with its lines, and nothing changes.
func TestMistakes(t *testing.T) {
	s, dir := newStore(t)
	put(t, filepath.Join(dir, "mio.json"), good)
	hash, before := hashOf(t, s, "mio.json"), on(t, dir)
	for _, c := range []struct {
		name, text string
		want       []files.Problem
	}{
		{"mio.json", "{\n  \"name\": 3,\n  \"talkativeness\": 2\n}", []files.Problem{{Line: 2, Path: "name"}, {Line: 3, Path: "talkativeness"}}},
		{"mio.json", "{\n  \"name\": \"Mio\"\n", []files.Problem{{Line: 3, Column: 1}}},
		{"mio.json", `{"id": "kyoko", "name": "Mio"}`, []files.Problem{{}}},
		{"mio.json", " \n", []files.Problem{{}}},
		{"new.talk.txt", "name: X\nlang: xx\n[*]\nnonsense: hi\n", []files.Problem{{Line: 2}, {Line: 4}}},
	} {
		_, err := s.Save(t.Context(), c.name, c.text, hash)
		var r *files.Refused
		if !errors.As(err, &r) || abi.CodeOf(err) != abi.CodeInvalid || len(r.Problems) != len(c.want) {
			t.Errorf("%s %s: %v", c.name, c.text, err)
			continue
		}
		for i, p := range r.Problems {
			if w := c.want[i]; p.Line != w.Line || p.Column != w.Column || p.Path != w.Path || p.Text == "" || strings.Contains(p.Text, c.name+":") {
				t.Errorf("%s %s: %+v, want %+v", c.name, c.text, p, w)
			}
		}
	}
	if _, err := s.Save(t.Context(), "mio.json", strings.Repeat(" ", files.Max+1), hash); abi.CodeOf(err) != abi.CodeTooLarge {
		t.Error(err)
	}
	if err := s.Check(t.Context(), "mia.js", "x"); abi.CodeOf(err) != abi.CodeInvalid {
		t.Error(err) // there is no engine of JavaScript here
	}
	if after := on(t, dir); after != before {
		t.Errorf("%s\nwas\n%s", after, before)
	}
}

// TestSamples: the characters that makers begin with have no mistake.
func TestSamples(t *testing.T) {
	s, _ := newStore(t)
	for _, lang := range []scaffold.Lang{scaffold.Card, scaffold.Talk} {
		for _, o := range []scaffold.One{{Name: "mio", Lang: lang}, {Name: "みお", Lang: lang, Ja: true}} {
			text, err := o.Text()
			if err == nil {
				err = s.Check(t.Context(), o.File(), text)
			}
			if err != nil {
				t.Errorf("%+v: %v", o, err)
			}
		}
	}
}

// panics is an engine that falls over a text.
type panics struct{ module.Engine }

func (panics) Name() string                     { return "panics" }
func (panics) Match(file string) (string, bool) { return strings.CutSuffix(file, ".js") }
func (panics) Load(context.Context, module.Source) (module.Module, error) {
	panic("over the text")
}

// TestEngines: one that panics refuses.
func TestEngines(t *testing.T) {
	s := files.New(files.Config{Dir: t.TempDir(), Engines: []module.Engine{panics{}}})
	if _, err := s.Save(t.Context(), "mio.js", "x", ""); err == nil || !strings.Contains(err.Error(), "panicked") {
		t.Error(err)
	}
}

// TestReadOnly: where the daemon may not write it is said at once, and what to do.
func TestReadOnly(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write anywhere")
	}
	s, dir := newStore(t)
	put(t, filepath.Join(dir, "mio.json"), good)
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	hash := hashOf(t, s, "mio.json")
	_, readOnly, _ := s.List()
	_, saved := s.Save(t.Context(), "mio.json", better, hash)
	for _, err := range []error{readOnly, saved, s.Delete("mio.json", hash)} {
		if abi.CodeOf(err) != abi.CodeDenied || !strings.Contains(err.Error(), "docs/SERVICE.md") {
			t.Error(err)
		}
	}
}

// TestRights: a file keeps its rights, and what others left behind is no file.
func TestRights(t *testing.T) {
	s, dir := newStore(t)
	put(t, filepath.Join(dir, "mio.json"), good)
	put(t, filepath.Join(dir, ".companiond-0.tmp"), "half")
	if err := os.Chmod(filepath.Join(dir, "mio.json"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Save(t.Context(), "mio.json", better, hashOf(t, s, "mio.json")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "mio.json"))
	if err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	all, _, err := s.List()
	if err != nil || !slices.ContainsFunc(all, func(f files.File) bool { return f.Name == "mio.json" && f.Before }) || len(all) != 1 {
		t.Errorf("%+v %v", all, err)
	}
}
