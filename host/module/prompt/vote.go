package prompt

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/context/layout"
	"github.com/companiond/companiond/host/limits"
)

// Tokens that a vote may take: one small object.
const voteTokens = 200

const voteSchema = `{"type":"object","properties":{
"state":{"type":"string","enum":["speak","listen"]},
"importance":{"type":"number","minimum":0,"maximum":10},
"closing":{"type":"string","enum":["none","pre-closing","closing","terminal"]},
"reason":{"type":"string"}},
"required":["state","importance","closing","reason"],"additionalProperties":false}`

// vote says whether the character wants to speak, and how much. A character that a
// human addressed need not ask a model for that. Otherwise a referee is asked, which
// is not the character: its voice is for its lines, unless both are asked for in one.
// A character without a model listens, and
// fails where it was addressed, so that those who spoke to it are shown why.
func (c *call) vote(ctx context.Context, s abi.Scene) (abi.Vote, error) {
	if why := c.m.engine.cfg.Models.Waits(c.m.id, c.m.card.Model); why != "" {
		if s.Addressed {
			return abi.Vote{}, abi.Errorf(abi.CodeUnavailable, "%s", why)
		}
		return abi.Vote{State: abi.Listen, Reason: why}, nil
	}
	// In a conversation it is always spoken to: it was invited, or has come.
	if !s.Addressed && c.m.card.Talkativeness == 0 && s.Conversation == nil {
		return abi.Vote{State: abi.Listen, Reason: "talks when it is spoken to"}, nil
	}
	if s.Addressed && isHuman(s.Members, s.Message.From) {
		c.declines(ctx, s)
		return abi.Vote{State: abi.Speak, Importance: 10, Selected: true, Reason: "was addressed"}, nil
	}
	v, err := c.weigh(ctx, s)
	if err != nil {
		if e := abi.AsError(err); e.Code == abi.CodeExhausted && e.After == 0 { // a bound, and nobody waits for it
			return abi.Vote{State: abi.Listen, Reason: e.Message}, nil
		}
		return abi.Vote{}, err
	}
	v.Importance = math.Max(0, math.Min(10, v.Importance+(c.m.card.Talkativeness-0.5)*4))
	return v, nil
}

// weigh has the model decide, together with the line where that is configured and the
// model keeps to it.
func (c *call) weigh(ctx context.Context, s abi.Scene) (abi.Vote, error) {
	if free, ok := c.mayDraft(); ok {
		v, err := c.voteAndLine(ctx, s, free)
		if !errors.Is(err, errNoVote) {
			if err == nil {
				c.m.unfit.Store(0)
			}
			return v, err
		}
		if c.m.unfit.Add(1) == maxUnfit {
			c.m.engine.cfg.Log.Warn("the model does not begin its answers with a vote: votes and lines are asked for one by one from now on",
				"companion", c.m.id, "why", err.Error())
		}
	}
	if v, ok, err := c.voteTogether(ctx, s); ok || err != nil {
		return v, err
	}
	return c.referee(ctx, s)
}

// referee asks for the vote alone.
func (c *call) referee(ctx context.Context, s abi.Scene) (abi.Vote, error) {
	ask, err := c.put(ctx, asking{
		tail:    c.m.mind.ForScene(layout.Asked{Scene: s, Now: c.now, OnlyVote: true}),
		members: s.Members, recent: recent(s), about: s.Message.Seq, urgency: urgency(s),
	})
	if err != nil {
		return abi.Vote{}, err
	}
	ask.Schema, ask.SchemaName, ask.MaxTokens = json.RawMessage(voteSchema), "vote", voteTokens
	ask.Check = func(raw json.RawMessage) error { _, err := readVote(raw); return err }
	a, err := c.generate(ctx, ask, nil)
	if err != nil {
		return abi.Vote{}, err
	}
	return readVote(a.JSON)
}

// urgency is that of a vote: only who is addressed is waited for.
func urgency(s abi.Scene) limits.Urgency {
	switch {
	case !s.Addressed:
		return limits.Idle
	case isHuman(s.Members, s.Message.From):
		return limits.Called
	}
	return limits.Waits
}

func readVote(raw json.RawMessage) (abi.Vote, error) {
	var v struct {
		abi.Vote
		Selected    json.RawMessage `json:"selected"` // nobody asked for these, whatever stands there
		Backchannel json.RawMessage `json:"backchannel"`
	}
	err := json.Unmarshal(raw, &v)
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) && wrong.Field != "" {
		return abi.Vote{}, abi.Errorf(abi.CodeInvalid, "the vote is not what was asked for: %s must not be a JSON %s", wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:], wrong.Value)
	}
	if err != nil {
		return abi.Vote{}, abi.Errorf(abi.CodeInvalid, "the vote is not what was asked for: it is no JSON of a vote")
	}
	return v.Vote, v.Check()
}

// isHuman says whether a participant is a person. A person who spoke last is
// among the members; an agent may have left.
func isHuman(members []abi.Member, who string) bool {
	return memberOf(members, who).Kind == abi.KindHuman
}
