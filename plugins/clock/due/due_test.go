package due

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func plan(t interface{ Fatal(...any) }, settings string) Plan {
	p, err := Parse([]byte(settings))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestNext: what is due next, by the clock on the wall.
func TestNext(t *testing.T) {
	for _, c := range []struct{ settings, after, want string }{
		{`{"at":["07:00"]}`, "2026-11-26T21:59:59Z", "2026-11-27T07:00:00+09:00"},
		{`{"at":["07:00"]}`, "2026-11-26T22:00:00Z", "2026-11-28T07:00:00+09:00"},
		{`{"at":["22:30","07:00"],"zone":"+00:00"}`, "2026-11-26T08:00:00Z", "2026-11-26T22:30:00Z"},
		{`{"every":30}`, "2026-11-26T22:00:00Z", "2026-11-27T07:30:00+09:00"},
		{`{"every":30,"zone":"Asia/Kathmandu"}`, "2026-11-26T22:00:00Z", "2026-11-27T04:00:00+05:45"},
		{`{"every":1440}`, "2026-11-26T22:00:00Z", "2026-11-28T00:00:00+09:00"},
		{`{"every":60,"at":["07:20"]}`, "2026-11-26T22:00:01Z", "2026-11-27T07:20:00+09:00"},
		{`{"every":60,"at":["07:20"]}`, "2026-11-26T22:21:00Z", "2026-11-27T08:00:00+09:00"},
		{`{"at":["02:30"],"zone":"Europe/Berlin"}`, "2027-03-28T00:00:00Z", "2027-03-28T03:30:00+02:00"}, // put forward at 02:00
		{`{"at":["02:30"],"zone":"Europe/Berlin"}`, "2026-10-25T00:00:00Z", "2026-10-25T02:30:00+01:00"}, // it comes twice: at 00:30 and 01:30 of UTC
		{`{"at":["02:30"],"zone":"Europe/Berlin"}`, "2026-10-25T01:30:00Z", "2026-10-26T02:30:00+01:00"},
		{`{"at":["07:00"],"zone":"Europe/Berlin"}`, "2026-10-24T05:00:00Z", "2026-10-25T07:00:00+01:00"},
		{`{"at":["12:00"],"zone":"Pacific/Apia"}`, "2011-12-29T22:00:00Z", "2011-12-31T12:00:00+14:00"}, // had no 30th
		{`{"at":["23:30"],"zone":"Asia/Dhaka"}`, "2009-06-19T17:10:00Z", "2009-06-20T00:30:00+07:00"},   // the 19th ended at 23:00
		{`{"every":7}`, "1969-12-31T14:50:00Z", "1969-12-31T23:53:00+09:00"},
	} {
		after, err := time.Parse(time.RFC3339, c.after)
		if err != nil {
			t.Fatal(err)
		}
		if got := plan(t, c.settings).Next(after).Format(time.RFC3339); got != c.want {
			t.Errorf("%s after %s: %s, want %s", c.settings, c.after, got, c.want)
		}
	}
}

// settings draws some that are right.
func settings(t *rapid.T, zones ...string) string {
	var s struct {
		At    []string `json:"at,omitempty"`
		Every int      `json:"every,omitempty"`
		Zone  string   `json:"zone"`
	}
	s.Zone = rapid.SampledFrom(zones).Draw(t, "zone")
	if rapid.Bool().Draw(t, "every") {
		s.Every = rapid.IntRange(1, 1440).Draw(t, "minutes")
	}
	for range rapid.IntRange(0, 4).Draw(t, "times") {
		m := rapid.IntRange(0, 1439).Draw(t, "at")
		s.At = append(s.At, fmt.Sprintf("%02d:%02d", m/60, m%60))
	}
	if s.Every == 0 && len(s.At) == 0 {
		s.Every = 5
	}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var fixed = []string{"+09:00", "-03:30", "+00:00", "+05:45"}

// TestNothingIsLeftOut: in a zone whose clocks are never put forward, each minute between a time and the next one that is due is
// not due, and that one is.
func TestNothingIsLeftOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := settings(t, fixed...)
		p := plan(t, text)
		after := time.Unix(rapid.Int64Range(-1e9, 4e9).Draw(t, "after"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds"))
		due := func(at time.Time) bool {
			wall := at.In(p.Zone)
			_, offset := wall.Zone()
			since := (wall.Unix() + int64(offset)) / 60
			return strings.Contains(text, wall.Format(`"15:04"`)) || p.every > 0 && since%int64(p.every/time.Minute) == 0
		}
		got := p.Next(after)
		want := after.Truncate(time.Minute).Add(time.Minute)
		for !due(want) {
			want = want.Add(time.Minute)
		}
		if !got.Equal(want) {
			t.Fatalf("%s after %s: %s, want %s", text, after.In(p.Zone), got, want)
		}
	})
}

// TestOnceADay: wherever clocks are put forward and back, what is due comes later than what was asked after and within the
// time that is set, and each time of the day comes once a day.
func TestOnceADay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := settings(t, "Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Africa/Casablanca", "America/St_Johns", "+09:00")
		p := plan(t, text)
		start := time.Unix(rapid.Int64Range(1e9, 1.8e9).Draw(t, "start"), 0)
		for at := start; at.Sub(start) < 72*time.Hour; {
			next := p.Next(at)
			if !next.After(at) || p.every > 0 && next.Sub(at) > p.every || next.Sub(at) > 26*time.Hour {
				t.Fatalf("%s: %s follows %s", text, next, at.In(p.Zone))
			}
			at = next
		}
		if len(p.at) == 0 {
			return
		}
		p.every = 0
		year, month, day := start.In(p.Zone).Date()
		from, to := time.Date(year, month, day, 0, 0, 0, 0, p.Zone), time.Date(year, month, day+10, 0, 0, 0, 0, p.Zone)
		n := 0
		for at := p.Next(from.Add(-time.Second)); at.Before(to); at = p.Next(at) {
			n++
		}
		if days := len(slices.Compact(slices.Sorted(slices.Values(p.at)))) * 10; n < days-1 || n > days+1 { // one may be put over a midnight, at both ends
			t.Fatalf("%s: %d times in ten days from %s", text, n, from)
		}
	})
}

