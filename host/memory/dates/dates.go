// Package dates finds the days that a text names, also relative ones (明日, 来週の土曜, next
// Friday), in Japanese and English, counted from the day on which it was said.
//
// It asks no clock and gives no day that the text does not name: "next week" is none. Months and years
// are no days; [Month] finds those.
package dates

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Day is a day that a text names.
type Day struct {
	From, To int       // its bytes in the text
	Date     time.Time // midnight, in the location of the time that it was said
}

// Key is the form in which days are keys of what is remembered: 2026-12-05.
func (d Day) Key() string { return d.Date.Format(time.DateOnly) }

// Find gives the days that a text names that was said at a time, in the text's order. Weeks
// begin on Mondays: 来週の土曜 and "next Saturday" are in the week behind this one, and a
// weekday alone is the next one. A month and a day without a year are the next such day.
func Find(text string, said time.Time) []Day {
	lower := text
	if l := strings.ToLower(text); len(l) == len(text) {
		lower = l
	}
	y, m, d := said.Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, said.Location())
	var days, taken []Day // taken also by what names no day to come, or none at all: last Friday
	for _, f := range forms {
		for _, at := range f.pattern.FindAllStringSubmatchIndex(lower, -1) {
			groups := make([]string, 0, 4)
			for g := 2; g+1 < len(at); g += 2 {
				if at[g] >= 0 {
					groups = append(groups, lower[at[g]:at[g+1]])
				} else {
					groups = append(groups, "")
				}
			}
			if overlaps(taken, at[0], at[1]) {
				continue
			}
			date, ok := f.date(today, groups)
			taken = append(taken, Day{at[0], at[1], date})
			if ok {
				days = append(days, Day{at[0], at[1], date})
			}
		}
	}
	slices.SortFunc(days, func(a, b Day) int { return cmp.Compare(a.From, b.From) })
	return days
}

// Span is a month or a year that a text names.
type Span struct {
	From, To int    // its bytes in the text
	Key      string // 2026-12, or 2027
}

// Month gives the first month or year to come that a text names (来月, 5月に, "in May", "next year"), where it
// names no day of it. A month without a year is the next such, this one included.
func Month(text string, said time.Time) (s Span, ok bool) {
	lower := text
	if l := strings.ToLower(text); len(l) == len(text) {
		lower = l
	}
	for _, p := range spans {
		at := p.FindStringSubmatchIndex(lower)
		if at == nil || ok && at[2] >= s.From {
			continue
		}
		if key, found := spanKey(lower[at[2]:at[3]], said); found {
			s, ok = Span{at[2], at[3], key}, true
		}
	}
	return s, ok
}

// spanKey gives what a word for a month or a year is at a time.
func spanKey(word string, said time.Time) (key string, ok bool) {
	if years, is := yearsOn[word]; is {
		return strconv.Itoa(said.Year() + years), true
	}
	first := time.Date(said.Year(), said.Month(), 1, 0, 0, 0, 0, said.Location())
	months, is := monthsOn[word]
	if !is {
		m := 0
		if n, japanese := strings.CutSuffix(word, "月"); japanese {
			m = number(n)
		} else {
			m = monthOf(word)
		}
		if m < 1 || m > 12 {
			return "", false
		}
		months = (m - int(said.Month()) + 12) % 12
	}
	return first.AddDate(0, months, 0).Format("2006-01"), true
}

var spans = []*regexp.Regexp{
	regexp.MustCompile(`(再来月|来月|今月|再来年|来年)`),
	regexp.MustCompile(`(?:^|[^0-9０-９一二三四五六七八九十ヶか年/])(` + n + `月)(?:$|[^0-9０-９一二三四五六七八九十曜間])`),
	regexp.MustCompile(`\b(the month after next|next month|this month|next year)\b`),
	regexp.MustCompile(`\bin (january|february|march|april|may|june|july|august|september|october|november|december)(?:$|[^a-z0-9 ]| [^0-9]| $)`),
}

// overlaps says whether a longer form has these bytes already.
func overlaps(days []Day, from, to int) bool {
	return slices.ContainsFunc(days, func(d Day) bool { return from < d.To && d.From < to })
}

// form is a way to name a day.
type form struct {
	pattern *regexp.Regexp
	date    func(today time.Time, groups []string) (time.Time, bool)
}

