package bench

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
)

// Write prints the figures for people, a block a cast, and beneath them the gates that
// failed and where the house is behind.
func (r Result) Write(w io.Writer) error {
	fmt.Fprintf(w, "%s for each cast and policy, seed %s; * is companiond's own\n", count(r.Talks, "talk"), r.Seed)
	for _, c := range r.Casts {
		fmt.Fprintf(w, "\n%s: %s\n", c.Name, c.Why)
		if err := writeRows(w, c.Rows); err != nil {
			return err
		}
	}
	if len(r.Behind) > 0 {
		fmt.Fprintln(w, "\nwhere companiond is behind:")
	}
	for _, b := range r.Behind {
		fmt.Fprintln(w, " ", b)
	}
	if len(r.Failures) == 0 {
		_, err := fmt.Fprintln(w, "\nall gates hold: one mouth at a time, every human answered, replays equal, nothing after the end")
		return err
	}
	fmt.Fprintf(w, "\n%s failed:\n", count(len(r.Failures), "gate"))
	for _, f := range firstOf(r.Failures) {
		fmt.Fprintln(w, " ", f)
	}
	return nil
}

// firstOf gives the first failure of each gate, cast and policy, with how many there were.
func firstOf(all []Failure) (first []Failure) {
	type kind struct{ gate, cast, policy string }
	n := map[kind]int{}
	for _, f := range all {
		n[kind{f.Gate, f.Cast, f.Policy}]++
	}
	for _, f := range all {
		k := kind{f.Gate, f.Cast, f.Policy}
		if n[k] == 0 {
			continue
		}
		if n[k] > 1 {
			f.What += fmt.Sprintf("; and in %s more", count(n[k]-1, "talk"))
		}
		n[k] = 0
		first = append(first, f)
	}
	return first
}

// writeRows is the table of a cast.
func writeRows(w io.Writer, rows []Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "  \tturns\tgap p50\tp95\tgood\toverlap\tmouths\tsilence\tdead\teven\tstarved\twaited\tanswered\thijacked\tanswer p50\tp95\tunanswered\tstop p95\tstale\tthrown\tcalls\tforced\tafter\tcap\t")
	for _, r := range rows {
		m, name := r.Metrics, "  "+r.Policy
		if r.House {
			name = "* " + r.Policy
		}
		for _, cell := range []string{
			name, perMinute(m), seconds(m.GapMedian), seconds(m.GapP95), percent(m.GapGood), percent(m.Overlap), strconv.Itoa(m.TwoMouths),
			fmt.Sprintf("%.1f", m.Silence), percent(m.DeadRooms), fmt.Sprintf("%.2f", m.Even), strconv.Itoa(m.Starved), fmt.Sprintf("%.0f", m.Waited),
			percent(m.Answered), percent(m.Hijacked), seconds(m.AnswerP50), seconds(m.AnswerP95), strconv.Itoa(m.Unanswered), seconds(m.StopP95),
			percent(m.Stale), percent(m.Thrown), fmt.Sprintf("%.1f", m.Calls), percent(m.Forced), strconv.Itoa(m.AfterEnd), strconv.Itoa(m.OverCap),
		} {
			fmt.Fprint(t, cell, "\t")
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

func perMinute(m Metrics) string          { return fmt.Sprintf("%.1f", share(float64(m.Turns), m.Minutes)) }
func seconds(milliseconds float64) string { return fmt.Sprintf("%.1f", milliseconds/1000) }
func percent(share float64) string        { return fmt.Sprintf("%.0f%%", share*100) }

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