// TestSettings: what is wrong is said with what to write.
func TestSettings(t *testing.T) {
	for settings, want := range map[string]string{
		``:                                      "nothing to tell",
		`{}`:                                    "nothing to tell",
		`null`:                                  "nothing to tell",
		`{"at":"07:00"}`:                        "settings: ",
		`{"every":0.5}`:                         "settings: ",
		`{"every":-1}`:                          "settings.every: -1",
		`{"every":1441}`:                        "settings.every: 1441",
		`{"at":["7:00"]}`:                       `settings.at: "7:00" is no time`,
		`{"at":["24:00"]}`:                      `settings.at: "24:00" is no time`,
		`{"every":1,"zone":"JST+9"}`:            `settings.zone: "JST+9" is neither`,
		`{"every":1,"zone":"Local"}`:            `settings.zone: "Local" is neither`,
		`{"every":1,"zone":"../../etc/passwd"}`: `settings.zone: `,
	} {
		if _, err := Parse([]byte(settings)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", settings, err, want)
		}
	}
	p := plan(t, `{"every":1440,"perception":"時計"}`)
	if p.Perception != "時計" || plan(t, `{"every":1}`).Perception != "clock" {
		t.Errorf("%+v", p)
	}
	told := p.Tell(time.Date(2026, 11, 26, 22, 0, 0, 0, time.UTC))
	if want := (Told{"07:00", "2026-11-27", "It is 07:00 on Friday, 27 November 2026."}); told != want {
		t.Errorf("%+v", told)
	}
}

// FuzzParse: whatever the settings are, there is a plan that goes on, or an error.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"at":["07:00"],"every":30,"zone":"Asia/Tokyo"}`))
	f.Add([]byte(`{"at":["23:59"],"zone":"-12:00"}`))
	f.Fuzz(func(t *testing.T, settings []byte) {
		p, err := Parse(settings)
		if err != nil {
			return
		}
		at := time.Unix(1_800_000_000, 0)
		for range 3 {
			if next := p.Next(at); !next.After(at) {
				t.Fatalf("%s: %s follows %s", settings, next, at)
			} else {
				at = next
			}
		}
	})
}
