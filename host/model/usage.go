package model

import (
	"cmp"
	"unicode/utf8"
)

// imageTokens is what a picture is guessed to be: what the APIs say of one of some 800 pixels.
const imageTokens = 800

// count adds what a request used. Where the endpoint did not say, it is guessed, if anything of an
// answer came.
func (e *endpoint) count(used *Usage, req Request, t *turn) {
	in, out, cached := t.in, t.out, t.cached
	if in == 0 && out == 0 && !t.ended && t.tokens() == 0 {
		return
	}
	if in == 0 {
		in, cached, used.Estimated = req.tokens(), 0, true
	}
	if out == 0 {
		if out = t.tokens(); out > 0 {
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

func (r Request) tokens() int {
	n := tokens(r.System) + tokens(string(r.Schema))
	for _, m := range r.Messages {
		n += 4 + tokens(m.Text) + imageTokens*len(m.Images)
		for _, c := range m.Calls {
			n += tokens(c.Name) + tokens(string(c.Arguments))
		}
	}
	for _, t := range r.Tools {
		n += tokens(t.Name) + tokens(t.Description) + tokens(string(t.Schema))
	}
	return n
}

func (t *turn) tokens() int {
	// A server that moves from one name of the thoughts to the other sends them under both.
	n := tokens(t.text.String()) + tokens(t.text.Thought()) + max(tokens(t.thought.String()), tokens(t.reasoning.String()))
	for _, c := range t.calls.List() {
		n += tokens(c.Name) + tokens(c.Arguments)
	}
	return n
}

// tokens guesses: four ASCII letters are a token, and so is any other character.
func tokens(s string) int {
	ascii, other := 0, 0
	for _, r := range s {
		if r < utf8.RuneSelf {
			ascii++
		} else {
			other++
		}
	}
	return (ascii+3)/4 + other
}
