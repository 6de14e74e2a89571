package module

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"time"

	"github.com/companiond/companiond/abi"
)

// job is one try to make a generation of a file.
type job struct {
	slot    *slot
	src     source
	number  uint64 // of the generation it will be
	serving key    // content that needs no load
	refused key    // content that was tried already
	cancel  context.CancelFunc
	stale   bool // nobody wants its outcome any more; the loader's field
}

// outcome is what became of a job: a module, an error, or neither if the
// content is known.
type outcome struct {
	*job
	key    key // of the content; zero if it could not be read
	module Module
	err    error
	final  bool      // err is about the content: the same bytes would fail again
	read   time.Time // when reading began
}

// load reads and loads the file of a job. It runs beside the loader and
// touches none of its state.
func (f *Folder) load(ctx context.Context, j *job) (o outcome) {
	o = outcome{job: j, read: time.Now()}
	data, err := readWhole(j.src.path, f.cfg.MaxFile)
	if err != nil {
		var e *abi.Error
		o.err, o.final = err, errors.As(err, &e)
		if errors.Is(err, fs.ErrNotExist) {
			o.err = errMoving
		}
		return o
	}
	o.key = keyOf(j.src.engine, data)
	if o.key == j.serving || o.key == j.refused {
		return o
	}
	o.module, o.err = f.ask(ctx, j, data)
	if o.err != nil {
		o.final = !abi.AsError(o.err).Retry
	}
	return o
}

// ask lets the engine load. An engine that panics over a file refuses it.
func (f *Folder) ask(ctx context.Context, j *job, data []byte) (m Module, err error) {
	defer func() {
		if p := recover(); p != nil {
			f.cfg.Log.Error("engine panicked in a load", "engine", j.src.engine.Name(), "file", j.src.show,
				"panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			m, err = nil, abi.Errorf(abi.CodeInternal, "engine %s panicked: %v", j.src.engine.Name(), p)
		}
	}()
	m, err = j.src.engine.Load(ctx, File{ID: j.slot.id, Path: j.src.show, Data: data, Generation: j.number})
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, abi.Errorf(abi.CodeTimeout, "did not load within %v: %s", f.cfg.LoadTimeout, reason(err))
	case err == nil && m == nil:
		return nil, abi.Errorf(abi.CodeInternal, "engine %s gave no module", j.src.engine.Name())
	case err == nil:
		d := m.Describe()
		if _, err = readCard(d); err == nil {
			err = f.cfg.Grants.check("describe.needs", j.slot.id, d.Needs...)
		}
		if err != nil {
			return nil, errors.Join(err, m.Close(context.WithoutCancel(ctx)))
		}
	}
	return m, err
}
