package bench

import (
	"fmt"
	"io"
	"slices"
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
		fmt.Fprintln(w, "\nwhere companiond is behind, its figure to theirs:")
	}
	for _, line := range together(r.Behind) {
		fmt.Fprintln(w, " ", line)
	}
	if len(r.Failures) == 0 {
		_, err := fmt.Fprintln(w, "\nall gates hold: one mouth at a time, every human answered, nothing in history that nobody heard, replays equal, nothing after the end")
		return err
	}
	fmt.Fprintf(w, "\n%s failed:\n", count(len(r.Failures), "gate"))
	for _, f := range firstOf(r.Failures) {
		fmt.Fprintln(w, " ", f)
	}
	return nil
}

// together puts all casts on which a policy is behind another in a figure on a line.
func together(all []Behind) (lines []string) {
	at := map[string]int{}
	for _, b := range all {
		key := fmt.Sprintf("%s behind %s on %s:", b.Policy, b.Than, b.Figure)
		i, known := at[key]
		if !known {
			i = len(lines)
			at[key], lines = i, append(lines, key)
		} else {
			lines[i] += ","
		}
		lines[i] += fmt.Sprintf(" %s %.3g to %.3g", b.Cast, b.Ours, b.Theirs)
	}
	slices.Sort(lines)
	return lines
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

// lines are the figures of the table, each with how it is shown.
func lines() []line {
	return []line{
		{"turns a minute", func(m Metrics) string { return number(share(float64(m.Turns), m.Minutes)) }},
		{"gap p50, p95, s", func(m Metrics) string { return number(m.GapMedian/1000) + " " + number(m.GapP95/1000) }},
		{"good gaps", func(m Metrics) string { return percent(m.GapGood) }},
		{"two mouths, of the time", func(m Metrics) string { return strconv.Itoa(m.TwoMouths) + " " + percent(m.Overlap) }},
		{"silence, s a minute", func(m Metrics) string { return number(m.Silence) }},
		{"dead rooms", func(m Metrics) string { return percent(m.DeadRooms) }},
		{"balance", func(m Metrics) string { return fmt.Sprintf("%.2f", m.Even) }},
		{"longest wait, s, turns", func(m Metrics) string { return fmt.Sprintf("%.0f %d", m.Waited, m.Starved) }},
		{"addressed, hijacked", func(m Metrics) string { return percent(m.Answered) + " " + percent(m.Hijacked) }},
		{"answer p50, p95, s", func(m Metrics) string { return number(m.AnswerP50/1000) + " " + number(m.AnswerP95/1000) }},
		{"humans unanswered", func(m Metrics) string { return strconv.Itoa(m.Unanswered) }},
		{"yields p95, s", func(m Metrics) string { return number(m.StopP95 / 1000) }},
		{"stale, forced", func(m Metrics) string { return percent(m.Stale) + " " + percent(m.Forced) }},
		{"thrown, calls a turn", func(m Metrics) string { return percent(m.Thrown) + " " + number(m.Calls) }},
		{"after the end, the cap", func(m Metrics) string { return fmt.Sprintf("%d %d", m.AfterEnd, m.OverCap) }},
		{"replays that differ", func(m Metrics) string { return strconv.Itoa(m.Differs) }},
	}
}

type line struct {
	name string
	show func(Metrics) string
}

// writeRows is the table of a cast, a policy a column.
func writeRows(w io.Writer, rows []Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "\t")
	for _, r := range rows {
		name := r.Policy
		if r.House {
			name = "* " + name
		}
		fmt.Fprint(t, name, "\t")
	}
	fmt.Fprintln(t)
	for _, l := range lines() {
		fmt.Fprintf(t, "%-24s\t", l.name)
		for _, r := range rows {
			fmt.Fprint(t, l.show(r.Metrics), "\t")
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

func number(f float64) string      { return fmt.Sprintf("%.1f", f) }
func percent(share float64) string { return fmt.Sprintf("%.0f%%", share*100) }

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
