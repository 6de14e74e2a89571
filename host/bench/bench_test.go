package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/bench/house"
	"github.com/companiond/companiond/host/bench/world"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/turn"
)

func options(change func(*Options)) Options {
	o := Options{Seed: "test", Talks: 3, Rules: Rules(), Speech: Speech}
	if change != nil {
		change(&o)
	}
	return o
}

func run(t *testing.T, change func(*Options)) Result {
	t.Helper()
	r, err := Run(t.Context(), options(change))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestGates holds the policies of the house to what they promise, on every cast.
func TestGates(t *testing.T) {
	r := run(t, func(o *Options) { o.Policies, o.Talks, o.Seed = turn.Names(), 2, "gates-2" })
	for _, f := range r.Failures {
		t.Error(f)
	}
}

// A room whose members may take few turns without a person is not dead when they have.
func TestACapIsNoDeadRoom(t *testing.T) {
	r := run(t, func(o *Options) { o.Casts, o.Policies, o.Rules.MaxTurns = []string{"usual"}, []string{"vote"}, 6 })
	if m := r.Casts[0].Rows[0].Metrics; m.DeadRooms > 0 || m.OverCap > 0 || m.Silence > 1 || m.Turns == 0 {
		t.Errorf("%+v", m)
	}
}

// Voices of language models: none over another, no person forgotten, nothing in history
// that nobody heard, and a head start that leaves next to no gap.
func TestVoices(t *testing.T) {
	v, err := RunVoices(t.Context(), options(func(o *Options) { o.Talks = 20 }))
	if err != nil || len(v.Failures) > 0 || len(v.Rows) != 8 {
		t.Fatalf("%v, %v, %d rows", err, v.Failures, len(v.Rows))
	}
	for _, r := range v.Rows {
		m := r.Metrics
		if m.TwoMouths > 0 || m.Unanswered > 0 || m.Unheard > 0 || m.Turns < 150 {
			t.Errorf("%+v", r)
		}
		if r.Ahead > 0 && !r.Apart && (m.BetweenMedian > 300 || m.BetweenP95 > 1000) || r.Ahead > 0 && r.Person == 1 && m.Lines > 0.1 {
			t.Errorf("%+v", r)
		}
		if r.Ahead == 0 && m.BetweenMedian < 2000 {
			t.Errorf("without a head start: %+v", r)
		}
	}
	var b bytes.Buffer
	if err := v.Write(&b); err != nil || !strings.Contains(b.String(), "\nwith the line  1 a minute  yes ") || !strings.Contains(b.String(), "\napart          3 a minute  no ") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// What history has of a line and nobody heard fails the gate.
func TestUnheardIsCounted(t *testing.T) {
	u := &world.Turn{N: 1, From: "aki", By: abi.KindCompanion, Kind: abi.KindTurn, Text: "いち", Kept: "いちに。", Begun: 0, Ended: time.Second}
	var sum tally
	sum.add(world.Record{Cast: Casts()[0], Horizon: time.Minute, Turns: []*world.Turn{u}})
	if m := sum.sum(); m.Unheard != 2 || len(gates(world.Record{}, m, "")) != 1 {
		t.Errorf("%+v", m)
	}
}

// A seed is all the chance there is.
func TestFiguresAreTheSameTwice(t *testing.T) {
	figures := func(change func(*Options)) string {
		blob, err := json.Marshal(run(t, change))
		if err != nil {
			t.Fatal(err)
		}
		return string(blob)
	}
	casts := []string{"usual", "twins", "interruptions"}
	all := figures(func(o *Options) { o.Talks, o.Casts = 1, casts })
	if again := figures(func(o *Options) { o.Talks, o.Casts = 1, casts }); again != all {
		t.Error("equal seeds, other figures")
	}
	if other := figures(func(o *Options) { o.Talks, o.Casts, o.Seed = 1, casts, "other" }); other == all {
		t.Error("another seed, the same figures")
	}
	one := run(t, func(o *Options) { o.Talks, o.Casts, o.Policies = 1, []string{"twins"}, []string{"pool"} })
	if row, _ := json.Marshal(one.Casts[0].Rows[0]); !strings.Contains(all, string(row)) {
		t.Errorf("alone a policy has other figures than beside others: %s", row)
	}
}

// impatient are rules under which some person is not answered.
func impatient(o *Options) { o.Rules.Patience = 1 }

// A failure says what to type to see it again, and typing it shows it.
func TestAFailureCanBeSeenAgain(t *testing.T) {
	r := run(t, func(o *Options) {
		impatient(o)
		o.Policies, o.Casts, o.Flags = []string{"vote"}, []string{"cold-start"}, ` -config "hasty.toml"`
	})
	if len(r.Failures) == 0 {
		t.Fatal("nothing fails")
	}
	f := r.Failures[len(r.Failures)-1]
	if want := fmt.Sprintf("companiond bench -seed \"test\" -cast cold-start -policy vote -talks %d -config \"hasty.toml\")", f.Talk); !strings.Contains(f.String(), want) {
		t.Errorf("%s does not say %s", f, want)
	}
	again := run(t, func(o *Options) {
		impatient(o)
		o.Seed, o.Casts, o.Policies, o.Talks, o.Flags = f.Seed, []string{f.Cast}, []string{f.Policy}, f.Talk, f.flags
	})
	if !slices.Contains(again.Failures, f) {
		t.Errorf("%v without %s", again.Failures, f)
	}
}

// What a failure says to type names no cast where the cast is not one to name.
func TestAFailureOfVoicesCanBeSeenAgain(t *testing.T) {
	v, err := RunVoices(t.Context(), options(func(o *Options) {
		impatient(o)
		o.Rules.MaxTurns, o.Rules.Floor, o.Flags = 1, 1, " -voices"
	}))
	if err != nil || len(v.Failures) == 0 {
		t.Fatal("nothing fails", err)
	}
	f := v.Failures[0]
	if want := fmt.Sprintf("(companiond bench -seed \"test\" -policy vote -talks %d -voices)", f.Talk); !strings.Contains(f.String(), want) {
		t.Errorf("%s does not say %s", f, want)
	}
}

// Characters that cannot be ended are told, though the talk is over.
func TestMindsThatDoNotEnd(t *testing.T) {
	stuck := errors.New("stuck")
	_, err := Run(t.Context(), options(func(o *Options) {
		o.Talks, o.Policies, o.Yours = 1, []string{"vote", "random"}, Yours(trio())
		o.Minds = func() (world.Minds, func() error, error) { return mute{}, func() error { return stuck }, nil }
	}))
	if !errors.Is(err, stuck) {
		t.Errorf("%v", err)
	}
}

// mute characters answer nothing.
type mute struct{}

func (mute) Vote(string, abi.Scene) (abi.Vote, time.Duration, error) {
	return abi.Vote{}, 0, errors.New("no vote")
}

func (mute) Line(string, abi.Scene) (abi.Line, time.Duration, error) {
	return abi.Line{}, 0, errors.New("no line")
}

func TestOptions(t *testing.T) {
	for field, change := range map[string]func(*Options){
		"cast":   func(o *Options) { o.Casts = []string{"nobody"} },
		"policy": func(o *Options) { o.Policies = []string{"dice"} },
		"talks":  func(o *Options) { o.Talks = 0 },
	} {
		_, err := Run(t.Context(), options(change))
		if e := (*abi.Error)(nil); !errors.As(err, &e) || e.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, options(nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Rules are what a configuration without a word makes.
func TestRulesAreTheDefaults(t *testing.T) {
	cfg, problems := config.Parse("companiond.toml", nil, nil)
	if config.Failed(problems) {
		t.Fatal(problems)
	}
	r, c := Rules(), cfg.Rooms[0]
	pause, auto := c.Pause()
	if r.Perceived != c.Perceived || r.Ahead != c.Ahead || string(r.Interrupt) != c.Interrupt || !slices.Equal(r.Interrupters, c.Interrupters) || r.Patience != c.Patience.Milliseconds() || r.Floor != c.Floor.Milliseconds() || r.Silence != c.Silence.Milliseconds() ||
		r.Pace != pause.Milliseconds() || r.Auto != auto || r.MaxTurns != c.MaxTurns || r.Stale != c.Stale {
		t.Errorf("%+v, configured %+v", r, c)
	}
}

func TestCasts(t *testing.T) {
	names := map[string]bool{}
	for _, c := range Casts() {
		if names[c.Name] || c.Why == "" || len(c.Members) == 0 || len(c.Humans) == 0 {
			t.Errorf("%+v", c)
		}
		names[c.Name] = true
		for _, m := range c.Members {
			if m.Short > m.Long || m.Low > m.High || m.Think.Min > m.Think.Max || m.Rune == 0 {
				t.Errorf("%s: %+v", c.Name, m)
			}
		}
	}
	for _, name := range []string{"all-talk", "all-listen", "one-dead", "one-slow", "always-10", "twins", "flood", "interruptions"} {
		if !names[name] {
			t.Errorf("there is no cast %s", name)
		}
	}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	r := run(t, func(o *Options) { o.Casts, o.Talks = []string{"usual", "one-dead"}, 1 })
	r.Failures = []Failure{
		{GateHuman, "usual", "vote", "test", 1, "Taro's at 1.0 s", ""},
		{GateHuman, "usual", "vote", "test", 4, "Taro's at 9.0 s", ""},
	}
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"1 talk for each cast", "\nusual: three who", "\none-dead: ", "* vote+pool", "  round-robin", "\n  longest wait, s, turns ",
		"\n2 gates failed:\n  a human unanswered: cast usual, policy vote, talk 1: Taro's at 1.0 s; and in 1 talk more",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "9.0 s") {
		t.Error("each failure of a kind is told")
	}
	r.Failures, b = nil, bytes.Buffer{}
	if err := r.Write(&b); err != nil || !strings.Contains(b.String(), "all gates hold") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestCompare(t *testing.T) {
	row := func(policy string, house bool, m Metrics) Row { return Row{policy, house, m} }
	c := Cast{Name: "x", Rows: []Row{
		row("vote", true, Metrics{GapGood: 0.5, Even: 0.89, Waited: 5, DeadRooms: 0, Answered: 1, Silence: 1}),
		row("pool", true, Metrics{GapGood: 0.9, Even: 1, Waited: 1, DeadRooms: 0, Answered: 1, Silence: 0}),
		row("random", false, Metrics{GapGood: 0.6, Even: 0.9, Waited: 4, DeadRooms: 0.1, Answered: 0.2}),
		row("round-robin", false, Metrics{GapGood: 1, Even: 1, Answered: 0.2, Silence: 0.4}),
	}}
	got := together(append(compare(c), Behind{"y", "vote", "random", "gap", 0.25, 1}))
	want := []string{
		"vote behind random on gap: x 0.5 to 0.6, y 0.25 to 1",
		"vote behind random on starvation: x 5 to 4",
		"vote behind round-robin on silence while somebody had something to say: x 1 to 0.4",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// A replay that differs fails the gate.
func TestReplayIsCompared(t *testing.T) {
	r := Rules()
	r.Version, r.Policy, r.Seed = fold.Version, "vote", "x"
	h := house.New(r)
	world.Run(world.Config{Cast: Casts()[0], Seed: "x", Speech: Speech}, h)
	if diff, err := h.Replay(); diff != "" || err != nil || h.Trouble() != nil {
		t.Fatal(diff, err, h.Trouble())
	}
	i := slices.IndexFunc(h.Journal(), func(e entry.Entry) bool { return e.Kind == entry.KindDecision })
	d, err := entry.Decode[entry.Decision](h.Journal()[i])
	if err != nil {
		t.Fatal(err)
	}
	d.Reason = "because"
	if h.Journal()[i], err = h.Journal()[i].WithBody(d); err != nil {
		t.Fatal(err)
	}
	diff, err := h.Replay()
	if err != nil || !strings.Contains(diff, fmt.Sprintf("entry %d differs", i+1)) {
		t.Fatal(diff, err)
	}
	failed := gates(world.Record{}, Metrics{}, diff)
	if len(failed) != 1 || failed[0].Gate != GateReplay {
		t.Errorf("%v", failed)
	}
}

// What the room refuses nobody hears.
func TestOnlyWhatIsSaidIsHeard(t *testing.T) {
	for _, policy := range turn.Names() {
		for _, c := range Casts() {
			r := Rules()
			r.Version, r.Policy, r.Seed = fold.Version, policy, "x"
			h := house.New(r)
			record := world.Run(world.Config{Cast: c, Seed: "x", Speech: Speech}, h)
			said := map[string]int{}
			for _, e := range h.Journal() {
				if b, err := entry.Decode[entry.Said](e); e.Kind == entry.KindSaid && err == nil {
					said[b.From+b.Text]++
				}
			}
			open := 0 // a line that is being made when the talk is looked at no more
			for _, u := range record.Turns {
				key := u.From + u.Text
				if u.By != abi.KindHuman {
					key = u.From + u.Written
				}
				if said[key]--; said[key] < 0 && !u.Stop {
					open++
				}
			}
			first := slices.IndexFunc(record.Turns, (*world.Turn).Speaks)
			if first > 0 && record.Turns[first].Basis == 0 {
				t.Errorf("%s, %s: the first answer knows of nothing", policy, c.Name)
			}
			if open > 1 {
				t.Errorf("%s, %s: %d turns were heard and not said", policy, c.Name, open)
			}
		}
	}
}

// BenchmarkTalk is a talk of three minutes.
func BenchmarkTalk(b *testing.B) {
	for _, policy := range Policies() {
		b.Run(policy, func(b *testing.B) {
			o := options(nil)
			for b.Loop() {
				if _, _, err := o.play(Casts()[0], policy, "x"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
