// Command clock is a handler that tells companions the time: at times of the day, and every so many minutes.
// README.md says how it is set up.
package main

import (
	"encoding/json"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/clock/due"
	companion "github.com/companiond/companiond/sdk/go"
)

func init() { companion.RegisterHandler(handler()) }

func main() {}

func handler() companion.Handler {
	c := &clock{said: map[string]string{}}
	return companion.Handler{
		Name: "Clock", Version: "1", Needs: []string{abi.HostPerceptionEmit, abi.HostTimerSet}, Settings: due.Schema, Timer: c.timer,
	}
}

const (
	name = "next" // of the timer
	// look is how long it waits at most: a machine may sleep meanwhile, or its clock be set.
	look = time.Minute
	// late is how long after its time it is still told.
	late = time.Minute
)

type clock struct {
	said map[string]string // what the log was told last, by companion
}

// waits is the data of a timer.
type waits struct {
	Due time.Time `json:"due"`
}

// timer tells the time where it is due, and sets the next timer.
func (c *clock) timer(h *companion.Host, t abi.Timer) {
	plan, err := due.Parse(t.Settings)
	if err != nil {
		h.Fail(err)
	}
	var was waits
	if t.Name == name {
		if err := json.Unmarshal(t.Data, &was); err != nil {
			h.Fail(abi.Errorf(abi.CodeInvalid, "timer.data: %v", err))
		}
	}
	now := h.Now()
	if err := set(h, now, plan.Next(now)); err != nil { // first, whatever becomes of what is told
		h.Fail(err)
	}
	switch over := now.Sub(was.Due); {
	case was.Due.IsZero() || over < 0: // it only looked
	case over > late:
		h.Log(abi.LevelInfo, was.Due.In(plan.Zone).Format("15:04")+" was over when this machine woke up or its clock was set, and is not told")
	default:
		c.tell(h, plan, was.Due, t.Companions)
	}
}

// set has the handler called when it is due, or to look again.
func set(h *companion.Host, now, next time.Time) error {
	data, err := json.Marshal(waits{next})
	if err != nil {
		return err
	}
	after := min(next.Sub(now), look) + time.Millisecond - 1 // rounded up: what comes too early comes twice
	return h.SetTimer(abi.TimerAsk{Name: name, After: max(after.Milliseconds(), abi.MinTimer), Data: data})
}

// tell has companions perceive the time. One that cannot, such as a companion whose card knows no such perception, is
// told of in the log once.
func (c *clock) tell(h *companion.Host, plan due.Plan, at time.Time, companions []string) {
	body, err := json.Marshal(plan.Tell(at))
	if err != nil {
		h.Fail(err)
	}
	for _, id := range companions {
		why := ""
		if _, err := h.Emit(abi.PerceptionAsk{Companion: id, Title: plan.Perception, Body: body}); err != nil {
			why = abi.AsError(err).Message
		}
		if why != "" && why != c.said[id] {
			h.Log(abi.LevelWarn, id+" is not told the time: "+why)
		}
		c.said[id] = why
	}
}
