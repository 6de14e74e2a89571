package folder_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
	"github.com/companiond/companiond/host/module/moduletest"
)

func TestFind(t *testing.T) {
	engines := []module.Engine{&moduletest.Engine{Ext: ".js"}, &moduletest.Engine{Ext: ".sim.js"}, &moduletest.Engine{Ext: ".wasm"}}
	tests := []struct {
		name, files, id, before string
		shown, chosen, trouble  string
	}{
		{"a file", "aya.wasm", "aya", "", "aya.wasm", "aya.wasm", ""},
		{"other files", "aya.md aya.WASM aya README", "aya", "", "", "", ""},
		{"case as it is", "Aya.wasm", "aya", "", "", "", ""},
		{"the longest suffix", "aya.sim.js", "aya", "", "aya.sim.js", "aya.sim.js", ""},
		{"a suffix alone", ".wasm .js/a.js", "", "", "", "", ""},
		{"left by tools", ".aya.wasm aya.wasm~ aya.wasm.tmp aya.wasm-go-tmp-umask aya.wasm.swp", "aya", "", "", "", ""},
		{"a folder", "aya/aya.wasm aya/card.md", "aya", "", "aya/aya.wasm", "aya/aya.wasm", ""},
		{"a folder with one other name", "aya/main.js", "aya", "", "aya/main.js", "aya/main.js", ""},
		{"the folder's name wins", "aya/main.js aya/aya.wasm aya/x.wasm", "aya", "", "aya/aya.wasm", "aya/aya.wasm", ""},
		{"a dot in a name", "aya.v2.js", "aya.v2", "", "aya.v2.js", "aya.v2.js", ""},
		{"nothing in the folder", "aya/README aya/deep/aya.js", "aya", "", "", "", ""},
		{"hidden in the folder", "aya/.aya.js aya/aya.js~", "aya", "", "", "", ""},
		{"nothing says which", "aya/a.js aya/b.wasm", "aya", "", "aya/a.js aya/b.wasm", "", "2 files for one companion aya: aya/a.js and aya/b.wasm; keep one"},
		{"nothing says which name", "aya/aya.js aya/aya.wasm", "aya", "", "aya/aya.js aya/aya.wasm", "", "aya/aya.js and aya/aya.wasm"},
		{"one was first", "aya/a.js aya/b.wasm", "aya", "aya/b.wasm", "aya/a.js aya/b.wasm", "aya/b.wasm", "(aya/b.wasm counts)"},
		{"file and folder", "aya/aya.wasm aya.wasm", "aya", "", "aya.wasm aya/aya.wasm", "aya.wasm", "aya.wasm and aya/aya.wasm; keep one (aya.wasm counts)"},
		{"the folder was first", "aya/aya.wasm aya.wasm", "aya", "aya/aya.wasm", "aya.wasm aya/aya.wasm", "aya/aya.wasm", "(aya/aya.wasm counts)"},
		{"two kinds", "aya.wasm aya.js", "aya", "", "aya.js aya.wasm", "aya.js", "aya.js and aya.wasm"},
		{"NFD on disk", "か\u3099.js", "が", "", "か\u3099.js", "か\u3099.js", ""},
		{"NFD in a folder's file", "が/か\u3099.js が/x.js", "が", "", "が/か\u3099.js", "が/か\u3099.js", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for f := range strings.FieldsSeq(tt.files) {
				write(t, filepath.Join(dir, f), "x")
			}
			shown, chosen, trouble := folder.Sources(dir, engines, tt.id, tt.before)
			if got := strings.Join(shown, " "); got != tt.shown || chosen != tt.chosen {
				t.Errorf("finds %q and takes %q, want %q and %q", got, chosen, tt.shown, tt.chosen)
			}
			if (trouble == "") != (tt.trouble == "") || !strings.Contains(trouble, tt.trouble) {
				t.Errorf("trouble %q, want %q", trouble, tt.trouble)
			}
		})
	}
}

// yielding is an engine of files that others may be made of.
type yielding struct{ *moduletest.Engine }

func (yielding) Yields(to string) bool { return to != "card" }

// cards is an engine of files that nothing is made into.
type cards struct{ *moduletest.Engine }

func (cards) Name() string { return "card" }

