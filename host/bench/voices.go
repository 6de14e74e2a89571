package bench

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/companiond/companiond/host/bench/world"
)

// Voices is how voices follow each other where three language models talk, with bodies
// that play at the speed of a voice, and a person speaks at random moments.
type Voices struct {
	Seed     string    `json:"seed"`
	Talks    int       `json:"talks"` // a row
	Rows     []Voicing `json:"rows"`
	Failures []Failure `json:"failures"`
}

// Voicing is a row of it.
type Voicing struct {
	Apart   bool    `json:"apart"`         // the vote is a call of its own, of .5-1.5 s; else it comes with the line
	Person  int     `json:"person_minute"` // how often the person speaks in a minute
	Ahead   int     `json:"ahead"`         // lines an hour that may be made for nothing; 0: no head start
	Metrics Metrics `json:"metrics"`
}

// voices is the cast of a row.
func (v Voicing) cast() world.Cast {
	members := each(trio(), func(m *world.Member) {
		m.Talk, m.Low, m.High, m.Nods = 1, 4, 9, 0
		m.Think, m.First = span(0, 0), span(2000, 3500) // the first word after 1-2.5 s, and a sentence of 20 tokens
		m.Rune, m.Short, m.Long = 50*time.Millisecond, 28, 66
		if v.Apart {
			m.Think = span(500, 1500)
		}
	})
	every := 2 * 60_000 / v.Person
	h := []world.Human{{Name: "Taro", First: span(0, every/2), Every: span(1000, every-1000), Address: 0.5, Interrupts: true, Short: 10, Long: 30}}
	return cast(fmt.Sprintf("voices-%d-%t", v.Person, v.Apart), "", members, h)
}

// RunVoices measures the policy "vote", or the one that Options name, with their rules.
// Casts are its own.
func RunVoices(ctx context.Context, o Options) (Voices, error) {
	res := Voices{Seed: o.Seed, Talks: o.Talks, Failures: []Failure{}}
	if err := o.Check(); err != nil {
		return res, err
	}
	policy := "vote"
	if len(o.Policies) > 0 {
		policy = o.Policies[0]
	}
	for _, apart := range []bool{false, true} {
		for _, person := range []int{1, 3} {
			for _, ahead := range []int{o.Rules.Ahead, 0} {
				if err := ctx.Err(); err != nil {
					return res, err
				}
				v := Voicing{Apart: apart, Person: person, Ahead: ahead}
				with := o
				with.Rules.Ahead = ahead
				row, failures, err := with.measure(v.cast(), policy)
				if err != nil {
					return res, err
				}
				v.Metrics = row.Metrics
				res.Rows, res.Failures = append(res.Rows, v), append(res.Failures, failures...)
			}
		}
	}
	return res, nil
}

// Write prints the rows for people.
func (v Voices) Write(w io.Writer) error {
	fmt.Fprintf(w, "%s a row, seed %s\n\n", count(v.Talks, "talk"), v.Seed)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "vote\tperson\thead start\tlines\tat once\tunanswered\tgap p50, p95, s\twith the person\tthrown away\tnever heard")
	for _, r := range v.Rows {
		vote, ahead := "with the line", "yes"
		if r.Apart {
			vote = "apart"
		}
		if r.Ahead == 0 {
			ahead = "no"
		}
		m := r.Metrics
		fmt.Fprintf(t, "%s\t%d a minute\t%s\t%d\t%d\t%d\t%.2f %.2f\t%.2f %.2f\t%.1f%%\t%d\n", vote, r.Person, ahead, m.Turns, m.TwoMouths,
			m.Unanswered, m.BetweenMedian/1000, m.BetweenP95/1000, m.AnswerP50/1000, m.AnswerP95/1000, m.Lines*100, m.Unheard)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(v.Failures) > 0 {
		fmt.Fprintf(w, "\n%s failed:\n", count(len(v.Failures), "gate"))
	}
	for _, f := range firstOf(v.Failures) {
		fmt.Fprintln(w, " ", f)
	}
	return nil
}
