package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/companiond/companiond/abi"
)

// FindHouse looks for the source of companiond in folders and those above them, and gives the first that has it; empty: none has.
func FindHouse(folders ...string) string {
	for _, dir := range folders {
		at, err := filepath.Abs(dir)
		if err != nil {
			continue
		}
		for {
			if _, err := readHouse(at); err == nil {
				return at
			}
			above := filepath.Dir(at)
			if above == at {
				break
			}
			at = above
		}
	}
	return ""
}

// readHouse reads go.mod of the source of companiond.
func readHouse(dir string) ([]string, error) {
	b, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read companiond's source: %w", err)
	}
	lines := strings.Split(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n")
	if err != nil || strings.TrimSpace(lines[0]) != "module "+house {
		return nil, abi.Errorf(abi.CodeInvalid, "%s is no source of companiond: it has no go.mod of %s", dir, house)
	}
	return lines, nil
}

// build says how a program is built: with the source of companiond, and all that this needs, which go.mod has to list for
// go build to ask nobody. The file is go.sum.
func (w *words) build(root string) ([]file, error) {
	if w.House == "" {
		return nil, abi.Errorf(abi.CodeInvalid, "a program is built with the source of companiond, and no folder was given that has it")
	}
	at, err := filepath.Abs(w.House)
	if err != nil {
		return nil, fmt.Errorf("find companiond's source: %w", err)
	}
	lines, err := readHouse(at)
	if err != nil {
		return nil, err
	}
	sums, err := os.ReadFile(filepath.Join(at, "go.sum"))
	if err != nil {
		return nil, fmt.Errorf("read companiond's source: %w", err)
	}
	w.Talk = houseSDK + "/talk"
	w.Requires = []string{house + " v0.0.0"}
	for _, line := range lines {
		line, _, _ := strings.Cut(line, "//")
		switch f := strings.Fields(strings.TrimPrefix(line, "require ")); {
		case len(f) == 2 && f[0] == "go":
			w.Go = f[1]
		case len(f) == 2 && strings.Contains(f[0], "/") && strings.HasPrefix(f[1], "v"):
			w.Requires = append(w.Requires, f[0]+" "+f[1]+" // indirect")
		}
	}
	if w.Replace, err = replacement(root, at); err != nil {
		return nil, err
	}
	w.Origin = "`go.mod` builds it with the source of companiond in `" + w.Replace + "`, and downloads nothing that this has not."
	return []file{{"go.sum", sums}}, nil
}

// replacement is the path of the source of companiond as go.mod has it: below root where that lies in it, so that both can be
// moved, and whole elsewhere.
func replacement(root, at string) (string, error) {
	whole, err := filepath.Abs(root)
	if err != nil {
		return "", fmt.Errorf("find folder: %w", err)
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(whole)); err == nil { // go counts .. from where the folder really is
		whole = filepath.Join(real, filepath.Base(whole))
	}
	if real, err := filepath.EvalSymlinks(at); err == nil {
		at = real
	}
	to := at
	if rel, err := filepath.Rel(whole, at); err == nil && strings.Trim(filepath.ToSlash(rel), "./") == "" {
		to = filepath.ToSlash(rel)
	}
	if strings.ContainsAny(to, " \t\"'`()[]{},") || strings.Contains(to, "//") {
		to = strconv.Quote(to)
	}
	return to, nil
}
