// Package limits counts calls of language models and what they cost, a minute and a day, for
// each model, each companion and each room, and says no where a bound is reached. Of each
// bound a part is kept for calls that somebody waits for, and half of that for those who called
// somebody by name.
//
// It is pure: the time comes in with what is asked, in the zone whose calendar the day is of.
// It never asks a model, never keeps anything on a disk, and is not safe for several goroutines
// at once.
package limits

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Key names what a bound is for, as the configuration does: a model, a companion or a room.
type Key struct {
	Table string // "model", "companion" or "room"
	Name  string
}

// String gives the table of the configuration.
func (k Key) String() string { return k.Table + "." + k.Name }

// Bounds are how much may be spent; 0 is as much as there is to spend.
type Bounds struct {
	Minute int     // calls in any minute
	Day    int     // calls in a day of the calendar
	Cost   float64 // a day, in the currency of the prices
}

// Urgency is how much of a bound a call may reach.
type Urgency int

// The urgencies, the least first.
const (
	Idle   Urgency = iota // nobody waits for it: two thirds
	Waits                 // somebody waits for an answer: five sixths
	Called                // and called whoever is to give it by name: all
)

// reserve is the part of each bound that is kept for what is urgent, one in so many; half of it
// is for those who call somebody.
const reserve = 3

// Refusal says why a call is not made.
type Refusal struct {
	Why   string
	After time.Duration // then it may be made
	First bool          // in this window: worth a line in the log
	Full  bool          // nothing is left of the bound, not even for those who call somebody
}

// maxOthers is how many keys without bounds are counted in a day. Of more, those that spent least are forgotten.
const maxOthers = 256

// Limits are the bounds of a house. Make them with [New].
type Limits struct {
	accounts map[Key]*account
	others   map[Key]*Day // without bounds: what they spend counts for a bound that they get within the day
	date     string       // of what others has
}

// account is what was spent of one key.
type account struct {
	bounds Bounds
	minute minute
	day    Day
	held   time.Time // whoever is asked has asked to be left alone until then
	why    string    // and said so
	told   map[string]time.Time
}

// Day is what was spent in a day.
type Day struct {
	Table string  `json:"table"`
	Name  string  `json:"name"`
	Date  string  `json:"date"` // as in "2026-11-23"
	Calls int     `json:"calls"`
	Cost  float64 `json:"cost"`
	// Minute is what the last minute came to, the oldest first; of what has no bounds it is not kept.
	Minute []Second `json:"minute,omitempty"`
}

// Second are calls within one second.
type Second struct {
	At    int64 `json:"at"` // when it began, in milliseconds since 1970
	Calls int   `json:"calls"`
}

// New makes limits of which nothing is spent.
func New(bounds map[Key]Bounds) *Limits {
	l := &Limits{accounts: map[Key]*account{}, others: map[Key]*Day{}}
	l.Set(bounds)
	return l
}

// Set puts other bounds in the place of all that there were. What was spent stays.
func (l *Limits) Set(bounds map[Key]Bounds) {
	for key, a := range l.accounts {
		a.bounds = bounds[key]
	}
	for key, b := range bounds {
		if b != (Bounds{}) {
			l.account(key).bounds = b
		}
	}
}

func (l *Limits) account(key Key) *account {
	a := l.accounts[key]
	if a == nil {
		a = &account{day: Day{Table: key.Table, Name: key.Name}, told: map[string]time.Time{}}
		if d := l.others[key]; d != nil {
			a.day = *d
			delete(l.others, key)
		}
		l.accounts[key] = a
	}
	return a
}

// May says why a call for all of the keys is not to be made, nil where it may be. The first key that
// says no is told.
func (l *Limits) May(now time.Time, urgency Urgency, keys ...Key) *Refusal {
	for _, key := range keys {
		if a := l.accounts[key]; a != nil {
			if r := a.refuses(key, now, urgency); r != nil {
				return r
			}
		}
	}
	return nil
}

// Take counts a call for all of the keys, or says why it is not to be made and counts none.
func (l *Limits) Take(now time.Time, urgency Urgency, keys ...Key) *Refusal {
	if r := l.May(now, urgency, keys...); r != nil {
		return r
	}
	l.Spend(now, 1, 0, keys...)
	return nil
}

// Spend counts calls that were not taken, and what was spent.
func (l *Limits) Spend(now time.Time, calls int, cost float64, keys ...Key) {
	for _, key := range keys {
		day := l.other(key, now)
		if a := l.accounts[key]; a != nil {
			a.minute.add(now, calls)
			day = &a.day
		}
		if day == nil {
			continue
		}
		day.begin(now)
		day.Calls, day.Cost = max(0, day.Calls+calls), day.Cost+cost
	}
}

// other gives the day of a key without bounds; nil where it has some, or no name.
func (l *Limits) other(key Key, now time.Time) *Day {
	if l.accounts[key] != nil || key.Name == "" {
		return nil
	}
	if date := now.Format(time.DateOnly); date != l.date {
		l.date = date
		maps.DeleteFunc(l.others, func(_ Key, d *Day) bool { return d.Date < date })
	}
	if l.others[key] == nil {
		l.place()
		l.others[key] = &Day{Table: key.Table, Name: key.Name}
	}
	return l.others[key]
}

