package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
)

// rig is a clock in a daemon whose time is set.
type rig struct {
	*companion.Local
	t        *testing.T
	now      time.Time
	settings string
}

func newRig(t *testing.T, now, settings string) *rig {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, now)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{Local: companion.NewLocalHandler(handler()), t: t, now: at, settings: settings}
	r.Clock = func() time.Time { return r.now }
	return r
}

// begin asks it as the daemon does at the start.
func (r *rig) begin() error {
	return r.Timer(abi.Timer{Companions: []string{"aya", "kyoko"}, Settings: json.RawMessage(r.settings)})
}

// set gives the timer that was set last.
func (r *rig) set() abi.TimerAsk {
	r.t.Helper()
	if len(r.Handled.Timers) == 0 {
		r.t.Fatal("no timer is set")
	}
	return r.Handled.Timers[len(r.Handled.Timers)-1]
}

// wait lets the timer that is set come, so much later than it is due.
func (r *rig) wait(later time.Duration) {
	r.t.Helper()
	ask := r.set()
	n := len(r.Handled.Timers)
	r.now = r.now.Add(time.Duration(ask.After)*time.Millisecond + later)
	if err := r.Timer(abi.Timer{Name: ask.Name, Data: ask.Data, Companions: []string{"aya", "kyoko"}, Settings: json.RawMessage(r.settings)}); err != nil {
		r.t.Fatal(err)
	}
	if len(r.Handled.Timers) != n+1 || r.set().After < abi.MinTimer || r.set().After > 60_000 {
		r.t.Fatalf("timers: %+v", r.Handled.Timers[n:])
	}
}

// waitTold lets timers come until something is told, and gives when that was.
func (r *rig) waitTold() string {
	r.t.Helper()
	for n, tries := len(r.Handled.Emitted), 0; len(r.Handled.Emitted) == n; tries++ {
		if tries > 2000 {
			r.t.Fatal("nothing is told")
		}
		r.wait(0)
	}
	return r.now.UTC().Format(time.TimeOnly)
}

// TestTells: each companion perceives each time that is due, when it is, once.
func TestTells(t *testing.T) {
	r := newRig(t, "2026-11-26T21:58:30.0005Z", `{"at":["07:00"],"every":45}`)
	if err := r.begin(); err != nil {
		t.Fatal(err)
	}
	if len(r.Handled.Emitted) > 0 || r.set().After != 60_000 {
		t.Errorf("at the start: %+v", r.Handled)
	}
	for i, want := range []string{"22:00:00", "22:30:00", "23:15:00", "00:00:00"} {
		if at := r.waitTold(); at != want {
			t.Errorf("told at %s, want %s", at, want)
		}
		if len(r.Handled.Emitted) != 2*(i+1) {
			t.Fatalf("%+v", r.Handled.Emitted)
		}
	}
	first, second := r.Handled.Emitted[0], r.Handled.Emitted[1]
	if first.Companion != "aya" || second.Companion != "kyoko" || first.Title != "clock" ||
		string(first.Body) != `{"time":"07:00","day":"2026-11-27","text":"It is 07:00 on Friday, 27 November 2026."}` {
		t.Errorf("%+v", first)
	}
}

// TestMachineSleeps: a time that was over for long is not told, one that was just over is; a clock that is put back tells again
// when it is time again, and a timer that comes too early tells nothing.
func TestMachineSleeps(t *testing.T) {
	r := newRig(t, "2026-11-26T21:59:30Z", `{"every":30,"zone":"+00:00"}`)
	if err := r.begin(); err != nil {
		t.Fatal(err)
	}
	r.wait(late + time.Second)
	if len(r.Handled.Emitted) > 0 || len(r.Logs) != 1 || !strings.Contains(r.Logs[0], "22:00 was over when this machine woke up") {
		t.Errorf("%+v %q", r.Handled.Emitted, r.Logs)
	}
	if at := r.waitTold(); at != "22:30:00" {
		t.Errorf("told at %s", at)
	}
	for r.now.Add(time.Duration(r.set().After)*time.Millisecond).Minute() != 0 {
		r.wait(0)
	}
	r.wait(59 * time.Second)
	if len(r.Handled.Emitted) != 4 || !strings.Contains(string(r.Handled.Emitted[3].Body), `"time":"23:00"`) {
		t.Errorf("%+v", r.Handled.Emitted)
	}
	r.now = r.now.Add(-2 * time.Minute)
	r.wait(0)
	if at := r.waitTold(); at != "23:00:00" || len(r.Handled.Emitted) != 6 {
		t.Errorf("told at %s: %+v", at, r.Handled.Emitted)
	}
	r.now = r.now.Add(29*time.Minute - 10*time.Second)
	r.wait(-50 * time.Second) // which is 23:29
	if n := len(r.Handled.Emitted); n != 6 {
		t.Errorf("%d are told too early", n)
	}
	if at := r.waitTold(); at != "23:30:00" {
		t.Errorf("told at %s", at)
	}
}

// TestRefused: one who cannot be told is told of once, and the others and the next time are not lost.
func TestRefused(t *testing.T) {
	r := newRig(t, "2026-11-26T22:00:00Z", `{"every":1,"perception":"時計"}`)
	refuse := true
	r.Handled.Refuse = func(op string, data json.RawMessage) error {
		var p abi.PerceptionAsk
		if op == abi.HostPerceptionEmit && json.Unmarshal(data, &p) == nil && refuse && p.Companion == "aya" {
			return abi.Errorf(abi.CodeNotFound, "the card has no perception %q", p.Title)
		}
		return nil
	}
	if err := r.begin(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		r.waitTold()
	}
	if len(r.Logs) != 1 || r.Logs[0] != `WARN aya is not told the time: the card has no perception "時計"` || len(r.Handled.Emitted) != 3 {
		t.Errorf("%q %+v", r.Logs, r.Handled.Emitted)
	}
	refuse = false
	r.waitTold()
	refuse = true
	r.waitTold()
	if len(r.Logs) != 2 || len(r.Handled.Emitted) != 6 {
		t.Errorf("%q %+v", r.Logs, r.Handled.Emitted)
	}
}

// TestWrongSettings are said, and nothing is set.
func TestWrongSettings(t *testing.T) {
	r := newRig(t, "2026-11-26T22:00:00Z", `{"at":["07:00"],"zone":"Tokyo"}`)
	if err := r.begin(); err == nil || !strings.Contains(err.Error(), `settings.zone: "Tokyo"`) || len(r.Handled.Timers) > 0 {
		t.Errorf("%v %+v", err, r.Handled.Timers)
	}
	if err := r.Timer(abi.Timer{Name: "next", Data: json.RawMessage(`7`), Settings: json.RawMessage(`{"every":1}`)}); err == nil {
		t.Error("a timer with other data is taken")
	}
}
