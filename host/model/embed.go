package model

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model/stream"
	"github.com/companiond/companiond/host/model/tokens"
	"github.com/companiond/companiond/host/model/vectors"
	"github.com/companiond/companiond/host/model/wire"
)

// ErrNoEmbeddings is in the chain of an error of Embed where no model for it is configured. It is the same
// until the configuration is another.
var ErrNoEmbeddings = errors.New("no model for embeddings is configured")

// maxVectors is how many bytes of vectors are taken at once: 64 of 8,192 numbers of 24 letters.
const maxVectors = 16 << 20

func (e *endpoint) Embed(ctx context.Context, texts []string) ([][]float32, Usage, error) {
	var used Usage
	if e.cfg.Embeddings == "" {
		err := abi.Wrap(abi.CodeUnavailable, ErrNoEmbeddings, "it makes no embeddings; set embeddings in [model."+e.cfg.Name+"] to a model for them")
		err.Retry = false
		return nil, used, e.named(err)
	}
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			return nil, used, e.named(abi.Errorf(abi.CodeInvalid, "texts[%d]: says nothing", i))
		}
	}
	var all [][]float32
	for from := 0; from < len(texts); from += vectors.Batch {
		batch := texts[from:min(from+vectors.Batch, len(texts))]
		some, err := e.embedSome(ctx, batch, &used)
		if err == nil {
			all = append(all, some...)
			if unlike := vectors.Alike(all); unlike != nil {
				err = wire.Failed(abi.CodeInvalid, false, unlike, "the endpoint's answers do not go together: %s", unlike)
			}
		}
		if err != nil {
			return nil, used, e.named(err)
		}
	}
	return all, used, nil
}

// embedSome asks for one batch, until it is answered or there is no use in it.
func (e *endpoint) embedSome(ctx context.Context, texts []string, used *Usage) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, e.cfg.Timeout)
	defer cancel()
	if err := e.enter(ctx); err != nil {
		return nil, err
	}
	defer e.leave()
	for n := 0; ; n++ {
		a, err := e.embedOnce(ctx, texts, used)
		if err == nil {
			used.In += a.In
			used.Cost += float64(a.In) * e.cfg.PriceIn / 1e6
			return a.Vectors, nil
		}
		if err := e.wait(ctx, n, err); err != nil {
			return nil, err
		}
	}
}

// embedOnce sends one request.
func (e *endpoint) embedOnce(ctx context.Context, texts []string, used *Usage) (a vectors.Answer, err error) {
	key, err := e.key()
	if err != nil {
		return a, err
	}
	at := e.at
	at.URL, at.Most = strings.TrimSuffix(at.URL, chatPath)+"/embeddings", maxVectors
	if err := e.at.Rest.Wait(ctx); err != nil {
		return a, err
	}
	used.Calls++
	err = at.Post(ctx, key, vectors.Request(e.cfg.Embeddings, texts), func(ev stream.Event) (bool, error) {
		if wire.Complains(ev.Data) {
			return true, wire.Streamed(ev.Data, key)
		}
		var wrong error
		if a, wrong = vectors.Read(ev.Data, len(texts)); wrong != nil {
			return true, wire.Unread(ev, wrong)
		}
		return true, nil
	})
	if err == nil && a.In == 0 {
		// The meter is of another model: what it learned is not so here.
		size := tokens.Size{}
		for _, text := range texts {
			size = size.Plus(tokens.Of(text))
		}
		a.In, used.Estimated = new(tokens.Meter).Tokens(size), true
	}
	return a, scrubbed(err, key)
}

// enter waits for a place, which leave gives back.
func (e *endpoint) enter(ctx context.Context) error {
	select {
	case e.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return wire.Ended(ctx, "none of the "+strconv.Itoa(e.cfg.Parallel)+" places at the model became free")
	}
}

func (e *endpoint) leave() { <-e.places }
