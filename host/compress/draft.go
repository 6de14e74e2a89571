package compress

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/abi/plain"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/history/extract"
	"github.com/companiond/companiond/host/history/judge"
	"github.com/companiond/companiond/host/history/keep"
	"github.com/companiond/companiond/host/rooms"
)

// around is how many turns before and behind the range a verifier is shown with it.
const around = 20

// draft makes drafts of a proposal until one is verified, or there were enough.
func (s *Service) draft(ctx context.Context, w wanted) error {
	for {
		talk, p, err := s.find(ctx, w.room, w.id)
		switch {
		case err != nil:
			return err
		case p.State == history.Offered && p.Own():
			return s.stand(ctx, talk, p)
		case p.State != history.BeingDrafted || p.Awaits():
			return nil
		case p.Own() && !s.standing(ctx, w.room).Asks():
			_, err = s.fail(ctx, talk, p, "", abi.Errorf(abi.CodeDenied, "the configuration asks for nothing any more"))
			return err
		}
		try := s.attempt
		if p.Handed != 0 {
			try = s.outside
		}
		if _, err = try(ctx, talk, p); err != nil {
			if _, now, lookErr := s.find(ctx, w.room, w.id); lookErr == nil && now.State != history.BeingDrafted {
				return nil // somebody denied it meanwhile
			}
			return err
		}
	}
}

// attempt makes one draft and has it verified. Where nobody can, the proposal has failed, but not because
// the daemon stops: then it is tried again.
func (s *Service) attempt(ctx context.Context, talk rooms.Room, p history.Proposal) (history.Proposal, error) {
	o, err := read(ctx, talk, p)
	if err != nil {
		return s.fail(ctx, talk, p, "", err)
	}
	text, err := s.compress(ctx, talk, p, o)
	if err != nil {
		return s.fail(ctx, talk, p, "no draft can be made: ", err)
	}
	return s.verify(ctx, talk, p, o, text, p.Ask.Compresser)
}

// outside has a draft verified that was not made here.
func (s *Service) outside(ctx context.Context, talk rooms.Room, p history.Proposal) (history.Proposal, error) {
	d, err := talk.Draft(ctx, p.Handed)
	if err != nil {
		return p, err
	}
	o, err := read(ctx, talk, p)
	if err == nil && d.Text == "" {
		err = abi.Errorf(abi.CodeStale, "the draft had words that were erased")
	}
	if err != nil {
		return s.fail(ctx, talk, p, "", err)
	}
	return s.verify(ctx, talk, p, o, d.Text, cmp.Or(d.By, p.By))
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
	turns := seen(past.Turns)
	named, err := held(ctx, p.Ask, turns)
	if err == nil && p.Own() && !fits(named, p.Ask.Length) {
		err = abi.Field("target_length", abi.CodeTooLarge, "what the policy names in turns %s comes to %d %s there, %s, %d: ask for them with a length of %d, or name less", p.Ask.Turns, letters(named, p.Ask.Length.Unit), p.Ask.Length.Unit, crowded, p.Ask.Length.N, needs(letters(named, p.Ask.Length.Unit)))
	}
	if err != nil {
		return original{}, err
	}
	items, err := keep.ItemsWithin(ctx, turns, p.Ask.Policy)
	return original{turns, items}, err
}

// seen gives turns as a reader sees them: what was said with signs that nobody sees is found again in a draft without these.
func seen(turns []abi.PastTurn) []abi.PastTurn {
	turns = slices.Clone(turns)
	for i := range turns {
		turns[i].Text = plain.Text(turns[i].Text)
	}
	return turns
}

// fail writes down that a proposal has failed: what could not be done, and why.
func (s *Service) fail(ctx context.Context, talk rooms.Room, p history.Proposal, what string, why error) (history.Proposal, error) {
	if ctx.Err() != nil || p.State != history.BeingDrafted {
		return p, why
	}
	return talk.Happens(ctx, history.Input{Kind: history.Fail, Proposal: p.ID, Why: what + abi.AsError(why).Reason()})
}

