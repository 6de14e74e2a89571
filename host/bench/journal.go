package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/bench/baseline"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/turn"
)

// Another is what another policy would have decided in a room that was recorded. Each
// decision is looked at on its own: what was said before it, the votes and the debts are
// those of the journal, whatever the policy would have made of the rounds before.
type Another struct {
	Room    string         `json:"room"`
	Policy  string         `json:"policy"`
	Rounds  int            `json:"rounds"` // that were decided
	Same    int            `json:"same"`   // as it was
	Spoke   map[string]int `json:"spoke"`  // rounds that somebody won
	Would   map[string]int `json:"would"`  // and would have won
	Differs []Otherwise    `json:"differs"`
}

// Otherwise is a decision that would have been another.
type Otherwise struct {
	Seq   uint64    `json:"seq"`   // of the decision
	About uint64    `json:"about"` // of the message
	At    time.Time `json:"at"`
	Was   string    `json:"was"`   // who got the floor, or how else it ended
	Would string    `json:"would"` // the same
	Why   string    `json:"why"`
}

// Judges gives the policies that can be asked about a journal: those that count votes,
// and round robin.
func Judges() []string { return append(turn.Names(), "aikyo", "round-robin") }

// judge decides a round of a recorded room: at is its due moment, votes those that were
// cast, in the order in which they came.
type judge func(s *fold.State, at time.Time, votes []baseline.AikyoVote) (would, why string)

// Recorded asks a policy about each decided round of a room's entries, which go on from a
// state. settings are the policy's own, null for its defaults.
//
// # Errors
//
// CodeInvalid for a policy that cannot be asked; those of the entries.
func Recorded(room, policy string, settings json.RawMessage, begin *fold.State, entries iter.Seq2[entry.Entry, error]) (Another, error) {
	a := Another{Room: room, Policy: policy, Spoke: map[string]int{}, Would: map[string]int{}, Differs: []Otherwise{}}
	decide, heard, err := newJudge(policy, settings)
	if err != nil {
		return a, err
	}
	votes := map[uint64][]baseline.AikyoVote{} // of open rounds
	s := begin
	for e, err := range entries {
		if err != nil {
			return a, err
		}
		switch e.Kind {
		case entry.KindVote:
			if b, err := entry.Decode[entry.Voted](e); err == nil && !e.Blank {
				votes[b.Round] = append(votes[b.Round], baseline.AikyoVote{From: b.Voter, Vote: b.Vote})
			}
		case entry.KindSaid:
			if b, err := entry.Decode[entry.Said](e); err == nil {
				heard(b, e.At)
			}
		case entry.KindDecision:
			d, err := entry.Decode[entry.Decision](e)
			if err == nil && decides(s, d) {
				would, why := decide(s, e.At, votes[d.Round])
				a.count(e, s.Round.About, d, would, why)
				delete(votes, d.Round)
			}
		}
		if err := s.Apply(e); err != nil {
			return a, err
		}
	}
	return a, nil
}

// decides says whether a decision ends the open round of a room, other than by what
// happened meanwhile.
func decides(s *fold.State, d entry.Decision) bool {
	return s.Round != nil && d.Round == s.Round.ID && d.Wish == 0 && d.Outcome != entry.OutcomeSuperseded && d.Outcome != entry.OutcomeStopped
}

// count adds a decision.
func (a *Another) count(e entry.Entry, about uint64, d entry.Decision, would, why string) {
	a.Rounds++
	was := string(d.Outcome)
	if d.Outcome == entry.OutcomeGrant {
		was = d.Speaker
		a.Spoke[was]++
	}
	if was == would {
		a.Same++
	} else {
		a.Differs = append(a.Differs, Otherwise{e.Seq, about, e.At, was, would, why})
	}
	if !isOutcome(would) {
		a.Would[would]++
	}
}

// isOutcome tells the ends of a round from the names of speakers; a member of such a
// name would be a strange one.
func isOutcome(s string) bool {
	return slices.Contains([]entry.Outcome{
		entry.OutcomeSilence, entry.OutcomeClosed, entry.OutcomeCapped, entry.OutcomeWaits, entry.OutcomeAbsent,
	}, entry.Outcome(s))
}

