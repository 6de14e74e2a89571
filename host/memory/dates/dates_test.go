package dates

import (
	"testing"
	"time"
)

// 2026-11-23 is a Monday.
var said = time.Date(2026, 11, 23, 9, 30, 0, 0, time.FixedZone("JST", 9*3600))

func TestDays(t *testing.T) {
	for text, want := range map[string]string{
		"来週の土曜に沖縄へ行く":                    "2026-12-05",
		"今週の金曜日":                         "2026-11-27",
		"再来週月曜":                          "2026-12-07",
		"明日試験なんだ":                        "2026-11-24",
		"あさっては休み":                        "2026-11-25",
		"昨日は雨":                           "2026-11-22",
		"土曜に会おう":                         "2026-11-28",
		"月曜から":                           "2026-11-30",
		"３日後に出発":                         "2026-11-26",
		"2週間後":                           "2026-12-07",
		"十二月二十五日に会う":                     "2026-12-25",
		"3月28日が誕生日":                      "2027-03-28",
		"11月23日":                         "2026-11-23",
		"2027年1月2日に引っ越す":                 "2027-01-02",
		"来月の10日":                         "2026-12-10",
		"12/24はひま":                       "2026-12-24",
		"I have an exam tomorrow":        "2026-11-24",
		"See you the day after tomorrow": "2026-11-25",
		"next Friday I fly to Oslo":      "2026-12-04",
		"this Friday":                    "2026-11-27",
		"on Friday":                      "2026-11-27",
		"my birthday is March 28th":      "2027-03-28",
		"28 March, as always":            "2027-03-28",
		"the 2nd of May":                 "2027-05-02",
		"Dec. 5":                         "2026-12-05",
		"due 2026-12-31.":                "2026-12-31",
		"in two weeks":                   "2026-12-07",
		"in 3 days":                      "2026-11-26",
		"the 30th":                       "2026-11-30",
		"2月29日":                          "2028-02-29",
	} {
		got := Find(text, said)
		if len(got) != 1 || got[0].Key() != want {
			t.Errorf("%q: %v, want %s", text, got, want)
		}
	}
}

func TestNoDays(t *testing.T) {
	for _, text := range []string{"", "来週は忙しい", "next week", "2月30日", "13/45", "先週の土曜", "last Friday", "every Monday", "毎週月曜", "I may go", "in a while", "日が暮れた"} {
		if got := Find(text, said); len(got) != 0 {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestTwoDaysInOrder(t *testing.T) {
	got := Find("明日は休みで、来週の土曜は沖縄", said)
	if len(got) != 2 || got[0].Key() != "2026-11-24" || got[1].Key() != "2026-12-05" {
		t.Fatalf("%v", got)
	}
}

// The day is counted where whoever said it is: late in the evening in Tokyo it is still
// the same day there, though UTC is behind.
func TestDayIsTheSpeakers(t *testing.T) {
	at := time.Date(2026, 11, 23, 23, 30, 0, 0, time.UTC)
	if got := Find("tomorrow", at)[0].Key(); got != "2026-11-24" {
		t.Error(got)
	}
	if got := Find("tomorrow", at.In(time.FixedZone("JST", 9*3600)))[0].Key(); got != "2026-11-25" {
		t.Error(got)
	}
}

func FuzzFind(f *testing.F) {
	f.Add("来週の土曜 next Friday 99月99日 Feb 31 2月29日 0/0")
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, d := range Find(text, said) {
			if d.From < last || d.To > len(text) || d.From >= d.To {
				t.Fatalf("%q: %v", text, d)
			}
			last = d.To
			if h, m, s := d.Date.Clock(); h+m+s != 0 {
				t.Fatalf("%q: %v is no midnight", text, d.Date)
			}
		}
	})
}

// Months and years that have no day, said on 2026-11-23.
func TestMonth(t *testing.T) {
	for text, want := range map[string]string{
		"来月行く": "来月 2026-12", "今月": "今月 2026-11", "再来月": "再来月 2027-01", "来年の春": "来年 2027", "再来年": "再来年 2028", "5月に": "5月 2027-05", "１１月": "１１月 2026-11", "十二月だ": "十二月 2026-12", "5月、来月": "5月 2027-05",
		"Next month": "Next month 2026-12", "the month after next": "the month after next 2027-01", "next year.": "next year 2027", "in May!": "May 2027-05", "in november": "november 2026-11", "in December we go": "December 2026-12",
		"先月": "", "13月": "", "0月": "", "5月3日": "", "3ヶ月": "", "月曜": "", "I may go": "", "in mayhem": "", "in May 2019": "", "in March 5": "", "last month": "", "2027年5月": "", "": "",
	} {
		got := ""
		if m, ok := Month(text, said); ok {
			got = text[m.From:m.To] + " " + m.Key
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
