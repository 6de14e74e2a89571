// Package meaning asks models for vectors: of what is remembered, and of what it is looked for by.
//
// It keeps no vector longer than it is of use, never makes anybody wait longer than [Late], and
// knows neither what is remembered nor where that stands.
package meaning

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/memory/near"
	"github.com/companiond/companiond/host/module"
)

// What a model is asked for: no ops of modules.
const (
	OpRecall = "recall" // of what was said
	OpIndex  = "index"  // of what is remembered
)

const (
	// Late is how long a prompt waits for the vector of what was said. Without one words find.
	Late = 300 * time.Millisecond
	// Batch is how many texts are asked for at once.
	Batch = 64
	// queries is how many of the newest are kept: those who are in a room are told of the same
	// words, each for a vote and a line.
	queries = 16
	// inARow failures have a model left alone for a while.
	inARow = 3
	alone  = 30 * time.Second
	// longest is how many bytes of a text are asked for, enough of a query letters.
	longest = 1000
	enough  = 24
)

// Config is what a Finder stands on. Both must be set.
type Config struct {
	// Model gives the name of the model for vectors of a companion; empty: it has none.
	Model func(companion string) string
	Embed func(ctx context.Context, c module.Caller, texts []string) ([][]float32, error)
}

// Counts are how many queries there were since the daemon was started, and how many were left
// to words.
type Counts struct {
	Asked, Kept                  int // of a model; answered with what it said before
	Early, Late, Refused, Failed int // before it is known what is near; too late; over a bound; otherwise
}

// Finder asks. Make it with New; all methods may be called from many goroutines.
type Finder struct {
	cfg Config

	mu     sync.Mutex
	models map[string]*known
	kept   []*query // oldest first
	counts Counts
}

// known is what is known of a model in this run of the daemon.
type known struct {
	background []near.Vector // nil: it was not asked yet
	failed     int           // in a row
	until      time.Time     // it is left alone
}

// query is a text that somebody has asked for. What it became stands there when done is closed.
type query struct {
	model, text string
	done        chan struct{}
	near.Query
}

// New makes a finder. Nothing is asked yet.
func New(c Config) *Finder { return &Finder{cfg: c, models: map[string]*known{}} }

// Model gives the name of the model for vectors of a companion, and of how many numbers they are:
// 0 before [Finder.Ready].
func (f *Finder) Model(companion string) (name string, dims int) {
	if name = f.cfg.Model(companion); name == "" {
		return "", 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return name, f.of(name).dims()
}

func (f *Finder) of(model string) *known {
	if f.models[model] == nil {
		f.models[model] = &known{}
	}
	return f.models[model]
}

func (k *known) dims() int {
	if len(k.background) == 0 {
		return 0
	}
	return len(k.background[0])
}

// Counts gives how many there were.
func (f *Finder) Counts() Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts
}

// Forget lets go of all that is kept of what was said.
func (f *Finder) Forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept = nil
}

var errOthers = errors.New("the endpoint's vectors are not as long as they were")

// Ready learns how near a companion's model sees texts that have nothing in common, unless
// that is known.
func (f *Finder) Ready(ctx context.Context, companion string) error {
	model, dims := f.Model(companion)
	if dims > 0 {
		return nil
	}
	vectors, err := f.vectors(ctx, companion, near.Background())
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.of(model).background = vectors
	return nil
}

// Vectors gives vectors of what is remembered, at most [Batch] texts of it.
func (f *Finder) Vectors(ctx context.Context, companion string, texts []string) ([]near.Vector, error) {
	model, dims := f.Model(companion)
	all, err := f.vectors(ctx, companion, texts)
	if err != nil {
		return nil, err
	}
	if len(all[0]) != dims {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.of(model).background = nil
		return nil, errOthers
	}
	return all, nil
}

