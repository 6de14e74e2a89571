// Command companiond runs AI companions that talk with each other and with
// people, and looks after them. This package has the verbs, their flags, and what
// they read of the environment and the terminal; run hands it all to host, and
// the others ask the daemon at its doors or read its journal.
//
// It never decides what happens in a room, and never writes to a journal.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/cmd/companiond/handlers"
	"github.com/companiond/companiond/cmd/companiond/history"
	"github.com/companiond/companiond/cmd/companiond/memories"
	"github.com/companiond/companiond/cmd/companiond/paint"
	"github.com/companiond/companiond/cmd/companiond/play"
	"github.com/companiond/companiond/cmd/companiond/unit"
	"github.com/companiond/companiond/host/child/warden"
	"github.com/companiond/companiond/host/door/socket/playout"
	"github.com/companiond/companiond/host/module/wasm/compiler"
)

// Exit codes. exitConfig is sysexits' EX_CONFIG, which a service manager can be
// told not to retry.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
	exitConfig = 78
)

func main() { os.Exit(doMain(os.Args[1:])) }

// doMain is main without the exit, for tests that run the program in their own
// process.
func doMain(args []string) int {
	for _, child := range []func([]string) (int, bool){compiler.Main, warden.Main} {
		if code, ok := child(args); ok {
			return code
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	t := &term{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Environ(), colour: paint.Colourful(os.Stdout), asks: paint.Terminal(os.Stdin), width: paint.Columns(os.Stdout), machine: "/"}
	return t.do(ctx, args)
}

// term is what a verb has to do with the outside.
type term struct {
	in       io.Reader // nil: nothing comes
	out, err io.Writer
	env      []string
	colour   bool
	asks     bool // somebody sits before in
	width    int  // columns of out where that is a terminal, and 0

	set *flag.FlagSet // of the verb that was run

	machine unit.Machine      // whose service a verb may be about
	service map[string]string // what its service manager tells that service, where the verb is about it
	told    bool              // that it is
}

// verb is one thing the program does.
type verb struct {
	name, args, short string
	run               func(t *term, ctx context.Context, args []string) error
}

func verbs() []verb {
	return []verb{
		{"run", "[-config FILE]", "run the daemon", runVerb},
		{"check", "[-config FILE] [-print] [-strict] [-o json]", "look a configuration, the cards, the scripts and what is JavaScript through and list every mistake", checkVerb},
		{"reload", "[-config FILE] [-o json]", "have the daemon read its configuration and tokens anew, and say what became of it", reloadVerb},
		{"status", "[-config FILE] [-o json]", "show how the daemon is: where it listens, who is there, what is amiss", statusVerb},
		{"doctor", "[-config FILE] [-o json]", "say what is wrong with the place a daemon runs in, and what to type", doctorVerb},
		{"new", "character NAME [-lang ts|go|c|rust|as] | handler NAME [-kind act|perception|line|source] [-program] [-dir DIR]", "write a character, in TypeScript or another language, or a handler", newVerb},
		{"say", "[-f] [-room ROOM] [-from NAME] [-to NAME,...] TEXT", "say something in a room; with - for TEXT what comes on standard input", sayVerb},
		{"tail", "[-room ROOM] [-since SEQ] [-n COUNT] [-votes=false] [-o json]", "show a room live: who asked for the floor, who got it", tailVerb},
		{"stop", "[-room ROOM] [-from NAME]", "take the floor from everybody until a human speaks", stopVerb},
		{"why", "[-room ROOM] [-prompt] SEQ", "explain who spoke and why, or why nobody did; with -prompt also what language models were told", whyVerb},
		{"memory", "[COMPANION] | add COMPANION TEXT | edit COMPANION ID | erase COMPANION ID [-who NAME] [-past] [-o json]", "list what companions remember, add to it, correct it, or erase it", memoryVerb},
		{"forget", "NAME|FACT [-dry-run] [-yes] [-o json]", "erase for good what somebody said and what is remembered of it, or one memory", forgetVerb},
		{"history", "show [TURNS | ID] | search WORDS | compress TURNS | approve ID | deny ID | revert ID | extract ID | fork [NAME] | branches | diff A B | export [TURNS] [-room NAME]", "show and find what was said, have turns told in fewer words, and make rooms of the past of others", historyVerb},
		{"conversations", "[show ID | end ID] [-project NAME] [-agent NAME] [-state STATE] [-o json]", "list the conversations of agents, show one, or end it", conversationsVerb},
		{"handlers", "[-o json]", "list the handlers and what each can do", handlersVerb},
		{"act", "[HANDLER] ACTION [NAME=VALUE ...]", "have a handler do something, such as chat.mute viewer=troll minutes=10", actVerb},
		{"play", "[COMPANION] [-room ROOM] [-with COMMAND]", "play the sound of what companions say on this machine", playVerb},
		{"token", "NAME [-kind agent|human] [-scope read,talk] [-file FILE]", "make a token for somebody and show it once", tokenVerb},
		{"backup", "FILE [-tokens] [-force] [-config FILE] [-o json]", "save the journal, the configuration and the characters into one file, also while the daemon runs", backupVerb},
		{"restore", "FILE [-only PART,...] [-force] [-config FILE] [-o json]", "put back what a backup has, while no daemon runs", restoreVerb},
		{"replay", "[-room ROOM] [JOURNAL]", "run a journal through the rules again and report the first difference", replayVerb},
		{"bench", "[-cast NAME,...] [-policy NAME,...] [-talks N] [-seed TEXT] [-o json]", "measure the turn policies with simulated casts, beside others' rules", benchVerb},
		{"service", "install [-config FILE] [-system] [-dry-run] | remove [-system] [-dry-run]", "have the service manager of this machine start companiond, where no package does, or no longer", serviceVerb},
		{"man", "[companiond | companiond.toml]", "write the manual page of companiond, or of its settings", manVerb},
		{"completion", "bash | zsh | fish", "write what a shell completes companiond's arguments by", completionVerb},
		{"version", "[-o json]", "print the version", versionVerb},
		{"help", "[VERB]", "list the verbs, or show one with its flags", helpVerb},
	}
}

// coded is an error with the exit code it is worth.
type coded struct {
	code int
	err  error
}

func (c coded) Error() string { return c.err.Error() }
func (c coded) Unwrap() error { return c.err }

func usage(format string, args ...any) error { return coded{exitUsage, fmt.Errorf(format, args...)} }

// do runs one verb and gives the exit code.
func (t *term) do(ctx context.Context, args []string) int {
	if len(args) == 0 {
		t.printHelp(t.err)
		return exitUsage
	}
	name := strings.TrimLeft(args[0], "-")
	if name == "h" {
		name = "help"
	}
	i := slices.IndexFunc(verbs(), func(v verb) bool { return v.name == name })
	if i < 0 {
		fmt.Fprintf(t.err, "companiond: there is no verb %q; companiond help lists them\n", args[0])
		return exitUsage
	}
	err := verbs()[i].run(t, ctx, args[1:])
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	c := coded{exitFailed, err}
	if errors.As(err, &c); c.err != nil {
		fmt.Fprintf(t.err, "companiond %s: %s\n", name, paint.Plain(explain(c.err))) // which may be a module's own words
	}
	return c.code
}

// explain gives an error's words without the code that doors show machines.
func explain(err error) string {
	var e *abi.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

func (t *term) printHelp(w io.Writer) {
	fmt.Fprint(w, "companiond hosts AI companions that talk with each other and with people.\n\n")
	for _, v := range verbs() {
		fmt.Fprintf(w, "  companiond %-8s %s\n      %s\n", v.name, v.args, v.short)
	}
	fmt.Fprintf(w, "\nsay, tail, stop, why, memory, forget, history, conversations, handlers, act and play talk to the daemon at -url, or %s, or where door.listen of\n%s says, with the token in %s where there is one.\n", envURL, defaultConfig, envToken)
}

// desk is what the verbs about memories have to do with the outside.
func (t *term) desk(r *remote) memories.Desk {
	return memories.Desk{In: t.in, Asks: t.asks, Paint: t.painter(false), Call: r.do, Parse: parse, Usage: usage}
}

func memoryVerb(t *term, ctx context.Context, args []string) error {
	fs := t.flags("memory")
	return t.desk(t.hostFlags(fs)).Memory(ctx, fs, args)
}

func forgetVerb(t *term, ctx context.Context, args []string) error {
	fs := t.flags("forget")
	return t.desk(t.hostFlags(fs)).Forget(ctx, fs, args)
}

func historyVerb(t *term, ctx context.Context, args []string) error {
	fs := t.flags("history")
	r := t.hostFlags(fs)
	d := history.Desk{In: t.in, Asks: t.asks, Paint: t.painter(false), Err: t.err, Call: r.do, Parse: parse, Usage: usage, Rooms: r.withRooms}
	d.Coded = func(code int, err error) error { return coded{code, err} }
	d.Journal = func() (string, error) {
		if r.told || t.getenv(envURL) != "" { // it may be on another machine
			return "", nil
		}
		cfg, _, err := t.load("")
		return cfg.Journal.Path, err
	}
	return d.History(ctx, fs, args)
}

// hands is what the verbs about handlers have to do with the outside.
func (t *term) hands(r *remote) handlers.Desk {
	return handlers.Desk{Paint: t.painter(false), Call: r.do, Parse: parse, Usage: usage}
}

func handlersVerb(t *term, ctx context.Context, args []string) error {
	fs := t.flags("handlers")
	return t.hands(t.hostFlags(fs)).Handlers(ctx, fs, args)
}

func actVerb(t *term, ctx context.Context, args []string) error {
	fs := t.flags("act")
	return t.hands(t.hostFlags(fs)).Act(ctx, fs, args)
}

func playVerb(t *term, ctx context.Context, args []string) error {
	fs := t.flags("play")
	r := t.hostFlags(fs)
	client := func() (playout.Client, error) { return playout.Client{URL: r.url, Header: r.header()}, r.wrong }
	known := func(ctx context.Context) (ids []string, err error) {
		var all []struct{ ID, Kind string }
		err = r.do(ctx, http.MethodGet, "/v1/companions", nil, &all)
		for _, c := range all {
			if c.Kind == "" { // no handler
				ids = append(ids, c.ID)
			}
		}
		return ids, err
	}
	return play.Desk{Out: t.out, Err: t.err, Environ: t.env, Known: known, Client: client, Parse: parse, Usage: usage}.Play(ctx, fs, args)
}

func helpVerb(t *term, ctx context.Context, args []string) error {
	fs := t.flags("help")
	rest, err := parse(fs, args, 2)
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		t.printHelp(t.out)
		return nil
	}
	i := slices.IndexFunc(verbs(), func(v verb) bool { return v.name == rest[0] })
	if i < 0 {
		return usage("there is no verb %q; companiond help lists them", rest[0])
	}
	return verbs()[i].run(t, ctx, append(rest[1:], "-h"))
}

// printJSON prints a result for programs.
func (t *term) printJSON(v any) error {
	enc := json.NewEncoder(t.out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// flags makes a verb's flag set. Its mistakes are usage errors.
func (t *term) flags(name string) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(&voice{t.err, t.out})
	fs.Usage = func() { t.usage(fs) }
	t.set = fs
	return fs
}

// voice is where a flag set says what is wrong, until it is asked for help, which is what is asked for.
type voice struct {
	io.Writer
	help io.Writer
}

// usage says how a verb is called.
func (t *term) usage(fs *flag.FlagSet) {
	for _, v := range verbs() {
		if v.name == fs.Name() {
			fmt.Fprintf(fs.Output(), "companiond %s\n    %s\n", strings.TrimSpace(v.name+" "+v.args), v.short)
		}
	}
	flags := false
	fs.VisitAll(func(*flag.Flag) { flags = true })
	if flags {
		fmt.Fprintln(fs.Output())
		fs.PrintDefaults()
	}
}

// flagsOf gives the flags that a verb has, for documents.
func flagsOf(v verb) *flag.FlagSet {
	t := &term{out: io.Discard, err: io.Discard}
	_ = v.run(t, context.Background(), []string{"-h"}) // which is flag.ErrHelp
	return t.set
}

// many is any number of arguments.
const many = math.MaxInt

// parse reads flags wherever they stand among the arguments, so that
// `say hello -f` means what it says, and leaves up to most arguments. Behind --
// everything is an argument. Verbs that print JSON take -o json, too.
func parse(fs *flag.FlagSet, args []string, most int) (rest []string, err error) {
	if fs.Lookup("json") != nil {
		fs.Func("o", "`format`: text, or json as with -json", func(s string) error {
			if s != "json" && s != "text" {
				return errors.New("have: text, json")
			}
			return fs.Set("json", strconv.FormatBool(s == "json"))
		})
	}
	help := fs.Usage
	fs.Usage = func() {}
	for len(args) > 0 {
		if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
			if v, ok := fs.Output().(*voice); ok {
				v.Writer = v.help
			}
			help()
			return nil, err
		} else if err != nil {
			fmt.Fprintf(fs.Output(), "companiond help %s lists what there is\n", fs.Name())
			return nil, coded{exitUsage, nil} // the flag set has said why
		}
		left := fs.Args()
		if n := len(args) - len(left); n > 0 && args[n-1] == "--" {
			rest, left = append(rest, left...), nil
		} else if len(left) > 0 {
			rest, left = append(rest, left[0]), left[1:]
		}
		args = left
	}
	if len(rest) > most {
		return nil, usage("unexpected argument %q", rest[most])
	}
	return rest, nil
}

// getenv looks a variable up, as the daemon would that the verb is about.
func (t *term) getenv(name string) string {
	if v := t.service[name]; v != "" {
		return v
	}
	for _, kv := range t.env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}
