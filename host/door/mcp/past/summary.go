package past

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/compress"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/rooms"
)

// SummaryIn asks for turns to be told in fewer words, has a draft verified, or goes on waiting for one.
type SummaryIn struct {
	Room       string   `json:"room"`
	Proposal   string   `json:"proposal"`
	Turns      string   `json:"turns"`
	Start      *uint64  `json:"start_turn"`
	End        *uint64  `json:"end_turn"`
	Summary    *string  `json:"summary"`
	Policy     string   `json:"policy"`
	Length     int      `json:"target_length"`
	Unit       string   `json:"unit"`
	Compresser string   `json:"compresser"`
	Verifier   string   `json:"verifier"`
	Timeout    *float64 `json:"timeout_seconds"`
}

// Bounds of what may be asked for.
const (
	MostLength = 1_000_000 // of target_length
	UsualWait  = 45.0      // seconds that a call waits for a draft
	MostWait   = 55.0
)

// check finds the first argument that is wrong by itself.
func (in SummaryIn) check() error {
	switch {
	case in.Summary != nil && strings.TrimSpace(*in.Summary) == "":
		return abi.Field("summary", abi.CodeInvalid, "is empty: leave it out to have one drafted")
	case in.Summary != nil && in.Compresser != "":
		return abi.Field("compresser", abi.CodeInvalid, "is who drafts, and there is a summary already: leave one of them out")
	case in.Length < 0 || in.Length > MostLength:
		return abi.Field("target_length", abi.CodeInvalid, "%d is outside 1..%d", in.Length, MostLength)
	case in.Unit != "" && in.Length == 0:
		return abi.Field("unit", abi.CodeInvalid, "is of target_length, which is missing")
	case in.Timeout != nil && !(*in.Timeout >= 0 && *in.Timeout <= MostWait):
		return abi.Field("timeout_seconds", abi.CodeInvalid, "%v is outside 0..%v", *in.Timeout, MostWait)
	case in.Proposal == "":
		return nil
	case in.Turns != "" || in.Start != nil || in.End != nil || in.Policy != "" || in.Length != 0 || in.Compresser != "" || in.Verifier != "":
		return abi.Field("proposal", abi.CodeInvalid, "has turns, a policy and a length of its own: leave these out, or proposal to ask for a new one")
	}
	return nil
}

// long is how long a call waits.
func (in SummaryIn) long() time.Duration {
	seconds := UsualWait
	if in.Timeout != nil {
		seconds = *in.Timeout
	}
	return time.Duration(seconds * float64(time.Second))
}

// Summarize has turns drafted and verified, or a draft from outside verified, and answers how that stands.
func (d *Desk) Summarize(ctx context.Context, c Caller, in SummaryIn) (any, error) {
	err := in.check()
	if err != nil {
		return nil, err
	}
	var f found
	if in.Proposal != "" {
		f, err = d.further(ctx, c, in)
	} else {
		f, err = d.propose(ctx, c, in)
	}
	if err != nil {
		return nil, err
	}
	if f.p, err = d.wait(ctx, c, f, in.long()); err != nil {
		return nil, err
	}
	return d.stands(ctx, f)
}

// further goes on with a proposal that was asked for before.
func (d *Desk) further(ctx context.Context, c Caller, in SummaryIn) (found, error) {
	f, err := d.find(ctx, in.Room, in.Proposal, "", "")
	if err != nil || in.Summary == nil {
		return f, err
	}
	if f.p.By != c.name() {
		return f, abi.Field("proposal", abi.CodeDenied, "%s was asked for by somebody else: ask for one of your own, with turns", f.p.ID)
	}
	return d.redraft(ctx, c, f, *in.Summary)
}

// redraft sends the next draft of a proposal, unless it is the one that was sent last: clients send twice that gave up waiting.
func (d *Desk) redraft(ctx context.Context, c Caller, f found, text string) (found, error) {
	last := f.p.Handed
	if n := len(f.p.Drafts); last == 0 && n > 0 {
		last = f.p.Drafts[n-1].Seq
	}
	if last != 0 && f.p.Ask.Compresser == "" {
		was, err := f.talk.Draft(ctx, last)
		if err != nil || was.Text == text {
			return f, err
		}
	}
	p, err := d.Compressing.Redraft(ctx, f.talk.Name(), f.p.ID, text, c.name())
	if err != nil {
		return f, asSummary(err)
	}
	f.p = p
	return f, nil
}

// asSummary calls the draft in an error as the tool does.
func asSummary(err error) error {
	if e := abi.AsError(err); e != nil && e.Field == "text" {
		return abi.Field("summary", e.Code, "%s", e.Reason())
	}
	return err
}

