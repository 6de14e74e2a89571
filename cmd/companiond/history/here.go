package history

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/search"
)

// here finds in the journal at a path while no daemon runs: with the index beside it, which is brought up to
// date, or read as it is where nothing can be written.
func (d Desk) here(ctx context.Context, path string, l looking) (f found, err error) {
	j, err := sqlite.OpenReadOnly(path)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	ask := search.Ask{Query: l.words, Room: l.room, From: l.from, Limit: l.n, Before: l.before}
	c := search.Config{Journal: j, Path: filepath.Join(filepath.Dir(path), search.File)}
	out, err := d.until(ctx, c, ask)
	if abi.CodeOf(err) == abi.CodeUnavailable {
		c.ReadOnly = true
		if read, rerr := d.until(ctx, c, ask); rerr == nil {
			out, err = read, nil
		}
	}
	if err != nil {
		return f, err
	}
	f = found{Hits: []hit{}, Next: out.Next, Behind: out.Behind}
	for _, h := range out.Hits {
		f.Hits = append(f.Hits, hit{h.Room, h.Message, h.Turn})
	}
	return f, nil
}

// until searches until the index is up to date.
func (d Desk) until(ctx context.Context, c search.Config, ask search.Ask) (out search.Answer, err error) {
	k := search.New(c)
	defer func() { err = errors.Join(err, k.Close()) }()
	told := time.Now()
	for {
		if out, err = k.Search(ctx, ask); err != nil || !out.Behind || c.ReadOnly {
			return out, err
		}
		if time.Since(told) > 2*time.Second {
			told = time.Now()
			fmt.Fprintln(d.Err, "companiond: the index of what was said is being made")
		}
	}
}
