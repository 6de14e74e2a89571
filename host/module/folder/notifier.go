package folder

import (
	"context"
	"sync"
)

// notifier says things in order, one at a time, in a goroutine of its own, so
// that the loader, which has something to say, never waits.
type notifier struct {
	mu    sync.Mutex
	queue []func()
	more  chan struct{} // holds one token while the queue may have something
}

func newNotifier() *notifier { return &notifier{more: make(chan struct{}, 1)} }

// say queues f.
func (n *notifier) say(f func()) {
	n.mu.Lock()
	n.queue = append(n.queue, f)
	n.mu.Unlock()
	select {
	case n.more <- struct{}{}:
	default:
	}
}

// run says what is queued until ctx ends.
func (n *notifier) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.more:
		}
		n.mu.Lock()
		queue := n.queue
		n.queue = nil
		n.mu.Unlock()
		for _, f := range queue {
			if ctx.Err() != nil {
				return
			}
			f()
		}
	}
}
