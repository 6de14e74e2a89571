package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/companiond/companiond/cmd/companiond/paint"
	"github.com/companiond/companiond/cmd/companiond/replay"
	"github.com/companiond/companiond/cmd/companiond/unit"
	"github.com/companiond/companiond/host"
	"github.com/companiond/companiond/host/bench"
	"github.com/companiond/companiond/host/bench/world"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/opening"
	"github.com/companiond/companiond/host/room/reader"
)

func benchVerb(t *term, ctx context.Context, args []string) error {
	fs := t.flags("bench")
	seed := fs.String("seed", "companiond", "equal `texts` give equal figures")
	talks := fs.Int("talks", 20, "talks for each cast and policy")
	casts := fs.String("cast", "", "`names` of casts with commas between; all when empty")
	policies := fs.String("policy", "", "`names` of policies with commas between, others' rules among them; all when empty")
	path := fs.String("config", "", "configuration `file` whose room gives the rules; the defaults when empty")
	room := fs.String("room", "", "`name` of that room, or of one of the journal; the first when empty")
	recorded := fs.String("journal", "", "`file` with a journal: what another policy would have decided in its room")
	yours := fs.Bool("characters", false, "ask the characters of the configuration instead of models, in real time; those with a language model cost what it costs")
	voices := fs.Bool("voices", false, "how voices follow each other, with three language models whose bodies play, and a person")
	asJSON := fs.Bool("json", false, "print JSON")
	if _, err := parse(fs, args, 0); err != nil {
		return err
	}
	if err := together(fs); err != nil {
		return err
	}
	rules, err := t.benchRules(*path, *room, *recorded != "")
	if err != nil {
		return err
	}
	if *recorded != "" {
		return t.benchJournal(ctx, *recorded, *room, names(*policies), rules, *asJSON)
	}
	o := bench.Options{
		Seed: *seed, Talks: *talks, Casts: names(*casts), Policies: names(*policies), Rules: rules, Speech: bench.Speech,
	}
	fs.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "config", "room":
			o.Flags += fmt.Sprintf(" -%s %q", f.Name, f.Value)
		case "characters", "voices":
			o.Flags += fmt.Sprintf(" -%s=%v", f.Name, f.Value)
		}
	})
	if *voices {
		res, err := bench.RunVoices(ctx, o)
		return t.measured(res, res.Failures, err, *asJSON)
	}
	if *yours {
		if err := t.askCharacters(ctx, *path, &o); err != nil {
			return err
		}
	}
	res, err := bench.Run(ctx, o)
	return t.measured(res, res.Failures, err, *asJSON)
}

// together refuses flags of bench that mean nothing beside -journal, -voices or
// -characters.
func together(fs *flag.FlagSet) error {
	given := map[string]string{}
	fs.Visit(func(f *flag.Flag) {
		if v := f.Value.String(); v != "" && v != "false" {
			given[f.Name] = v
		}
	})
	for _, with := range []struct {
		name, why string
		without   []string
	}{
		{"journal", "looks at a talk that was recorded", []string{"seed", "talks", "cast", "voices", "characters"}},
		{"voices", "has a cast of its own", []string{"cast", "characters"}},
		{"characters", "are a cast of their own", []string{"cast"}},
	} {
		if given[with.name] == "" {
			continue
		}
		var out []string
		for _, name := range with.without {
			if given[name] != "" {
				out = append(out, "-"+name)
			}
		}
		if len(out) > 0 {
			return usage("-%s %s: leave out %s", with.name, with.why, strings.Join(out, ", "))
		}
	}
	if given["voices"] != "" && len(names(given["policy"])) > 1 {
		return usage("-voices measures one -policy, not %s", given["policy"])
	}
	return nil
}

// measured prints a result, unless err says that there is none; gates that failed fail
// the command.
func (t *term) measured(res written, failures []bench.Failure, err error, asJSON bool) error {
	if err == nil {
		err = t.show(res, asJSON)
	}
	if err == nil && len(failures) > 0 {
		err = coded{exitFailed, nil}
	}
	return err
}

