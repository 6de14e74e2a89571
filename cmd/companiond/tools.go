package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/sdk/scaffold"
)

func newVerb(t *term, _ context.Context, args []string) error {
	fs := t.flags("new")
	dir := fs.String("dir", "characters", "`folder` to write it into")
	rest, err := parse(fs, args, many)
	if err != nil {
		return err
	}
	switch {
	case len(rest) != 2:
		return usage("companiond new character NAME")
	case rest[0] != "character":
		return usage("%q is nothing that can be made; did you mean companiond new character %s? (companiond new character NAME)", rest[0], rest[1])
	}
	if err := os.MkdirAll(*dir, 0o755); err != nil {
		return err
	}
	files, err := scaffold.Character(*dir, rest[1])
	if err != nil {
		return err
	}
	for _, f := range files {
		fmt.Fprintln(t.out, filepath.Join(*dir, filepath.FromSlash(f)))
	}
	fmt.Fprintf(t.out, "\nBuild it:\n\n  cd %s\n  %s\n", filepath.Join(*dir, rest[1]), scaffold.Build(rest[1]))
	return nil
}

func replayVerb(t *term, ctx context.Context, args []string) (err error) {
	fs := t.flags("replay")
	name := fs.String("room", "", "`name` of the room; every room when empty")
	path := fs.String("config", "", "configuration `file` that names the journal")
	rest, err := parse(fs, args, 1)
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		cfg, _, err := t.load(*path)
		if err != nil {
			return err
		}
		rest = []string{cfg.Journal.Path}
	}
	j, err := sqlite.OpenReadOnly(rest[0])
	if err != nil {
		return err
	}
	defer j.Close()
	rooms, err := roomsOf(ctx, j)
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
		if bad, err := j.Verify(ctx, name, 0); err != nil {
			return fmt.Errorf("room %s: %w", name, err)
		} else if bad != 0 {
			differ = true
			fmt.Fprintf(t.out, "%s: entry %d does not fit its hash: the file was damaged or changed; restore a backup\n", name, bad)
			continue
		}
		r, err := reader.Replay(ctx, j, name)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil: // the others are looked at all the same
			differ = true
			fmt.Fprintf(t.out, "%s: cannot be replayed: %v\n", name, err)
		case r.Diff != nil:
			differ = true
			fmt.Fprintf(t.out, "%s: %v\n", name, r.Diff)
		default:
			fmt.Fprintf(t.out, "%s: %s\n", name, found(r))
		}
	}
	if differ {
		return coded{exitFailed, nil}
	}
	return nil
}

// roomsOf gives the names of a journal's rooms.
func roomsOf(ctx context.Context, j journal.Journal) (names []string, err error) {
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
	switch {
	case r.Folded == 0:
		return fmt.Sprintf("%d entries, no difference", r.Derived)
	case r.Derived == 0:
		return fmt.Sprintf("%d entries, read and not decided again: another version of the rules wrote them, or parts were taken out", r.Folded)
	}
	return fmt.Sprintf("%d entries, no difference; %d more only read, not decided again: another version of the rules wrote them, or parts were taken out", r.Derived, r.Folded)
}
