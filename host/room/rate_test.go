package room

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// provider is a language model that is over its rate for a while: until then it
// answers that it is, and for how long, and counts how often it was asked.
type provider struct {
	code abi.Code

	mu    sync.Mutex
	free  time.Time
	asked []time.Time
}

func (p *provider) until(free time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = free
}

// calls gives when it was asked.
func (p *provider) calls() []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

func (p *provider) ask() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.asked = append(p.asked, now)
	if !now.Before(p.free) {
		return nil
	}
	err := abi.Errorf(p.code, "model main: rate limited, asked to wait %v", p.free.Sub(now))
	err.After = p.free.Sub(now).Milliseconds()
	return err
}

// timesAsked is how often a companion was asked for anything.
func (a *actor) timesAsked() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked
}

// limited is a companion that thinks with a provider. It needs none to vote where it is
// spoken to.
func limited(id string, p *provider) *actor {
	return &actor{
		id: id,
		vote: func(_ context.Context, s abi.Scene) (abi.Vote, error) {
			if s.Addressed {
				return abi.Vote{State: abi.Speak, Importance: 10}, nil
			}
			return abi.Vote{State: abi.Speak, Importance: 5}, p.ask()
		},
		speak: func(context.Context, abi.Scene) (abi.Line, error) {
			return abi.Line{Text: id + " answers"}, p.ask()
		},
	}
}

// rateRules have one companion turn to a human's.
func rateRules() entry.Rules {
	r := testRules
	r.MaxTurns = 1
	return r
}

// TestRateIsKept: whoever is over its rate is asked again when that is over, and not before,
// and the human is answered; whether it failed at the vote or at the line.
func TestRateIsKept(t *testing.T) {
	for name, text := range map[string]string{"a line": "aya, hello", "a vote": "hello"} {
		for _, restart := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := &provider{free: time.Now().Add(time.Minute), code: abi.CodeUnavailable}
					s := newStage(t, rateRules(), limited("aya", p))
					s.say("taro", text)
					time.Sleep(20 * time.Second)
					d := s.decisions()[len(s.decisions())-1]
					if d.Outcome != entry.OutcomeAbsent || !d.Until.Equal(p.free) || !strings.Contains(d.Reason, "rate limited") {
						t.Errorf("%+v, want to be asked at %v", d, p.free)
					}
					if i := s.room.Info(); i.State != "waiting" {
						t.Errorf("the room is %s", i.State)
					}
					if restart {
						s.end()
						s.start()
					}
					time.Sleep(39 * time.Second)
					if len(p.calls()) != 1 {
						t.Errorf("asked %d times within the minute, at %v", len(p.calls()), p.calls())
					}
					time.Sleep(2 * time.Second)
					if got := s.texts(); len(got) != 2 || got[1] != "aya: aya answers" {
						t.Errorf("after the minute: %q", got)
					}
					if !p.calls()[1].Equal(p.free) {
						t.Errorf("asked at %v, want %v", p.calls(), p.free)
					}
					s.finish()
				})
			})
		}
	}
}

// TestRateCountsForNothing: it may be over its rate more often than a room asks again else.
func TestRateCountsForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{code: abi.CodeUnavailable}
		aya := limited("aya", p)
		over := 30
		aya.speak = func(context.Context, abi.Scene) (abi.Line, error) {
			if over--; over >= 0 {
				p.until(time.Now().Add(10 * time.Second))
			}
			return abi.Line{Text: "at last"}, p.ask()
		}
		s := newStage(t, rateRules(), aya)
		s.say("taro", "aya, hello")
		time.Sleep(301 * time.Second)
		if got := s.texts(); len(got) != 2 || len(p.calls()) != 31 {
			t.Errorf("asked %d times: %q", len(p.calls()), got)
		}
		s.finish()
	})
}

// TestSomebodyElseAnswers while one is over its rate: at once what is said to nobody, and
// what is said to that one waits for it. The ranking says why it has no vote, and it is not
// asked for one.
func TestSomebodyElseAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{free: time.Now().Add(time.Minute), code: abi.CodeUnavailable}
		ben := wants_("ben", 5)
		ben.vote = func(_ context.Context, sc abi.Scene) (abi.Vote, error) {
			if strings.Contains(sc.Message.Text, "everybody") {
				return abi.Vote{State: abi.Speak, Importance: 5}, nil
			}
			return abi.Vote{State: abi.Listen}, nil
		}
		ben.speak = func(_ context.Context, sc abi.Scene) (abi.Line, error) {
			if strings.Contains(sc.Message.Text, "everybody") {
				return abi.Line{Text: "ben answers"}, nil
			}
			return abi.Line{}, nil // though asked, it has nothing to say
		}
		aya := limited("aya", p)
		aya.vote = func(_ context.Context, sc abi.Scene) (abi.Vote, error) {
			return abi.Vote{State: abi.Speak, Importance: 1}, nil
		}
		s := newStage(t, rateRules(), aya, ben)
		s.say("taro", "aya, how are you?")
		time.Sleep(10 * time.Second)
		s.say("hana", "hello everybody")
		time.Sleep(10 * time.Second)
		if got := s.texts(); !slices.Equal(got[2:], []string{"ben: ben answers"}) || len(p.calls()) != 1 {
			t.Errorf("asked %d times: %q", len(p.calls()), got)
		}
		note := ""
		for _, d := range s.decisions() {
			for _, c := range d.Ranking {
				if c.Who == "aya" && c.Standing == "absent" {
					note = c.Note
				}
			}
		}
		if want := "over its rate until " + p.free.UTC().Format(time.TimeOnly); !strings.HasPrefix(note, want) {
			t.Errorf("the ranking says %q, want %q", note, want)
		}
		asked := ben.timesAsked()
		time.Sleep(39 * time.Second)
		if len(s.texts()) != 3 || ben.timesAsked() > asked+2 {
			t.Errorf("ben was asked %d times while everybody waits: %q", ben.timesAsked()-asked, s.texts())
		}
		time.Sleep(3 * time.Second)
		if got := s.texts(); len(got) != 4 || got[3] != "aya: aya answers" || len(p.calls()) != 2 {
			t.Errorf("asked %d times: %q", len(p.calls()), got)
		}
		s.finish()
	})
}

// TestSomebodyComes who can vote: it does not wait for the other's rate.
func TestSomebodyComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{free: time.Now().Add(time.Minute), code: abi.CodeUnavailable}
		s := newStage(t, rateRules(), limited("aya", p))
		s.say("taro", "hello")
		time.Sleep(10 * time.Second)
		s.load(wants_("ben", 5))
		time.Sleep(2 * time.Second)
		if got := s.texts(); len(got) != 2 || got[1] != "ben: ben line 1" || len(p.calls()) != 1 {
			t.Errorf("asked %d times: %q", len(p.calls()), got)
		}
		s.finish()
	})
}

// TestABoundOfTheHouseEndsWithIt: after a restart it may be another, and asking costs nothing.
func TestABoundOfTheHouseEndsWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{free: time.Now().Add(5 * time.Hour), code: abi.CodeExhausted}
		s := newStage(t, rateRules(), limited("aya", p))
		s.say("taro", "aya, hello")
		time.Sleep(10 * time.Second)
		s.end()
		p.until(time.Time{})
		s.start()
		time.Sleep(2 * time.Second)
		if got := s.texts(); len(got) != 2 {
			t.Errorf("%q", got)
		}
		s.finish()
	})
}
