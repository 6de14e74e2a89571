// Package marks reads what of a text can be compared letter by letter although it is written in many
// ways: numbers, days and times, names; and what a sentence does: forbid, promise, ask, decide. It reads
// Japanese and English.
//
// It has no dictionary but a few words, asks no clock and no model, and never says what a text means.
package marks

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Kind is what a mark is one of.
type Kind string

// The kinds. A time of day is a Date.
const (
	Number Kind = "number"
	Date   Kind = "date"
	Name   Kind = "name"
)

// Mark is a number, a day, a time or a name of a text.
type Mark struct {
	Kind     Kind
	From, To int    // its bytes in [Plain]
	Text     string // those
	// Weak says that it may as well be no mark at all, or one that everybody leaves out: today, "one of
	// them", メール. Nothing is refused for it.
	Weak bool
	// Sure says that a name is one by how it is written: with さん, in quotation marks, with digits in it.
	Sure bool
	// Key is a name in one form. A name is compared with a text, see [Says].
	Key string
	// Beside says that a weekday stands beside its day: 3/28(土). Many leave it out.
	Beside bool
	// Unit is what a number counts; lengths of time are in milliseconds, days or months.
	Unit Unit
	// Counted says that what a number counts is written, also where that is no [Unit].
	Counted bool
	value   string // a decimal number
	bound   bound
	day     day
}

// day is what is known of a day or a time; 0 is unknown, but for minute.
type day struct {
	year, month, date int
	weekday           string // "sat"
	relative          string // "day+1"
	timed             bool   // the rest is known
	minute            int    // since midnight
	half              bool   // or twelve hours later
}

// Unit is what a number counts; "" is unknown, and may be any.
type Unit string

// The units that others ask about.
const (
	Yen    Unit = "yen"
	Dollar Unit = "dollar"
	Euro   Unit = "euro"
	Pound  Unit = "pound"
	Span   Unit = "ms" // a length of time of less than a day
	Days   Unit = "day"
	Months Unit = "month"
)

// Money says whether a number is a price.
func (m Mark) Money() bool {
	return m.Kind == Number && (m.Unit == Yen || m.Unit == Dollar || m.Unit == Euro || m.Unit == Pound)
}

// Clock says whether a mark is a time of day.
func (m Mark) Clock() bool { return m.day.timed }

// Relative says whether a day is counted from the day on which it is named: 明日. In a text that is read on another day
// it is another one.
func (m Mark) Relative() bool { return m.day.relative != "" }

// Weekday says whether a mark is only that.
func (m Mark) Weekday() bool { return m.Kind == Date && m.day.weekday != "" }

// Small says whether a number is of those that a text has because it counts its own parts: "these three".
func (m Mark) Small() bool {
	return m.Kind == Number && m.Unit == "" && !m.Counted && (len(m.value) == 1 || m.value == "10")
}

// Same says whether two marks are the same number, day or time, as far as both say: 14:00 and 2時, the
// 28th and 3/28. Names are compared by [Says].
func (m Mark) Same(o Mark) bool {
	switch {
	case m.Kind == Date && o.Kind == Number:
		switch {
		case m.day.timed && strings.Contains(o.value, "."): // at 7.15
			h, min, _ := strings.Cut(o.value, ".")
			hour, minute := whole(h), whole((min + "0")[:2])
			return o.Unit == "" && !o.Counted && len(min) < 3 && m.day.same(day{timed: true, minute: 60*hour + minute, half: hour <= 12})
		case m.day.timed: // at 11
			return o.Unit == "" && m.day.minute%60 == 0 && (itoa(m.day.minute/60) == o.value || itoa((m.day.minute/60+11)%12+1) == o.value)
		case o.Unit == "" && m.day.month == 0:
			return itoa(m.day.date) == o.value
		}
		return o.Unit == Days && m.day == day{date: m.day.date} && itoa(m.day.date) == o.value
	case m.Kind == Number && o.Kind == Date:
		return o.Same(m)
	case m.Kind == Number && o.Kind == Name: // p99
		return m.Unit == "" && o.Sure && strings.TrimLeft(o.Key, "abcdefghijklmnopqrstuvwxyz-_") == m.value
	case m.Kind != o.Kind:
		return false
	case m.Kind == Name:
		return m.Key == o.Key
	case m.Kind == Number && m.value == "0.5" && m.Unit == "":
		return o.value == "0.5" && o.Unit == "" || o.value == "50" && o.Unit == "percent"
	case m.Kind == Number && o.value == "0.5" && o.Unit == "":
		return o.Same(m)
	case m.Kind == Number:
		return m.value == o.value && (m.Unit == o.Unit || m.Unit == "" || o.Unit == "")
	}
	return m.day.same(o.day)
}

// Like says whether two marks answer the same question, as two prices or two weekdays do.
func (m Mark) Like(o Mark) bool {
	if m.Kind != o.Kind || m.Kind == Name {
		return false
	}
	if m.Kind == Number {
		return m.Unit == o.Unit && m.Unit != ""
	}
	return m.day.sort() == o.day.sort()
}

// Bounds says whether a number is told as the most or the least.
func (m Mark) Bounds() bool { return m.Kind == Number && m.bound.side != 0 }

