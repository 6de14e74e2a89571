package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/sdk/scaffold"
)

func newVerb(t *term, _ context.Context, args []string) error {
	fs := t.flags("new")
	dir := fs.String("dir", "characters", "`folder` to write it into")
	rest, err := parse(fs, args)
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
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(rest) > 1 {
		return unexpected(rest[1:])
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
	heads, err := j.Rooms(ctx)
	if err != nil {
		return err
	}
	rooms := slices.Sorted(maps.Keys(heads))
	if *name != "" {
		if _, ok := heads[*name]; !ok {
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
		n, diff, err := room.Replay(ctx, j, name)
		switch {
		case err != nil:
			return fmt.Errorf("room %s: %w", name, err)
		case diff != nil:
			differ = true
			fmt.Fprintf(t.out, "%s: %v\n", name, diff)
		default:
			fmt.Fprintf(t.out, "%s: %d entries, no difference\n", name, n)
		}
	}
	if differ {
		return coded{exitFailed, nil}
	}
	return nil
}
