// Package runs finds, for what a handler is shown or asked to do, the Run that it belongs to: a program may serve
// several handlers, each with settings of its own.
//
// It starts nothing, and keeps nothing of a Run that has ended.
package runs

import (
	"encoding/json"
	"reflect"
	"slices"
	"sync"

	"github.com/companiond/companiond/abi"
)

// List has what runs, each with a T of its own. Its zero value is empty, and it may be used from several goroutines.
type List[T any] struct {
	mu  sync.Mutex
	all []*run[T]
}

type run[T any] struct {
	settings   any
	companions []string
	x          T
}

// Enter says that a Run has begun, and leave that it ended.
func (l *List[T]) Enter(r abi.Running, x T) (leave func()) {
	mine := &run[T]{meant(r.Settings), slices.Clone(r.Companions), x}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, mine)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = slices.DeleteFunc(l.all, func(r *run[T]) bool { return r == mine })
	}
}

// Of gives what runs with these settings for a companion, and for whichever where that is empty; of two that do, the one that
// began last.
func (l *List[T]) Of(settings json.RawMessage, companion string) (x T, ok bool) {
	want := meant(settings)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range slices.Backward(l.all) {
		if (companion == "" || slices.Contains(r.companions, companion)) && reflect.DeepEqual(r.settings, want) {
			return r.x, true
		}
	}
	return x, false
}

// meant gives settings in a form in which two that say the same are equal.
func meant(settings json.RawMessage) (v any) {
	if len(settings) == 0 || json.Unmarshal(settings, &v) != nil || v == nil {
		return map[string]any{}
	}
	return v
}