func (d day) sort() string {
	switch {
	case d.timed:
		return "time"
	case d.weekday != "":
		return "weekday"
	case d.relative != "":
		return "relative"
	}
	return "date"
}

func (d day) same(o day) bool {
	if d.sort() != o.sort() {
		return false
	}
	if d.timed {
		if d.half || o.half {
			return d.minute%(12*60) == o.minute%(12*60)
		}
		return d.minute%(24*60) == o.minute%(24*60)
	}
	if d.weekday != o.weekday || d.relative != o.relative {
		return false
	}
	alike, shared := true, false
	for _, p := range [][2]int{{d.year, o.year}, {d.month, o.month}, {d.date, o.date}} {
		if p[0] != 0 && p[1] != 0 {
			alike, shared = alike && p[0] == p[1], true
		}
	}
	return alike && (shared || d.sort() != "date")
}

// Plain is the form that marks are read in: NFKC, one sort of dash, and numbers in digits that English writes as
// words.
func Plain(text string) string {
	return digits(dashes.Replace(norm.NFKC.String(degrees.Replace(text))))
}

var degrees = strings.NewReplacer("℃", "度", "°C", "度")

var dashes = strings.NewReplacer("‐", "-", "‑", "-", "–", "-", "—", "-", "−", "-", "〜", "~", "’", "'", "‘", "'", "”", `"`, "“", `"`)

// Find gives the marks of a text, in its order.
func Find(text string) []Mark {
	p := &page{text: Plain(text)}
	p.grams = GramsOf(p.text)
	p.codes()
	p.days()
	p.numbers()
	p.names()
	slices.SortStableFunc(p.marks, func(a, b Mark) int { return cmp.Compare(a.From, b.From) })
	for i := range p.marks {
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < len(p.marks) && p.marks[i].Weekday() && p.marks[j].day.date > 0 && p.marks[max(i, j)].From-p.marks[min(i, j)].To <= len("の") {
				p.marks[i].Beside = true
			}
		}
	}
	return p.marks
}

var (
	notThis = regexp.MustCompile(`^(?:の[^、。]{1,6})?(?:じゃな[くい]|ではな[くい]|でなく|はやめ|をやめ|って言[っい]|と言っ|が最初の案|だったけど|の予定(?:だった|でした)|のつもり(?:だった|でした))`)
	notNow  = regexp.MustCompile(`(?i)^ (?:was|were) (?:the|my|our|their) (?:(?:first|old|original|earlier|initial) )?(?:idea|plan|offer|price|date|draft|version|proposal|estimate)\b`)
	fromIt  = regexp.MustCompile(`^(?:から|より)`)
	moves   = Compile(`変更|変わ|変え|延期|ずら|前倒し|繰り[上下]|移[っすし]|増[えや]|減[っらる]|下[がげ]|上[がげ]|値[上下]|切り替`)
	instead = Compile(`(?i)(?:\binstead of|\brather than|\bno longer|\bnot) (?:on |at |the )?[$¥€£]?$`)
	hasFrom = Compile(`(?i)\bfrom (?:the )?[$¥€£]?$`)
	moved   = Compile(`(?i)\b(?:mov|chang|push|bump|switch|rais|lower|cut|postpon|shift|resched|went|goes|up|down|dropped|drop|increas|reduc)\w*`)
)

// outdated says whether what stands here is named only because it is not so any more: 土曜じゃなくて日曜, moved from
// Friday to Monday.
func (p *page) outdated(from, to int) bool {
	before, behind := p.before(from), p.behind(to)
	return notThis.MatchString(behind) || notNow.MatchString(behind) || fromIt.MatchString(behind) && p.in(moves, behind) ||
		p.in(instead, before) || p.in(hasFrom, before) && p.in(moved, before) && strings.Contains(behind, " to ")
}

// in says whether a pattern is in a part of a page.
func (p *page) in(x *Pattern, part string) bool {
	return x.May(p.grams) && x.expression().MatchString(part)
}

// beside is how many bytes around a mark are looked at for what it is.
const beside = 90

func (p *page) before(at int) string {
	from := max(0, at-beside)
	for from < at && !utf8.RuneStart(p.text[from]) {
		from++
	}
	return p.text[from:at]
}

func (p *page) behind(at int) string {
	to := min(len(p.text), at+beside)
	for to < len(p.text) && !utf8.RuneStart(p.text[to]) {
		to--
	}
	return p.text[at:to]
}

// page is a text that is read. Each of its letters belongs to one mark at most.
type page struct {
	text  string
	grams *Grams
	marks []Mark
	taken []bool // of each byte, whether a mark has it; nil: none has
}

func (p *page) free(from, to int) bool {
	return p.taken == nil || !slices.Contains(p.taken[from:to], true)
}

func (p *page) add(m Mark) {
	if p.taken == nil {
		p.taken = make([]bool, len(p.text))
	}
	for i := m.From; i < m.To; i++ {
		p.taken[i] = true
	}
	m.Text = strings.TrimSpace(p.text[m.From:m.To])
	m.Weak = m.Weak || p.outdated(m.From, m.To)
	if m.Kind == Date {
		p.dated(&m)
	}
	p.marks = append(p.marks, m)
}
