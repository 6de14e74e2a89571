package bench

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/bench/house"
	"github.com/companiond/companiond/host/bench/world"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/turn"
)

// recording is the journal of a talk.
func recording(t *testing.T, policy, cast string) []entry.Entry {
	t.Helper()
	return recordingOf(t, policy, Casts()[slices.IndexFunc(Casts(), func(c world.Cast) bool { return c.Name == cast })], Rules())
}

// recordingOf is the journal of a talk of a cast by some rules.
func recordingOf(t *testing.T, policy string, c world.Cast, r entry.Rules) []entry.Entry {
	t.Helper()
	r.Version, r.Policy, r.Seed = fold.Version, policy, "x"
	h := house.New(r)
	world.Run(world.Config{Cast: c, Seed: "x", Speech: Speech}, h)
	if h.Trouble() != nil {
		t.Fatal(h.Trouble())
	}
	return h.Journal()
}

func read(entries []entry.Entry) iter.Seq2[entry.Entry, error] {
	return func(yield func(entry.Entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// The policy that decided a room would decide it again as it did, each round.
func TestTheSamePolicyDecidesTheSame(t *testing.T) {
	for _, policy := range turn.Names() {
		for _, cast := range []string{"usual", "all-talk", "one-dead", "flood", "farewells", "interruptions"} {
			a, err := Recorded("main", policy, nil, fold.New(), read(recording(t, policy, cast)))
			if err != nil || a.Rounds < 5 || a.Same != a.Rounds {
				t.Errorf("%s, %s: %d of %d, %v %v", policy, cast, a.Same, a.Rounds, a.Differs, err)
			}
		}
	}
}

// A policy is told all that it was told in the room: who was silent before, that nobody
// could vote, and that a person who waits is answered beyond the cap.
func TestTheSamePolicyKnowsTheSame(t *testing.T) {
	asks := person()
	asks[0].Address = 1
	for name, c := range map[string]struct {
		members []world.Member
		humans  []world.Human
		most    int
	}{
		"one never answers":   {one(trio(), 1, func(m *world.Member) { m.Dead = true }), asks, talkCap},
		"nobody ever answers": {each(trio(), func(m *world.Member) { m.Dead = true }), asks, talkCap},
		"a cap of one":        {each(trio(), func(m *world.Member) { m.Pass = 0.3 }), typists(), 1},
	} {
		r := Rules()
		r.MaxTurns = c.most
		for _, policy := range turn.Names() {
			a, err := Recorded("main", policy, nil, fold.New(), read(recordingOf(t, policy, cast(name, "", c.members, c.humans), r)))
			if err != nil || a.Rounds < 5 || a.Same != a.Rounds {
				t.Errorf("%s, %s: %d of %d, %+v %v", policy, name, a.Same, a.Rounds, a.Differs, err)
			}
			for who := range a.Would {
				if !slices.ContainsFunc(c.members, func(m world.Member) bool { return m.ID == who }) {
					t.Errorf("%s, %s: %q would have won", policy, name, who)
				}
			}
		}
	}
}

// Another policy decides some rounds otherwise, and says why.
func TestAnotherPolicyDecidesOtherwise(t *testing.T) {
	journal := recording(t, "vote", "always-10")
	for policy, why := range map[string]string{
		"pool": "not enough resource", "aikyo": "says that it was selected", "round-robin": "is next after", "vote+pool": "",
	} {
		a, err := Recorded("main", policy, nil, fold.New(), read(journal))
		if err != nil {
			t.Fatal(policy, err)
		}
		found := slices.ContainsFunc(a.Differs, func(d Otherwise) bool { return strings.Contains(d.Why, why) && d.Was != d.Would })
		if found != (why != "") || a.Same+len(a.Differs) != a.Rounds {
			t.Errorf("%s: %d of %d the same, %+v", policy, a.Same, a.Rounds, a.Differs)
		}
		var b bytes.Buffer
		if err := a.Write(&b); err != nil || !strings.Contains(b.String(), policy+" decides ") || !strings.Contains(b.String(), "  aki") {
			t.Errorf("%v\n%s", err, b.String())
		}
	}
	// Where one never votes aikyo decides nothing.
	a, err := Recorded("main", "aikyo", nil, fold.New(), read(recording(t, "vote", "one-dead")))
	if err != nil || len(a.Would) != 0 || !strings.HasPrefix(a.Differs[0].Why, "ben did not vote") {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestRecordedErrors(t *testing.T) {
	_, err := Recorded("main", "dice", nil, fold.New(), read(nil))
	if e := (*abi.Error)(nil); !errors.As(err, &e) || e.Field != "policy" {
		t.Error(err)
	}
	if _, err := Recorded("main", "pool", []byte(`{"size":"x"}`), fold.New(), read(nil)); err == nil {
		t.Error("a pool of size x")
	}
	broken := errors.New("broken")
	_, err = Recorded("main", "vote", nil, fold.New(), func(yield func(entry.Entry, error) bool) { yield(entry.Entry{}, broken) })
	if !errors.Is(err, broken) {
		t.Error(err)
	}
	if _, err = Recorded("main", "vote", nil, fold.New(), read(recording(t, "vote", "usual")[3:])); err == nil {
		t.Error("entries without a beginning")
	}
}
