package model

import (
	"cmp"
	"slices"

	"github.com/companiond/companiond/host/model/tokens"
)

// ImageTokens is what a picture is guessed to be: what the APIs say of one of some 800 pixels.
const ImageTokens = 800

// count adds what a request used. Where the endpoint did not say, it is guessed, if anything of an
// answer came.
func (e *endpoint) count(used *Usage, req Request, t *turn) {
	in, out, cached := t.in, t.out, t.cached
	wrote := e.meter.Tokens(t.size())
	if in == 0 && out == 0 && !t.ended && wrote == 0 {
		return
	}
	switch {
	case in == 0:
		in, cached, used.Estimated = e.meter.Tokens(req.Size()), 0, true
	case !req.shows():
		e.meter.Learn(req.Size(), in)
	}
	if out == 0 {
		if out = wrote; out > 0 {
			used.Estimated = true
		}
	}
	cached = min(cached, in)
	price := cmp.Or(e.cfg.PriceCached, e.cfg.PriceIn)
	used.In += in
	used.Out += out
	used.Cached += cached
	used.Cost += (float64(in-cached)*e.cfg.PriceIn + float64(cached)*price + float64(out)*e.cfg.PriceOut) / 1e6
}

// shows says whether there are pictures in a request: endpoints count them each in a way of its own.
func (r Request) shows() bool {
	return slices.ContainsFunc(r.Messages, func(m Message) bool { return len(m.Images) > 0 })
}

// Size guesses what a request comes to.
func (r Request) Size() tokens.Size {
	s := tokens.Of(r.System).Plus(tokens.Of(string(r.Schema)))
	for _, m := range r.Messages {
		s = s.Plus(tokens.Of(m.Text)).Plus(tokens.Size{Rest: float64(4 + ImageTokens*len(m.Images))})
		for _, c := range m.Calls {
			s = s.Plus(tokens.Of(c.Name)).Plus(tokens.Of(string(c.Arguments)))
		}
	}
	for _, t := range r.Tools {
		s = s.Plus(tokens.Of(t.Name)).Plus(tokens.Of(t.Description)).Plus(tokens.Of(string(t.Schema)))
	}
	return s
}

// size guesses what an answer comes to.
func (t *turn) size() tokens.Size {
	// A server that moves from one name of the thoughts to the other sends them under both.
	thought := tokens.Of(t.thought.String())
	if reasoning := tokens.Of(t.reasoning.String()); reasoning.CJK+reasoning.Rest > thought.CJK+thought.Rest {
		thought = reasoning
	}
	s := tokens.Of(t.text.String()).Plus(tokens.Of(t.text.Thought())).Plus(thought)
	for _, c := range t.calls.List() {
		s = s.Plus(tokens.Of(c.Name)).Plus(tokens.Of(c.Arguments))
	}
	return s
}
