// Package play has the verb play: it is the voice of companions on this machine, by a program that plays files of sound.
//
// It makes no sound itself, and knows no device: the program does.
package play

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/cmd/companiond/paint"
	"github.com/companiond/companiond/host/child"
	"github.com/companiond/companiond/host/door/socket/playout"
)

// Desk is what the verb has to do with the outside.
type Desk struct {
	Out, Err io.Writer
	Environ  []string
	// Client knows where the daemon is, and how to ask it.
	Client func() (playout.Client, error)
	// Known lists the ids of the companions that there are.
	Known func(ctx context.Context) ([]string, error)
	// Parse reads flags, and leaves up to most arguments.
	Parse func(fs *flag.FlagSet, args []string, most int) (rest []string, err error)
	// Usage makes the error of whoever typed something that the verb does not take.
	Usage func(format string, args ...any) error
	// Look finds a program. Nil means [exec.LookPath].
	Look func(name string) (path string, err error)
}

// players are programs that play a WAV, each with what makes it do that and no more. The file is the last argument, in
// the folder where they run: so it has no spaces, at which PowerShell would part it. The first that is there is taken:
// the sound servers go first, for they mix.
var players = [][]string{
	{"pw-play"},
	{"paplay"},
	{"afplay"}, // of macOS
	{"aplay", "-q"},
	{"ffplay", "-nodisp", "-autoexit", "-loglevel", "error"},
	{"powershell", "-NoProfile", "-Command", "& {(New-Object Media.SoundPlayer $args[0]).PlaySync()}"},
}

// Play plays what companions say until ctx ends.
func (d Desk) Play(ctx context.Context, fs *flag.FlagSet, args []string) error {
	room := fs.String("room", "", "`name` of the room (default main, or a companion's home)")
	with := fs.String("with", "", "the `command` that plays a WAV file, whose name is put behind it")
	rest, err := d.Parse(fs, args, 1)
	if err != nil {
		return err
	}
	command, err := d.command(*with)
	if err != nil {
		return err
	}
	client, err := d.Client()
	if err != nil {
		return err
	}
	client.Room = *room
	of := "all say"
	if len(rest) == 1 {
		client.Companion, of = rest[0], rest[0]+" says"
		ids, err := d.Known(ctx)
		if err != nil {
			return err
		}
		if !slices.Contains(ids, rest[0]) {
			return fmt.Errorf("nobody is called %q here; there are: %s", rest[0], strings.Join(ids, ", "))
		}
	} else if client.Room == "" {
		client.Room = "main"
	}
	dir, err := os.MkdirTemp("", "companiond-play-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	env := handedOn(d.Environ)
	client.Play = func(ctx context.Context, wav []byte) error { return run(ctx, command, env, dir, wav) }
	told := "" // it tries every three seconds for as long as the daemon is away
	client.Retry = func(err error, _ time.Duration) {
		if err.Error() != told {
			told = err.Error()
			d.warn(told + "; trying again until it is there")
		}
	}
	client.Connected = func() {
		told = ""
		where := ""
		if client.Room != "" {
			where = " in room " + client.Room
		}
		fmt.Fprintf(d.Out, "playing what %s%s with %s; Ctrl-C ends it\n", of, where, filepath.Base(command[0]))
	}
	client.Wrong = d.wrong
	if err = client.Run(ctx); errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// warn tells of something, which may be a daemon's words, or a handler's.
func (d Desk) warn(what string) { fmt.Fprintf(d.Err, "companiond: %s\n", paint.Plain(what)) }

// wrong tells why a part has no sound, or what the daemon has to say.
func (d Desk) wrong(companion string, why error) {
	if companion != "" {
		why = fmt.Errorf("a part of what %s says has no sound: %w", companion, why)
	}
	d.warn(why.Error())
}

// command gives the program that plays, and its arguments before the file.
func (d Desk) command(with string) ([]string, error) {
	look := d.Look
	if look == nil {
		look = exec.LookPath
	}
	find := players
	if fields := strings.Fields(with); len(fields) > 0 {
		find = [][]string{fields}
	}
	var names []string
	for _, p := range find {
		path, err := look(p[0])
		if err == nil {
			if path, err = filepath.Abs(path); err != nil {
				return nil, err
			}
			return append([]string{path}, p[1:]...), nil
		}
		names = append(names, p[0])
	}
	if len(find) == 1 {
		return nil, d.Usage("-with: there is no program %q here", names[0])
	}
	return nil, fmt.Errorf("nothing here plays a sound: install one of %s, or name another with -with COMMAND", strings.Join(names, ", "))
}

// run plays a WAV.
func run(ctx context.Context, command, env []string, dir string, wav []byte) error {
	f, err := os.CreateTemp(dir, "*.wav")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(wav)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	err = child.Command{Path: command[0], Args: append(command[1:len(command):len(command)], filepath.Base(f.Name())), Env: env, Dir: dir, Plain: true}.Run(ctx)
	var ended *child.Ended
	switch {
	case !errors.As(err, &ended):
		return nil
	case ended.Words != "":
		return fmt.Errorf("%s: %w: %s", filepath.Base(command[0]), ended.Err, ended.Words)
	}
	return fmt.Errorf("%s: %w", filepath.Base(command[0]), ended.Err)
}

// handedOn gives what a player gets of the environment, in which sound servers have places of their own: all but what is ours.
func handedOn(environ []string) (env []string) {
	for _, pair := range environ {
		if !strings.HasPrefix(strings.ToUpper(pair), "COMPANIOND_") {
			env = append(env, pair)
		}
	}
	return env
}
