package models

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/companiond/companiond/host/config"
)

// maxKey is more than any vendor's key has.
const maxKey = 8 << 10

// readKey reads the file with a model's key, at each call, so that a new key
// needs no restart. The key is never part of an error.
func readKey(c config.Model, file func(string) (string, error)) (string, error) {
	if c.Key == "" {
		return "", nil
	}
	path, err := file(c.Key)
	if err != nil {
		return "", fmt.Errorf("model.%s.key: %w", c.Name, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("model.%s.key: %w", c.Name, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	key := strings.TrimSpace(string(b))
	switch {
	case err != nil:
		return "", fmt.Errorf("model.%s.key: %w", c.Name, err)
	case len(b) > maxKey:
		return "", fmt.Errorf("model.%s.key: %s is no file with a key: it has more than %d bytes", c.Name, path, maxKey)
	case key == "" || strings.ContainsAny(key, "\r\n\x00"):
		return "", fmt.Errorf("model.%s.key: %s must hold the key and nothing else, in one line", c.Name, path)
	}
	return key, nil
}
