package scrub

import (
	"strings"
	"unicode"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// This file is how others use the words and names, by which some of them are nobody's.

// Weigh reads an entry for what others said.
func (g *Gatherer) Weigh(e entry.Entry) {
	g.learned()
	if e.Kind != entry.KindSaid && e.Kind != entry.KindSegment {
		return
	}
	body := object(e.Body)
	text, _ := body["text"].(string)
	if text == "" || g.owns(e.Kind, body) {
		return
	}
	who, _ := body["from"].(string)
	if g.tells[who] {
		return
	}
	g.others++
	at, lower := e.At.UnixMilli(), plain(text)
	if author(e.Kind, body) != "" {
		g.lines++
		g.weighNames(lower, who, at)
	}
	seen := map[*weight]bool{}
	use := func(w *weight) {
		if w == nil || seen[w] {
			return
		}
		seen[w] = true
		if w.hits++; at < w.at && e.Kind == entry.KindSaid {
			if w.before == nil {
				w.before = map[string]bool{}
			}
			w.before[who] = true
		}
		if body["by"] == string(abi.KindHuman) && len(g.spoke) > 0 && !g.spoke[g.room] {
			if w.apart == nil {
				w.apart = map[string]bool{}
			}
			w.apart[who] = true
		}
	}
	runs(lower, func(w string, _ script) { use(g.words[w]) })
	for w, x := range g.loose {
		if x.hits < muchOf && has(lower, w) {
			use(x)
		}
	}
	windows(lower, func(h uint64) bool { use(g.runs[h]); return true })
	if len(g.phrases) > 0 {
		letters := lettersOf(lower)
		for p, x := range g.phrases {
			if strings.Contains(letters, p) {
				use(x)
			}
		}
	}
}

// single says whether a word is one run that ends where its script does, so that it is found by
// looking it up.
func single(w string) bool {
	n, bounded := 0, true
	runs(w, func(_ string, of script) { n++; bounded = bounded && of.bounded() })
	return n == 1 && bounded && !strings.ContainsFunc(w, unicode.IsSpace)
}

// weighNames looks for the names in what a person said, where they may be words like others.
func (g *Gatherer) weighNames(text, who string, at int64) {
	if g.finder == nil {
		g.finder = &Words{longer: map[string]bool{}}
		g.nameTo(g.finder)
	}
	for _, n := range g.finder.names {
		i := g.finder.spot(text, n, 0, some)
		if i < 0 || marked(text, i, i+len(n)) {
			continue
		}
		u := g.called[n]
		if u == nil {
			u = &use{before: map[string]bool{}, all: map[string]bool{}}
			g.called[n] = u
		}
		u.lines++
		u.all[who] = true
		if at < g.first {
			u.before[who] = true
		}
	}
}

// isWord says whether a name is a word that others use, too: before the person came, or in more than half of what they say.
func (g *Gatherer) isWord(u *use) bool {
	return g.Alone && len(u.before) >= manyBefore || len(u.all) >= manyBefore && g.lines >= manyLines && 2*u.lines > g.lines
}