const (
	n        = `([0-9０-９]{1,2}|[一二三四五六七八九十]{1,3})`
	year     = `([0-9０-９]{4})`
	japanese = `([月火水木金土日])曜日?`
	english  = `(monday|tuesday|wednesday|thursday|friday|saturday|sunday)`
	month    = `(january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)\.?`
)

// forms, those first that others are part of.
var forms = []form{
	{regexp.MustCompile(`\b([0-9]{4})[-/]([0-9]{1,2})[-/]([0-9]{1,2})\b`), func(t time.Time, g []string) (time.Time, bool) {
		return on(t, number(g[0]), number(g[1]), number(g[2]))
	}},
	{regexp.MustCompile(year + `年` + n + `月` + n + `日`), func(t time.Time, g []string) (time.Time, bool) {
		return on(t, number(g[0]), number(g[1]), number(g[2]))
	}},
	{regexp.MustCompile(n + `月` + n + `日`), func(t time.Time, g []string) (time.Time, bool) { return next(t, number(g[0]), number(g[1])) }},
	{regexp.MustCompile(`\b` + month + ` ([0-9]{1,2})(?:st|nd|rd|th)?,? ([0-9]{4})\b`), func(t time.Time, g []string) (time.Time, bool) {
		return on(t, number(g[2]), monthOf(g[0]), number(g[1]))
	}},
	{regexp.MustCompile(`\b` + month + ` (?:the )?([0-9]{1,2})(?:st|nd|rd|th)?\b`), func(t time.Time, g []string) (time.Time, bool) { return next(t, monthOf(g[0]), number(g[1])) }},
	{regexp.MustCompile(`\b([0-9]{1,2})(?:st|nd|rd|th)?(?: of)? ` + month + `(?:$|[^a-z])`), func(t time.Time, g []string) (time.Time, bool) { return next(t, monthOf(g[1]), number(g[0])) }},
	{regexp.MustCompile(`(?:^|[^0-9/])([0-9]{1,2})/([0-9]{1,2})(?:$|[^0-9/])`), func(t time.Time, g []string) (time.Time, bool) { return next(t, number(g[0]), number(g[1])) }},

	{regexp.MustCompile(`(再来週|来週|今週)の?` + japanese), func(t time.Time, g []string) (time.Time, bool) { return inWeek(t, weeks[g[0]], g[1]) }},
	{regexp.MustCompile(`(?:次|今度)の` + japanese), func(t time.Time, g []string) (time.Time, bool) { return weekday(t, g[0]) }},
	{regexp.MustCompile(`(?:先週|毎週|いつも)の?` + japanese), func(t time.Time, _ []string) (time.Time, bool) { return t, false }},
	{regexp.MustCompile(`\b(next|this) ` + english + `\b`), func(t time.Time, g []string) (time.Time, bool) { return inWeek(t, weeks[g[0]], g[1]) }},
	{regexp.MustCompile(`\b(?:last|every|past) ` + english), func(t time.Time, _ []string) (time.Time, bool) { return t, false }},
	{regexp.MustCompile(`\b` + english + ` (?:after next|in two weeks)\b`), func(t time.Time, g []string) (time.Time, bool) { return inWeek(t, 2, g[0]) }},
	{regexp.MustCompile(`\ba week from ` + english + `\b`), func(t time.Time, g []string) (time.Time, bool) { return inWeek(t, 1, g[0]) }},
	{regexp.MustCompile(`(明々後日|しあさって|明後日|あさって|明日|あした|あす|今日|本日|今夜|今晩|一昨日|おととい|昨日|きのう)`), func(t time.Time, g []string) (time.Time, bool) { return t.AddDate(0, 0, days[g[0]]), true }},
	{regexp.MustCompile(`\b(the day after tomorrow|day after tomorrow|tomorrow|today|tonight|yesterday)\b`), func(t time.Time, g []string) (time.Time, bool) { return t.AddDate(0, 0, days[g[0]]), true }},
	{regexp.MustCompile(n + `日後`), func(t time.Time, g []string) (time.Time, bool) { return t.AddDate(0, 0, number(g[0])), true }},
	{regexp.MustCompile(n + `週間後`), func(t time.Time, g []string) (time.Time, bool) { return t.AddDate(0, 0, 7*number(g[0])), true }},
	{regexp.MustCompile(`\bin ([0-9]{1,2}|a|one|two|three|four|five|six|seven|ten) (days?|weeks?)(?: time)?\b`), inSome},
	{regexp.MustCompile(`(来月|今月)の?` + n + `日`), func(t time.Time, g []string) (time.Time, bool) { return inMonth(t, weeks[g[0]], number(g[1])) }},
	{regexp.MustCompile(`\bthe ([0-9]{1,2})(?:st|nd|rd|th)\b`), func(t time.Time, g []string) (time.Time, bool) { return inMonth(t, 0, number(g[0])) }},
	{regexp.MustCompile(japanese), func(t time.Time, g []string) (time.Time, bool) { return weekday(t, g[0]) }},
	{regexp.MustCompile(`\b` + english + `\b`), func(t time.Time, g []string) (time.Time, bool) { return weekday(t, g[0]) }},
}

