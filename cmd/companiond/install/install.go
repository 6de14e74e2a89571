// Package install has the verb service: where nobody has installed a package, it has the service manager of the machine start
// companiond, systemd's or launchd, and takes that back.
//
// It never changes or removes a file that it did not write itself, and never touches characters, settings that are there, or a journal.
package install

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Desk is what the verb has to do with the outside.
type Desk struct {
	Out io.Writer
	// OS is the system's name, as Go has it; UID who runs this.
	OS  string
	UID int
	// Exe is the program, Dir the folder where this was typed, Home the user's own, Config where their settings are, as
	// XDG_CONFIG_HOME says it, or empty. All are absolute.
	Exe, Dir, Home, Config string
	// Root is put before each path that is looked at or written; empty but in tests.
	Root string
	// Run runs a program, whose words go to the terminal.
	Run func(ctx context.Context, command ...string) error
	// Parse reads flags, and leaves up to most arguments.
	Parse func(fs *flag.FlagSet, args []string, most int) (rest []string, err error)
	// Usage makes the error of whoever typed something that the verb does not take.
	Usage func(format string, args ...any) error
}

// mark is in each file that this package writes and may overwrite and remove.
const mark = "Written by `companiond service install`; `companiond service remove` takes it away."

// file is one that is written. One that is kept belongs to people once it is there.
type file struct {
	path, text string
	mode       fs.FileMode
	kept       bool
}

// plan is what installing does, in this order, and what removing takes back.
type plan struct {
	asks    []string // a command that fails where there is no service manager to be asked
	files   []file
	starts  [][]string
	stops   [][]string
	forgets [][]string // when the files are gone
	tells   string     // what there is to know, for people
}

// Service installs or removes.
func (d Desk) Service(ctx context.Context, fs *flag.FlagSet, args []string) error {
	settings := fs.String("config", "", "configuration `file`; default companiond.toml in this folder, and with -system /etc/companiond/companiond.toml")
	system := fs.Bool("system", false, "for the machine, and not for yourself: from its start on, as a user of its own; wants root")
	dry := fs.Bool("dry-run", false, "show what would be written and run, and do nothing")
	rest, err := d.Parse(fs, args, 1)
	if err != nil {
		return err
	}
	if len(rest) == 0 || rest[0] != "install" && rest[0] != "remove" {
		return d.Usage("companiond service install, or companiond service remove?")
	}
	p, err := d.plan(*settings, *system, rest[0] == "install")
	switch {
	case err != nil:
		return err
	case *dry:
		return d.show(p, rest[0])
	case rest[0] == "remove":
		return d.remove(ctx, p)
	}
	return d.install(ctx, p)
}

// plan makes the plan of the system that this is. Where it is for removing, it need not be possible to install.
func (d Desk) plan(settings string, system, fresh bool) (plan, error) {
	switch {
	case d.OS == "linux" && system:
		return d.systemWide(settings, fresh)
	case d.OS == "linux":
		return d.systemdUser(settings, fresh)
	case system:
		return plan{}, d.Usage("-system is for systemd, on Linux alone")
	case d.OS == "darwin":
		return d.launchd(settings, fresh)
	}
	return plan{}, d.elsewhere(settings)
}

// here gives the settings of whoever installs the service for themselves.
func (d Desk) here(settings string, fresh bool) (string, error) {
	path := settings
	if path == "" {
		path = "companiond.toml"
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(d.Dir, path)
	}
	if strings.ContainsAny(d.Exe+d.Dir+path, "\n\r") {
		return "", errors.New("a path with a line break in it can be no service's")
	}
	if _, err := os.Stat(d.Root + path); err != nil && fresh {
		return "", fmt.Errorf("%w; type this in the folder with your companiond.toml and your characters, in which the service is to run, or name the file with -config FILE", err)
	}
	return path, nil
}

// show prints a plan.
func (d Desk) show(p plan, what string) error {
	var b strings.Builder
	if what == "remove" {
		for _, c := range p.stops {
			fmt.Fprintf(&b, "$ %s\n", strings.Join(c, " "))
		}
		for _, f := range p.files {
			if !f.kept {
				fmt.Fprintf(&b, "$ rm %s\n", f.path)
			}
		}
		for _, c := range p.forgets {
			fmt.Fprintf(&b, "$ %s\n", strings.Join(c, " "))
		}
	} else {
		for _, f := range p.files {
			fmt.Fprintf(&b, "==> %s\n%s\n", f.path, f.text)
		}
		for _, c := range p.starts {
			fmt.Fprintf(&b, "$ %s\n", strings.Join(c, " "))
		}
	}
	_, err := io.WriteString(d.Out, b.String())
	return err
}

func (d Desk) install(ctx context.Context, p plan) error {
	if err := d.reachable(ctx, p); err != nil {
		return err
	}
	for _, f := range p.files { // before any is written
		if err := d.ours(f); err != nil {
			return err
		}
	}
	for _, f := range p.files {
		if err := d.put(f); err != nil {
			return err
		}
	}
	for _, c := range p.starts {
		if err := d.Run(ctx, c...); err != nil {
			return fmt.Errorf("%s: %w; what was written stays, and companiond service remove takes it away", strings.Join(c, " "), err)
		}
	}
	fmt.Fprintln(d.Out, p.tells)
	return nil
}

func (d Desk) reachable(ctx context.Context, p plan) error {
	if len(p.asks) == 0 {
		return nil
	}
	if err := d.Run(ctx, p.asks...); err != nil {
		return fmt.Errorf("nobody here starts services: %s: %w; nothing was changed", strings.Join(p.asks, " "), err)
	}
	return nil
}

// ours refuses a file that somebody else has written.
func (d Desk) ours(f file) error {
	b, err := os.ReadFile(d.Root + f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && (f.kept || bytes.Contains(b, []byte(mark))):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%s is there, and companiond service did not write it: move it away first; nothing was changed", f.path)
}

// put writes a file, whole or not at all.
func (d Desk) put(f file) error {
	path := d.Root + f.path
	if _, err := os.Stat(path); err == nil && f.kept {
		fmt.Fprintf(d.Out, "kept     %s\n", f.path)
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	next, err := os.CreateTemp(filepath.Dir(path), ".companiond-*")
	if err != nil {
		return err
	}
	defer os.Remove(next.Name())
	_, err = next.WriteString(f.text)
	if err = errors.Join(err, next.Chmod(f.mode), next.Close()); err != nil {
		return err
	}
	if err := os.Rename(next.Name(), path); err != nil {
		return err
	}
	fmt.Fprintf(d.Out, "written  %s\n", f.path)
	return nil
}

func (d Desk) remove(ctx context.Context, p plan) error {
	found := false
	for _, f := range p.files { // before any is removed
		if f.kept {
			continue
		}
		if _, err := os.Stat(d.Root + f.path); err == nil {
			found = true
		}
		if err := d.ours(f); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("nothing is installed: there is no %s", p.files[0].path)
	}
	for _, c := range p.stops {
		if err := d.Run(ctx, c...); err != nil { // it may be stopped
			fmt.Fprintf(d.Out, "%s: %v\n", strings.Join(c, " "), err)
		}
	}
	for _, f := range p.files {
		if f.kept {
			continue
		}
		if err := os.Remove(d.Root + f.path); err == nil {
			fmt.Fprintf(d.Out, "removed  %s\n", f.path)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, c := range p.forgets {
		if err := d.Run(ctx, c...); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(c, " "), err)
		}
	}
	fmt.Fprintln(d.Out, "settings, characters and the journal stay where they are")
	return nil
}
