package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/companiond/companiond/host"
	"github.com/companiond/companiond/host/bench"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/entry"
)

func benchVerb(t *term, ctx context.Context, args []string) error {
	fs := t.flags("bench")
	seed := fs.String("seed", "companiond", "equal `texts` give equal figures")
	talks := fs.Int("talks", 20, "talks for each cast and policy")
	casts := fs.String("cast", "", "`names` of casts with commas between; all when empty")
	policies := fs.String("policy", "", "`names` of policies with commas between, others' rules among them; all when empty")
	path := fs.String("config", "", "configuration `file` whose room gives the rules; the defaults when empty")
	room := fs.String("room", "", "`name` of that room; the first when empty")
	asJSON := fs.Bool("json", false, "print JSON")
	if _, err := parse(fs, args, 0); err != nil {
		return err
	}
	rules, err := t.benchRules(*path, *room)
	if err != nil {
		return err
	}
	res, err := bench.Run(ctx, bench.Options{
		Seed: *seed, Talks: *talks, Casts: names(*casts), Policies: names(*policies), Rules: rules, Speech: bench.Speech,
	})
	if err != nil {
		return err
	}
	if *asJSON {
		enc := json.NewEncoder(t.out)
		enc.SetIndent("", "  ")
		err = enc.Encode(res)
	} else {
		err = res.Write(t.out)
	}
	if err == nil && len(res.Failures) > 0 {
		err = coded{exitFailed, nil}
	}
	return err
}

// benchRules gives the rules of a room of a configuration, or those of one for which
// nothing is configured.
func (t *term) benchRules(path, room string) (entry.Rules, error) {
	if path == "" {
		if room != "" {
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
	return host.Rules(cfg.Rooms[i]), nil
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
