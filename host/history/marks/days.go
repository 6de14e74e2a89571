package marks

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	months    = `(January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)\b\.?`
	monthList = "JanFebMarAprMayJunJulAugSepOctNovDec"
)

// form is a way to write a day or a time. Forms are tried in their order; read gives ok false for what the
// calendar does not have.
type form struct {
	pattern *Pattern
	read    func(g []string) (day, bool)
}

var forms = []form{
	{Compile(`\b([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})\b`), func(g []string) (day, bool) { return dated(whole(g[1]), whole(g[2]), whole(g[3])) }},
	{Compile(number + `年` + number + `月` + number + `日`), func(g []string) (day, bool) { return dated(whole(g[1]), whole(g[2]), whole(g[3])) }},
	{Compile(number + `年` + number + `月`), func(g []string) (day, bool) { return dated(whole(g[1]), whole(g[2]), 0) }},
	{Compile(number + `月` + number + `日`), func(g []string) (day, bool) { return dated(0, whole(g[1]), whole(g[2])) }},
	{Compile(`\b` + months + ` (?:the )?([0-9]{1,2})(?:st|nd|rd|th)?(?:,? ([0-9]{4}))?\b`), func(g []string) (day, bool) { return dated(whole(g[3]), monthOf(g[1]), whole(g[2])) }},
	{Compile(`\b([0-9]{1,2})(?:st|nd|rd|th)?(?: of)? ` + months + `(?: ([0-9]{4})\b)?`), func(g []string) (day, bool) { return dated(whole(g[3]), monthOf(g[2]), whole(g[1])) }},
	{Compile(`(午前|午後|朝の?|夜の?|夕方の?|昼の?|深夜の?|晩の?)? ?\b([0-9]{1,2}):([0-9]{2})(?::[0-9]{2})?(?: ?([AaPp])\.?[Mm]\b\.?)?`), func(g []string) (day, bool) { return clock(g[1]+g[4], whole(g[2]), whole(g[3])) }},
	{Compile(`\b([0-9]{1,2})(?:\.([0-9]{2}))? ?([AaPp])\.?[Mm]\b\.?`), func(g []string) (day, bool) { return clock(g[3], whole(g[1]), whole(g[2])) }},
	{Compile(`(午前|午後|朝の?|夜の?|夕方の?|昼の?|深夜の?|晩の?)?` + number + `時(半|` + number + `分)?`), func(g []string) (day, bool) {
		minute := whole(g[4])
		if g[3] == "半" {
			minute = 30
		}
		return clock(g[1], whole(g[2]), minute)
	}},
	{Compile(`\b([0-9]{1,2}) ?o'?clock\b(?: in the (morning|afternoon|evening))?`), func(g []string) (day, bool) { return clock(g[2], whole(g[1]), 0) }},
	{Compile(`(?:\b[Nn]oon\b|\b[Mm]idday\b|正午)`), func([]string) (day, bool) { return clock("", 12, 0) }},
	{Compile(`\b[Mm]idnight\b`), func([]string) (day, bool) { return clock("", 0, 0) }},
	{Compile(`\b([0-9]{1,2})(?:st|nd|rd|th)\b`), func(g []string) (day, bool) { return dated(0, 0, whole(g[1])) }},
	{Compile(`\b([0-9]{1,2})/([0-9]{1,2})\b`), func(g []string) (day, bool) { return dated(0, whole(g[1]), whole(g[2])) }},
	{Compile(`\b(?:in|by|until|till|since|from|of|early|late|mid|this|next|last|for|end of) ` + months), func(g []string) (day, bool) { return dated(0, monthOf(g[1]), 0) }},
	{Compile(`\b(19[0-9]{2}|20[0-9]{2})年`), func(g []string) (day, bool) { return day{year: whole(g[1])}, true }},
	{Compile(number + `月`), func(g []string) (day, bool) { return dated(0, whole(g[1]), 0) }},
	{Compile(number + `日`), func(g []string) (day, bool) { return dated(0, 0, whole(g[1])) }},
}

func monthOf(name string) int { return strings.Index(monthList, name[:3])/3 + 1 }

func dated(y, m, d int) (day, bool) {
	return day{year: y, month: m, date: d}, (y == 0 || y > 999) && m >= 0 && m <= 12 && d >= 0 && d <= 31 && (m > 0 || d > 0)
}

