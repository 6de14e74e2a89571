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

// What an expression cannot do without is never missed: a pattern finds what its expression finds.
func TestPatterns(t *testing.T) {
	all := []*Pattern{affirms, negates, soft, mild, lacks, forbids, refrains, vows, settles, must, promises, duty, done, asks, open, unsettled, unknown, decides, corrects, due, put, saying,
		code, titled, hiragana, place, firm, katakana, latin, quoted, chosen, numeral, kana, halves, english, hourAnd, past, denied, fewer, upto, larger, from, weekdayJa, weekdayEn, severalJa, moved}
	for _, f := range forms {
		all = append(all, f.pattern)
	}
	for _, r := range relatives {
		all = append(all, r.pattern)
	}
	known := 0
	for _, p := range all {
		if p.needs != nil {
			known++
		}
	}
	if known < len(all)*9/10 {
		t.Errorf("of %d patterns %d know what they need", len(all), known)
	}
	pieces := strings.Fields(`使わ ない です か ? 3月4日 March 14 th 午後 2 時 半 half past three 田中 さん not n't never May Sunday sun . 、 。 K k を まで に 決め た I'll by Friday without 8 万 円 $ 5,000 不可 なし だけ only 「ネオン」 v1.2.3 an hour and ten instead of up to Ｋ ſ`)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, "pieces"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		if rapid.Bool().Draw(t, "any") {
			text += rapid.String().Draw(t, "text")
		}
		text = Plain(text)
		g := GramsOf(text)
		for _, p := range all {
			if p.In(text, g) != p.expression().MatchString(text) {
				t.Fatalf("%v of %q: %v", p.expression(), text, p.In(text, g))
			}
		}
	})
}

func TestSounds(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{{"バンクーバー", "Vancouver", true}, {"オズヴァルト", "Oswald", false}, {"セントアイブス", "saint ives", true}, {"アンセル", "anton", false}, {"クレイン", "crane", false}, {"ほんのたな", "hon-no-tana", true}, {"漢字", "kanji", false}} {
		if got := Sounds(c.a) != "" && Sounds(c.a) == Sounds(c.b); got != c.same {
			t.Errorf("%s, %s: %q, %q", c.a, c.b, Sounds(c.a), Sounds(c.b))
		}
	}
}

// What follows from others needs no word of its own.
func TestFollows(t *testing.T) {
	for text, want := range map[string]string{
		"一人200円で36人だから7,200円": "7,200円", "35,000円と7,200円で42,200円": "42,200円", "4月17日から19日まで2泊": "2泊", "21 to 24 August, 4 days": "4 days", "200円、300円、700円": "", "1人で5枚、5円": "",
	} {
		all := Find(text)
		got := ""
		for _, m := range all {
			if m.Follows(all) {
				got += m.Text
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