// newJudge gives a policy, and what it must be told of each message.
func newJudge(policy string, settings json.RawMessage) (judge, func(entry.Said, time.Time), error) {
	nothing := func(entry.Said, time.Time) {}
	switch policy {
	case "aikyo":
		return judgeAikyo, nothing, nil
	case "round-robin":
		return judgeInOrder, nothing, nil
	}
	if !slices.Contains(turn.Names(), policy) {
		return nil, nil, abi.Field("policy", abi.CodeInvalid, "%q cannot be asked about a journal; these can: %v", policy, Judges())
	}
	p, err := turn.New(policy, settings)
	if err != nil {
		return nil, nil, err
	}
	var ledger []turn.Spend
	young := func(at time.Time) []turn.Spend {
		ledger = slices.DeleteFunc(ledger, func(s turn.Spend) bool { return at.Sub(s.At) >= p.Memory() })
		return ledger
	}
	heard := func(b entry.Said, at time.Time) { // it was said, so it is paid for
		v := p.Admit(turn.Bid{From: b.From, By: b.By, Kind: b.Kind, Text: b.Text, Floor: b.Grant != "", Now: at})
		if v.Cost > 0 {
			ledger = append(ledger, turn.Spend{From: b.From, At: at, Cost: v.Cost})
		}
	}
	return func(s *fold.State, at time.Time, _ []baseline.AikyoVote) (string, string) {
		r := p.Decide(s.Decides(at, young(at)))
		if r.Outcome == entry.OutcomeGrant {
			return r.Speaker, r.Reason
		}
		return string(r.Outcome), r.Reason
	}, heard, nil
}

// judgeAikyo is aikyo's vote: it is decided when all have voted, or never.
func judgeAikyo(s *fold.State, _ time.Time, votes []baseline.AikyoVote) (would, why string) {
	for _, v := range s.Round.Electorate {
		if !slices.ContainsFunc(votes, func(b baseline.AikyoVote) bool { return b.From == v.ID }) {
			return string(entry.OutcomeSilence), v.ID + " did not vote, so that the round is never decided"
		}
	}
	w, ok := baseline.Aikyo(votes)
	switch {
	case !ok:
		return string(entry.OutcomeSilence), "nobody wishes to speak"
	case w.Vote.Closing == abi.ClosingTerminal:
		return string(entry.OutcomeClosed), w.From + " won with a last farewell"
	case w.Vote.Selected:
		return w.From, fmt.Sprintf("says that it was selected, importance %g", w.Vote.Importance)
	}
	return w.From, fmt.Sprintf("importance %g", w.Vote.Importance)
}

// judgeInOrder is round robin, by id.
func judgeInOrder(s *fold.State, _ time.Time, _ []baseline.AikyoVote) (would, why string) {
	var ids []string
	for _, v := range s.Round.Electorate {
		ids = append(ids, v.ID)
	}
	if len(ids) == 0 {
		return string(entry.OutcomeSilence), "nobody is there"
	}
	slices.Sort(ids)
	for _, id := range ids {
		if id > s.Round.From.ID && s.Round.From.Kind != abi.KindHuman {
			return id, "is next after " + s.Round.From.ID
		}
	}
	return ids[0], "is the first in order"
}

// Write prints it for people.
func (a Another) Write(w io.Writer) error {
	fmt.Fprintf(w, "%s: %s were decided, %s decides %d of them as they were\n", a.Room, count(a.Rounds, "round"), a.Policy, a.Same)
	if len(a.Differs) > 0 {
		fmt.Fprintln(w)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, d := range a.Differs {
		fmt.Fprintf(t, "#%d\tabout #%d\t%s\t-> %s\t%s\n", d.Seq, d.About, d.Was, d.Would, d.Why)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nrounds won, and that would have been won:")
	names := slices.Sorted(maps.Keys(a.Spoke))
	for who := range a.Would {
		if _, known := a.Spoke[who]; !known {
			names = append(names, who)
		}
	}
	slices.Sort(names)
	for _, who := range names {
		fmt.Fprintf(t, "  %s\t%d\t%d\n", who, a.Spoke[who], a.Would[who])
	}
	return t.Flush()
}
