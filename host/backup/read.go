package backup

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Bounds of an archive, far above what one has.
const (
	maxFiles    = 1 << 20
	maxManifest = 1 << 28
	maxConfig   = 1 << 24
)

// Archive is one that was read through and is whole.
type Archive struct {
	Manifest
	path   string
	config []byte // nil where it has none
}

// has says whether a part is in it.
func (a *Archive) has(part string) bool {
	for _, f := range a.Files {
		if f.part() == part {
			return true
		}
	}
	return false
}

// Inspect reads an archive through: that it is whole, that its files are as they were, and that none would lie elsewhere than where it says.
func Inspect(ctx context.Context, path string) (*Archive, error) {
	a := &Archive{path: path}
	var err error
	a.Manifest, err = read(ctx, path, func(f File, r io.Reader) error {
		if f.Name == configFile && f.Size <= maxConfig {
			a.config, err = io.ReadAll(r)
			return err
		}
		_, err := io.Copy(io.Discard, r)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if !a.has(Journal) {
		return nil, fmt.Errorf("%s has no journal: it is no backup of companiond", path)
	}
	return a, nil
}

// errCut is of an archive that has no end.
var errCut = errors.New("it is no backup of companiond, or was cut off: MANIFEST.json is not at its end")

// read calls each with the files of an archive, and compares them with what it says of itself.
func read(ctx context.Context, path string, each func(f File, r io.Reader) error) (m Manifest, err error) {
	f, err := os.Open(path)
	if err != nil {
		var perr *fs.PathError
		if errors.As(err, &perr) {
			err = perr.Err // the caller names it
		}
		return m, err
	}
	defer f.Close()
	zip, err := gzip.NewReader(bufio.NewReaderSize(f, 1<<16))
	if err != nil {
		return m, errors.New("it is no backup of companiond: companiond backup FILE makes one")
	}
	files, found := tar.NewReader(zip), map[string]File{}
	for {
		if err := ctx.Err(); err != nil {
			return m, err
		}
		h, err := files.Next()
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return m, errCut
		case err != nil:
			return m, fmt.Errorf("it is damaged: %w", err)
		case h.Name == manifestFile:
			if m, err = readManifest(files, h.Size); err != nil {
				return m, err
			}
			return m, cmp.Or(ended(files, zip), m.compare(found))
		}
		got, err := readFile(h, files, each)
		if err != nil {
			return m, err
		}
		if _, twice := found[fold(got.Name)]; twice || len(found) == maxFiles {
			return m, fmt.Errorf("it has %q twice, or too many files", got.Name)
		}
		found[fold(got.Name)] = got
	}
}

// ended reads to the end, where gzip has its sum, and says what is not as it should be there.
func ended(files *tar.Reader, zip io.Reader) error {
	if _, err := files.Next(); err == nil {
		return errors.New("it is damaged: there is more behind MANIFEST.json")
	} else if !errors.Is(err, io.EOF) {
		return errCut
	}
	if _, err := io.Copy(io.Discard, zip); err != nil {
		return fmt.Errorf("it is damaged, or was cut off: %w", err)
	}
	return nil
}

// fold is one name for those that some disks do not tell apart.
func fold(name string) string { return strings.ToLower(name) }

// readFile gives one file to each, and what was found of it.
func readFile(h *tar.Header, r io.Reader, each func(f File, r io.Reader) error) (File, error) {
	f := File{Name: h.Name, Size: h.Size, Mode: uint32(h.Mode) & 0o777}
	switch {
	case !fs.ValidPath(f.Name) || !filepath.IsLocal(filepath.FromSlash(f.Name)) || strings.ContainsAny(f.Name, "\\\x00"):
		return f, fmt.Errorf("it has a file %q, which would lie elsewhere: nothing is taken out of it", f.Name)
	case h.Typeflag != tar.TypeReg:
		return f, fmt.Errorf("%q in it is no file: nothing is taken out of it", f.Name)
	case f.part() == "":
		return f, fmt.Errorf("it has a file %q, which is none of a backup: a newer companiond may have made it", f.Name)
	}
	sum := sha256.New()
	err := each(f, io.TeeReader(r, sum))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errCut
	}
	f.SHA256 = hexOf(sum)
	return f, err
}

func readManifest(r io.Reader, size int64) (m Manifest, err error) {
	if size > maxManifest {
		return m, errors.New("it is damaged: MANIFEST.json is too long")
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return m, errCut
	}
	var v struct{ V int }
	if err := json.Unmarshal(b, &v); err != nil {
		return m, fmt.Errorf("it is damaged: MANIFEST.json: %w", err)
	}
	if v.V != version {
		return m, fmt.Errorf("it is a backup of version %d and this companiond reads %d: use the newer companiond", v.V, version)
	}
	return m, json.NewDecoder(bytes.NewReader(b)).Decode(&m)
}

// compare says what was found otherwise than the manifest has it.
func (m Manifest) compare(found map[string]File) error {
	if len(m.Files) != len(found) {
		return fmt.Errorf("it is damaged: it has %d files, and says that it has %d", len(found), len(m.Files))
	}
	for _, want := range m.Files {
		got, ok := found[fold(want.Name)]
		got.Mode = want.Mode
		if !ok || got != want {
			return fmt.Errorf("it is damaged: %s is not as it was", want.Name)
		}
	}
	return nil
}
