// Package unit fits the daemon into the place where a service manager runs it: its folders, its journal and where its control
// socket is.
//
// It reads the settings, and never makes or changes anything in those folders.
package unit

import (
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/control"
	"github.com/companiond/companiond/host/service"
)

// Within puts what stands at its default into the folders that a service manager gives: the journal, the characters and the
// programs into state, compiled code into cache. Empty means that there is none, and of several the first counts. Without a
// cache, compiled code goes with a journal that was put elsewhere.
func Within(cfg *config.Config, getenv func(string) string) {
	state, cache := getenv("STATE_DIRECTORY"), getenv("CACHE_DIRECTORY")
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

// Control gives the path of the control socket of a daemon.
func Control(cfg config.Config, getenv func(string) string) string {
	runtime, _, _ := strings.Cut(getenv("RUNTIME_DIRECTORY"), ":")
	return control.Path(runtime, cfg.Journal.Path)
}

// OnHangup does something on each SIGHUP, one after the other, until stop is called.
func OnHangup(do func()) (stop func()) {
	hups := make(chan os.Signal, 1)
	signal.Notify(hups, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range hups {
			do()
		}
	}()
	return func() {
		signal.Stop(hups)
		close(hups)
		<-done
	}
}

// Logger writes lines for people on a terminal and in systemd's journal, and JSON elsewhere.
func Logger(w io.Writer, c config.Log, terminal func(*os.File) bool) (log *slog.Logger, set func(level string)) {
	level := &slog.LevelVar{}
	set = func(to string) { _ = level.UnmarshalText([]byte(to)) } // the configuration was checked
	set(c.Level)
	f, isFile := w.(*os.File)
	journal := isFile && f == os.Stderr && service.Logged()
	text := c.Format == "text" || c.Format == "auto" && isFile && (journal || terminal(f))
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
		return slog.New(service.Prioritised(w, lines)), set
	}
	return slog.New(lines(w)), set
}
