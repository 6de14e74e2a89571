package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder/whole"
)

// job is one try to make a generation of a file.
type job struct {
	slot    *slot
	src     source
	number  uint64 // of the generation it will be
	serving key    // content that needs no load
	refused key    // content that was tried already
	stale   bool   // nobody wants its outcome any more; the loader's field

	ctx    context.Context // ends with errLate when the load takes too long
	cancel context.CancelCauseFunc
	late   *time.Timer
	doing  atomic.Pointer[string] // what it waits for, nil for nothing
}

var errLate = errors.New("took too long")

// newJob makes a try that may take so long.
func newJob(ctx context.Context, patience time.Duration) *job {
	j := &job{}
	j.ctx, j.cancel = context.WithCancelCause(ctx)
	j.late = time.AfterFunc(patience, func() { j.cancel(errLate) })
	return j
}

// end gives back what a job holds.
func (j *job) end() {
	j.late.Stop()
	j.cancel(nil)
}

// progress notes what a job waits for. Meanwhile it is not late.
func (j *job) progress(what string, patience time.Duration) {
	j.doing.Store(&what)
	if what == "" {
		j.late.Reset(patience)
	} else {
		j.late.Stop()
	}
}

// loading is what a load does that waits for nothing.
const loading = "being loaded"

// waits gives what a load waits for, loading for nothing, and "" where there is no load.
func (v view) waits() string {
	if v.job == nil {
		if v.queued {
			return "waiting for other files to be loaded"
		}
		return ""
	}
	if what := v.job.doing.Load(); what != nil && *what != "" {
		return *what
	}
	return loading
}

// outcome is what became of a job: a module, an error, or neither if the
// content is known.
type outcome struct {
	*job
	key    key // of the content; zero if it could not be read
	module module.Module
	err    error
	final  bool      // err is about the content: the same bytes would fail again
	read   time.Time // when reading began
}

// load reads and loads the file of a job. It runs beside the loader and
// touches none of its state. Of those that do not wait for something yet there are few at
// a time, for each holds some copies of its file.
func (f *Folder) load(j *job) (o outcome) {
	select {
	case f.reading <- struct{}{}:
	case <-j.ctx.Done():
		return outcome{job: j, read: time.Now(), err: context.Cause(j.ctx)}
	}
	var read sync.Once
	done := func() { read.Do(func() { <-f.reading }) }
	defer done()
	o = outcome{job: j, read: time.Now()}
	s, err := j.src.read(j.slot.id, j.number, f.cfg.MaxFile)
	if err != nil {
		var e *abi.Error
		o.err, o.final = err, errors.As(err, &e)
		if errors.Is(err, fs.ErrNotExist) {
			o.err = whole.ErrMoving
		}
		return o
	}
	o.key = key{j.src.engine.Name(), s.Hash}
	if o.key == j.serving || o.key == j.refused {
		return o
	}
	s.Progress = func(what string) {
		done()
		j.progress(what, f.cfg.LoadTimeout)
	}
	o.module, o.err = f.ask(j.ctx, j.src.engine, s)
	if o.err != nil {
		o.final = !abi.AsError(o.err).Retry
	}
	return o
}

// ask lets the engine load. An engine that panics over a source refuses it.
func (f *Folder) ask(ctx context.Context, e module.Engine, s module.Source) (m module.Module, err error) {
	defer func() {
		if p := recover(); p != nil {
			f.cfg.Log.Error("engine panicked in a load", "engine", e.Name(), "file", s.Name,
				"panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			m, err = nil, abi.Errorf(abi.CodeInternal, "engine %s panicked: %v", e.Name(), p)
		}
	}()
	m, err = e.Load(ctx, s)
	switch {
	case err != nil && context.Cause(ctx) == errLate:
		return nil, abi.Errorf(abi.CodeTimeout, "did not load within %v: %s", f.cfg.LoadTimeout, module.Reason(err))
	case err == nil && m == nil:
		return nil, abi.Errorf(abi.CodeInternal, "engine %s gave no module", e.Name())
	case err == nil:
		if err = f.admit(s.ID, m.Describe()); err != nil {
			return nil, errors.Join(err, m.Close(context.WithoutCancel(ctx)))
		}
	}
	return m, err
}

// admit refuses a module by what it says of itself.
func (f *Folder) admit(id string, d abi.Description) error {
	return Admit(id, d, f.cfg.Handlers, f.cfg.Grants)
}

// Admit refuses a module by what it says of itself, in a folder where handlers may be or may not.
func Admit(id string, d abi.Description, handlers bool, grants module.Grants) error {
	if !module.IsCharacter(d) && !handlers {
		return abi.Errorf(abi.CodeInvalid, "describe.kind: %q: only a character can live in a room; a handler belongs into modules.plugins", d.Kind)
	}
	if !module.IsCharacter(d) {
		if err := module.CheckHandler(d); err != nil {
			return err
		}
	}
	if _, err := module.ReadCard(d); err != nil {
		return err
	}
	return grants.Check("describe.needs", id, d.Needs...)
}