// place forgets of those without bounds the one that spent least, where there are too many.
func (l *Limits) place() {
	if len(l.others) < maxOthers {
		return
	}
	least := slices.MinFunc(slices.Collect(maps.Values(l.others)), func(a, b *Day) int {
		return cmp.Or(cmp.Compare(a.Cost, b.Cost), cmp.Compare(a.Calls, b.Calls), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Name, b.Name))
	})
	delete(l.others, Key{least.Table, least.Name})
}

// Hold has nothing be asked for a while: whoever is asked has said so.
func (l *Limits) Hold(key Key, until time.Time, why string) {
	a := l.account(key)
	a.held, a.why = until, why
}

// Held gives until when nothing is to be asked, and why; zero where it may be.
func (l *Limits) Held(key Key, now time.Time) (until time.Time, why string) {
	if a := l.accounts[key]; a != nil && now.Before(a.held) {
		return a.held, a.why
	}
	return time.Time{}, ""
}

// Days gives what was spent in the day and in the last minute, to be kept. The day is kept whether it has
// bounds or not: a bound that is set within the day counts what came before it.
func (l *Limits) Days() (all []Day) {
	for _, a := range l.accounts {
		if a.day.Date != "" {
			d := a.day
			d.Minute = a.minute.kept()
			all = append(all, d)
		}
	}
	for _, d := range l.others {
		all = append(all, *d)
	}
	slices.SortFunc(all, func(a, b Day) int { return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Name, b.Name)) })
	return all
}

// Restore takes what was kept.
func (l *Limits) Restore(days []Day) {
	for _, d := range days {
		key := Key{d.Table, d.Name}
		if d.Calls < 0 || d.Cost < 0 || d.Name == "" || d.Date == "" {
			continue
		}
		a := l.accounts[key]
		if a != nil {
			a.minute.restore(d.Minute)
		}
		if d.Minute = nil; a != nil {
			a.day = d
			continue
		}
		if l.others[key] == nil {
			l.place()
		}
		l.others[key] = &d
	}
}

// aside is how far a clock that is right may be set back.
const aside = time.Hour

// begin begins a new day where one has. A clock that is set back a little goes on with the day that
// was, or its bounds would be there twice. One that was wrong by hours takes what was spent along
// into the day that it is, or that would last until the wrong one is over.
func (d *Day) begin(now time.Time) {
	date := now.Format(time.DateOnly)
	if date == d.Date {
		return
	}
	was, err := time.ParseInLocation(time.DateOnly, d.Date, now.Location())
	switch ahead := was.Sub(now); {
	case err != nil || ahead <= 0 || ahead >= 24*time.Hour:
	case ahead < aside:
		return
	default:
		d.Date = date
		return
	}
	*d = Day{Table: d.Table, Name: d.Name, Date: date}
}

// part is how much of a bound a call may reach: what is not urgent leaves a part of it.
func part(bound float64, urgency Urgency) float64 {
	switch urgency {
	case Called:
		return bound
	case Waits:
		return bound - bound/(2*reserve)
	}
	return bound - bound/reserve
}

// whole is part for a number of calls. Of a bound below six none is kept for those who call somebody.
func whole(bound int, urgency Urgency) int {
	switch urgency {
	case Called:
		return bound
	case Waits:
		return bound - bound/(2*reserve)
	}
	return bound - bound/reserve
}

func (a *account) refuses(key Key, now time.Time, urgency Urgency) *Refusal {
	a.day.begin(now)
	b := a.bounds
	tomorrow := func() time.Duration {
		y, m, d := now.Date()
		return time.Date(y, m, d+1, 0, 0, 0, 0, now.Location()).Sub(now)
	}
	switch calls := a.minute.sum(now); {
	case b.Minute > 0 && calls >= whole(b.Minute, urgency):
		why := fmt.Sprintf("%d a minute are used up", b.Minute)
		return a.refusal(now, time.Minute, key, "calls_minute", why, urgency, a.minute.free(now, whole(b.Minute, urgency)), calls >= b.Minute)
	case b.Day > 0 && a.day.Calls >= whole(b.Day, urgency):
		why := fmt.Sprintf("%d a day are used up", b.Day)
		return a.refusal(now, 24*time.Hour, key, "calls_day", why, urgency, tomorrow(), a.day.Calls >= b.Day)
	case b.Cost > 0 && a.day.Cost >= part(b.Cost, urgency):
		why := strconv.FormatFloat(b.Cost, 'f', -1, 64) + " a day is spent"
		return a.refusal(now, 24*time.Hour, key, "cost_day", why, urgency, tomorrow(), a.day.Cost >= b.Cost)
	}
	return nil
}

// refusal puts it into words, the setting first for they may be cut, and notes that it was told in its window.
func (a *account) refusal(now time.Time, window time.Duration, key Key, setting, why string, urgency Urgency, after time.Duration, full bool) *Refusal {
	switch {
	case urgency == Idle:
		why += ", but for what is kept for answers"
	case !full:
		why += ", but for what is kept for those who call somebody"
	}
	told, ok := a.told[setting]
	first := !ok || now.Sub(told) >= window || now.Before(told)
	if first {
		a.told[setting] = now
	}
	return &Refusal{Why: fmt.Sprintf("%s.%s: %s", key, setting, why), After: after, First: first, Full: full}
}