// compress has a draft made, of the policy and of why the one before was refused. What nobody would see of it, and models would read, is
// taken out before anybody verifies it: what is verified is what is told.
func (s *Service) compress(ctx context.Context, talk rooms.Room, p history.Proposal, o original) (string, error) {
	mind, err := s.mind(p.Ask.Compresser)
	if err != nil {
		return "", err
	}
	if mind == nil {
		text, err := extract.Draft(ctx, o.turns, p.Ask.Policy, o.items, p.Ask.Length)
		return plain.Text(text), err
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
	return strings.TrimSpace(plain.Text(made.Text)), err
}

// verify has a draft verified, and writes it down with the verdict; not where words of the turns were erased meanwhile, for
// the draft may have them.
func (s *Service) verify(ctx context.Context, talk rooms.Room, p history.Proposal, o original, text, by string) (history.Proposal, error) {
	if !strings.ContainsFunc(text, shows) {
		text = "" // as which it is judged
	}
	said, err := s.judged(ctx, talk, p, o, text)
	if unasked(err) {
		return s.fail(ctx, talk, p, "the draft cannot be verified: ", err)
	}
	lost, ended := judge.LossesWithin(ctx, o.turns, text)
	if ended != nil {
		return p, ended
	}
	d := history.Draft{N: len(p.Drafts) + 1, Text: text, By: by, VerifiedBy: p.Ask.Verifier, Lost: lost}
	if d.Verdict, d.Findings, d.Feedback, ended = judge.Judge(ctx, o.turns, o.items, text, p.Ask.Length, said); ended != nil {
		return p, ended
	}
	d.Look = judge.Look(d.Findings) || p.Ask.Auto && !judge.Held(d.Findings)
	if err != nil { // an answer that cannot be read is no YES
		d.Verdict, d.Feedback = history.No, "the verifier's answer cannot be read: "+abi.AsError(err).Message
	}
	if n, most := judge.Size(text, p.Ask.Length.Unit), spoken(o.turns, p.Ask.Length.Unit); n > most {
		d.Verdict = history.No
		d.Feedback = strings.TrimLeft(fmt.Sprintf("%s\n- the text has %d %s, and the turns have %d with who said them: it is to be shorter than they are", d.Feedback, n, p.Ask.Length.Unit, most), "\n")
	}
	now, err := talk.Happens(ctx, history.Input{Kind: history.Drafted, Proposal: p.ID, By: by, Draft: &d})
	if abi.CodeOf(err) == abi.CodeStale {
		return s.fail(ctx, talk, p, "", err)
	}
	return now, err
}

// shows says whether anything is seen of a letter.
func shows(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !abi.Ignorable(r) && r != '\u2800' // a pattern of Braille without dots
}

// judged gives what the verifier says.
func (s *Service) judged(ctx context.Context, talk rooms.Room, p history.Proposal, o original, text string) (abi.Verified, error) {
	mind, err := s.mind(p.Ask.Verifier)
	if err != nil {
		return abi.Verified{}, err
	}
	if mind == nil {
		return judge.VerifyWithin(ctx, o.turns, o.items, text)
	}
	spliced, err := splice(ctx, talk, p.Ask.Turns, text)
	if err != nil {
		return abi.Verified{}, err
	}
	return mind.Verify(ctx, talk.Name(), abi.Verifying{Turns: o.turns, History: spliced, Policy: p.Ask.Policy, Keep: o.items, Draft: text})
}

// unasked says whether an error is about whoever was asked, or about what could be asked, and not about what was answered: a verifier
// whose context, or answer, has no room for it finds nothing wrong with a draft, and the next one would not do better.
func unasked(err error) bool {
	switch abi.CodeOf(err) {
	case abi.CodeUnavailable, abi.CodeTimeout, abi.CodeExhausted, abi.CodeNotFound, abi.CodeDenied, abi.CodeTooLarge:
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
