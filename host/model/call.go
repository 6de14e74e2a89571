package model

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model/stream"
	"github.com/companiond/companiond/host/model/tokens"
	"github.com/companiond/companiond/host/model/trouble"
	"github.com/companiond/companiond/host/model/wire"
)

// endpoint is the Client: what is common to the APIs.
type endpoint struct {
	cfg    Config
	api    adapter
	at     wire.Endpoint
	ladder []string // how structured answers are asked for, one way after the other
	places chan struct{}
	pause  func(n int, asked time.Duration) time.Duration
	ids    atomic.Uint64 // of calls that came without
	meter  *tokens.Meter

	trouble trouble.Log
	mu      sync.Mutex
	known   quirks
}

func (e *endpoint) Name() string { return e.cfg.Name }

func (e *endpoint) Meter() *tokens.Meter { return e.meter }

func (e *endpoint) Generate(ctx context.Context, req Request, onText func(string) error) (Answer, error) {
	if err := req.check(); err != nil {
		return Answer{}, e.named(err)
	}
	ctx, cancel := context.WithTimeout(ctx, e.cfg.Timeout)
	defer cancel()
	if err := e.enter(ctx); err != nil {
		return Answer{}, e.named(err)
	}
	defer e.leave()
	req = req.filled(e.cfg)
	var used Usage
	var answer Answer
	var err, heard error
	if req.Schema != nil {
		answer, err = e.structured(ctx, req, &used)
	} else {
		var t *turn
		if t, err = e.ask(ctx, req, hearing(onText, &heard), &used); err == nil {
			answer = e.answer(req, t)
		}
	}
	switch {
	case heard != nil:
		return Answer{Usage: used}, heard
	case abi.CodeOf(err) == abi.CodeExhausted: // of Request.Before, which says whose it is
		return Answer{Usage: used}, err
	case err != nil:
		e.tell(ctx, req, err)
		return Answer{Usage: used}, e.named(err)
	}
	e.trouble.Answered(req.SchemaName)
	answer.Usage = used
	return answer, nil
}

var errNoTools = errors.New("it cannot call tools")

// tell logs that a request failed. One that its caller gave up says nothing of the model.
func (e *endpoint) tell(ctx context.Context, req Request, err error) {
	why := abi.AsError(err).Message
	switch {
	case errors.Is(ctx.Err(), context.Canceled), errors.Is(err, errNoTools): // that was told
	case errors.Is(err, errUseless):
		e.trouble.Useless(req.SchemaName, why)
	default:
		e.trouble.Away(why)
	}
}

// hearing notes what the listener says, which may be of any type.
func hearing(onText func(string) error, heard *error) func(string) error {
	if onText == nil {
		return nil
	}
	return func(delta string) error {
		*heard = onText(delta)
		return *heard
	}
}

// named makes an error one that crosses borders and says whose it is.
func (e *endpoint) named(err error) error {
	named := *abi.AsError(err)
	named.Message = "model " + e.cfg.Name + ": " + named.Message
	return &named
}

// ask sends a request until it is answered or there is no use in it.
func (e *endpoint) ask(ctx context.Context, req Request, onText func(string) error, used *Usage) (*turn, error) {
	_, q := e.know(0, 0)
	for n := 0; ; {
		if q.has(noTools) && req.NeedsTools && hasTools(req) {
			return nil, wire.Failed(abi.CodeUnavailable, false, errNoTools, "the model %s cannot call tools", e.cfg.Model)
		}
		t, err := e.once(ctx, req, q, onText, used)
		if err == nil {
			e.learn(q, t)
			if !t.starved() || q.has(needsRoom) || req.MaxTokens == 0 {
				return t, nil
			}
			e.cfg.Log.Info("the model is asked again, with room for its thoughts", "model", e.cfg.Name)
			q |= needsRoom
			continue
		}
		var f *wire.Failure
		if !errors.As(err, &f) || t.text.Told() {
			return nil, err
		}
		if next, ok := e.adapted(q, f, req); ok {
			e.adapting(q, next, f)
			q = next
			continue
		}
		if err := e.wait(ctx, n, err); err != nil {
			return nil, err
		}
		n++
	}
}

// wait waits until the request that failed is to be sent again, after n that were; it gives the error where it
// is not.
func (e *endpoint) wait(ctx context.Context, n int, err error) error {
	var f *wire.Failure
	if !errors.As(err, &f) || !f.Again || n >= e.cfg.Retries {
		return err
	}
	pause := e.pause(n, f.After)
	e.cfg.Log.Info("the model is asked again", "model", e.cfg.Name, "in", pause, "why", f.Coded.Message)
	if sleep(ctx, pause) {
		return nil
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return wire.Ended(ctx, "the model did not answer")
	}
	return err
}

// once sends one request.
func (e *endpoint) once(ctx context.Context, req Request, q quirks, onText func(string) error, used *Usage) (*turn, error) {
	t := &turn{text: stream.NewText("", false, nil)}
	key, err := e.key()
	if err != nil {
		return t, err
	}
	req = e.suited(req, q)
	t.key, t.text = key, stream.NewText(key, q.has(thinks), onText)
	if err = e.at.Rest.Wait(ctx); err == nil && req.Before != nil {
		err = req.Before()
	}
	if err != nil {
		return t, err
	}
	used.Calls++
	err = e.at.Post(ctx, key, e.body(req, q), func(ev stream.Event) (bool, error) { return e.api.event(ev, t) })
	if err == io.EOF { // not wrapped: a failure's cause may be one as well
		err = nil
		if !t.ended {
			err = wire.Cut()
		}
	}
	if err == nil {
		if t.stop == StopLength && !q.has(noRoom) {
			t.text.Cut()
		}
		err = t.text.End()
	}
	e.count(used, req, t)
	return t, scrubbed(err, key)
}

// scrubbed gives an error without the key, whoever wrote it.
func scrubbed(err error, key string) error {
	var f *wire.Failure
	if errors.As(err, &f) {
		f.Coded.Message = stream.Scrub(f.Coded.Message, key)
	}
	return err
}

// key reads the key.
func (e *endpoint) key() (string, error) {
	if e.cfg.Key == nil {
		return "", nil
	}
	key, err := e.cfg.Key()
	if err != nil {
		return "", abi.Errorf(abi.CodeUnavailable, "the key cannot be read: %w", err)
	}
	key = strings.TrimSpace(key)
	if strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", abi.Errorf(abi.CodeInvalid, "the key has a character that no header can carry")
	}
	return key, nil
}

// answer gives a turn as its caller sees it.
func (e *endpoint) answer(req Request, t *turn) Answer {
	a := Answer{Text: t.text.String(), Stop: t.stop}
	a.Calls = played(t.calls.List(), req.Tools, e.freshID, t.text.Whole)
	switch {
	case len(a.Calls) > 0 && (a.Stop == StopEnd || a.Stop == ""):
		a.Stop = StopTools // some servers say that they stopped
	case len(a.Calls) == 0 && (a.Stop == StopTools || a.Stop == ""):
		a.Stop = StopEnd
	}
	if len(a.Calls) > 0 {
		a.Calls[0].thought = thought{text: t.thought.String()}
		for _, b := range t.blocks {
			a.Calls[0].thought.blocks = append(a.Calls[0].thought.blocks, b.back())
		}
	}
	return a
}

func (e *endpoint) freshID() string { return "call_" + strconv.FormatUint(e.ids.Add(1), 10) }
