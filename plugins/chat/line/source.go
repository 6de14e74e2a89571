package line

import (
	"errors"
	"time"
)

// ErrOver says that a source has nothing more to tell, as a stream that has ended.
var ErrOver = errors.New("it is over")

// Later is why a source ended that is not to be asked again before a while.
type Later struct {
	Err   error
	After time.Duration
}

// Error gives the reason.
func (l *Later) Error() string { return l.Err.Error() }

// Unwrap gives it, too.
func (l *Later) Unwrap() error { return l.Err }
