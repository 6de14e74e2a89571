// Package due says when a clock tells the time next: at times of the day, and every so many minutes.
//
// It never reads a clock and sets no timer: the time comes in with what is asked.
package due

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"time"
	_ "time/tzdata" // WebAssembly has no table of time zones; 370 kB

	"github.com/companiond/companiond/abi"
)

// Schema is the JSON Schema of a clock's settings.
const Schema = `{
  "type": "object",
  "properties": {
    "at": {
      "type": "array", "maxItems": 1440,
      "items": {"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"},
      "description": "Times of the day, such as \"07:00\""
    },
    "every": {"type": "integer", "minimum": 1, "maximum": 1440, "description": "Every so many minutes: 30 is each full and half hour"},
    "zone": {"type": "string", "format": "time-zone", "description": "Where that is: an offset such as \"+09:00\", which is meant where there is none, or a name such as \"Europe/Berlin\""},
    "perception": {"type": "string", "minLength": 1, "description": "Title of the perception in the card; \"clock\" where there is none"}
  },
  "additionalProperties": false
}`

// Settings are what Schema says; see [Parse].
type Settings struct {
	At         []string `json:"at"`
	Every      int      `json:"every"`
	Zone       string   `json:"zone"`
	Perception string   `json:"perception"`
}

// Plan is when a clock tells the time, where, and under which title. Make one with Parse.
type Plan struct {
	Perception string
	Zone       *time.Location
	at         []minutes
	every      time.Duration
}

// minutes are those since midnight, by the clock on the wall.
type minutes int

const defaultZone = "+09:00"

// Parse makes a plan of settings, which are JSON as Schema has it. Errors say what to write in place of what is there.
func Parse(settings []byte) (p Plan, err error) {
	var s Settings
	if len(bytes.TrimSpace(settings)) > 0 {
		if err := json.Unmarshal(settings, &s); err != nil {
			return p, abi.Errorf(abi.CodeInvalid, "settings: %v", err)
		}
	}
	if len(s.At) == 0 && s.Every == 0 {
		return p, abi.Errorf(abi.CodeInvalid, `settings: the clock has nothing to tell; write at = ["07:00"] or every = 30`)
	}
	if s.Every < 0 || s.Every > 1440 {
		return p, abi.Errorf(abi.CodeInvalid, "settings.every: %d is no number of minutes from 1 to 1440", s.Every)
	}
	p.every, p.Perception = time.Duration(s.Every)*time.Minute, cmp.Or(s.Perception, "clock")
	for _, text := range s.At {
		t, err := time.Parse("15:04", text)
		if err != nil || len(text) != len("15:04") {
			return p, abi.Errorf(abi.CodeInvalid, "settings.at: %.40q is no time of the day; write it as \"07:00\"", text)
		}
		p.at = append(p.at, minutes(t.Hour()*60+t.Minute()))
	}
	p.Zone, err = zone(cmp.Or(s.Zone, defaultZone))
	return p, err
}

// zone reads an offset or a name.
func zone(text string) (*time.Location, error) {
	if t, err := time.Parse("-07:00", text); err == nil {
		_, offset := t.Zone()
		return time.FixedZone(text, offset), nil
	}
	if text != "Local" { // which would be the machine's, and in WebAssembly is none
		if z, err := time.LoadLocation(text); err == nil {
			return z, nil
		}
	}
	return nil, abi.Errorf(abi.CodeInvalid, `settings.zone: %.40q is neither an offset such as "+09:00" nor the name of a time zone such as "Asia/Tokyo"`, text)
}

// Next gives when the time is told next, later than after. There always is such a time.
//
// What is told every so many minutes is counted from a midnight of the zone, so that 30 minutes are each full and
// half hour whenever the clock begins. A time of the day that is left out when clocks are put forward is told as many
// minutes later or earlier; one that comes twice is told once.
func (p Plan) Next(after time.Time) time.Time {
	next := p.nextAt(after)
	if step := int64(p.every / time.Second); step > 0 {
		_, offset := after.In(p.Zone).Zone()
		since := after.Unix() + int64(offset) // a day that began at midnight is whole in it
		due := time.Unix(since-mod(since, step)+step-int64(offset), 0)
		if next.IsZero() || due.Before(next) {
			next = due
		}
	}
	return next.In(p.Zone)
}

// nextAt gives the next time of the day, and the zero time where none is set.
func (p Plan) nextAt(after time.Time) (next time.Time) {
	year, month, day := after.In(p.Zone).Date()
	// The day before may end behind midnight, where clocks are put forward at the end of it, and whole days may be left out.
	for d := -1; d <= 3; d++ {
		for _, m := range p.at {
			t := time.Date(year, month, day+d, int(m)/60, int(m)%60, 0, 0, p.Zone)
			if t.After(after) && (next.IsZero() || t.Before(next)) {
				next = t
			}
		}
	}
	return next
}

// mod is the rest of a division that is rounded down.
func mod(a, by int64) int64 { return ((a % by) + by) % by }

// Told is what a companion perceives.
type Told struct {
	Time string `json:"time"` // 07:00
	Day  string `json:"day"`  // 2026-11-27
	Text string `json:"text"` // both, and the day of the week
}

// Tell gives what is perceived at a time.
func (p Plan) Tell(at time.Time) Told {
	at = at.In(p.Zone)
	t := Told{Time: at.Format("15:04"), Day: at.Format(time.DateOnly)}
	t.Text = fmt.Sprintf("It is %s on %s, %s.", t.Time, at.Weekday(), at.Format("2 January 2006"))
	return t
}
