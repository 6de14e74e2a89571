package compiler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/child"
	"github.com/companiond/companiond/host/module/wasm/codecache"
)

// Bounds of one compile. A Go character of 4 MiB takes 3 s and 95 MiB.
const (
	maxMemory = 384 << 20
	maxCPU    = 30 * time.Second
	maxCode   = 256 << 20
	// maxWall is the last resort: on a slow machine nothing else is at fault.
	maxWall = 15 * time.Minute
	// turnBase and turnPerMiB are the CPU time after which a file makes way for others that
	// wait: more than an ordinary file of its size needs. A file that is smaller waits for
	// no more than turnBase, once.
	turnBase   = 300 * time.Millisecond
	turnPerMiB = time.Second
	// maxKilled is how often a compile is begun again that somebody else ended.
	maxKilled = 3
	// maxRefused is how many files are remembered that are too much.
	maxRefused = 1000
)

// Job is what is to be compiled.
type Job struct {
	Image []byte
	Key   codecache.Key
	Name  string // of the file, for people
	// Progress hears what becomes of it: "waiting for a.wasm to be compiled", "being
	// compiled"; nil is nobody. It must not wait for the queue.
	Progress func(what string)
}

// Queue compiles one image at a time. Create it with NewQueue.
type Queue struct {
	store    *codecache.Store
	settings Settings
	command  []string
	log      *slog.Logger

	mu      sync.Mutex
	waiting []*task // by the order in which they are compiled, see before
	running *task
	refused map[codecache.Key]error
	closed  bool
	over    sync.WaitGroup
}

// task is an image that is wanted by somebody.
type task struct {
	Job
	round  int // how often it has made way for others
	killed int
	wanted map[*Job]struct{}
	cancel context.CancelFunc // of the child that compiles it, nil while it waits
	yields bool               // its child ends to make way
	done   chan struct{}
	err    error
}

// NewQueue makes a queue that starts command, a program that calls [Main] first, and puts
// code into store. Close ends it.
func NewQueue(store *codecache.Store, settings Settings, command []string, log *slog.Logger) *Queue {
	return &Queue{store: store, settings: settings, command: command, log: log, refused: make(map[codecache.Key]error)}
}

// Compile waits until the job's code is in the store. It may be asked for the same key by
// several at once; when the last has gone the compile ends.
//
// # Errors
//
// abi.CodeInvalid or CodeTooLarge for an image that cannot be compiled, again and again
// for the same; CodeUnavailable where no child can be started, or the queue is closed;
// CodeTimeout with what it waited for when ctx ended.
func (q *Queue) Compile(ctx context.Context, j Job) error {
	t, err := q.want(&j)
	if err != nil {
		return err
	}
	select {
	case <-t.done:
		return t.err
	case <-ctx.Done():
		return q.leave(t, &j, ctx.Err())
	}
}

// Close ends the compile under way and refuses all others. It waits for no compiler
// longer than for its process to die.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	if q.running != nil {
		q.running.cancel()
	}
	for _, t := range q.waiting {
		t.end(closing())
	}
	q.waiting = nil
	q.mu.Unlock()
	q.over.Wait()
}

func closing() error { return abi.Errorf(abi.CodeUnavailable, "the engine is closing") }

// end tells all who wait for a task.
func (t *task) end(err error) {
	t.err = err
	close(t.done)
}

// want puts a job into the queue, beside the others that want the same.
func (q *Queue) want(j *Job) (*task, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil, closing()
	}
	if err, ok := q.refused[j.Key]; ok {
		return nil, err
	}
	for _, t := range append(slices.Clone(q.waiting), q.running) {
		if t != nil && t.Key == j.Key && len(t.wanted) > 0 {
			t.wanted[j] = struct{}{}
			q.tell()
			return t, nil
		}
	}
	t := &task{Job: *j, wanted: map[*Job]struct{}{j: {}}, done: make(chan struct{})}
	q.put(t)
	q.next()
	return t, nil
}

// put has a task wait behind those that are before it.
func (q *Queue) put(t *task) {
	i, _ := slices.BinarySearchFunc(q.waiting, t, func(a, b *task) int {
		if a.round != b.round {
			return a.round - b.round
		}
		if len(a.Image) <= len(b.Image) { // of equals the first
			return -1
		}
		return 1
	})
	q.waiting = slices.Insert(q.waiting, i, t)
}

// leave takes a job out. The compile ends when nobody wants it any more.
func (q *Queue) leave(t *task, j *Job, why error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(t.wanted, j)
	behind := "compiling it took too long"
	if q.running != t {
		behind = "it waited for other files to be compiled"
	}
	if len(t.wanted) == 0 {
		if q.running == t {
			t.cancel()
		} else {
			q.waiting = slices.DeleteFunc(q.waiting, func(o *task) bool { return o == t })
			q.tell()
		}
	}
	return abi.Errorf(abi.CodeTimeout, "%s: %w", behind, why)
}

