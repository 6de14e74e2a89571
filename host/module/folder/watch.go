package folder

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/fsnotify/fsnotify"
)

// lookout tells that something happened to an entry of the folder. It may miss
// things and may tell of nothing; the loader looks for itself.
type lookout interface {
	// names gives names of entries directly in the folder, and the empty name
	// for the folder itself or for things that were missed.
	names() <-chan string
	// watch begins to look at what is directly in a folder. Watching one again
	// is free.
	watch(folder string) error
	// forget ends it; a folder that is not watched is no error.
	forget(folder string)
}

// watcher is the lookout that asks the system. It watches folders, never
// files: a watch on a file dies when an editor puts another file in its place.
type watcher struct {
	dir string
	fs  *fsnotify.Watcher
	out chan string
	log *slog.Logger
}

func newWatcher(dir string, log *slog.Logger) (*watcher, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return &watcher{dir: dir, fs: w, out: make(chan string), log: log}, nil
}

func (w *watcher) names() <-chan string { return w.out }

func (w *watcher) watch(folder string) error { return w.fs.Add(folder) }

func (w *watcher) forget(folder string) {
	_ = w.fs.Remove(folder) // the system has forgotten already if the folder is gone
}

// run passes names on until ctx ends, then lets go of all watches.
func (w *watcher) run(ctx context.Context) {
	defer w.fs.Close()
	for {
		var name string
		select {
		case <-ctx.Done():
			return
		case ev := <-w.fs.Events:
			var ok bool
			if name, ok = w.nameOf(ev); !ok {
				continue
			}
		case err := <-w.fs.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				w.log.Warn("watching files", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case w.out <- name:
		}
	}
}

// nameOf gives the entry of the folder an event is about; ok is false for
// events that mean nothing.
func (w *watcher) nameOf(ev fsnotify.Event) (name string, ok bool) {
	if ev.Op&^fsnotify.Chmod == 0 {
		return "", false
	}
	rel, err := filepath.Rel(w.dir, ev.Name)
	if err != nil || rel == "." {
		return "", true
	}
	name, _, _ = strings.Cut(filepath.ToSlash(rel), "/")
	return name, !ignored(name) && !ignored(filepath.Base(rel))
}
