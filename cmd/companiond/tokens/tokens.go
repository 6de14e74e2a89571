// Package tokens keeps the file of tokens: it reads it whole, and adds to it, one writer at a time.
//
// It never changes or takes out a line that is there, and never sees a token: only what is left of one, its hash.
package tokens

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/companiond/companiond/host/identity"
)

// tokensHead begins a tokens file that the verb makes.
const tokensHead = "# Who may connect, a line each: NAME KIND SCOPES sha256:HEX. Made by companiond token.\n"

// lockWait is how long a companiond token waits for another one.
const lockWait = 2 * time.Second

// lockTokens keeps a tokens file to one writer, or a token that was shown could
// be missing from it.
func lockTokens(path string) (unlock func(), err error) {
	lock := path + ".lock"
	for end := time.Now().Add(lockWait); ; time.Sleep(10 * time.Millisecond) {
		f, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		switch {
		case err == nil:
			_ = f.Close()                              // it is empty
			return func() { _ = os.Remove(lock) }, nil // what stays is named by whoever meets it
		case !errors.Is(err, fs.ErrExist):
			return nil, fmt.Errorf("lock tokens: %w", err)
		case time.Now().After(end):
			return nil, fmt.Errorf("another companiond token is at work, or one was killed: if not, remove %s", lock)
		}
	}
}

// Append adds a holder to a tokens file, whole or not at all: the file
// with it is read first as the daemon will read it. The file itself stays, for it may
// belong to the user whom the daemon runs as.
func Append(path string, h identity.Holder) (err error) {
	if err := h.Check(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of tokens: %w", err)
	}
	unlock, err := lockTokens(path)
	if err != nil {
		return err
	}
	defer unlock()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open tokens: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	old, err := Read(f, path)
	if err != nil {
		return err
	}
	have, err := identity.Parse(path, old)
	if err == nil {
		err = have.Admit(h.Name, h.Kind)
	}
	if err != nil {
		return err
	}
	added := h.Line() + "\n"
	switch {
	case len(old) == 0:
		added = tokensHead + added
	case old[len(old)-1] != '\n':
		added = "\n" + added
	}
	if _, err := identity.Parse(path, append(old, added...)); err != nil {
		return err
	}
	_, err = f.WriteString(added)
	if err = errors.Join(err, f.Sync()); err != nil {
		return fmt.Errorf("write tokens: %w", errors.Join(err, f.Truncate(int64(len(old)))))
	}
	return nil
}

// maxTokens is the largest tokens file, far above what its holders need.
const maxTokens = 1 << 20

// Read reads a tokens file whole; path is for its errors.
func Read(f *os.File, path string) ([]byte, error) {
	src, err := io.ReadAll(io.LimitReader(f, maxTokens+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read tokens: %w", err)
	case len(src) > maxTokens:
		return nil, fmt.Errorf("read tokens: %s is larger than %d bytes: is it another file?", path, maxTokens)
	}
	return src, nil
}
