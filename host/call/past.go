package call

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history/parts"
)

// Compress has a companion tell turns in fewer words. More turns than one request may have are
// told in several, one behind the other, each with its share of the length. The text may be
// longer than was asked for: whoever asked holds it to that.
//
// # Errors
//
// CodeUnavailable from one that does not compress, is not loaded or broke down, CodeTimeout from one that
// was too slow; CodeInvalid and CodeTooLarge for what may not be asked, and for an answer that is no text.
func (c Calls) Compress(ctx context.Context, who string, at Context, ask abi.Compressing) (abi.Compressed, error) {
	all, err := parts.Of(ask.Turns, ask.Keep, parts.Request(false))
	if err != nil {
		return abi.Compressed{}, err
	}
	if len(all) < 2 {
		return c.compress(ctx, who, at, ask)
	}
	whole := 0
	for _, p := range all {
		whole += letters(p.Turns)
	}
	texts := make([]abi.Compressed, len(all))
	for i, p := range all {
		part := ask
		part.Turns, part.Keep, part.Draft = p.Turns, p.Keep, "" // the draft was one of all of them
		part.Length = parts.Share(ask.Length-len(all)+1, letters(p.Turns), whole)
		if texts[i], err = c.compress(ctx, who, at.part(i), part); err != nil {
			return abi.Compressed{}, err
		}
	}
	text := parts.Texts(texts)
	return text, text.Check()
}

func letters(turns []abi.PastTurn) (n int) {
	for _, t := range turns {
		n += utf8.RuneCountInString(t.Text)
	}
	return n
}

func (c Calls) compress(ctx context.Context, who string, at Context, ask abi.Compressing) (text abi.Compressed, err error) {
	if err := ask.Check(); err != nil {
		return text, err
	}
	known, err := c.Ask(ctx, who, abi.OpCompress, at, ask, &text, func() error { return text.Check() })
	return given(known, who, abi.OpCompress, text, err)
}

// Verify has a companion verify a draft. More turns, or things to be kept, than one request may
// have are asked about in several, and all of them have to be YES. A verdict is handed on as it
// is: whether a YES is borne out by its items is for whoever asked to see.
//
// # Errors
//
// Those of Compress. A verdict that is not about just what was asked is CodeInvalid.
func (c Calls) Verify(ctx context.Context, who string, at Context, ask abi.Verifying) (abi.Verified, error) {
	all, err := parts.Of(ask.Turns, ask.Keep, parts.Request(true))
	if err != nil {
		return abi.Verified{}, err
	}
	if len(ask.Turns) > 0 {
		ask.History = parts.Around(ask.History, ask.Turns[0].N, abi.MaxPast, abi.MaxPastBytes, abi.PastTurn.Bytes)
	}
	if len(all) < 2 {
		return c.verify(ctx, who, at, ask)
	}
	verdicts := make([]abi.Verified, len(all))
	for i, p := range all {
		part := ask
		part.Turns, part.Keep, part.Part, part.Parts = p.Turns, p.Keep, i+1, len(all)
		if verdicts[i], err = c.verify(ctx, who, at.part(i), part); err != nil {
			return abi.Verified{}, err
		}
	}
	return parts.Join(verdicts), nil
}

func (c Calls) verify(ctx context.Context, who string, at Context, ask abi.Verifying) (v abi.Verified, err error) {
	if err := ask.Check(); err != nil {
		return v, err
	}
	known, err := c.Ask(ctx, who, abi.OpVerify, at, ask, &v, func() error {
		err := cmp.Or(v.Check(), v.Answers(ask.Keep))
		if abi.CodeOf(err) == abi.CodeTooLarge { // that code says that nothing could be asked
			err = abi.Errorf(abi.CodeInvalid, "%s", abi.AsError(err).Message)
		}
		return err
	})
	return given(known, who, abi.OpVerify, v, err)
}

// part names the call for a part.
func (c Context) part(i int) Context {
	if c.ID != "" {
		c.ID = fmt.Sprintf("%s/%d", c.ID, i+1)
	}
	return c
}

// given hands an answer on, and none where there was an error: one that is not about the answer
// says so with its code.
func given[Answer any](known bool, who, op string, a Answer, err error) (Answer, error) {
	var none Answer
	var own *abi.Error
	switch {
	case err == nil && !known:
		return none, abi.Errorf(abi.CodeUnavailable, "%s does not answer %q: name another companion, or model", who, op)
	case err == nil:
		return a, nil
	case errors.As(err, &own):
		return none, err
	}
	code, words := Failure(err)
	if code == abi.CodeInternal {
		code = abi.CodeUnavailable
	}
	return none, abi.Wrap(code, err, who+": "+words)
}

// LongestPast is how long a call of a [Mind] may take: a model is asked about a long range part by part.
const LongestPast = 15 * time.Minute

// Mind is a companion that is asked about the past of rooms.
type Mind struct {
	Calls Calls
	Who   string
	Now   func() time.Time
}

// Compress is [Calls.Compress], and Verify [Calls.Verify], of a room.
func (m Mind) Compress(ctx context.Context, room string, c abi.Compressing) (abi.Compressed, error) {
	return m.Calls.Compress(ctx, m.Who, m.at(room), c)
}

// Verify is as Compress says.
func (m Mind) Verify(ctx context.Context, room string, v abi.Verifying) (abi.Verified, error) {
	return m.Calls.Verify(ctx, m.Who, m.at(room), v)
}

func (m Mind) at(room string) Context {
	now := m.Now()
	return Context{Room: room, Now: now.UTC().Truncate(time.Millisecond), Limit: now.Add(LongestPast)}
}
