package room

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/turn"
)

// mood is what a chaotic actor does at its next call.
type mood struct {
	Do      string // speak, listen, hang, fail, lie
	Delay   time.Duration
	Weight  float64
	Closing abi.Closing
}

// chaos is an actor that works through its moods, over and over.
type chaos struct {
	mu    sync.Mutex
	moods []mood
	n     int
}

func (c *chaos) next() mood {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	return c.moods[c.n%len(c.moods)]
}

func (c *chaos) actor(id string) *actor {
	wait := func(ctx context.Context, d time.Duration) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return &actor{
		id: id,
		vote: func(ctx context.Context, _ abi.Scene) (v abi.Vote, err error) {
			m := c.next()
			if err := wait(ctx, m.Delay); err != nil {
				return v, err
			}
			switch m.Do {
			case "hang":
				return hang[abi.Vote](ctx, abi.Scene{})
			case "fail":
				return v, errors.New("boom")
			case "lie":
				return abi.Vote{State: "shout", Importance: -1}, nil
			case "listen":
				return abi.Vote{State: abi.Listen}, nil
			}
			return abi.Vote{State: abi.Speak, Importance: m.Weight, Closing: m.Closing, Backchannel: "うん"}, nil
		},
		speak: func(ctx context.Context, s abi.Scene) (l abi.Line, err error) {
			m := c.next()
			if err := wait(ctx, m.Delay); err != nil {
				return l, err
			}
			switch m.Do {
			case "hang":
				return hang[abi.Line](ctx, s)
			case "fail":
				return l, errors.New("boom")
			case "lie":
				return abi.Line{Text: "x", Closing: "never"}, nil
			case "listen":
				return l, nil
			}
			return abi.Line{Text: fmt.Sprintf("%s on %d", id, s.Message.Seq), To: []string{"taro", "nobody"}}, nil
		},
	}
}

// step is what the world does next.
type step struct {
	Do   string // say, stop, wait, leave, return, restart, full, lost, talk, attend, vote
	Text string
	Wait time.Duration
	Who  string
}

func drawMoods(t *rapid.T, label string) []mood {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) mood {
		return mood{
			Do:      rapid.SampledFrom([]string{"speak", "speak", "speak", "listen", "hang", "fail", "lie"}).Draw(t, "do"),
			Delay:   time.Duration(rapid.SampledFrom([]int{0, 0, 1, 300, 999, 1000, 1001, 4000}).Draw(t, "delay")) * time.Millisecond,
			Weight:  float64(rapid.IntRange(0, 10).Draw(t, "weight")),
			Closing: rapid.SampledFrom([]abi.Closing{"", "", "", abi.ClosingPre, abi.ClosingTerminal}).Draw(t, "closing"),
		}
	}), 1, 8).Draw(t, label)
}

func drawSteps(t *rapid.T) []step {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{
			Do:   rapid.SampledFrom([]string{"say", "say", "say", "wait", "stop", "leave", "return", "restart", "full", "lost", "talk", "talk", "talk", "attend", "vote", "body", "body", "speak", "game", "game", "force", "note"}).Draw(t, "do"),
			Text: rapid.SampledFrom([]string{"hello", "a, and you?", "@b", "b and c!", "みんな"}).Draw(t, "text"),
			Wait: time.Duration(rapid.SampledFrom([]int{0, 1, 50, 999, 1000, 2500, 30000}).Draw(t, "wait")) * time.Millisecond,
			Who:  rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "who"),
		}
	}), 1, 25).Draw(t, "steps")
}

// TestLawsHoldWhateverHappens throws everything at a room that the world can,
// and reads the laws off its journal.
func TestLawsHoldWhateverHappens(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rules := testRules
		rules.Policy = rapid.SampledFrom(turn.Names()).Draw(rt, "policy")
		rules.Stale = rapid.SampledFrom([]entry.Stale{entry.StaleRefuse, entry.StaleReask, entry.StaleAccept}).Draw(rt, "stale")
		rules.Silence = rapid.SampledFrom([]int64{0, 4000}).Draw(rt, "silence")
		rules.Pace = rapid.SampledFrom([]int64{0, 700}).Draw(rt, "pace")
		rules.Auto = rapid.Bool().Draw(rt, "auto")
		rules.Ahead = rapid.SampledFrom([]int{0, 3, 30}).Draw(rt, "ahead")
		rules.Interrupt = rapid.SampledFrom([]entry.Interrupt{entry.InterruptNever, entry.InterruptSentence, entry.InterruptNow}).Draw(rt, "interrupt")
		rules.Interrupters = []string{"*"}
		moods := map[string][]mood{}
		for _, id := range []string{"a", "b", "c"} {
			moods[id] = drawMoods(rt, id)
		}
		steps := drawSteps(rt)
		var verdict error
		synctest.Test(t, func(t *testing.T) { verdict = chaosRun(t, rules, moods, steps) })
		if verdict != nil {
			rt.Fatal(verdict)
		}
	})
}

