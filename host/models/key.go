package models

import (
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/secret"
)

// readKey reads the file with a model's key, empty for a model without one.
func readKey(c config.Model, file func(string) (string, error)) (string, error) {
	if c.Key == "" {
		return "", nil
	}
	return secret.Read("model."+c.Name+".key", c.Key, file)
}
