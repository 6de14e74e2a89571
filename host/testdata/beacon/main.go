// Command beacon is a handler for tests: it emits perceptions when its timer is due, and as a program while it runs; it
// keeps what it is shown, and tells it.
package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
)

// version makes another file of it.
var version string

var handler = companion.Handler{
	Name: "Beacon", Version: version, Needs: []string{abi.HostPerceptionEmit, abi.HostTimerSet},
	Actions:  []companion.Offer{{Name: "beacon.tell"}, {Name: "beacon.leak"}, {Name: "beacon.later"}, {Name: "beacon.say"}, {Name: "beacon.again"}},
	Settings: `{"type":"object","properties":{"password":{"type":"string","minLength":8}},"required":["password"]}`,
	Act: func(h *companion.Host, a companion.Acting) (string, error) {
		var set struct{ Password string }
		if err := json.Unmarshal(a.Settings, &set); err != nil {
			return "", err
		}
		if a.Action == "beacon.leak" {
			return "", abi.Errorf(abi.CodeUnavailable, "the password is %s", set.Password)
		}
		if a.Action == "beacon.later" {
			ask, err := json.Marshal(abi.ResultAsk{ID: a.ID, Companion: a.Companion, OK: true, Message: "done later, with " + set.Password})
			if err == nil {
				err = h.SetTimer(abi.TimerAsk{Name: "later", After: abi.MinTimer, Data: ask})
			}
			if err != nil {
				return "", err
			}
			return "", companion.ErrLater
		}
		if a.Action == "beacon.say" {
			played, err := h.ActFor(a.Companion, "speak", map[string]string{"message": "Ahoy from the tower!"})
			return fmt.Sprintf("it waits for the floor: %v", played.Wish > 0), err
		}
		if a.Action == "beacon.again" {
			_, err := h.ActFor(a.Companion, "beacon.tell", nil)
			return "", err
		}
		shown, _, err := h.Get("shown")
		return fmt.Sprintf("%d letters; shown%s", len(set.Password), shown), err
	},
	Show: func(h *companion.Host, s abi.Showing) {
		var shown strings.Builder
		had, _, err := h.Get("shown")
		if err != nil {
			h.Fail(err)
		}
		shown.WriteString(had)
		for _, x := range s.Shown {
			if x.Kind != abi.ShowAction {
				fmt.Fprintf(&shown, " %s:%s:%d:%s", s.Name, x.Kind, x.Part, x.Text)
			}
		}
		if err := h.Set("shown", shown.String()); err != nil {
			h.Fail(err)
		}
	},
	Timer: func(h *companion.Host, t abi.Timer) {
		if t.Name == "" {
			if err := h.SetTimer(abi.TimerAsk{Name: "tick", After: abi.MinTimer, Data: json.RawMessage(`{"n":7}`)}); err != nil {
				h.Fail(err)
			}
			return
		}
		if t.Name == "later" {
			tellLate(h, t.Data)
			return
		}
		for _, who := range t.Companions {
			if _, err := h.Emit(abi.PerceptionAsk{Companion: who, Title: "beacon", Body: t.Data, Key: "tick-1", From: "Ann\u202e Lee"}); err != nil {
				h.Fail(err)
			}
		}
	},
}

// tellLate tells a result, twice, and remembers how the second was refused.
func tellLate(h *companion.Host, data json.RawMessage) {
	var r abi.ResultAsk
	if err := json.Unmarshal(data, &r); err != nil {
		h.Fail(err)
	}
	if err := h.TellResult(r); err != nil {
		h.Fail(err)
	}
	if err := h.Set("shown", " twice: "+string(abi.CodeOf(h.TellResult(r)))); err != nil {
		h.Fail(err)
	}
}

// emit is what a run begins with.
func emit(h *companion.Host, r abi.Running) error {
	for _, who := range r.Companions {
		if _, err := h.Emit(abi.PerceptionAsk{Companion: who, Title: "beacon", Body: json.RawMessage(`"it runs"`)}); err != nil {
			return err
		}
	}
	_, err := h.Emit(abi.PerceptionAsk{Companion: "nobody", Title: "beacon"})
	if abi.CodeOf(err) != abi.CodeDenied {
		return fmt.Errorf("nobody perceives: %w", err)
	}
	return nil
}
