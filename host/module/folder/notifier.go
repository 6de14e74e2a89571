package folder

import (
	"context"
	"sync"
)

// notifier says things in order, one at a time, in a goroutine of its own, so
// that whoever has something to say never waits.
type notifier struct {
	mu    sync.Mutex
	queue []func()
	more  chan struct{} // holds one token while the queue may have something
}

func newNotifier() *notifier { return &notifier{more: make(chan struct{}, 1)} }

// say queues f.
func (t *notifier) say(f func()) {
	t.mu.Lock()
	t.queue = append(t.queue, f)
	t.mu.Unlock()
	select {
	case t.more <- struct{}{}:
	default:
	}
}

// run says what is queued until ctx ends.
func (t *notifier) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.more:
		}
		t.mu.Lock()
		queue := t.queue
		t.queue = nil
		t.mu.Unlock()
		for _, f := range queue {
			if ctx.Err() != nil {
				return
			}
			f()
		}
	}
}