var (
	days = map[string]int{"明々後日": 3, "しあさって": 3, "明後日": 2, "あさって": 2, "明日": 1, "あした": 1, "あす": 1, "今日": 0, "本日": 0, "今夜": 0, "今晩": 0, "一昨日": -2, "おととい": -2, "昨日": -1, "きのう": -1,
		"the day after tomorrow": 2, "day after tomorrow": 2, "tomorrow": 1, "today": 0, "tonight": 0, "yesterday": -1}
	weeks    = map[string]int{"再来週": 2, "来週": 1, "今週": 0, "next": 1, "this": 0, "来月": 1, "今月": 0}
	monthsOn = map[string]int{"今月": 0, "来月": 1, "再来月": 2, "this month": 0, "next month": 1, "the month after next": 2}
	yearsOn  = map[string]int{"来年": 1, "再来年": 2, "next year": 1}
	words    = map[string]int{"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}
	weekdays = map[string]int{"月": 0, "火": 1, "水": 2, "木": 3, "金": 4, "土": 5, "日": 6, "monday": 0, "tuesday": 1, "wednesday": 2, "thursday": 3, "friday": 4, "saturday": 5, "sunday": 6}
	months   = "janfebmaraprmayjunjulaugsepoctnovdec"
)

// number reads digits of any width, or kanji up to 99; 0 for what is none.
func number(s string) (value int) {
	if ten := strings.Index(s, "十"); ten >= 0 {
		tens := 1
		if ten > 0 {
			tens = number(s[:ten])
		}
		return 10*tens + number(s[ten+len("十"):])
	}
	for _, r := range s {
		switch i := strings.IndexRune("一二三四五六七八九", r); {
		case i >= 0:
			value = i/len("一") + 1
		case r >= '０' && r <= '９':
			value = 10*value + int(r-'０')
		case r >= '0' && r <= '9':
			value = 10*value + int(r-'0')
		}
	}
	return value
}

func monthOf(name string) int { return strings.Index(months, name[:3])/3 + 1 }

// on gives a day, ok false where the calendar does not have it.
func on(today time.Time, y, m, d int) (time.Time, bool) {
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, today.Location())
	return t, y > 0 && m >= 1 && m <= 12 && d >= 1 && t.Day() == d
}

// next gives the next such day of a year, today included. The 29th of February may be years away.
func next(today time.Time, m, d int) (time.Time, bool) {
	for y := today.Year(); y <= today.Year()+8; y++ {
		if t, ok := on(today, y, m, d); ok && !t.Before(today) {
			return t, true
		}
	}
	return today, false
}

// inMonth gives a day some months on.
func inMonth(today time.Time, months, d int) (time.Time, bool) {
	first := time.Date(today.Year(), today.Month(), 1, 0, 0, 0, 0, today.Location()).AddDate(0, months, 0)
	return on(today, first.Year(), int(first.Month()), d)
}

// inWeek gives a weekday of the week some weeks on.
func inWeek(today time.Time, weeks int, name string) (time.Time, bool) {
	monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
	return monday.AddDate(0, 0, 7*weeks+weekdays[name]), true
}

// weekday gives the next such day, today not included.
func weekday(today time.Time, name string) (time.Time, bool) {
	ahead := (weekdays[name] - (int(today.Weekday())+6)%7 + 7) % 7
	if ahead == 0 {
		ahead = 7
	}
	return today.AddDate(0, 0, ahead), true
}

func inSome(today time.Time, g []string) (time.Time, bool) {
	count := words[g[0]]
	if count == 0 {
		count = number(g[0])
	}
	if strings.HasPrefix(g[1], "week") {
		count *= 7
	}
	return today.AddDate(0, 0, count), true
}
