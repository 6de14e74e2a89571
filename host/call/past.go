package call

import (
	"context"
	"fmt"
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
// CodeUnknownOp from one that does not compress, CodeUnavailable where it is not loaded,
// CodeInvalid and CodeTooLarge for what may not be asked and for an answer that is no text.
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
		if err := v.Check(); err != nil {
			return err
		}
		return v.Answers(ask.Keep)
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

// given hands an answer on, and none where there was an error.
func given[Answer any](known bool, who, op string, a Answer, err error) (Answer, error) {
	var none Answer
	switch {
	case err != nil:
		return none, err
	case !known:
		return none, abi.Errorf(abi.CodeUnknownOp, "%s does not answer %q: name another companion, or model", who, op)
	}
	return a, nil
}
