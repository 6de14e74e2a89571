package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/door/web"
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
	log := t.logger(cfg.Log)
	tokens, warning, err := t.readTokens(cfg)
	if err != nil {
		return err
	}
	if warning != "" {
		log.Warn(warning)
	}
	if t.getenv("GOGC") == "" {
		debug.SetGCPercent(host.CollectAt)
	}
	if err := host.New(host.Options{Config: cfg, Log: log, Version: version(), Tokens: tokens, Service: service.New(log), SecretFile: t.secretFile, Environ: t.env}).Run(ctx); err != nil {
		return err
	}
	log.Info("companiond stopped")
	return nil
}

// load reads the configuration. Without a name the usual file may be missing.
func (t *term) load(path string) (config.Config, []config.Problem, error) {
	name := path
	if name == "" {
		name = filepath.Join(t.getenv("CONFIGURATION_DIRECTORY"), defaultConfig) // of a service manager; else the folder it runs in
	}
	src, err := os.ReadFile(name)
	if err != nil && (path != "" || !errors.Is(err, fs.ErrNotExist)) {
		return config.Config{}, nil, coded{exitConfig, fmt.Errorf("read configuration: %w", err)}
	}
	env := slices.DeleteFunc(slices.Clone(t.env), func(kv string) bool { return strings.HasPrefix(kv, envURL+"=") || strings.HasPrefix(kv, envToken+"=") })
	cfg, problems := config.Parse(name, src, env)
	within(&cfg, t.getenv("STATE_DIRECTORY"), t.getenv("CACHE_DIRECTORY"))
	return cfg, problems, nil
}

// within puts what stands at its default into the folders that a service manager gives: the journal, the characters and the
// programs into state, compiled code into cache. Empty means that there is none, and of several the first counts. Without a
// cache, compiled code goes with a journal that was put elsewhere.
func within(cfg *config.Config, state, cache string) {
	state, _, _ = strings.Cut(state, ":")
	if cache, _, _ = strings.Cut(cache, ":"); cache != "" {
		cfg.Place("modules.cache", filepath.Join(cache, "code"), "CACHE_DIRECTORY")
	}
	if cfg.Written("journal.path") {
		cfg.Place("modules.cache", filepath.Join(filepath.Dir(cfg.Journal.Path), "cache"), "journal.path")
	}
	if state == "" {
		return
	}
	for key, name := range map[string]string{"journal.path": "companiond.db", "modules.cache": "cache", "modules.characters": "characters", "modules.plugins": "plugins"} {
		cfg.Place(key, filepath.Join(state, name), "STATE_DIRECTORY")
	}
}

// logger writes lines for people on a terminal and in systemd's journal, and JSON elsewhere.
func (t *term) logger(c config.Log) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Level)) // the configuration was checked
	f, isFile := t.err.(*os.File)
	journal := isFile && f == os.Stderr && service.Logged()
	text := c.Format == "text" || c.Format == "auto" && isFile && (journal || isTerminal(f))
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		switch {
		case journal && len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey): // it has both itself
			return slog.Attr{}
		case a.Value.Kind() == slog.KindDuration: // JSON would give nanoseconds
			return slog.String(a.Key, a.Value.Duration().String())
		}
		return a
	}}
	lines := func(w io.Writer) slog.Handler {
		if text {
			return slog.NewTextHandler(w, o)
		}
		return slog.NewJSONHandler(w, o)
	}
	if journal {
		return slog.New(service.Prioritised(t.err, lines))
	}
	return slog.New(lines(t.err))
}

func checkVerb(t *term, ctx context.Context, args []string) error {
	fs := t.flags("check")
	path := fs.String("config", "", "configuration `file`; default "+defaultConfig)
	print := fs.Bool("print", false, "print every value and where it comes from")
	strict := fs.Bool("strict", false, "warnings are failures")
	if _, err := parse(fs, args, 0); err != nil {
		return err
	}
	cfg, problems, err := t.load(*path)
	if err != nil {
		return err
	}
	for _, p := range problems {
		fmt.Fprintln(t.out, p)
	}
	warned, bad := len(problems) > 0, false
	if !config.Failed(problems) {
		_, warning, err := t.readTokens(cfg)
		if err != nil {
			return err
		}
		if warning != "" {
			warned = true
			fmt.Fprintln(t.out, "warning: identity.tokens: "+warning)
		}
		for _, p := range host.CheckFolder(cfg) {
			warned = true
			fmt.Fprintln(t.out, p)
		}
		mistakes, waits := host.CheckCards(ctx, cfg)
		files := host.CheckFiles(cfg)
		settings, err := host.CheckSettings(ctx, host.Options{Config: cfg, SecretFile: t.secretFile, Environ: t.env})
		if err != nil {
			return err
		}
		warned = warned || len(settings) > 0
		bad = len(mistakes)+len(files) > 0 || config.Failed(settings)
		for _, p := range append(files, settings...) {
			fmt.Fprintln(t.out, p)
		}
		for _, line := range append(mistakes, waits...) {
			fmt.Fprintln(t.out, line)
		}
	}
	switch {
	case config.Failed(problems):
		return coded{exitConfig, nil}
	case bad || warned && *strict:
		return coded{exitFailed, nil}
	case *print:
		return cfg.Print(t.out)
	}
	_, err = io.WriteString(t.out, "ok\n")
	return err
}

// version says what was built. Without version control in the build it is
// "(devel)".
func version() web.Version {
	v := web.Version{Version: "(devel)", ABI: abi.Version}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	v.Go = info.GoVersion
	built := map[string]string{}
	for _, s := range info.Settings {
		built[s.Key] = s.Value
	}
	if v.Revision = built["vcs.revision"]; built["vcs.modified"] == "true" {
		v.Revision += "+dirty"
	}
	return v
}

func versionVerb(t *term, _ context.Context, args []string) error {
	if _, err := parse(t.flags("version"), args, 0); err != nil {
		return err
	}
	v := version()
	fmt.Fprintf(t.out, "companiond %s\nabi companion_v%d\ngo %s\n", v.Version, v.ABI, v.Go)
	if v.Revision != "" {
		fmt.Fprintf(t.out, "revision %s\n", v.Revision)
	}
	return nil
}
