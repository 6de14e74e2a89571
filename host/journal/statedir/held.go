package statedir

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/companiond/companiond/host/journal"
)

// Held is files as they were found. A file of ours is never exchanged while it is
// open, so another one at its path is somebody else's work.
type Held []pin

// Hold notes which files are at the paths now.
func Hold(paths ...string) (Held, error) {
	var h Held
	for _, path := range paths {
		p, err := newPin(path)
		if err != nil {
			return nil, fmt.Errorf("%w: look at journal: %w", journal.ErrUnavailable, err)
		}
		h = append(h, p)
	}
	return h, nil
}

// Gone says that what is open is not what others find.
type Gone string

func (e Gone) Unwrap() error { return journal.ErrUnavailable }
func (e Gone) Error() string { return journal.ErrUnavailable.Error() + ": " + string(e) }

// Look says, as Gone, that a file is no longer the one at its path. Anything
// written to a file without a name is lost with the process, and where the path
// names another file, another daemon may be using that.
func (h Held) Look() error {
	for _, p := range h {
		switch still, err := p.still(); {
		case errors.Is(err, fs.ErrNotExist):
			return Gone(p.path + " was deleted or moved away")
		case err != nil:
			return Gone(fmt.Sprintf("%s cannot be looked at: %v", p.path, err))
		case !still:
			return Gone(p.path + " is another file than the one that is open")
		}
	}
	return nil
}
