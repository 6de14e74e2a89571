package handler

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/rooms"
)

// parlour is a room that keeps what is played.
type parlour struct {
	room
	who    string
	by     rooms.Player
	ask    abi.ActionAsk
	during string
}

func (r *parlour) Act(ctx context.Context, who string, by rooms.Player, a abi.ActionAsk) (abi.ActionPlayed, error) {
	r.who, r.by, r.ask, r.during = who, by, a, module.DuringOf(ctx)
	return abi.ActionPlayed{ID: "7", Wish: 12}, nil
}

// TestHandlersPlay: an action of the card alone, for a companion of the handler's, in whose home it is played.
func TestHandlersPlay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, r := newTower(Handler{}, "", func(ctx context.Context, _ abi.Request) error { <-ctx.Done(); return ctx.Err() }, abi.OpRun), new(parlour)
		x.cfg.Home = func(_ context.Context, who string) (rooms.Room, error) { return r, nil }
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = x.Run(ctx) }()
		time.Sleep(time.Second)
		synctest.Wait()
		c := x.during(abi.OpRun)
		speak := abi.ActionAsk{Companion: "aya", Action: "speak", Parameters: json.RawMessage(`{"message":"Hi."}`), Perception: "chat"}
		played, err := x.Play(ctx, c, speak)
		if err != nil || played.Wish != 12 || r.who != "aya" || r.during != "tower" || r.by != (rooms.Player{Agent: "tower", Card: true, Op: abi.OpRun}) {
			t.Errorf("%+v, %v, %+v", played, err, r)
		}
		if r.ask.Companion != "" || r.ask.Action != "speak" || string(r.ask.Parameters) != `{"message":"Hi."}` || r.ask.Perception != "chat" {
			t.Errorf("%+v", r.ask)
		}
		p, _ := x.caller(c)
		p.concealed.Add("hunter2")
		speak.Parameters = json.RawMessage(`{"message":"It is \u0068unter2."}`)
		if _, err := x.Play(ctx, c, speak); err != nil || string(r.ask.Parameters) != `{"message":"It is (secret)."}` {
			t.Errorf("a secret of its own: %v, %s", err, r.ask.Parameters)
		}
		r.who = ""
		for _, tc := range []struct {
			c    module.Caller
			who  string
			code abi.Code
		}{
			{c, "", abi.CodeInvalid}, {c, "kyoko", abi.CodeDenied}, {c, "nobody", abi.CodeDenied},
			{module.Caller{Companion: "aya", Call: c.Call, Op: abi.OpRun}, "aya", abi.CodeDenied}, {module.Caller{Companion: "tower", Call: "line-7", Op: abi.OpLine}, "aya", abi.CodeDenied},
		} {
			if _, err := x.Play(ctx, tc.c, abi.ActionAsk{Companion: tc.who, Action: "speak"}); abi.CodeOf(err) != tc.code || r.who != "" {
				t.Errorf("%+v for %q: %v", tc.c, tc.who, err)
			}
		}
		cancel()
		synctest.Wait()
	})
}
