// Package bench measures rules of turn taking: the house's own policies and those of
// others, with the same casts, on a clock of its own. [Run] gives the figures of
// each, what failed a gate, and where a policy of the house is not ahead.
//
// It asks no model, opens no connection and reads no clock. Its figures depend on the
// seed, the rules and the code alone. docs/BENCH.md explains them.
package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/bench/baseline"
	"github.com/companiond/companiond/host/bench/house"
	"github.com/companiond/companiond/host/bench/world"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/speech"
	"github.com/companiond/companiond/host/turn"
)

// Options say what is measured.
type Options struct {
	Seed     string   // equal seeds give equal figures
	Talks    int      // for each cast and policy
	Casts    []string // by name; nil: all of [Casts]
	Policies []string // by name; nil: all of [Policies]
	// Rules are those of the rooms of the house, but for policy and seed. The
	// settings of a pool are passed on to policies that have one. Where members have
	// spoken MaxTurns times since a person did, silence is no fault, of others' rules either.
	Rules entry.Rules
	// Speech is how long a text takes to say aloud.
	Speech func(text string) time.Duration
	// Minds loads real characters, anew for each talk, and done ends them: they are
	// measured, as a cast of their own that Yours makes, and Casts must be nil. What they
	// take is real, so the figures are of one run. Nil: casts of models.
	Minds func() (m world.Minds, done func() error, err error)
	Yours world.Cast
	// Flags are those of companiond bench that make these options, beside -seed, -cast,
	// -policy and -talks, each behind a space: failures say them.
	Flags string
}

// Policies gives the names of what can be measured, the house's own first.
func Policies() []string { return append(turn.Names(), baseline.Names()...) }

// Result is what came of it.
type Result struct {
	Seed  string `json:"seed"`
	Talks int    `json:"talks"` // for each cast and policy
	Casts []Cast `json:"casts"`
	// Failures are gates that failed. Without one the policies of the house hold what
	// they promise, as far as this can tell.
	Failures []Failure `json:"failures"`
	// Behind is where a policy of the house is not ahead of another.
	Behind []Behind `json:"behind"`
}

// Cast is the figures of a cast.
type Cast struct {
	Name string `json:"name"`
	Why  string `json:"why"`
	Rows []Row  `json:"rows"`
}

// Row is the figures of a policy.
type Row struct {
	Policy  string  `json:"policy"`
	House   bool    `json:"house"` // one of companiond's own
	Metrics Metrics `json:"metrics"`
}

// Failure is a gate that a policy of the house did not hold in a talk.
type Failure struct {
	Gate   string `json:"gate"`
	Cast   string `json:"cast"`
	Policy string `json:"policy"`
	Seed   string `json:"seed"` // of all talks
	Talk   int    `json:"talk"` // 1, 2, 3, ...
	What   string `json:"what"`

	flags string // to type, beside those of the fields above
}

// String says what failed and what to type to see it again.
func (f Failure) String() string {
	var cast string // those of voices and of real characters have names that cannot be asked for
	if slices.ContainsFunc(Casts(), func(c world.Cast) bool { return c.Name == f.Cast }) {
		cast = " -cast " + f.Cast
	}
	return fmt.Sprintf("%s: cast %s, policy %s, talk %d: %s (companiond bench -seed %q%s -policy %s -talks %d%s)",
		f.Gate, f.Cast, f.Policy, f.Talk, f.What, f.Seed, cast, f.Policy, f.Talk, f.flags)
}

// Check reports the first option that nothing can be measured with.
func (o Options) Check() error {
	var casts []string
	for _, c := range Casts() {
		casts = append(casts, c.Name)
	}
	for _, name := range o.Casts {
		if !slices.Contains(casts, name) {
			return abi.Field("cast", abi.CodeInvalid, "%q is unknown, have: %s", name, strings.Join(casts, ", "))
		}
	}
	for _, name := range o.Policies {
		if !slices.Contains(Policies(), name) {
			return abi.Field("policy", abi.CodeInvalid, "%q is unknown, have: %s", name, strings.Join(Policies(), ", "))
		}
	}
	if o.Minds != nil && o.Casts != nil {
		return abi.Field("cast", abi.CodeInvalid, "real characters are a cast of their own; leave the names of others out")
	}
	if o.Talks < 1 || o.Talks > maxTalks {
		return abi.Field("talks", abi.CodeInvalid, "%d is outside 1..%d", o.Talks, maxTalks)
	}
	return nil
}

