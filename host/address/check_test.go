package address

import (
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
)

func TestCheckName(t *testing.T) {
	for _, name := range []string{
		"taro", "you", "mika", "hana", "guest", "mochi", "ren", "kyoko-bot", "aki", "cam-1", "agent3", "a.b-c_1", "アヤボット", "あやボット", "ＨＡＮＡ", "京子", "きょうこ",
		"アヤー", "ｱﾔ", "か\u3099く", "AI太郎", "Vチューバー京子", "々木", "日本語ok", "x2つ", // Japanese with Latin
		"саша", "Саша-2", "Νίκος", "ανα", "саша-bot", "bot-саша", "саша_mika.αβγ", "aya1саша", // one script a word
		"王小明", "ㄅㄆ王", "王abc", "김철수", "김abc金", "한국AI", // Chinese, Korean
		"أحمد", "שרה", "สมชาย", "अनिल", "აბგ", "nguyễn", "Zoé", "Ångström", "aʻa", "x\u0301y", "𝗆𝗂𝗄𝖺",
	} {
		if err := CheckName("from", name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for name, says := range map[string]string{
		"m\u0456ka":          "from: \"m\u0456ka\" mixes scripts in a word: m (U+006D) is Latin, \u0456 (U+0456) is Cyrillic; type the whole word in letters of one of them",
		"\u0430ya":           "\u0430 (U+0430) is Cyrillic, y (U+0079) is Latin;",
		"aya-m\u0456ka":      "m (U+006D) is Latin",
		"\u03b1ya":           "(U+03B1) is Greek, y",
		"\u03bdи":            "is Greek, и (U+0438) is Cyrillic",
		"アяa":                "ア (U+30A2) is Katakana, я (U+044F) is Cyrillic",
		"aーи":                "is Latin, и",
		"東я":                 "is Han, я",
		"あ한":                 "あ (U+3042) is Hiragana, 한 (U+D55C) is Hangul",
		"かㄅ":                 "is Hiragana, ㄅ (U+3105) is Bopomofo",
		"김ㄅ":                 "is Hangul, ㄅ",
		"aya東あ한":             "あ (U+3042) is Hiragana, 한",
		"aya\u0e50":          "a (U+0061) is Latin, \u0e50 (U+0E50) is Thai", // a digit that looks like o
		"\U0001d5baлиса":     "a (U+0061) is Latin, л (U+043B) is Cyrillic",  // 𝖺 is a
		"\u00b5и":            "\u03bc (U+03BC) is Greek, и",                  // and µ is μ
		"ａи":                 "a (U+0061) is Latin, и",
		"a\u0485\u0483и":     "is Latin, ",
		"mika\u034f":         "from: character 5 is U+034F, which shows as nothing; leave it out",
		"\u13aa\u13b7a":      "is Cherokee, a",
		"\u1587\u15c5\u0430": "is Canadian Aboriginal, ",
		"a b":                "may not contain ' '",
		"":                   "must not be empty",
	} {
		err := CheckName("from", name)
		if abi.CodeOf(err) != abi.CodeInvalid || !strings.Contains(err.Error(), says) {
			t.Errorf("%+q: %v, want %s", name, err, says)
		}
	}
}
