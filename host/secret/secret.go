// Package secret reads files that hold one secret, such as the key of a language model or a password.
//
// It keeps nothing, and what a file holds is never part of an error.
package secret

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// most is more than any vendor's key has.
const most = 8 << 10

// Read gives what the file holds that the value of a setting names, by path, which turns that into a path. name is what the
// setting is called, with which errors begin. Files are read anew at each call, so that a new secret needs no restart.
func Read(name, value string, path func(value string) (string, error)) (string, error) {
	at, err := path(value)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if info, err := os.Stat(at); err == nil && !info.Mode().IsRegular() { // one that has no end, or never begins
		return "", fmt.Errorf("%s: %s is no regular file", name, at)
	}
	f, err := os.Open(at)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	text := strings.TrimSpace(string(b))
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", name, err)
	case len(b) > most:
		return "", fmt.Errorf("%s: %s is no file with a key: it has more than %d bytes", name, at, most)
	case text == "" || strings.ContainsAny(text, "\r\n\x00"):
		return "", fmt.Errorf("%s: %s must hold the key and nothing else, in one line", name, at)
	}
	return text, nil
}
