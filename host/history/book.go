package history

import (
	"cmp"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
)

// Drafts is how many drafts a verifier may refuse before a person is asked.
const Drafts = 3

// closed is how many proposals are kept that are over and came to nothing.
const closed = 16

// Book is what became of a room's history. The zero value is one to which nothing has happened. It
// has no texts: Draft.Seq of a proposal is the entry that does.
type Book struct {
	Proposals []Proposal `json:"proposals,omitempty"` // oldest first
	// Changed is the seq of the newest entry that changed what is told, 0: none did.
	Changed uint64 `json:"changed,omitempty"`
	// Quiet is how many turns there were when the configuration last asked for some, or something that anybody asked for came
	// to nothing; 0: neither was yet.
	Quiet uint64 `json:"quiet,omitempty"`
}

// Proposal is a range that was, or may be, compressed.
type Proposal struct {
	ID     string     `json:"id"`
	Seq    uint64     `json:"seq"` // of the entry that asked for it
	By     string     `json:"by"`
	At     time.Time  `json:"at"`
	Ask    Ask        `json:"ask"`
	State  State      `json:"state"`
	Drafts []Drafting `json:"drafts,omitempty"`
	Why    string     `json:"why,omitempty"` // of the newest that was not well
	// Handed is the seq of the entry that has a draft from outside that is to be verified, 0 for none.
	Handed uint64 `json:"handed,omitempty"`
	// Since and Until are the seqs of the entries by which it was laid over its range, and taken off, 0 for none.
	Since      uint64 `json:"since,omitempty"`
	Until      uint64 `json:"until,omitempty"`
	ApprovedBy string `json:"approved_by,omitempty"`
}

// Drafting is one draft of a proposal, without its words.
type Drafting struct {
	Seq        uint64    `json:"seq"` // of the entry that has the words
	At         time.Time `json:"at"`
	N          int       `json:"n"`
	By         string    `json:"by"`
	VerifiedBy string    `json:"verified_by"`
	Verdict    Verdict   `json:"verdict"`
	// Empty says that it had no words as it was read. One that was verified has some, so they were erased.
	Empty bool `json:"empty,omitempty"`
}

// State is how far a proposal is.
type State string

// The states.
const (
	BeingDrafted State = "drafting"
	Offered      State = "offered"  // verified; it waits for a human
	Refused      State = "refused"  // no draft was verified: what was refused cannot be approved
	Approved     State = "approved" // it is told so
	Denied       State = "denied"
	Failed       State = "failed"
	Reverted     State = "reverted" // it was told so
)

// Open says whether something is still to come of it.
func (s State) Open() bool { return s == BeingDrafted || s == Offered || s == Refused }

// Drafts says whether a draft is being made or verified here.
func (b *Book) Drafts() bool {
	return slices.ContainsFunc(b.Proposals, func(p Proposal) bool { return p.State == BeingDrafted && !p.Awaits() })
}

// Awaits says whether the next draft is to come from outside.
func (p *Proposal) Awaits() bool {
	return p.State == BeingDrafted && p.Ask.Compresser == "" && p.Handed == 0
}

// Get gives a proposal, nil where there is none.
func (b *Book) Get(id string) *Proposal {
	i := slices.IndexFunc(b.Proposals, func(p Proposal) bool { return p.ID == id })
	if i < 0 {
		return nil
	}
	return &b.Proposals[i]
}

// Draft is the newest draft that was verified, nil where none was.
func (p *Proposal) Draft() *Drafting {
	if n := len(p.Drafts); n > 0 && p.Drafts[n-1].Verdict == Yes {
		return &p.Drafts[n-1]
	}
	return nil
}

// Erased says whether what was verified lost its words: it lies over nothing any more.
func (p *Proposal) Erased() bool {
	d := p.Draft()
	return d != nil && d.Empty
}

// Forgotten notes, at the entry that says which entries lost words, whether these were words that turns were told as.
func (b *Book) Forgotten(lost func(seq uint64) bool, seq uint64) {
	for _, p := range b.Proposals {
		if p.Since > 0 && p.Erased() && lost(p.Draft().Seq) {
			b.Changed = seq
		}
	}
}

// Laid gives what lay over which ranges when a room was as far as head, by range: of what was compressed again only the outermost.
// What lost its words is left out.
func (b *Book) Laid(head uint64) (laid []Proposal) {
	for _, p := range b.Proposals {
		if p.Since == 0 || p.Since > head || p.Until != 0 && p.Until <= head || p.Erased() {
			continue
		}
		laid = slices.DeleteFunc(laid, func(o Proposal) bool { return p.Ask.Turns.Has(o.Ask.Turns) }) // the newer one was laid over it
		laid = append(laid, p)
	}
	slices.SortFunc(laid, func(a, b Proposal) int { return cmp.Compare(a.Ask.Turns.From, b.Ask.Turns.From) })
	return laid
}

// over gives what is laid over one that is laid itself, nil for nothing.
func (b *Book) over(p *Proposal) *Proposal {
	for i := range b.Proposals {
		o := &b.Proposals[i]
		if o.State == Approved && !o.Erased() && o.Since > p.Since && o.Ask.Turns.Has(p.Ask.Turns) {
			return o
		}
	}
	return nil
}