// clock gives a time of day; of what part of the day it is may be said before or behind it.
func clock(part string, hour, minute int) (day, bool) {
	if hour > 29 || minute > 59 {
		return day{}, false
	}
	d := day{timed: true, minute: 60*hour + minute}
	switch part = strings.TrimSuffix(strings.ToLower(part), "の"); part {
	case "午後", "p", "夜", "夕方", "晩", "afternoon", "evening":
		if hour < 12 {
			d.minute += 12 * 60
		}
	case "昼":
		if hour < 6 {
			d.minute += 12 * 60
		}
	case "午前", "a", "朝", "深夜", "morning":
		if hour == 12 {
			d.minute -= 12 * 60
		}
	default:
		d.half = hour <= 12 && hour > 0
	}
	return d, true
}

// ranges are two days of which the second is only a number: 4/17~19, 10/4・5, 21-24 Aug.
var (
	rangeBehind = regexp.MustCompile(`^(?:[(][月火水木金土日](?:・?祝)?[)])?[~・-]([0-9]{1,2})(?:日|[(]|[^0-9:/.%円人a-zA-Z月]|$)`)
	rangeBefore = regexp.MustCompile(`(?:^|[^0-9:/.])([0-9]{1,2}) ?(?:-|~|to|and|until) ?$`)
)

// ranged adds the other day of a range.
func (p *page) ranged(m Mark) {
	other := func(from, to int) {
		if d, ok := dated(m.day.year, m.day.month, whole(p.text[from:to])); ok && p.free(from, to) {
			p.add(Mark{Kind: Date, From: from, To: to, day: d})
		}
	}
	if m.day.timed || m.day.date == 0 {
		return
	}
	if g := rangeBehind.FindStringSubmatchIndex(p.behind(m.To)); g != nil {
		other(m.To+g[2], m.To+g[3])
	}
	if g := rangeBefore.FindStringSubmatchIndex(p.before(m.From)); g != nil {
		start := m.From - len(p.before(m.From))
		other(start+g[2], start+g[3])
	}
}

// notDays is what stands behind the letters of a form that are none of a day: 3月曜, 2時間, 3日間.
var (
	notDays   = regexp.MustCompile(`^(?:間|後|前|分の|目|たっ|経|過ぎ|以内|以上|分|ごと|おき|ぶり|かか)`)
	noMonth   = regexp.MustCompile(`^曜`)
	ordinalOf = regexp.MustCompile(`^ (?:floor|time|night|day|draft|chapter|week|anniversary|birthday|place|grade|century|person|one|street|avenue|version|round|test|try|page)\b`)
	oneDay    = regexp.MustCompile(`^(?:一|1)日$`)
)

// days reads days, weekdays and times.
func (p *page) days() {
	for _, f := range forms {
		for _, at := range f.pattern.all(p.text, p.grams) {
			p.day(f, at)
		}
	}
	p.weekdays()
	for _, r := range relatives {
		for _, at := range r.pattern.all(p.text, p.grams) {
			if p.free(at[0], at[1]) {
				p.add(Mark{Kind: Date, From: at[0], To: at[1], Weak: r.weak, day: day{relative: r.name}})
			}
		}
	}
}

func (p *page) day(f form, at []int) {
	g := make([]string, len(at)/2)
	for i := range g {
		if at[2*i] >= 0 {
			g[i] = p.text[at[2*i]:at[2*i+1]]
		}
	}
	d, ok := f.read(g)
	rest := p.behind(at[1])
	behind := strings.HasSuffix(g[0], "日") || strings.HasSuffix(g[0], "時") || strings.HasSuffix(g[0], "月") || strings.HasSuffix(g[0], "分")
	switch {
	case !ok || !p.free(at[0], at[1]):
		return
	case behind && d.date*d.month == 0 && notDays.MatchString(rest) && !(d.timed && strings.HasPrefix(rest, "前")), ordinalOf.MatchString(rest) && !strings.Contains(g[0], " "), strings.HasSuffix(g[0], "月") && noMonth.MatchString(rest):
		return // 2時間
	case strings.Contains(g[0], "/") && (strings.HasPrefix(rest, "/") || at[0] > 0 && strings.HasSuffix(p.text[:at[0]], "/")):
		return
	}
	m := Mark{Kind: Date, From: at[0], To: at[1], day: d, Weak: oneDay.MatchString(g[0]) || d.timed && strings.HasPrefix(rest, "台") || strings.HasSuffix(p.text[:at[0]], "泊")}
	if n, size := utf8.DecodeLastRuneInString(p.text[:at[0]]); size > 0 && strings.ContainsRune(kanji, n) {
		return
	}
	p.add(m)
	p.ranged(m)
}

