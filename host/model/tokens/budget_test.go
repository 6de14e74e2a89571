package tokens_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/model/tokens"
	"github.com/companiond/companiond/host/model/tokens/tokenstest"
)

// prompt fills a budget with messages of 10 to 15,000 letters of a kind, as far as the meter's guess and its
// reserve allow. Of a message that does not fit the beginning and the end are taken.
func prompt(m *tokens.Meter, talk *tokenstest.Talk, random *rand.Rand, kind tokenstest.Kind, budget int) sample {
	most := int(float64(budget) * (1 - m.Reserve()))
	text := "You are Aya. You answer in one or two sentences, in the language of whoever speaks to you.\n"
	size := tokens.Of(text)
	for {
		letters := int(10 * math.Pow(1500, random.Float64()))
		more := talk.Text(kind, letters) + "\n"
		if all := size.Plus(tokens.Of(more)); m.Tokens(all) <= most {
			text, size = text+more, all
			continue
		}
		head, tail := tokens.Cut(more, most-m.Tokens(size)-3, m)
		more = head + "…" + tail
		size = size.Plus(tokens.Of(more))
		if m.Tokens(size) > most {
			panic("the cut text is over the guess")
		}
		return sample{kind: kind, budget: budget, guess: m.Tokens(size), text: text + more}
	}
}

// mixedCall is a prompt of an ordinary room: some lines of each kind.
func mixedCall(talk *tokenstest.Talk, random *rand.Rand) string {
	var b strings.Builder
	for _, kind := range tokenstest.Kinds() {
		for range random.IntN(12) {
			b.WriteString(talk.Line(kind) + "\n")
		}
	}
	return b.String() + talk.Line(tokenstest.Mixed)
}

// What a budget and the reserve let through is within the budget by the vocabularies of real models: at once,
// and after ten calls by which the meter has learned.
func TestWithinTheBudget(t *testing.T) {
	const seeds = 3
	var calls []string
	for seed := range seeds {
		talk, random := tokenstest.NewTalk(uint64(seed)), rand.New(rand.NewPCG(uint64(seed), 1))
		for range 10 {
			calls = append(calls, mixedCall(talk, random))
		}
	}
	for _, family := range tokenstest.Families() {
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			reported := tokenstest.Count(t, family, calls)
			var samples []sample
			for seed := range seeds {
				m := new(tokens.Meter)
				samples = append(samples, prompts(m, seed, "at once")...)
				for i, n := range reported[10*seed : 10*seed+10] {
					m.Learn(tokens.Of(calls[10*seed+i]), n)
				}
				samples = append(samples, prompts(m, seed, "after ten calls")...)
			}
			check(t, family, samples)
		})
	}
}

// sample is a prompt that is within a budget, as far as the meter knows.
type sample struct {
	when   string
	kind   tokenstest.Kind
	budget int
	guess  int
	text   string
}

// prompts gives some of all kinds.
func prompts(m *tokens.Meter, seed int, when string) (all []sample) {
	talk, random := tokenstest.NewTalk(uint64(100+seed)), rand.New(rand.NewPCG(uint64(seed), 2))
	for _, kind := range tokenstest.Kinds() {
		for _, budget := range []int{2000, 8000, 128_000} {
			if budget > 8000 && (testing.Short() || seed > 0 || kind != tokenstest.Mixed) {
				continue
			}
			p := prompt(m, talk, random, kind, budget)
			p.when = when
			all = append(all, p)
		}
	}
	return all
}

// check counts what was guessed.
func check(t *testing.T, family string, samples []sample) {
	var texts []string
	for _, s := range samples {
		texts = append(texts, s.text)
	}
	off, signed := map[string][]float64{}, map[string][]float64{}
	for i, n := range tokenstest.Count(t, family, texts) {
		s := samples[i]
		if n > s.budget {
			t.Errorf("%s, %s, budget %d: %d tokens, guessed %d", s.when, s.kind, s.budget, n, s.guess)
		}
		e := float64(s.guess)/float64(n) - 1
		off[s.when], signed[s.when] = append(off[s.when], math.Abs(e)), append(signed[s.when], e)
	}
	for when, es := range off {
		slices.Sort(es)
		t.Logf("%s: off by %.1f %% in the middle, %+.0f %% .. %+.0f %% of %d", when, 100*es[len(es)/2],
			100*slices.Min(signed[when]), 100*slices.Max(signed[when]), len(es))
	}
}