const maxTalks = 100_000

// Run measures. An error says that the rules broke down, or that ctx ended; gates that
// fail are in the result.
func Run(ctx context.Context, o Options) (Result, error) {
	res := Result{Seed: o.Seed, Talks: o.Talks, Failures: []Failure{}, Behind: []Behind{}}
	if err := o.Check(); err != nil {
		return res, err
	}
	casts := Casts()
	if o.Minds != nil {
		casts = []world.Cast{o.Yours}
	}
	for _, c := range casts {
		if o.Casts != nil && !slices.Contains(o.Casts, c.Name) {
			continue
		}
		figures := Cast{Name: c.Name, Why: c.Why}
		for _, policy := range Policies() {
			if o.Policies != nil && !slices.Contains(o.Policies, policy) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return res, err
			}
			row, failures, err := o.measure(c, policy)
			if err != nil {
				return res, err
			}
			figures.Rows = append(figures.Rows, row)
			res.Failures = append(res.Failures, failures...)
		}
		res.Casts = append(res.Casts, figures)
		res.Behind = append(res.Behind, compare(figures)...)
	}
	return res, nil
}

// measure plays all talks of a cast under a policy.
func (o Options) measure(c world.Cast, policy string) (Row, []Failure, error) {
	row := Row{Policy: policy, House: slices.Contains(turn.Names(), policy)}
	sum := tally{cap: o.Rules.MaxTurns}
	var failures []Failure
	for talk := 1; talk <= o.Talks; talk++ {
		seed := fmt.Sprintf("%s/%s/%d", o.Seed, c.Name, talk)
		one := tally{cap: o.Rules.MaxTurns}
		record, differs, err := o.play(c, policy, seed)
		if err != nil {
			return row, nil, fmt.Errorf("cast %s, policy %s, seed %s: %w", c.Name, policy, seed, err)
		}
		one.add(record)
		sum.add(record)
		if differs != "" {
			one.m.Differs++
			sum.m.Differs++
		}
		if row.House {
			for _, f := range gates(record, one.m, differs) {
				f.Cast, f.Policy, f.Seed, f.Talk, f.flags = c.Name, policy, o.Seed, talk, o.Flags
				failures = append(failures, f)
			}
		}
	}
	row.Metrics = sum.sum()
	return row, failures, nil
}

// play is one talk. differs is how the house's journal of it does not replay.
func (o Options) play(c world.Cast, policy, seed string) (record world.Record, differs string, err error) {
	cfg := world.Config{Cast: c, Seed: seed, Speech: o.Speech}
	if o.Minds != nil {
		var done func() error
		if cfg.Minds, done, err = o.Minds(); err != nil {
			return record, "", err
		}
		defer func() { err = errors.Join(err, done()) }()
	}
	if other := baseline.New(policy); other != nil {
		return world.Run(cfg, other), "", nil
	}
	r := o.Rules
	r.Version, r.Policy, r.Seed = fold.Version, policy, seed
	if _, err := turn.New(policy, r.PolicyRaw); err != nil {
		r.PolicyRaw = nil // settings of another policy
	}
	h := house.New(r)
	record = world.Run(cfg, h)
	if h.Trouble() != nil {
		return record, "", h.Trouble()
	}
	differs, err = h.Replay()
	return record, differs, err
}

// talkCap is max_turns of a room for which nothing is configured.
const talkCap = 24

// Rules gives the rules of a room for which nothing is configured.
func Rules() entry.Rules {
	return entry.Rules{
		Patience: 1000, Floor: 10_000, Silence: 4000, Auto: true, Perceived: 12, Ahead: 30,
		Interrupt: entry.InterruptSentence, Interrupters: []string{"*"}, MaxTurns: talkCap, Stale: entry.StaleReask,
	}
}

// Speech is how long a text takes to say aloud.
func Speech(text string) time.Duration { return speech.Estimate(text) }