// Refuses says why something cannot happen now, as doors show it.
func (b *Book) Refuses(in Input) error {
	if in.Kind == Propose {
		return b.mayPropose(in)
	}
	p := b.Get(in.Proposal)
	if p == nil {
		return abi.Field("proposal", abi.CodeNotFound, "there is no %q", in.Proposal)
	}
	is := func() error { return abi.Field("proposal", abi.CodeConflict, "%s is %s", p.ID, p.State) }
	switch in.Kind {
	case Hand:
		return p.takes(in)
	case Drafted:
		if p.State != BeingDrafted && p.State != Refused {
			return is()
		}
	case Fail:
		if p.State != BeingDrafted {
			return is()
		}
	case Deny:
		if !p.State.Open() {
			return is()
		}
	case Approve:
		if p.State != Offered {
			return is()
		}
		if err := b.mayStand(in, p); err != nil {
			return err
		}
		return b.meets(p.Ask.Turns, p.ID)
	case Revert:
		if p.State != Approved {
			return is()
		}
		if o := b.over(p); o != nil && !p.Erased() {
			return abi.Field("proposal", abi.CodeConflict, "%s, turns %s, was compressed with what it is told as; revert that one first", o.ID, o.Ask.Turns)
		}
	default:
		return abi.Field("kind", abi.CodeInvalid, "%q is none", in.Kind)
	}
	return nil
}

// takes says why a proposal takes no draft from outside now.
func (p *Proposal) takes(in Input) error {
	switch {
	case in.Draft == nil:
		return abi.Field("draft", abi.CodeInvalid, "must be there")
	case p.State != BeingDrafted:
		return abi.Field("proposal", abi.CodeConflict, "%s is %s, and takes no further draft", p.ID, p.State)
	case p.Ask.Compresser != "":
		return abi.Field("proposal", abi.CodeConflict, "%s is being drafted by %s", p.ID, p.Ask.Compresser)
	case p.Handed != 0:
		return abi.Field("proposal", abi.CodeConflict, "a draft of %s is being verified: see first what becomes of it", p.ID)
	}
	return nil
}

func (b *Book) mayPropose(in Input) error {
	if b.Get(in.Proposal) != nil {
		return abi.Field("proposal", abi.CodeConflict, "there is a %q already", in.Proposal)
	}
	if in.Ask == nil {
		return abi.Field("ask", abi.CodeInvalid, "must be there")
	}
	if err := cmp.Or(in.Ask.Turns.Check(), in.Ask.Length.Check(), b.mayStand(in, nil)); err != nil {
		return err
	}
	for i := range b.Proposals {
		o := &b.Proposals[i]
		if (o.State == BeingDrafted || o.State == Offered && !o.Erased()) && o.Ask.Turns.Meets(in.Ask.Turns) {
			return abi.Field("turns", abi.CodeConflict, "%s of turns %s is %s: approve or deny that one first", o.ID, o.Ask.Turns, o.State)
		}
	}
	return b.meets(in.Ask.Turns, in.Proposal)
}

// meets says that a part of a range was compressed together with turns outside of it.
func (b *Book) meets(r Range, id string) error {
	for _, o := range b.Laid(^uint64(0)) {
		if o.ID != id && r.Meets(o.Ask.Turns) && !r.Has(o.Ask.Turns) {
			return abi.Field("turns", abi.CodeConflict, "turns %s are told as one text (%s): take all of them, or revert that first", o.Ask.Turns, o.ID)
		}
	}
	return nil
}

// Happens is the fold of what happened, by the entry with this seq and time. What Refuses
// would not let happen changes nothing.
func (b *Book) Happens(in Input, seq uint64, at time.Time) {
	if b.Refuses(in) != nil {
		return
	}
	if in.Kind == Propose {
		b.Proposals = slices.Clone(b.Proposals)
		for i := range b.Proposals { // those that were refused, or lost their words, are asked for anew
			if p := &b.Proposals[i]; (p.State == Refused || p.State == Offered && p.Erased()) && p.Ask.Turns.Meets(in.Ask.Turns) {
				p.State, p.Why = Denied, "asked for anew: "+in.Proposal
			}
		}
		p := Proposal{ID: in.Proposal, Seq: seq, By: in.By, At: at, Ask: *in.Ask, State: BeingDrafted}
		if in.Draft != nil {
			p.Handed = seq
		}
		b.Proposals = append(b.Proposals, p)
		b.rested(in, &p)
		b.forget()
		return
	}
	p := b.own(in.Proposal)
	p.Handed = 0
	switch in.Kind {
	case Hand:
		p.Handed = seq
	case Drafted:
		p.drafted(in, seq, at)
	case Fail:
		p.State, p.Why = Failed, in.Why
	case Deny:
		p.State, p.Why = Denied, in.Why
	case Approve:
		p.State, p.Since, p.ApprovedBy = Approved, seq, in.By
		b.Changed = seq
	case Revert:
		p.State, p.Until, p.Why = Reverted, seq, in.Why
		b.Changed = seq
	}
	b.rested(in, p)
}

// own gives a proposal to change. Whoever has an older copy of the book keeps what it was.
func (b *Book) own(id string) *Proposal {
	b.Proposals = slices.Clone(b.Proposals)
	return b.Get(id)
}

func (p *Proposal) drafted(in Input, seq uint64, at time.Time) {
	d := in.Draft
	if d == nil {
		return
	}
	p.Drafts = append(slices.Clone(p.Drafts), Drafting{Seq: seq, At: at, N: d.N, By: d.By, VerifiedBy: d.VerifiedBy, Verdict: d.Verdict, Empty: d.Text == ""})
	switch {
	case d.Verdict == Yes:
		p.State, p.Why = Offered, ""
	case len(p.Drafts) >= Drafts:
		p.State, p.Why = Refused, d.Feedback
	default:
		p.Why = d.Feedback
	}
}

// forget lets go of the oldest that are over and never changed what is told.
func (b *Book) forget() {
	n := 0
	for _, p := range b.Proposals {
		if !p.State.Open() && p.Since == 0 {
			n++
		}
	}
	b.Proposals = slices.DeleteFunc(b.Proposals, func(p Proposal) bool {
		if !p.State.Open() && p.Since == 0 && n > closed {
			n--
			return true
		}
		return false
	})
}
