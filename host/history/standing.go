package history

import (
	"slices"

	"github.com/companiond/companiond/abi"
)

// Configuration asks for turns to be compressed where nobody did, and approves them where the configuration says
// that what is verified is approved. It is nobody's name: a name has no space.
const Configuration = "the configuration"

// Rest is how many turns lie between two times that the configuration asks. As many of the newest are told as they were
// said, for a talk goes on from its last words, and as many are asked for at least: for less it is not
// worth up to six calls of a model and the look of a person.
const Rest = 32

// Most is how many turns the configuration asks for at once. Of a talk that went on for long before anybody compressed it the
// newest of those are taken; a door has the others compressed.
const Most = 1000

// The ways in which turns of a room are compressed that nobody asked for.
const (
	ModeOff  = "off"  // none are
	ModeAsk  = "ask"  // they are drafted and verified, and wait for a person
	ModeAuto = "auto" // what is verified is approved
)

// Standing is what the configuration says of the past of a room. The zero value has nothing compressed that nobody
// asked for.
type Standing struct {
	Mode   string  // empty: ModeOff
	At     float64 // the share of the tokens a mind may be told of the history, at which it is asked
	Policy string
	// Compresser and Verifier are ids; empty: those of whoever names nobody.
	Compresser, Verifier string
}

// Asks says whether anything is asked for.
func (s Standing) Asks() bool { return s.Mode == ModeAsk || s.Mode == ModeAuto }

// Approves says whether it is a person's word for a draft: the configuration still says so, with the
// same policy, the draft is of those who were to make and to verify it, and nobody has to look.
func (s Standing) Approves(p Proposal) bool {
	d := p.Draft()
	return s.Mode == ModeAuto && p.State == Offered && p.Own() && p.Ask.Auto && !p.Ask.Look && p.Ask.Policy == s.Policy && d != nil && d.By == p.Ask.Compresser && d.VerifiedBy == p.Ask.Verifier
}

// Own says whether the configuration asked for it.
func (p *Proposal) Own() bool { return p.By == Configuration }

// Awaits says whether the daemon itself is to do something: to draft, or to approve what the configuration does.
func (b *Book) Awaits(s Standing) bool {
	return b.Drafts() || slices.ContainsFunc(b.Proposals, s.Approves)
}

// Due is how many turns there are at least when the configuration may ask.
func (b *Book) Due() uint64 {
	rested := uint64(0)
	if b.Quiet > 0 {
		rested = b.Quiet + Rest
	}
	return max(rested, b.upto()+2*Rest)
}

// upto is the last turn that is told otherwise than it was said.
func (b *Book) upto() (n uint64) {
	for _, p := range b.Laid(^uint64(0)) {
		n = max(n, p.Ask.Turns.To)
	}
	return n
}

// Next gives what the configuration may ask for where there are n turns: those behind all that is laid, up to
// the newest. before are those that are laid and end where these begin, each where the next one begins: they may be
// taken together with these. ok is false where there is nothing to ask for, or not yet.
func (b *Book) Next(n uint64) (r Range, before []Proposal, ok bool) {
	if n < b.Due() {
		return r, nil, false
	}
	r = Range{From: b.upto() + 1, To: n - Rest}
	if r.To-r.From >= Most {
		r.From = r.To - Most + 1
	}
	laid := b.Laid(^uint64(0))
	for i, next := len(laid)-1, r.From; i >= 0 && laid[i].Ask.Turns.To+1 == next; i-- {
		before, next = laid[i:], laid[i].Ask.Turns.From
	}
	return r, before, true
}

// mayStand says why the configuration, or somebody in its name, may not do something.
func (b *Book) mayStand(in Input, p *Proposal) error {
	switch {
	case in.Kind == Propose && in.By == Configuration:
		return b.mayAsk(in)
	case in.Kind == Propose && in.Ask.Auto:
		return abi.Field("auto", abi.CodeDenied, "the configuration alone approves in advance")
	case in.Kind == Approve && in.By == Configuration && !(p.Own() && p.Ask.Auto && !p.Ask.Look):
		return abi.Field("proposal", abi.CodeDenied, "%s waits for a person", p.ID)
	}
	return nil
}

// mayAsk says why the configuration does not ask now.
func (b *Book) mayAsk(in Input) error {
	for i := range b.Proposals {
		o := &b.Proposals[i]
		own := o.Own() && o.State != Refused
		if o.State.Open() && !o.Erased() && (own || !o.Own() && o.Ask.Turns.Meets(in.Ask.Turns)) {
			return abi.Field("turns", abi.CodeConflict, "%s of turns %s is %s", o.ID, o.Ask.Turns, o.State)
		}
	}
	if due := b.Due(); in.Turn < due || in.Ask.Turns.To < b.upto()+Rest {
		return abi.Field("turns", abi.CodeConflict, "there are %d, of which %s: not before turn %d is more asked for", in.Turn, in.Ask.Turns, due)
	}
	return nil
}

// TakenOff says whether a person took off what lay over some of these turns, and nobody has approved anything for them since: the
// configuration may ask for them, and approves nothing.
func (b *Book) TakenOff(r Range) bool {
	return slices.ContainsFunc(b.Proposals, func(o Proposal) bool {
		return o.State == Reverted && o.Ask.Turns.Meets(r) && !slices.ContainsFunc(b.Proposals, func(p Proposal) bool {
			return p.Since > o.Until && p.ApprovedBy != Configuration && p.Ask.Turns.Has(o.Ask.Turns)
		})
	})
}

// Refusals gives how often drafts of turns that begin with one, which the configuration asked for by the same policy, were refused three times over, and how many
// characters they might come to at most.
func (b *Book) Refusals(from uint64, policy string) (n, longest int) {
	for i := range b.Proposals {
		p := &b.Proposals[i]
		if p.Own() && p.Ask.Turns.From == from && p.Ask.Policy == policy && len(p.Drafts) >= Drafts && p.Draft() == nil && p.Since == 0 {
			n, longest = n+1, max(longest, p.Ask.Length.N)
		}
	}
	return n, longest
}

// rested notes when the configuration asked, and when something came to nothing: it does not ask at once again. A verified draft that
// a person has to look at takes from its proposal that it was approved in advance.
func (b *Book) rested(in Input, p *Proposal) {
	if in.Kind == Drafted && in.Draft != nil && in.Draft.Look && p.State == Offered {
		p.Ask.Look = true
	}
	if in.Kind == Propose && p.Own() || p.State == Refused || p.State == Failed || p.State == Denied || p.State == Reverted {
		b.Quiet = max(b.Quiet, in.Turn)
	}
}
