package face

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestReadMouth(t *testing.T) {
	all, err := ReadMouth([]byte(`[{"ms":100,"open":2,"shape":"a"},{"ms":0,"open":-1,"shape":"A; rm"},{"ms":50,"open":0.5}]`))
	if err != nil || len(all) != 3 || all[0] != v(100, 1, "a") || all[1] != v(0, 0, "") || all[2] != v(50, 0.5, "") {
		t.Errorf("%v, %v", all, err)
	}
	for text, want := range map[string]string{
		`{}`:                                    "no list",
		`[{"ms":"x"}]`:                          "no list",
		`[{"ms":-1,"open":0}]`:                  "viseme 0 takes -1 ms",
		`[{"ms":3600000},{"ms":1}]`:             "more than 1h",
		`[{"ms":9223372036854775807,"open":0}]`: "takes 9223372036854775807 ms",
		"[" + strings.Repeat("{},", mostVisemes) + "{}]": "at most 20000",
	} {
		if _, err := ReadMouth([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %q", text, err, want)
		}
	}
}

func FuzzReadMouth(f *testing.F) {
	f.Add([]byte(`[{"ms":100,"open":0.5,"shape":"a"}]`))
	f.Add([]byte(`[{"ms":1e3,"open":1e308},null]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := ReadMouth(b)
		if err != nil {
			return
		}
		for d := time.Duration(0); d <= length(all); d += max(length(all)/7, 1) {
			if open, shape := sample(all, d); open < 0 || open > 1 || len(shape) > 1 {
				t.Errorf("at %v: %v %q", d, open, shape)
			}
		}
	})
}

func TestVowels(t *testing.T) {
	if n := len([]rune(vowels)); n != 'ゖ'-'ぁ'+1 {
		t.Fatalf("%d vowels", n)
	}
	for text, want := range map[string]string{
		"かきくけこ": "aiueo", "パピプペポ": "aiueo", "らりるれろ": "aiueo", "なにぬねの": "aiueo", "だぢづでど": "aiueo",
		"がっこう。": "anoun", "ラーメン": "aaen", "しゃしん": "ain", "きょう": "ou", "ヴァイオリン": "aioin",
		"Hello, you!": "eonioun", "日本": "??", "…": "", "hmm": "", "안녕": "??",
	} {
		var got strings.Builder
		for _, b := range beatsOf(text) {
			if b == "" {
				b = "?"
			}
			got.WriteString(b)
		}
		if w := strings.ReplaceAll(want, "??", strings.Repeat("?", map[string]int{"日本": 4, "안녕": 2}[text])); got.String() != w {
			t.Errorf("%s: %s, want %s", text, got.String(), w)
		}
	}
}

// A guess takes as long as it was told, and is a mouth.
func TestGuessTakesItsTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		long := time.Duration(rapid.IntRange(0, 20_000).Draw(t, "ms")) * time.Millisecond
		all := Guess(text, long)
		if len(beatsOf(text)) == 0 || long == 0 {
			if all != nil {
				t.Fatalf("%v of nothing", all)
			}
			return
		}
		if length(all) != long {
			t.Fatalf("%v, want %v", length(all), long)
		}
		for _, v := range all {
			if v.MS <= 0 || v.Open < 0 || v.Open > 1 {
				t.Fatalf("%+v", v)
			}
		}
	})
}
