package compress

import (
	"context"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/history/extract"
	"github.com/companiond/companiond/host/history/keep"
	"github.com/companiond/companiond/host/rooms"
)

// around is how many turns before and behind the range a verifier is shown with it.
const around = 20

// draft makes drafts of a proposal until one is verified, or there were enough.
func (s *Service) draft(ctx context.Context, w wanted) error {
	for {
		talk, p, err := s.find(ctx, w.room, w.id)
		if err != nil || p.State != history.BeingDrafted {
			return err
		}
		if p, err = s.attempt(ctx, talk, p); err != nil {
			return err
		}
		if p.State == history.Offered && p.Ask.Auto {
			_, err := talk.Happens(ctx, history.Input{Kind: history.Approve, Proposal: p.ID, By: "the configuration"})
			return err
		}
	}
}

// attempt makes one draft and has it verified. Where nobody can, the proposal has failed, but not because
// the daemon stops: then it is tried again.
func (s *Service) attempt(ctx context.Context, talk rooms.Room, p history.Proposal) (history.Proposal, error) {
	o, err := read(ctx, talk, p)
	if err != nil {
		return s.fail(ctx, talk, p, err)
	}
	text, err := s.compress(ctx, talk, p, o)
	if err != nil {
		return s.fail(ctx, talk, p, fmt.Errorf("no draft can be made: %w", err))
	}
	return s.verify(ctx, talk, p, o, text, p.Ask.Compresser)
}

// outside has a draft verified that was not made here.
func (s *Service) outside(ctx context.Context, talk rooms.Room, p history.Proposal, text, by string) (history.Proposal, error) {
	o, err := read(ctx, talk, p)
	if err != nil {
		return s.fail(ctx, talk, p, err)
	}
	return s.verify(ctx, talk, p, o, text, by)
}

// original is what a draft is made of and held to.
type original struct {
	turns []abi.PastTurn
	items []abi.KeepItem
}

// read reads the turns of a proposal, where they still say what they said when it was asked for.
func read(ctx context.Context, talk rooms.Room, p history.Proposal) (original, error) {
	past, err := talk.Past(ctx, p.Ask.Turns, false)
	if err == nil && past.Sum != p.Ask.Sum {
		err = abi.Errorf(abi.CodeStale, "the turns do not say any more what they said when this was asked for")
	}
	if err != nil {
		return original{}, err
	}
	return original{past.Turns, keep.Items(past.Turns, p.Ask.Policy)}, nil
}

func (s *Service) fail(ctx context.Context, talk rooms.Room, p history.Proposal, why error) (history.Proposal, error) {
	if ctx.Err() != nil || p.State != history.BeingDrafted {
		return p, why
	}
	p, err := talk.Happens(ctx, history.Input{Kind: history.Fail, Proposal: p.ID, Why: abi.AsError(why).Message})
	return p, err
}

// compress has a draft made, of the policy and of why the one before was refused.
func (s *Service) compress(ctx context.Context, talk rooms.Room, p history.Proposal, o original) (string, error) {
	mind, err := s.mind(p.Ask.Compresser)
	if err != nil {
		return "", err
	}
	if mind == nil {
		text, ok := extract.Draft(o.turns, p.Ask.Policy, o.items, p.Ask.Length)
		if !ok {
			return "", abi.Field("target_length", abi.CodeTooLarge, "what the policy names does not fit into %d %s", p.Ask.Length.N, p.Ask.Length.Unit)
		}
		return text, nil
	}
	c := abi.Compressing{
		Turns: o.turns, Policy: p.Ask.Policy, Length: p.Ask.Length.N, Unit: string(p.Ask.Length.Unit), Language: language(o.turns), Keep: o.items,
	}
	if n := len(p.Drafts); n > 0 {
		last, err := talk.Draft(ctx, p.Drafts[n-1].Seq)
		if err != nil {
			return "", err
		}
		c.Draft, c.Feedback = last.Text, last.Feedback
	}
	made, err := mind.Compress(ctx, talk.Name(), c)
	return made.Text, err
}

// verify has a draft verified, and writes it down with the verdict; not where words of the turns were erased meanwhile, for
// the draft may have them.
func (s *Service) verify(ctx context.Context, talk rooms.Room, p history.Proposal, o original, text, by string) (history.Proposal, error) {
	said, err := s.judged(ctx, talk, p, o, text)
	if temporary(err) {
		return s.fail(ctx, talk, p, fmt.Errorf("the draft cannot be verified: %w", err))
	}
	d := history.Draft{N: len(p.Drafts) + 1, Text: text, By: by, VerifiedBy: p.Ask.Verifier, Lost: keep.Losses(o.turns, text)}
	d.Verdict, d.Findings, d.Feedback = keep.Judge(o.items, text, p.Ask.Length, said)
	if err != nil { // an answer that cannot be read is no YES
		d.Verdict, d.Feedback = history.No, "the verifier's answer cannot be read: "+abi.AsError(err).Message
	}
	now, err := talk.Happens(ctx, history.Input{Kind: history.Drafted, Proposal: p.ID, By: by, Draft: &d})
	if abi.CodeOf(err) == abi.CodeStale {
		return s.fail(ctx, talk, p, err)
	}
	return now, err
}

// judged gives what the verifier says.
func (s *Service) judged(ctx context.Context, talk rooms.Room, p history.Proposal, o original, text string) (abi.Verified, error) {
	mind, err := s.mind(p.Ask.Verifier)
	if err != nil {
		return abi.Verified{}, err
	}
	if mind == nil {
		return keep.Verify(o.turns, o.items, text), nil
	}
	spliced, err := splice(ctx, talk, p.Ask.Turns, text)
	if err != nil {
		return abi.Verified{}, err
	}
	return mind.Verify(ctx, talk.Name(), abi.Verifying{Turns: o.turns, History: spliced, Policy: p.Ask.Policy, Keep: o.items, Draft: text})
}

// temporary says whether an error is about whoever was asked, and not about what was answered.
func temporary(err error) bool {
	switch abi.CodeOf(err) {
	case abi.CodeUnavailable, abi.CodeTimeout, abi.CodeExhausted, abi.CodeNotFound, abi.CodeDenied:
		return err != nil
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// splice gives the history as it would be told: the turns around a range, and a draft in its place.
func splice(ctx context.Context, talk rooms.Room, r history.Range, text string) (all []abi.PastTurn, err error) {
	n, err := talk.Turns(ctx)
	if err != nil {
		return nil, err
	}
	before := history.Range{From: r.From - min(r.From-1, around), To: r.From - 1}
	behind := history.Range{From: r.To + 1, To: min(r.To+around, n)}
	for _, part := range []history.Range{before, {}, behind} {
		switch {
		case part == history.Range{}:
			all = append(all, abi.PastTurn{N: r.From, Upto: r.To, Text: text})
		case part.From <= part.To:
			past, err := talk.Past(ctx, part, true)
			if err != nil {
				return nil, err
			}
			all = append(all, past.Turns...)
		}
	}
	return all, nil
}

func characters(turns []abi.PastTurn) (n int) {
	for _, t := range turns {
		n += utf8.RuneCountInString(t.Text)
	}
	return n
}

// language says in which language turns are, as far as their letters tell.
func language(turns []abi.PastTurn) string {
	kana, letters := 0, 0
	for _, t := range turns {
		for _, r := range t.Text {
			if unicode.In(r, unicode.Hiragana, unicode.Katakana) {
				kana++
			}
			if unicode.IsLetter(r) {
				letters++
			}
		}
	}
	if kana*10 > letters {
		return "ja"
	}
	return ""
}