// TestFindTwins: what yields to a file that it is not the source of is named beside it, and so it is where files are only looked at.
func TestFindTwins(t *testing.T) {
	engines := []module.Engine{&moduletest.Engine{Ext: ".wasm"}, cards{&moduletest.Engine{Ext: ".json"}}, yielding{&moduletest.Engine{Ext: ".ts", Entry: "main.ts"}}}
	for files, want := range map[string]string{
		"aya.ts aya.json":                    "2 files for one companion aya: aya.json and aya.ts; keep one (aya.json counts)",
		"aya.ts aya.json aya.wasm":           "3 files for one companion aya: aya.json and aya.wasm and aya.ts; keep one (aya.json counts)",
		"aya/main.ts aya.json":               "2 files for one companion aya: aya.json and aya; keep one (aya.json counts)",
		"aya/main.ts aya/aya.json":           "2 files for one companion aya: aya/aya.json and aya/main.ts; keep one (aya/aya.json counts)",
		"aya/main.ts aya/words.json":         "2 files for one companion aya: aya/words.json and aya/main.ts; keep one (aya/words.json counts)",
		"aya/main.ts aya/tsconfig.json":      "",
		"aya.ts aya.wasm":                    "",
		"aya/main.ts aya/aya.wasm aya/b.ts":  "",
		"aya/aya.json aya/words.ts":          "",
		"aya/main.ts aya/words.ts aya/tools": "",
	} {
		dir := t.TempDir()
		for f := range strings.FieldsSeq(files) {
			write(t, filepath.Join(dir, f), "x")
		}
		if got := strings.Join(folder.Twins(dir, engines...), "\n"); got != want {
			t.Errorf("%s: %q, want %q", files, got, want)
		}
	}
}

// TestFindYields: where there is what a file was made into, that counts, also in a folder that would be taken whole; what tools
// of JavaScript want beside it is no companion.
func TestFindYields(t *testing.T) {
	engines := []module.Engine{&moduletest.Engine{Ext: ".wasm"}, &moduletest.Engine{Ext: ".json"}, yielding{&moduletest.Engine{Ext: ".ts", Entry: "main.ts"}}}
	for files, want := range map[string]string{
		"aya.ts": "aya.ts", "aya.ts aya.wasm": "aya.wasm", "aya.ts aya/main.ts aya/build.wasm": "aya/build.wasm", "aya/aya.ts aya/aya.wasm": "aya/aya.wasm",
		"aya/main.ts aya/words.ts": "aya", "aya/main.ts aya/tsconfig.json aya/package.json": "aya", "aya/main.ts aya/aya.json": "aya/aya.json",
		"aya/aya.ts aya/package.json": "aya/aya.ts", "aya/a.ts aya/b.ts": "",
	} {
		dir := t.TempDir()
		for f := range strings.FieldsSeq(files) {
			write(t, filepath.Join(dir, f), "x")
		}
		if shown, chosen, trouble := folder.Sources(dir, engines, "aya", ""); chosen != want || (trouble == "") != (want != "") && files != "aya.ts aya/main.ts aya/build.wasm" {
			t.Errorf("%s: %q of %q, want %q (%s)", files, chosen, shown, want, trouble)
		}
	}
}

func TestFindFollowsLinks(t *testing.T) {
	engines := []module.Engine{&moduletest.Engine{Ext: ".js"}}
	dir, other := t.TempDir(), t.TempDir()
	write(t, filepath.Join(other, "a.js"), "x")
	for to, name := range map[string]string{filepath.Join(other, "a.js"): "aya.js", other: "kyoko", filepath.Join(other, "none"): "gone.js"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]string{"aya": "aya.js", "kyoko": "kyoko/a.js", "gone": ""} {
		if _, chosen, trouble := folder.Sources(dir, engines, id, ""); chosen != want || trouble != "" {
			t.Errorf("%s: %q, %q, want %q", id, chosen, trouble, want)
		}
	}
}

// TestTry: every file is tried, none is kept, and the mistakes of each are told.
func TestTry(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"aya.fake": `{"name":"Aya"}`, "ken.fake": `{"name":`, "empty.fake": "", "long.fake": `{"name":"` + strings.Repeat("a", 100) + `"}`,
		"mia/main.fake": `{"name":"Mia"}`, "other.wasm": "x",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	e := &moduletest.Engine{}
	var told []string
	err := folder.Try(t.Context(), dir, 50, nil, []module.Engine{e}, func(_, file string, m module.Module, err error) {
		switch {
		case err != nil:
			told = append(told, file+": "+string(abi.CodeOf(err)))
		default:
			told = append(told, file+" is "+m.Describe().Name)
		}
	})
	want := "aya.fake is Aya, empty.fake: invalid, ken.fake: invalid, long.fake: too_large, mia/main.fake is Mia"
	if got := strings.Join(told, ", "); got != want || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	var some []string
	err = folder.Try(t.Context(), dir, 50, []string{"aya", "nobody"}, []module.Engine{e}, func(id, _ string, _ module.Module, err error) {
		some = append(some, id)
	})
	if err != nil || !slices.Equal(some, []string{"aya"}) {
		t.Errorf("of some: %q, %v", some, err)
	}
	if e.Opened() != 3 || e.Closed() != 3 {
		t.Errorf("%d opened, %d closed", e.Opened(), e.Closed())
	}
	if err := folder.Try(t.Context(), filepath.Join(dir, "none"), 50, nil, []module.Engine{e}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}
