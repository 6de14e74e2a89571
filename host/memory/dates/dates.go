// Package dates finds the days that a text names, also relative ones (明日, 来週の土曜, next
// Friday), in Japanese and English, counted from the day on which it was said.
//
// It asks no clock and guesses no day that the text does not name.
package dates

import "time"

// Day is a day that a text names.
type Day struct {
	From, To int       // its bytes in the text
	Date     time.Time // midnight, in the location of the time that it was said
}

// Key is the form in which days are keys of what is remembered: 2026-12-05.
func (d Day) Key() string { return d.Date.Format(time.DateOnly) }

// Find gives the days that a text names that was said at a time, in the text's order.
func Find(text string, said time.Time) []Day { panic("later") }
