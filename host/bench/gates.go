package bench

import (
	"fmt"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/bench/world"
)

// The gates. A policy of the house that does not hold one fails the bench.
const (
	GateMouths   = "two mouths at once" // a member began to be heard while another was
	GateHuman    = "a human unanswered" // nobody answered, and nothing newer or final was said
	GateReplay   = "replay differs"     // the journal does not give the same entries again
	GateAfterEnd = "line after the end" // after a STOP or the end of the talk
)

// gates gives what a talk fails.
func gates(r world.Record, m Metrics, differs string) (failed []Failure) {
	if m.TwoMouths > 0 {
		failed = append(failed, Failure{Gate: GateMouths, What: fmt.Sprintf("%d of %d turns began while another voice was heard", m.TwoMouths, m.Turns)})
	}
	if m.Unanswered > 0 {
		var whose []string
		for _, h := range r.Turns {
			if h.Asks() && answer(r, h) == nil && owed(r, h) {
				whose = append(whose, fmt.Sprintf("%s's at %.1f s", h.From, h.At.Seconds()))
			}
		}
		failed = append(failed, Failure{Gate: GateHuman, What: strings.Join(whose, ", ")})
	}
	if differs != "" {
		failed = append(failed, Failure{Gate: GateReplay, What: differs})
	}
	if m.AfterEnd > 0 {
		var whose []string
		for _, u := range r.Turns {
			if u.By != abi.KindHuman && u.Begun < r.Horizon && ended(r, u.Begun) {
				whose = append(whose, fmt.Sprintf("%s's at %.1f s", u.From, u.Begun.Seconds()))
			}
		}
		failed = append(failed, Failure{Gate: GateAfterEnd, What: strings.Join(whose, ", ")})
	}
	return failed
}
