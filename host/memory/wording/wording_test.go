package wording

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestQuoted(t *testing.T) {
	for _, c := range []struct{ quote, source, want string }{
		{"タマ", "猫はﾀﾏだよ", "ﾀﾏ"},
		{"猫はタマ", "えっと、 猫はタマ。", "猫はタマ"},
		{"my cat is Tama", "So:  my  cat\nis Tama!", "my  cat\nis Tama"},
		{"１２歳", "12歳です", "12歳"},
		{"株式", "㍿に勤めてる", "㍿"},
		{"ガム", "カ\u3099ムが好き", "カ\u3099ム"},
		{" tail ", "a tail", "tail"},
	} {
		got, ok := Quoted(c.quote, c.source)
		if !ok || got != c.want {
			t.Errorf("%q in %q: %q, %v", c.quote, c.source, got, ok)
		}
	}
	for _, c := range [][2]string{{"", "a"}, {" \n", "a b"}, {"Tama", "tama"}, {"タマ", "たま"}, {"ab", "a b"}, {"a", ""}, {"タマとミケ", "タマ"}} {
		if got, ok := Quoted(c[0], c[1]); ok {
			t.Errorf("%q in %q: %q", c[0], c[1], got)
		}
	}
}

// What is found is a part of the source, and a part of the source is found.
func TestQuotedIsOfTheSource(t *testing.T) {
	letters := rapid.StringOf(rapid.SampledFrom([]rune("aB 　ｱがカ\u3099㍿猫１\n。é\u0301😀")))
	rapid.Check(t, func(t *rapid.T) {
		source := letters.Draw(t, "source")
		if quote := letters.Draw(t, "quote"); true {
			if span, ok := Quoted(quote, source); ok && !strings.Contains(source, span) {
				t.Fatalf("%q is not in %q", span, source)
			}
		}
		runes := []rune(source)
		if len(runes) == 0 {
			return
		}
		from := rapid.IntRange(0, len(runes)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, len(runes)).Draw(t, "to")
		part := string(runes[from:to])
		if strings.TrimSpace(part) == "" || to < len(runes) && strings.ContainsRune("\u3099\u0301", runes[to]) || strings.ContainsRune("\u3099\u0301", runes[from]) {
			return // the letter is another one with its mark
		}
		if _, ok := Quoted(part, source); !ok {
			t.Fatalf("%q is not found in %q", part, source)
		}
	})
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"私の猫の名前はタマです":                 "猫 名前 たま",
		"ねこのなまえはなんだっけ":                "ねこ",
		"沖縄へ行くの":                      "沖縄",
		"What's my cats' name again?": "cat",
		"I love running and berries":  "run berry",
		"ラーメンがすきだよ":                   "らーめん",
		"3匹":                          "3 匹",
		"大谷翔平さんのホームラン":                "大谷翔平 ほーむらん",
		"…!?":                         "",
	} {
		got := strings.Join(Words(text), " ")
		if got = strings.ReplaceAll(got, " 名前", ""); got != strings.ReplaceAll(want, " 名前", "") {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestThings(t *testing.T) {
	for text, want := range map[string]string{
		"うちのねこ": "cat", "two CATS": "cat", "category": "", "上海の海": "sea", "上海": "", "カメラ": "", "カメを飼う": "turtle", "my husband's name": "husband", "本当に本が好き": "book", "日本": "",
	} {
		if got := strings.Join(Things(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if Thing("猫") != "cat" || Thing("Cats") != "cat" || Thing("ソラ") != "そら" || In("cat", true) != "猫" || In("cat", false) != "cat" || In("そら", true) != "" {
		t.Error("things have other names")
	}
	for _, th := range things {
		if len(th.words) < 2 || In(th.name, true) == "" {
			t.Errorf("%s has no word in Japanese", th.name)
		}
	}
}

func TestBigrams(t *testing.T) {
	if got := Bigrams([]string{"北海道", "cat", "猫", "海道"}); !slices.Equal(got, []string{"北海", "海道"}) {
		t.Error(got)
	}
}

func TestLetters(t *testing.T) {
	if Letters("ネコ は、タマ!") != Letters("ねこはタマ") || Letters("a b") != "ab" || Letters("…") != "" {
		t.Error("two texts that say the same differ")
	}
}

func FuzzWords(f *testing.F) {
	f.Add("猫のタマ cats' ㍿ がが \u3099 ーー '")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return
		}
		for _, w := range Words(text) {
			if w == "" || utf8.ValidString(text) && !utf8.ValidString(w) {
				t.Fatalf("%q of %q", w, text)
			}
		}
		Things(text)
		Topics(text)
		if span, ok := Quoted(text, text); utf8.ValidString(text) && strings.TrimSpace(text) != "" && (!ok || !strings.Contains(text, span)) {
			t.Fatalf("%q does not quote itself", text)
		}
	})
}

// A label is what a fact is of, and never what it says.
func TestLabels(t *testing.T) {
	for text, want := range map[string]bool{"is named": true, "仕事": true, "好物": true, "プリズン": false, "prison": false, "刑務所": false, "allergy": false, "アレルギー": false} {
		for _, w := range Words(text) {
			if Label(w) != want {
				t.Errorf("%s: %v", w, !want)
			}
		}
	}
}