func (f *Finder) vectors(ctx context.Context, companion string, texts []string) (all []near.Vector, err error) {
	cut := make([]string, len(texts))
	for i, t := range texts {
		cut[i] = beginning(t)
	}
	got, err := f.cfg.Embed(ctx, module.Caller{Companion: companion, Op: OpIndex}, cut)
	if err != nil {
		return nil, err
	}
	if len(got) != len(texts) {
		return nil, errOthers
	}
	for _, numbers := range got {
		v := near.Of(numbers)
		if v == nil || len(v) != len(got[0]) {
			return nil, errOthers
		}
		all = append(all, v)
	}
	return all, nil
}

// beginning gives so much of a text as every model reads.
func beginning(text string) string {
	if len(text) <= longest {
		return text
	}
	i := longest
	for !utf8.RuneStart(text[i]) {
		i--
	}
	return text[:i]
}

// newest gives the end of several messages: the last one, and those before it where that says too
// little.
func newest(text string) string {
	text = strings.TrimSpace(text)
	i := len(text)
	for i > 0 && utf8.RuneCountInString(text[i:]) < enough {
		i = strings.LastIndexByte(strings.TrimRight(text[:i], "\n"), '\n') + 1
	}
	if text = text[i:]; len(text) > longest {
		i = len(text) - longest
		for !utf8.RuneStart(text[i]) {
			i++
		}
		text = text[i:]
	}
	return strings.TrimSpace(text)
}

// Query gives what is looked for where a companion is told a text, or false where words have to do:
// there is no vector, or none soon enough.
func (f *Finder) Query(ctx context.Context, c module.Caller, text string) (near.Query, bool) {
	model := f.cfg.Model(c.Companion)
	if text = newest(text); model == "" || text == "" {
		return near.Query{}, false
	}
	q, mine := f.begin(model, text)
	if q == nil {
		return near.Query{}, false
	}
	if mine {
		f.ask(ctx, c, q)
	}
	late := time.NewTimer(Late)
	defer late.Stop()
	select {
	case <-q.done:
		return q.Query, q.Vector != nil
	case <-late.C:
	case <-ctx.Done():
	}
	return near.Query{}, false
}

// begin gives a query, and whether the caller is to ask it.
func (f *Finder) begin(model, text string) (q *query, mine bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := f.of(model)
	switch {
	case k.dims() == 0:
		f.counts.Early++
		return nil, false
	case time.Now().Before(k.until):
		f.counts.Failed++
		return nil, false
	}
	for _, q := range f.kept {
		if q.model == model && q.text == text {
			f.counts.Kept++
			return q, false
		}
	}
	q = &query{model: model, text: text, done: make(chan struct{})}
	if f.kept = append(f.kept, q); len(f.kept) > queries {
		f.kept = slices.Delete(f.kept, 0, 1)
	}
	f.counts.Asked++
	return q, true
}

// ask asks a model for what a text is to be looked for by.
func (f *Finder) ask(ctx context.Context, c module.Caller, q *query) {
	defer close(q.done)
	soon, cancel := context.WithTimeout(ctx, Late)
	defer cancel()
	c.Op = OpRecall
	got, err := f.cfg.Embed(soon, c, []string{q.text})
	f.mu.Lock()
	defer f.mu.Unlock()
	k := f.of(q.model)
	var v near.Vector
	if err == nil && len(got) == 1 {
		v = near.Of(got[0])
	}
	switch {
	case len(v) > 0 && len(v) == k.dims():
		k.failed = 0
		q.Query = near.Query{Model: q.model, Vector: v, Floor: near.Floor(v, k.background)}
		return
	case err == nil: // it is another model than it was
		k.background = nil
		f.counts.Failed++
	case ctx.Err() != nil: // whoever asked is gone
	case abi.CodeOf(err) == abi.CodeExhausted:
		f.counts.Refused++
	case soon.Err() != nil:
		f.counts.Late++
		k.fails()
		return // it is not asked again
	default:
		f.counts.Failed++
		k.fails()
		return
	}
	f.kept = slices.DeleteFunc(f.kept, func(other *query) bool { return other == q }) // whoever asks next asks anew
}

// fails counts a failure.
func (k *known) fails() {
	if k.failed++; k.failed >= inARow {
		k.failed, k.until = 0, time.Now().Add(alone)
	}
}