// propose asks for something new, unless the caller has asked for the same already.
func (d *Desk) propose(ctx context.Context, c Caller, in SummaryIn) (f found, err error) {
	if f.talk, err = d.Room(ctx, in.Room); err != nil {
		return f, err
	}
	of, err := f.talk.Turns(ctx)
	if err != nil {
		return f, err
	}
	q := compress.Request{Room: f.talk.Name(), By: c.name(), Policy: in.Policy, Compresser: in.Compresser, Verifier: in.Verifier}
	asked := span{in.Turns, in.Start, in.End}
	if q.Turns, err = asked.read(of, f.talk.Name()); err != nil {
		return f, err
	}
	if in.Length > 0 {
		q.Length = history.Length{N: in.Length, Unit: history.Characters}
		if in.Unit != "" {
			q.Length.Unit = history.Unit(in.Unit)
		}
	}
	if in.Summary != nil {
		q.Text = *in.Summary
	}
	if err := q.Check(); err != nil {
		return f, asSummary(err)
	}
	before, err := same(ctx, f.talk, q)
	switch {
	case err != nil:
		return f, err
	case before == nil:
		f.p, err = d.Compressing.Propose(ctx, q)
	case q.Text != "":
		f.p = *before
		return d.redraft(ctx, c, f, q.Text)
	default:
		f.p = *before
	}
	return f, err
}

// same gives a proposal that was asked for in these words and is open: clients ask twice that gave up waiting, and a
// compresser that mends its draft need not say what it is of.
func same(ctx context.Context, talk rooms.Room, q compress.Request) (*history.Proposal, error) {
	book, err := talk.Book(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range book.Proposals {
		a := p.Ask
		waits := p.State == history.BeingDrafted || p.State == history.Offered
		if waits && p.By == q.By && a.Turns == q.Turns && (q.Text != "") == (a.Compresser == "") && a.Policy == q.Policy &&
			(q.Length == history.Length{} || q.Length == a.Length) && (q.Compresser == "" || q.Compresser == a.Compresser) && (q.Verifier == "" || q.Verifier == a.Verifier) {
			return &p, nil
		}
	}
	return nil, nil
}

// pulse is how often a client is told what its call waits for.
const pulse = 10 * time.Second

// pulses tells the client now and again what its call waits for, until it is called back.
func (c Caller) pulses(words string) (end func()) {
	if c.Tell == nil {
		return func() {}
	}
	over, done := make(chan struct{}), make(chan struct{})
	c.Tell(words)
	go func() {
		defer close(done)
		tick := time.NewTicker(pulse)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				c.Tell(words)
			case <-over:
				return
			}
		}
	}()
	return func() { close(over); <-done }
}

// wait waits until nothing more is drafted of a proposal, but not longer than this, nor than the daemon runs.
func (d *Desk) wait(ctx context.Context, c Caller, f found, long time.Duration) (history.Proposal, error) {
	if f.p.State != history.BeingDrafted || f.p.Awaits() || long == 0 {
		return f.p, nil
	}
	leave, err := d.waits.Enter(c.Sharer+"\n"+c.name(), c.Sharer, time.Now().Add(long))
	if err != nil {
		return f.p, err
	}
	defer leave()
	bounded, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	defer context.AfterFunc(d.Stopping, cancel)()
	changed := make(chan struct{}, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = f.talk.Follow(bounded, f.p.Seq, func(es []entry.Entry) error { // it ends with what it waits for
			for _, e := range es {
				if e.Kind == entry.KindHistory {
					select {
					case changed <- struct{}{}:
					default: // it will be looked
					}
				}
			}
			return nil
		})
	}()
	defer func() { cancel(); <-ended }()
	p, err := d.look(bounded, c, f, changed)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil { // it has waited long enough
		return d.now(ctx, f, p)
	}
	return p, err
}

// now looks how a proposal stands by now.
func (d *Desk) now(ctx context.Context, f found, p history.Proposal) (history.Proposal, error) {
	book, err := f.talk.Book(ctx)
	if err != nil {
		return p, err
	}
	if is := book.Get(p.ID); is != nil {
		return *is, nil
	}
	return p, abi.Field("proposal", abi.CodeNotFound, "there is no %q in %s any more", p.ID, f.talk.Name())
}

// look looks at a proposal whenever something has changed, and tells the client.
func (d *Desk) look(ctx context.Context, c Caller, f found, changed <-chan struct{}) (p history.Proposal, err error) {
	tell := func(format string, args ...any) {
		if c.Tell != nil {
			c.Tell(fmt.Sprintf(format, args...))
		}
	}
	began, drafts := time.Now(), 0
	tick := time.NewTicker(pulse)
	defer tick.Stop()
	doing := "drafting"
	if f.p.Handed != 0 {
		doing, drafts = "verifying", len(f.p.Drafts)
		tell("The draft is being verified.")
	} else {
		tell("Turns %s are being drafted.", f.p.Ask.Turns)
	}
	for p = f.p; ; {
		if p, err = d.now(ctx, f, p); err != nil {
			return p, err
		}
		for ; drafts < len(p.Drafts); drafts++ {
			tell("Draft %d of at most %d: the verifier says %s.", drafts+1, history.Drafts, p.Drafts[drafts].Verdict)
		}
		if p.State != history.BeingDrafted || p.Awaits() {
			return p, nil
		}
		for again := false; !again; {
			select {
			case <-changed:
				again = true
			case <-tick.C:
				tell("Still %s, for %d s.", doing, int(time.Since(began).Seconds()))
			case <-ctx.Done():
				return p, ctx.Err()
			}
		}
	}
}
