package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/companiond/companiond/cmd/companiond/backup"
	"github.com/companiond/companiond/cmd/companiond/built"
	"github.com/companiond/companiond/cmd/companiond/create"
	"github.com/companiond/companiond/cmd/companiond/doctor"
	"github.com/companiond/companiond/cmd/companiond/replay"
	"github.com/companiond/companiond/cmd/companiond/unit"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/module/js/npm"
)

func newVerb(t *term, _ context.Context, args []string) error {
	d := create.Desk{Out: t.out, Parse: parse, Usage: usage, Script: npm.QuickJS() != nil}
	return d.New(t.flags("new"), args)
}

func replayVerb(t *term, ctx context.Context, args []string) (err error) {
	journal := func(config string) (string, error) {
		cfg, _, err := t.load(config)
		return cfg.Journal.Path, err
	}
	return replay.Desk{Out: t.out, Journal: journal, Parse: parse, Failed: coded{exitFailed, nil}}.Replay(ctx, t.flags("replay"), args)
}

// saving is what the verbs about backups have to do with the outside.
func (t *term) saving() backup.Desk {
	tokens := func(cfg config.Config) (string, error) {
		if cfg.Identity.Tokens == "" {
			return "", nil
		}
		return t.resolveTokens(cfg.Identity.Tokens)
	}
	return backup.Desk{Out: t.out, Err: t.err, Version: built.Version().Version, Load: t.sound, Named: t.named, Tokens: tokens, Parse: parse, Usage: usage}
}

// sound reads the configuration, and its mistakes are an error.
func (t *term) sound(path string) (config.Config, error) {
	cfg, problems, err := t.load(path)
	if err == nil && config.Failed(problems) {
		for _, p := range problems {
			fmt.Fprintln(t.err, p)
		}
		err = coded{exitConfig, errors.New("the configuration has mistakes; nothing was done")}
	}
	return cfg, err
}

func backupVerb(t *term, ctx context.Context, args []string) error {
	return t.saving().Backup(ctx, t.flags("backup"), args)
}

func restoreVerb(t *term, ctx context.Context, args []string) error {
	return t.saving().Restore(ctx, t.flags("restore"), args)
}

func doctorVerb(t *term, ctx context.Context, args []string) error {
	control := func(cfg config.Config) string { return unit.Control(cfg, t.getenv) }
	d := doctor.Desk{Out: t.out, Load: t.load, Named: t.named, Control: control, SecretFile: t.secretFile, Starts: t.starts, Parse: parse, Failed: coded{exitFailed, nil}}
	return d.Doctor(ctx, t.flags("doctor"), args)
}