// askCharacters has the characters of a configuration asked, anew for each talk.
func (t *term) askCharacters(ctx context.Context, path string, o *bench.Options) error {
	minds, err := t.openMinds(ctx, path)
	if err != nil {
		return err
	}
	o.Yours = bench.Yours(minds.Members())
	o.Minds = func() (world.Minds, func() error, error) {
		minds, err := t.openMinds(ctx, path)
		if err != nil {
			return nil, nil, err
		}
		return minds, minds.Close, nil
	}
	return minds.Close()
}

// openMinds loads the characters of a configuration.
func (t *term) openMinds(ctx context.Context, path string) (*host.Minds, error) {
	cfg, problems, err := t.load(path)
	if err != nil {
		return nil, err
	}
	if config.Failed(problems) {
		return nil, coded{exitConfig, errors.New("the configuration has mistakes; companiond check lists them")}
	}
	cfg.Log.Level = "warn"
	log, _ := unit.Logger(t.err, cfg.Log, paint.Terminal)
	return host.OpenMinds(ctx, host.Options{Config: cfg, Log: log, SecretFile: t.secretFile})
}

// written is a result that writes itself for people.
type written interface{ Write(io.Writer) error }

// show prints a result.
func (t *term) show(res written, asJSON bool) error {
	if !asJSON {
		return res.Write(t.out)
	}
	return t.printJSON(res)
}

// benchJournal says what a policy would have decided in a recorded room. Of set it takes
// the policy's settings.
func (t *term) benchJournal(ctx context.Context, path, room string, policies []string, set entry.Rules, asJSON bool) error {
	if len(policies) != 1 {
		return usage("-journal wants one -policy: %s", strings.Join(bench.Judges(), ", "))
	}
	j, err := sqlite.OpenReadOnly(path)
	if err != nil {
		return err
	}
	defer j.Close()
	rooms, err := replay.Rooms(ctx, j)
	if err != nil {
		return err
	}
	switch {
	case len(rooms) == 0:
		return fmt.Errorf("%s has no rooms", path)
	case room == "":
		room = rooms[0]
	case !slices.Contains(rooms, room):
		return fmt.Errorf("room %q is not in %s, which has: %q", room, path, rooms)
	}
	begin, err := reader.Begin(ctx, j, room)
	if err != nil {
		return err
	}
	if set.Policy != policies[0] {
		set.PolicyRaw = nil
	}
	a, err := bench.Recorded(room, policies[0], set.PolicyRaw, begin, journal.AllEntries(ctx, j, room, begin.Head))
	if err != nil {
		return fmt.Errorf("room %s: %w", room, err)
	}
	return t.show(a, asJSON)
}

// benchRules gives the rules of a room of a configuration, or those of one for which
// nothing is configured; named says that the room may be one of something else.
func (t *term) benchRules(path, room string, named bool) (entry.Rules, error) {
	if path == "" {
		if room != "" && !named {
			return entry.Rules{}, usage("-room names a room of a configuration; add -config FILE")
		}
		return bench.Rules(), nil
	}
	cfg, problems, err := t.load(path)
	if err != nil {
		return entry.Rules{}, err
	}
	if config.Failed(problems) {
		return entry.Rules{}, coded{exitConfig, fmt.Errorf("%s has mistakes; companiond check -config %s lists them", path, path)}
	}
	i := 0
	if room != "" {
		i = slices.IndexFunc(cfg.Rooms, func(r config.Room) bool { return r.Name == room })
	}
	if i < 0 {
		return entry.Rules{}, fmt.Errorf("%s has no room %q", path, room)
	}
	return opening.Rules(cfg.Rooms[i]), nil
}

// names splits a list of names, nil for none.
func names(list string) (all []string) {
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			all = append(all, name)
		}
	}
	return all
}
