package wording

import (
	"slices"
	"strings"
	"testing"
)

// Topics are no pieces of verbs and adjectives, and no words for what is done all day.
func TestTopics(t *testing.T) {
	for text, want := range map[string]string{
		"京都に行ってきた":                                        "京都",
		"京都でラーメンを食べた。":                                    "京都 らーめん",
		"海がとても綺麗だった":                                      "海 綺麗",
		"映画を見てきたよ、楽しかった!":                                 "映画",
		"寿司が美味しかった":                                       "寿司",
		"昨日は走って疲れました":                                     "",
		"本を買って読んでる":                                       "本",
		"おにぎりたべた、おいしかった":                                  "",
		"ねこがかわいい":                                         "ねこ",
		"こんぶを買った":                                         "こんぶ",
		"さくらんぼを摘んだ":                                       "",
		"シュノーケリングってどう?":                                   "しゅのーけりんぐ",
		"特に急に雨が降った":                                       "雨",
		"二人で歩いて帰ったよ":                                      "",
		"サボってた":                                           "",
		"旅行しました":                                          "旅行",
		"一緒に勉強した":                                         "勉強",
		"仕事をサボった":                                         "仕事",
		"We went down to the harbour.":                    "harbour",
		"I took my bicycle and rode":                      "bicycle",
		"Lisbon was beautiful, we ate pastries yesterday": "lisbon pastry",
		"she came back on Monday morning":                 "",
		"渋谷に映画を観に行ってきた":                                   "渋谷 映画",
		"海に行こうよ":                                          "海",
		"今度一緒に行こうよ":                                       "",
		"雨降ってきた":                                          "",
		"":                                                "",
	} {
		if got := strings.Join(Topics(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		for _, w := range Topics(text) {
			if !slices.Contains(Words(text), w) {
				t.Errorf("%q of %q is no word", w, text)
			}
		}
	}
}
