// Package history decides what may become of the past of a room: which turns it has, what a
// range of them is told as instead, and who said so. A range is compressed by a proposal that is drafted, verified and then waits for a
// person; what was laid over it can be taken off again.
//
// It is pure: what happened comes in with its entry, and nothing is ever taken away from what was said. It
// knows no rooms, models or clocks, and keeps no text: an entry of the journal has it.
//
// The tool names, the fields of what is laid over a range and the loop of drafts and verdicts are seed D's;
// turns are counted from 1 in all of it.
package history

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/companiond/companiond/abi"
)

// Range is some turns that follow each other, both ends among them. Turns are counted from 1, those
// of humans, companions and agents alike; a backchannel belongs to the turn before it.
// As JSON it is [from, to].
type Range struct{ From, To uint64 }

// ParseRange reads "1-50", or "7" for one turn.
func ParseRange(s string) (r Range, err error) {
	from, to, two := strings.Cut(strings.TrimSpace(s), "-")
	if !two {
		to = from
	}
	r.From, err = strconv.ParseUint(strings.TrimSpace(from), 10, 64)
	if err == nil {
		r.To, err = strconv.ParseUint(strings.TrimSpace(to), 10, 64)
	}
	if err != nil {
		return Range{}, abi.Field("turns", abi.CodeInvalid, "%q are no turns: write the first and the last, as in 1-50", s)
	}
	return r, r.Check()
}

// Check says why these are no turns.
func (r Range) Check() error {
	switch {
	case r.From < 1:
		return abi.Field("turns", abi.CodeInvalid, "%d: the first turn is 1", r.From)
	case r.To < r.From:
		return abi.Field("turns", abi.CodeInvalid, "%s ends before it begins", r)
	}
	return nil
}

func (r Range) String() string {
	if r.From == r.To {
		return fmt.Sprint(r.From)
	}
	return fmt.Sprintf("%d-%d", r.From, r.To)
}

// Has says whether all of another range is in this one, Meets whether any of it is.
func (r Range) Has(o Range) bool   { return r.From <= o.From && o.To <= r.To }
func (r Range) Meets(o Range) bool { return r.From <= o.To && o.From <= r.To }

// MarshalJSON writes [from, to].
func (r Range) MarshalJSON() ([]byte, error) { return json.Marshal([2]uint64{r.From, r.To}) }

// UnmarshalJSON reads [from, to], and "from-to".
func (r *Range) UnmarshalJSON(b []byte) error {
	var two [2]uint64
	var s string
	if json.Unmarshal(b, &s) == nil {
		var err error
		*r, err = ParseRange(s)
		return err
	}
	if err := json.Unmarshal(b, &two); err != nil {
		return abi.Field("turns", abi.CodeInvalid, `are the first and the last, as [1, 50] or "1-50"`)
	}
	*r = Range{two[0], two[1]}
	return nil
}
