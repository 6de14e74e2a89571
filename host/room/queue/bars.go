package queue

import (
	"slices"
	"time"
)

// Bar is why somebody is not asked for a while: whatever it thinks with has said when that
// may be.
type Bar struct {
	Who   string    `json:"who"`
	Until time.Time `json:"until"`
	Why   string    `json:"why"`
	// House says that it is a bound of the house's own, which may be another after a restart.
	House bool `json:"house,omitempty"`
}

// near is how far away a time is that is told without its date.
const near = 12 * time.Hour

// Note puts it into words for the ranking of a round that begins at a moment. They may be cut: the
// reason is not to be what is lost of them.
func (b Bar) Note(at time.Time) string {
	layout := time.TimeOnly
	if b.Until.Sub(at).Abs() > near {
		layout = time.DateTime
	}
	note := "until " + b.Until.UTC().Format(layout) + " UTC: " + b.Why
	if b.House {
		return note
	}
	return "over its rate " + note
}

// Bars are those who are not asked for a while, by name.
type Bars struct {
	Barred []Bar `json:"barred,omitempty"`
}

// Bar notes that somebody is not to be asked; what it was barred for before is forgotten.
func (b *Bars) Bar(bar Bar) {
	b.Unbar(func(old Bar) bool { return old.Who == bar.Who })
	at, _ := slices.BinarySearchFunc(b.Barred, bar.Who, func(old Bar, who string) int {
		if old.Who < who {
			return -1
		}
		return 1
	})
	b.Barred = slices.Insert(b.Barred, at, bar)
}

// Unbar ends bars.
func (b *Bars) Unbar(which func(Bar) bool) {
	if b.Barred = slices.DeleteFunc(b.Barred, which); len(b.Barred) == 0 {
		b.Barred = nil
	}
}

// Lift ends those whose time has come.
func (b *Bars) Lift(at time.Time) { b.Unbar(func(bar Bar) bool { return !at.Before(bar.Until) }) }

// BarOf gives why somebody is not to be asked at a moment, nil where it may.
func (b *Bars) BarOf(who string, at time.Time) *Bar {
	for i, bar := range b.Barred {
		if bar.Who == who && at.Before(bar.Until) {
			return &b.Barred[i]
		}
	}
	return nil
}
