// Package replay is the verb that runs a journal through the rules again.
//
// It never asks the daemon and never writes: it reads the journal beside it.
package replay

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/room/reader"
)

// Desk is what the verb has to do with the outside.
type Desk struct {
	Out     io.Writer
	Journal func(config string) (path string, err error) // that a configuration names
	Parse   func(fs *flag.FlagSet, args []string, most int) (rest []string, err error)
	Failed  error // that something is not as it was, which was said
}

// Replay looks a journal through.
func (d Desk) Replay(ctx context.Context, fs *flag.FlagSet, args []string) (err error) {
	name := fs.String("room", "", "`name` of the room; every room when empty")
	path := fs.String("config", "", "configuration `file` that names the journal")
	rest, err := d.Parse(fs, args, 1)
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		at, err := d.Journal(*path)
		if err != nil {
			return err
		}
		rest = []string{at}
	}
	j, err := sqlite.OpenReadOnly(rest[0])
	if err != nil {
		return err
	}
	defer j.Close()
	rooms, err := Rooms(ctx, j)
	if err != nil {
		return err
	}
	if *name != "" {
		if !slices.Contains(rooms, *name) {
			return fmt.Errorf("room %q is not in %s, which has: %q", *name, rest[0], rooms)
		}
		rooms = []string{*name}
	}
	differ := false
	for _, name := range rooms {
		line, ok := replayed(ctx, j, name)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		differ = differ || !ok
		fmt.Fprintf(d.Out, "%s: %s\n", name, line)
	}
	if *name == "" {
		ok, err := d.verifyStreams(ctx, j)
		if err != nil {
			return err
		}
		differ = differ || !ok
	}
	if differ {
		return d.Failed
	}
	return nil
}

// replayed makes a room's decisions again, and says what came of it; ok is false where that is
// not what the journal has. Whatever is wrong with one room, the others are looked at all the same.
func replayed(ctx context.Context, j journal.Journal, name string) (line string, ok bool) {
	if bad, err := j.Verify(ctx, name, 0); err != nil {
		return fmt.Sprintf("cannot be read: %v", err), false
	} else if bad != 0 {
		return unfit(bad), false
	}
	r, err := reader.Replay(ctx, j, name)
	switch {
	case err != nil:
		return fmt.Sprintf("cannot be replayed: %v", err), false
	case r.Diff != nil:
		return fmt.Sprint(r.Diff), false
	}
	return found(r), true
}

func unfit(seq uint64) string {
	return fmt.Sprintf("entry %d does not fit its hash: the file was damaged or changed; restore a backup", seq)
}

// verifyStreams looks whether what stands beside the rooms is as it was written: nothing is
// decided there that could be decided again.
func (d Desk) verifyStreams(ctx context.Context, j journal.Journal) (ok bool, err error) {
	ok = true
	for r, err := range journal.AllStreams(ctx, j) {
		if err != nil {
			return false, err
		}
		switch bad, err := j.Verify(ctx, r.Name, 0); {
		case err != nil:
			return false, fmt.Errorf("%s: %w", r.Name, err)
		case bad != 0:
			ok = false
			fmt.Fprintf(d.Out, "%s: %s\n", r.Name, unfit(bad))
		default:
			fmt.Fprintf(d.Out, "%s: %d entries, which fit their hashes; nothing is decided there\n", r.Name, r.Head.Seq)
		}
	}
	return ok, nil
}

// Rooms gives the names of a journal's rooms.
func Rooms(ctx context.Context, j journal.Journal) (names []string, err error) {
	for r, err := range journal.AllRooms(ctx, j) {
		if err != nil {
			return nil, err
		}
		names = append(names, r.Name)
	}
	return names, nil
}

// found says what a replay without a difference did.
func found(r reader.Replayed) string {
	if n := len(r.Erased); n > 0 {
		runs := entry.ShowRuns(r.Erased, 10)
		r.Erased = nil
		return fmt.Sprintf("%s; %d lost words on somebody's word: %s", found(r), n, runs)
	}
	switch {
	case r.Folded == 0:
		return fmt.Sprintf("%d entries, no difference", r.Derived)
	case r.Derived == 0:
		return fmt.Sprintf("%d entries, read and not decided again: another version of the rules wrote them, or parts were taken out", r.Folded)
	}
	return fmt.Sprintf("%d entries, no difference; %d more only read, not decided again: another version of the rules wrote them, or parts were taken out", r.Derived, r.Folded)
}
