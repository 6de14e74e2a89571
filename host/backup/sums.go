package backup

import (
	"crypto/sha256"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// summer sums files up.
type summer struct {
	part string
	have map[string]File
}

func (s summer) file(name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	s.have[name] = File{Name: name, SHA256: hexOf(sum)}
	return nil
}

func (s summer) folder(path string) error {
	return filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		if err != nil || at == path {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") { // none of a backup's
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		rel, err := filepath.Rel(path, at)
		if err != nil {
			return err
		}
		name := s.part + "/" + filepath.ToSlash(rel)
		if !d.Type().IsRegular() {
			s.have[name] = File{Name: name}
			return nil
		}
		return s.file(name, at)
	})
}