var (
	weekdayJa = Compile(`([月火水木金土日])曜日?|[(]([月火水木金土日])(?:・?祝)?[)]`)
	severalJa = Compile(`[月火水木金土日](?:・[月火水木金土日])+|月水金|火木土?|土日`)
	weekdayEn = Compile(`\b(?:(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun|mon|tues|wednes|thurs|fri|satur|sun)days?|(Mon|Tue|Tues|Wed|Thu|Thur|Thurs|Fri|Sat)\b\.?|(Sun)\b[,.]? ?[0-9])`)
	weekdays  = map[string]string{"月": "mon", "火": "tue", "水": "wed", "木": "thu", "金": "fri", "土": "sat", "日": "sun"}
)

func (p *page) weekdays() {
	for _, at := range weekdayJa.all(p.text, p.grams) {
		if p.free(at[0], at[1]) {
			p.add(Mark{Kind: Date, From: at[0], To: at[1], day: day{weekday: weekdays[group(p.text, at, 1)+group(p.text, at, 2)]}})
		}
	}
	for _, at := range weekdayEn.all(p.text, p.grams) {
		end := at[1]
		if at[6] >= 0 {
			end = at[7]
		}
		if p.free(at[0], end) {
			name := strings.ToLower(group(p.text, at, 1) + group(p.text, at, 2) + group(p.text, at, 3))
			p.add(Mark{Kind: Date, From: at[0], To: end, day: day{weekday: name[:3]}})
		}
	}
	for _, at := range severalJa.all(p.text, p.grams) {
		if !p.free(at[0], at[1]) {
			continue
		}
		for i, r := range p.text[at[0]:at[1]] {
			if d := weekdays[string(r)]; d != "" {
				from := at[0] + i
				two := at[1]-at[0] == len("火・水") // as well the things: 火・水の演出
				p.add(Mark{Kind: Date, From: from, To: from + utf8.RuneLen(r), Weak: two, day: day{weekday: d}})
			}
		}
	}
}

func group(text string, at []int, n int) string {
	if at[2*n] < 0 {
		return ""
	}
	return text[at[2*n]:at[2*n+1]]
}

type relative struct {
	name    string
	weak    bool
	pattern *Pattern
}

// relatives are days that are counted from the day on which they are named. A summary is read on another
// day: those of the past and of today are no loss.
var relatives = []relative{
	{"day+2", false, Compile(`明後日|あさって|\b(?:the )?day after tomorrow\b`)},
	{"day-2", true, Compile(`一昨日|おととい`)},
	{"day+1", false, Compile(`明日|あした|あす[はのかまにも]|翌日|\b[Tt]omorrow\b|\bnext day\b`)},
	{"day-1", true, Compile(`昨日|きのう|昨夜|昨晩|\b[Yy]esterday\b|\blast night\b`)},
	{"day", true, Compile(`今日|本日|きょう|今夜|今晩|今朝|\b[Tt]oday\b|\b[Tt]onight\b|\bthis (?:morning|afternoon|evening)\b`)},
	{"week+2", false, Compile(`再来週|\bweek after next\b`)},
	{"week+1", false, Compile(`来週|翌週|\b[Nn]ext week\b`)},
	{"week", true, Compile(`今週|\b[Tt]his week\b`)},
	{"week-1", true, Compile(`先週|\b[Ll]ast week\b`)},
	{"month+1", false, Compile(`来月|翌月|\b[Nn]ext month\b`)},
	{"month+2", false, Compile(`再来月`)},
	{"month", true, Compile(`今月|\b[Tt]his month\b`)},
	{"month-1", true, Compile(`先月|\b[Ll]ast month\b`)},
	{"year+1", false, Compile(`来年|翌年|\b[Nn]ext year\b`)},
	{"year", true, Compile(`今年|\b[Tt]his year\b`)},
	{"year-1", true, Compile(`去年|昨年|\b[Ll]ast year\b`)},
	{"weekend", false, Compile(`週末|\bweekends?\b`)},
	{"workday", false, Compile(`平日|\bweekdays?\b`)},
}
