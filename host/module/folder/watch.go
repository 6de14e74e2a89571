package folder

import (
	"path/filepath"
	"strings"

	"github.com/fsnotify/fsnotify"
)

// lookout tells that something happened in a folder. It may miss things and may
// tell of nothing; the loader looks for itself. It watches folders, never files: a
// watch on a file dies when an editor puts another file in its place.
type lookout struct {
	events <-chan fsnotify.Event
	errors <-chan error
	// watch begins to look at what is directly in a folder. Watching one again
	// is free.
	watch func(folder string) error
	// forget ends it. Its error tells nothing new: the system has forgotten
	// already if the folder is gone.
	forget func(folder string) error
}

// blind is a lookout that sees nothing.
func blind() lookout {
	nothing := func(string) error { return nil }
	return lookout{watch: nothing, forget: nothing}
}

// nameOf gives the entry of a folder an event is about, the empty name for the
// folder itself; ok is false for events that mean nothing.
func nameOf(dir string, ev fsnotify.Event) (name string, ok bool) {
	if ev.Op&^fsnotify.Chmod == 0 {
		return "", false
	}
	rel, err := filepath.Rel(dir, ev.Name)
	if err != nil || rel == "." {
		return "", true
	}
	name, _, _ = strings.Cut(filepath.ToSlash(rel), "/")
	return name, !ignored(name) && !ignored(filepath.Base(rel))
}
