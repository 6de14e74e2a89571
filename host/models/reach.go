package models

import (
	"cmp"
	"context"

	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/model"
)

// Reach looks whether the endpoint of a model answers, see [model.Reach]. file turns the setting of a key into a path.
func Reach(ctx context.Context, c config.Model, file func(string) (string, error)) (listed bool, err error) {
	return model.Reach(ctx, model.Config{
		Name: c.Name, API: c.API, URL: cmp.Or(c.URL, vendorURL(c.API)), Model: c.Model,
		Key: func() (string, error) { return readKey(c, file) },
	})
}
