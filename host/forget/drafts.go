package forget

import (
	"encoding/json"
	"slices"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/history"
)

// This file is texts that turns were told as instead. What was drafted of turns that lost words goes as a whole:
// it says the same in other words, which nobody could find.

// drafted notes what happens to the history, after what is left of it was found.
func (t *track) drafted(e entry.Entry) {
	if in, err := entry.Decode[history.Input](e); err == nil {
		t.book.Happens(in, e.Seq, e.At)
	}
}

// undrafted takes a draft out of an entry, where turns that it was made of lost words.
func (t *track) undrafted(e entry.Entry, left json.RawMessage, lost bool) (json.RawMessage, bool) {
	if !lost {
		left = e.Body
	}
	var in history.Input
	if json.Unmarshal(left, &in) != nil || in.Draft == nil || in.Draft.Text == "" && len(in.Draft.Findings)+len(in.Draft.Lost) == 0 {
		return left, lost
	}
	p := t.book.Get(in.Proposal)
	if p == nil || !slices.ContainsFunc(t.seqs, func(seq uint64) bool { return p.Ask.Seqs[0] <= seq && seq <= p.Ask.Seqs[1] }) {
		return left, lost
	}
	d := *in.Draft
	d.Text, d.Feedback, d.Findings, d.Lost = "", "", nil, nil
	in.Draft = &d
	raw, err := json.Marshal(struct {
		history.Input
		Erased string `json:"erased"`
	}{in, t.w.order.ID})
	if err != nil {
		return left, lost
	}
	return raw, true
}
