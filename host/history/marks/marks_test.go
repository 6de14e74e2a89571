package marks

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// What is written in many ways is the same, and what is near it is not.
func TestSame(t *testing.T) {
	for _, c := range []struct{ a, b, other string }{
		{"84,000円", "8万4千円", "48,000円"}, {"八万四千円", "¥84,000", "84,000ドル"}, {"1.5万円", "15000円", "1.6万円"}, {"$1.2k", "1,200 dollars", "$2,100"},
		{"3/28", "三月二十八日", "3/29"}, {"March 28th", "28 March", "March 18"}, {"2026-03-28", "28日", "27日"}, {"10:30", "10時半", "10:31"},
		{"午後2時", "14:00", "午前2時"}, {"half past two", "2:30 pm", "3:30"}, {"土曜日", "Saturday", "日曜"}, {"25 people", "twenty-five guests", "52 people"},
		{"1時間半", "90 minutes", "1時間"}, {"5割", "50%", "5%"}, {"二週間", "14 days", "2日間"}, {"来週", "next week", "再来週"}, {"六人", "6名", "6円"},
	} {
		one := func(text string) Mark {
			all := Find(text)
			if len(all) != 1 {
				t.Fatalf("%q: %+v", text, all)
			}
			return all[0]
		}
		a, b, other := one(c.a), one(c.b), one(c.other)
		if !a.Same(b) || !b.Same(a) {
			t.Errorf("%q and %q differ: %+v, %+v", c.a, c.b, a, b)
		}
		if a.Same(other) || other.Same(a) {
			t.Errorf("%q and %q are the same", c.a, c.other)
		}
	}
}

func TestNames(t *testing.T) {
	for text, want := range map[string]string{
		"昨日田中さんとミカに会った": "田中 ミカ", "We met Ken at Hollow Hut.": "ken hollow hut", "みんなでお客さんを待つ": "", "三鷹駅でGPT-4を試す": "三鷹駅 gpt-4",
		"千葉は一番暑い": "", "会計は大城にする": "大城",
	} {
		var got []string
		for _, m := range Find(text) {
			if m.Kind == Name && !m.Weak {
				got = append(got, m.Key)
			} else if m.Kind == Number {
				t.Errorf("%q: %+v", text, m)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestSigns(t *testing.T) {
	for text, want := range map[string]bool{
		"卵は入れない": true, "行かなければならない": false, "行けるかもしれない": false, "少ないね": false, "never run it": true, "don't forget": false, "忘れないで": false, "撮影禁止": true, "no problem": false,
	} {
		if Read(text).Negates != want {
			t.Errorf("%q: negates is %v", text, !want)
		}
	}
	if s := Read("明日までに私が送ります"); !s.Vows || !s.Promises {
		t.Errorf("%+v", s)
	}
	if s := Read("店はまだ決まってない"); !s.Unsettled {
		t.Errorf("%+v", s)
	}
}

// What a number is does not depend on how it is written.
func TestNumbersInTwoForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 99_999_999).Draw(t, "n")
		if got, ok := value(inKanji(n)); !ok || got != itoa(n) {
			t.Fatalf("%d is written %s and read %s", n, inKanji(n), got)
		}
	})
}

func inKanji(n int) (s string) {
	digit := []rune("〇一二三四五六七八九")
	if n >= 10_000 {
		s, n = inKanji(n/10_000)+"万", n%10_000
	}
	for _, u := range []struct {
		of   int
		name string
	}{{1000, "千"}, {100, "百"}, {10, "十"}, {1, ""}} {
		switch d := n / u.of; {
		case d == 0:
		case d == 1 && u.of > 1:
			s += u.name
		default:
			s += string(digit[d]) + u.name
		}
		n %= u.of
	}
	return s
}

func FuzzFind(f *testing.F) {
	for _, s := range []string{"8万4千円 3/28(土) 午後2時半 10:30pm 二〇二六年", "half past twenty-five hundred and 5, v1.2.3", "4/17~19 月・水 ㍿ 1,2,3 万億兆 0:0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return
		}
		plain := Plain(text)
		last := 0
		for _, m := range Find(text) {
			if m.From < last || m.To < m.From || m.To > len(plain) || utf8.ValidString(text) && !utf8.ValidString(m.Text) {
				t.Fatalf("%+v of %q", m, plain)
			}
			if m.Kind != Name && !m.Same(m) {
				t.Fatalf("%+v is not itself", m)
			}
			last = m.To
		}
		Read(text)
		for _, s := range Sentences(text) {
			for _, c := range Clauses(s) {
				if !strings.Contains(s, c) {
					t.Fatalf("%q is not in %q", c, s)
				}
			}
		}
	})
}

func FuzzValue(f *testing.F) {
	f.Add("八万四千")
	f.Add("1.5万")
	f.Fuzz(func(t *testing.T, s string) {
		if v, ok := value(s); ok && strings.ContainsAny(v, " eE") {
			t.Fatalf("%q is %q", s, v)
		}
	})
}
