package models

import (
	"cmp"
	"context"

	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/model/reach"
)

// Reach looks whether the endpoint of a model answers, and lists it. file turns the setting of a key into a path.
func Reach(ctx context.Context, c config.Model, file func(string) (string, error)) (listed bool, err error) {
	key, err := readKey(c, file)
	if err != nil {
		return false, err
	}
	return reach.Endpoint{API: c.API, URL: cmp.Or(c.URL, vendorURL(c.API)), Model: c.Model, Key: key}.Ask(ctx)
}