// next starts a child for the first that waits, where none runs. The caller has the lock.
func (q *Queue) next() {
	if q.running == nil && len(q.waiting) > 0 && !q.closed {
		t := q.waiting[0]
		q.waiting = q.waiting[1:]
		var ctx context.Context
		ctx, t.cancel = context.WithCancel(context.Background())
		t.yields = false
		q.running = t
		q.over.Go(func() { q.run(ctx, t) })
	}
	q.tell()
}

// tell says to everybody what becomes of their job. The caller has the lock.
func (q *Queue) tell() {
	say := func(t *task, what string) {
		for j := range t.wanted {
			if j.Progress != nil {
				j.Progress(what)
			}
		}
	}
	if q.running == nil {
		return
	}
	say(q.running, "being compiled")
	for i, t := range q.waiting {
		what := "waiting for " + q.running.Name + " to be compiled"
		if i > 0 {
			what = fmt.Sprintf("waiting for %s and %d more to be compiled", q.running.Name, i)
		}
		say(t, what)
	}
}

// run compiles a task in a child, and has the next one follow.
func (q *Queue) run(ctx context.Context, t *task) {
	err := q.child(ctx, t)
	q.mu.Lock()
	defer q.mu.Unlock()
	t.cancel()
	q.running = nil
	var ended *child.Ended
	switch {
	case err == nil:
		t.end(nil)
	case q.closed:
		t.end(closing())
	case len(t.wanted) == 0:
	case t.yields:
		t.round++
		q.put(t)
	case errors.As(err, &ended) && ended.Why == child.Killed && t.killed < maxKilled:
		t.killed++
		q.put(t)
	default:
		t.end(q.judge(t, err))
	}
	q.next()
}

// judge turns the end of a child into what is said of the file, and remembers it where it
// will be the same again. The caller has the lock.
func (q *Queue) judge(t *task, err error) error {
	var ended *child.Ended
	var exit *exec.ExitError
	if !errors.As(err, &ended) || errors.As(err, &exit) && exit.ExitCode() == exitDisk {
		return abi.Errorf(abi.CodeUnavailable, "the file could not be compiled: %w", err)
	}
	refuse := func(err error) error {
		if len(q.refused) >= maxRefused {
			clear(q.refused)
		}
		q.refused[t.Key] = err
		return err
	}
	switch ended.Why {
	case child.Memory:
		return refuse(abi.Errorf(abi.CodeTooLarge, "compiling it takes more than %d MiB of memory; make its functions smaller", maxMemory>>20))
	case child.CPU:
		return refuse(abi.Errorf(abi.CodeTooLarge, "compiling it takes more than %v of computing; make its functions smaller", maxCPU))
	case child.Failed:
		return refuse(abi.Errorf(abi.CodeInvalid, "the module cannot be compiled: %s", ended.Words))
	}
	return abi.Errorf(abi.CodeUnavailable, "the file could not be compiled: %w", err)
}

// child runs the compiler once.
func (q *Queue) child(ctx context.Context, t *task) error {
	dir, err := q.store.Private()
	if err != nil {
		return err
	}
	begun := time.Now()
	var last child.Usage
	err = child.Command{
		Path: q.command[0], Args: append(slices.Clone(q.command[1:]), q.settings.args(dir)...), Input: t.Image, Wall: maxWall,
		Limits: child.Limits{Memory: maxMemory, CPU: maxCPU, File: maxCode, Background: true},
		Line: func(line string) {
			if u, ok := used(line); ok {
				last = u
				q.progress(t, u.CPU)
			}
		},
	}.Run(ctx)
	if err != nil {
		q.store.Discard(dir)
		q.log.Debug("compile ended", "file", t.Name, "bytes", len(t.Image), "took", time.Since(begun), "cpu", last.CPU, "memory", last.Memory, "err", err)
		return err
	}
	q.log.Debug("compiled", "file", t.Name, "bytes", len(t.Image), "took", time.Since(begun), "cpu", last.CPU, "memory", last.Memory)
	return q.store.Adopt(t.Key, dir)
}

// progress ends the child of a file that has had its turn, where others wait.
func (q *Queue) progress(t *task, cpu time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running != t || len(q.waiting) == 0 || t.yields {
		return
	}
	first := q.waiting[0]
	turn := (turnBase + time.Duration(len(t.Image))*turnPerMiB>>20) << t.round
	smaller := t.round == 0 && len(first.Image) < len(t.Image) && cpu > turnBase
	if first.round <= t.round && (smaller || cpu > turn) {
		t.yields = true
		t.cancel()
	}
}

// This is the command of the program that runs.
func This() (command []string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("wasm: find the program that compiles: %w", err)
	}
	if _, err := os.Stat("/proc/self/exe"); err == nil {
		self = "/proc/self/exe" // the same also when another version took its place
	}
	return []string{self}, nil
}
