package call_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/call"
)

// slow is a companion that takes its time for a vote.
type slow struct{ takes time.Duration }

func (slow) Describe() abi.Description {
	return abi.Description{ABI: "1", Name: "Slow", Ops: []string{abi.OpVote}}
}

func (slow) Permit(abi.ActionAsk) (string, error) { return "", nil }

func (s slow) Call(ctx context.Context, _ abi.Request) (json.RawMessage, error) {
	select {
	case <-time.After(s.takes):
		return json.RawMessage(`{"state":"speak","importance":5}`), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// An answer that comes when nobody waits for it any more counts as one; at its limit a call
// ends, whoever does.
func TestACallOutlivesWhatWaitsForIt(t *testing.T) {
	for takes, want := range map[time.Duration]error{
		0: nil, time.Second: nil, 59 * time.Second: nil, 61 * time.Second: context.DeadlineExceeded, time.Hour: context.DeadlineExceeded,
	} {
		synctest.Test(t, func(t *testing.T) {
			calls := call.Calls{
				Find:  func(string) (call.Companion, bool) { return slow{takes}, true },
				NewID: func() string { return "c1" },
				Blame: func(who, op string, err error) { t.Errorf("%s is blamed: %v", who, err) },
			}
			begun := time.Now()
			at := call.Context{Limit: begun.Add(call.VoteLimit(time.Second))}
			var v abi.Vote
			known, err := calls.Ask(t.Context(), "slow", abi.OpVote, at, abi.Scene{}, &v, func() error { return v.Check() })
			if !known || !errors.Is(err, want) || err == nil && v.State != abi.Speak {
				t.Errorf("taking %v: %v, %+v, %v", takes, known, v, err)
			}
			if took := time.Since(begun); took > time.Minute {
				t.Errorf("it ended after %v", took)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	for _, c := range []struct{ patience, vote, floor, line time.Duration }{
		{time.Millisecond, time.Minute, time.Second, 2 * time.Minute},
		{time.Second, time.Minute, 10 * time.Second, 2 * time.Minute},
		{5 * time.Second, time.Minute, time.Minute, 3 * time.Minute},
		{time.Minute, 10 * time.Minute, time.Hour, 3 * time.Hour},
	} {
		if v, l := call.VoteLimit(c.patience), call.LineLimit(c.floor); v != c.vote || l != c.line {
			t.Errorf("patience %v: %v; floor %v: %v", c.patience, v, c.floor, l)
		}
	}
}
