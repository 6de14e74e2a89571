// Package scaffold writes a new character's folder: a small character that
// works, its test, and a copy of the SDK, so that the folder builds by itself
// and without the network.
//
// It never touches a folder that is already there, and it builds nothing.
package scaffold

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
)

//go:embed template/*
var templates embed.FS

// Import paths in the house, replaced by those in the maker's module.
const (
	houseSDK = "github.com/companiond/companiond/sdk/go"
	houseABI = "github.com/companiond/companiond/abi"
	module   = "example.com/" // followed by the name
)

// Character writes the folder dir/name and gives the files it wrote, as paths
// below dir. It refuses a folder that exists and a name that cannot be a
// companion's id or a Go module's; errors are [*abi.Error] for the latter.
func Character(dir, name string) ([]string, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	files, err := contents(name)
	if err != nil {
		return nil, err
	}
	root := filepath.Join(dir, name)
	if err := os.Mkdir(root, 0o755); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil, abi.Errorf(abi.CodeConflict, "%s is already there; nothing was written", root)
		}
		return nil, fmt.Errorf("make folder: %w", err)
	}
	var written []string
	for _, f := range files {
		at := filepath.Join(root, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return written, fmt.Errorf("make folder: %w", err)
		}
		if err := os.WriteFile(at, f.data, 0o644); err != nil {
			return written, fmt.Errorf("write file: %w", err)
		}
		written = append(written, path.Join(name, f.name))
	}
	return written, nil
}

// Build is the line that makes a character's module, in its folder.
func Build(name string) string {
	return "GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o " + name + ".wasm ."
}

// file is one file to write, its name below the character's folder.
type file struct {
	name string
	data []byte
}

// contents makes all files in memory, so that a fault leaves nothing behind.
func contents(name string) ([]file, error) {
	var files []file
	for _, part := range []struct {
		from embed.FS
		to   string
	}{{companion.Source, "companion"}, {abi.Source, "abi"}} {
		copied, err := sources(part.from, part.to, module+name)
		if err != nil {
			return nil, err
		}
		files = append(files, copied...)
	}
	own, err := fs.ReadDir(templates, "template")
	if err != nil {
		return nil, fmt.Errorf("read templates: %w", err)
	}
	for _, e := range own {
		b, err := templates.ReadFile("template/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("read template: %w", err)
		}
		text := strings.NewReplacer("BUILD", Build(name), "NAME", name, "TITLE", title(name)).Replace(string(b))
		as := strings.TrimSuffix(e.Name(), ".txt")
		if as == "gitignore" {
			as = ".gitignore"
		}
		files = append(files, file{as, []byte(rewrite(text, module+name))})
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files, nil
}

// sources copies Go files with their imports rewritten. Tests stay at home, and
// so does source.go, which is there only for this.
func sources(from embed.FS, to, mod string) (files []file, err error) {
	err = fs.WalkDir(from, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(name, "_test.go") || name == "source.go" {
			return err
		}
		b, err := from.ReadFile(name)
		if err != nil {
			return err
		}
		files = append(files, file{path.Join(to, name), []byte(rewrite(string(b), mod))})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the SDK: %w", err)
	}
	return files, nil
}

// rewrite points imports of the house into the maker's module.
func rewrite(text, mod string) string {
	return strings.NewReplacer(houseSDK, mod+"/companion", houseABI, mod+"/abi").Replace(text)
}

// title is the name people see: the first letter in upper case.
func title(name string) string { return strings.ToUpper(name[:1]) + name[1:] }
