package converse

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/sessions"
)

// quiet are conversations in which nothing is ever to be done, but for cursors.
type quiet struct {
	Conversations
	acknowledged []string
	fails        error
	action       conversations.Action
}

func (q *quiet) Next(ctx context.Context, _ conversations.Member, _ *conversations.Seen, wait time.Duration) (conversations.Action, error) {
	if q.action.Cursor != "" || wait == 0 {
		return q.action, ctx.Err()
	}
	select {
	case <-time.After(wait):
		return conversations.Action{Do: conversations.DoWait}, nil
	case <-ctx.Done():
		return q.action, ctx.Err()
	}
}

func (q *quiet) Acknowledge(_ context.Context, _ conversations.Member, cursor string) error {
	if q.fails == nil {
		q.acknowledged = append(q.acknowledged, cursor)
	}
	return q.fails
}

// anybody has a session of an hour, but for "none".
type anybody struct{ Sessions }

func (anybody) Hold(token string) (sessions.Session, func(), error) {
	if token == "none" {
		return sessions.Session{}, nil, conversation.Refuse(conversation.NoSession, "")
	}
	return sessions.Session{Token: token, Agent: "a", Expires: time.Now().Add(time.Hour)}, func() {}, nil
}

func deskOf(q *quiet) *Desk {
	return New(Config{Conversations: q, Sessions: anybody{}, Agent: func(string) (conversations.Agent, bool) { return conversations.Agent{}, false }}, context.Background())
}

// TestStandingsAreForgotten: of sessions that are over, however many, nothing is left; of
// those that are not, all is.
func TestStandingsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := deskOf(&quiet{})
		ask := func(token string) {
			if _, err := d.NextAction(t.Context(), identity.Caller{}, NextIn{Token: token, Timeout: new(float64)}); err != nil && token != "none" {
				t.Error(err)
			}
		}
		for hour := range 6 {
			for i := range 1000 {
				ask(fmt.Sprint(hour, " ", i))
			}
			if n := len(d.all); n < 1000 || n > 2200 {
				t.Errorf("%d standings of 1000 sessions", n)
			}
			time.Sleep(time.Hour + grace + time.Second)
		}
		d.forget("5 7")
		before := len(d.all)
		ask("none")
		if d.all[hashOf("5 7")] != nil || len(d.all) != before {
			t.Error("what was forgotten is there")
		}
	})
}

// TestGivenIsBoundedAndKept: what could not be acknowledged is with the next call, what is
// refused is not, and of answers that nobody takes the newest are remembered.
func TestGivenIsBoundedAndKept(t *testing.T) {
	q := &quiet{action: conversations.Action{Do: conversations.DoEnded, Cursor: "c1"}}
	d := deskOf(q)
	ask := func(acknowledge *string) error {
		_, err := d.NextAction(t.Context(), identity.Caller{}, NextIn{Token: "t", Acknowledge: acknowledge, Timeout: new(float64)})
		return err
	}
	at := d.enter("t", time.Now().Add(time.Hour))
	for i := range mostGiven + 3 {
		at.gave(fmt.Sprint("x", i))
		at.gave(fmt.Sprint("x", i))
	}
	if len(at.given) != mostGiven || at.given[0] != "x3" {
		t.Errorf("%q", at.given)
	}
	at.given = nil
	if err := ask(nil); err != nil || len(at.given) != 1 {
		t.Errorf("%v %q", err, at.given)
	}
	q.fails = errors.New("the disk is full")
	if err := ask(nil); err == nil || len(at.given) != 1 {
		t.Errorf("%v %q", err, at.given)
	}
	q.fails, q.action.Cursor = conversation.Refuse(conversation.NotFound, ""), ""
	if err := ask(nil); err != nil || len(at.given) != 0 {
		t.Errorf("%v %q", err, at.given)
	}
	wrong := "wrong"
	if err := ask(&wrong); err == nil {
		t.Error("a wrong cursor is acknowledged")
	}
	q.fails = nil
	at.gave("c2")
	at.gave("c3")
	second := "c3"
	if err := ask(&second); err != nil || len(q.acknowledged) != 1 || q.acknowledged[0] != "c3" || len(at.given) != 1 {
		t.Errorf("%v %q, left %q", err, q.acknowledged, at.given)
	}
}

// TestAnAnswerThatNobodyHears is not acknowledged by the next call.
func TestAnAnswerThatNobodyHears(t *testing.T) {
	q := &quiet{action: conversations.Action{Do: conversations.DoEnded, Cursor: "c1"}}
	d := deskOf(q)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := d.visit(ctx, "t", nil, func(v *visit) (any, error) {
		cancel()
		v.cursor = "c1"
		return 1, nil
	})
	if at := d.enter("t", time.Now()); err != nil || len(at.given) != 0 {
		t.Errorf("%v %q", err, at.given)
	}
}

// TestAWaitTakesItsTime: as long as was asked for, and no longer than the daemon is there.
func TestAWaitTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopping, stop := context.WithCancel(t.Context())
		d := New(Config{Conversations: &quiet{}, Sessions: anybody{}}, stopping)
		began := time.Now()
		ask := func(seconds float64) NextOut {
			out, err := d.NextAction(t.Context(), identity.Caller{}, NextIn{Token: "t", Timeout: &seconds})
			if err != nil {
				t.Fatal(err)
			}
			return out.(NextOut)
		}
		if out := ask(45); out.Action != conversations.DoWait || time.Since(began) != 45*time.Second {
			t.Errorf("%v after %v", out, time.Since(began))
		}
		time.AfterFunc(time.Second, stop)
		if out := ask(45); out.Action != conversations.DoWait || time.Since(began) != 46*time.Second {
			t.Errorf("%v after %v", out, time.Since(began))
		}
	})
}

func TestRefuse(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Refusal
	}{
		{conversation.Refuse(conversation.AlreadyActive, "conv_1"), Refusal{"conversation_already_active", 409, "these agents have a conversation that is open", "conv_1", false}},
		{fmt.Errorf("start: %w", conversation.Refuse(conversation.WithSelf, "")), Refusal{Code: "cannot_conversation_with_self", Status: 400, Message: "an agent cannot have a conversation with itself"}},
		{abi.Field("limit", abi.CodeInvalid, "must be a number"), Refusal{"invalid_argument", 400, "an argument is wrong", "limit: must be a number", false}},
		{abi.Errorf(abi.CodeUnavailable, "the daemon is stopping"), Refusal{"unavailable", http.StatusServiceUnavailable, "the daemon is stopping", "", true}},
		{abi.Errorf(abi.CodeDenied, "a guest may not"), Refusal{"denied", 403, "a guest may not", "", false}},
		{errors.New("open /etc/secret"), Refusal{"internal", 500, "internal error", "", false}},
	} {
		if got := Refuse(c.err); got != c.want {
			t.Errorf("%v: %+v", c.err, got)
		}
	}
}
