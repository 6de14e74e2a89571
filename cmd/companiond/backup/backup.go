// Package backup has the verbs that save all that is truth into one file, and put it back.
//
// It never asks the daemon: it reads the journal beside it, and writes only where none runs.
package backup

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/companiond/companiond/host/backup"
	"github.com/companiond/companiond/host/config"
)

// Desk is what the verbs have to do with the outside.
type Desk struct {
	Out, Err io.Writer
	Version  string
	// Load reads the configuration of a file; without mistakes, or they are the error.
	Load func(file string) (config.Config, error)
	// Named gives the configuration's file where -config says none.
	Named func(file string) string
	// Tokens gives the file of tokens, empty for none.
	Tokens func(config.Config) (string, error)
	Parse  func(fs *flag.FlagSet, args []string, most int) (rest []string, err error) // flags wherever they stand
	Usage  func(format string, args ...any) error                                     // an error of how it is called
}

// Backup writes a backup.
func (d Desk) Backup(ctx context.Context, fs *flag.FlagSet, args []string) error {
	path := fs.String("config", "", "configuration `file` of the daemon; default companiond.toml where there is one")
	force := fs.Bool("force", false, "replace a file that is there")
	tokens := fs.Bool("tokens", false, "take the file of tokens in, which has their hashes and who has them")
	raw := fs.Bool("json", false, "print JSON")
	rest, err := d.Parse(fs, args, 1)
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		return d.Usage("where to? companiond backup FILE, such as companiond backup companiond.tar.gz; with - for FILE it goes to standard output")
	}
	o := backup.Options{File: rest[0], ConfigFile: d.Named(*path), Force: *force, Version: d.Version}
	told := d.Out
	if o.File == "-" {
		o.File, o.Out, told = "", d.Out, d.Err
	}
	if o.Config, err = d.Load(*path); err != nil {
		return err
	}
	if *tokens {
		if o.Tokens, err = d.Tokens(o.Config); err != nil {
			return err
		}
		if o.Tokens == "" {
			return d.Usage("-tokens: the configuration names no file of tokens")
		}
	}
	made, err := backup.Write(ctx, o)
	if err != nil {
		return err
	}
	if *raw {
		return printJSON(told, made)
	}
	if o.File != "" {
		fmt.Fprintf(told, "%s: ", made.File)
	}
	fmt.Fprintf(told, "%d bytes, %d files; %d rooms with %d entries, which fit their hashes\n", made.Bytes, made.Files, made.Rooms, made.Entries)
	for _, left := range made.LeftOut {
		fmt.Fprintf(told, "not in it: %s\n", left)
	}
	return nil
}

// Restore puts a backup back.
func (d Desk) Restore(ctx context.Context, fs *flag.FlagSet, args []string) error {
	path := fs.String("config", "", "configuration `file` of the daemon; default companiond.toml")
	force := fs.Bool("force", false, "move aside what is there")
	only := fs.String("only", "", "`parts` to take out of the backup, with commas: "+strings.Join(backup.Parts(), ", ")+"; all when empty")
	raw := fs.Bool("json", false, "print JSON")
	rest, err := d.Parse(fs, args, 1)
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		return d.Usage("of what? companiond restore FILE, which companiond backup made")
	}
	b := backup.Back{File: rest[0], ConfigFile: d.Named(*path), Load: d.Load, Tokens: d.Tokens, Force: *force}
	if *only != "" {
		b.Only = strings.Split(*only, ",")
		for _, part := range b.Only {
			if !slices.Contains(backup.Parts(), part) {
				return d.Usage("-only: %q is no part, have: %s", part, strings.Join(backup.Parts(), ", "))
			}
		}
	}
	put, err := b.Restore(ctx)
	if err != nil {
		return err
	}
	if *raw {
		return printJSON(d.Out, put)
	}
	for _, at := range put.Restored {
		fmt.Fprintf(d.Out, "put back: %s\n", at)
	}
	for _, at := range put.Same {
		fmt.Fprintf(d.Out, "is as it was: %s\n", at)
	}
	for _, at := range put.Aside {
		fmt.Fprintf(d.Out, "what was there: %s\n", at)
	}
	fmt.Fprintf(d.Out, "from a backup of %s by companiond %s", put.Made, put.By)
	if put.Rooms > 0 {
		fmt.Fprintf(d.Out, "; %d rooms with %d entries, which fit their hashes", put.Rooms, put.Entries)
	}
	_, err = fmt.Fprintln(d.Out)
	return err
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