// outside does what agents do: with the grant where one has it, and with what
// was said last in mind, or with nothing at all.
func (s *stage) outside(st step) (abi.Message, bool) {
	who, ctx := "bot-"+st.Who, s.t.Context()
	i := s.room.Info()
	switch st.Do {
	case "attend":
		_ = s.room.Attend(ctx, who, true)
		return abi.Message{}, false
	case "vote":
		if i.Round != nil {
			_ = s.room.Vote(ctx, who, i.Round.About, abi.Vote{State: abi.Speak, Importance: 8})
		}
		return abi.Message{}, false
	}
	u := rooms.Utterance{From: who, By: abi.KindAgent, Text: st.Text, Basis: i.Head}
	if st.Who == "c" {
		u.Basis, u.Text = 1, strings.Repeat(u.Text, 4) // too little read, much to say
	}
	if i.Floor == who {
		u.Grant, u.Basis = i.Grant.Token, i.Grant.Basis
	}
	m, b, err := s.room.Consume(ctx, u)
	if b.Level < 0 || b.Level > b.Size {
		s.t.Errorf("after %q the pool is %+v", u.Text, b)
	}
	return m, err == nil
}

func chaosRun(t *testing.T, rules entry.Rules, moods map[string][]mood, steps []step) error {
	all := map[string]*actor{}
	for id, ms := range moods {
		all[id] = (&chaos{moods: ms}).actor(id)
	}
	s := newStage(t, rules, all["a"], all["b"], all["c"])
	acked := map[uint64]string{}
	embodied := map[string]func(){}
	plugged := map[string]func(){}
	defer func() {
		for _, leave := range embodied {
			leave()
		}
	}()
	for _, st := range steps {
		switch st.Do {
		case "say":
			if m, err := s.room.Say(t.Context(), rooms.Utterance{From: "taro", Text: st.Text}); err == nil {
				acked[m.Seq] = st.Text
			}
		case "talk", "attend", "vote":
			if m, ok := s.outside(st); ok {
				acked[m.Seq] = m.Text
			}
		case "body":
			if leave := embodied[st.Who]; leave != nil {
				leave()
				delete(embodied, st.Who)
			} else {
				embodied[st.Who] = s.embody(&puppet{who: st.Who, slow: 1 + float64(st.Wait%3), dumb: st.Wait == 50*time.Millisecond})
			}
		case "game":
			if leave := plugged[st.Who]; leave != nil {
				leave()
				delete(plugged, st.Who)
				break
			}
			var g *action.Game
			g, plugged[st.Who] = s.room.cfg.Bodies.Plug("main", st.Who, "", s.room.Stir)
			g.Start("chess")
			g.Offer(lent(s.t, "play", "pass"))
			if st.Wait == 0 {
				g.Withdraw([]string{"pass"})
			}
		case "force":
			p := forced([]string{"low", "medium", "high", "critical"}[len(st.Text)%4], st.Wait > 0, "play", "pass")
			go func() { _, _ = s.room.Perceive(s.t.Context(), st.Who, p) }()
		case "note":
			_ = s.room.Note(s.t.Context(), st.Who, told(st.Text))
		case "speak":
			_ = s.room.Speaking(t.Context(), "taro", st.Wait < time.Second)
		case "stop":
			_, _ = s.room.Stop(t.Context(), "taro")
		case "leave":
			s.unload(st.Who)
		case "return":
			s.load(all[st.Who])
		case "restart":
			s.end()
			time.Sleep(st.Wait)
			s.start()
		case "full":
			s.journal.break_(journal.ErrUnavailable, false)
		case "lost":
			s.journal.break_(journal.ErrUnknown, true)
		}
		time.Sleep(st.Wait)
		if st.Do == "full" || st.Do == "lost" {
			s.journal.break_(nil, false)
		}
		synctest.Wait()
	}
	time.Sleep(15 * time.Minute) // nobody is asked for ever
	synctest.Wait()
	info := s.room.Info()
	s.end()
	if err := s.verdict(); err != nil {
		return err
	}
	es := s.entries()
	for seq, text := range acked {
		if m, ok := es[seq-1].Message(); !ok || m.Text != text {
			return fmt.Errorf("acknowledged message %d is not in the journal\n%s", seq, dump(es))
		}
	}
	if info.State == "talking" || info.State == "unavailable" {
		return fmt.Errorf("a quarter of an hour later the room is still %s\n%s", info.State, dump(es))
	}
	return nil
}
