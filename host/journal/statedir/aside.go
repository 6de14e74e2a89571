package statedir

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Aside copies a damaged database and its log into a folder beside it, unless
// they were copied as they are now, say at the last start: then it gives that
// copy. It drops the locks that this process has on the database, which only
// hold off tools: the lock of the directory stays.
func Aside(path string) (dir string, err error) {
	if dir, err = asideAlready(path); dir != "" || err != nil {
		return dir, err
	}
	dir = filepath.Join(filepath.Dir(path), "corrupt-"+Stamp())
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("create directory: %w", err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := copyFile(filepath.Join(dir, filepath.Base(path)+suffix), path+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("copy file: %w", err)
		}
	}
	return dir, nil
}

// asideAlready finds a copy of the damaged files; "" when there is none.
func asideAlready(path string) (string, error) {
	dirs, err := filepath.Glob(filepath.Join(filepath.Dir(path), "corrupt-*"))
	if err != nil || len(dirs) == 0 {
		return "", err
	}
	want, err := content(path)
	for _, dir := range dirs {
		var got []byte
		if err == nil {
			got, err = content(filepath.Join(dir, filepath.Base(path)))
		}
		if err != nil {
			return "", fmt.Errorf("compare with a copy: %w", err)
		}
		if bytes.Equal(got, want) {
			return dir, nil
		}
	}
	return "", nil
}

// content gives what stands for the bytes of a database and its log. The log's
// index, -shm, is made anew, and a missing file is like an empty one.
func content(path string) (sums []byte, err error) {
	for _, suffix := range []string{"", "-wal"} {
		h := sha256.New()
		f, err := os.Open(path + suffix)
		if err == nil {
			_, err = io.Copy(h, f)
			_ = f.Close()
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		sums = h.Sum(sums)
	}
	return sums, nil
}

// copyFile copies a file to a new one of mode 0600 and syncs it.
func copyFile(dst, src string) error {
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}
