package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/companiond/companiond/cmd/companiond/built"
	"github.com/companiond/companiond/cmd/companiond/check"
	"github.com/companiond/companiond/cmd/companiond/manage"
	"github.com/companiond/companiond/cmd/companiond/paint"
	"github.com/companiond/companiond/cmd/companiond/unit"
	"github.com/companiond/companiond/host"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/control"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/service"
)

const defaultConfig = "companiond.toml"

func runVerb(t *term, ctx context.Context, args []string) error {
	fs := t.flags("run")
	path := fs.String("config", "", "configuration `file`; default "+defaultConfig+" where there is one")
	if _, err := parse(fs, args, 0); err != nil {
		return err
	}
	cfg, problems, err := t.load(*path)
	if err != nil {
		return err
	}
	for _, p := range problems {
		fmt.Fprintln(t.err, p)
	}
	if config.Failed(problems) {
		return coded{exitConfig, errors.New("the configuration has mistakes; nothing was started")}
	}
	log, level := unit.Logger(t.err, cfg.Log, paint.Terminal)
	tokens, warning, err := t.readTokens(cfg)
	if err != nil {
		return err
	}
	if warning != "" {
		log.Warn(warning)
	}
	log.Info("companiond is starting", "version", built.Version().Version, "characters", cfg.Modules.Characters)
	if t.getenv("GOGC") == "" {
		debug.SetGCPercent(host.CollectAt)
	}
	had := t.written(*path)
	h := host.New(host.Options{
		Config: cfg, Log: log, Version: built.Version(), Tokens: tokens, Service: service.New(log), SecretFile: t.secretFile, Environ: t.env,
		Source: func() (config.Config, *identity.Register, error) { return t.again(*path, had) }, Level: level, Control: unit.Control(cfg, t.getenv),
	})
	defer unit.OnHangup(func() { _, _ = h.Reload(ctx) })() // what comes of it is in the log
	if err := h.Run(ctx); err != nil {
		return err
	}
	log.Info("companiond stopped")
	return nil
}

// again reads the configuration of a daemon that runs, and its tokens. One that has nothing in it any more, but had, is taken for
// half written.
func (t *term) again(path string, had bool) (config.Config, *identity.Register, error) {
	if had && !t.written(path) {
		return config.Config{}, nil, fmt.Errorf("%s is empty, or gone; a restart takes it so", t.configName(path))
	}
	cfg, problems, err := t.load(path)
	if err != nil {
		return cfg, nil, err
	}
	if config.Failed(problems) {
		var lines []string
		for _, p := range problems {
			lines = append(lines, p.String())
		}
		return cfg, nil, errors.New(strings.Join(lines, "\n"))
	}
	tokens, _, err := t.readTokens(cfg)
	return cfg, tokens, err
}

func reloadVerb(t *term, ctx context.Context, args []string) error {
	fs := t.flags("reload")
	return t.manage(ctx, fs, args, manage.Reload(fs))
}

func statusVerb(t *term, ctx context.Context, args []string) error {
	fs := t.flags("status")
	return t.manage(ctx, fs, args, manage.Status(fs))
}

// manage asks the daemon of a configuration at its control socket.
func (t *term) manage(ctx context.Context, fs *flag.FlagSet, args []string, ask func(context.Context, io.Writer, string) error) error {
	path := fs.String("config", "", "configuration `file` of the daemon; default "+defaultConfig+" where there is one")
	if _, err := parse(fs, args, 0); err != nil {
		return err
	}
	cfg, problems, err := t.load(*path)
	if err != nil {
		return err
	}
	if config.Failed(problems) && t.getenv("RUNTIME_DIRECTORY") == "" {
		for _, p := range problems {
			fmt.Fprintln(t.err, p)
		}
		return coded{exitConfig, errors.New("the configuration has mistakes; nothing was asked of the daemon")}
	}
	if err = ask(ctx, t.out, unit.Control(cfg, t.getenv)); errors.Is(err, control.ErrNobody) {
		err = fmt.Errorf("%w; %s starts it, and -config names the file of another", err, t.starts())
	}
	return err
}

// configName gives the file of the configuration.
func (t *term) configName(path string) string {
	if t.service == nil && t.set != nil {
		t.service = t.machine.Service(t.set.Name(), path, "", t.env)
	}
	if path != "" {
		return path
	}
	return filepath.Join(t.getenv("CONFIGURATION_DIRECTORY"), defaultConfig) // of a service manager; else the folder it runs in
}

// named is configName, and says once what was taken where nobody has named one.
func (t *term) named(path string) string {
	file := t.configName(path)
	if path == "" && t.service != nil && !t.told {
		t.told = true
		fmt.Fprintf(t.err, "taken: %s, the settings of this machine's service\n", file)
	}
	return file
}

// starts says what starts the daemon that a verb is about.
func (t *term) starts() string {
	if t.service != nil {
		return "sudo systemctl start companiond"
	}
	return "companiond run"
}

// written says whether the configuration has anything in it.
func (t *term) written(path string) bool {
	info, err := os.Stat(t.configName(path))
	return err == nil && info.Size() > 0
}

// load reads the configuration. Without a name the usual file may be missing.
func (t *term) load(path string) (config.Config, []config.Problem, error) {
	t.named(path)
	return t.configured(path)
}

// configured is load, without a word.
func (t *term) configured(path string) (config.Config, []config.Problem, error) {
	name := t.configName(path)
	src, err := unit.Settings(name)
	if err != nil && (path != "" || !errors.Is(err, fs.ErrNotExist)) {
		return config.Config{}, nil, coded{exitConfig, fmt.Errorf("read configuration: %w", err)}
	}
	env := slices.DeleteFunc(slices.Clone(t.env), func(kv string) bool { return strings.HasPrefix(kv, envURL+"=") || strings.HasPrefix(kv, envToken+"=") })
	cfg, problems := config.Parse(name, src, env)
	unit.Within(&cfg, t.getenv)
	return cfg, problems, nil
}

func checkVerb(t *term, ctx context.Context, args []string) error {
	d := check.Desk{Out: t.out, Load: t.load, Parse: parse, Wrong: coded{exitConfig, nil}, Failed: coded{exitFailed, nil}}
	d.Tokens = func(cfg config.Config) (warning string, err error) {
		_, warning, err = t.readTokens(cfg)
		return warning, err
	}
	d.Options = t.outside
	return d.Check(ctx, t.flags("check"), args)
}

// outside is what a house that is not run is told of the outside.
func (t *term) outside(cfg config.Config) host.Options {
	return host.Options{Config: cfg, SecretFile: t.secretFile, Environ: t.env}
}

func versionVerb(t *term, _ context.Context, args []string) error {
	fs := t.flags("version")
	raw := fs.Bool("json", false, "print JSON")
	if _, err := parse(fs, args, 0); err != nil {
		return err
	}
	v := built.Version()
	if *raw {
		return t.printJSON(v)
	}
	fmt.Fprintf(t.out, "companiond %s\nabi companion_v%d\ngo %s\n", v.Version, v.ABI, v.Go)
	if v.Revision != "" {
		fmt.Fprintf(t.out, "revision %s\n", v.Revision)
	}
	return nil
}
